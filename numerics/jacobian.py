"""How a head's output responds to the tokens: claim S2's closed form beside autodiff.

Output o_i = sum_k a_ik V x_k with a the softmax over the visible keys of l_ik = kappa x_i^T W_ik x_k, where
W_ik = W without position (`BilinearLogits`), and W_Q^T R_{(p_k - p_i) theta} W_K in a rotary plane (`RotaryLogits`).
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Real

from numerics.arguments import real_arrays
from numerics.attention import logits, softmax_attention
from numerics.rope import rope_logits, rope_rotation

__all__ = [
    "BilinearLogits",
    "RotaryLogits",
    "autodiff_jacobian",
    "closed_form_jacobian",
    "head_output",
    "jacobian_norm_bound",
]

AnyArray = jax.Array | np.ndarray
Scalar = float | jax.Array
Mask = Bool[AnyArray, "token token"] | None


class BilinearLogits(NamedTuple):
    """l_ij = kappa x_i^T W x_j, for W = ``w_qk`` (d, d)."""

    w_qk: Float[AnyArray, "dim dim"]
    kappa: Scalar = 1.0

    def logits(self, tokens: Float[AnyArray, "token dim"]) -> Float[jax.Array, "token token"]:
        return logits(tokens, self.w_qk, self.kappa)

    def forms(self, num_tokens: int) -> Float[jax.Array, "token token dim dim"]:
        """W_ij, the same for every pair."""
        w = jnp.asarray(self.w_qk, dtype=jnp.float64)
        return jnp.broadcast_to(w, (num_tokens, num_tokens, *w.shape))


class RotaryLogits(NamedTuple):
    """l_ij = kappa x_i^T W_Q^T R_{(p_j - p_i) theta} W_K x_j: one rotary plane, ``positions`` p (T,)."""

    w_q: Float[AnyArray, "2 dim"]
    w_k: Float[AnyArray, "2 dim"]
    positions: Real[AnyArray, " token"]
    theta: Scalar
    kappa: Scalar = 1.0

    def logits(self, tokens: Float[AnyArray, "token dim"]) -> Float[jax.Array, "token token"]:
        return rope_logits(tokens, self.w_q, self.w_k, self.positions, self.theta, self.kappa)

    def forms(self, num_tokens: int) -> Float[jax.Array, "token token dim dim"]:
        """W_ij = W_Q^T R_{(p_j - p_i) theta} W_K, by a route of its own: `logits` rotates queries and keys instead."""
        place = jnp.asarray(self.positions, dtype=jnp.float64)
        rotation = jax.vmap(lambda p: rope_rotation(self.theta, place - p))(place)
        w_q, w_k = (jnp.asarray(w, dtype=jnp.float64) for w in (self.w_q, self.w_k))
        return jnp.einsum("ap,ijab,bq->ijpq", w_q, rotation, w_k)


Scores = BilinearLogits | RotaryLogits


def head_output(
    tokens: Float[AnyArray, "token dim"], scores: Scores, w_vo: Float[AnyArray, "dim dim"], mask: Mask = None
) -> Float[jax.Array, "token dim"]:
    """Head outputs o_i = sum_j a_ij V x_j with a the softmax of ``scores`` over the visible keys.

    Args, here and below: ``tokens`` (T, d) as they enter attention; ``scores`` one of the two records above; ``w_vo``
    (d, d) is V; boolean ``mask`` (T, T), query axis first (None: every key is seen). Returns (T, d). Raises ValueError
    for shapes that do not fit. Claim S2.
    """
    x, v = _tokens_and_value(tokens, w_vo)
    return softmax_attention(scores.logits(x), mask) @ x @ v.T


@jax.jit
def autodiff_jacobian(
    tokens: Float[AnyArray, "token dim"], scores: Scores, w_vo: Float[AnyArray, "dim dim"], mask: Mask = None
) -> Float[jax.Array, "token token dim dim"]:
    """d o_i / d x_j by ``jax.jacobian``; axes [i, j, output, input]. Claim S2."""
    x, v = _tokens_and_value(tokens, w_vo)
    return jax.jacobian(lambda t: head_output(t, scores, v, mask))(x).transpose(0, 2, 1, 3)


@jax.jit
def closed_form_jacobian(
    tokens: Float[AnyArray, "token dim"], scores: Scores, w_vo: Float[AnyArray, "dim dim"], mask: Mask = None
) -> Float[jax.Array, "token token dim dim"]:
    """d o_i / d x_j in closed form; axes [i, j, output, input].

    For j != i: a_ij [V + kappa (v_j - o_i)(W_ij^T x_i)^T]. For j = i add
    kappa sum_k a_ik v_k (W_ik x_k - sum_l a_il W_il x_l)^T; for one W that is kappa V Sigma_i W^T, Sigma_i the
    attention-weighted covariance of the tokens that row i sees. Claim S2.
    """
    x, v, w, attention, values, gaps, pulls = _parts(tokens, scores, w_vo, mask)
    direct = attention[:, :, None, None] * (v + scores.kappa * gaps[..., :, None] * pulls[..., None, :])
    scored = jnp.einsum("ikab,kb->ika", w, x)  # W_ik x_k
    centred = scored - jnp.einsum("il,ila->ia", attention, scored)[:, None]
    own = scores.kappa * jnp.einsum("ik,kc,ika->ica", attention, values, centred)
    index = jnp.arange(x.shape[0])
    return direct.at[index, index].add(own)


@jax.jit
def jacobian_norm_bound(
    tokens: Float[AnyArray, "token dim"], scores: Scores, w_vo: Float[AnyArray, "dim dim"], mask: Mask = None
) -> Float[jax.Array, "token token"]:
    """a_ij (||V|| + |kappa| ||v_j - o_i|| ||W_ij^T x_i||): bounds the spectral norm of d o_i / d x_j for j != i.

    The diagonal of the answer bounds nothing (there the covariance term is missing) and is NaN. Claim S2.
    """
    x, v, _, attention, _, gaps, pulls = _parts(tokens, scores, w_vo, mask)
    size = jnp.linalg.norm(v, 2)
    bound = attention * (
        size + abs(scores.kappa) * jnp.linalg.norm(gaps, axis=-1) * jnp.linalg.norm(pulls, axis=-1)
    )
    return jnp.where(jnp.eye(x.shape[0], dtype=bool), jnp.nan, bound)


def _tokens_and_value(tokens, w_vo) -> list[jax.Array]:
    return list(map(jnp.asarray, real_arrays(("tokens", tokens, "token dim"), ("w_vo", w_vo, "dim dim"))))


def _parts(tokens, scores, w_vo, mask):
    """x, V, W_ij, a_ij, v_j, v_j - o_i and W_ij^T x_i, what both the closed form and its bound are made of."""
    x, v = _tokens_and_value(tokens, w_vo)
    w, attention = scores.forms(x.shape[0]), softmax_attention(scores.logits(x), mask)
    values = x @ v.T
    return x, v, w, attention, values, values[None] - (attention @ values)[:, None], jnp.einsum("ijab,ia->ijb", w, x)
