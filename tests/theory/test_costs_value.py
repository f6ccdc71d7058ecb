"""C7: the value map's closed form against the pseudo-inverse and the plain program."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import sympy
from cost_oracle import exchangeable, schatten

from theory.costs_value import last_eigenvalue, value_cost

CASES = [  # T, r, rho, beta, sigma, omega
    (1, 1, "0", "1/2", "1", 2),
    (2, 2, "1/4", "-1/3", "1", 1),
    (3, 1, "0", "0", "1", 1),
    (4, "1/2", "-1/5", "1/10", "3/2", 3),
    (5, 1, "1/4", "-1/2", "1", 1),
]
EXPONENTS = [1, 1.5, 2, 4, np.inf]


def setting(case, null_sink=True):
    tokens, r, rho, beta, sigma, omega = (sympy.Rational(x) for x in case)
    x, s = exchangeable(int(tokens), r, rho, beta, sigma)
    targets = float(omega) * np.eye(int(tokens), x.shape[1])  # rows: orthogonal targets
    inputs = np.vstack([x, s]) if null_sink else x
    outputs = np.vstack([targets, np.zeros(x.shape[1])]) if null_sink else targets
    last = last_eigenvalue(tokens, rho, beta, sigma, null_sink)
    return inputs, outputs, lambda p: float(value_cost(tokens, r, rho, last, omega, p))


def as_sympy(exponent):
    return sympy.oo if np.isinf(exponent) else sympy.Rational(str(exponent))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("null_sink", [True, False])
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_the_pseudo_inverse_interpolates_at_the_stated_cost(case, null_sink, exponent):
    inputs, outputs, cost = setting(case, null_sink)
    v = outputs.T @ np.linalg.pinv(inputs.T)
    assert v @ inputs.T == pytest.approx(outputs.T, abs=1e-10)
    assert schatten(v, exponent) == pytest.approx(cost(as_sympy(exponent)))


@pytest.mark.parametrize("case", CASES)
def test_every_other_interpolant_costs_at_least_as_much(case):
    inputs, outputs, cost = setting(case)
    extra = np.hstack([inputs, np.arange(1.0, len(inputs) + 1)[:, None]])  # room for other interpolants
    v = outputs.T @ np.linalg.pinv(inputs.T)
    rng = np.random.default_rng(0)
    kernel = np.eye(extra.shape[1]) - np.linalg.pinv(extra) @ extra
    for exponent in EXPONENTS:
        for _ in range(5):
            other = np.hstack([v, np.zeros((len(v), 1))]) + rng.normal(size=(len(v), extra.shape[1])) @ kernel
            assert other @ extra.T == pytest.approx(outputs.T, abs=1e-9)
            least = outputs.T @ np.linalg.pinv(extra.T)
            assert schatten(other, exponent) >= schatten(least, exponent) - 1e-9


def test_the_plain_program_finds_the_same_nuclear_cost():
    inputs, outputs, cost = setting(CASES[1])
    v = cp.Variable((inputs.shape[1], inputs.shape[1]))
    problem = cp.Problem(cp.Minimize(cp.normNuc(v)), [v @ inputs.T == outputs.T])
    assert problem.solve(solver=cp.CLARABEL) == pytest.approx(cost(1), rel=1e-6)


def test_nulling_costs_a_bounded_amount_when_beta_squared_is_at_most_sigma_squared_rho():
    rho, beta, sigma = sympy.Rational(1, 4), sympy.Rational(1, 2), 1  # beta² = sigma² rho, the edge
    for p in (1, 2, sympy.oo):
        for tokens in (2, 10, 10**4):
            t = sympy.Integer(tokens)
            null = value_cost(t, 1, rho, last_eigenvalue(t, rho, beta, sigma), 1, p)
            free = value_cost(t, 1, rho, last_eigenvalue(t, rho, beta, sigma, null_sink=False), 1, p)
            increase = sympy.N(null - free)
            assert -1e-12 <= increase <= 1 / sympy.sqrt(1 - rho) + 1e-12


def test_nulling_blows_up_where_the_sink_reaches_the_tokens_span():
    rho, sigma, tokens = sympy.Rational(1, 4), 1, sympy.Integer(3)
    edge = sympy.sqrt(rho + (1 - rho) / tokens)
    assert last_eigenvalue(tokens, rho, edge, sigma) == 0
    costs = [
        sympy.N(value_cost(tokens, 1, rho, last_eigenvalue(tokens, rho, edge * (1 - step), sigma), 1, 2))
        for step in (sympy.Rational(1, 10**2), sympy.Rational(1, 10**4), sympy.Rational(1, 10**6))
    ]
    assert costs[0] > 3 and all(9 < b / a < 11 for a, b in zip(costs[1:], costs[2:]))
    x, s = exchangeable(3, 1, rho, edge, sigma)
    stacked = np.vstack([x, s])
    outputs = np.vstack([np.eye(3, 4), np.zeros(4)])
    v = outputs.T @ np.linalg.pinv(stacked.T, rcond=1e-6)
    assert np.abs(v @ stacked.T - outputs.T).max() > 0.1  # inconsistent: no V at all
