"""One transformer step as the theory has it: attention, residual, normalisation.

Pure float64 functions that run under ``jax.jit``, ``jax.vmap`` and ``jax.grad`` (``norm`` is a static string).  Source:
arXiv 2605.08453, our reconstruction.
"""

from __future__ import annotations

from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from numerics.arguments import is_traced, real_arrays

__all__ = ["layer_norm", "one_step", "rms_norm"]

AnyArray = jax.Array | np.ndarray


def rms_norm(
    x: Float[AnyArray, "*batch dim"], gain: Float[AnyArray, " dim"] | None = None, eps: float = 0.0
) -> Float[jax.Array, "*batch dim"]:
    """Root-mean-square normalisation over the last axis: g * x / sqrt(mean(x^2) + eps).

    With eps=0 and no gain the output has norm sqrt(d) exactly; with eps>0 it falls short of it, which is why
    the default is 0 (claim G3: eps>0 breaks the sphere). A zero vector has no direction: NaN at eps=0.

    Args: ``x`` (..., d); ``gain`` (d,) multiplies after the norm (None: ones); ``eps`` >= 0 in units of x
    squared. Returns the shape of ``x``. Raises ValueError for a gain of another size, NaN or infinity, eps < 0.

    Example:

    >>> rms_norm([3.0, 4.0]).round(6).tolist()
    [0.848528, 1.131371]
    """
    _require_eps(eps)
    values, scale = _vectors(("x", x, "*batch dim"), ("gain", gain, "dim?"))
    scaled = values / jnp.sqrt(jnp.mean(values**2, axis=-1, keepdims=True) + eps)
    return scaled if scale is None else scaled * scale


def layer_norm(
    x: Float[AnyArray, "*batch dim"],
    gain: Float[AnyArray, " dim"] | None = None,
    bias: Float[AnyArray, " dim"] | None = None,
    eps: float = 0.0,
) -> Float[jax.Array, "*batch dim"]:
    """Layer normalisation over the last axis: g * Cx / sqrt(mean((Cx)^2) + eps) + b, C = I - 1 1^T / d.

    It is ``rms_norm`` after centring; a constant vector gives NaN at eps=0 because Cx = 0 has no direction.
    Shapes, units and errors as there; ``bias`` (d,) is added last. arXiv 2605.08453, our reconstruction.

    Example:

    >>> layer_norm([1.0, 3.0]).tolist()
    [-1.0, 1.0]
    """
    values, scale, shift = _vectors(("x", x, "*batch dim"), ("gain", gain, "dim?"), ("bias", bias, "dim?"))
    normed = rms_norm(values - jnp.mean(values, axis=-1, keepdims=True), scale, eps)
    return normed if shift is None else normed + shift


def one_step(
    tokens: Float[AnyArray, "token dim"],
    attention: Float[AnyArray, "token token"],
    w_vo: Float[AnyArray, "dim dim"],
    norm: Literal["rms", "layer"] | None = "rms",
    gain: Float[AnyArray, " dim"] | None = None,
    eps: float = 0.0,
) -> Float[jax.Array, "token dim"]:
    """One step of a single head: y_i = Norm(x_i + sum_j a_ij V x_j), that is Norm(X + A X V^T).

    Args: ``tokens`` (T, d); ``attention`` (T, T), query axis first (any weights: rows need not lie on the
    simplex); ``w_vo`` (d, d) is V; ``norm`` is "rms", "layer" or None (then no gain may be given); ``gain`` (d,)
    acts after the norm; ``eps`` as in ``rms_norm``. Returns (T, d); a row whose output is 0 is NaN at eps=0.
    Raises ValueError for shapes that do not fit, NaN or infinity, another ``norm``, or a gain without a norm.
    arXiv 2605.08453, our reconstruction.

    Example:

    >>> one_step(np.eye(2), [[0.5, 0.5], [0.5, 0.5]], -np.eye(2), norm=None).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """
    x, a, v = _vectors(
        ("tokens", tokens, "token dim"), ("attention", attention, "token token"), ("w_vo", w_vo, "dim dim"))
    out = x + a @ x @ v.T
    if norm == "rms":
        return rms_norm(out, gain, eps)
    if norm == "layer":
        return layer_norm(out, gain, None, eps)
    if norm is None and gain is None:
        return out
    if norm is None:
        raise ValueError(
            "expected no gain without a norm, got a gain and norm=None; pass norm='rms' or 'layer'"
        )
    raise ValueError(f"expected norm to be 'rms', 'layer' or None, got {norm!r}; choose one of the three")


def _vectors(*given: tuple[str, object, str]) -> list[jax.Array | None]:
    return [None if array is None else jnp.asarray(array) for array in real_arrays(*given)]


def _require_eps(eps: float | jax.Array) -> None:
    if not is_traced(eps) and not eps >= 0.0:
        raise ValueError(f"expected eps >= 0, got {eps}; it is added to a mean of squares")
