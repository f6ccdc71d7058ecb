"""C4: the cheapest sink and diagonal on exchangeable tokens, for every T and every Schatten exponent."""

from __future__ import annotations

from fractions import Fraction

from proofs_check.claim import Claim, Hypothesis, Instance, Part, Variant
from proofs_check.claims.building import settings
from proofs_check.claims.costs import routes
from proofs_check.claims.costs.building import (
    ARGUMENT, CERTIFICATE_VARIABLES, DIAGONAL_MATRICES, ONE_SINGULAR_VALUE, SINK_MATRICES,
    diagonal_certificate,
    exchangeable, gram_settings, listed, sink_certificate)
from proofs_check.claims.derived import derived, drawn, false_formula, points
from theory.costs_exchangeable import (
    degenerate_sink, diagonal_margin, existence, mass_needs_mean_margin, sink_margin)

HALF = Fraction(1, 2)
TWO_SINK = {"T": 2, "r": 1, "q": HALF, "k": HALF, "s2": 1, "m": 1}
TWO_DIAGONAL = {"T": 2, "r": 1, "e": 1, "m": 1, "N": 1, "M": 1, "J": 0}
THREE_DIAGONAL = {"T": 3, "r": 1, "e": 1, "m": 1, "N": 2, "M": 1, "J": 0}
WORDS = {
    "ones_eigenvalue": "J² = T J: J is an eigenvalue of 11^T, so an identity in J is one in the algebra of "
        "I and 11^T",
    "conjugate": "N M = T - 1: N = (T-1)^(1/p), M = (T-1)^(1-1/p)",
    "touching": "rho_T (sigma² - 2 beta + rho_T) = 0",
}

SINK = derived(
    sink_margin, "sink",
    "Sink, every T >= 2 and every p at once. q = √rho_T, k = √(sigma² - 2 beta + rho_T), s2 = sigma². With "
    "q̄ the tokens' mean and k̄ = x_s - q̄: |q̄| = r q, |k̄| = r k and by symmetry each constraint of W = "
    "scale q̄ k̄^T is scale <x_i,q̄><x_s-x_j,k̄> = m; W has the one singular value cost = m/(r² q k). T² "
    "equal multipliers `weight` > 0 give G = T² weight q̄ k̄^T with the one singular value 1, so ‖G‖_p* = 1 "
    "for every p, and the dual objective m T² weight is the cost: weak duality makes both optimal. In mass "
    "form put m = L + log T (see 'mass').",
    words=WORDS, satisfiable=TWO_SINK,
    instances=points(routes.sink_point), strategy=drawn(routes.sink_point), numeric=routes.sink_slack)

DIAGONAL = derived(
    diagonal_margin, "diagonal",
    "Diagonal, every T >= 2, rho = 1 - e < 1 and every p. On eigenvalues J of 11^T: H G H = r² e H, so X H "
    "X^T is r² e times the projector on the centred span, of rank tr H = T - 1. W = scale·projector has "
    "margins scale (own - other) = m and ‖W‖_p = scale N = m (T-1)^(1/p)/(r² (1-rho)). Equal multipliers "
    "`weight` > 0 give G = T weight X H X^T, with ‖G‖_p* = T weight r² e M = 1, and the objective m T (T-1) "
    "weight is the cost: both are optimal.",
    words=WORDS, satisfiable=THREE_DIAGONAL,
    counterexamples={"ones_eigenvalue": {**TWO_DIAGONAL, "J": 1}, "conjugate": {**TWO_DIAGONAL, "T": 3}},
    instances=points(routes.diagonal_point), strategy=drawn(routes.diagonal_point),
    numeric=routes.diagonal_slack)

MASS = derived(
    mass_needs_mean_margin, "mass",
    "Mass form, one row with n keys. u is the mean of the margins u_j, E the mean of exp(m - u_j), m = L + "
    "log n. Mass >= 1 - eps is sum exp(-u_j) <= exp(-L), that is E <= 1 ('mass'); exp(x) >= 1 + x averaged "
    "is E >= 1 + m - u ('tangent'). Hence u >= m: the uniform multipliers see only mean margins, so the "
    "margin form's dual bounds the mass form from below, and equal margins m have the mass with equality. n "
    "= T for the sink, T - 1 for the diagonal with no sink among the keys. If m <= 0, W = 0 already has the "
    "mass.",
    words={"tangent": "E >= 1 + m - u: exp(x) >= 1 + x, averaged", "mass": "E <= 1: the row has the mass"},
    satisfiable={"u": 1, "m": 1, "E": 1},
    counterexamples={"tangent": {"u": 0, "m": 1, "E": 1}, "mass": {"u": 0, "m": 1, "E": 2}})

DEGENERATE = derived(
    degenerate_sink, "no sink at distance zero",
    "rho_T = 0 or sigma² - 2 beta + rho_T = 0: |q̄|²|k̄|² = r⁴ rho_T (sigma² - 2 beta + rho_T) = 0, and the "
    "constraints average to q̄^T W k̄ = 0, so no W has a positive margin. This is why C4 needs both to be "
    "positive.",
    words=WORDS, satisfiable={"T": 2, "r": 1, "rho": -1, "beta": 0, "s2": 1},
    counterexamples={"touching": {"T": 2, "r": 1, "rho": 0, "beta": 0, "s2": 1}})

EXISTENCE = derived(
    existence, "tokens exist",
    "exch(T,r,rho,beta,sigma), sigma > 0: eliminating the sink from the Gram matrix leaves the eigenvalues "
    "r² e >= 0 (T-1 times) and r²(e + T(rho - beta²/sigma²)) = r² T (rho_T - beta²/sigma²), so tokens exist "
    "iff rho <= 1 and sigma² rho_T >= beta²; then sigma² (sigma² - 2 beta + rho_T) >= 0 as a sum of a "
    "square and that slack.",
    satisfiable={"T": 2, "e": 1, "beta": 0, "s2": 1})

# common, own, along, across, off, shift: rational hull distances, rho of both signs, sink in the span or not
FAMILY = ((2, 1, 1, 4, 4, 0, 1), (2, 2, 1, -1, 4, 0, 1), (3, 1, 2, 1, 3, 0, 1),
          (3, Fraction(1, 10), 1, 2, 0, 0, 1),
          (4, 0, 1, 0, 0, 1, 0), (4, 3, 1, 0, 4, 0, 1),
          (5, Fraction(3, 2), 2, -Fraction(1, 2), Fraction(3, 2), 0, 1),
          (6, 1, Fraction(1, 3), 1, 2, 0, 1))
SIMPLICES = ([[1], [-1]], [[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])  # d = T - 1 < T, rho = -1/(T-1)
MARGINS = (1, Fraction(3, 7))

SINK_CASES = [sink_certificate(*exchangeable(*case), margin) for case in FAMILY for margin in MARGINS]
DIAGONAL_TOKENS = (*SIMPLICES, *(exchangeable(*case)[0] for case in FAMILY))
DIAGONAL_CASES = [diagonal_certificate(x, margin) for margin in MARGINS for x in DIAGONAL_TOKENS]
GRAM = {
    "r2": "dot(x[0], x[0])", "rho": "dot(x[0], x[1]) / r2", "rho_T": "rho + (1 - rho) / T",
    "beta": "dot(sink, x[0]) / r2", "sigma2": "dot(sink, sink) / r2",
}
SAME_GRAM = "all(dot(x[i], x[j]) == (r2 if i == j else r2 * rho) for i in range(T) for j in range(T))"
SINK_GRAM = Hypothesis("exchangeable", "the tokens' Gram matrix is r²((1-rho)I + rho 11^T), the sink sees "
    "them all alike",
                       SAME_GRAM + " and all(dot(sink, row) == r2 * beta for row in x)")
DIAGONAL_GRAM = Hypothesis("exchangeable", "the tokens' Gram matrix is r²((1-rho)I + rho 11^T)", SAME_GRAM)

SINK_ON_MATRICES = Part(
    name="sink on matrices", quantifier="exists",
    text="There are explicit exchangeable tokens (sixteen listed cases, T = 2..6, rho of both signs, the "
         "sink in and out of the tokens' span) and W, multipliers, with s = "
         "m/(r²√rho_T√(sigma²-2beta+rho_T)) and count = 1." + ARGUMENT,
    variables={**CERTIFICATE_VARIABLES, "sink": "vector"}, hypotheses=(SINK_GRAM,),
    definitions={**SINK_MATRICES, **GRAM},
    conclusions=(*ONE_SINGULAR_VALUE, "count == 1", "s**2 * r2**2 * rho_T * (sigma2 - 2 * beta + rho_T) == "
        "m**2"),
    satisfiable=SINK_CASES[0], instances=listed(SINK_CASES),
    cases=settings("T r2 rho beta sigma2 m", [(*gram_settings(*exchangeable(*case)), margin)
                                              for case in FAMILY for margin in MARGINS]))

DIAGONAL_GRAM_DEFINITIONS = {key: GRAM[key] for key in ("r2", "rho")}
DIAGONAL_ON_MATRICES = Part(
    name="diagonal on matrices", quantifier="exists",
    text="There are explicit exchangeable tokens (twenty listed cases, T = 2..6, also T - 1 = d at rho = "
         "-1/(T-1)) and W, multipliers, with s = m/(r²(1-rho)) and count = T - 1." + ARGUMENT,
    variables=CERTIFICATE_VARIABLES, hypotheses=(DIAGONAL_GRAM,),
    definitions={**DIAGONAL_MATRICES, **DIAGONAL_GRAM_DEFINITIONS},
    conclusions=(*ONE_SINGULAR_VALUE, "count == T - 1", "s * r2 * (1 - rho) == m"),
    satisfiable=DIAGONAL_CASES[0], instances=listed(DIAGONAL_CASES),
    cases=settings("T r2 rho len(x[0]) m", [(*gram_settings(x), len(x[0]), margin)
                                            for margin in MARGINS for x in DIAGONAL_TOKENS]))

# A feasible W that is cheaper than a false formula says refutes the formula: W alone, and its singular value.
CHEAP_SINK = Part(
    name="a sink's lower bound", text="",
    variables={"x": "matrix", "sink": "vector", "W": "matrix", "m": "scalar", "s": "scalar"},
    hypotheses=(SINK_GRAM,
                Hypothesis("feasible", "W has the margin", "all(margin >= m for margin in margins)"),
                Hypothesis("norm", "every nonzero singular value of W is s, and there is one",
                           "W @ transpose(W) @ W == s**2 * W and trace(transpose(W) @ W) == s**2")),
    definitions={"T": "len(x)", "margins": SINK_MATRICES["margins"], **GRAM}, conclusions=("True",))
CHEAP_DIAGONAL = Part(
    name="a diagonal's lower bound", text="",
    variables={"x": "matrix", "W": "matrix", "m": "scalar", "s": "scalar",
                                                         "count": "integer"},
    hypotheses=(DIAGONAL_GRAM,
                Hypothesis("feasible", "W has the margin", "all(margin >= m for margin in margins)"),
                Hypothesis("norm", "W has `count` nonzero singular values, all equal to s",
                           "W @ transpose(W) @ W == s**2 * W and trace(transpose(W) @ W) == count * s**2")),
    definitions={"T": "len(x)", "margins": DIAGONAL_MATRICES["margins"], **DIAGONAL_GRAM_DEFINITIONS},
    conclusions=("True",))


def only(part: Part, case: Instance) -> Instance:
    return Instance({name: case.values[name] for name in part.variables})


def false_sink(name: str, operator: str, text: str, case: Instance, cost_square: str) -> Variant:
    return CHEAP_SINK.vary(name, operator, text, only(CHEAP_SINK, case),
                           conclusions=(f"s**2 >= {cost_square}",))


def false_diagonal(name: str, operator: str, text: str, case: Instance, conclusion: str) -> Variant:
    return CHEAP_DIAGONAL.vary(name, operator, text, only(CHEAP_DIAGONAL, case), conclusions=(conclusion,))


OPPOSITE = Part(name="a sink exists", text="", variables={"x": "matrix", "sink": "vector"},
                hypotheses=(SINK_GRAM,),
                definitions={"T": "len(x)", **GRAM},
                conclusions=("separable([flat(outer(x[i], sink - x[j])) for i in range(T) for j in "
                    "range(T)], 'W')",))
VARIANTS = (
    false_sink("rho for rho_T", "trap", "The sink costs at least m/(r²√rho√(sigma²-2beta+rho)) (orthonormal "
        "tokens make it infinite)",
               sink_certificate(*exchangeable(3, 1, 2, 1, 3, 0, 1)), "m**2 / (r2**2 * abs(rho) * "
                   "abs(sigma2 - 2*beta + rho))"),
    false_sink("sign of beta", "flip inequality", "The sink costs at least m/(r²√rho_T√(sigma²+2beta+rho_T))",
               sink_certificate(*exchangeable(2, 2, 1, -1, 4, 0, 1)), "m**2 / (r2**2 * rho_T * (sigma2 + "
                   "2*beta + rho_T))"),
    false_sink("sink one percent dearer", "constant moved", "The sink costs at least 1.01 times the formula",
               SINK_CASES[0], "(101**2 * m**2) / (100**2 * r2**2 * rho_T * (sigma2 - 2*beta + rho_T))"),
    false_sink("r for r squared", "exponent moved", "The sink costs at least "
        "m/(r√rho_T√(sigma²-2beta+rho_T))",
               sink_certificate(*exchangeable(2, 1, 1, 4, 4, 0, 1)), "m**2 / (r2 * rho_T * (sigma2 - "
                   "2*beta + rho_T))"),
    false_diagonal("T for T - 1", "T for T-1", "The diagonal's Frobenius cost is at least m√T/(r²(1-rho))",
                   DIAGONAL_CASES[0], "count * s**2 * r2**2 * (1 - rho)**2 >= m**2 * T"),
    false_diagonal("p for p*", "p for p*", "The diagonal's spectral cost is at least m(T-1)/(r²(1-rho)): "
        "exponents 1 and ∞ exchanged",
                   DIAGONAL_CASES[1], "s * r2 * (1 - rho) >= m * (T - 1)"),
    false_diagonal("diagonal one percent dearer", "constant moved", "The diagonal's nuclear cost is at "
        "least 1.01 times the formula",
                   DIAGONAL_CASES[1], "100 * count * s * r2 * (1 - rho) >= 101 * m * (T - 1)"),
    OPPOSITE.vary("sink at rho_T = 0", "drop hypothesis", "Every exchangeable family has a sink, also where "
        "rho_T = 0",
                  Instance({"x": [[1], [-1]], "sink": [0]}, {"W": {"weights": {0: 1, 2: 1}}})),
    OPPOSITE.vary("sink at the mean", "drop hypothesis", "Every exchangeable family has a sink, also where "
        "sigma² - 2 beta + rho_T = 0",
                  Instance({"x": [[1, 0], [0, 1]], "sink": [HALF, HALF]}, {"W": {"weights": {0: 1, 1: 1}}})),
    false_formula(DIAGONAL, "one more competitor", "T for T-1", "W has T singular values: ‖G‖ = 1 with N M "
        "= T",
                  {**THREE_DIAGONAL, "N": 3}, hypotheses=DIAGONAL.instead(
                      "conjugate", Hypothesis("conjugate", "N M = T", "N*M == T"))),
    false_formula(MASS, "mean margin strictly", "strict for non-strict",
                  "Mass forces the mean margin above L + log n",
                  {"u": 1, "m": 1, "E": 1}, conclusions=("u - m > 0",)),
)

CLAIM = Claim(
    id="C4", title="Exchangeable tokens: the cheapest sink and diagonal", family="costs",
    statement="On exch(T,r,rho,beta,sigma), T >= 2, the T tokens being queries and keys, for every p in "
              "[1,∞]: if rho_T > 0 and sigma² - 2 beta + rho_T > 0 the cheapest sink costs m/(r²√rho_T "
              "√(sigma² - 2 beta + rho_T)); if rho < 1 the cheapest diagonal costs m(T-1)^{1/p}/(r²(1-rho)), "
              "attained by a multiple of the projector on the centred span. Mass form: m = L + log T, resp. L "
              "+ log(T-1) with no sink among the keys, when nonnegative.",
    parts=(SINK, DIAGONAL, MASS, DEGENERATE, EXISTENCE, SINK_ON_MATRICES, DIAGONAL_ON_MATRICES),
    variants=VARIANTS,
    required="PROVED", required_formal="PROVED",
    scope_notes=(
        "The parts 'sink', 'diagonal', 'mass', 'no sink at distance zero' and 'tokens exist' hold for all T "
        "and all real parameters; that their identities amount to feasible W and multipliers is the argument "
        "in each part's text and in notes/C4.md. The two parts on matrices tie them to explicit tokens.",
        "Costs are for logits x_i^T W x_j; divide by kappa. Uniqueness, and a diagonal whose rows also see "
        "the sink, are not claimed. RoPE and query biases break the lower bounds.",
        "Not claimed here: norms of W other than the Schatten norms."),
)
