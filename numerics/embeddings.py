"""Real embeddings that ship with the package: SmolLM2-135M-Instruct, as extracted from 4-bit weights.

Llama architecture, 30 layers, 9 query heads on 3 key/value heads, d = 576, d_h = 64, RoPE base 100000, logit
scale 1/8. Inputs of attention are taken after RMSNorm and gain. Apache-2.0. Arrays keep their stored types
(float16 and float32 are exact rationals); the solvers read them in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from jaxtyping import Float, Int

__all__ = ["HeadWeights", "Paragraph", "Pool", "load_paragraph", "load_pool"]


@dataclass(frozen=True, eq=False)
class HeadWeights:
    """The projections of one query head and of the key/value head it uses, in float64."""

    w_q: Float[np.ndarray, "head dim"]
    w_k: Float[np.ndarray, "head dim"]
    w_v: Float[np.ndarray, "head dim"]
    w_o: Float[np.ndarray, "dim head"]

    @property
    def w_vo(self) -> Float[np.ndarray, "dim dim"]:
        """V = W_O W_V, so that the head adds sum_j a_ij V x_j."""
        return self.w_o @ self.w_v


@dataclass(frozen=True, eq=False)
class Paragraph:
    """One English paragraph: attention inputs and patterns of a few layers, and all of layer 15."""

    token_ids: Int[np.ndarray, " token"]
    tokens: tuple[str, ...]
    inputs: dict[int, Float[np.ndarray, "token dim"]]  # layer -> x; row 0 is the sink candidate
    attention: dict[int, Float[np.ndarray, "head token token"]]  # layer -> attention, query axis first
    residual: Float[np.ndarray, "token dim"]  # layer 15: the residual stream before the norm
    attention_output: Float[np.ndarray, "token dim"]  # layer 15: what the attention block adds to it
    norm_gain: Float[np.ndarray, " dim"]  # layer 15: the gain already applied in inputs[15]
    heads: tuple[HeadWeights, ...]  # layer 15


@dataclass(frozen=True, eq=False)
class Pool:
    """Attention inputs of one layer for many tokens of a long text, and the sink's."""

    layer: int
    tokens: Float[np.ndarray, "token dim"]  # without the sink
    sink: Float[np.ndarray, " dim"]


def load_paragraph() -> Paragraph:
    """The packaged paragraph (112 tokens, layers 0, 10, 15, 29; weights of layer 15).

    Example:

    >>> paragraph = load_paragraph()
    >>> paragraph.inputs[15].shape, paragraph.attention[15].shape, paragraph.tokens[0]
    ((112, 576), (9, 112, 112), '<|im_start|>')
    """
    data = _load("smollm2_dev.npz")
    layers = [int(layer) for layer in data["layers"]]
    w_q, w_k, w_v, w_o = (data[f"w_{name}_15"].astype(np.float64) for name in "qkvo")
    group = len(w_q) // len(w_k)
    return Paragraph(
        token_ids=data["token_ids"],
        tokens=tuple(str(token) for token in data["tokens"]),
        inputs={layer: data[f"x_{layer}"] for layer in layers},
        attention={layer: data[f"attn_{layer}"] for layer in layers},
        residual=data["resid_15"],
        attention_output=data["attn_out_15"],
        norm_gain=data["norm_gain_15"],
        heads=tuple(HeadWeights(w_q[h], w_k[h // group], w_v[h // group], w_o[h]) for h in range(len(w_q))),
    )


def load_pool() -> Pool:
    """The packaged pool: 1,500 attention inputs of layer 15 in float16, more than twice the dimension.

    Example:

    >>> pool = load_pool()
    >>> pool.layer, pool.tokens.shape, pool.sink.shape
    (15, (1500, 576), (576,))
    """
    data = _load("smollm2_pool15.npz")
    return Pool(layer=int(data["layer"]), tokens=data["x"], sink=data["x_sink"])


def _load(name: str) -> dict[str, np.ndarray]:
    with (
        (files("numerics") / "data" / name).open("rb") as stream,
        np.load(stream, allow_pickle=False) as archive,
    ):
        return {key: archive[key] for key in archive.files}
