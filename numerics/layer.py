"""One transformer step as the theory has it: attention, residual, normalisation (theory.md sections 0 and O).

Pure float64 functions that run under ``jax.jit``, ``jax.vmap`` and ``jax.grad`` (``norm`` is a static
string).
"""

from __future__ import annotations

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

__all__ = ["layer_norm", "one_step", "rms_norm"]

AnyArray = jax.Array | np.ndarray


def rms_norm(
    x: Float[AnyArray, "*batch dim"], gain: Float[AnyArray, " dim"] | None = None, eps: float = 0.0
) -> Float[jax.Array, "*batch dim"]:
    """Root-mean-square normalisation over the last axis: g * x / sqrt(mean(x^2) + eps).

    With eps=0 and no gain the output has norm sqrt(d) exactly; with eps>0 it falls short of it, which is why
    the default is 0 (theory.md G3: eps>0 breaks the sphere). A zero vector has no direction: NaN at eps=0.

    Example:

    >>> rms_norm([3.0, 4.0]).round(6).tolist()
    [0.848528, 1.131371]
    """
    values = jnp.asarray(x, dtype=jnp.float64)
    scaled = values / jnp.sqrt(jnp.mean(values**2, axis=-1, keepdims=True) + eps)
    return scaled if gain is None else scaled * jnp.asarray(gain, dtype=jnp.float64)


def layer_norm(
    x: Float[AnyArray, "*batch dim"],
    gain: Float[AnyArray, " dim"] | None = None,
    bias: Float[AnyArray, " dim"] | None = None,
    eps: float = 0.0,
) -> Float[jax.Array, "*batch dim"]:
    """Layer normalisation over the last axis: g * Cx / sqrt(mean((Cx)^2) + eps) + b, C = I - 1 1^T / d.

    It is ``rms_norm`` after centring; a constant vector gives NaN at eps=0 because Cx = 0 has no direction.

    Example:

    >>> layer_norm([1.0, 3.0]).tolist()
    [-1.0, 1.0]
    """
    values = jnp.asarray(x, dtype=jnp.float64)
    normed = rms_norm(values - jnp.mean(values, axis=-1, keepdims=True), gain, eps)
    return normed if bias is None else normed + jnp.asarray(bias, dtype=jnp.float64)


def one_step(
    tokens: Float[AnyArray, "token dim"],
    attention: Float[AnyArray, "token token"],
    w_vo: Float[AnyArray, "dim dim"],
    norm: Literal["rms", "layer"] | None = "rms",
    gain: Float[AnyArray, " dim"] | None = None,
    eps: float = 0.0,
) -> Float[jax.Array, "token dim"]:
    """One step of a single head: y_i = Norm(x_i + sum_j a_ij V x_j), that is Norm(X + A X V^T).

    Args: ``tokens`` (T, d); ``attention`` (T, T), query axis first; ``w_vo`` (d, d) is V; ``norm`` is "rms",
    "layer" or None (then no gain may be given); ``gain`` (d,) acts after the norm. Returns (T, d).
    Raises ValueError for another ``norm``, or a gain without a norm. theory.md section 0.

    Example:

    >>> one_step(np.eye(2), [[0.5, 0.5], [0.5, 0.5]], -np.eye(2), norm=None).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    x = jnp.asarray(tokens, dtype=jnp.float64)
    out = x + jnp.asarray(attention, dtype=jnp.float64) @ x @ jnp.asarray(w_vo, dtype=jnp.float64).T
    if norm == "rms":
        return rms_norm(out, gain, eps)
    if norm == "layer":
        return layer_norm(out, gain, None, eps)
    if norm is None and gain is None:
        return out
    if norm is None:
        raise ValueError(
            "Expected no gain without a norm, got a gain and norm=None; pass norm='rms' or 'layer'."
        )
    raise ValueError(f"Expected norm to be 'rms', 'layer' or None, got {norm!r}; choose one of the three.")
