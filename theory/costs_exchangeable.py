"""C4: what a sink and a diagonal cost on exchangeable tokens, for every T and every Schatten exponent at
once.

The tokens have Gram matrix r²((1-rho)I + rho 11^T), the sink has <x_s, x_i> = r² beta and |x_s|² = r² sigma².
Two devices keep everything polynomial.

* The hull distances are parameters: delta_Q = r q, delta_K = r k, and rho, beta are rational functions of
them,
  rho = (T q² - 1)/(T - 1) and beta = (sigma² + q² - k²)/2, so the radicals of the statement are the names
  q, k.
* A function of 11^T is a function of its eigenvalue J in {0, T}: an identity modulo J² = T J is an identity
in the
  algebra spanned by I and 11^T.
* For an exponent p the two conjugate powers N = (T-1)^(1/p) and M = (T-1)^(1-1/p) are names tied by N M = T
- 1.
"""

from __future__ import annotations

import sympy

from theory.costs_lemmas import identity, positive
from theory.statements import Derivation, Lemma, Parameter, above

TOKENS = Parameter("T", minimum="2", integer=True)
RADIUS = above("r")
MARGIN = above("m")
QUERY_DISTANCE = above("q")
KEY_DISTANCE = above("k")
SPREAD = above("e")

HULLS = {
    "rho": "(T*q**2 - 1)/(T - 1)",
    "beta": "(s2 + q**2 - k**2)/2",
    "rho_T": "rho + (1 - rho)/T",
}


def mean_correlation(tokens: sympy.Expr, rho: sympy.Expr) -> sympy.Expr:
    """rho_T = rho + (1 - rho)/T, the squared distance from 0 to the tokens' hull in units of r²."""
    rho = sympy.sympify(rho)
    return rho + (1 - rho) / sympy.sympify(tokens)


def sink_cost(
    tokens: sympy.Expr,
    r: sympy.Expr,
    rho: sympy.Expr,
    beta: sympy.Expr,
    sigma: sympy.Expr,
    margin: sympy.Expr,
) -> sympy.Expr:
    """Cost of the sink, one value for every Schatten exponent: m/(r² sqrt(rho_T) sqrt(sigma² - 2 beta +
    rho_T)).

    Needs rho_T > 0 and sigma² - 2 beta + rho_T > 0, else no W has the margin (C4).  The mass form is the
    margin form at m = L + log T, and 0 when that is negative.
    """
    rho_t = mean_correlation(tokens, rho)
    return margin / (
        sympy.sympify(r) ** 2
        * sympy.sqrt(rho_t)
        * sympy.sqrt(sympy.sympify(sigma) ** 2 - 2 * sympy.sympify(beta) + rho_t)
    )


def diagonal_cost(
    tokens: sympy.Expr, r: sympy.Expr, rho: sympy.Expr, margin: sympy.Expr, exponent: sympy.Expr
) -> sympy.Expr:
    """Cost of the diagonal, m (T-1)^(1/p)/(r² (1-rho)); needs rho < 1 (C4).  Mass form: m = L + log(T-1)."""
    power = (sympy.sympify(tokens) - 1) ** (1 / sympy.sympify(exponent))
    return margin * power / (sympy.sympify(r) ** 2 * (1 - sympy.sympify(rho)))


def sink_margin() -> Derivation:
    """Primal and dual for the sink: W = m q̄ k̄^T/(|q̄|²|k̄|²), lambda_ij = 1/(T² |q̄||k̄|), both of rank
    one (C4)."""
    definitions = HULLS | {
        "own": "r**2",
        "other": "r**2*rho",
        "to_sink": "r**2*beta",
        "sink_square": "r**2*s2",
        "query_mean_inner": "(own + (T - 1)*other)/T",  # <x_i, q̄>
        "query_square": "(T*own + T*(T - 1)*other)/T**2",  # |q̄|²
        "key_square": "sink_square - 2*to_sink + query_square",  # |k̄|², k̄ = x_s - q̄
        "key_inner": "(sink_square - to_sink) - (to_sink - query_mean_inner)",  # <x_s - x_j, k̄>
        "scale": "m/(query_square*key_square)",
        "cost": "m/(r**2*q*k)",
        "weight": "1/(T**2*r**2*q*k)",  # each of the T² multipliers
        "dual_scale": "T**2*weight",  # sum of the multipliers; G = dual_scale · q̄ k̄^T
    }

    def same(left: str, right: str) -> Lemma:
        return identity(left, right, definitions=definitions)

    lemmas = (
        same("rho_T", "q**2"),
        same("s2 - 2*beta + rho_T", "k**2"),
        same("query_square", "r**2*q**2"),
        same("key_square", "r**2*k**2"),
        same("query_mean_inner", "query_square"),
        same("key_inner", "key_square"),
        same("scale*query_mean_inner*key_inner", "m"),  # every constraint holds with equality
        same("scale**2*query_square*key_square", "cost**2"),  # the one singular value of W
        positive("cost"),
        positive("weight"),  # dual feasible: signs
        same("dual_scale**2*query_square*key_square", "1"),  # dual feasible: the one singular value of G
        same("m*dual_scale", "cost"),  # equal objectives
    )
    return Derivation(
        parameters=(TOKENS, RADIUS, QUERY_DISTANCE, KEY_DISTANCE, Parameter("s2", minimum="0"), MARGIN),
        definitions=definitions,
        assumptions={},
        lemmas=lemmas,
    )


def diagonal_margin() -> Derivation:
    """Primal and dual for the diagonal: W = m/(r² e)·(projector on the centred span), uniform multipliers
    (C4).

    e = 1 - rho.  With h = 1 - J/T (the eigenvalue of H) and g the Gram eigenvalue, X H X^T has the nonzero
    eigenvalues of H G H, which are r² e with multiplicity tr H = T - 1.
    """
    definitions = {
        "rho": "1 - e",
        "own": "r**2",
        "other": "r**2*rho",
        "gram": "r**2*e + r**2*rho*J",
        "centre": "1 - J/T",
        "scale": "m/(r**2*e)",
        "cost": "scale*N",
        "weight": "1/(T*r**2*e*M)",  # each of the T(T-1) multipliers; G = T·weight·X H X^T
    }
    equations = {"ones_eigenvalue": "J**2 == T*J", "conjugate": "N*M == T - 1"}

    def same(left: str, right: str) -> Lemma:
        return identity(left, right, equations, definitions)

    lemmas = (
        same("centre**2", "centre"),
        same("centre*gram*centre", "r**2*e*centre"),
        same("T*(1 - 1/T)", "T - 1"),  # tr H, the multiplicity
        same("scale*(own - other)", "m"),  # x_i^T W (x_i - x_j): every constraint holds with equality
        positive("scale"),
        positive("cost"),  # ‖W‖_p: T-1 singular values `scale`, so scale·(T-1)^(1/p)
        positive("weight"),
        same("T*weight*r**2*e*M", "1"),  # ‖G‖_p*: T-1 singular values T·weight·r² e
        same("m*T*(T - 1)*weight", "cost"),  # equal objectives
    )
    return Derivation(
        parameters=(
            TOKENS,
            RADIUS,
            SPREAD,
            MARGIN,
            above("N"),
            above("M"),
            Parameter("J"),
        ),
        definitions=definitions,
        assumptions=equations,
        lemmas=lemmas,
    )


def mass_needs_mean_margin() -> Derivation:
    """Mass 1-eps against n keys forces a *mean* margin of at least m = L + log n, the value equal margins
    attain (C4).

    With u the mean of the n margins u_j and E the mean of exp(m - u_j): the mass condition sum exp(-u_j) <=
    exp(-L) is E <= 1, and exp(x) >= 1 + x at x = m - u_j, averaged, is E >= 1 + m - u.  Testing against
    uniform weights then turns the margin form's dual into one for the mass form.
    """
    lemma = Lemma(
        "u - m >= 0",
        by="terms",
        terms=(("1", ("E - 1 - m + u",)), ("1", ("1 - E",))),
    )
    return Derivation(
        parameters=(Parameter("u"), Parameter("m"), above("E")),
        definitions={},
        assumptions={"tangent": "E - 1 - m + u >= 0", "mass": "1 - E >= 0"},
        lemmas=(lemma,),
        conclusions=(lemma.formula,),
    )


def degenerate_sink() -> Derivation:
    """When rho_T = 0 or sigma² - 2 beta + rho_T = 0 no W has a margin: the constraints average to 0 >= m
    (C4).

    The average of x_i^T W (x_s - x_j) over i, j is q̄^T W k̄, and |q̄|²|k̄|² = r⁴ rho_T (sigma² - 2 beta +
    rho_T) = 0.
    """
    definitions = {
        "query_square": "(T*r**2 + T*(T - 1)*r**2*rho)/T**2",
        "key_square": "r**2*s2 - 2*r**2*beta + query_square",
    }
    equations = {"touching": "(rho + (1 - rho)/T)*(s2 - 2*beta + rho + (1 - rho)/T) == 0"}
    lemma = identity("query_square*key_square", "0", equations, definitions)
    return Derivation(
        parameters=(TOKENS, RADIUS, Parameter("rho"), Parameter("beta"), Parameter("s2", minimum="0")),
        definitions=definitions,
        assumptions=equations,
        lemmas=(lemma,),
        conclusions=(lemma.formula,),
    )


def existence() -> Derivation:
    """The bordered Gram matrix is positive semidefinite iff e >= 0, rho_T >= 0 and sigma² rho_T >= beta²
    (Schur, sigma > 0).

    Its eigenvalues after eliminating the sink are r²e (T-1 times) and r²(1 - rho + T(rho - beta²/sigma²)),
    and the last one is r² T (rho_T - beta²/sigma²).
    """
    definitions = {"rho": "1 - e", "rho_T": "rho + (1 - rho)/T"}
    equal = identity("e + T*(rho - beta**2/s2)", "T*(rho_T - beta**2/s2)", definitions=definitions)
    key = identity(
        "s2*(s2 - 2*beta + rho_T)", "(s2 - beta)**2 + (s2*rho_T - beta**2)", definitions=definitions
    )
    lemmas = (equal, key)
    return Derivation(
        parameters=(TOKENS, SPREAD, Parameter("beta"), above("s2")),
        definitions=definitions,
        assumptions={},
        lemmas=lemmas,
    )


def derivations() -> dict[str, Derivation]:
    """Every derivation of C4 by name."""
    return {
        "sink_margin": sink_margin(),
        "diagonal_margin": diagonal_margin(),
        "mass_needs_mean_margin": mass_needs_mean_margin(),
        "degenerate_sink": degenerate_sink(),
        "existence": existence(),
    }
