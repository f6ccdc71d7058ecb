"""O2: the exact variances, the bounds' order, coverage that a wrong constant fails, and the rate."""

import numpy as np
import pytest

from numerics.attention import causal_uniform_attention, mixed_attention, uniform_attention
from numerics.concentration import (
    clopper_pearson, cosine_bound, cosine_bound_as_stated, fit_rate, instance_bound, pair_law, smallest_dimension)
from numerics.oversmoothing_rate import _draws, cover, rate


def _value(dim, seed=0):
    return 0.3 * np.eye(dim) + 0.7 * np.random.default_rng(seed).standard_normal((dim, dim)) / np.sqrt(dim)


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_the_pair_law_is_that_of_the_stacked_quadratic_forms(norm):
    dim, size, rho, (i, j) = 5, 3, 0.4, (2, 0)
    a, v = np.asarray(causal_uniform_attention(size)), _value(dim)
    law = pair_law(a, v, rho, (i, j), norm=norm)
    centre = np.eye(dim) - (1 / dim if norm == "layer" else 0)
    b = [np.hstack([centre @ (np.eye(dim) * (p == k) + a[p, k] * v) for k in range(size)]) for p in (i, j)]
    m = np.sqrt(rho) * centre @ (np.eye(dim) + v)[:, 0]
    beta = np.array([[-law.cosine / law.gram[0, 0], 1 / np.sqrt(law.gram[0, 0] * law.gram[1, 1])],
                     [0, -law.cosine / law.gram[1, 1]]]) / 2
    beta[1, 0] = beta[0, 1]

    def form(weights):
        s = (1 - rho) / dim * sum(weights[p, q] * b[p].T @ b[q] for p in (0, 1) for q in (0, 1))
        linear = 2 * np.sqrt((1 - rho) / dim) * sum(weights[p, q] * b[q].T @ m for p in (0, 1) for q in (0, 1))
        return s, linear

    s, linear = form(beta)
    assert law.deviation**2 == pytest.approx(2 * np.sum(s * s) + linear @ linear, rel=1e-10)
    for k, weights in enumerate(([[1, 0], [0, 0]], [[0, 0.5], [0.5, 0]], [[0, 0], [0, 1]])):
        s, linear = form(np.array(weights, dtype=float))
        assert law.variance_factor[k] == pytest.approx(np.sum(s * s) + linear @ linear / 2, rel=1e-10)
        assert law.spectral[k] == pytest.approx(np.abs(np.linalg.eigvalsh(s)).max(), rel=1e-8)
        # step 2 of the proof: each is below its bound through b
        norm_b = 1 + np.linalg.norm(v, 2)
        assert law.variance_factor[k] <= (1 - rho**2) * norm_b**4 / dim
        assert law.spectral[k] <= (1 - rho) * norm_b**2 / dim


@pytest.mark.parametrize("x", [0.1, 1.0, 4.0, 16.0])
@pytest.mark.parametrize("rho", [0.0, 0.3, 0.9])
def test_the_proved_bound_implies_the_stated_one_and_the_instance_implies_both(x, rho):
    dim = 16
    v = _value(dim)
    law = pair_law(np.asarray(mixed_attention(4, 0.5)), v, rho, (0, 1))
    size, g_min = np.linalg.norm(v, 2), min(law.gram[0, 0], law.gram[1, 1])
    proved, failure = cosine_bound(x, dim, rho, size, g_min)
    stated, stated_failure = cosine_bound_as_stated(x, dim, size, g_min)
    assert proved <= stated and failure < stated_failure
    assert instance_bound(law, x)[0] <= proved


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_coverage_holds_and_a_wrong_deviation_fails(norm):
    a, dim = np.asarray(uniform_attention(4)), 128
    report = cover(a, _value(dim), 0.3, (1, 3), x=np.log(120), draws=4000, norm=norm)
    for bound, failure, coverage in report.bounds.values():
        assert coverage.lower <= failure and bound > 0
    assert report.delta.lower <= 0.05 <= report.delta.upper
    law = pair_law(a, _value(dim), 0.3, (1, 3), norm=norm)
    errors = np.abs(_draws(a, _value(dim), 0.3, (1, 3), 4000, 0, norm) - law.cosine)
    for factor in (0.85, 1.15):
        wrong = clopper_pearson(int(np.sum(errors > 1.96 * factor * law.deviation)), 4000)
        assert not wrong.lower <= 0.05 <= wrong.upper
    assert report.looseness["proved"] < report.looseness["as stated"]


def test_the_rate_is_one_over_root_d():
    report = rate(np.asarray(uniform_attention(4)), _value, 0.3, (0, 2), dims=(32, 64, 128, 256), draws=1500)
    assert report.fit.lower - 0.02 <= -0.5 <= report.fit.upper + 0.02
    assert report.rms == pytest.approx(report.deviation, rel=0.1)
    assert report.smallest[0.01] > 20 * report.smallest[0.05] > 0


def test_a_fit_recovers_a_planted_exponent_and_rejects_another():
    dims = np.array([10, 100, 1000, 10000])
    errors = np.random.default_rng(0).standard_normal((4, 4000)) * 2 * dims[:, None] ** -0.5
    fit = fit_rate(dims, errors)
    assert fit.lower <= -0.5 <= fit.upper and fit.upper < -0.45 and fit.constant == pytest.approx(2, rel=0.1)
    assert smallest_dimension(fit, 0.1, 0.5) == pytest.approx(1600, rel=0.2)


def test_clopper_pearson_covers_and_rejects_bad_counts():
    assert clopper_pearson(0, 100).lower == 0 and clopper_pearson(100, 100).upper == 1
    c = clopper_pearson(5, 100, 0.95)
    assert (c.lower, c.upper) == pytest.approx((0.016432, 0.112835), abs=1e-5)
    with pytest.raises(ValueError, match="misses"):
        clopper_pearson(3, 2)


def test_bad_input_is_refused():
    a = np.asarray(uniform_attention(2))
    with pytest.raises(ValueError, match="two different tokens"):
        pair_law(a, np.eye(3), 0.1, (1, 1))
    with pytest.raises(ValueError, match="positive energy"):
        pair_law(np.eye(2), -np.eye(3), 0.1, (0, 1))
    with pytest.raises(ValueError, match="0 < x <= d"):
        cosine_bound_as_stated(5.0, 4, 1.0, 1.0)
    with pytest.raises(ValueError, match="three dimensions"):
        fit_rate(np.array([1.0, 2.0]), np.ones((2, 5)))
    with pytest.raises(ValueError, match="falling fit"):
        smallest_dimension(
            fit_rate(np.array([1.0, 2, 4]), np.arange(1.0, 4)[:, None] * np.ones((3, 5)) + np.arange(5)), 0.1, 1)
