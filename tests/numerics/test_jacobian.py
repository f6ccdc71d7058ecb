"""The closed form of the Jacobian beside automatic and numerical differentiation."""

import numpy as np
import pytest

from numerics.attention import banded_attention, causal_mask
from numerics.jacobian import (
    BilinearLogits,
    RotaryLogits,
    autodiff_jacobian,
    closed_form_jacobian,
    head_output,
    jacobian_norm_bound,
)


def instance(num_tokens, dim, seed=0):
    rng = np.random.default_rng([num_tokens, dim, seed])
    x, w, v = rng.normal(size=(num_tokens, dim)), rng.normal(size=(dim, dim)), rng.normal(size=(dim, dim))
    return x, w, v, rng.normal(size=(2, dim)), rng.normal(size=(2, dim))


SHAPES = [(1, 3), (2, 3), (4, 2), (3, 5), (3, 1)]


def masks(num_tokens):
    band = np.asarray(banded_attention(num_tokens, 2)) > 0
    return {
        "all": np.ones((num_tokens, num_tokens), dtype=bool),
        "causal": causal_mask(num_tokens),
        "band": band,
    }


@pytest.mark.parametrize("num_tokens, dim", SHAPES)
@pytest.mark.parametrize("mask", ["all", "causal", "band"])
@pytest.mark.parametrize("kappa", [1.0, 0.4, -0.7, 0.0])
def test_closed_form_and_autodiff_agree(num_tokens, dim, mask, kappa):
    x, w, v, _, _ = instance(num_tokens, dim)
    seen = masks(num_tokens)[mask]
    arguments = (x, BilinearLogits(w, kappa), v, seen)
    closed, auto = closed_form_jacobian(*arguments), autodiff_jacobian(*arguments)
    np.testing.assert_allclose(closed, auto, atol=1e-11)


@pytest.mark.parametrize("num_tokens, dim", SHAPES)
@pytest.mark.parametrize("mask", ["all", "causal", "band"])
def test_closed_form_and_autodiff_agree_under_rope(num_tokens, dim, mask):
    x, _, v, w_q, w_k = instance(num_tokens, dim)
    rotary = RotaryLogits(w_q, w_k, np.arange(num_tokens) * 1.5, 0.6, 0.8)
    arguments = (x, rotary, v, masks(num_tokens)[mask])
    np.testing.assert_allclose(closed_form_jacobian(*arguments), autodiff_jacobian(*arguments), atol=1e-11)


def test_leaving_the_mask_out_means_seeing_everything():
    x, w, v, _, _ = instance(4, 2)
    plain = BilinearLogits(w)
    np.testing.assert_allclose(
        closed_form_jacobian(x, plain, v), closed_form_jacobian(x, plain, v, masks(4)["all"]), atol=1e-14
    )


@pytest.mark.parametrize("kind", ["bilinear", "rotary"])
def test_finite_differences_agree_with_both(kind):
    x, w, v, w_q, w_k = instance(4, 3)
    scores = BilinearLogits(w, 0.5) if kind == "bilinear" else RotaryLogits(w_q, w_k, np.arange(4), 0.3)
    step, closed = 1e-6, closed_form_jacobian(x, scores, v)
    for j in range(4):
        for b in range(3):
            nudge = np.zeros((4, 3))
            nudge[j, b] = step
            slope = (head_output(x + nudge, scores, v) - head_output(x - nudge, scores, v)) / (2 * step)
            np.testing.assert_allclose(closed[:, j, :, b], slope, atol=1e-7)


def test_without_rotation_the_rotary_jacobian_and_its_bound_are_the_plain_ones():
    x, _, v, w_q, w_k = instance(4, 3)
    rotary, plain = RotaryLogits(w_q, w_k, np.arange(4), 0.0, 0.9), BilinearLogits(w_q.T @ w_k, 0.9)
    for function in (closed_form_jacobian, jacobian_norm_bound):
        np.testing.assert_allclose(function(x, rotary, v), function(x, plain, v), atol=1e-12)


def test_the_covariance_term_and_its_sign_are_needed_on_the_diagonal():
    x, w, v, _, _ = instance(3, 2)
    truth = np.asarray(autodiff_jacobian(x, BilinearLogits(w), v))
    attention = np.exp(x @ w @ x.T)
    attention /= attention.sum(axis=1, keepdims=True)
    for i in range(3):
        out = attention[i] @ x @ v.T
        direct = attention[i, i] * (v + np.outer(v @ x[i] - out, w.T @ x[i]))
        centred = x - attention[i] @ x
        own = v @ (centred.T * attention[i]) @ centred @ w.T
        np.testing.assert_allclose(direct + own, truth[i, i], atol=1e-12)
        assert np.abs(direct - truth[i, i]).max() > 1e-3
        assert np.abs(direct - own - truth[i, i]).max() > 1e-3


def test_unseen_tokens_have_no_influence():
    x, w, v, _, _ = instance(4, 3)
    jacobian = np.asarray(closed_form_jacobian(x, BilinearLogits(w), v, causal_mask(4)))
    assert all(not jacobian[i, j].any() for i in range(4) for j in range(i + 1, 4))


@pytest.mark.parametrize("num_tokens, dim", [(2, 3), (4, 2), (3, 5)])
@pytest.mark.parametrize("kappa", [1.0, -2.0])
@pytest.mark.parametrize("kind", ["bilinear", "rotary"])
def test_the_norm_bound_holds_off_the_diagonal_and_says_nothing_on_it(num_tokens, dim, kappa, kind):
    off = ~np.eye(num_tokens, dtype=bool)
    for seed in range(20):
        x, w, v, w_q, w_k = instance(num_tokens, dim, seed)
        rotary = RotaryLogits(w_q, w_k, np.arange(num_tokens), 0.7, kappa)
        scores = BilinearLogits(w, kappa) if kind == "bilinear" else rotary
        norms = np.linalg.norm(np.asarray(autodiff_jacobian(x, scores, v)), ord=2, axis=(2, 3))
        bound = np.asarray(jacobian_norm_bound(x, scores, v))
        assert (norms[off] <= bound[off] * (1 + 1e-12)).all()
        assert np.isnan(np.diag(bound)).all()


def test_the_norm_bound_is_attained_by_aligned_rank_one_factors():
    # V = 1 and everything on one axis: both terms of the Jacobian add up with the same sign.
    x, w, v = np.array([[1.0], [2.0]]), np.array([[0.5]]), np.array([[1.0]])
    norms = np.abs(np.asarray(autodiff_jacobian(x, BilinearLogits(w), v))[0, 1, 0, 0])
    assert norms == pytest.approx(float(jacobian_norm_bound(x, BilinearLogits(w), v)[0, 1]), rel=1e-13)
