"""Rotary position embedding: logits in one plane and in many, a sink head that survives it (claim G6)."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Real

from numerics.arguments import real_arrays

__all__ = ["RopeHead", "g6_factor", "g6_head", "llama_rope_logits", "rope_logits", "rope_rotation"]

AnyArray = jax.Array | np.ndarray
Scalar = float | jax.Array


@dataclass(frozen=True, eq=False)
class RopeHead:
    """Query and key projections of a head of dimension two, and the phase built into its keys."""

    w_q: Float[np.ndarray, "2 dim"]
    w_k: Float[np.ndarray, "2 dim"]
    phase: float


def rope_rotation(theta: Scalar, positions: Real[AnyArray, " token"]) -> Float[jax.Array, "token 2 2"]:
    """The plane rotations R_{p theta}, counterclockwise, one for each position p."""
    angle = theta * jnp.asarray(positions, dtype=jnp.float64)
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([jnp.stack([cos, -sin], -1), jnp.stack([sin, cos], -1)], -2)


@jax.jit
def rope_logits(
    tokens: Float[AnyArray, "token dim"],
    w_q: Float[AnyArray, "2 dim"],
    w_k: Float[AnyArray, "2 dim"],
    positions: Real[AnyArray, " token"],
    theta: Scalar,
    kappa: Scalar = 1.0,
) -> Float[jax.Array, "token token"]:
    """Logits of one rotary plane, query first: l_ij = kappa x_i^T W_Q^T R_{(p_j - p_i) theta} W_K x_j.

    Computed as <R_{p_i theta} q_i, R_{p_j theta} k_j>, the form models use. Claim G6.
    """
    x = jnp.asarray(tokens, dtype=jnp.float64)
    rotation = rope_rotation(theta, positions)
    queries = jnp.einsum("tab,tb->ta", rotation, x @ jnp.asarray(w_q, dtype=jnp.float64).T)
    keys = jnp.einsum("tab,tb->ta", rotation, x @ jnp.asarray(w_k, dtype=jnp.float64).T)
    return kappa * (queries @ keys.T)


def llama_rope_logits(
    tokens: Float[AnyArray, "token dim"],
    w_q: Float[AnyArray, "head dim"],
    w_k: Float[AnyArray, "head dim"],
    positions: Real[AnyArray, " token"] | None = None,
    base: Scalar = 100_000.0,
    kappa: Scalar | None = None,
) -> Float[jax.Array, "token token"]:
    """Logits of a head of the Llama architecture: one rotary plane for each coordinate pair (k, k + d_h/2).

    Plane k turns by base^(-2k/d_h) per position (the half-split layout). ``positions`` default to 0..T-1 and
    ``kappa`` to 1/sqrt(d_h). Raises ValueError for an odd head dimension, shapes that do not fit, or NaN.
    """
    tokens, w_q, w_k, place = real_arrays(
        ("tokens", tokens, "token dim"), ("w_q", w_q, "head dim"), ("w_k", w_k, "head dim"),
        ("positions", positions, "token?"),
    )  # fmt: skip
    head_dim = w_q.shape[0]
    if head_dim % 2 == 1:
        raise ValueError(
            f"expected query and key projections of an even head dimension, got {head_dim}; pass one head's weights as"
            " (head_dim, dim)"
        )
    place = jnp.arange(tokens.shape[0]) if place is None else place
    return _half_split_logits(tokens, w_q, w_k, place, base, head_dim**-0.5 if kappa is None else kappa)


@jax.jit
def _half_split_logits(
    tokens: Float[AnyArray, "token dim"],
    w_q: Float[AnyArray, "head dim"],
    w_k: Float[AnyArray, "head dim"],
    positions: Real[AnyArray, " token"],
    base: Scalar,
    kappa: Scalar,
) -> Float[jax.Array, "token token"]:
    x = jnp.asarray(tokens, dtype=jnp.float64)
    half = w_q.shape[0] // 2
    angle = jnp.asarray(positions, dtype=jnp.float64)[:, None] * base ** (-jnp.arange(half) / half)
    cos, sin = jnp.cos(angle), jnp.sin(angle)

    def rotated(weights: Float[AnyArray, "head dim"]) -> Float[jax.Array, "token head"]:
        vectors = x @ jnp.asarray(weights, dtype=jnp.float64).T
        first, second = vectors[:, :half], vectors[:, half:]
        return jnp.concatenate([first * cos - second * sin, first * sin + second * cos], axis=1)

    return kappa * (rotated(w_q) @ rotated(w_k).T)


def g6_head(
    query_normal: Float[np.ndarray, " dim"],
    key_normal: Float[np.ndarray, " dim"],
    sink: Float[np.ndarray, " dim"],
    theta: float,
    max_distance: float | int,
    bidirectional: bool = False,
) -> RopeHead:
    """The rank-one sink head for one rotary plane: W_Q = u q^T, W_K = (R_phi u) k^T with u = (1, 0).

    Sink first. If <q, x_i> >= alpha > 0 for the queries and <k, x_s - x_j> >= mu > 0 for the keys, its
    margins are at least kappa * alpha * mu * ``g6_factor``. Write n for ``max_distance``. Causal, every
    distance in 0..n: phi = n theta if <k, x_s> >= 0, else 0. Bidirectional, |p_i - p_j| <= n: phi = n theta
    with the sign of <k, x_s> (+ at 0). The phase turns the plane so that the cosine is largest at the sink
    when the sink's score is positive, and smallest there when it is negative.

    Args: ``query_normal`` q and ``key_normal`` k (dim,), for example from ``min_norm_point`` and
    ``distance_to_hull``; ``sink`` x_s; ``theta`` >= 0 the angle per position. Raises ValueError unless
    n theta < pi/2 (causal) or 2 n theta < pi/2 (bidirectional), and for vectors that do not fit. Claim G6.
    """
    g6_factor(theta, max_distance, bidirectional)  # raises where the construction does not apply
    query_normal, key_normal, sink = real_arrays(
        ("query_normal", query_normal, "dim"), ("key_normal", key_normal, "dim"), ("sink", sink, "dim")
    )
    angle = max_distance * theta
    favoured = bool(np.dot(key_normal, sink) >= 0.0)
    phase = angle if favoured else (-angle if bidirectional else 0.0)
    query_axis, key_axis = np.array([1.0, 0.0]), np.array([np.cos(phase), np.sin(phase)])
    return RopeHead(np.outer(query_axis, query_normal), np.outer(key_axis, key_normal), phase)


def g6_factor(theta: float, max_distance: float | int, bidirectional: bool = False) -> float:
    """What rotation leaves of the margin: cos(n theta), or cos(2 n theta) if bidirectional (G6; sharp)."""
    spread = (2.0 if bidirectional else 1.0) * max_distance * theta
    if not (theta >= 0.0 and max_distance >= 0.0 and spread < np.pi / 2):
        raise ValueError(
            f"expected theta >= 0, distance n >= 0 and a largest angle below pi/2, got theta={theta},"
            f" n={max_distance} and angle {spread}; use a slower plane or a shorter context"
        )
    return float(np.cos(spread))
