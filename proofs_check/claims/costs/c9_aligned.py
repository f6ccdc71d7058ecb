"""C9: crossings for the aligned sink: 3-cycles, 2- and 3-cycles together, k >= 2 cycles of one length >= 4.

All costs are times 1 - c². With n = 2a + 3b tokens in a 2-cycles and b 3-cycles the self default exceeds
2(n-1) by (2√3-3)b - 1, the sink default by (1-c²)(n-2)/g: the smaller excess is the cheaper side. For longer
cycles of one length the self default does not depend on c, so the tables of `c9_crossings` serve with
another sink cost; beyond their last row at c = 0 the sink is cheaper at every c ('alignment lowers the
sink').
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

from proofs_check.claim import Hypothesis, Instance, Part, Variant
from proofs_check.claims.building import Later
from proofs_check.claims.costs.building import number_fact
from proofs_check.claims.costs.c9_crossings import LAST, NUCLEAR, SINK_COST, false_for_self, table, with_lists
from proofs_check.claims.costs.c9_witness import sink_excess
from theory.costs_bigram import GRAM_ROOT_SQUARE

HUNDREDTH, TENTH, HALF = Fraction(1, 100), Fraction(1, 10), Fraction(1, 2)
# the greatest number of cycles of length 4, 5, ... 49 for which the self default is cheaper
EQUAL_LAST = {
    HUNDREDTH: (35, 25, 16, 14, 12, 11, 9, 8, 8, 7, 6, 6, 6, 5, 5, 5, *(4,) * 4, *(3,) * 8, *(2,) * 16, 1, 1),
    TENTH: (17, 10, 8, 7, 6, 5, 5, 4, 4, 3, 3, 3, 3, *(2,) * 9, *(1,) * 24),
    HALF: (3, 2, 2, *(1,) * 43)}

SELF_EXCESS = "(2*sqrt(3) - 3)*b - 1"
SINK_EXCESS = f"(1 - c**2)*(n - 2)/sqrt({GRAM_ROOT_SQUARE})"

THREE_CYCLES = number_fact(
    "aligned sink, three-cycles", "Only 3-cycles, n = 3b, sink aligned by c = 1/100, 1/10, 1/2: the self default "
    "is cheaper for every n <= 48, 33, 9 (in this order), the sink default for every n from 51, 36, 12 up to "
    "48; from n = 51 on it is at every c ('three-cycles', 'alignment lowers the sink'). So one change of sides "
    "for each of these c.",
    f"all({SELF_EXCESS} < {SINK_EXCESS} for c, last in [[1/100, 16], [1/10, 11], [1/2, 3]] for b in range(1, "
    "last + 1) for n in [3*b])"
    f" and all({SELF_EXCESS} > {SINK_EXCESS} for c, last in [[1/100, 16], [1/10, 11], [1/2, 3]] for b in "
    "range(last + 1, 18) for n in [3*b])")


def fewest_two_cycles(alignment: Fraction) -> list[int]:
    """For b = 1, 2, ... 3-cycles, the fewest 2-cycles that make the self default cheaper, while there are any."""
    c, found = float(alignment), []

    def self_wins(twos: int, threes: int) -> bool:
        return (2 * sqrt(3) - 3) * threes - 1 < sink_excess(2 * twos + 3 * threes, c)

    while (2 * sqrt(3) - 3) * (len(found) + 1) * c < 1:
        threes, least, most = len(found) + 1, -1, 1
        while not self_wins(most, threes):
            most *= 2
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (least, middle) if self_wins(middle, threes) else (middle, most)
        found.append(most)
    return found


FEWEST = Instance(Later(lambda: {"hundredth": fewest_two_cycles(HUNDREDTH), "tenth": fewest_two_cycles(TENTH),
                                 "half": fewest_two_cycles(HALF)}))
LISTS = "for c, fewest in [[1/100, hundredth], [1/10, tenth], [1/2, half]] for b in range(1, len(fewest) + 1)"
MIXTURES = Part(
    name="aligned sink, two- and three-cycles", quantifier="exists",
    text="b >= 1 3-cycles and a 2-cycles, sink aligned by c = 1/100, 1/10, 1/2: for each b <= 215, 21, 4 (in this "
         "order) there is a least a(b), one list for each c: at a(b) 2-cycles the self default is cheaper, at "
         "a(b) - 1 the sink; for more 3-cycles (2√3-3)bc > 1. With 'two-cycles help self' every a is decided: "
         "sink for a < a(b), self for a >= a(b), sink for every a beyond these b. At c = 1/10 a(b) = 0 up to b "
         "= 11, at c = 1/2 up to b = 3.",
    variables={"hundredth": "integers", "tenth": "integers", "half": "integers"},
    conclusions=(
        "len(hundredth) == 215 and half == [0, 0, 0, 6] and tenth == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 7, "
        "13, 21, 33, 51, 80, 134, 260, 853]",
        f"all(fewest[b - 1] >= 0 and {SELF_EXCESS} < {SINK_EXCESS} {LISTS} for n in [2*fewest[b - 1] + 3*b])",
        f"all(fewest[b - 1] == 0 or {SELF_EXCESS} > {SINK_EXCESS} {LISTS} for n in [2*fewest[b - 1] + 3*b - 2])",
        "all((2*sqrt(3) - 3)*b*c > 1 for c, fewest in [[1/100, hundredth], [1/10, tenth], [1/2, half]] for b in "
        "[len(fewest) + 1])"),
    satisfiable=FEWEST, instances=lambda seed: [FEWEST])

CASES = [(4 + at, k, c) for c, lasts in EQUAL_LAST.items() for at, last in enumerate(lasts)
         for k in range(2, last + 1)]
SINK_CASES = [(4 + at, k, c) for c, lasts in EQUAL_LAST.items() for at, last in enumerate(lasts)
              for k in range(last + 1, LAST[at] + 1)]
TRIPLES = ("[[lengths[i], cycles[i], alignment[i]] for i in range(len(lengths))] == [[l, k, c] for c, last in "
           "[[1/100, hundredth], [1/10, tenth], [1/2, half]] for l in range(4, 50) for k in range(2, 37) if ")
ALIGNED_LISTS = {"hundredth": EQUAL_LAST[HUNDREDTH], "tenth": EQUAL_LAST[TENTH], "half": EQUAL_LAST[HALF]}

EQUAL_SELF = with_lists(table(
    "aligned equal cycles, self", "k >= 2 cycles of one length l = 4..49, sink aligned by c: the self default is "
    "cheaper for every k <= last[l-4], one list for each c: 35, 25, 16, 14, ... at c = 1/100, 17, 10, 8, 7, ... "
    "at c = 1/10, and 3, 2, 2, then 1 at c = 1/2.",
    CASES, (f"{TRIPLES}k <= last[l - 4]]",), sink=False), **ALIGNED_LISTS)
EQUAL_SINK = with_lists(table(
    "aligned equal cycles, sink", "k >= 2 cycles of one length l = 4..49, sink aligned by c = 1/100, 1/10, 1/2: "
    "the sink default is cheaper for every k above last[l-4] up to the last k of 'equal cycles, self' "
    "(unaligned). Beyond, and for l >= 50, it is cheaper at c = 0 and so at every c ('alignment lowers the "
    "sink'). With 'aligned single cycles' (k = 1): one change of sides for each length 4..95, 4..50, 4..13 (in this "
    "order), none for longer cycles, where the sink is cheaper for every k >= 1.",
    SINK_CASES, (f"{TRIPLES}k > last[l - 4] and k <= unaligned[l - 4]]",), sink=True), unaligned=LAST[:46],
                        **ALIGNED_LISTS)

PARTS = (THREE_CYCLES, MIXTURES, EQUAL_SELF, EQUAL_SINK)

NUMBERS = {"a": "integer", "b": "integer", "c": "scalar"}
CYCLES = Hypothesis("cycles", "there are 3-cycles, and perhaps 2-cycles", "a >= 0 and b >= 1")
ALIGNED = Hypothesis("aligned", "c is the cosine of an acute angle, or 0", "c >= 0 and c < 1")


def false_for_short(name: str, text: str, case: tuple[int, int, Fraction], conclusion: str) -> Variant:
    """A false rule for a 2-cycles and b 3-cycles, refuted at one (a, b, c)."""
    part = Part(name=name, text=text, variables=NUMBERS, definitions={"n": "2*a + 3*b"},
                hypotheses=(CYCLES, ALIGNED), conclusions=(conclusion,))
    return Variant("trap", Instance(dict(zip(NUMBERS, case))), part)


VARIANTS = (
    false_for_short("alignment leaves the three-cycles' crossing", "Only 3-cycles: self is cheaper up to n = 48 "
                    "at every alignment (n = 12, c = 1/2)", (0, 4, HALF),
                    f"a > 0 or n > 48 or {SELF_EXCESS} < {SINK_EXCESS}"),
    false_for_short("enough two-cycles always help", "With 100 b² or more 2-cycles beside b 3-cycles self is "
                    "cheaper, at every alignment (b = 5, c = 1/2)", (2500, 5, HALF),
                    f"a < 100*b**2 or {SELF_EXCESS} < {SINK_EXCESS}"),
    false_for_self("aligned crossing one earlier", "constant moved", "Sink aligned by 1/10: the sink default is "
                   "cheaper from 17 cycles of length 4 on", (4, 17, TENTH),
                   f"l != 4 or k < 17 or a != 1/10 or {NUCLEAR} >= {SINK_COST}"),
)
