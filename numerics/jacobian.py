"""How a head's output responds to the tokens: theory.md S2's closed form beside autodiff.

Output o_i = sum_k a_ik V x_k with a the softmax over the visible keys of l_ik = kappa x_i^T W_ik x_k, where
W_ik = W without position, and W_Q^T R_{(p_k - p_i) theta} W_K in a rotary plane.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Real

from numerics.attention import logits, softmax_attention
from numerics.rope import rope_logits, rope_rotation

__all__ = [
    "autodiff_jacobian",
    "closed_form_jacobian",
    "head_output",
    "jacobian_norm_bound",
    "rope_autodiff_jacobian",
    "rope_closed_form_jacobian",
    "rope_head_output",
]

AnyArray = jax.Array | np.ndarray
Scalar = float | jax.Array
Mask = Bool[AnyArray, "token token"] | None


def head_output(
    tokens: Float[AnyArray, "token dim"],
    w_qk: Float[AnyArray, "dim dim"],
    w_vo: Float[AnyArray, "dim dim"],
    kappa: Scalar = 1.0,
    mask: Mask = None,
) -> Float[jax.Array, "token dim"]:
    """Head outputs o_i = sum_j a_ij V x_j with a = softmax(kappa x_i^T W x_j) over the visible keys."""
    x = jnp.asarray(tokens, dtype=jnp.float64)
    return softmax_attention(logits(x, w_qk, kappa), mask) @ x @ jnp.asarray(w_vo, dtype=jnp.float64).T


def rope_head_output(
    tokens: Float[AnyArray, "token dim"],
    w_q: Float[AnyArray, "2 dim"],
    w_k: Float[AnyArray, "2 dim"],
    w_vo: Float[AnyArray, "dim dim"],
    positions: Real[AnyArray, " token"],
    theta: Scalar,
    kappa: Scalar = 1.0,
    mask: Mask = None,
) -> Float[jax.Array, "token dim"]:
    """Head outputs with the logits of one rotary plane."""
    x = jnp.asarray(tokens, dtype=jnp.float64)
    attention = softmax_attention(rope_logits(x, w_q, w_k, positions, theta, kappa), mask)
    return attention @ x @ jnp.asarray(w_vo, dtype=jnp.float64).T


@jax.jit
def autodiff_jacobian(
    tokens: Float[AnyArray, "token dim"],
    w_qk: Float[AnyArray, "dim dim"],
    w_vo: Float[AnyArray, "dim dim"],
    kappa: Scalar = 1.0,
    mask: Mask = None,
) -> Float[jax.Array, "token token dim dim"]:
    """d o_i / d x_j by ``jax.jacobian``; axes [i, j, output, input]."""
    x = jnp.asarray(tokens, dtype=jnp.float64)
    return jax.jacobian(lambda t: head_output(t, w_qk, w_vo, kappa, mask))(x).transpose(0, 2, 1, 3)


@jax.jit
def rope_autodiff_jacobian(
    tokens: Float[AnyArray, "token dim"],
    w_q: Float[AnyArray, "2 dim"],
    w_k: Float[AnyArray, "2 dim"],
    w_vo: Float[AnyArray, "dim dim"],
    positions: Real[AnyArray, " token"],
    theta: Scalar,
    kappa: Scalar = 1.0,
    mask: Mask = None,
) -> Float[jax.Array, "token token dim dim"]:
    """d o_i / d x_j under one rotary plane by ``jax.jacobian``; axes [i, j, output, input]."""
    x = jnp.asarray(tokens, dtype=jnp.float64)
    out = jax.jacobian(lambda t: rope_head_output(t, w_q, w_k, w_vo, positions, theta, kappa, mask))(x)
    return out.transpose(0, 2, 1, 3)


@jax.jit
def closed_form_jacobian(
    tokens: Float[AnyArray, "token dim"],
    w_qk: Float[AnyArray, "dim dim"],
    w_vo: Float[AnyArray, "dim dim"],
    kappa: Scalar = 1.0,
    mask: Mask = None,
) -> Float[jax.Array, "token token dim dim"]:
    """d o_i / d x_j in closed form; axes [i, j, output, input].

    For j != i: a_ij [V + kappa (v_j - o_i)(W^T x_i)^T]. For j = i add kappa V Sigma_i W^T, Sigma_i the
    attention-weighted covariance of the tokens that row i sees. theory.md S2.
    """
    x = jnp.asarray(tokens, dtype=jnp.float64)
    w = jnp.broadcast_to(jnp.asarray(w_qk, dtype=jnp.float64), (x.shape[0], x.shape[0], *w_qk.shape))
    return _closed_form(x, softmax_attention(logits(x, w_qk, kappa), mask), w, w_vo, kappa)


@jax.jit
def rope_closed_form_jacobian(
    tokens: Float[AnyArray, "token dim"],
    w_q: Float[AnyArray, "2 dim"],
    w_k: Float[AnyArray, "2 dim"],
    w_vo: Float[AnyArray, "dim dim"],
    positions: Real[AnyArray, " token"],
    theta: Scalar,
    kappa: Scalar = 1.0,
    mask: Mask = None,
) -> Float[jax.Array, "token token dim dim"]:
    """``closed_form_jacobian`` with W_ij = W_Q^T R_{(p_j - p_i) theta} W_K in place of W.

    The added term for j = i is kappa sum_k a_ik v_k (W_ik x_k - sum_l a_il W_il x_l)^T. theory.md S2.
    """
    x = jnp.asarray(tokens, dtype=jnp.float64)
    place = jnp.asarray(positions, dtype=jnp.float64)
    rotation = jax.vmap(lambda p: rope_rotation(theta, place - p))(place)
    w = jnp.einsum("ap,ijab,bq->ijpq", jnp.asarray(w_q, dtype=jnp.float64), rotation, jnp.asarray(w_k))
    attention = softmax_attention(rope_logits(x, w_q, w_k, positions, theta, kappa), mask)
    return _closed_form(x, attention, w, w_vo, kappa)


@jax.jit
def jacobian_norm_bound(
    tokens: Float[AnyArray, "token dim"],
    w_qk: Float[AnyArray, "dim dim"],
    w_vo: Float[AnyArray, "dim dim"],
    kappa: Scalar = 1.0,
    mask: Mask = None,
) -> Float[jax.Array, "token token"]:
    """a_ij (||V|| + |kappa| ||v_j - o_i|| ||W^T x_i||): bounds the spectral norm of d o_i / d x_j for j != i.

    The diagonal of the answer bounds nothing (there the covariance term is missing) and is NaN. theory.md S2.
    """
    x = jnp.asarray(tokens, dtype=jnp.float64)
    attention = softmax_attention(logits(x, w_qk, kappa), mask)
    values = x @ jnp.asarray(w_vo, dtype=jnp.float64).T
    gaps = jnp.linalg.norm(values[None] - (attention @ values)[:, None], axis=-1)
    reach = jnp.linalg.norm(x @ jnp.asarray(w_qk, dtype=jnp.float64), axis=-1)
    bound = attention * (
        jnp.linalg.norm(jnp.asarray(w_vo, dtype=jnp.float64), 2) + abs(kappa) * gaps * reach[:, None]
    )
    return jnp.where(jnp.eye(x.shape[0], dtype=bool), jnp.nan, bound)


def _closed_form(
    x: Float[jax.Array, "token dim"],
    attention: Float[jax.Array, "token token"],
    w: Float[jax.Array, "token token dim dim"],
    w_vo: Float[AnyArray, "dim dim"],
    kappa: Scalar,
) -> Float[jax.Array, "token token dim dim"]:
    v = jnp.asarray(w_vo, dtype=jnp.float64)
    values = x @ v.T
    gaps = values[None] - (attention @ values)[:, None]
    pulls = jnp.einsum("ijab,ia->ijb", w, x)  # W_ij^T x_i
    direct = attention[:, :, None, None] * (v + kappa * gaps[..., :, None] * pulls[..., None, :])
    scored = jnp.einsum("ikab,kb->ika", w, x)  # W_ik x_k
    centred = scored - jnp.einsum("il,ila->ia", attention, scored)[:, None]
    own = kappa * jnp.einsum("ik,kc,ika->ica", attention, values, centred)
    index = jnp.arange(x.shape[0])
    return direct.at[index, index].add(own)
