"""Attention matrices: the softmax of bilinear logits, and the fixed patterns the theory compares.

Every matrix here has the query axis first and rows on the simplex (arXiv 2605.08453, our reconstruction). The
functions are pure and float64; those that take arrays run under ``jax.jit`` and ``jax.vmap`` (sizes are static).
A number of tokens must be a whole number >= 1: ValueError otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from numerics.arguments import is_traced, real_array, real_arrays, row_number, whole_number

__all__ = [
    "banded_attention",
    "block_attention",
    "causal_mask",
    "causal_uniform_attention",
    "diagonal_attention",
    "logits",
    "mixed_attention",
    "require_row_stochastic",
    "sink_attention",
    "softmax_attention",
    "uniform_attention",
]

AnyArray = jax.Array | np.ndarray
Scalar = float | jax.Array


def logits(
    tokens: Float[AnyArray, "token dim"], w_qk: Float[AnyArray, "dim dim"], kappa: Scalar = 1.0
) -> Float[jax.Array, "token token"]:
    """Bilinear logits without position: l_ij = kappa * x_i^T W x_j.

    Args: ``tokens`` (T, d) as they enter attention (norm and gain applied); ``w_qk`` (d, d) is W; ``kappa``
    is the logit scale (1, or 1/sqrt(head dimension)). Returns (T, T), query axis first. Raises ValueError for
    shapes that do not fit, NaN or infinity. arXiv 2605.08453, our reconstruction.

    Example:

    >>> logits([[1., 0.], [0., 2.]], np.eye(2)).tolist()
    [[1.0, 0.0], [0.0, 4.0]]
    """
    x, w = map(jnp.asarray, real_arrays(("tokens", tokens, "token dim"), ("w_qk", w_qk, "dim dim")))
    return kappa * (x @ w @ x.T)


def softmax_attention(
    logits: Float[AnyArray, "query key"], mask: Bool[AnyArray, "query key"] | None = None
) -> Float[jax.Array, "query key"]:
    """Row-wise softmax over the visible keys: a_ij = e^{l_ij} / sum_{k visible} e^{l_ik}, and 0 where masked.

    Args: ``logits`` (queries, keys), natural logarithms of unnormalised weights (-inf: weight 0); boolean
    ``mask`` of the same shape, True where the query sees the key (None: all). Each row must see a key: a row
    that sees none has no softmax and comes back NaN, never as a made-up row. Returns rows on the simplex,
    query axis first. Raises ValueError for another rank, another mask, NaN or +inf. arXiv 2605.08453, our
    reconstruction.

    Example:

    >>> softmax_attention(np.zeros((2, 2)), causal_mask(2)).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    scores = jnp.asarray(real_arrays(("logits", logits, "query key"), minus_infinity=True)[0])
    if mask is None:
        return jax.nn.softmax(scores, axis=-1)
    visible = jnp.asarray(mask)
    # A mask to be added (0 where a key is seen, -inf where not) would read as its own complement.
    if visible.dtype != bool or visible.shape != scores.shape:
        raise ValueError(f"expected a boolean mask of shape {scores.shape}, True where the query sees the key, got"
                         f" dtype {visible.dtype} and shape {visible.shape}; build it like causal_mask")
    peak = jnp.max(scores, axis=-1, keepdims=True, where=visible, initial=-jnp.inf)
    # Masked scores are replaced before the exponential, so that their gradient is 0 and not 0 * inf.
    weights = jnp.where(visible, jnp.exp(jnp.where(visible, scores - peak, 0.0)), 0.0)
    return weights / jnp.sum(weights, axis=-1, keepdims=True)


def causal_mask(num_tokens: int) -> Bool[jax.Array, "query key"]:
    """The causal mask: query i sees key j iff j <= i, its own token included (T, T).

    Example:

    >>> causal_mask(2).tolist()
    [[True, False], [True, True]]
    """
    return jnp.tril(jnp.ones((_size(num_tokens),) * 2, dtype=bool))


def uniform_attention(num_tokens: int) -> Float[jax.Array, "query key"]:
    """Uniform attention A = 1 1^T / T.

    Example:

    >>> uniform_attention(2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    return jnp.full((_size(num_tokens),) * 2, 1.0 / num_tokens)


def diagonal_attention(num_tokens: int) -> Float[jax.Array, "query key"]:
    """Diagonal attention A = I: each token attends to itself.

    Example:

    >>> diagonal_attention(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return jnp.eye(_size(num_tokens))


def sink_attention(num_tokens: int, sink: int = 0) -> Float[jax.Array, "query key"]:
    """Sink attention A = 1 e_s^T: each token attends to token ``sink`` alone.

    Example:

    >>> sink_attention(2).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    sink = row_number("the sink", sink, _size(num_tokens))
    return jnp.zeros((num_tokens, num_tokens)).at[:, sink].set(1.0)


def mixed_attention(num_tokens: int, t: Scalar) -> Float[jax.Array, "query key"]:
    """The mix A_t = (1-t) I + t 1 1^T / T between diagonal (t=0) and uniform (t=1); ``t`` may be traced.

    Raises ValueError for t outside [0, 1], where rows leave the simplex. Claim O4.

    Example:

    >>> mixed_attention(2, 0.5).tolist()
    [[0.75, 0.25], [0.25, 0.75]]
    """
    if not is_traced(t) and not 0.0 <= t <= 1.0:
        raise ValueError(f"expected t in [0, 1], got {t}; 0 is the diagonal and 1 uniform attention")
    return (1.0 - t) * diagonal_attention(num_tokens) + t * uniform_attention(num_tokens)


def causal_uniform_attention(num_tokens: int) -> Float[jax.Array, "query key"]:
    """Uniform attention under the causal mask: a_ij = 1/i for j <= i (1-based), the Cesaro matrix.

    Example:

    >>> causal_uniform_attention(2).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    return _uniform_over(causal_mask(num_tokens))


def banded_attention(num_tokens: int, width: int, causal: bool = False) -> Float[jax.Array, "query key"]:
    """Uniform attention over a band: query i sees keys with |i-j| < width, or 0 <= i-j < width if ``causal``.

    Width 1 is the diagonal; a width of at least T is uniform (causal uniform if ``causal``). Rows near the
    border see fewer keys and still sum to 1. Raises ValueError for a width below 1.
    """
    if width < 1:
        raise ValueError(f"expected a band width of at least 1, got {width}; width 1 is the diagonal")
    position = jnp.arange(_size(num_tokens))
    lag = position[:, None] - position[None, :]
    band = (lag >= 0) & (lag < width) if causal else jnp.abs(lag) < width
    return _uniform_over(band)


def block_attention(sizes: Sequence[int]) -> Float[jax.Array, "query key"]:
    """Block-uniform attention over consecutive blocks of the given sizes: a_ij = 1/size within a block.

    Raises ValueError unless ``sizes`` is a non-empty list of positive integers.
    """
    if len(sizes) == 0 or min(sizes) < 1:
        raise ValueError(
            f"expected a non-empty list of block sizes >= 1, got {list(sizes)}; drop empty blocks"
        )
    label = jnp.asarray(np.repeat(np.arange(len(sizes)), sizes))
    return _uniform_over(label[:, None] == label[None, :])


def require_row_stochastic(
    attention: Float[AnyArray, "query key"], tolerance: float = 1e-9
) -> Float[jax.Array, "query key"]:
    """Return ``attention`` as float64 if its rows lie on the simplex to within ``tolerance``, else raise.

    Accepts iff min_ij a_ij >= -tolerance and max_i |sum_j a_ij - 1| <= tolerance (float16 extractions need a
    tolerance near T * 2^-11). Raises ValueError on wrong rank, NaN, a negative entry, or a row sum off 1.
    """
    weights = real_array("attention", attention, "query key")
    lowest = float(weights.min())
    row_error = float(np.abs(weights.sum(axis=1) - 1.0).max())
    if not (lowest >= -tolerance and row_error <= tolerance):
        raise ValueError(
            f"expected attention rows on the simplex to within {tolerance:g}, got least entry {lowest:g} and"
            f" largest |row sum - 1| = {row_error:g}; apply the softmax over the visible keys first"
        )
    return jnp.asarray(weights)


def _uniform_over(visible: Bool[jax.Array, "query key"]) -> Float[jax.Array, "query key"]:
    return visible / jnp.sum(visible, axis=-1, keepdims=True, dtype=jnp.float64)


def _size(num_tokens: int) -> int:
    return whole_number("the number of tokens", num_tokens, 1, "pass the number of rows of the attention")
