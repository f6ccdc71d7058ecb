"""Values of one head on one text: ‖v_s‖ against ‖v_j‖, rank, half-space, and the output beside the sink's mass."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.checkpoint.record import LayerPass, LayerWeights
from numerics.hull import min_norm_point

__all__ = ["HeadValues", "head_values", "value_coordinates"]


@dataclass(frozen=True)
class HeadValues:
    """v_j = W_O W_V x_j without bias (a bias makes "off" mean a constant output).

    `norm_ratio` is ‖v_s‖ / mean‖v_j‖ over content keys j; `rank` that of the content values, `count` how many there
    are; `half_space` says whether zero is outside the hull of this text's content values (None: undecided in float64);
    `output_ratio` is mean‖o_i‖ / mean‖v_j‖ over content queries, and `correlation` that of 1 - a_is with ‖o_i‖ (None
    when one of them does not vary): a description of the text, not a cause.
    """

    norm_ratio: float
    rank: int
    count: int
    half_space: bool | None
    output_ratio: float
    correlation: float | None


def value_coordinates(
    weights: LayerWeights, inputs: Float[np.ndarray, "token dim"]
) -> Float[np.ndarray, "kv_head token head_dim"]:
    """W_V x_j of every key/value head: v_j in the head's own coordinates.

    Where W_O has full column rank a half-space of these is one of the v_j, and the ranks agree.
    """
    return np.einsum("hrd,td->htr", weights.w_v, np.asarray(inputs, dtype=np.float64))


def head_values(weights: LayerWeights, layer: LayerPass, sink: int = 0) -> list[HeadValues]:
    """One record per query head. Raises ValueError for fewer than three tokens. Claims E2, E3."""
    count = len(layer.inputs)
    if count < 3:
        raise ValueError(
            f"expected at least three tokens, got {count}; two content values are needed beside the sink's"
        )
    content = np.delete(np.arange(count), sink)
    own = value_coordinates(weights, layer.inputs)
    shared = [(int(np.linalg.matrix_rank(z[content])), _half_space(z[content])) for z in own]
    found = []
    for head in range(weights.heads):
        group = weights.key_value(head)
        lengths = np.linalg.norm(own[group] @ weights.w_o[head].T, axis=1)
        mean = float(lengths[content].mean())
        attention = np.asarray(layer.attention[head], dtype=np.float64)[content]
        outputs = np.linalg.norm(attention @ own[group] @ weights.w_o[head].T, axis=1)
        rank, separated = shared[group]
        scale = mean if mean > 0 else math.nan
        found.append(
            HeadValues(
                float(lengths[sink] / scale),
                rank,
                len(content),
                separated,
                float(outputs.mean() / scale),
                _correlation(1 - attention[:, sink], outputs),
            )
        )
    return found


def _half_space(rows: np.ndarray) -> bool | None:
    return {"separated": True, "contains_zero": False, "undecided": None}[min_norm_point(rows).status]


def _correlation(left: np.ndarray, right: np.ndarray) -> float | None:
    if left.std() <= 1e-12 or right.std() <= 1e-12 * max(float(right.mean()), np.finfo(float).tiny):
        return None
    return float(np.corrcoef(left, right)[0, 1])
