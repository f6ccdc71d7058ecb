"""Tokens as the theory sees them: with gain (what enters attention), without (on the sphere), and their cosines (P1, G3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.checkpoint.record import LayerPass, LayerWeights
from numerics.moments import mean_off_diagonal, moment_cosines

__all__ = ["Spread", "Stream", "TokenCosines", "spread", "stream", "token_cosines", "without_gain"]


@dataclass(frozen=True)
class Spread:
    """Mean and extremes of a family of numbers."""

    mean: float
    least: float
    greatest: float


@dataclass(frozen=True, eq=False)
class Stream:
    """The residual stream before a block's norm, split as C r_i = s_i n_i: `normalised` n_i and `scale` s_i.

    C = I under RMSNorm and centring over dimensions under LayerNorm; s_i = sqrt(mean((C r_i)^2) + eps), so that
    ‖n_i‖ falls short of sqrt(d) by the norm's epsilon.  No gain and no bias.
    """

    normalised: Float[np.ndarray, "token dim"]
    scale: Float[np.ndarray, " token"]


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
        raise ValueError("Expected at least one number to summarise, got none; give at least two tokens.")
    return Spread(float(np.mean(numbers)), float(np.min(numbers)), float(np.max(numbers)))


def stream(weights: LayerWeights, residual: Float[np.ndarray, "token dim"]) -> Stream:
    """Split the residual stream (T, d) by the norm of `weights`; raises ValueError for a norm that is neither rms nor layer."""
    centred = np.asarray(residual, dtype=np.float64)
    if weights.norm not in ("rms", "layer"):
        raise ValueError(f"Expected norm 'rms' or 'layer', got {weights.norm!r}; name the model's pre-attention norm.")
    if weights.norm == "layer":
        centred = centred - centred.mean(axis=1, keepdims=True)
    scale = np.sqrt(np.mean(centred**2, axis=1) + weights.norm_eps)
    return Stream(centred / scale[:, None], scale)


def without_gain(weights: LayerWeights, inputs: Float[np.ndarray, "token dim"]) -> Float[np.ndarray, "token dim"]:
    """n_i recovered from x_i = Γ n_i + b; a dimension whose gain is 0 comes back 0, for x_i does not hold it."""
    moved = np.asarray(inputs, dtype=np.float64)
    if weights.norm_bias is not None:
        moved = moved - weights.norm_bias
    gain = weights.norm_gain
    return np.divide(moved, gain, out=np.zeros_like(moved), where=gain != 0)


def token_cosines(weights: LayerWeights, layer: LayerPass, sink: int = 0) -> TokenCosines:
    """P1 on one layer and text: cosines of token `sink` with every other token, and of the others among themselves.

    Raises ValueError for fewer than three tokens (a pair of others is needed).  theory.md P1, G3.
    """
    if len(layer.inputs) < 3:
        raise ValueError(f"Expected at least three tokens, got {len(layer.inputs)}; cosines of pairs beside the sink need two.")
    plain = stream(weights, layer.residual).normalised
    found = []
    for rows in (np.asarray(layer.inputs, dtype=np.float64), plain):
        cosines = moment_cosines(rows @ rows.T)
        others = np.delete(np.arange(len(rows)), sink)
        found += [spread(cosines[sink, others]), mean_off_diagonal(cosines[np.ix_(others, others)])]
    dim = plain.shape[1]
    deviation = float(np.abs(np.sum(plain**2, axis=1) / dim - 1.0).max())
    return TokenCosines(found[0], found[2], found[1], found[3], deviation)
