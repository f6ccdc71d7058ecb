"""Anderson acceleration of a fixed-point iteration z <- F(z): extrapolation from the last few steps.

The proposal is sum_k a_k F(z_k) with weights summing to 1 that minimise ||sum_k a_k (F(z_k) - z_k)||. It is
only a proposal: the caller keeps it if the residual there is no larger, so that convergence is never lost by
it.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

__all__ = ["Anderson"]

_REGULARISATION = 1e-10


class Anderson:
    """Differences of the last ``memory`` steps; a proposal every ``period`` of them."""

    def __init__(self, memory: int = 10, period: int = 5) -> None:
        self.memory, self.period = memory, period
        self.reset()

    def reset(self) -> None:
        """Forget the past, as one must when F has changed."""
        self._residuals: list[np.ndarray] = []  # differences of consecutive residuals F(z) - z
        self._images: list[np.ndarray] = []  # differences of consecutive F(z)
        self._last: tuple[np.ndarray, np.ndarray] | None = None
        self._age = 0

    def propose(self, residual: Float[np.ndarray, " n"], image: Float[np.ndarray, " n"]) -> np.ndarray | None:
        """Record one step (F(z) - z, F(z)); return an extrapolated point when one is due, else None."""
        if self._last is not None:
            self._residuals.append(residual - self._last[0])
            self._images.append(image - self._last[1])
            if len(self._residuals) > self.memory:
                del self._residuals[0], self._images[0]
        self._last = (residual, image)
        self._age += 1
        if self._age % self.period or len(self._residuals) < 2:
            return None
        steps = np.array(self._residuals)
        gram = steps @ steps.T
        gram[np.diag_indices_from(gram)] += _REGULARISATION * float(np.trace(gram)) + 1e-300
        weights = np.linalg.solve(gram, steps @ residual)
        proposal = image - weights @ np.array(self._images)
        return proposal if np.isfinite(proposal).all() else None
