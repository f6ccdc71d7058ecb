"""Attention patterns: rows on the simplex, the right entries, and refusals."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numerics.attention import (
    banded_attention,
    block_attention,
    causal_mask,
    causal_uniform_attention,
    diagonal_attention,
    logits,
    mixed_attention,
    require_row_stochastic,
    sink_attention,
    softmax_attention,
    uniform_attention,
)

PATTERNS = {
    "uniform": uniform_attention(5),
    "diagonal": diagonal_attention(5),
    "sink": sink_attention(5, 2),
    "mixed": mixed_attention(5, 0.3),
    "causal uniform": causal_uniform_attention(5),
    "banded": banded_attention(5, 2),
    "banded causal": banded_attention(5, 3, causal=True),
    "block": block_attention([2, 3]),
    "one token": uniform_attention(1),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_every_pattern_is_row_stochastic_in_float64(name):
    pattern = require_row_stochastic(PATTERNS[name], tolerance=1e-15)
    assert pattern.dtype == jnp.float64


def test_logits_are_the_bilinear_form_with_the_query_first():
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(4, 3)), rng.normal(size=(3, 3))
    got = logits(x, w, 0.5)
    for i in range(4):
        for j in range(4):
            assert got[i, j] == pytest.approx(0.5 * x[i] @ w @ x[j], abs=1e-14)


def test_softmax_of_logs_returns_the_masses():
    mass = np.array([[0.1, 0.2, 0.7], [0.25, 0.25, 0.5]])
    np.testing.assert_allclose(softmax_attention(np.log(mass)), mass, atol=1e-15)


def test_softmax_is_unchanged_by_a_shift_of_each_row_and_survives_huge_logits():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(4, 4))
    for mask in (None, causal_mask(4)):
        shifted = softmax_attention(scores + np.array([[0.0], [700.0], [-700.0], [1e4]]), mask)
        np.testing.assert_allclose(shifted, softmax_attention(scores, mask), atol=1e-12)


def test_softmax_keeps_the_complement_that_single_precision_loses():
    attention = softmax_attention(np.array([[17.0, 0.0]]))
    assert float(attention[0, 1]) == pytest.approx(math.exp(-17) / (1 + math.exp(-17)), rel=1e-14)
    assert float(1 - attention[0, 0]) > 0


def test_masked_keys_get_no_mass_and_no_gradient():
    scores = np.array([[0.0, 1e308], [1.0, 2.0]])
    mask = causal_mask(2)
    np.testing.assert_array_equal(softmax_attention(scores, mask)[0], [1.0, 0.0])
    slope = jax.grad(lambda s: softmax_attention(s, mask)[0, 0])(jnp.asarray(scores))
    np.testing.assert_array_equal(slope, np.zeros((2, 2)))


def test_a_row_that_sees_no_key_is_nan_and_refused():
    blind = softmax_attention(np.zeros((1, 2)), np.zeros((1, 2), dtype=bool))
    assert np.isnan(blind).all()
    with pytest.raises(ValueError, match="finite entries in attention"):
        require_row_stochastic(blind)


def test_the_mix_runs_from_diagonal_to_uniform():
    np.testing.assert_array_equal(mixed_attention(4, 0.0), np.eye(4))
    np.testing.assert_allclose(mixed_attention(4, 1.0), np.full((4, 4), 0.25))
    traced = jax.vmap(lambda t: mixed_attention(4, t))(jnp.array([0.0, 0.5]))
    np.testing.assert_allclose(traced[1], 0.5 * np.eye(4) + 0.125)


def test_causal_uniform_is_the_cesaro_matrix():
    np.testing.assert_allclose(
        causal_uniform_attention(3), [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]
    )


@pytest.mark.parametrize("causal", [False, True])
def test_bands_end_in_the_diagonal_and_the_uniform_pattern(causal):
    np.testing.assert_array_equal(banded_attention(4, 1, causal), np.eye(4))
    widest = causal_uniform_attention(4) if causal else uniform_attention(4)
    np.testing.assert_allclose(banded_attention(4, 4, causal), widest)


def test_a_causal_band_of_width_two_sees_itself_and_its_predecessor():
    np.testing.assert_allclose(banded_attention(3, 2, True), [[1, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]])


def test_blocks_average_within_and_never_across():
    expected = np.zeros((5, 5))
    expected[:2, :2], expected[2:, 2:] = 1 / 2, 1 / 3
    np.testing.assert_allclose(block_attention([2, 3]), expected)
    np.testing.assert_array_equal(block_attention([1] * 4), np.eye(4))


@pytest.mark.parametrize(
    "bad",
    [
        np.array([[0.5, 0.5 + 1e-6], [0.5, 0.5]]),
        np.array([[1.5, -0.5], [0.5, 0.5]]),
        np.array([[np.nan, 1.0], [0.5, 0.5]]),
        np.full((2, 2, 2), 0.5),
        np.empty((0, 0)),
    ],
)
def test_what_is_not_row_stochastic_is_refused(bad):
    with pytest.raises(ValueError, match="^expected .*;.*[^.]$"):
        require_row_stochastic(bad)


def test_tolerance_admits_half_precision_rows():
    rounded = np.asarray(softmax_attention(np.random.default_rng(2).normal(size=(9, 9)))).astype(np.float16)
    with pytest.raises(ValueError):
        require_row_stochastic(rounded)
    require_row_stochastic(rounded, tolerance=9 * 2.0**-11)


@pytest.mark.parametrize(
    "call",
    [
        lambda: uniform_attention(0),
        lambda: causal_mask(-1),
        lambda: sink_attention(3, 3),
        lambda: sink_attention(3, -1),
        lambda: banded_attention(3, 0),
        lambda: block_attention([]),
        lambda: block_attention([2, 0]),
    ],
)
def test_impossible_sizes_are_refused_in_one_sentence(call):
    with pytest.raises(ValueError, match="^expected .*;.*[^.]$"):
        call()
