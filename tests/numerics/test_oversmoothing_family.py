"""The family-wise test accepts O1 and rejects each negative control, at a level fixed in advance."""

import numpy as np
import pytest

from numerics.oversmoothing_family import ALPHA, family_test, predictions, random_setting, verdict


def _judge(results):
    assert results["O1"].rejected is False
    controls = {name: result for name, result in results.items() if name != "O1"}
    assert set(controls) == {"A transposed in one term", "phi with the wrong trace", "centring forgotten"}
    for result in controls.values():
        assert result.rejected is True


@pytest.mark.slow
def test_a_family_accepts_o1_and_rejects_the_controls():
    """notes/O1.md has 400 settings; nearly all the time goes into compiling a program for each."""
    _judge(family_test(100, draws=300, seed=0))


def test_uniform_p_values_are_accepted_at_the_stated_rate():
    rng = np.random.default_rng(1)
    rejected = sum(verdict(rng.uniform(size=400)).rejected for _ in range(2000))
    assert rejected <= 4 + 2000 * ALPHA * 3


@pytest.mark.parametrize("p_values", [np.full(400, np.nan), np.linspace(0, 0.5, 400), np.linspace(0.2, 1, 400)],
                         ids=["NaN", "too small", "too large"])
def test_implausible_p_values_are_rejected(p_values):
    assert verdict(p_values).rejected is True


def test_a_setting_is_fixed_by_its_seed_and_number():
    first, again, other = random_setting(3, 5), random_setting(3, 5), random_setting(3, 6)
    assert np.array_equal(first.w_vo, again.w_vo) and first.pair == again.pair
    assert first.w_vo.shape != other.w_vo.shape or not np.array_equal(first.w_vo, other.w_vo)
    assert np.trace(first.covariance) == pytest.approx(1) and set(predictions(first)) >= {"O1"}


def test_the_settings_range_over_dimensions_patterns_and_norms():
    settings = [random_setting(0, k) for k in range(60) if random_setting(0, k).w_vo.shape[0] <= 256]
    assert {s.norm for s in settings} == {"rms", "layer"}
    assert len({s.pattern for s in settings}) >= 6


def test_too_small_a_family_is_refused():
    with pytest.raises(ValueError, match="at least one setting"):
        family_test(0)
