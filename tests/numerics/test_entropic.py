import math

import numpy as np
import pytest
from scipy.special import entr, logsumexp

from numerics.entropic import entropic_point


@pytest.mark.parametrize("mass", [0.5, 0.6, 0.9, 0.999])
@pytest.mark.parametrize(("count", "dim"), [(2, 3), (6, 3), (5, 8), (40, 4)])
def test_primal_and_dual_meet(count, dim, mass):
    rng = np.random.default_rng(count)
    rows = rng.standard_normal((count, dim)) + 2.0 * np.eye(dim)[0] * np.sqrt(dim)
    odds = math.log(mass / (1 - mass))
    answer = entropic_point(rows, mass)
    assert logsumexp(-rows @ answer.direction) <= -odds + 1e-12
    assert np.linalg.norm(answer.direction) <= answer.upper
    mu = answer.weights
    assert mu.min() >= 0.0 and mu.sum() == pytest.approx(1.0)
    dual = (odds + entr(mu).sum()) / np.linalg.norm(rows.T @ mu)
    assert answer.lower <= dual
    assert answer.lower <= answer.upper <= answer.lower * (1 + 1e-7)


def test_equal_orthonormal_differences_cost_the_uniform_closed_form():
    count, mass = 7, 0.8
    answer = entropic_point(np.eye(count), mass)
    assert answer.upper == pytest.approx((math.log(4.0) + math.log(count)) * math.sqrt(count), rel=1e-7)


def test_one_competitor_needs_the_log_odds():
    answer = entropic_point(np.array([[2.0, 0.0]]), 0.9)
    assert answer.upper == pytest.approx(math.log(9.0) / 2.0, rel=1e-9)


def test_zero_in_the_hull_has_no_answer():
    assert entropic_point(np.array([[1.0, 0.0], [-1.0, 0.0]]), 0.9) is None


def test_half_the_mass_against_one_competitor_is_free():
    answer = entropic_point(np.array([[1.0, 2.0]]), 0.5)
    assert (answer.lower, answer.upper) == (0.0, 0.0)


@pytest.mark.parametrize("mass", [0.0, 0.49, 1.0, 1.2, math.nan])
def test_a_mass_below_one_half_or_at_least_one_is_refused(mass):
    with pytest.raises(ValueError, match=r"\[1/2, 1\)"):
        entropic_point(np.eye(2), mass)


def test_a_tiny_and_a_huge_cloud_scale_the_answer():
    rows = np.random.default_rng(0).standard_normal((5, 3)) + 3.0
    base = entropic_point(rows, 0.8)
    for factor in (1e-6, 1e6):
        assert entropic_point(factor * rows, 0.8).upper == pytest.approx(base.upper / factor, rel=1e-6)
