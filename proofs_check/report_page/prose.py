"""The words of a claim with their ASCII mathematics set as type: x_s, ^T, >=, <x, y>, Greek letters by name.

Only signs that cannot be prose are touched, and every character of the source is escaped.  Formulas proper are drawn by
`proofs_check/mathml.py`; this is for statements, which people wrote as text.
"""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from proofs_check.mathml import GREEK

LETTERS = {**GREEK, "lambda": "λ"}  # a word that formulas cannot use
_GREEK = "|".join(sorted(LETTERS, key=len, reverse=True))
_SCRIPT = r"(?:\{[^{}]*\}|\([^()]*\)|-?[A-Za-z0-9∞∗*α-ωΑ-Ω]+)"
_BASE = (
    rf"(?:(?:(?<![A-Za-z0-9_])|(?<=[A-Z])(?<![A-Za-z0-9_].))(?:{_GREEK}|min|max|cos|[A-Za-zα-ωΑ-Ω])|[α-ωΑ-Ω]|[)\]|‖⟩])"
)
_TOKEN = re.compile(
    rf"(?P<base>{_BASE})(?P<sub>_{_SCRIPT})(?![_A-Za-z0-9])(?P<sup>\^{_SCRIPT})?|(?<=[^\s_^])(?P<power>\^{_SCRIPT})")
_SIGNS = {">=": "≥", "<=": "≤", "!=": "≠", "->": "→"}
_SIGN = re.compile(">=|<=|!=|->")
_INNER = re.compile(r"(?:(?<![\w)])|(?<=\bE))<(?=\S)([^<>]*,[^<>]*)(?<=\S)>")
_WORD = re.compile(rf"(?<![A-Za-z_])({_GREEK})(?![A-Za-z0-9])")


def prose(text: str) -> Markup:
    """The text as HTML.  What is not recognised stays as it is written."""
    text = _INNER.sub(r"⟨\1⟩", text)
    text = _SIGN.sub(lambda found: _SIGNS[found.group()], text)
    done, position = [], 0
    for found in _TOKEN.finditer(text):
        above = found.group("sup") or found.group("power")
        done += [_words(text[position:found.start()]), _words(found.group("base") or "")]
        done += [Markup("<sub>{}</sub>").format(_script(found.group("sub")))] if found.group("sub") else []
        done += [Markup("<sup>{}</sup>").format(_script(above))] if above else []
        position = found.end()
    return Markup("").join([*done, _words(text[position:])])


def _words(text: str) -> Markup:
    return escape(_WORD.sub(lambda found: LETTERS[found.group()], text))


def _script(text: str) -> Markup:
    inner = text[1:]
    return _words((inner[1:-1] if inner.startswith("{") else inner).replace("-", "−"))
