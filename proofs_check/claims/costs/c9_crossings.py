"""C9: the finite part of the crossings: for each cycle type below the threshold, a witness for the cheaper side.

Each row of a table holds the first row of a circulant. A *self* table has (1, 2, -a_2, ...) with slacks a
>= 0: M = I_k ⊗ C + (11^T - I)_k ⊗ y 11^T, C the circulant of f(z) = 1 + 2z - sum a_j z^j shifted so that
the all-ones eigenvalue is 0, meets every constraint of the self default, and its nuclear norm is k
sum_{t>=1} |f(w^t)| + (k-1)|f(1)|. A *sink* table has (own, alpha, -gamma_2, ...) with multipliers alpha,
gamma_j, gamma' >= 0 and own = -alpha + sum gamma + (k-1) l gamma': every M that meets the constraints costs
at least n(alpha + sum gamma + (k-1) l gamma')/max(|own + alpha w^t - sum gamma_j w^(tj)|, n gamma'). Both
are times 1 - c² for tokens aligned by c (cycles of one length: the self default's cost times 1 - c² is the
orthonormal one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from proofs_check.claim import Hypothesis, Instance, Part, Variant
from proofs_check.claims.building import Later
from proofs_check.claims.costs.building import number_fact
from proofs_check.claims.costs.c9_witness import self_values, sink_values
from theory.costs_bigram import GRAM_ROOT_SQUARE

NONE = Fraction(0)
THRESHOLD = 225  # from here on the bound that holds for every n takes over
# the greatest number of cycles, for lengths 4, 5, ..., for which the self default is cheaper
LAST = (36, 26, 16, 15, 12, 11, 9, 9, 8, 7, 7, 6, 6, 5, 5, 5, *(4,) * 5, *(3,) * 9, *(2,) * 16, *(1,) * 50,
        *(0,) * 13)
ALIGNED_LAST = {Fraction(1, 100): 95, Fraction(1, 10): 50, Fraction(1, 2): 13}  # single cycles

TABLE = {"lengths": "integers", "cycles": "integers", "alignment": "vector"}
SELF_VARIABLES = {**TABLE, "rows": "matrices"}
SINK_VARIABLES = {**TABLE, "rows": "matrices", "cross": "vector"}
ROWS = ("for i in range(len(lengths)) for l in [lengths[i]] for k in [cycles[i]] for n in [l*k] for a in "
        "[alignment[i]] for row in [rows[i][0]]")
# eigenvalues re + i im of the circulant with first row `row` at w^t, t = 10 p + q <= l/2 + 10: entries j, l - j
# are folded together, and cos(t j angle), sin(t j angle) come from two short tables by the addition theorem
SPECTRUM = (
    "for angle in [2*pi/l] for J in [[j for j in range(1, l) if 2*j <= l]] for P in [[p for p in range(l) if "
    "20*p <= l]] for even in [[(row[j] + row[l - j])/(2 if 2*j == l else 1) for j in J]] for odd in [[row[j] "
    "- row[l - j] for j in J]] for fine_c in [transpose([[cos(x) for x in (q*angle)*J] for q in range(10)])] "
    "for fine_s in [transpose([[sin(x) for x in (q*angle)*J] for q in range(10)])] for coarse_c in [[[cos(x) "
    "for x in (10*p*angle)*J] for p in P]] for coarse_s in [[[sin(x) for x in (10*p*angle)*J] for p in P]] "
    "for re in [row[0] + flat([even*x for x in coarse_c] @ fine_c - [even*x for x in coarse_s] @ fine_s)] "
    "for im in [flat([odd*x for x in coarse_s] @ fine_c + [odd*x for x in coarse_c] @ fine_s)]")
SINK_COST = f"(2*(n - 1) + (1 - a**2)*(n - 2)/sqrt({GRAM_ROOT_SQUARE.replace('c', 'a')}))"
NUCLEAR = ("(k*sum((2 if 2*t < l else 1)*sqrt(re[t]*re[t] + im[t]*im[t]) for t in range(1, l) if 2*t <= l)"
           " + (k - 1)*abs(sum(row)))")
SELF_FEASIBLE = ("all(k >= 1 and len(row) == l and row[0] == 1 and row[1] == 2 and all(row[j] <= 0 for j in "
    "range(2, l)) "
                 f"{ROWS})")
SELF_CHEAPER = f"all({NUCLEAR} < {SINK_COST} {ROWS} {SPECTRUM})"
TOTAL = "(row[0] + 2*row[1])"  # alpha + sum of gamma + (k-1) l gamma', as row[0] is its excess over 2 alpha
SPECTRAL_SQUARE = "max(max([re[t]*re[t] + im[t]*im[t] for t in range(1, len(re))]), (n*cross[i])**2)"
SINK_FEASIBLE = ("all(k >= 1 and len(row) == l and row[1] >= 0 and cross[i] >= 0 and (k > 1 or cross[i] == "
    "0) and "
                 f"sum(row) == (k - 1)*l*cross[i] and all(row[j] <= 0 for j in range(2, l)) {ROWS})")
SINK_CHEAPER = f"all((n*{TOTAL})**2 > {SPECTRAL_SQUARE}*{SINK_COST}**2 {ROWS} {SPECTRUM})"
ORTHONORMAL = "all(a == 0 for a in alignment)"

Cases = Sequence[tuple[int, int, Fraction]]


def table(name: str, text: str, cases: Cases, listing: Sequence[str], sink: bool) -> Part:
    """There are witnesses for every case; `listing` says in the kernel's language which cases those are."""
    found = Instance(Later(lambda: (sink_values if sink else self_values)(cases)))
    return Part(name=name, text=text, quantifier="exists",
                variables=SINK_VARIABLES if sink else SELF_VARIABLES,
                conclusions=(*listing, *((SINK_FEASIBLE, SINK_CHEAPER) if sink else (SELF_FEASIBLE,
                                                                                     SELF_CHEAPER))),
                satisfiable=found, instances=lambda seed: [found])


def single(first: int, last: int, alignment: Fraction = NONE) -> list[tuple[int, int, Fraction]]:
    return [(length, 1, alignment) for length in range(first, last + 1)]


SINGLE_SELF = table(
    "single cycles, self", "A single cycle of n = 2..99 tokens, nuclear norm, orthonormal sink: for every "
    "one of these n there are slacks whose M costs strictly less than the sink default. So the self default "
    "is cheaper for all n <= 99.",
    single(2, 99), ("lengths == [n for n in range(2, 100)]", "all(k == 1 for k in cycles)", ORTHONORMAL),
    sink=False)
SINGLE_SINK = table(
    "single cycles, sink", "A single cycle of n = 100..224 tokens: for every one of these n there are "
    "multipliers by which every self default costs strictly more than the sink default. With 'sink beyond "
    "225' the sink is cheaper for all n >= 100.",
    single(100, THRESHOLD - 1),
    ("lengths == [n for n in range(100, 225)]", "all(k == 1 for k in cycles)", ORTHONORMAL), sink=True)

EQUAL_SELF_CASES = [(4 + at, k, NONE) for at, most in enumerate(LAST) for k in range(2, most + 1)]
EQUAL_SINK_CASES = [(4 + at, k, NONE) for at,
                    most in enumerate(LAST) for k in range(max(2, most + 1), THRESHOLD)
                    if (4 + at) * k < THRESHOLD]
EQUAL_SELF = table(
    "equal cycles, self", "k >= 2 cycles of one length l = 4..112: for every k <= last[l-4] (36, 26, 16, 15, "
    "12, 11, 9, ...: the table in notes/C9.md) the self default is cheaper, shown by slacks.",
    EQUAL_SELF_CASES, (ORTHONORMAL, "[[lengths[i], cycles[i]] for i in range(len(lengths))] == "
                       "[[l, k] for l in range(4, 113) for k in range(2, last[l - 4] + 1)]"), sink=False)
EQUAL_SINK = table(
    "equal cycles, sink", "k >= 2 cycles of one length l = 4..112 with lk < 225: for every k > last[l-4] the "
    "sink default is cheaper, shown by multipliers. With 'sink beyond 225', last[l-4] l < 225 and the single "
    "cycles (k = 1) there is one change of sides for each length 4..99; from length 100 on (last is 0, and lk >= 225 "
    "where k >= 2 and l > 112) the sink is cheaper for every k >= 1.",
    EQUAL_SINK_CASES, (ORTHONORMAL, "[[lengths[i], cycles[i]] for i in range(len(lengths))] == [[l, k] for l "
                       "in range(4, 113) for k in range(2, 57) if k > last[l - 4] and l*k < 225]"), sink=True)


def with_lists(part: Part, **lists: Sequence[int]) -> Part:
    """The part with lists of integers among its constants, for its `listing` to name."""
    return replace(part, variables={**part.variables, **dict.fromkeys(lists, "integers")}, constants=dict(lists))


EQUAL_SELF, EQUAL_SINK = with_lists(EQUAL_SELF, last=LAST), with_lists(EQUAL_SINK, last=LAST)

ALIGNED_SELF = table(
    "aligned single cycles, self", "Sink aligned by c = 1/100, 1/10, 1/2: the self default is cheaper for "
    "every single cycle with n <= 95, 50, 13 (in this order).",
    [case for c, last in ALIGNED_LAST.items() for case in single(2, last, c)],
    ("[[lengths[i], alignment[i]] for i in range(len(lengths))] == [[n, c] for last, c in [[95, 1/100], [50, "
     "1/10], [13, 1/2]] for n in range(2, last + 1)]", "all(k == 1 for k in cycles)"), sink=False)
ALIGNED_SINK = table(
    "aligned single cycles, sink", "Sink aligned by c = 1/100, 1/10, 1/2: the sink default is cheaper for "
    "every single cycle from n = 96, 51, 14 up to 99; beyond, the sink's cost times 1 - c² is below the "
    "orthonormal one ('alignment lowers the sink').",
    [case for c, last in ALIGNED_LAST.items() for case in single(last + 1, 99, c)],
    ("[[lengths[i], alignment[i]] for i in range(len(lengths))] == [[n, c] for last, c in [[95, 1/100], [50, "
     "1/10], [13, 1/2]] for n in range(last + 1, 100)]", "all(k == 1 for k in cycles)"), sink=True)

POLAR = ("for polar in [[sum((2*cos(2*pi*t*(j - 1)/l) + cos(2*pi*t*j/l))/sqrt(5 + 4*cos(2*pi*t/l)) for t in "
         "range(1, l)) for j in range(l)]]")
ANSATZ = number_fact(
    "ansatz up to eleven", "Single cycles: the polar part of 2P + I - (3/n)11^T over the nontrivial roots "
    "has a positive coefficient on the target and negative ones on all other offsets for n = 4..11, so the "
    "ansatz is optimal there; at n = 12 the coefficient of offset 3 is positive (that the ansatz is then not "
    "optimal is 'ansatz not optimal at twelve').",
    f"all(polar[1] > 0 and all(polar[j] < 0 for j in range(2, l)) for l in range(4, 12) {POLAR})"
    f" and all(polar[3] > 0 for l in [12] {POLAR})")
ANSATZ_COST = "(sum(sqrt(5 + 4*cos(2*pi*t/l)) for t in range(1, l)))"
SLACK_COST = "sum(sqrt(5 + a**2 + 4*cos(x) - 2*a*cos(3*x) - 4*a*cos(2*x)) for t in range(1, l) for x in [2*pi*t/l])"
ANSATZ_BEATEN = number_fact(
    "ansatz not optimal at twelve", "A single cycle of 12 tokens: 2P + I - aP³ with the slack a = 10⁻⁴ on offset 3 "
    "(its all-ones eigenvalue shifted to 0) meets the self default's constraints, and sum_{t>=1} |1 + 2z - az³| over "
    "the nontrivial roots z is smaller than at a = 0: the ansatz is not optimal.",
    f"all({SLACK_COST} < {ANSATZ_COST} for l in [12] for a in [1/10000])")
ANSATZ_CROSSING = number_fact(
    "crossing by the ansatz alone", "Single cycles: the ansatz costs less than the orthonormal sink default "
    "for every n = 2..72 and more at n = 73: a false crossing, 27 tokens before the true one.",
    f"all({ANSATZ_COST} < 2*(l - 1) + (l - 2)/sqrt(l + 1) for l in range(2, 73))"
    f" and all({ANSATZ_COST} > 2*(l - 1) + (l - 2)/sqrt(l + 1) for l in [73])")

PARTS = (SINGLE_SELF, SINGLE_SINK, EQUAL_SELF, EQUAL_SINK, ALIGNED_SELF, ALIGNED_SINK, ANSATZ,
         ANSATZ_BEATEN, ANSATZ_CROSSING)

FEASIBLE = Hypothesis("self feasible", "M of these slacks meets every constraint of the self "
    "default", SELF_FEASIBLE)


def false_for_self(name: str, operator: str, text: str, case: tuple[int, int, Fraction],
                   conclusion: str) -> Variant:
    """A false lower bound on the self default's cost, refuted by the M of a self table with one row."""
    part = Part(name=name, text=text, variables=SELF_VARIABLES, hypotheses=(FEASIBLE,),
                conclusions=(f"all({conclusion} {ROWS} {SPECTRUM})",))
    return Variant(operator, Instance(Later(lambda: self_values([case]))), part)


VARIANTS = (
    false_for_self("sink always cheaper", "trap", "In nuclear norm the sink default is cheaper than the self "
                   "default for every single cycle (n = 10)", (10, 1, NONE), f"{NUCLEAR} >= {SINK_COST}"),
    false_for_self("crossing by the ansatz", "trap", "A single cycle's sink default is cheaper from n = 73 "
        "on, as the ansatz says (n = 99)",
                   (99, 1, NONE), f"n < 73 or {NUCLEAR} >= {SINK_COST}"),
    false_for_self("ansatz optimal for every n", "trap", "No self default of a single cycle is cheaper than "
                   "the ansatz 2P + I - (3/n)11^T (n = 80)", (80, 1, NONE), f"{NUCLEAR} >= {ANSATZ_COST}"),
    Variant("trap", Instance({"lengths": [12], "cycles": [1], "alignment": [NONE],
                              "rows": [[[1, 2, 0, -Fraction(1, 10**4), *[0] * 8]]]}),
            Part(name="ansatz optimal for twelve", variables=SELF_VARIABLES, hypotheses=(FEASIBLE,),
                 text="No self default of a single cycle of 12 tokens is cheaper than the ansatz",
                 conclusions=(f"all(l != 12 or k != 1 or {NUCLEAR} >= {ANSATZ_COST} {ROWS} {SPECTRUM})",))),
    false_for_self("crossing one earlier", "constant moved", "A single cycle's sink default "
        "is cheaper from n = 99 on", (99, 1, NONE),
                   f"n < 99 or {NUCLEAR} >= {SINK_COST}"),
    false_for_self("cycle length does not matter", "trap", "From n = 100 on the sink is cheaper for every "
        "permutation (36 cycles of length 4)",
                   (4, 36, NONE), f"n < 100 or {NUCLEAR} >= {SINK_COST}"),
)
