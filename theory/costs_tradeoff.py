"""C13: how far to align the tokens against the sink, trading the cost of W_QK against that of W_VO.

Tokens x_i = r (c u + sqrt(1-c²) e_i), sink -r u, so rho = c², beta = -c, sigma = 1.  In units of (omega/r)
T^(1/p) the total cost is  F(c) = a/(P Q) + 1/R  with  P² = c² + (1-c²)/T,  Q² = (1+c)² + (1-c²)/T,  R² = 1
- c²  and a = m/(kappa r omega T^(1/p)).  P, Q, R are names tied by these equations.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from theory.costs_exchangeable import TOKENS
from theory.costs_lemmas import identity, positive
from theory.statements import Derivation, Lemma, Parameter, above

ALIGNMENT = above("c", maximum="1")
STEP = above("h")
_POSITIVE = {
    name: above(name) for name in ("a", "P", "Q", "R", "b", "w", "y")
}
RADICALS = {
    "P_root": "P**2 == c**2 + (1 - c**2)/T",
    "Q_root": "Q**2 == (1 + c)**2 + (1 - c**2)/T",
    "R_root": "R**2 == 1 - c**2",
}
# P² and Q² at an alignment x, in the kernel's language
QUERY_SQUARE = "({x})**2 + (1 - ({x})**2)/T"
KEY_SQUARE = "(1 + ({x}))**2 + (1 - ({x})**2)/T"
SLOPE = "(1 - 1/T)/(P**3*Q) + (1/c + 1 - 1/T)/(P*Q**3)"  # -(1/(PQ))'/c


@dataclass(frozen=True)
class LeadingOrder:
    """The leading order of c* (or of 1 - c* where `from_one`) in one regime of a, as a function of a and
    T."""

    regime: str
    from_one: bool
    value: sympy.Expr


def total_cost(tokens: sympy.Expr, alignment: sympy.Expr, a: sympy.Expr) -> sympy.Expr:
    """F(c) in units of (omega/r) T^(1/p), with a = m/(kappa r omega T^(1/p)) (C13)."""
    query, key = _distances_squared(tokens, alignment)
    return a / (sympy.sqrt(query) * sympy.sqrt(key)) + 1 / sympy.sqrt(1 - alignment**2)


def stationarity(tokens: sympy.Expr, alignment: sympy.Expr, a: sympy.Expr) -> sympy.Expr:
    """F'(c)/c = (1-c²)^(-3/2) - a·(SLOPE), increasing on (0, 1), with the minimiser c* as its only zero
    (C13)."""
    c = alignment
    query, key = _distances_squared(tokens, c)
    half = sympy.Rational(1, 2)
    slope = (1 - 1 / tokens) * query ** (-3 * half) * key**-half
    slope += (1 / c + 1 - 1 / tokens) * query**-half * key ** (-3 * half)
    return (1 - c**2) ** (-3 * half) - a * slope


def _distances_squared(tokens: sympy.Expr, c: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """P² and Q²."""
    spread = (1 - c**2) / tokens
    return c**2 + spread, (1 + c) ** 2 + spread


def leading_orders() -> tuple[LeadingOrder, ...]:
    """The regimes of a as T grows, in the order of falling a; b = a T^(3/2) (C13).

    Between `constant a` and the scale T^(-3/2) the alignment is a^(1/3); around that scale it passes through
    T^(-1/2), T^(-2/3) (at b = 1 exactly) and T^(-1); below it is a T^(1/2).
    """
    a, tokens = sympy.symbols("a T", positive=True)
    b = a * tokens ** sympy.Rational(3, 2)
    third = sympy.Rational(1, 3)
    c = sympy.Symbol("c", positive=True)
    balance = sympy.Eq(a * (1 + 2 * c) / (c**2 * (1 + c) ** 2), c / (1 - c**2) ** sympy.Rational(3, 2))
    return (
        LeadingOrder("a to infinity", True, (sympy.Rational(2, 9)) ** third * a ** (-2 * third)),
        LeadingOrder("a constant (root c of this equation)", False, balance),
        LeadingOrder("a to 0, b to infinity", False, a**third),
        LeadingOrder("b constant > 1", False, sympy.sqrt((b ** (2 * third) - 1) / tokens)),
        LeadingOrder("b = 1", False, sympy.Rational(2, 3) ** third * tokens ** (-2 * third)),
        LeadingOrder("b constant < 1", False, b / ((1 - b) * tokens)),
        LeadingOrder("b to 0", False, a * sympy.sqrt(tokens)),
    )


def alignment_exponent(decay: sympy.Expr, prefactor: sympy.Expr = sympy.Integer(1)) -> tuple[str, sympy.Expr]:
    """For a = prefactor·T^(-decay): which of c*, 1 - c* tends to 0, and its exponent of T (C13)."""
    decay = sympy.sympify(decay)
    if decay < 0:
        return "1 - c", 2 * decay / 3
    if decay < sympy.Rational(3, 2):
        return "c", -decay / 3
    if decay > sympy.Rational(3, 2):
        return "c", sympy.Rational(1, 2) - decay
    if prefactor > 1:
        return "c", -sympy.Rational(1, 2)
    return "c", -sympy.Rational(2, 3) if prefactor == 1 else -sympy.Integer(1)


def model_decay(
    radius: sympy.Expr, scale: sympy.Expr, target: sympy.Expr, exponent: sympy.Expr
) -> sympy.Expr:
    """The decay of a = m/(kappa r omega T^(1/p)) when r, kappa, omega are T to these powers, as in the
    models of C8 (C13)."""
    return sympy.sympify(radius) + scale + target + 1 / sympy.sympify(exponent)


def cost_formula() -> Derivation:
    """The two costs at rho = c², beta = -c, sigma = 1: C4's hull distances are P, Q, and C7's last
    eigenvalue is 1 - rho."""
    definitions = {"rho": "c**2", "beta": "-c", "rho_T": "rho + (1 - rho)/T"}
    lemmas = (
        identity("P**2", "rho_T", RADICALS, definitions),
        identity("Q**2", "1 - 2*beta + rho_T", RADICALS, definitions),
        identity("1 - rho + T*(rho - beta**2)", "1 - rho", definitions=definitions),
        identity("R**2", "1 - rho", RADICALS, definitions),
    )
    return Derivation(
        parameters=(TOKENS, ALIGNMENT, *(_POSITIVE[name] for name in "PQR")),
        definitions=definitions,
        assumptions=RADICALS,
        lemmas=lemmas,
    )


def derivative() -> Derivation:
    """F' = c (1/R³ - a·SLOPE) (C13).

    P², Q², R² are quadratics in c, so their derivatives are read off exact differences; P' = (P²)'/(2P) and
    so on.
    """
    definitions = {
        "P2_slope": "2*c*(1 - 1/T)",
        "Q2_slope": "2*(1 + c) - 2*c/T",
        "P_slope": "P2_slope/(2*P)",
        "Q_slope": "Q2_slope/(2*Q)",
        "R_slope": "-2*c/(2*R)",
        "F_slope": "-a*(P_slope/(P**2*Q) + Q_slope/(P*Q**2)) - R_slope/R**2",
    }
    differences = [f"({form.format(x='c + h')}) - ({form.format(x='c')})" for form in (QUERY_SQUARE, KEY_SQUARE)]
    lemmas = (
        identity(differences[0], "h*P2_slope + h**2*(1 - 1/T)", definitions=definitions),
        identity(differences[1], "h*Q2_slope + h**2*(1 - 1/T)", definitions=definitions),
        identity("F_slope", f"c*(1/R**3 - a*({SLOPE}))", definitions=definitions),
    )
    return Derivation(
        parameters=(TOKENS, ALIGNMENT, STEP, *(_POSITIVE[name] for name in "aPQR")),
        definitions=definitions,
        assumptions=RADICALS,
        lemmas=lemmas,
    )


def unique_minimiser() -> Derivation:
    """1/R³ grows and each factor of SLOPE falls in c on (0, 1), and F(c) < F(-c): c* is the only minimiser
    in (-1, 1) (C13).

    F'/c is therefore increasing on (0, 1); it tends to -oo at 0 (the 1/c in SLOPE) and to +oo at 1.
    """

    def growth(form: str) -> Lemma:
        return positive(f"({form.format(x='c + h')}) - ({form.format(x='c')})")

    lemmas = (
        growth(QUERY_SQUARE),
        growth(KEY_SQUARE),
        positive("(1 - c**2) - (1 - (c + h)**2)"),
        positive("1/c - 1/(c + h)"),
        identity(f"({KEY_SQUARE.format(x='c')}) - ({KEY_SQUARE.format(x='-c')})", "4*c"),
        positive("4*c"),
    )
    return Derivation(
        parameters=(TOKENS, above("c"), STEP),
        definitions={},
        assumptions={},
        lemmas=lemmas,
    )


def two_sided_bounds() -> Derivation:
    """At the minimiser, for every T and a: c³ <= a (1 + c + c²) and P³ Q >= a (1-1/T) R³ (C13).

    So c* <= (3a)^(1/3), c* -> 0 as a -> 0, and then P³ ~ a: c*² = a^(2/3)(1 + o(1)) - 1/T when a T^(3/2) ->
    oo.
    """
    stationary = RADICALS | {"stationary": f"1/R**3 == a*({SLOPE})"}
    p_large = Lemma(
        "P - c >= 0",
        by="terms",
        terms=(("1", ("(1 - c**2)/T", "1/(P + c)")),),
        multipliers={"P_root": "1/(P + c)"},
    )
    q_large = Lemma(
        "Q - 1 >= 0",
        by="terms",
        terms=(("1", ("2*c + c**2 + (1 - c**2)/T", "1/(Q + 1)")),),
        multipliers={"Q_root": "1/(Q + 1)"},
    )
    r_small = Lemma(
        "1 - R >= 0", by="terms", terms=(("1", ("c**2", "1/(1 + R)")),), multipliers={"R_root": "-1/(1 + R)"}
    )
    r_cubed = Lemma("1/R**3 - 1 >= 0", by="terms", terms=(("1", ("1 - R", "(1 + R + R**2)/R**3")),))
    first = Lemma(
        "P**3*Q - c**3 >= 0",
        by="terms",
        terms=(("1", ("P**3", "Q - 1")), ("1", ("P - c", "P**2 + P*c + c**2"))),
    )
    second = Lemma(
        "P*Q**3 - c >= 0", by="terms", terms=(("1", ("P", "Q - 1", "Q**2 + Q + 1")), ("1", ("P - c",)))
    )
    upper = Lemma(
        "a*(1 + c + c**2) - c**3 >= 0",
        by="terms",
        terms=(
            ("1", ("a", "P**3*Q - c**3", "1/(P**3*Q)")),
            ("1", ("a", "c**3/(T*P**3*Q)")),
            ("1", ("a", "P*Q**3 - c", "(c + c**2)/(P*Q**3)")),
            ("1", ("a", "c**3/(T*P*Q**3)")),
            ("1", ("c**3", "1/R**3 - 1")),
        ),
        multipliers={"stationary": "-c**3"},
    )
    lower = Lemma(
        "P**3*Q - a*(1 - 1/T)*R**3 >= 0",
        by="terms",
        terms=(("1", ("a", "R**3*P**2/Q**2", "1/c + 1 - 1/T")),),
        multipliers={"stationary": "P**3*Q*R**3"},
    )
    return Derivation(
        parameters=(TOKENS, ALIGNMENT, *(_POSITIVE[name] for name in "aPQR")),
        definitions={},
        assumptions=stationary,
        lemmas=(p_large, q_large, r_small, r_cubed, first, second, upper, lower),
        conclusions=(upper.formula, lower.formula),
    )


def scaled_stationarity() -> Derivation:
    """With w = sqrt(T), b = a w³, y = w P (so y² = T c² + 1 - c²), the minimiser solves exactly (C13)

        c (1/R³ - b (1-1/T)/(y³ Q)) = (b/T)(1 + c - c/T)/(y Q³).

    For c -> 0 this is c (1 - b/y³) = (b/T)/y up to factors 1 + o(1), y² = 1 + T c² (1 + o(1)): the regimes
    of b.
    """
    definitions = {"T": "w**2", "a": "b/w**3", "P": "y/w"}
    lemma = identity(
        f"c*(1/R**3 - a*({SLOPE}))",
        "c*(1/R**3 - b*(1 - 1/T)/(y**3*Q)) - b/T*(1 + c - c/T)/(y*Q**3)",
        definitions=definitions,
    )
    scaled = identity("y**2 - (T*c**2 + 1 - c**2)", "T*(P**2 - c**2 - (1 - c**2)/T)", definitions=definitions)
    return Derivation(
        parameters=(
            Parameter("w", minimum="1", open_min=True),
            ALIGNMENT,
            *(_POSITIVE[name] for name in "bQRy"),
        ),
        definitions=definitions,
        assumptions={},
        lemmas=(lemma, scaled),
        conclusions=(lemma.formula, scaled.formula),
    )


def full_alignment() -> Derivation:
    """At c = 1: P = 1, Q = 2 and SLOPE = 3/4 - 5/(8T), so 1 - c* ~ ((2/9)^(1/3)) a^(-2/3) as a, T -> oo
    (C13).

    From R³ = 1/(a·SLOPE) and R² = (1-c)(1+c) ~ 2 (1-c): 8 (1-c)³ ~ 1/(a·3/4)², that is (1-c)³ ~ (2/9)/a².
    """
    slope = identity("(1 - 1/T)/(1**3*2) + (1/1 + 1 - 1/T)/(1*2**3)", "3/4 - 5/(8*T)")
    constant = identity("1/(8*(3/4)**2)", "2/9")
    return Derivation((TOKENS,), {}, {}, (slope, constant), (slope.formula, constant.formula))


def derivations() -> dict[str, Derivation]:
    """Every derivation of C13 by name."""
    return {
        "cost_formula": cost_formula(),
        "derivative": derivative(),
        "unique_minimiser": unique_minimiser(),
        "two_sided_bounds": two_sided_bounds(),
        "scaled_stationarity": scaled_stationarity(),
        "full_alignment": full_alignment(),
    }
