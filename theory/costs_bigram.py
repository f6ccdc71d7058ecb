"""C9: inverse bigram copying: closed forms for every permutation without fixed points, in units of the
margin.

Query i copies pi(i) with margin 1 over its default and falls back to the default with margin 1 over the
rest.  Tokens are exchangeable with r = 1 and e = 1 - rho; the orthonormal case is e = 1, the aligned one
x_i = c u + sqrt(1-c²) e_i, x_s = -u has e = 1 - c² and contains the orthonormal one as c = 0.  J in {0, n}
stands for 11^T, and P for the matrix of pi, used through P P^T = 1 and P J = J only.

Sink default: subtracting x_s from the keys turns the constraints into N_{i,pi(i)} >= 1, N_ij <= -1 with N =
X^T W Y. The roots of the two Gram matrices multiply to e on the centred part and to g on the ones, where
g² = (1 - rho + n rho)(1 - rho + n (rho - 2 beta + sigma²)).
"""

from __future__ import annotations

import sympy

from theory.costs_lemmas import expand_definitions, identity, nonnegative, positive, same_sign
from theory.statements import Derivation, Lemma, Parameter, above

TOKENS = Parameter("n", minimum="2", integer=True)
SPREAD = above("e")
ONES = above("g")
ALIGNMENT = Parameter("c", minimum="0", maximum="1", open_max=True)
GRAM_ROOT_SQUARE = "(1 + (n - 1)*c**2)*(1 - c**2 + n*(1 + c)**2)"  # g² of the aligned sink


def gram_root(tokens: sympy.Expr, alignment: sympy.Expr = sympy.Integer(0)) -> sympy.Expr:
    """g for the aligned sink; sqrt(n+1) at c = 0 (C9)."""
    square = expand_definitions(GRAM_ROOT_SQUARE, {})
    return sympy.sqrt(square.subs({"n": sympy.sympify(tokens), "c": sympy.sympify(alignment)}, simultaneous=True))


def sink_default_cost(
    tokens: sympy.Expr, alignment: sympy.Expr = sympy.Integer(0), exponent: int = 1
) -> sympy.Expr:
    """Nuclear 2(n-1)/e + (n-2)/g or Frobenius sqrt(4(n-1)/e² + (n-2)²/g²), e = 1 - c², for every
    permutation (C9)."""
    n, c = sympy.sympify(tokens), sympy.sympify(alignment)
    centred, ones = 2 / (1 - c**2), (n - 2) / gram_root(n, c)
    if exponent == 1:
        return (n - 1) * centred + ones
    if exponent == 2:
        return sympy.sqrt((n - 1) * centred**2 + ones**2)
    raise ValueError(f"expected the exponent 1 or 2, got {exponent}; other norms need their own dual signs")


def self_default_frobenius(tokens: sympy.Expr, alignment: sympy.Expr = sympy.Integer(0)) -> sympy.Expr:
    """sqrt(5n-9)/(1-c²), for every permutation without fixed points (C9)."""
    return sympy.sqrt(5 * sympy.sympify(tokens) - 9) / (1 - sympy.sympify(alignment) ** 2)


def self_default_short_cycles(two_cycles: int, three_cycles: int) -> sympy.Expr:
    """Nuclear cost 2n - 3 + (2 sqrt 3 - 3) b for a 2-cycles and b 3-cycles, n = 2a + 3b; times 1/(1-c²) if
    aligned (C9)."""
    n = 2 * two_cycles + 3 * three_cycles
    return 2 * n - 3 + (2 * sympy.sqrt(3) - 3) * three_cycles


def ansatz_cost(lengths: tuple[int, ...]) -> sympy.Expr:
    """Nuclear norm of 2P + I - (3/n) 11^T: the sum of |2z+1| over P's eigenvalues, one z = 1 left out
    (C9)."""
    total = sum(
        sympy.sqrt(5 + 4 * sympy.cos(2 * sympy.pi * sympy.Rational(j, length)))
        for length in lengths
        for j in range(length)
    )
    return total - 3


def sink_default() -> Derivation:
    """N = 2P - 11^T and multipliers alpha on the target, gamma on every other token; both norms (C9).

    Needs g >= e (n >= 2), which holds for orthonormal and for aligned tokens (`rooms`).
    """
    definitions = {
        "root": "e + (g - e)*J/n",
        "gamma": "(1/e + 1/g)/n",
        "alpha": "1/e - gamma",
        "nuclear": "2*(n - 1)/e + (n - 2)/g",
        "frobenius_square": "4*(n - 1)/e**2 + (n - 2)**2/g**2",
        "gamma_2": "(2/e**2 + (n - 2)/g**2)/n",  # times ‖W‖_F: the Frobenius multipliers
        "alpha_2": "2/e**2 - gamma_2",
    }
    equations = {"ones_eigenvalue": "J**2 == n*J"}
    room = Lemma("(n - 1)*g - e >= 0", by="terms", terms=(("1", ("n - 2", "g")), ("1", ("g - e",))))
    room_2 = Lemma(
        "2*(n - 1)*g**2 - (n - 2)*e**2 >= 0",
        by="terms",
        terms=(("1", ("n - 2", "g - e", "g + e")), ("1", ("n", "g**2"))),
    )
    lemmas = (
        # |N|² on a mode: (2P - J)(2P^T - J) = 4 + (n - 4) J, that is 4 (centred) and (n-2)² (ones)
        identity("4 - 4*J + J**2", "4 + (n - 4)*J", equations),
        identity("4 + (n - 4)*n", "(n - 2)**2"),
        # nuclear dual: |(alpha+gamma) P - gamma J|·root = 1 on every mode
        identity(
            "((alpha + gamma)**2 - 2*(alpha + gamma)*gamma*J + gamma**2*J**2)*root**2",
            "1",
            equations,
            definitions,
        ),
        positive("gamma"),
        room,
        Lemma("alpha >= 0", by="terms", terms=(("1", ("(n - 1)*g - e", "1/(n*e*g)")),)),
        identity("n*(alpha + (n - 1)*gamma)", "nuclear", definitions=definitions),
        # Frobenius dual: W/‖W‖_F
        identity(
            "(n - 1)*((alpha_2 + gamma_2)*e)**2 + ((alpha_2 + gamma_2 - n*gamma_2)*g)**2",
            "frobenius_square",
            definitions=definitions,
        ),
        positive("gamma_2"),
        room_2,
        Lemma(
            "alpha_2 >= 0", by="terms", terms=(("1", ("2*(n - 1)*g**2 - (n - 2)*e**2", "1/(n*e**2*g**2)")),)
        ),
        identity("n*(alpha_2 + (n - 1)*gamma_2)", "frobenius_square", definitions=definitions),
    )
    return Derivation(
        parameters=(TOKENS, SPREAD, ONES, Parameter("J")),
        definitions=definitions,
        assumptions=equations | {"room": "g - e >= 0"},
        lemmas=lemmas,
    )


def rooms() -> Derivation:
    """g >= e for orthonormal and aligned tokens; at c = 0 the Frobenius square is n (5n-4)/(n+1); g grows
    with c (C9)."""
    grown = GRAM_ROOT_SQUARE.replace("c**2", "(c + h)**2").replace("(1 + c)", "(1 + c + h)")
    lemmas = (
        positive(f"{GRAM_ROOT_SQUARE} - (1 - c**2)**2"),
        identity("4*(n - 1) + (n - 2)**2/(n + 1)", "n*(5*n - 4)/(n + 1)"),
        # the sink's excess over 2(n-1), (1-c²)(n-2)/g, falls as c grows
        positive(f"({grown}) - ({GRAM_ROOT_SQUARE})"),
        positive("(1 - c**2) - (1 - (c + h)**2)"),
    )
    return Derivation(
        parameters=(
            TOKENS,
            Parameter("c", minimum="0", maximum="1", open_max=True),
            above("h"),
        ),
        definitions={},
        assumptions={},
        lemmas=lemmas,
    )


def self_frobenius() -> Derivation:
    """Self default: every row of W = (2P + I - (3/n)11^T)/e is minimal, and sink² - self² = 9/(n+1) at c =
    0 (C9)."""
    definitions = {
        "at_target": "2 - 3/n",
        "at_self": "1 - 3/n",
        "at_rest": "-3/n",
        "row_square": "at_target**2 + at_self**2 + (n - 2)*at_rest**2",
        "alpha": "at_target",  # multipliers, times ‖W‖_F e
        "gamma": "-at_rest",
    }
    lemmas = (
        identity("at_target - at_self", "1", definitions=definitions),
        identity("at_self - at_rest", "1", definitions=definitions),
        identity("at_target + at_self + (n - 2)*at_rest", "0", definitions=definitions),
        identity("n*row_square", "5*n - 9", definitions=definitions),
        positive("alpha"),
        positive("gamma"),
        identity("-alpha + (n - 2)*gamma", "at_self", definitions=definitions),
        identity("alpha + (n - 2)*gamma", "row_square", definitions=definitions),
        identity("n*(5*n - 4)/(n + 1) - (5*n - 9)", "9/(n + 1)"),
        positive("9/(n + 1)"),
    )
    return Derivation((TOKENS,), definitions, {}, lemmas)


def frobenius_boundary() -> Derivation:
    """Aligned sink, Frobenius: cheaper iff F(n) = (n-5) g² - (1-c²)² (n-2)² > 0; one crossing for c > 0,
    none for c = 0 (C9).

    F/(1+c) has at n = 5 + u the coefficients below in u: the constant is negative, the others are not, and the
    leading one is positive for an alignment b > 0.
    """
    definitions = {
        "g_square": GRAM_ROOT_SQUARE,
        "e": "1 - c**2",
        "F": "(n - 5)*g_square - e**2*(n - 2)**2",
        "sink_square": "4*(n - 1)/e**2 + (n - 2)**2/g_square",
        "self_square": "(5*n - 9)/e**2",
    }
    n, c, u = sympy.symbols("n c u")
    f = (n - 5) * (1 + (n - 1) * c**2) * (1 - c + n * (1 + c)) - (1 - c) ** 2 * (1 + c) * (n - 2) ** 2
    coefficients = sympy.Poly(sympy.expand(f.subs(n, 5 + u)), u).all_coeffs()[::-1]
    texts = [str(sympy.expand(coefficient)) for coefficient in coefficients]
    expansion = " + ".join(f"({text})*(n - 5)**{power}" for power, text in enumerate(texts))
    sign = same_sign("self_square - sink_square", "F", factor="1/(e**2*g_square)")
    lemmas = (
        *sign,
        identity("F", f"(1 + c)*({expansion})", definitions=definitions),
        positive(f"-({texts[0]})"),
        *(nonnegative(text) for text in texts[1:]),
        positive(texts[-1].replace("c", "b")),  # so F grows beyond all bounds, and there is a crossing
        identity("(n - 5)*(n + 1) - (n - 2)**2", "-9"),  # F at c = 0
    )
    return Derivation(
        parameters=(TOKENS, ALIGNMENT, above("b", maximum="1")),
        definitions=definitions,
        assumptions={},
        lemmas=lemmas,
    )


def self_lower_bound() -> Derivation:
    """Self default, nuclear: at least 2n-3 for every permutation, attained by involutions; so for them the
    sink always loses.

    G = P - 11^T/n has singular values 1 and one 0.  An involution's ansatz has n/2 eigenvalues |2(-1)+1| =
    1 and n/2 - 1 eigenvalues 3, where G's are -1 and 1 as it should.  The sink costs 2n - 2 + (n-2)/g·e >
    2n - 3 (C9).
    """
    definitions = {"gamma": "1/n", "alpha": "1 - 1/n"}
    lemmas = (
        identity("-alpha + (n - 2)*gamma", "-1/n", definitions=definitions),  # G's diagonal
        positive("gamma"),
        positive("alpha"),
        identity("n*(alpha + (n - 2)*gamma)", "2*n - 3", definitions=definitions),
        identity("n/2 + 3*(n/2 - 1)", "2*n - 3"),
        positive("2*(n - 1) + e*(n - 2)/g - (2*n - 3)"),
    )
    return Derivation(
        (TOKENS, SPREAD, ONES), definitions, {}, lemmas)


def short_cycles() -> Derivation:
    """a 2-cycles and b 3-cycles (self default, nuclear): the ansatz is optimal, 2n - 3 + (2w-3) b with w =
    sqrt 3 (C9).

    G is P on 2-cycles, (1 + (1+w) P + (1-w) P²)/3 on 3-cycles (eigenvalues 1, i, -i), minus 11^T/n.
    """
    definitions = {
        "n": "2*a + 3*b",
        "g0": "1/3",
        "g1": "(1 + w)/3",
        "g2": "(1 - w)/3",
    }
    equations = {"root_3": "w**2 == 3"}
    lemmas = (
        identity("(1 - 1)**2 + w**2", "3", equations),  # |2 omega + 1|² with omega = (-1 + i w)/2
        identity("3*(a + b - 1) + a + 2*w*b", "2*n - 3 + (2*w - 3)*b", definitions=definitions),
        identity("g0 + g1 + g2", "1", definitions=definitions),
        identity("g0 - (g1 + g2)/2", "0", definitions=definitions),
        identity("w/2*(g1 - g2)", "1", equations, definitions),
        positive("1/n - g2"),  # gamma of the third token of a 3-cycle
        positive("1/n"),  # gamma' of all others
        positive("g1 - 1/n"),  # alpha on 3-cycles
        nonnegative("1 - 1/n"),  # alpha on 2-cycles
        identity("4*a + 3*(2*g1 + g0)*b - 3", "2*n - 3 + (2*w - 3)*b", definitions=definitions),
    )
    return Derivation(
        parameters=(
            Parameter("a", minimum="0", integer=True),
            Parameter("b", minimum="1", integer=True),
            Parameter("w", minimum="1", maximum="2", open_min=True),
        ),
        definitions=definitions,
        assumptions=equations,
        lemmas=lemmas,
    )


def derivations() -> dict[str, Derivation]:
    """Every closed form of C9 by name."""
    return {
        "sink_default": sink_default(),
        "rooms": rooms(),
        "self_frobenius": self_frobenius(),
        "frobenius_boundary": frobenius_boundary(),
        "self_lower_bound": self_lower_bound(),
        "short_cycles": short_cycles(),
    }
