"""C12: a diagonal of rank two, tokens on a circle, and why rank one cannot do it for three tokens.

c = cos(2 pi/T) and s = sin(2 pi/T) are names tied by c² + s² = 1, with s > 0 for T >= 3.
"""

from __future__ import annotations

import sympy

from theory.costs_exchangeable import MARGIN
from theory.costs_lemmas import identity, positive
from theory.statements import Derivation, Lemma, Parameter, above

COSINE = Parameter("c", minimum="-1", maximum="1", open_max=True)
SINE = above("s")
CIRCLE = {"circle": "c**2 + s**2 == 1"}


def rank_two_cost(tokens: sympy.Expr, margin: sympy.Expr) -> sympy.Expr:
    """Nuclear norm of the diagonal with logits a cos(2 pi (i-j)/T) on T >= 2 orthonormal tokens, m
    T/(1-cos(2 pi/T)) (C12)."""
    return margin * tokens / (1 - sympy.cos(2 * sympy.pi / tokens))


def circle_cost(
    tokens: sympy.Expr, margin: sympy.Expr, exponent: sympy.Expr = sympy.Integer(1)
) -> sympy.Expr:
    """Cost 2^(1/p) m/(1-cos(2 pi/T)) of the diagonal on T >= 3 equally spaced unit tokens in the plane
    (C12)."""
    return 2 ** (1 / sympy.sympify(exponent)) * margin / (1 - sympy.cos(2 * sympy.pi / tokens))


def rank_one_is_too_little() -> Derivation:
    """x_i^T a b^T (x_i - x_j) >= m > 0 both ways for two rows with logit factors a_1, a_2 of one sign is
    impossible (C12).

    a_1 (b_1 - b_2) >= m and a_2 (b_2 - b_1) >= m multiply to -a_1 a_2 (b_1 - b_2)² >= m² > 0; among three
    rows two have a_i of one sign, so T <= 2.  Two negative signs are two positive ones after (a, b) -> (-a,
    -b).
    """
    definitions = {"first": "a1*(b1 - b2)", "second": "a2*(b2 - b1)"}
    product = Lemma(
        "first*second - m**2 >= 0",
        by="terms",
        terms=(("1", ("first - m", "second - m")), ("1", ("m", "first - m")), ("1", ("m", "second - m"))),
    )
    rewritten = identity("first*second", "-a1*a2*(b1 - b2)**2", definitions=definitions)
    absurd = Lemma("-a1*a2*(b1 - b2)**2 - m**2 >= 0", by="terms", terms=(("1", ("first*second - m**2",)),))
    other = Lemma(
        "a1*a2*(b1 - b2)**2 + m**2 > 0",
        by="terms",
        terms=(("1", ("a1", "a2", "(b1 - b2)**2")), ("1", ("m**2",))),
    )
    return Derivation(
        parameters=(
            MARGIN,
            above("a1"),
            above("a2"),
            Parameter("b1"),
            Parameter("b2"),
        ),
        definitions=definitions,
        assumptions={"row_1": "first - m >= 0", "row_2": "second - m >= 0"},
        lemmas=(product, rewritten, absurd, other),
        conclusions=(absurd.formula, other.formula),
    )


def circle_tokens() -> Derivation:
    """T >= 3 tokens at angles 2 pi i/T: W = a·1 with a = m/(1-c), and neighbour multipliers 1/(T(1-c)) (C12).

    The second moment A = sum x_i x_i^T commutes with the rotation by 2 pi/T and has trace T, so A = (T/2)·1
    as s > 0. The neighbours of x = (u, v) add up to 2 c x; each token carries two multipliers, so G = sum
    x_i (2 x_i - 2 c x_i)^T/ (T (1-c)) = 1, and the objective is m·2T/(T(1-c)), twice the one singular value
    a.
    """
    definitions = {"scale": "m/(1 - c)", "weight": "1/(T*(1 - c))"}
    equations = CIRCLE | {
        "commute_1": "c*A11 - s*A12 == c*A11 + s*A12",  # (R A)_11 = (A R)_11 with R = [[c, -s], [s, c]]
        "commute_2": "c*A12 - s*A22 == -s*A11 + c*A12",
        "trace": "A11 + A22 == T",
    }
    lemmas = (
        Lemma("A12 == 0", by="identity", multipliers={"commute_1": "-1/(2*s)"}),
        Lemma("A11 == T/2", by="identity", multipliers={"commute_2": "1/(2*s)", "trace": "1/2"}),
        Lemma("A22 == T/2", by="identity", multipliers={"commute_2": "-1/(2*s)", "trace": "1/2"}),
        identity("(c*u - s*v) + (c*u + s*v)", "2*c*u"),
        identity("(s*u + c*v) + (-s*u + c*v)", "2*c*v"),
        identity("scale*(1 - c)", "m", definitions=definitions),
        positive("scale"),
        positive("weight"),
        identity("weight*(2 - 2*c)*T/2", "1", definitions=definitions),  # G = 1
        identity("m*2*T*weight", "2*scale", definitions=definitions),  # equal objectives at p = 1
    )
    return Derivation(
        parameters=(
            Parameter("T", minimum="3", integer=True),
            MARGIN,
            COSINE,
            SINE,
            *(Parameter(name) for name in ("A11", "A12", "A22", "u", "v")),
        ),
        definitions=definitions,
        assumptions=equations,
        lemmas=lemmas,
    )


def rank_two_growth() -> Derivation:
    """m T³/(2 pi²) <= m T/(1-cos(2 pi/T)) <= m T³/(2 pi²)/(1 - pi²/(3T²)) for T >= 2, from x²/2 - x⁴/24 <=
    1-cos x <= x²/2 (C12)."""
    definitions = {"x": "2*pi_/T", "cost": "m*T/y", "leading": "m*T**3/(2*pi_**2)"}
    lower = Lemma(
        "cost - leading >= 0", by="terms", terms=(("1", ("x**2/2 - y", "m*T**3/(2*pi_**2)", "1/y")),)
    )
    shrink = Lemma("3*T**2 - pi_**2 > 0", by="orthant")
    upper = Lemma(
        "leading/(1 - pi_**2/(3*T**2)) - cost >= 0",
        by="terms",
        terms=(("1", ("y - (x**2/2 - x**4/24)", "m*T**3/(2*pi_**2)", "1/y", "3*T**2/(3*T**2 - pi_**2)")),),
    )
    return Derivation(
        parameters=(
            Parameter("T", minimum="2", integer=True),
            MARGIN,
            above("y"),
            Parameter("pi_", minimum="3", maximum="22/7"),
        ),
        definitions=definitions,
        assumptions={"above": "x**2/2 - y >= 0", "below": "y - (x**2/2 - x**4/24) >= 0"},
        lemmas=(lower, shrink, upper),
        conclusions=(lower.formula, upper.formula),
    )


def derivations() -> dict[str, Derivation]:
    """Every derivation of C12 by name."""
    return {
        "rank_one_is_too_little": rank_one_is_too_little(),
        "circle_tokens": circle_tokens(),
        "rank_two_growth": rank_two_growth(),
    }
