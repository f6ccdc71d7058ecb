"""A small mathematical font for the page, cut out of the STIX fonts that matplotlib ships.

Browsers place subscripts, bars and radicals by a font's MATH table, and phones have no font with one.  So the page
brings its own: the glyphs that formulas use, larger brackets and radicals from the size fonts, and a MATH table with
the usual proportions.  The licence (SIL Open Font License) leaves documents that embed a font free, and asks that a
changed font not carry the reserved names, so it gets a name of its own.
"""

from __future__ import annotations

import base64
from functools import cache
from io import BytesIO
from pathlib import Path

from fontTools.otlLib.builder import buildMathTable
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

FAMILY = "report maths"
OPERATORS = "≔·−×∑∏√‖⟨⟩∈∉≤≥≠⇒⇔∧∨¬∀∃⊗⊤⪰∞…∂"
REPERTOIRE = frozenset([*range(0x20, 0x7F), 0xA0, *range(0x391, 0x3CA), 0x3D5, 0x3F5, 0x210E, *range(0x1D434, 0x1D468),
                        *range(0x1D6E2, 0x1D71C), *map(ord, OPERATORS)])
STRETCHY = "()[]{}√⟨⟩"
SIZES = ("One", "Two", "Three", "Four")
# from bottom to top: a piece may repeat where it is marked
PIECES = {"(": "⎝⎜*⎛", ")": "⎠⎟*⎞", "[": "⎣⎢*⎡", "]": "⎦⎥*⎤", "{": "⎩⎪*⎨⎪*⎧", "}": "⎭⎪*⎬⎪*⎫"}
# in thousandths of an em, the proportions of Times-like mathematics
CONSTANTS = {
    "ScriptPercentScaleDown": 72,
    "ScriptScriptPercentScaleDown": 58,
    "DisplayOperatorMinHeight": 1100,
    "MathLeading": 150,
    "AxisHeight": 258,
    "AccentBaseHeight": 450,
    "FlattenedAccentBaseHeight": 662,
    "SubscriptShiftDown": 210,
    "SubscriptTopMax": 368,
    "SubscriptBaselineDropMin": 50,
    "SuperscriptShiftUp": 360,
    "SuperscriptShiftUpCramped": 252,
    "SuperscriptBottomMin": 120,
    "SuperscriptBaselineDropMax": 230,
    "SubSuperscriptGapMin": 150,
    "SuperscriptBottomMaxWithSubscript": 380,
    "SpaceAfterScript": 40,
    "UpperLimitGapMin": 135,
    "UpperLimitBaselineRiseMin": 300,
    "LowerLimitGapMin": 135,
    "LowerLimitBaselineDropMin": 670,
    "FractionNumeratorShiftUp": 580,
    "FractionNumeratorDisplayStyleShiftUp": 640,
    "FractionDenominatorShiftDown": 480,
    "FractionDenominatorDisplayStyleShiftDown": 640,
    "FractionNumeratorGapMin": 80,
    "FractionNumDisplayStyleGapMin": 140,
    "FractionRuleThickness": 55,
    "FractionDenominatorGapMin": 80,
    "FractionDenomDisplayStyleGapMin": 140,
    "RadicalVerticalGap": 80,
    "RadicalDisplayStyleVerticalGap": 140,
    "RadicalRuleThickness": 60,
    "RadicalExtraAscender": 60,
    "OverbarVerticalGap": 175,
    "OverbarRuleThickness": 60,
    "UnderbarVerticalGap": 175,
    "UnderbarRuleThickness": 60,
    "StretchStackGapBelowMin": 150,
    "StretchStackGapAboveMin": 150,
}
EXTENDER = 1


@cache
def math_font() -> str:
    """The font as a WOFF data address; the same bytes every time."""
    font = _cut(_source("STIXGeneral"), REPERTOIRE)
    variants: dict[str, list[tuple[str, int]]] = {}
    assemblies: dict[str, tuple[list[tuple[str, int, int, int, int]], int]] = {}
    names = font.getBestCmap()
    for size in SIZES:
        larger = _source(f"STIXSiz{size}SymReg")
        cmap = larger.getBestCmap()
        for sign in STRETCHY:
            if ord(sign) in cmap and (sign, size) != ("√", "Four"):  # that one is smaller than size three
                name = _copy(larger, cmap[ord(sign)], font, f"{names[ord(sign)]}.{size}")
                variants.setdefault(names[ord(sign)], [(names[ord(sign)], _height(font, names[ord(sign)]))]).append(
                    (name, _height(font, name))
                )
        if size == "One":
            for sign, pieces in PIECES.items():
                assemblies[names[ord(sign)]] = (_assembly(larger, font, pieces), 0)
    display = _source("STIXSizOneSymReg")
    total = _copy(display, display.getBestCmap()[ord("∑")], font, "summation.display")
    variants[names[ord("∑")]] = [(names[ord("∑")], _height(font, names[ord("∑")])), (total, _height(font, total))]
    minus = names[ord("−")]
    # browsers drop a MATH table that lacks any of its parts, so there is an italic correction and a horizontal variant
    buildMathTable(
        font,
        constants=CONSTANTS,
        minConnectorOverlap=20,
        vertGlyphVariants=variants,
        vertGlyphAssembly=assemblies,
        italicsCorrections={names[ord("∑")]: 0},
        horizGlyphVariants={minus: [(minus, font["hmtx"][minus][0])]},
    )
    _rename(font)
    font.flavor = "woff"
    stream = BytesIO()
    font.save(stream, reorderTables=True)
    return "data:font/woff;base64," + base64.b64encode(stream.getvalue()).decode("ascii")


def _source(name: str) -> TTFont:
    import matplotlib

    return TTFont(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{name}.ttf", recalcTimestamp=False)


def _rename(font: TTFont) -> None:
    """Our name for the changed font; the copyright and the licence stay."""
    kept = [record for record in font["name"].names if record.nameID in (0, 13, 14) and record.platformID == 3]
    font["name"].names = kept
    for number, text in ((1, FAMILY), (2, "Regular"), (4, FAMILY), (6, FAMILY.replace(" ", ""))):
        font["name"].setName(text, number, 3, 1, 0x409)


def _cut(font: TTFont, characters: frozenset[int]) -> TTFont:
    options = Options(layout_features=[], hinting=False, recalc_timestamp=False, name_IDs=["*"], notdef_outline=True)
    options.drop_tables += ["FFTM"]  # FontForge's time stamps
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    return font


def _copy(source: TTFont, name: str, target: TTFont, new: str) -> str:
    """Copies an outline under a new name, which no character reaches but the MATH table does."""
    glyph = source["glyf"][name]
    if glyph.isComposite():
        raise ValueError(f"expected a simple outline for {name}, got a composite; choose another size font")
    glyph.removeHinting()
    target["glyf"][new] = glyph  # also enters the order of glyphs
    target["hmtx"][new] = source["hmtx"][name]
    return new


def _height(font: TTFont, name: str) -> int:
    glyph = font["glyf"][name]
    glyph.recalcBounds(font["glyf"])
    return glyph.yMax - glyph.yMin


def _assembly(source: TTFont, target: TTFont, pieces: str) -> list[tuple[str, int, int, int, int]]:
    found = []
    cmap = source.getBestCmap()
    letters = [piece for piece in pieces if piece != "*"]
    repeated = {pieces[index - 1] for index, piece in enumerate(pieces) if piece == "*"}
    for letter in letters:
        new = f"piece.{ord(letter):04X}"
        name = new if new in target.getGlyphOrder() else _copy(source, cmap[ord(letter)], target, new)
        height = _height(target, name)
        overlap = height // 3
        found.append((name, EXTENDER if letter in repeated else 0, overlap, overlap, height))
    return found
