"""The closed form of the Jacobian beside automatic and numerical differentiation."""

import numpy as np
import pytest

from numerics.attention import banded_attention, causal_mask
from numerics.jacobian import (
    autodiff_jacobian,
    closed_form_jacobian,
    head_output,
    jacobian_norm_bound,
    rope_autodiff_jacobian,
    rope_closed_form_jacobian,
    rope_head_output,
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
    closed, auto = closed_form_jacobian(x, w, v, kappa, seen), autodiff_jacobian(x, w, v, kappa, seen)
    np.testing.assert_allclose(closed, auto, atol=1e-11)


@pytest.mark.parametrize("num_tokens, dim", SHAPES)
@pytest.mark.parametrize("mask", ["all", "causal", "band"])
def test_closed_form_and_autodiff_agree_under_rope(num_tokens, dim, mask):
    x, _, v, w_q, w_k = instance(num_tokens, dim)
    arguments = (x, w_q, w_k, v, np.arange(num_tokens) * 1.5, 0.6, 0.8, masks(num_tokens)[mask])
    np.testing.assert_allclose(
        rope_closed_form_jacobian(*arguments), rope_autodiff_jacobian(*arguments), atol=1e-11
    )


def test_leaving_the_mask_out_means_seeing_everything():
    x, w, v, _, _ = instance(4, 2)
    np.testing.assert_allclose(
        closed_form_jacobian(x, w, v), closed_form_jacobian(x, w, v, 1.0, masks(4)["all"]), atol=1e-14
    )


def test_finite_differences_agree_with_both():
    x, w, v, w_q, w_k = instance(4, 3)
    step = 1e-6
    plain, rotary = (
        closed_form_jacobian(x, w, v, 0.5),
        rope_closed_form_jacobian(x, w_q, w_k, v, np.arange(4), 0.3),
    )
    for j in range(4):
        for b in range(3):
            nudge = np.zeros((4, 3))
            nudge[j, b] = step
            slope = (head_output(x + nudge, w, v, 0.5) - head_output(x - nudge, w, v, 0.5)) / (2 * step)
            np.testing.assert_allclose(plain[:, j, :, b], slope, atol=1e-7)
            up = rope_head_output(x + nudge, w_q, w_k, v, np.arange(4), 0.3)
            down = rope_head_output(x - nudge, w_q, w_k, v, np.arange(4), 0.3)
            np.testing.assert_allclose(rotary[:, j, :, b], (up - down) / (2 * step), atol=1e-7)


def test_without_rotation_the_rotary_jacobian_is_the_plain_one():
    x, _, v, w_q, w_k = instance(4, 3)
    np.testing.assert_allclose(
        rope_closed_form_jacobian(x, w_q, w_k, v, np.arange(4), 0.0, 0.9),
        closed_form_jacobian(x, w_q.T @ w_k, v, 0.9),
        atol=1e-12,
    )


def test_the_covariance_term_and_its_sign_are_needed_on_the_diagonal():
    x, w, v, _, _ = instance(3, 2)
    truth = np.asarray(autodiff_jacobian(x, w, v))
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
    jacobian = np.asarray(closed_form_jacobian(x, w, v, 1.0, causal_mask(4)))
    assert all(not jacobian[i, j].any() for i in range(4) for j in range(i + 1, 4))


@pytest.mark.parametrize("num_tokens, dim", [(2, 3), (4, 2), (3, 5)])
@pytest.mark.parametrize("kappa", [1.0, -2.0])
def test_the_norm_bound_holds_off_the_diagonal_and_says_nothing_on_it(num_tokens, dim, kappa):
    for seed in range(20):
        x, w, v, _, _ = instance(num_tokens, dim, seed)
        norms = np.linalg.norm(np.asarray(autodiff_jacobian(x, w, v, kappa)), ord=2, axis=(2, 3))
        bound = np.asarray(jacobian_norm_bound(x, w, v, kappa))
        off = ~np.eye(num_tokens, dtype=bool)
        assert (norms[off] <= bound[off] * (1 + 1e-12)).all()
        assert np.isnan(np.diag(bound)).all()


def test_the_norm_bound_is_attained_by_aligned_rank_one_factors():
    # V = 1 and everything on one axis: both terms of the Jacobian add up with the same sign.
    x, w, v = np.array([[1.0], [2.0]]), np.array([[0.5]]), np.array([[1.0]])
    norms = np.abs(np.asarray(autodiff_jacobian(x, w, v))[0, 1, 0, 0])
    assert norms == pytest.approx(float(jacobian_norm_bound(x, w, v)[0, 1]), rel=1e-13)
