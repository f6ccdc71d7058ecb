"""Cosines of the sink with the others, with gain (what enters attention) and without (on the sphere, G3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.checkpoint.record import LayerPass, LayerWeights
from numerics.checkpoint.stream import stream
from numerics.moments import mean_off_diagonal, moment_cosines

__all__ = ["Spread", "TokenCosines", "spread", "token_cosines"]


@dataclass(frozen=True)
class Spread:
    """Mean and extremes of a family of numbers."""

    mean: float
    least: float
    greatest: float


@dataclass(frozen=True)
class TokenCosines:
    """cos(sink, other) with gain and bias (`gain`) and without (`plain`), and mean cosines over pairs of other tokens.

    `sphere` is the largest relative deviation of ‖n_i‖² from d over all tokens, sink included (0 on the sphere of G3).
    """

    gain: Spread
    plain: Spread
    pairs_gain: float
    pairs_plain: float
    sphere: float


def spread(numbers: Float[np.ndarray, " number"]) -> Spread:
    """Mean, minimum and maximum; raises ValueError when there is no number."""
    if np.size(numbers) == 0:
        raise ValueError("expected at least one number to summarise, got none; give at least two tokens")
    return Spread(float(np.mean(numbers)), float(np.min(numbers)), float(np.max(numbers)))


def token_cosines(weights: LayerWeights, layer: LayerPass, sink: int = 0) -> TokenCosines:
    """Cosines on one layer and text: those of token `sink` with every other token, and of the others among themselves.

    Raises ValueError for fewer than three tokens (a pair of others is needed).  Claim G3.
    """
    if len(layer.inputs) < 3:
        raise ValueError(
            f"expected at least three tokens, got {len(layer.inputs)}; cosines of pairs beside the sink need two"
        )
    plain = stream(weights, layer.residual).normalised
    found = []
    for rows in (np.asarray(layer.inputs, dtype=np.float64), plain):
        cosines = moment_cosines(rows @ rows.T)
        others = np.delete(np.arange(len(rows)), sink)
        found += [spread(cosines[sink, others]), mean_off_diagonal(cosines[np.ix_(others, others)])]
    dim = plain.shape[1]
    deviation = float(np.abs(np.sum(plain**2, axis=1) / dim - 1.0).max())
    return TokenCosines(found[0], found[2], found[1], found[3], deviation)
