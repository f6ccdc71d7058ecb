"""Where each architecture keeps its attention block, and how to read its weights into a `LayerWeights`.

A family is data: names of modules, whether a gain is stored as its difference from one, which optional parts it has.
Two layouts of the projections occur: GPT-2's fused one (weights input-first) and the separate one of all the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from numerics.checkpoint.record import LayerWeights

__all__ = ["FAMILIES", "Family", "layer_weights"]


@dataclass(frozen=True)
class Family:
    """Names of the modules of one architecture (transformers' names), from the base model down."""

    name: str
    blocks: str
    norm: str
    attention: str
    post_norm: str | None  # a norm of the block's output before it is added to the stream
    next_norm: str  # the norm that reads the stream after the attention block
    fused: bool = False
    layer_norm: bool = False
    gain_from_one: bool = False  # Gemma stores gain - 1
    soft_cap: bool = False  # the model applies attn_logit_softcapping (Gemma 3 keeps the setting without applying it)


def _llama_like(name: str, **parts: Any) -> Family:
    return Family(name, "layers", "input_layernorm", "self_attn", None, "post_attention_layernorm", **parts)


def _gemma_like(name: str, **parts: Any) -> Family:
    norms = ("post_attention_layernorm", "pre_feedforward_layernorm")
    return Family(name, "layers", "input_layernorm", "self_attn", *norms, gain_from_one=True, **parts)


# transformers' model_type -> family.
FAMILIES = {
    "gpt2": Family("gpt2", "h", "ln_1", "attn", None, "ln_2", fused=True, layer_norm=True),
    "llama": _llama_like("llama"),
    "mistral": _llama_like("mistral"),
    "gemma": _llama_like("gemma", gain_from_one=True),
    "gemma2": _gemma_like("gemma2", soft_cap=True),
    "gemma3_text": _gemma_like("gemma3"),
    "gemma3": _gemma_like("gemma3"),  # reads images too
}


def layer_weights(family: Family, block: Any, config: Any, layer: int) -> LayerWeights:
    """Read one block (a torch module) into float64 arrays.  `config` is the checkpoint's configuration."""
    attention, norm = getattr(block, family.attention), getattr(block, family.norm)
    post, following = family.post_norm and getattr(block, family.post_norm), getattr(block, family.next_norm)
    q_norm, k_norm = getattr(attention, "q_norm", None), getattr(attention, "k_norm", None)
    return LayerWeights(
        layer=layer,
        **(_fused(attention, config.num_attention_heads) if family.fused else _separate(attention)),
        q_norm=_gain(family, q_norm),
        k_norm=_gain(family, k_norm),
        qk_eps=0.0 if q_norm is None else _epsilon(q_norm),
        scale=float(attention.scaling),
        soft_cap=attention.attn_logit_softcapping if family.soft_cap else None,
        window=_window(family, attention, config),
        norm="layer" if family.layer_norm else "rms",
        norm_eps=_epsilon(norm),
        norm_gain=_gain(family, norm),
        norm_bias=_array(getattr(norm, "bias", None)),
        post_norm_gain=_gain(family, post),
        next_norm_gain=_gain(family, following),
        next_norm_bias=_array(getattr(following, "bias", None)),
    )


def _separate(attention: Any) -> dict[str, np.ndarray | None]:
    """q_proj, k_proj, v_proj (rows: head by head) and o_proj (columns: head by head)."""
    size = attention.head_dim

    def by_head(parameter: Any) -> np.ndarray | None:
        rows = _array(parameter)
        return None if rows is None else rows.reshape(len(rows) // size, size, *rows.shape[1:])

    output = _array(attention.o_proj.weight)
    return {
        **{f"w_{letter}": by_head(getattr(attention, f"{letter}_proj").weight) for letter in "qkv"},
        **{f"b_{letter}": by_head(getattr(attention, f"{letter}_proj").bias) for letter in "qkv"},
        "w_o": output.reshape(len(output), -1, size).transpose(1, 0, 2),
        "b_o": _array(attention.o_proj.bias),
    }


def _fused(attention: Any, heads: int) -> dict[str, np.ndarray | None]:
    """c_attn (dim, 3 dim): queries, keys, values side by side; c_proj (dim, dim): rows are head by head."""
    weights, biases = _array(attention.c_attn.weight), _array(attention.c_attn.bias)
    dim = len(weights)
    projections = weights.T.reshape(3, heads, dim // heads, dim)
    shifts = biases.reshape(3, heads, dim // heads)
    return {
        **{f"w_{letter}": part for letter, part in zip("qkv", projections, strict=True)},
        **{f"b_{letter}": part for letter, part in zip("qkv", shifts, strict=True)},
        "w_o": _array(attention.c_proj.weight).reshape(heads, dim // heads, dim).transpose(0, 2, 1),
        "b_o": _array(attention.c_proj.bias),
    }


def _window(family: Family, attention: Any, config: Any) -> int | None:
    """How many keys back a query sees, itself included: per layer in Gemma 2 and 3, one for all layers in Mistral."""
    if family.name == "mistral":
        return config.sliding_window
    return getattr(attention, "sliding_window", None)


def _gain(family: Family, norm: Any) -> Float[np.ndarray, " size"] | None:
    return None if norm is None else _array(norm.weight) + (1.0 if family.gain_from_one else 0.0)


def _epsilon(norm: Any) -> float:
    return float(norm.variance_epsilon if hasattr(norm, "variance_epsilon") else norm.eps)


def _array(parameter: Any) -> np.ndarray | None:
    return None if parameter is None else parameter.detach().double().numpy()
