"""C13: leading orders of the optimal alignment against direct minimisation, up to T = 10^12."""

from __future__ import annotations

import mpmath
import pytest
import sympy
from mpmath import mpf

from theory.costs_exchangeable import sink_cost
from theory.costs_tradeoff import (
    alignment_exponent,
    leading_orders,
    model_decay,
    stationarity,
    total_cost,
)
from theory.costs_value import last_eigenvalue, value_cost

T, A, C = sympy.symbols("T a c", positive=True)
SLOPE = sympy.lambdify((T, C, A), stationarity(T, C, A), "mpmath")
COST = sympy.lambdify((T, C, A), total_cost(T, C, A), "mpmath")
REGIMES = {item.regime: item for item in leading_orders()}
# regime, a as a function of T, exponent of T in the relative error that is tolerated at T = 10^6..10^12
SCALINGS = [
    ("a to infinity", lambda t: mpmath.sqrt(t), "-0.3"),
    ("a to 0, b to infinity", lambda t: 1 / mpmath.sqrt(t), "-0.15"),
    ("a to 0, b to infinity", lambda t: 1 / t, "-0.3"),
    ("b constant > 1", lambda t: 4 / t ** mpf("1.5"), "-0.45"),
    ("b = 1", lambda t: 1 / t ** mpf("1.5"), "-0.3"),
    ("b constant < 1", lambda t: 1 / (2 * t ** mpf("1.5")), "-0.8"),
    ("b to 0", lambda t: 1 / t**2, "-0.45"),
]


@pytest.fixture(autouse=True)
def precision():
    with mpmath.workdps(60):
        yield


def optimal_alignment(tokens, a):
    """Bisection on the sign of F'/c, which increases on (0, 1)."""
    low, high = mpf(0), mpf(1)
    for _ in range(190):
        middle = (low + high) / 2
        low, high = (low, middle) if SLOPE(tokens, middle, a) > 0 else (middle, high)
    return (low + high) / 2


def minimised(tokens, a):
    """Golden-section search on F itself over (-1, 1): knows nothing of derivatives."""
    ratio = (mpmath.sqrt(5) - 1) / 2
    low, high = mpf(-1) + mpf(10) ** -30, 1 - mpf(10) ** -30
    for _ in range(150):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if COST(tokens, left, a) < COST(tokens, right, a) else (left, high)
    return (low + high) / 2


@pytest.mark.parametrize("regime, scaling, exponent", SCALINGS)
def test_the_leading_order_is_approached_up_to_a_million_million_tokens(regime, scaling, exponent):
    item = REGIMES[regime]
    value = sympy.lambdify((T, A), item.value, "mpmath")
    errors = []
    for power in (6, 9, 12):
        t = mpf(10) ** power
        a = scaling(t)
        found = optimal_alignment(t, a)
        errors.append(abs((1 - found if item.from_one else found) / value(t, a) - 1))
        assert errors[-1] < 3 * t ** mpf(exponent)
    assert errors[0] > errors[1] > errors[2]


def test_at_constant_a_the_alignment_tends_to_the_root_of_the_balance():
    equation = REGIMES["a constant (root c of this equation)"].value
    residual = sympy.lambdify((A, C), equation.lhs - equation.rhs, "mpmath")
    for a in (mpf(1) / 10, mpf(1), mpf(10)):
        root = mpmath.findroot(
            lambda c: residual(a, c), (mpf("0.05"), mpf("0.999")), solver="anderson", tol=1e-40
        )
        assert abs(optimal_alignment(mpf(10) ** 12, a) - root) < mpf(10) ** -10


@pytest.mark.parametrize("tokens, a", [(2, "0.1"), (2, "5"), (3, "1"), (100, "0.001"), (10**6, "0.3")])
def test_the_stationary_point_is_the_minimiser_over_the_whole_interval(tokens, a):
    found, direct = optimal_alignment(mpf(tokens), mpf(a)), minimised(mpf(tokens), mpf(a))
    assert abs(found - direct) < mpf(10) ** -15
    assert COST(mpf(tokens), found, mpf(a)) < COST(mpf(tokens), -found, mpf(a))


@pytest.mark.parametrize("tokens, a", [(2, "0.1"), (50, "0.01"), (10**6, "0.001"), (10**9, "0.5")])
def test_the_two_sided_bounds_hold_at_the_minimiser(tokens, a):
    t, a = mpf(tokens), mpf(a)
    c = optimal_alignment(t, a)
    p = mpmath.sqrt(c**2 + (1 - c**2) / t)
    q = mpmath.sqrt((1 + c) ** 2 + (1 - c**2) / t)
    assert c**3 <= a * (1 + c + c**2)
    assert p**3 * q >= a * (1 - 1 / t) * (1 - c**2) ** mpf("1.5")


def test_the_cost_is_the_sum_of_the_two_closed_forms():
    c, tokens, r, omega, m, p = (
        sympy.Rational(1, 3),
        sympy.Integer(5),
        2,
        3,
        sympy.Rational(1, 2),
        sympy.Integer(2),
    )
    query = sink_cost(tokens, r, c**2, -c, 1, m)
    value = value_cost(tokens, r, c**2, last_eigenvalue(tokens, c**2, -c, 1), omega, p)
    unit = sympy.Rational(omega, r) * tokens ** (1 / p)
    a = m / (r * omega * tokens ** (1 / p))
    assert sympy.N(query + value - unit * total_cost(tokens, c, a), 40) == pytest.approx(0, abs=1e-30)


@pytest.mark.parametrize(
    "decay, prefactor", [("-1/2", 1), ("1/2", 1), ("1", 1), ("3/2", 4), ("3/2", 1), ("3/2", "1/2"), ("2", 1)]
)
def test_the_exponents_are_the_slopes_of_the_minimiser_beyond_a_million_tokens(decay, prefactor):
    which, exponent = alignment_exponent(sympy.Rational(decay), sympy.Rational(prefactor))
    sizes = [mpf(10) ** 10, mpf(10) ** 12]
    found = []
    for t in sizes:
        a = mpf(str(sympy.Rational(prefactor).evalf(30))) * t ** -mpf(str(sympy.Rational(decay).evalf(30)))
        c = optimal_alignment(t, a)
        found.append(1 - c if which == "1 - c" else c)
    slope = mpmath.log(found[1] / found[0]) / mpmath.log(sizes[1] / sizes[0])
    assert abs(slope - mpf(exponent.p) / exponent.q) < 2e-3


def test_a_fit_below_a_thousand_tokens_misses_the_exponent_that_a_million_shows():
    def slope(low, high):
        return mpmath.log(
            optimal_alignment(high, high ** mpf("-0.5")) / optimal_alignment(low, low ** mpf("-0.5"))
        ) / mpmath.log(high / low)

    small, large = slope(mpf(16), mpf(256)), slope(mpf(10) ** 6, mpf(10) ** 8)
    assert abs(small + mpf(1) / 6) > 20 * abs(large + mpf(1) / 6)


def test_the_models_of_unit_norm_tokens_and_of_layernorm_scale_differ():
    half = sympy.Rational(1, 2)
    # r=1, kappa=1/sqrt d, omega=1
    assert alignment_exponent(model_decay(0, -half, 0, 1)) == ("c", -sympy.Rational(1, 6))
    assert alignment_exponent(model_decay(0, 0, 0, 1)) == ("c", -sympy.Rational(1, 3))  # kappa = 1
    assert model_decay(0, -half, 0, 2) == 0  # Frobenius: a constant
    assert alignment_exponent(model_decay(half, -half, 0, 1)) == ("c", -sympy.Rational(1, 3))  # r = sqrt d
    assert model_decay(half, -half, half, 1) == sympy.Rational(3, 2)  # and omega = sqrt d: the critical scale
