import math

import numpy as np
import pytest

from numerics.diagonal_bound import diagonal_bound, diagonal_cost

NORMS = [1.0, 1.5, 2.0, math.inf]


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("levels", [{"margin": 1.3}, {"mass": 0.7}])
@pytest.mark.parametrize(("count", "dim"), [(2, 1), (3, 5), (6, 3)])
def test_the_bound_is_below_the_cost(count, dim, levels, norm):
    tokens = np.random.default_rng(count).standard_normal((count, dim))
    tokens /= np.linalg.norm(tokens, axis=1, keepdims=True)
    cost = diagonal_cost(tokens, norm, tolerance=1e-3, max_iterations=3000, **levels)
    assert diagonal_bound(tokens, norm, **levels) <= cost.upper


@pytest.mark.parametrize("norm", NORMS)
def test_the_bound_is_attained_by_orthonormal_tokens_and_by_a_simplex(norm):
    count = 5
    simplex = np.eye(count) - 1.0 / count
    for tokens in (np.eye(count), simplex):
        bound = diagonal_bound(tokens, norm, margin=1.0)
        assert bound == pytest.approx((count - 1) ** (1 / norm), rel=1e-10)
        assert diagonal_cost(tokens, norm, margin=1.0, tolerance=1e-6).upper == pytest.approx(bound, rel=2e-6)


def test_one_token_costs_nothing_and_coinciding_tokens_everything():
    assert diagonal_bound(np.ones((1, 3)), 1.0, margin=1.0) == 0.0
    assert diagonal_bound(np.ones((4, 2)), 1.0, margin=1.0) == math.inf


def test_a_mass_that_uniform_attention_has_costs_nothing():
    assert diagonal_bound(np.eye(4), 1.0, mass=0.25) == 0.0


def test_the_exponent_is_the_dual_one():
    tokens = np.diag([1.0, 2.0, 3.0, 0.5])
    scatter = tokens.T @ (np.eye(4) - 0.25) @ tokens
    assert diagonal_bound(tokens, 1.0, margin=1.0) == pytest.approx(3.0 / np.linalg.norm(scatter, 2))
    assert diagonal_bound(tokens, math.inf, margin=1.0) == pytest.approx(3.0 / np.linalg.norm(scatter, "nuc"))


@pytest.mark.parametrize("levels", [{}, {"margin": 0.0}, {"mass": 1.0}, {"margin": 1.0, "mass": 0.5}])
def test_bad_levels_are_refused(levels):
    with pytest.raises(ValueError, match="expected"):
        diagonal_bound(np.eye(3), 1.0, **levels)
