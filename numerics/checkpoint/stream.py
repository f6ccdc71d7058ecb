"""The residual stream before a block's norm, as the theory's tokens: on the sphere, without gain (claim G3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.checkpoint.record import LayerWeights

__all__ = ["Stream", "stream", "without_gain"]


@dataclass(frozen=True, eq=False)
class Stream:
    """The residual stream split as C r_i = s_i n_i: `normalised` n_i and `scale` s_i.

    C = I under RMSNorm and centring over dimensions under LayerNorm; s_i = sqrt(mean((C r_i)^2) + eps), so that
    ‖n_i‖ falls short of sqrt(d) by the norm's epsilon.  No gain and no bias.
    """

    normalised: Float[np.ndarray, "token dim"]
    scale: Float[np.ndarray, " token"]


def stream(weights: LayerWeights, residual: Float[np.ndarray, "token dim"]) -> Stream:
    """Split the residual stream (T, d) by the norm of `weights`; raises ValueError unless that is rms or layer."""
    centred = np.asarray(residual, dtype=np.float64)
    if weights.norm not in ("rms", "layer"):
        raise ValueError(f"expected norm 'rms' or 'layer', got {weights.norm!r}; name the model's pre-attention norm")
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
