"""The chance level of a half-space."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from numerics.wendel import chance_in_half_space, log10_chance_in_half_space


def test_small_values_agree_with_the_sum_written_out():
    for n, d in itertools.product(range(1, 9), range(1, 6)):
        expected = Fraction(sum(math.comb(n - 1, k) for k in range(d)), 2 ** (n - 1))
        assert chance_in_half_space(n, d) == expected


def test_it_is_certain_up_to_dim_points_and_never_beyond():
    assert chance_in_half_space(5, 5) == 1
    assert chance_in_half_space(6, 5) == 1 - Fraction(1, 32)


def test_on_a_line_all_points_must_have_one_sign():
    assert chance_in_half_space(7, 1) == Fraction(2, 2**7)


@pytest.mark.parametrize("dim", [1, 2, 7, 576])
def test_it_is_one_half_at_twice_the_dimension(dim):
    assert chance_in_half_space(2 * dim, dim) == Fraction(1, 2)


def test_it_obeys_the_recursion_of_cutting_by_one_more_hyperplane():
    for n, d in itertools.product(range(1, 7), range(2, 6)):
        both = chance_in_half_space(n, d) + chance_in_half_space(n, d - 1)
        assert chance_in_half_space(n + 1, d) == both / 2


def test_simulated_points_in_the_plane_agree():
    rng = np.random.default_rng(0)
    angles = np.sort(rng.uniform(0, 2 * np.pi, size=(20_000, 4)), axis=1)
    gaps = np.diff(np.concatenate([angles, angles[:, :1] + 2 * np.pi], axis=1), axis=1)
    share = float((gaps.max(axis=1) > np.pi).mean())
    assert abs(share - float(chance_in_half_space(4, 2))) < 5 * 0.5 / math.sqrt(20_000)


def test_the_logarithm_survives_where_the_probability_underflows():
    assert log10_chance_in_half_space(3300, 576) == pytest.approx(-332, abs=0.5)
    assert math.isfinite(log10_chance_in_half_space(20_000, 576))
    assert float(chance_in_half_space(20_000, 576)) == 0.0


def test_the_logarithm_agrees_with_the_exact_value_on_both_sides_of_a_half():
    for n, d in ((30, 4), (30, 20), (1000, 576), (40, 39), (3, 5)):
        exact = chance_in_half_space(n, d)
        expected = math.log1p(-float(1 - exact)) / math.log(10)
        assert log10_chance_in_half_space(n, d) == pytest.approx(expected, rel=1e-12)
    assert log10_chance_in_half_space(100, 99) < 0.0


@pytest.mark.parametrize("n, d", [(0, 3), (3, 0), (-1, 2)])
def test_no_points_or_no_dimensions_are_refused(n, d):
    with pytest.raises(ValueError, match="^expected .*;.*[^.]$"):
        chance_in_half_space(n, d)
    with pytest.raises(ValueError, match="^expected .*;.*[^.]$"):
        log10_chance_in_half_space(n, d)
