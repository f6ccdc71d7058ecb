"""C12: head dimension: a sink of rank one, a diagonal of rank two, and tokens on a circle."""

from __future__ import annotations

from fractions import Fraction

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import settings
from proofs_check.claims.costs.building import (
    ARGUMENT, CERTIFICATE_VARIABLES, DIAGONAL_MATRICES, ONE_SINGULAR_VALUE, covered, exchangeable, gram_settings,
    listed, number_fact, sink_certificate)
from proofs_check.claims.costs.c4 import SINK_ON_MATRICES
from proofs_check.claims.derived import derived, false_formula
from theory.costs_lemmas import identity
from theory.costs_rank import circle_tokens, rank_one_is_too_little, rank_two_growth
from theory.statements import Derivation, Lemma

HALF = Fraction(1, 2)
WORDS = {
    "row_1": "token 1 beats token 2 by at least m: a1(b1-b2) >= m",
    "row_2": "token 2 beats token 1 by at least m",
    "circle": "c² + s² = 1: c = cos(2 pi/T), s = sin(2 pi/T) > 0 for T >= 3",
    "commute_1": "A = sum x_i x_i^T commutes with the rotation by 2 pi/T, which permutes the tokens: entry "
        "(1,1)",
    "commute_2": "the same, entry (1,2)", "trace": "tr A = T: unit tokens",
    "above": "y <= x²/2 for y = 1 - cos x, x = 2 pi/T (cosine bound)",
    "below": "y >= x²/2 - x⁴/24 for y = 1 - cos x (cosine bound)",
}
CIRCLE_POINT = {"T": 4, "m": 1, "c": 0, "s": 1, "A11": 2, "A12": 0, "A22": 2, "u": 1, "v": 0}
GROWTH_POINT = {"T": 6, "m": 1, "y": Fraction(19, 36), "pi_": Fraction(22, 7)}
RANK_ONE_POINT = {"m": 1, "a1": 1, "a2": 1, "b1": 1, "b2": 0}

def contradiction():
    """theory's derivation assumes both margins and ends in a contradiction; here one is, as no instance has both.

    With first = a1(b1-b2), second = a2(b2-b1): a2 first + a1 second = 0, so first >= m > 0 forces second < 0.
    """
    source = rank_one_is_too_little()
    definitions = source.definitions
    cancel = identity("a2*first + a1*second", "0", definitions=definitions)
    negative = Lemma("-second > 0", by="terms", terms=(("1", ("first - m", "a2/a1")), ("1", ("m", "a2/a1"))))
    below = Lemma("m - second > 0", by="terms", terms=(("1", ("m",)), ("1", ("-second",))))
    return Derivation(source.parameters, definitions, {"row_1": source.assumptions["row_1"]},
                      (cancel, negative, below),
                      (cancel.formula, negative.formula, below.formula))


RANK_ONE = derived(
    contradiction, "rank one",
    "Rank-one logits a_i b_j, margin m > 0: a_1(b_1-b_2) and a_2(b_2-b_1) are not both >= m when a_1, a_2 > "
    "0 (two negative ones become positive under (a,b) -> (-a,-b), and a zero has no margin). Among three "
    "rows two share a sign, so a rank-one diagonal has at most two tokens, whatever the embeddings. "
    "Formally: with first = a_1(b_1-b_2) >= m the identity a_2 first + a_1 second = 0 gives second < 0 < m. "
    "Two tokens do: see 'circle on matrices' at T = 2.",
    words=WORDS, satisfiable=RANK_ONE_POINT, counterexamples={"row_1": {**RANK_ONE_POINT, "b1": 0, "b2": 1}})

CIRCLE = derived(
    circle_tokens, "circle",
    "T >= 3 unit tokens at angles 2 pi i/T in the plane. W = m/(1-c)·1: own minus neighbour logit is m, and "
    "c is the largest cosine, so all margins are >= m; its two singular values are m/(1-c). Dual: `weight` "
    "on the two neighbours of each token, whose sum is 2c x; A = sum x_i x_i^T is (T/2)·1 because it "
    "commutes with a rotation of sine s > 0; so G = weight (2-2c) A = 1. <G, W'> >= m 2T weight = 2 m/(1-c) "
    "for every feasible W', and as both G and W are multiples of 1, ‖W‖_p = 2^{1/p} m/(1-c) is least for "
    "every p.",
    # c² + s² = 1 gives the tokens their norm; the identities themselves do not use it
    words=WORDS, satisfiable=CIRCLE_POINT,
    counterexamples={
        "commute_1": {**CIRCLE_POINT, "A12": 1, "c": 0}, "commute_2": {**CIRCLE_POINT, "A11": 1, "A22": 3},
        "trace": {**CIRCLE_POINT, "A11": 1, "A22": 1}})

GROWTH = derived(
    rank_two_growth, "rank two",
    "Rank-two diagonal on T orthonormal tokens, logits a cos(2 pi(i-j)/T): the smallest margin is a(1-cos(2 "
    "pi/T)); the matrix is positive semidefinite of rank 2 (1 for T = 2) with trace aT, so at margin m its "
    "nuclear norm is cost = mT/y, y = 1-cos(2 pi/T), an upper bound on the rank-two cost. With x²/2 - x⁴/24 "
    "<= y <= x²/2: mT³/(2 pi²) <= cost <= mT³/(2 pi²)/(1 - pi²/(3T²)) for every T >= 2. pi_ stands for pi, "
    "anywhere in [3, 22/7].",
    words=WORDS, satisfiable=GROWTH_POINT,
    counterexamples={"above": {**GROWTH_POINT, "y": 1}, "below": {**GROWTH_POINT, "y": Fraction(2, 5)}})

PI = number_fact("pi in its box", "3 < pi < 22/7, as 'rank two' takes it.", "3 < pi and pi < 22 / 7")
COSINE_BOUNDS = covered(Part(
    name="cosine bounds", text="x²/2 - x⁴/24 <= 1 - cos x <= x²/2 on [1, 22/7], which covers x = 2 pi/T for "
                               "T = 2..6; for larger T the bounds are taken from analysis (Taylor) as "
                               "hypotheses of 'rank two'.",
    parameters=({"name": "x", "minimum": ["1", "1"], "maximum": ["22", "7"]},),
    conclusions=("1 - cos(x) <= x**2 / 2", "1 - cos(x) >= x**2 / 2 - x**4 / 24"),
    satisfiable=Instance({"x": 2})))

SQUARE_TOKENS = [[1, 0], [0, 1], [-1, 0], [0, -1]]
NEIGHBOURS = [[Fraction(int((i - j) % 4 in (1, 3))) for j in range(4)] for i in range(4)]
SQUARE = Instance({"x": SQUARE_TOKENS, "W": [[1, 0], [0, 1]], "lam": NEIGHBOURS, "m": 1, "s": 1, "t": 4,
                   "count": 2})
PAIR = Instance({"x": [[1, 0], [-1, 0]], "W": [[HALF, 0], [0, 0]], "lam": [[0, 1], [1, 0]], "m": 1, "s": HALF,
                 "t": 8,
                 "count": 1})
TIGHT_OR_UNUSED = ("all(x[i] @ W @ (x[i] - x[j]) >= m and (lam[i][j] == 0 or x[i] @ W @ (x[i] - x[j]) == m) "
                   "for i in range(T) for j in range(T) if j != i)")
CIRCLE_ON_MATRICES = Part(
    name="circle on matrices", quantifier="exists",
    text="T = 4 on the circle: W = m·1 (c = 0), count = 2, at equality with neighbour multipliers; and T = "
         "2, x_2 = -x_1, where the cost is m/2 at rank one. Constraints without a multiplier may "
         "be slack." + ARGUMENT,
    variables=CERTIFICATE_VARIABLES, definitions=DIAGONAL_MATRICES,
    conclusions=(TIGHT_OR_UNUSED, *ONE_SINGULAR_VALUE[1:], "s == (m if T == 4 else m / 2) and count == T / "
        "2"),
    satisfiable=SQUARE, instances=listed([SQUARE, PAIR]),
    cases=settings("x W m", [[case.values[name] for name in ("x", "W", "m")] for case in (SQUARE, PAIR)]))

TURNS = {"T": "integer"}
TURN_SIZES = range(3, 13)
TURN_DEFINITIONS = {"angle": "2 * pi / T", "a": "1 / (1 - cos(angle))",
                    "U": "[[cos(angle * i), sin(angle * i)] for i in range(T)]"}
RANK_TWO_ON_MATRICES = Part(
    name="rank two on matrices", quantifier="exists",
    text="For the listed T = 3..12, by balls: logits a U U^T with the rows of U on the circle, so rank <= 2 "
         "and positive semidefinite, trace aT, smallest margin at least 1 - 10^-30 at a = 1/(1-cos(2 pi/T)).",
    variables=TURNS, definitions=TURN_DEFINITIONS,
    conclusions=("all(a * (1 - cos(angle * (i - j))) >= 1 - 1 / 10**30 for i in range(T) for j in range(T) "
        "if j != i)",
                 "abs(sum(a * dot(row, row) for row in U) - a * T) <= 1 / 10**30"),
    satisfiable=Instance({"T": 3}), instances=listed([Instance({"T": size}) for size in TURN_SIZES]),
    cases=settings("T", [(size,) for size in TURN_SIZES]))

SINK_RANK_TOKENS = (exchangeable(2, 1, 1, 4, 4, 0, 1), exchangeable(5, 1, 1, 4, 4, 0, 1))
SINK_RANK_CASES = [sink_certificate(*tokens) for tokens in SINK_RANK_TOKENS]
SINK_RANK = Part(
    name="sink at rank one", quantifier="exists",
    text="The sink's minimiser has rank one, so a head of dimension 1 pays what any head pays: shown here on two "
         "listed exchangeable families (C4's certificate, with rank(W) = 1).",
    variables=SINK_ON_MATRICES.variables, hypotheses=SINK_ON_MATRICES.hypotheses,
    definitions=SINK_ON_MATRICES.definitions,
    conclusions=(*SINK_ON_MATRICES.conclusions, "rank(W) == 1"), satisfiable=SINK_RANK_CASES[0],
    instances=listed(SINK_RANK_CASES),
    cases=settings("T r2 rho beta sigma2 m", [(*gram_settings(*tokens), 1) for tokens in SINK_RANK_TOKENS]))

CHEAP = Part(
    name="a diagonal costs at least", text="", variables={"x": "matrix", "W": "matrix", "m": "scalar"},
    definitions={
        "T": "len(x)", "margins": DIAGONAL_MATRICES["margins"]},
    hypotheses=(Hypothesis("margins", "W has the margin", "all(margin >= m for margin in margins)"),
                Hypothesis("positive semidefinite", "so that the nuclear norm is the trace", "psd(W)")),
                conclusions=("True",))
VARIANTS = (
    CHEAP.vary("circle of two tokens", "trap", "The circle's formula holds at T = 2 too: nuclear cost at "
        "least 2m/(1-cos pi) = m",
               Instance({"x": [[1, 0], [-1, 0]], "W": [[HALF, 0], [0, 0]], "m": 1}),
               conclusions=("T != 2 or trace(W) >= m",)),
    CHEAP.vary("one percent more on the circle", "constant moved", "Four tokens on the circle cost at least "
        "1.01·2m/(1-c) = 2.02 m",
               Instance({"x": SQUARE_TOKENS, "W": [[1, 0], [0, 1]], "m": 1}),
               conclusions=("100 * trace(W) >= 202 * m",)),
    CHEAP.vary("rank two is optimal", "trap",
               "On T = 4 orthonormal tokens no diagonal is cheaper than the rank-two one: nuclear cost at "
               "least mT/(1-cos(2 pi/T)) = 4 m",
               Instance({"x": [[int(i == j) for j in range(4)] for i in range(4)], "m": 1,
                         "W": [[Fraction(3, 4) if i == j else Fraction(-1,
                             4) for j in range(4)] for i in range(4)]}),
               conclusions=("trace(W) >= 4 * m",)),
    CHEAP.vary("rank one never", "flip inequality", "No rank-one W is a diagonal, not even for two tokens",
               Instance({"x": [[1], [-1]], "W": [[HALF]], "m": 1}), conclusions=("rank(W) >= 2",)),
    false_formula(RANK_ONE, "first row alone", "wrong converse", "A positive first margin "
        "gives a positive second one", RANK_ONE_POINT,
                  conclusions=("second > 0",)),
    false_formula(GROWTH, "T squared", "exponent moved", "The rank-two cost is at most mT²/(2 "
        "pi²)/(1 - pi²/(3T²))", GROWTH_POINT,
                  conclusions=("leading/T/(1 - pi_**2/(3*T**2)) - cost >= 0",)),
    false_formula(GROWTH, "leading order is the cost", "strict for non-strict",
                  "The rank-two cost is at most mT³/(2 pi²)", GROWTH_POINT,
                  conclusions=("leading - cost >= 0",)),
)

CLAIM = Claim(
    id="C12", title="Head dimension", family="costs",
    statement="On exchangeable tokens the cheapest sink has rank one (C4), so it costs the "
              "same at every head dimension >= 1. Rank one is a diagonal for at most two tokens. On T >= 2 "
              "orthonormal tokens the rank-two W with logits proportional to cos(2 pi(i-j)/T) costs "
              "mT/(1-cos(2 pi/T)) in nuclear norm, an upper bound, which is ~ mT³/(2 pi²) given x²/2 - x⁴/24 <= 1 - "
              "cos x <= x²/2 (x = 2 pi/T); T >= 3 unit tokens equally "
              "spaced on a circle cost 2^{1/p} m/(1-cos(2 pi/T)) exactly.",
    parts=(RANK_ONE, CIRCLE, GROWTH, PI, COSINE_BOUNDS, CIRCLE_ON_MATRICES, RANK_TWO_ON_MATRICES, SINK_RANK),
    variants=VARIANTS, uses=("C4",),
    required="PROVED", required_formal="PROVED",
    scope_notes=(
        "For all T: 'rank one', 'circle' and 'rank two' (with the cosine bounds as hypotheses). On listed "
        "matrices: the circle at T = 2, 4, the rank-two matrix for T = 3..12, the sink at rank one.",
        "Not claimed here: the rank of the cheapest sink for tokens that are not exchangeable (that is C1's subject).",
        "Not claimed: that the rank-two construction is the cheapest of its rank, and costs at ranks "
        "between 2 and T - 1."),
)
