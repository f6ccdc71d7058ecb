"""What is extracted from one attention block of a checkpoint: weights per head, inputs, attention, output.

Everything a measurement needs is in these two records, as numpy arrays; nothing downstream imports torch.  Weights do
not depend on the text and are read once; a pass over a text gives one `LayerPass` per layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

__all__ = ["LayerPass", "LayerWeights", "Rotation"]


@dataclass(frozen=True, eq=False)
class Rotation:
    """RoPE as the model applies it: half-split pairs, the tables of the positions 0..n-1 (any scaling included)."""

    cos: Float[np.ndarray, "token rotary"]
    sin: Float[np.ndarray, "token rotary"]


@dataclass(frozen=True, eq=False)
class LayerWeights:
    """The attention block of one layer, in float64; query head h uses key/value head h // (heads // kv_heads).

    With x the pre-attention input (norm and gain applied), q = w_q[h] x + b_q[h], k and v likewise from the key/value
    head; queries and keys are then normalised (`q_norm`, `k_norm`: RMSNorm gains over head_dim, epsilon `qk_eps`) and
    rotated where the model does so; logits are scale * <q, k>, soft-capped as c tanh(. / c); the block adds
    sum_h w_o[h] sum_j a^h_ij v_j + b_o.
    """

    layer: int
    w_q: Float[np.ndarray, "head head_dim dim"]
    w_k: Float[np.ndarray, "kv_head head_dim dim"]
    w_v: Float[np.ndarray, "kv_head head_dim dim"]
    w_o: Float[np.ndarray, "head dim head_dim"]
    b_q: Float[np.ndarray, "head head_dim"] | None
    b_k: Float[np.ndarray, "kv_head head_dim"] | None
    b_v: Float[np.ndarray, "kv_head head_dim"] | None
    b_o: Float[np.ndarray, " dim"] | None
    q_norm: Float[np.ndarray, " head_dim"] | None
    k_norm: Float[np.ndarray, " head_dim"] | None
    qk_eps: float
    scale: float
    soft_cap: float | None
    window: int | None
    norm: str  # "rms" or "layer"
    norm_eps: float
    norm_gain: Float[np.ndarray, " dim"]
    norm_bias: Float[np.ndarray, " dim"] | None
    # RMSNorm on the block's output before it is added to the stream (Gemma 2 and 3), and the norm that reads the stream
    # after it (of the kind and epsilon of the block's own).
    post_norm_gain: Float[np.ndarray, " dim"] | None = None
    next_norm_gain: Float[np.ndarray, " dim"] | None = None
    next_norm_bias: Float[np.ndarray, " dim"] | None = None

    @property
    def heads(self) -> int:
        return len(self.w_q)

    def key_value(self, head: int) -> int:
        """The key/value head that query head `head` uses."""
        return head // (len(self.w_q) // len(self.w_k))


@dataclass(frozen=True, eq=False)
class LayerPass:
    """One layer on one text: what entered the attention block and what the model itself made of it.

    `attention` has the query axis first.  `output` is what the block computes before any norm that follows it;
    `residual` is the stream before the block's norm.  `visible[i, j]` says whether query i may see key j (causal,
    window).
    """

    layer: int
    residual: Float[np.ndarray, "token dim"]
    inputs: Float[np.ndarray, "token dim"]
    attention: Float[np.ndarray, "head token token"]
    output: Float[np.ndarray, "token dim"]
    visible: Bool[np.ndarray, "token token"]
    rotation: Rotation | None
