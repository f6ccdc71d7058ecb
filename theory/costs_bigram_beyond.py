"""C9: bounds valid for every n beyond a threshold: from there on the sink is cheaper, without any search.

A trigonometric polynomial g(z) = sum g_j z^j with |g| <= 1 on the l-th roots of unity, g_j <= 0 for j other
than 0, 1 and tau = g(1) >= 0 gives, for cycles of length l, the multipliers alpha = g_1 - tau/n, gamma_j =
tau/n - g_j and tau/n on the tokens of other cycles: G = ⊕ g_a(P_a) - diag(tau_a) 11^T/n.  Rows sum to 0; on
the vectors constant on cycles G is diag(tau)(1 - vv^T/n), of norm max tau <= 1.  So for cycle lengths l_a

    nuclear cost >= sum_a l_a s_a - 3 max tau,     s = 2 g_1 + g_0,

against the orthonormal sink's 2(n-1) + (n-2)/sqrt(n+1).
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from theory.costs_bigram import GRAM_ROOT_SQUARE
from theory.costs_lemmas import identity, nonnegative, positive
from theory.statements import Derivation, Lemma, Parameter, above

THRESHOLD = 225  # for cycles of one length >= 4; the root w = sqrt(n+1) is then above 15.03
MIXED_THRESHOLD = 231  # for any cycle lengths >= 3


@dataclass(frozen=True)
class DualPolynomial:
    """g by its nonzero coefficients; valid for the cycle lengths named by `lengths`."""

    coefficients: dict[int, sympy.Rational]
    lengths: str

    @property
    def slope(self) -> sympy.Rational:
        """s = 2 g_1 + g_0, the cost per token."""
        return 2 * self.coefficients[1] + self.coefficients[0]

    @property
    def offset(self) -> sympy.Rational:
        """tau = g(1)."""
        return sum(self.coefficients.values(), sympy.Integer(0))

    def modulus_square(self, cosine: sympy.Symbol) -> sympy.Expr:
        """|g(exp(i theta))|² as a polynomial in cos theta."""
        pairs = [(i, a, j, b) for i, a in self.coefficients.items() for j, b in self.coefficients.items()]
        return sympy.expand(sum(a * b * sympy.chebyshevt(abs(i - j), cosine) for i, a, j, b in pairs))


def _polynomial(denominator: int, lengths: str, **numerators: int) -> DualPolynomial:
    return DualPolynomial(
        {int(name[1:]): sympy.Rational(value, denominator) for name, value in numerators.items()}, lengths
    )


LONG = _polynomial(500, "l >= 6", g0=80, g1=478, g2=-77, g5=-5)
FIVE = _polynomial(100, "l = 5", g0=13, g1=97, g2=-15)
FOUR = _polynomial(37, "l = 4", g0=7, g1=35, g2=-5)


def _bernstein(polynomial: sympy.Expr, x: sympy.Symbol, low: sympy.Rational, high: sympy.Rational) -> bool:
    u = sympy.Symbol("u")
    degree = sympy.degree(polynomial, x)
    moved = sympy.together(polynomial.subs(x, (low + high * u) / (1 + u)) * (1 + u) ** degree)
    return all(c > 0 for c in sympy.Poly(sympy.cancel(moved), u).all_coeffs())


def _pieces(polynomial: sympy.Expr, x: sympy.Symbol) -> list[tuple[sympy.Rational, sympy.Rational]]:
    """Intervals covering [-1, 1] on each of which the Bernstein coefficients show a positive polynomial."""
    waiting, done = [(sympy.Integer(-1), sympy.Integer(1))], []
    while waiting:
        low, high = waiting.pop()
        if _bernstein(polynomial, x, low, high):
            done.append((low, high))
            continue
        middle = (low + high) / 2
        waiting += [(low, middle), (middle, high)]
    return sorted(done)


def long_modulus() -> Derivation:
    """|LONG|² < 1 on the circle: one Bernstein certificate per piece of cos theta in [-1, 1] (C9).

    The exponents 0, 1, 2, 5 are distinct modulo l for every l >= 6, so no coefficient wraps around onto g_0
    or g_1.
    """
    x = sympy.Symbol("x")
    gap = 1 - LONG.modulus_square(x)
    parameters, lemmas = [], []
    for index, (low, high) in enumerate(_pieces(gap, x)):
        name = f"x{index}"
        parameters.append(Parameter(name, minimum=str(low), maximum=str(high)))
        lemmas.append(positive(str(gap.subs(x, sympy.Symbol(name)))))
    return Derivation(tuple(parameters), {}, {}, tuple(lemmas), tuple(lemma.formula for lemma in lemmas))


def five_modulus() -> Derivation:
    """|FIVE|² < 1 at cos 72° and cos 144°, the roots of 4x² + 2x - 1, enclosed between rationals; g(1) in
    [0, 1] (C9)."""
    x, y = sympy.symbols("x y")
    gap = 1 - FIVE.modulus_square(x)
    bracket = "4*({v})**2 + 2*({v}) - 1"
    first, second = ("309/1000", "3091/10000"), ("-8091/10000", "-809/1000")
    lemmas = (
        positive(str(gap)),
        positive(str(gap.subs(x, y))),
        positive(bracket.format(v=first[1])),
        positive(f"-({bracket.format(v=first[0])})"),
        positive(bracket.format(v=second[0])),
        positive(f"-({bracket.format(v=second[1])})"),
        positive(f"1 - ({FIVE.offset})**2"),
    )
    return Derivation(
        parameters=(
            Parameter("x", minimum=first[0], maximum=first[1]),
            Parameter("y", minimum=second[0], maximum=second[1]),
        ),
        definitions={},
        assumptions={},
        lemmas=lemmas,
    )


def four_modulus() -> Derivation:
    """|FOUR| at 1, -1, i: 1, 33/37 and 1 (C9)."""
    x = sympy.Symbol("x")
    square = FOUR.modulus_square(x)
    values = [(square.subs(x, cosine), claim) for cosine, claim in ((1, "1"), (-1, "(33/37)**2"), (0, "1"))]
    lemmas = tuple(identity(str(value), claim) for value, claim in values)
    return Derivation(
        (Parameter("n", minimum="2"),), {}, {}, lemmas)


def multipliers() -> Derivation:
    """The multipliers belonging to g: row sums, diagonal, signs and objective per row, for every n and tau (C9).

    alpha >= 0 needs g_1 >= tau/n; the three polynomials have it, as g_1 >= 1/2 >= 1/n >= tau/n.
    """
    definitions = {
        "g0": "tau - g1 + rest",  # rest = -sum of the other g_j >= 0
        "alpha": "g1 - tau/n",
        "own": "g0 - tau/n",
        "others": "rest + tau*(n - 2)/n",  # sum of gamma over the n-2 tokens that are neither self nor target
    }
    lemmas = (
        identity("own", "-alpha + others", definitions=definitions),
        identity("alpha + others", "2*g1 + g0 - 3*tau/n", definitions=definitions),
        nonnegative("others"),
        Lemma("alpha >= 0", by="terms", terms=(("1", ("g1 - tau/n",)),)),
        *(positive(f"{g.coefficients[1]} - 1/n") for g in (LONG, FIVE, FOUR)),
    )
    return Derivation(
        parameters=(
            Parameter("n", minimum="2", integer=True),
            Parameter("g1"),
            Parameter("tau", minimum="0"),
            Parameter("rest", minimum="0"),
        ),
        definitions=definitions,
        assumptions={"room": "g1 - tau/n >= 0"},
        lemmas=lemmas,
    )


def _exceeds_sink(slope: sympy.Rational, offset: sympy.Rational) -> str:
    """n s - 3 tau - (sink default cost) at n = w² - 1."""
    return f"({slope})*(w**2 - 1) - 3*({offset}) - (2*(w**2 - 2) + (w**2 - 3)/w)"


def sink_wins() -> Derivation:
    """n >= 225, cycles of one length l >= 4: the self default costs more than the sink default (C9).

    w = sqrt(n+1) >= sqrt(226) > 15.03.
    """
    lemmas = (
        *(positive(_exceeds_sink(g.slope, g.offset)) for g in (LONG, FIVE, FOUR)),
        positive("226 - (1503/100)**2"),
    )
    return Derivation((Parameter("w", minimum="1503/100"),), {}, {}, lemmas)


def sink_wins_mixed() -> Derivation:
    """n >= 231, any cycle lengths >= 3: every s is at least 207/100 and max tau at most 1 (C9).

    3-cycles have s = (3 + 2 sqrt 3)/3 > 2.15 and tau = 1.
    """
    lemmas = (
        *(positive(f"{g.slope} - 207/100") for g in (LONG, FOUR)),
        identity(str(FIVE.slope), "207/100"),
        positive("12 - (3*(207/100) - 3)**2"),
        positive(_exceeds_sink(sympy.Rational(207, 100), sympy.Integer(1))),
        positive("232 - (152/10)**2"),
    )
    return Derivation((Parameter("w", minimum="152/10"),), {}, {}, lemmas)


def three_cycles() -> Derivation:
    """Only 3-cycles: self costs (1 + 2v/3) n - 3, v = sqrt 3; the sink is cheaper from n = 51 on, dearer up
    to n = 48 (C9).

    With D = (2v/3 - 1) n - 1, the self default's excess over 2(n-1), the sink is cheaper iff D >
    (n-2)/sqrt(n+1). N runs over [51, oo), k over [9, 48] (where D > 0 as well), j over [3, 6], where D < 0.
    """
    gain = "(2*v/3 - 1)"
    square = "({gain}*{n} - 1)**2*({n} + 1) - ({n} - 2)**2"
    lemmas = (
        positive("3 - (17320508/10000000)**2"),
        positive("(17320509/10000000)**2 - 3"),
        positive(f"{gain}*N - 1"),
        positive(square.format(gain=gain, n="N")),
        positive(f"{gain}*k - 1"),
        positive("-(" + square.format(gain=gain, n="k") + ")"),
        positive(f"1 - {gain}*j"),
    )
    return Derivation(
        parameters=(
            Parameter("v", minimum="17320508/10000000", maximum="17320509/10000000"),
            Parameter("N", minimum="51", integer=True),
            Parameter("k", minimum="9", maximum="48", integer=True),
            Parameter("j", minimum="3", maximum="6", integer=True),
        ),
        definitions={},
        assumptions={},
        lemmas=lemmas,
    )


def alignment_lowers_the_sink() -> Derivation:
    """Aligned tokens: times 1-c² the sink costs 2(n-1) + (1-c²)(n-2)/g <= its value at c = 0 (C9).

    For cycles of one length, and for 2- and 3-cycles, the self default times 1-c² does not depend on c, so
    a sink that is cheaper at c = 0 is cheaper at every c in [0, 1).  For other mixed types this is not
    shown: multipliers with different tau have a component along the ones on the query side.
    """
    lemma = nonnegative(f"1/(n + 1) - (1 - c**2)**2/({GRAM_ROOT_SQUARE})")
    return Derivation(
        parameters=(
            Parameter("n", minimum="2", integer=True),
            Parameter("c", minimum="0", maximum="1", open_max=True),
        ),
        definitions={},
        assumptions={},
        lemmas=(lemma,),
        conclusions=(lemma.formula,),
    )


def two_cycles_help_self() -> Derivation:
    """2- and 3-cycles: the aligned sink's excess (1-c²)(n-2)/g grows with n, and stays below 1/c - 1 (C9).

    The self default's excess over 2(n-1), (2 sqrt 3 - 3) b - 1 for b 3-cycles, does not depend on the number
    of 2-cycles.  So more 2-cycles (h more tokens) leave self cheaper where it is, and no number of them helps
    once (2 sqrt 3 - 3) b c >= 1.
    """
    grown = GRAM_ROOT_SQUARE.replace("(n - 1)", "(n + h - 1)").replace("n*(1 + c)", "(n + h)*(1 + c)")
    lemmas = (
        positive(f"(n + h - 2)**2*({GRAM_ROOT_SQUARE}) - (n - 2)**2*({grown})"),
        positive(f"{GRAM_ROOT_SQUARE} - c**2*(1 + c)**2*(n - 2)**2"),
        identity("(1 - c**2)/(c*(1 + c))", "1/c - 1"),
    )
    return Derivation(
        parameters=(
            Parameter("n", minimum="2", integer=True),
            above("h"),
            above("c", maximum="1"),
        ),
        definitions={},
        assumptions={},
        lemmas=lemmas,
    )


def derivations() -> dict[str, Derivation]:
    """Every bound of C9 that holds for all n from some n on, by name."""
    return {
        "long_modulus": long_modulus(),
        "five_modulus": five_modulus(),
        "four_modulus": four_modulus(),
        "multipliers": multipliers(),
        "sink_wins": sink_wins(),
        "sink_wins_mixed": sink_wins_mixed(),
        "three_cycles": three_cycles(),
        "alignment_lowers_the_sink": alignment_lowers_the_sink(),
        "two_cycles_help_self": two_cycles_help_self(),
    }
