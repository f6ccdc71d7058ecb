"""A block with random weights and a pass over random tokens, from the definitions, without torch. For tests only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from numerics.checkpoint.record import LayerPass, LayerWeights, Rotation

HEADS, GROUPS, RANK, DIM, TOKENS = 6, 2, 5, 18, 23


def weights(seed: int = 0, *, norm: str = "rms", biases: bool = False, **changes: object) -> LayerWeights:
    rng = np.random.default_rng(seed)

    def drawn(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape) / np.sqrt(shape[-1])

    def optional(*shape: int) -> np.ndarray | None:
        return 0.3 * rng.standard_normal(shape) if biases else None

    made = LayerWeights(
        layer=0,
        w_q=drawn(HEADS, RANK, DIM),
        w_k=drawn(GROUPS, RANK, DIM),
        w_v=drawn(GROUPS, RANK, DIM),
        w_o=drawn(HEADS, DIM, RANK),
        b_q=optional(HEADS, RANK),
        b_k=optional(GROUPS, RANK),
        b_v=optional(GROUPS, RANK),
        b_o=optional(DIM),
        q_norm=None,
        k_norm=None,
        qk_eps=0.0,
        scale=RANK**-0.5,
        soft_cap=None,
        window=None,
        norm=norm,
        norm_eps=0.0,
        norm_gain=1.0 + 0.3 * rng.standard_normal(DIM),
        norm_bias=optional(DIM),
    )
    return replace(made, **changes)


def passed(block: LayerWeights, residual: np.ndarray, rotation: Rotation | None = None) -> LayerPass:
    """The pass of a causal block without RoPE, written out with loops."""
    count = len(residual)
    centred = residual - residual.mean(axis=1, keepdims=True) if block.norm == "layer" else residual
    inputs = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + block.norm_eps) * block.norm_gain
    inputs = inputs if block.norm_bias is None else inputs + block.norm_bias
    visible = np.tril(np.ones((count, count), dtype=bool))
    if block.window is not None:
        visible &= ~np.tril(np.ones((count, count), dtype=bool), -block.window)
    attention, output = np.zeros((block.heads, count, count)), np.zeros_like(inputs)
    for head in range(block.heads):
        group = head // (block.heads // len(block.w_k))
        queries = inputs @ block.w_q[head].T + (0 if block.b_q is None else block.b_q[head])
        keys = inputs @ block.w_k[group].T + (0 if block.b_k is None else block.b_k[group])
        values = inputs @ block.w_v[group].T + (0 if block.b_v is None else block.b_v[group])
        scores = np.where(visible, np.exp(block.scale * queries @ keys.T), 0.0)
        attention[head] = scores / scores.sum(axis=1, keepdims=True)
        output += attention[head] @ values @ block.w_o[head].T
    output = output if block.b_o is None else output + block.b_o
    return LayerPass(0, residual, inputs, attention, output, visible, rotation)


def tokens(seed: int = 1, count: int = TOKENS, dim: int = DIM, common: float = 0.6) -> np.ndarray:
    """Residual rows with a common direction and lengths that differ."""
    rng = np.random.default_rng(seed)
    rows = common * np.ones(dim) + rng.standard_normal((count, dim))
    return rows * rng.uniform(0.5, 2.0, (count, 1))


def tables(count: int, size: int, base: float) -> Rotation:
    angle = np.arange(count)[:, None] * base ** (-np.arange(size // 2) / (size // 2))
    angle = np.concatenate([angle, angle], axis=1)
    return Rotation(np.cos(angle), np.sin(angle))
