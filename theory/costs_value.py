"""C7: the cheapest value map that sends x_j to t_j and the sink to 0, on exchangeable tokens.

With M = [x_1..x_T, x_s] and independent columns, V = [t, 0] (M^T M)^{-1} M^T interpolates, and V' P = V for
every other interpolant V' with P the projector on the columns' span, so V has least norm in every unitarily
invariant norm. Eliminating the sink leaves the Schur complement r²(e I + c 11^T), e = 1 - rho, c = rho -
beta²/sigma², whose eigenvalues are r² e (T-1 times) and r² f, f = e + T c.  As in `costs_exchangeable`, J
in {0, T} stands for 11^T.
"""

from __future__ import annotations

import sympy

from theory.costs_exchangeable import RADIUS, SPREAD, TOKENS
from theory.costs_lemmas import identity, positive, same_sign
from theory.statements import Derivation, Lemma, Parameter, above

TARGET = above("omega")
LAST = above("f")


def last_eigenvalue(
    tokens: sympy.Expr, rho: sympy.Expr, beta: sympy.Expr, sigma: sympy.Expr, null_sink: bool = True
) -> sympy.Expr:
    """1 - rho + T (rho - beta²/sigma²) with the null constraint on the sink, 1 - rho + T rho without it
    (C7)."""
    return 1 - rho + tokens * (rho - beta**2 / sigma**2 if null_sink else rho)


def value_cost(
    tokens: sympy.Expr,
    r: sympy.Expr,
    rho: sympy.Expr,
    last: sympy.Expr,
    omega: sympy.Expr,
    exponent: sympy.Expr,
) -> sympy.Expr:
    """(omega/r) [(T-1)(1-rho)^(-p/2) + last^(-p/2)]^(1/p) for orthogonal targets of norm omega (C7).

    Needs rho < 1 and last > 0; at last = 0 no V exists, because some combination of tokens lies on the
    sink's line.
    """
    first, second = (1 - rho) ** sympy.Rational(-1, 2), last ** sympy.Rational(-1, 2)
    if exponent == sympy.oo:
        return omega / r * sympy.Max(first, second)
    p = sympy.sympify(exponent)
    return omega / r * ((tokens - 1) * first**p + second**p) ** (1 / p)


def interpolant() -> Derivation:
    """The Schur complement's inverse is e^{-1}(I - (c/f) 11^T); with it V M = [t, 0], and V V^T's
    eigenvalues follow (C7).

    V = t S^{-1}(X - x_s (beta/sigma²) 1^T)^T / r² with S = e I + c 11^T; it is applied to tokens (giving
    S^{-1} S) and to the sink (giving 0); V V^T = omega² · (S^{-1} on the targets' frame)/r².
    """
    definitions = {
        "c": "(f - e)/T",
        "rho": "1 - e",
        "schur": "e + c*J",
        "inverse": "(1 - c*J/f)/e",
        "token_row": "inverse*(e + rho*J - b*J*b*s2)",  # rows of V on tokens: Gram minus (beta/sigma²)·beta·J
        "sink_row": "inverse*(b*s2 - b*s2)",  # beta - (beta/sigma²)·sigma², b = beta/sigma²
        "square": "inverse*schur*inverse",
    }
    equations = {"ones_eigenvalue": "J**2 == T*J", "schur_complement": "rho - b*b*s2 == c"}
    lemmas = (
        identity("inverse*schur", "1", {"ones_eigenvalue": equations["ones_eigenvalue"]}, definitions),
        identity("token_row", "1", equations, definitions),
        identity("sink_row", "0", equations, definitions),
        identity("square", "inverse", {"ones_eigenvalue": equations["ones_eigenvalue"]}, definitions),
        identity("f", "e + T*(rho - b**2*s2)", equations, definitions),
        identity("(1 - c*T/f)/e", "1/f", definitions=definitions),  # the inverse at J = T; at J = 0 it is 1/e
    )
    return Derivation(
        parameters=(
            TOKENS,
            SPREAD,
            LAST,
            Parameter("b"),
            above("s2"),
            Parameter("J"),
        ),
        definitions=definitions,
        assumptions=equations,
        lemmas=lemmas,
    )


def holder_dual() -> Derivation:
    """A dual of equal value for every 1 < p < oo: singular values s_i of V, h_i = s_i^(p-1), S = ‖V‖_p, R =
    S^(p-1).

    G has V's singular vectors and singular values h_i/R, so <G, V'> = <G, V> for every interpolant V',
    ‖G‖_p* = 1 (h_i^{p*} = s_i h_i and R^{p*} = S R), and the objective <G, V> is S (C7).
    """
    definitions = {"pairing": "(T - 1)*s1*h1 + s2*h2"}
    equations = {"powers": "S*R == (T - 1)*s1*h1 + s2*h2"}
    lemmas = (
        identity("pairing/(S*R)", "1", equations, definitions),  # ‖G‖_{p*}^{p*}
        identity("pairing/R", "S", equations, definitions),  # the dual objective
    )
    names = ("s1", "s2", "h1", "h2", "S", "R")
    return Derivation(
        parameters=(TOKENS, *(above(name) for name in names)),
        definitions=definitions,
        assumptions=equations,
        lemmas=lemmas,
    )


def nulling_is_cheap() -> Derivation:
    """beta² <= sigma² rho: nulling raises the p-th power of the cost at most by the factor T/(T-1), at most
    2 (C7).

    a = s_1^p for the T-1 equal singular values, b = s_2^p with and b0 without the null constraint; f >= e
    gives b <= a, and in cost itself the increase is at most s_2 <= s_1 = (omega/r)(1-rho)^(-1/2), which
    does not grow with T.
    """
    eigenvalue = same_sign("(e + T*(rho - z)) - e", "rho - z", factor="T")  # z = beta²/sigma²
    ratio = Lemma(
        "T/(T - 1)*((T - 1)*a + b0) - ((T - 1)*a + b) >= 0",
        by="terms",
        terms=(("1", ("a - b",)), ("1", ("T/(T - 1)", "b0"))),
    )
    two = Lemma("2 - T/(T - 1) >= 0", by="orthant")
    return Derivation(
        parameters=(
            TOKENS,
            SPREAD,
            Parameter("rho"),
            Parameter("z", minimum="0"),
            Parameter("a", minimum="0"),
            Parameter("b", minimum="0"),
            Parameter("b0", minimum="0"),
        ),
        definitions={},
        assumptions={"last_singular_value": "a - b >= 0"},
        lemmas=(*eigenvalue, ratio, two),
        conclusions=(eigenvalue[1].formula, ratio.formula, two.formula),
    )


def nulling_blows_up() -> Derivation:
    """f = T (rho_T - beta²/sigma²), so the last singular value squared times the gap is omega²/(r² T): it
    blows up (C7)."""
    definitions = {
        "rho": "1 - e",
        "rho_T": "rho + (1 - rho)/T",
        "gap": "rho_T - z",
        "last_square": "omega**2/(r**2*(e + T*(rho - z)))",
    }
    lemmas = (
        identity("e + T*(rho - z)", "T*gap", definitions=definitions),
        identity("last_square*gap", "omega**2/(r**2*T)", definitions=definitions),
        positive("omega**2/(r**2*T)"),
    )
    return Derivation(
        parameters=(TOKENS, RADIUS, SPREAD, TARGET, Parameter("z", minimum="0")),
        definitions=definitions,
        assumptions={"independent": "e + T*(1 - e - z) > 0"},
        lemmas=lemmas,
    )


def derivations() -> dict[str, Derivation]:
    """Every derivation of C7 by name."""
    return {
        "interpolant": interpolant(),
        "holder_dual": holder_dual(),
        "nulling_is_cheap": nulling_is_cheap(),
        "nulling_blows_up": nulling_blows_up(),
    }
