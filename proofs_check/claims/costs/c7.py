"""C7: the cheapest value map that sends tokens to targets and the sink to zero, on exchangeable tokens."""

from __future__ import annotations

from fractions import Fraction

from proofs_check.claim import Claim, Hypothesis, Instance, Part, Variant
from proofs_check.claims.building import settings
from proofs_check.claims.costs import routes
from proofs_check.claims.costs.building import exchangeable, gram_settings, listed
from proofs_check.claims.derived import derived, drawn, false_formula, points
from proofs_check.claims.exact import Matrix, Vector, gram, solve
from theory.costs_value import holder_dual, interpolant, nulling_blows_up, nulling_is_cheap

HALF = Fraction(1, 2)
WORDS = {
    "ones_eigenvalue": "J² = T J: J is an eigenvalue of 11^T",
    "schur_complement": "rho - beta²/sigma² = c = (f-e)/T, with b = beta/sigma²: it defines f = e + T(rho - "
        "beta²/sigma²)",
    "powers": "S R = (T-1)s1 h1 + s2 h2: S^p = (T-1)s1^p + s2^p with h_i = s_i^(p-1), R = S^(p-1)",
    "last_singular_value": "b <= a: the last p-th power is at most the others, because f >= e",
    "independent": "e + T(1-e-z) > 0: tokens and sink leave no combination of the tokens on the sink's line",
}
PLAIN = {"T": 2, "e": 1, "f": 1, "b": 0, "s2": 1, "J": 2}
BLOWN = {"T": 2, "r": 1, "e": 1, "omega": 1, "z": Fraction(1, 4)}

INTERPOLANT = derived(
    interpolant, "interpolant",
    "Exchangeable tokens, sigma > 0, e = 1 - rho > 0, f > 0; b = beta/sigma². Eliminating the sink leaves "
    "r²(e I + c 11^T), inverse ((I - (c/f)11^T)/e)/r². V = t·inverse·(X - b x_s 1^T)^T/r² sends tokens to "
    "targets (token_row = 1, an identity in the algebra of 11^T) and the sink to 0; V V^T is omega²/r² times "
    "the inverse on the orthogonal targets' frame, eigenvalues 1/e (J = 0, T-1 times) and 1/f (J = T). V's "
    "rows lie in the span of tokens and sink, so V = V'P for every other interpolant V', P the projector on "
    "that span, and ‖V‖ <= ‖V'‖ in every unitarily invariant norm: the least ‖V‖_p is "
    "(omega/r)[(T-1)(1-rho)^(-p/2) + f^(-p/2)]^(1/p), f = 1-rho+T(rho-beta²/sigma²); without the null "
    "constraint put beta = 0.",
    words=WORDS, satisfiable=PLAIN,
    counterexamples={"ones_eigenvalue": {"T": 2, "e": HALF, "f": 3 * HALF, "b": 0, "s2": 1, "J": 1},
                     "schur_complement": {**PLAIN, "b": 1}},
    instances=points(routes.value_point), strategy=drawn(routes.value_point), numeric=routes.value_slack)

HOLDER = derived(
    holder_dual, "dual of equal value",
    "1 < p < ∞: G with V's singular vectors and singular values h_i/R, h_i = s_i^(p-1), R = S^(p-1), S = "
    "‖V‖_p: its dual norm is 1 (h_i^{p*} = s_i h_i, R^{p*} = S R) and it pairs with every interpolant as "
    "with V, so no interpolant is below S. A second route to the minimum that uses no projection.",
    words=WORDS, satisfiable={"T": 2, "s1": 1, "s2": 1, "h1": 1, "h2": 1, "S": 1, "R": 2},
    counterexamples={"powers": {"T": 2, "s1": 1, "s2": 1, "h1": 1, "h2": 1, "S": 1, "R": 1}})

CHEAP = derived(
    nulling_is_cheap, "nulling is cheap",
    "beta² <= sigma² rho, z = beta²/sigma²: f - e has the sign of rho - z, so f >= e; then with a = s_1^p >= "
    "b = s_2^p and b0 >= 0 the last term without the null constraint, (T-1)a + b <= (T/(T-1))((T-1)a + b0) "
    "<= 2(...): nulling the sink at most doubles the p-th power of the cost, at every T: O(1).",
    words=WORDS, satisfiable={"T": 2, "e": 1, "rho": 0, "z": 0, "a": 1, "b": 1, "b0": 0},
    counterexamples={"last_singular_value": {"T": 2, "e": 1, "rho": 0, "z": 0, "a": 0, "b": 1, "b0": 0}})

BLOWS_UP = derived(
    nulling_blows_up, "nulling blows up",
    "f = T(rho_T - beta²/sigma²): the last singular value squared times the gap rho_T - beta²/sigma² is "
    "omega²/(r² T), a constant, so it grows beyond every bound as beta² -> sigma² rho_T. (z = beta²/sigma².)",
    # at e + T(1-e-z) = 0 the statement divides by zero: there is nothing false to show
    words=WORDS, satisfiable=BLOWN)


def columns_for(points: Matrix) -> Matrix:
    """(points points^T)^{-1} points: rows y_j with <y_j, x_k> = 1 if j = k else 0, in the points' span."""
    return solve(gram(points), points)


def value_instance(x: Matrix, sink: Vector, omega: int = 1) -> Instance:
    """V sends x_j to omega e_j and the sink to 0, with rows in the span of both."""
    rows = columns_for([*x, sink])[:-1]
    return Instance({"x": x, "sink": sink, "V": [[omega * entry for entry in row] for row in rows],
                     "omega": omega})


# common, own, along, across, off, shift, then omega
FAMILY = (
    ((1, 1, 0, 1, 1, 0, 0), 1), ((2, 1, 1, 1, 1, 0, 0), 1), ((2, 1, 1, 1, 0, 0, 0), 2),
    ((3, 0, 1, 0, 1, 0, 0), 1),
    ((3, 1, 2, -1, 1, 0, 0), 1), ((4, 1, 1, 2, 1, 1, 0), 3), ((5, 0, 2, 1, 1, 1, 0), 1),
    ((6, Fraction(1, 2), 1, 1, 1, 0, 0), 1))
CASES = [value_instance(*exchangeable(*case), omega) for case, omega in FAMILY]
GRAM = {
    "T": "len(x)", "r2": "dot(x[0], x[0])", "sigma2": "dot(sink, sink) / r2", "beta": "dot(sink, x[0]) / r2",
    "rho": "dot(x[0], x[1]) / r2 if T > 1 else 0", "f": "1 - rho + T * (rho - beta**2 / sigma2)",
    "first": "omega**2 / (r2 * (1 - rho))", "last": "omega**2 / (r2 * f)", "A": "V @ transpose(V)",
}
GRAM_HYPOTHESIS = Hypothesis(
    "exchangeable", "the tokens' Gram matrix is r²((1-rho)I + rho 11^T), the sink sees them all alike and "
        "is not 0",
    "sigma2 > 0 and all(dot(x[i], x[j]) == (r2 if i == j else r2 * rho) for i in range(T) for j in range(T)) "
    "and all(dot(sink, row) == r2 * beta for row in x)")
INTERPOLATES = ("all(V @ x[j] == [(omega if i == j else 0) for i in range(T)] for j in range(T))"
                " and V @ sink == [0 for i in range(T)]")
ON_MATRICES = Part(
    name="value map on matrices", quantifier="exists",
    text="There are explicit exchangeable tokens (eight listed cases, T = 1..6, tokens in dimension T + 2) "
         "with V x_j = omega e_j, V x_s = 0, rows of V in the span of tokens and sink (rank of the stacked "
         "rows unchanged), and A = V V^T = first·(I - 11^T/T) + last·11^T/T, which lists the squared "
         "singular values: first T-1 times, last once.",
    variables={"x": "matrix", "sink": "vector", "V": "matrix", "omega": "scalar"},
    hypotheses=(GRAM_HYPOTHESIS,), definitions=GRAM,
    conclusions=(INTERPOLATES,
                 "rank([(x[i] if i < T else sink if i == T else V[i - T - 1]) for i in range(2 * T + 1)]) == "
                 "rank([(x[i] if i < T else sink) for i in range(T + 1)])",
                 "all(A[i][j] == (first if i == j else 0) + (last - first) / T for i in range(T) for j in "
                 "range(T))"),
    satisfiable=CASES[1], instances=listed(CASES),
    cases=settings("T r2 rho beta sigma2 len(x[0]) omega", [
        (*gram_settings(*exchangeable(*case)), case[0] + 2, omega) for case, omega in FAMILY]))
FEASIBLE = Hypothesis("interpolates", "V x_j = omega e_j and V x_s = 0", INTERPOLATES)


def false_cost(name: str, operator: str, text: str, conclusion: str, case: Instance = CASES[1],
               **changes: object) -> Variant:
    """A false lower bound on ‖V‖_F² = tr A for every interpolant, refuted by a cheaper one."""
    return ON_MATRICES.vary(name, operator, text, case, quantifier="forall", instances=None,
                            hypotheses=(GRAM_HYPOTHESIS, FEASIBLE), conclusions=(conclusion,), **changes)


NEAR = value_instance(*exchangeable(2, 1, 1, 3, Fraction(1, 100), 1, 0))  # beta² close to sigma² rho_T
SOLVABLE = Part(
    name="an interpolant exists", text="", variables={"x": "matrix", "sink": "vector", "normal": "vector"},
    definitions={"T": "len(x)"},
    hypotheses=(Hypothesis("relation", "`normal` combines the tokens to the sink's line",
                           "any(entry != 0 for entry in normal) and sum(normal[j] * x[j] for j in "
                           "range(T)) == sink"),),
    conclusions=("all(entry == 0 for entry in normal)",))
VARIANTS = (
    false_cost("null constraint is free", "trap", "The Frobenius cost of nulling equals the cost without: at "
               "least as much with 1-rho+T rho is all there is (equality)",
               "trace(A) == (T - 1) * first + omega**2 / (r2 * (1 - rho + T "
                   "* rho))"),
    false_cost("T equal singular values", "T for T-1", "‖V‖_F² >= T omega²/(r²(1-rho)): every singular "
        "value is (omega/r)(1-rho)^(-1/2)",
               "trace(A) >= T * first", value_instance(*exchangeable(2, 1, 1, 0, 1, 0, 0))),
    false_cost("missing square root", "missing square root", "V's singular values are at least "
        "omega/(r(1-rho)) (no square root)",
               "trace(A) >= omega**2 / r2 * ((T - 1) / (1 - rho)**2 + 1 / f**2)", CASES[1]),
    false_cost("beta for beta squared", "exponent moved", "f = 1-rho+T(rho-beta/sigma²): ‖V‖_F² >= "
        "(T-1)first + omega²/(r² f) with that f",
               "trace(A) >= (T - 1) * first + omega**2 / (r2 * abs(1 - rho + T * (rho - beta / sigma2)))",
               value_instance(*exchangeable(2, 1, 1, 1, 1, 0, 0))),
    false_cost("nulling always cheap", "drop hypothesis", "Nulling at most doubles the squared Frobenius "
        "cost, also for beta² > sigma² rho",
               "trace(A) <= 2 * ((T - 1) * first + omega**2 / (r2 * (1 - rho + T * rho)))", NEAR),
    SOLVABLE.vary("always consistent", "trap", "Independent targets have an interpolant for all tokens: no "
                  "combination of tokens is the sink (f = 0: the sink is the mean of two orthonormal tokens)",
                  Instance({"x": [[1, 0], [0, 1]], "sink": [HALF, HALF], "normal": [HALF, HALF]})),
    false_formula(CHEAP, "factor one", "constant moved", "Nulling never raises the cost",
                  {"T": 2, "e": 1, "rho": 0, "z": 0, "a": 1, "b": 1, "b0": 0},
                  conclusions=("((T - 1)*a + b0) - ((T - 1)*a + b) >= 0",)),
)

CLAIM = Claim(
    id="C7", title="The value side", family="costs",
    statement="Exchangeable tokens with sigma > 0, rho < 1, f = 1-rho+T(rho-beta²/sigma²) > 0 and orthogonal "
              "targets of norm omega: min‖V‖_p subject to V x_j = t_j, V x_s = 0 is "
              "(omega/r)[(T-1)(1-rho)^{-p/2} + f^{-p/2}]^{1/p}; without the null constraint f is 1-rho+T "
              "rho. For fixed rho < 1 and beta² <= sigma² rho nulling costs O(1); it blows up as beta² -> "
              "sigma² rho_T. (Any tokens: C7g.)",
    parts=(INTERPOLANT, HOLDER, CHEAP, BLOWS_UP, ON_MATRICES), variants=VARIANTS, required="PROVED",
    required_formal="PROVED",
    scope_notes=(
        "The first four parts hold for all T; that V = V'P is least in every unitarily invariant norm is the "
        "argument in the text (multiplication by a projector does not increase such a norm).",
        "W_VO has rank at most d_h, so independent targets exist for at most d_h tokens.",
        "Not claimed here: when targets and inputs are consistent (under the conditions stated the inputs are "
        "independent)."),
)
