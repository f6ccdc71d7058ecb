"""C4: the closed forms against explicit tokens, explicit primal and dual matrices, and the plain convex
program."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from cost_oracle import cheapest, conjugate, exchangeable, schatten

from theory.costs_exchangeable import diagonal_cost, mean_correlation, sink_cost

CASES = [  # T, r, rho, beta, sigma: correlated, orthonormal, negatively correlated, aligned, d < T + 1
    (2, 1, "0", "0", "1"),
    (3, 2, "1/4", "-1/3", "1"),
    (4, "1/2", "-1/5", "1/10", "3/2"),
    (5, 1, "1/4", "-1/2", "1"),
    (3, 1, "0", "1/2", "3"),
    (2, 1, "-1/2", "1/2", "1"),  # sigma² rho_T = beta²: the sink is twice the tokens' mean
    (3, 1, "1", "0", "1"),  # identical tokens: a sink exists, a diagonal does not
]
EXPONENTS = [1, 1.5, 2, 4, np.inf]


def exact(case):
    return tuple(sympy.Rational(x) for x in case)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_the_sink_has_a_feasible_primal_and_a_feasible_dual_of_the_stated_cost(case, exponent):
    tokens, *shape = exact(case)
    x, s = exchangeable(int(tokens), *shape)
    q, k = x.mean(0), s - x.mean(0)
    w = 0.7 * np.outer(q, k) / (q @ q) / (k @ k)
    margins = x @ w @ s - (x @ w @ x.T).T  # [j, i]
    assert margins == pytest.approx(np.full_like(margins, 0.7))
    cost = float(sink_cost(tokens, *shape, sympy.Rational(7, 10)))
    assert schatten(w, exponent) == pytest.approx(cost)
    weight = 1 / (len(x) ** 2 * np.linalg.norm(q) * np.linalg.norm(k))
    dual = sum(weight * np.outer(a, s - b) for a in x for b in x)
    assert schatten(dual, conjugate(exponent)) == pytest.approx(1)
    assert 0.7 * weight * len(x) ** 2 == pytest.approx(cost)


@pytest.mark.parametrize("case", CASES[:-1])
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_the_diagonal_has_a_feasible_primal_and_a_feasible_dual_of_the_stated_cost(case, exponent):
    tokens, r, rho, beta, sigma = exact(case)
    x, _ = exchangeable(int(tokens), r, rho, beta, sigma)
    centred = x - x.mean(0)
    w = 0.7 / float(r**2 * (1 - rho)) * np.linalg.pinv(centred) @ centred
    logits = x @ w @ x.T
    gaps = np.diag(logits)[:, None] - logits
    assert gaps[~np.eye(len(x), dtype=bool)] == pytest.approx(np.full(len(x) * (len(x) - 1), 0.7))
    p = sympy.oo if np.isinf(exponent) else sympy.Rational(str(exponent))
    cost = float(diagonal_cost(tokens, r, rho, sympy.Rational(7, 10), p))
    assert schatten(w, exponent) == pytest.approx(cost)
    uniform = sum(np.outer(a, a - b) for a in x for b in x)
    weight = 1 / schatten(uniform, conjugate(exponent))
    assert 0.7 * weight * len(x) * (len(x) - 1) == pytest.approx(cost)


@pytest.mark.parametrize("case", CASES[:5])
@pytest.mark.parametrize("exponent", [1, 2, np.inf])
def test_the_plain_program_finds_the_same_costs(case, exponent):
    tokens, r, rho, beta, sigma = exact(case)
    x, s = exchangeable(int(tokens), r, rho, beta, sigma)
    sink = cheapest([(np.outer(a, s - b), 1) for a in x for b in x], x.shape[1], exponent)
    assert sink == pytest.approx(float(sink_cost(tokens, r, rho, beta, sigma, 1)), rel=1e-5)
    pairs = [(np.outer(a, a - b), 1) for i, a in enumerate(x) for j, b in enumerate(x) if i != j]
    p = sympy.oo if np.isinf(exponent) else exponent
    assert cheapest(pairs, x.shape[1], exponent) == pytest.approx(
        float(diagonal_cost(tokens, r, rho, 1, p)), rel=1e-5
    )


def test_fewer_dimensions_than_tokens_are_enough():
    angles = 2 * np.pi * np.arange(3) / 3
    x = np.stack([np.cos(angles), np.sin(angles)], 1)  # T = 3, d = 2, rho = -1/2
    pairs = [(np.outer(x[i], x[i] - x[j]), 1) for i in range(3) for j in range(3) if i != j]
    assert cheapest(pairs, 2, 1) == pytest.approx(
        float(diagonal_cost(3, 1, -sympy.Rational(1, 2), 1, 1)), rel=1e-6
    )


def test_at_rho_minus_one_over_t_minus_one_the_tokens_hull_contains_zero_and_no_sink_has_a_margin():
    assert mean_correlation(sympy.Integer(3), -sympy.Rational(1, 2)) == 0
    x, s = exchangeable(3, 1, -0.5, 0, 1)
    assert np.abs(x.sum(0)).max() < 1e-12  # the three margins against one key add up to 0 for every W
    assert sink_cost(3, 1, -sympy.Rational(1, 2), 0, 1, 1) is sympy.zoo


def test_a_sink_at_the_tokens_mean_has_no_margin():
    x, s = exchangeable(2, 1, -0.5, 0.25, 0.5)
    assert np.abs(s - x.mean(0)).max() < 1e-12
    assert sink_cost(2, 1, -sympy.Rational(1, 2), sympy.Rational(1, 4), sympy.Rational(1, 2), 1) is sympy.zoo


@pytest.mark.parametrize("tokens", [2, 3, 5])
def test_equal_margins_meet_the_mass_form_with_equality(tokens):
    eps = sympy.Rational(1, 3)
    log_odds = sympy.log((1 - eps) / eps)
    margin = log_odds + sympy.log(tokens)
    mass = 1 / (1 + tokens * sympy.exp(-margin))
    assert sympy.nsimplify(mass) == 1 - eps
    # and a margin smaller on average cannot: perturb the margins by something of mean -1/100
    shifts = np.linspace(-1, 1, tokens) - 0.01
    assert 1 / (1 + np.exp(-(float(margin) + shifts)).sum()) < 2 / 3
