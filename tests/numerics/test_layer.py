"""Norms and the one-step layer."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from numerics.attention import causal_uniform_attention, uniform_attention
from numerics.embeddings import load_paragraph
from numerics.layer import layer_norm, one_step, rms_norm

RNG = np.random.default_rng(0)
X, V, GAIN = RNG.normal(size=(5, 3)), RNG.normal(size=(3, 3)), np.array([1.0, -2.0, 0.5])


def test_rms_norm_puts_every_vector_on_the_sphere_of_radius_root_dim():
    np.testing.assert_allclose(np.linalg.norm(rms_norm(X), axis=1), np.sqrt(3) * np.ones(5), rtol=1e-14)
    np.testing.assert_allclose(rms_norm(7.0 * X), rms_norm(X), rtol=1e-13)


def test_a_positive_epsilon_leaves_the_sphere():
    assert (np.linalg.norm(rms_norm(X, eps=1e-3), axis=1) < np.sqrt(3)).all()
    assert float(rms_norm(np.array([3.0, 4.0]), eps=0.5)[0]) == pytest.approx(3 / np.sqrt(13), rel=1e-15)


def test_gain_acts_after_the_norm():
    np.testing.assert_allclose(rms_norm(X, GAIN), np.asarray(rms_norm(X)) * GAIN, rtol=1e-15)


def test_layer_norm_centres_then_normalises():
    out = np.asarray(layer_norm(X))
    np.testing.assert_allclose(out.mean(axis=1), np.zeros(5), atol=1e-15)
    np.testing.assert_allclose(out.std(axis=1), np.ones(5), rtol=1e-14)
    np.testing.assert_allclose(layer_norm(X + 4.0), out, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(layer_norm(X, GAIN, np.ones(3)), out * GAIN + 1.0, rtol=1e-14)


def test_vectors_without_a_direction_have_no_norm():
    assert np.isnan(rms_norm(np.zeros(3))).all()
    assert np.isnan(layer_norm(np.full(4, 2.0))).all()


@pytest.mark.parametrize("norm", ["rms", "layer", None])
def test_the_step_is_residual_plus_attention_then_norm(norm):
    attention = np.asarray(causal_uniform_attention(5))
    got = one_step(X, attention, V, norm, None if norm is None else GAIN)
    for i in range(5):
        raw = X[i] + sum(attention[i, j] * V @ X[j] for j in range(5))
        expected = {"rms": rms_norm, "layer": layer_norm, None: lambda y, gain: y}[norm](raw, GAIN)
        np.testing.assert_allclose(got[i], expected, atol=1e-13)


def test_the_step_runs_under_jit_vmap_and_grad():
    attention = jnp.stack([uniform_attention(5), jnp.eye(5)])
    batched = jax.jit(jax.vmap(lambda a: one_step(X, a, V, "layer")))(attention)
    assert batched.shape == (2, 5, 3) and batched.dtype == jnp.float64
    slope = jax.grad(lambda x: one_step(x, attention[0], V)[0, 0])(jnp.asarray(X))
    assert np.isfinite(slope).all()


def test_one_token_attends_to_itself():
    np.testing.assert_allclose(one_step(X[:1], np.ones((1, 1)), V, None), X[:1] + X[:1] @ V.T)


@pytest.mark.parametrize("norm, gain", [("batch", None), (None, GAIN)])
def test_an_unknown_norm_or_a_gain_without_one_is_refused(norm, gain):
    with pytest.raises(ValueError, match="^expected .*;.*[^.]$"):
        one_step(X, np.eye(5), V, norm, gain)


def test_real_attention_inputs_are_the_normed_residual_stream():
    sample = load_paragraph()
    np.testing.assert_allclose(
        rms_norm(sample.residual, sample.norm_gain, eps=1e-5), sample.inputs[15], rtol=1e-4, atol=1e-5
    )
