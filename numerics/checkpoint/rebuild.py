"""The extraction check: what a layer's record must give back, rebuilt in float64 and compared with the model's own.

Each link is rebuilt from what the model had before it, so that the link that was misread is named: the pre-attention
input from the residual stream; attention and output from the model's pre-attention input.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from numerics.attention import softmax_attention
from numerics.checkpoint.record import LayerPass, LayerWeights, Rotation
from numerics.checkpoint.stream import stream
from numerics.layer import rms_norm

__all__ = ["Agreement", "ExtractionError", "check_extraction", "head_logits", "mix_values", "rebuild", "visible_keys"]

MISREAD = "this checkpoint is not read correctly, so nothing is measured"


class ExtractionError(ValueError):
    """What was extracted does not give back what the model computed; the message names layer, head and error."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Largest differences between a layer as the model computed it and as rebuilt from its record.

    ``input_error`` and ``output_error`` are max|difference| / max|model's|; ``attention_error[h]`` is max|difference|
    of head h, for attention is a probability.
    """

    layer: int
    input_error: float
    attention_error: Float[np.ndarray, " head"]
    output_error: float

    @property
    def worst_head(self) -> int:
        """The head whose attention differs most (NaN counts as most)."""
        return int(np.argmax(np.nan_to_num(self.attention_error, nan=np.inf)))


def visible_keys(count: int, window: int | None) -> Bool[np.ndarray, "token token"]:
    """Causal visibility, query first: key j is seen by query i iff 0 <= i - j, and i - j < window if there is one."""
    lag = np.arange(count)[:, None] - np.arange(count)[None, :]
    return (lag >= 0) & (lag < (count if window is None else window))


def head_logits(
    weights: LayerWeights, inputs: Float[np.ndarray, "token dim"], rotation: Rotation | None
) -> Float[np.ndarray, "head token token"]:
    """Logits of all heads, query first, before the mask: scale <q, k> with bias, qk-norm, RoPE, then the soft cap."""
    x = np.asarray(inputs, dtype=np.float64)
    queries = _rotated(_qk_normed(_projected(x, weights.w_q, weights.b_q), weights.q_norm, weights.qk_eps), rotation)
    keys = _rotated(_qk_normed(_projected(x, weights.w_k, weights.b_k), weights.k_norm, weights.qk_eps), rotation)
    shared = [weights.key_value(head) for head in range(weights.heads)]
    logits = weights.scale * (queries @ keys[shared].transpose(0, 2, 1))
    return logits if weights.soft_cap is None else weights.soft_cap * np.tanh(logits / weights.soft_cap)


def mix_values(
    weights: LayerWeights, inputs: Float[np.ndarray, "token dim"], attention: Float[np.ndarray, "head token token"]
) -> Float[np.ndarray, "token dim"]:
    """The block's output for given attention: sum_h w_o[h] sum_j a^h_ij v_j + b_o, before any norm that follows it."""
    values = _projected(np.asarray(inputs, dtype=np.float64), weights.w_v, weights.b_v)
    shared = [weights.key_value(head) for head in range(weights.heads)]
    output = np.einsum("htk,hdk->td", attention @ values[shared], weights.w_o, optimize=True)
    return output if weights.b_o is None else output + weights.b_o


def rebuild(
    weights: LayerWeights, layer: LayerPass
) -> tuple[Float[np.ndarray, "head token token"], Float[np.ndarray, "token dim"]]:
    """Attention and output of a block in float64 from its pre-attention input and its weights alone.

    The mask is the causal one with the window of ``weights``; the rotation is the layer's (the model's positions).
    """
    count = len(layer.inputs)
    logits = head_logits(weights, layer.inputs, layer.rotation)
    rows, visible = logits.reshape(-1, count), np.tile(visible_keys(count, weights.window), (weights.heads, 1))
    attention = np.asarray(softmax_attention(rows, visible)).reshape(logits.shape)
    return attention, mix_values(weights, layer.inputs, attention)


def check_extraction(weights: LayerWeights, layer: LayerPass, tol: float = 1e-5) -> Agreement:
    """Compare a layer's record with the model's own input, attention, mask and output.

    Returns the differences.  Raises ExtractionError unless each is at most ``tol`` (NaN is refused) and the model's
    mask is the causal one with the window of ``weights``; the message names the layer, the head and the error.
    """
    attention, output = rebuild(weights, layer)
    inputs = stream(weights, layer.residual).normalised * weights.norm_gain
    inputs = inputs if weights.norm_bias is None else inputs + weights.norm_bias
    found = Agreement(
        layer=layer.layer,
        input_error=_relative(inputs, layer.inputs),
        attention_error=np.abs(attention - layer.attention).max(axis=(1, 2)),
        output_error=_relative(output, layer.output),
    )
    head = found.worst_head
    named = {
        "the pre-attention input": found.input_error,
        f"head {head}: the attention": float(found.attention_error[head]),
        "the block's output": found.output_error,
    }
    for part, error in named.items():
        if not error <= tol:
            raise ExtractionError(f"Layer {layer.layer}, {part} rebuilt from the extracted weights differs from the"
                                  f" model's by {error:.3g}, more than {tol:g}; {MISREAD}")
    if not np.array_equal(layer.visible, visible_keys(len(layer.inputs), weights.window)):
        raise ExtractionError(f"Layer {layer.layer}: the model's mask is not the causal one with the extracted window"
                              f" {weights.window}; {MISREAD}")
    return found


def _projected(
    x: Float[np.ndarray, "token dim"],
    weights: Float[np.ndarray, "head size dim"],
    bias: Float[np.ndarray, "head size"] | None,
) -> Float[np.ndarray, "head token size"]:
    projected = x @ weights.transpose(0, 2, 1)
    return projected if bias is None else projected + bias[:, None, :]


def _qk_normed(
    vectors: Float[np.ndarray, "head token size"], gain: Float[np.ndarray, " size"] | None, eps: float
) -> Float[np.ndarray, "head token size"]:
    return vectors if gain is None else np.asarray(rms_norm(vectors, gain, eps))


def _rotated(
    vectors: Float[np.ndarray, "head token size"], rotation: Rotation | None
) -> Float[np.ndarray, "head token size"]:
    """RoPE in half-split layout: the pair (k, k + size/2) turns counterclockwise by the angle of position and k."""
    if rotation is None:
        return vectors
    first, second = np.split(vectors, 2, axis=-1)
    return vectors * rotation.cos + np.concatenate([-second, first], axis=-1) * rotation.sin


def _relative(rebuilt: np.ndarray, model: np.ndarray) -> float:
    return float(np.abs(rebuilt - model).max() / max(np.abs(model).max(), np.finfo(np.float64).tiny))
