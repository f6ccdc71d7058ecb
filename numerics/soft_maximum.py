"""log sum exp and its softmax weights together, for numpy solvers that need both in every step."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

__all__ = ["soft_maximum"]


def soft_maximum(
    logits: Float[np.ndarray, "*row key"],
) -> tuple[Float[np.ndarray, "*row"], Float[np.ndarray, "*row key"]]:
    """(log sum_k e^{l_k}, its gradient the softmax) over the last axis, which needs one finite logit in each row.

    An entry of -inf has weight 0. One exponential serves both; scipy.special's ``logsumexp`` and ``softmax``
    would take two, and several times as long for the short rows that Newton's method meets.

    Example:

    >>> value, weights = soft_maximum(np.log([1.0, 3.0]))
    >>> float(np.exp(value)), weights.round(2).tolist()
    (4.0, [0.25, 0.75])
    """
    top = logits.max(axis=-1, keepdims=True)
    weights = np.exp(logits - top)
    total = weights.sum(axis=-1, keepdims=True)
    return (top + np.log(total))[..., 0], weights / total
