"""C11: causal masks: a sink and a diagonal on T orthonormal tokens when a row sees only earlier tokens."""

from __future__ import annotations

from fractions import Fraction

import sympy

from proofs_check.claim import Claim, Hypothesis, Instance, Part, Variant
from proofs_check.claims.building import settings
from proofs_check.claims.costs.building import listed, over_reals
from proofs_check.claims.derived import derived, false_formula
from proofs_check.claims.exact import Matrix
from theory.costs_causal import (
    causal_diagonal, causal_sink_frobenius, causal_sink_nuclear, diagonal, frobenius_sink_is_no_nuclear_minimiser,
    minimisers_differ, sink_frobenius, sink_nuclear)

COSINE = Fraction(4, 5)  # a rational singular value: 1 - 1/i = s² at i = 25/9
POINT = {"i": 1 / (1 - COSINE**2), "k": 3, "kappa": 1, "s": COSINE, "h": COSINE, "R": 1}
WORDS = {
    "holder": "s kappa = h/R: kappa_i = s_i^(p-2)/R with h_i = s_i^(p-1), R = (sum_j s_j^p)^(1-1/p)",
    "singular_value": "s² = 1 - 1/i, the singular value of row i",
    "root": "w² = T",
}

DIAGONAL = derived(
    over_reals(diagonal, "i", "k"), "diagonal",
    "W = m(I - Cesàro), rows i < k of W/m: own entry 1 - 1/i, the i-1 entries before it -1/i, zeros after. "
    "So each margin over an earlier token is 1, the row sums to 0, and row k is constant on row i's support: "
    "rows are orthogonal, of squared norm 1 - 1/i, and those norms are the singular values s_i. Multipliers "
    "kappa_i/i on the i-1 pairs of row i give G = diag(kappa) W/m, singular values kappa_i s_i = h_i/R; with "
    "h = s^(p-1) and R = (sum s^p)^(1-1/p) its dual norm is 1, and row i adds m (i-1) kappa_i/i = m s_i "
    "h_i/R, together m(sum s^p)^(1/p) = ‖W‖_p: W is optimal for every 1 <= p < ∞; at p = ∞ put kappa_T = "
    "1/s_T and 0 elsewhere. The identities hold for real i >= 2, k >= 3.",
    words=WORDS, satisfiable=POINT,
    counterexamples={"holder": {**POINT, "kappa": 2}, "singular_value": {**POINT, "i": 2}})

FROBENIUS = derived(
    sink_frobenius, "sink, Frobenius",
    "Competitors 2 <= j <= i, own token included. In Frobenius norm rows are independent; row i is scale "
    "(e_1 - mean of its i-1 keys), every margin of it is m, its squared norm m²(1-1/i), and it is a "
    "nonnegative combination (weight > 0 each) of its constraints: G = W/‖W‖. The objective times ‖W‖ adds "
    "up to ‖W‖², and sum_{i=2}^T (1-1/i) = T - H_T by the induction step shown (1 - H_1 = 0): cost "
    "m√(T-H_T) for every T.",
    satisfiable={"i": 2, "T": 2, "m": 1, "H": Fraction(3, 2), "W": 1})

NUCLEAR = derived(
    sink_nuclear, "sink, nuclear",
    "Above: W = scale q̄ k̄^T, q̄ the mean of e_2..e_T, k̄ = e_1 - q̄, for all i, j >= 2, masked or not: <e_i,q̄> = "
    "|q̄|² = 1/(T-1) and <e_1 - e_j,k̄> = |k̄|² = 1 + 1/(T-1), so every margin is m and the one singular value "
    "m(T-1)/√T (C1's minimiser has this form; nothing is taken over from there). Below: multipliers 1/√T on the "
    "pairs (i,i) alone: G = [1,-I]/√T has G G^T = (I + 11^T)/T on T-1 rows, eigenvalues 1 and 1/T <= 1, so "
    "‖G‖_∞ = 1, and the objective m(T-1)/√T is the "
    "same. Causality saves nothing in nuclear norm.",
    words=WORDS, satisfiable={"T": 4, "m": 1, "w": 2}, counterexamples={"root": {"T": 4, "m": 1, "w": 3}})

DIFFER = derived(
    minimisers_differ, "minimisers differ",
    "The rank-one sink exceeds the Frobenius minimum by H_T - 2 + 1/T in the square (m = 1): 0 at T = 2, and "
    "the difference from T to T+1 is (T-1)/(T(T+1)) > 0, so for T >= 3 it is not a Frobenius minimiser. (H "
    "stands for H_T.)",
    satisfiable={"T": 2, "H": Fraction(3, 2)})

NOT_NUCLEAR = derived(
    frobenius_sink_is_no_nuclear_minimiser, "the Frobenius minimiser is not nuclear",
    "G = [1,-I]/√T (w = √T) has ‖G‖_∞ = 1, and <G,F> = m(T-1)/√T for the Frobenius minimiser F: each of its T-1 rows "
    "adds m/√T. If ‖F‖_1 were that too, tr G^T F = ‖F‖_1 >= ‖G^T F‖_1 would make G^T F symmetric; but its entries "
    "(3,2) and (2,3) are m/(3√T) and 0. So for T >= 3 F, the only Frobenius minimiser, is no nuclear one.",
    satisfiable={"T": 3, "i": 2, "m": 1, "w": 1})


def rational(matrix: sympy.Matrix) -> Matrix:
    return [[Fraction(int(entry.p), int(entry.q)) for entry in row] for row in matrix.tolist()]


def diagonal_matrix(size: int) -> Matrix:
    return rational(causal_diagonal(size))


def frobenius_sink(size: int) -> Matrix:
    return rational(causal_sink_frobenius(size))


def rank_one_sink(size: int) -> Matrix:
    return rational(causal_sink_nuclear(size))


# tokens are e_1..e_T, token 1 is the sink (row 0), so x_i^T W x_j is an entry of W
MATRICES = {"W": "matrix"}
SIZE = {"T": "len(W)", "harmonic": "sum(1 / (j + 1) for j in range(T))"}
CAUSAL_DIAGONAL = "all(W[i][i] - W[i][j] {relation} 1 for i in range(T) for j in range(i))"
CAUSAL_SINK = "all(W[i][0] - W[i][j] {relation} 1 for i in range(1, T) for j in range(1, i + 1))"
SQUARE = "sum(entry ** 2 for row in W for entry in row)"

SIZES = range(1, 8)
DIAGONAL_ON_MATRICES = Part(
    name="diagonal on matrices", quantifier="exists",
    text="There are W and kappa > 0 for T = 1..7 (listed) with: every causal margin 1; W W^T = diag(1 - "
         "1/i), which is the list of squared singular values; and sum_{j<i} (kappa_i/i) e_i(e_i - e_j)^T = "
         "kappa_i times row i, so G = diag(kappa) W.",
    variables={"W": "matrix", "kappa": "vector"}, definitions=SIZE,
    conclusions=(CAUSAL_DIAGONAL.format(relation="=="),
                 "W @ transpose(W) == [[(1 - 1 / (i + 1) if i == j else 0) for j in range(T)] for i in "
                 "range(T)]",
                 "all(kappa[i] > 0 for i in range(T))",
                 "all(sum(kappa[i] / (i + 1) * ((1 if p == i else 0) - (1 if p == j else 0)) for j in "
                 "range(i)) == kappa[i] * W[i][p] for i in range(T) for p in range(T))"),
    satisfiable=Instance({"W": diagonal_matrix(2), "kappa": [1, 1]}),
    instances=listed([Instance({"W": diagonal_matrix(size),
                                "kappa": [Fraction(k, k + 1) for k in range(1, size + 1)]})
                      for size in SIZES]),
    cases=settings("T", [(size,) for size in SIZES]))

SINK_ON_MATRICES = Part(
    name="sink on matrices", quantifier="exists",
    text="There are F and N for T = 1..7 (listed) with every causal sink margin at least 1, ‖F‖_F² = T - "
         "H_T, N of rank at most one with ‖N‖² = (T-1)²/T, and multipliers 1/√T on the own tokens: T G G^T = "
         "I + 11^T on the rows 2..T is at most T. With D = √T G: <D,F> = T - 1, and for T >= 3 D^T F is not symmetric.",
    variables={"F": "matrix", "N": "matrix"},
    definitions={"T": "len(F)", "harmonic": SIZE["harmonic"],
                 "D": "[[(1 if j == 0 else -1 if j == i else 0) if i > 0 else 0 for j in range(T)] for i in range(T)]"},
    conclusions=(CAUSAL_SINK.format(relation=">=").replace("W", "F"),
                 CAUSAL_SINK.format(relation=">=").replace("W", "N"),
                 SQUARE.replace("W", "F") + " == T - harmonic", "rank(N) <= 1",
                 SQUARE.replace("W", "N") + " == (T - 1)**2 / T",
                 "T == 1 or psd([[(T if i == j else 0) - (1 if i == j else 0) - 1 for j in range(1, T)] "
                 "for i in range(1, T)])",
                 "dot(flat(D), flat(F)) == T - 1",
                 "T < 3 or ((transpose(D) @ F)[2][1] == 1 / 3 and (transpose(D) @ F)[1][2] == 0)"),
    satisfiable=Instance({"F": frobenius_sink(2), "N": rank_one_sink(2)}),
    instances=listed([Instance({"F": frobenius_sink(size), "N": rank_one_sink(size)}) for size in SIZES]),
    cases=settings("T", [(size,) for size in SIZES]))


def false_bound(name: str, operator: str, text: str, constraint: str, conclusion: str, W: Matrix,
                *extra: Hypothesis) -> Variant:
    """A false lower bound on the norm of every W with the margins, refuted by a cheaper W."""
    part = Part(name=name, text=text, variables=MATRICES, definitions=SIZE, conclusions=(conclusion,),
                hypotheses=(Hypothesis("feasible", "W has the causal margins",
                                       constraint.format(relation=">=")), *extra))
    return Variant(operator, Instance({"W": W}), part)


RANK_ONE = Hypothesis("rank one", "W has rank one, so that every Schatten norm is the "
    "Frobenius norm", "rank(W) == 1")
ONE_VALUE = Hypothesis("diagonal Gram matrix", "W W^T is diagonal: its diagonal are the squared singular "
    "values",
                       "all(i == j or (W @ transpose(W))[i][j] == 0 for i in range(T) for j in range(T))")
VARIANTS = (
    false_bound("mask costs nothing to forget", "wrong mask",
                "In Frobenius norm the causal sink costs at least m(T-1)/√T, as without a mask (they differ "
                "from T = 3 on)",
                CAUSAL_SINK, f"{SQUARE} >= (T - 1)**2 / T", frobenius_sink(3)),
    false_bound("harmonic number one short", "T for T-1", "The Frobenius sink costs at least "
        "m√(T - H_{T-1})", CAUSAL_SINK,
                f"{SQUARE} >= T - harmonic + 1 / T", frobenius_sink(2)),
    false_bound("diagonal without a mask", "wrong mask", "The causal diagonal costs at least m√(T-1) in "
        "Frobenius norm",
                CAUSAL_DIAGONAL, f"{SQUARE} >= T - 1", diagonal_matrix(2)),
    false_bound("sink and diagonal swapped", "swap sink and diagonal",
                "In nuclear norm the causal sink is dearer than the causal diagonal's trace "
                "norm: at least T - 1", CAUSAL_SINK,
                f"{SQUARE} >= (T - 1)**2", rank_one_sink(2), RANK_ONE),
    false_bound("own token left out", "trap",
                "With pairs 2 <= j < i the sink costs no less: ‖W‖_F² >= T - H_T (the own token is then no "
                "competitor)",
                "all(W[i][0] - W[i][j] {relation} 1 for i in range(1, T) for j "
                "in range(1, i))", f"{SQUARE} >= T - harmonic",
                [[0, 0, 0], [0, 0, 0], [1, 0, 0]]),
    false_bound("unmasked nuclear diagonal", "wrong mask", "The causal diagonal costs at least m(T-1) in "
        "nuclear norm",
                CAUSAL_DIAGONAL, "sum(sqrt((W @ transpose(W))[i][i]) for i in "
                    "range(T)) >= T - 1", diagonal_matrix(2), ONE_VALUE),
    false_formula(DIFFER, "one minimiser for both", "trap", "The rank-one sink is a Frobenius minimiser for "
        "every T",
                  {"T": 3, "H": Fraction(11, 6)}, conclusions=("(T - 1)**2/T == T - H",)),
    false_formula(DIAGONAL, "rows of norm one", "constant moved", "Row i of I - Cesàro has norm 1", POINT,
                  conclusions=("row_square == 1",)),
)

CLAIM = Claim(
    id="C11", title="Causal masks", family="costs",
    statement="T orthonormal tokens, sink = token 1. Diagonal (pairs j < i): W = m(I - Cesàro) is optimal "
              "for every p, cost m(sum_{i=2}^T (1-1/i)^{p/2})^{1/p}. Sink (competitors 2 <= j <= i, own "
              "token included): Frobenius m√(T-H_T), nuclear m(T-1)/√T, as without a mask. So the Frobenius "
              "and nuclear minimisers differ for the sink (T >= 3), not for the diagonal.",
    parts=(DIAGONAL, FROBENIUS, NUCLEAR, DIFFER, NOT_NUCLEAR, DIAGONAL_ON_MATRICES, SINK_ON_MATRICES),
    variants=VARIANTS,
    required="PROVED", required_formal="PROVED",
    scope_notes=(
        "The first five parts hold for all T; the argument that makes them the statement is in their texts "
        "and in notes/C11.md. The parts on matrices check T = 1..7 entry by entry.",
        "The sink for other exponents, and uniqueness, are not claimed."),
)
