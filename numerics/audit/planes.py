"""RoPE's planes at a text's distances: how many turn slowly enough for the sink head of G6."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from numerics.checkpoint.record import Rotation

__all__ = ["Planes", "rotary_planes"]


@dataclass(frozen=True)
class Planes:
    """`total` rotary planes, `slow` of which turn by less than π/2 over the text; `factor`: the best cos(nθ), or 0."""

    total: int
    slow: int
    factor: float


def rotary_planes(rotation: Rotation, distance: int) -> Planes:
    """G6 (causal, sink first): planes with nθ < π/2 for n = `distance`, the largest distance to the sink.

    θ is read from the model's own tables at position 1, so that any frequency scaling is included; a factor on the
    tables cancels.  Raises ValueError when the tables hold fewer than two positions.
    """
    if len(rotation.cos) < 2:
        raise ValueError(
            f"expected rotary tables of at least two positions, got {len(rotation.cos)}; give a longer text"
        )
    half = rotation.cos.shape[1] // 2
    angles = np.abs(np.arctan2(rotation.sin[1, :half], rotation.cos[1, :half])) * distance
    slow = angles < math.pi / 2
    return Planes(half, int(slow.sum()), float(np.cos(angles[slow].min())) if slow.any() else 0.0)
