"""C5: the boundary between sink and diagonal, its exponent p_c(T), and the mass form."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy
from cost_oracle import cheapest

from theory.costs_boundary import critical_exponent
from theory.costs_exchangeable import diagonal_cost, sink_cost


def gap(tokens, exponent, rho=0, beta=0, sigma=1):
    """Diagonal minus sink at margin 1, as an exact expression."""
    return diagonal_cost(tokens, 1, rho, 1, exponent) - sink_cost(tokens, 1, rho, beta, sigma, 1)


def test_orthonormal_nuclear_the_sink_wins_from_three_tokens_on():
    assert [sympy.sign(gap(t, 1)) for t in range(2, 8)] == [-1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("exponent", [2, sympy.Rational(5, 2), 7, sympy.oo])
def test_orthonormal_from_frobenius_on_the_sink_loses_at_every_size(exponent):
    assert all(gap(t, exponent) < 0 for t in (2, 3, 10, 10**6))


def test_the_frobenius_ratio_is_t_over_root_t_squared_minus_one():
    for t in (2, 3, 11):
        ratio = sink_cost(t, 1, 0, 0, 1, 1) / diagonal_cost(t, 1, 0, 1, 2)
        assert sympy.simplify(ratio**2 - sympy.Rational(t**2, t**2 - 1)) == 0


@pytest.mark.parametrize("tokens", [3, 4, 10, 1000])
def test_the_sign_changes_exactly_at_the_critical_exponent(tokens):
    with mpmath.workdps(60):
        p_c = mpmath.mpf(str(sympy.N(critical_exponent(sympy.Integer(tokens)), 55)))
        t = mpmath.mpf(tokens)
        for shift, sign in ((-(mpmath.mpf(10) ** -30), 1), (mpmath.mpf(10) ** -30, -1)):
            assert mpmath.sign((t - 1) ** (1 / (p_c + shift)) - t / mpmath.sqrt(t + 1)) == sign


@pytest.mark.parametrize("tokens", [3, 4, 10, 10**3, 10**6, 10**9])
def test_the_critical_exponent_approaches_two_at_the_stated_rate(tokens):
    with mpmath.workdps(60):
        t = mpmath.mpf(tokens)
        distance = 2 - mpmath.mpf(str(sympy.N(critical_exponent(sympy.Integer(tokens)), 55)))
        low, high = 2 / (t**2 * mpmath.log(t)), 2 / ((t**2 - 1) * mpmath.log(t - 1))
        assert low < distance < high
        if tokens >= 1000:
            assert high / low < 1 + 1 / t ** mpmath.mpf("0.9")


def test_two_tokens_have_no_critical_exponent_and_the_sink_loses_at_every_one():
    assert all(gap(2, p) < 0 for p in (1, sympy.Rational(3, 2), 2, sympy.oo))


@pytest.mark.parametrize("tokens", [2, 3, 4])
def test_a_sink_among_the_orthonormal_tokens_costs_the_frobenius_diagonal_in_every_norm(tokens):
    e = np.eye(tokens)
    constraints = [(np.outer(e[i], e[0] - e[j]), 1) for i in range(tokens) for j in range(1, tokens)]
    for exponent in (1, 2, np.inf):
        assert cheapest(constraints, tokens, exponent) == pytest.approx(np.sqrt(tokens - 1), rel=1e-5)
    assert diagonal_cost(tokens, 1, 0, 1, 2) == sympy.sqrt(tokens - 1)


def test_with_positive_correlation_the_sink_stays_bounded_and_wins_late_at_every_finite_exponent():
    rho, beta, sigma = sympy.Rational(1, 4), 0, 1
    bound = 1 / sympy.sqrt(rho * (sigma**2 - 2 * beta + rho))
    for t in (2, 10, 10**6):
        assert sink_cost(t, 1, rho, beta, sigma, 1) < bound
    for p in (2, 5):
        late = sympy.ceiling(1 + ((1 - rho) / sympy.sqrt(rho * (1 + rho))) ** p) + 1
        assert gap(late, p, rho, beta, sigma) > 0


def test_with_the_sink_in_the_tokens_mean_direction_the_sinks_cost_grows_like_root_t():
    rho = sympy.Rational(1, 4)
    costs = [sink_cost(t, 1, rho, rho, sympy.sqrt(rho), 1) for t in (10**2, 10**4, 10**6)]
    assert all(9 < float(b / a) < 11 for a, b in zip(costs, costs[1:]))
    # p = 2: from some T on for rho > 1/2 only; the boundary case rho = 1/2 loses always
    for r, wins in (
        (sympy.Rational(3, 5), True),
        (sympy.Rational(1, 2), False),
        (sympy.Rational(2, 5), False),
    ):
        assert (
            (gap(10**6, 2, r, r, sympy.sqrt(r)) > 0) is sympy.true
            if wins
            else gap(10**6, 2, r, r, sympy.sqrt(r)) < 0
        )


def mass_gap(tokens, eps, exponent=1):
    log_odds = sympy.log((1 - eps) / eps)
    diagonal = diagonal_cost(tokens, 1, 0, log_odds + sympy.log(tokens - 1), exponent)
    return sympy.N(diagonal - sink_cost(tokens, 1, 0, 0, 1, log_odds + sympy.log(tokens)), 40)


def test_in_mass_form_four_tokens_suffice_for_every_eps_up_to_a_half_and_three_do_not():
    half = sympy.Rational(1, 2)
    for eps in (half, sympy.Rational(1, 3), sympy.Rational(1, 10**9)):
        assert all(mass_gap(t, eps) > 0 for t in (4, 5, 100))
        assert mass_gap(2, eps) < 0
    assert mass_gap(3, half) < 0


def test_in_mass_form_three_tokens_change_sides_at_eps_sixteen_over_forty_three():
    edge, step = sympy.Rational(16, 43), sympy.Rational(1, 10**20)
    assert mass_gap(3, edge - step) > 0 > mass_gap(3, edge + step)


def test_the_mass_critical_exponent_separates_and_tends_to_the_margin_one():
    for tokens, eps in ((5, sympy.Rational(1, 2)), (50, sympy.Rational(1, 10))):
        p_c = sympy.N(critical_exponent(sympy.Integer(tokens), sympy.log((1 - eps) / eps)), 30)
        low, high = (sympy.Rational(str(p_c)) * (1 + s * sympy.Rational(1, 10**8)) for s in (-1, 1))
        assert mass_gap(tokens, eps, low) > 0 > mass_gap(tokens, eps, high)
    margin = critical_exponent(sympy.Integer(50))
    far = critical_exponent(sympy.Integer(50), sympy.Integer(10) ** 9)
    assert 0 < sympy.N(margin - far) < 1e-8
    assert sympy.N(critical_exponent(sympy.Integer(3), sympy.Integer(0))) < 1
