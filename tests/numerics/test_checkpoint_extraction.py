"""The extraction check: it accepts six architectures as they are, and refuses each part misread."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import checkpoint_models
import numpy as np
import pytest
from beartype import beartype
from jaxtyping import TypeCheckError, jaxtyped

from numerics.checkpoint import (
    ExtractionError,
    LayerPass,
    LayerWeights,
    Rotation,
    check_extraction,
    open_checkpoint,
    rebuild,
)
from numerics.checkpoint.rebuild import head_logits, mix_values, visible_keys
from numerics.rope import llama_rope_logits

Block = tuple[LayerWeights, LayerPass]


@pytest.fixture(scope="module")
def blocks(tiny_checkpoint: Callable[[str], Path]) -> dict[str, list[Block]]:
    """Every layer of every family on one text, with BOS in front."""
    found = {}
    for family in checkpoint_models.FAMILIES:
        opened, passes = open_checkpoint(tiny_checkpoint(family)), []
        opened.run([opened.bos_id, *opened.encode(checkpoint_models.TEXT)], passes.append)
        found[family] = [(opened.weights(seen.layer), seen) for seen in passes]
    return found


@pytest.mark.parametrize("family", checkpoint_models.FAMILIES)
def test_the_record_of_every_layer_gives_back_what_the_model_computed(blocks, family):
    assert len(blocks[family]) == 3
    for weights, seen in blocks[family]:
        found = check_extraction(weights, seen, 1e-5)
        assert found.layer == seen.layer and found.attention_error.shape == (6,)
        assert found.attention_error[found.worst_head] == found.attention_error.max()


@pytest.mark.parametrize("family", checkpoint_models.FAMILIES)
def test_the_models_have_the_parts_that_the_check_is_meant_for(blocks, family):
    weights = [block[0] for block in blocks[family]]
    expected = {  # key/value heads, head dimension, windows, soft cap, qk-norm, bias, norm after the block
        "gpt2": (6, 6, [None] * 3, None, False, True, False),
        "llama": (2, 10, [None] * 3, None, False, False, False),
        "mistral": (3, 8, [7] * 3, None, False, False, False),
        "gemma": (1, 14, [None] * 3, None, False, False, False),
        "gemma2": (2, 10, [7, None, 7], 2.0, False, False, True),
        "gemma3": (3, 8, [7, None, 7], None, True, False, True),
    }
    first = weights[0]
    assert expected[family] == (len(first.w_k), first.w_k.shape[1], [layer.window for layer in weights], first.soft_cap,
                                first.q_norm is not None, first.b_q is not None, first.post_norm_gain is not None)
    assert first.scale == pytest.approx(5**-0.5 if family in ("gemma2", "gemma3") else first.w_q.shape[1] ** -0.5)
    assert first.norm == ("layer" if family == "gpt2" else "rms")
    assert (blocks[family][0][1].rotation is None) == (family == "gpt2")


def test_local_and_global_layers_of_gemma3_turn_at_their_own_rates(blocks):
    local, wide, _ = (seen.rotation for _, seen in blocks["gemma3"])
    # The second of four planes turns by base^(-1/4) per position.
    assert np.arccos(local.cos[1, 1]) == pytest.approx(10.0**-0.25, rel=1e-6)
    assert np.arccos(wide.cos[1, 1]) == pytest.approx(1000.0**-0.25, rel=1e-5)


@pytest.mark.parametrize(("family", "settings", "expected"), [
    ("llama", {"attention_bias": True}, {"b_q": (6, 10), "b_k": (2, 10), "b_v": (2, 10), "b_o": (36,)}),
    ("llama", {"rope_parameters": {"rope_type": "yarn", "rope_theta": 100.0, "factor": 4.0,
                                   "original_max_position_embeddings": 24}}, {}),
    ("mistral", {"sliding_window": None}, {"window": None}),
    ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, {"scale": 6**-0.5 / 3}),
    ("gpt2", {"scale_attn_weights": False}, {"scale": 1.0}),
    ("gemma2", {"attn_logit_softcapping": None}, {"soft_cap": None}),
])
def test_the_variants_a_configuration_can_ask_for_are_read(tiny_checkpoint, tmp_path, family, settings, expected):
    opened = open_checkpoint(checkpoint_models.save(family, tmp_path, **settings))
    opened.run(opened.encode(checkpoint_models.TEXT),
               lambda seen: check_extraction(opened.weights(seen.layer), seen, 1e-5))
    weights = opened.weights(2)
    for name, value in expected.items():
        found = getattr(weights, name)
        assert (found.shape if isinstance(found, np.ndarray) else found) == (
            pytest.approx(value) if isinstance(value, float) else value), name


def other(array: np.ndarray | None) -> np.ndarray:
    assert array is not None
    return np.roll(array, 1, axis=0)


def without_rope(weights: LayerWeights, seen: LayerPass) -> Block:
    return weights, dataclasses.replace(seen, rotation=None)


def backwards_rope(weights: LayerWeights, seen: LayerPass) -> Block:
    return weights, dataclasses.replace(seen, rotation=dataclasses.replace(seen.rotation, sin=-seen.rotation.sin))


def interleaved_rope(weights: LayerWeights, seen: LayerPass) -> Block:
    """Weights as a reader that expects neighbouring pairs would leave them (GGUF's order for Llama)."""
    size = weights.w_q.shape[1]
    order = np.arange(size).reshape(2, size // 2).T.ravel()
    return dataclasses.replace(weights, w_q=weights.w_q[:, order], w_k=weights.w_k[:, order]), seen


def plain_inputs(weights: LayerWeights, seen: LayerPass) -> Block:
    return weights, dataclasses.replace(seen, inputs=seen.inputs / weights.norm_gain)


def changed(**parts: Callable[[LayerWeights], object]) -> Callable[[LayerWeights, LayerPass], Block]:
    return lambda weights, seen: (
        dataclasses.replace(weights, **{name: change(weights) for name, change in parts.items()}), seen)


def nothing(_: LayerWeights) -> None:
    return None


MISREAD = {
    "keys of the neighbouring key/value head": (changed(w_k=lambda w: other(w.w_k)), ("llama", "mistral"), "attention"),
    "values of the neighbouring key/value head": (changed(w_v=lambda w: other(w.w_v)), ("llama", "mistral"), "output"),
    "heads grouped by remainder instead of in blocks": (
        changed(w_q=lambda w: w.w_q.reshape(-1, len(w.w_k), *w.w_q.shape[1:]).swapaxes(0, 1).reshape(w.w_q.shape)),
        ("llama", "mistral", "gemma2", "gemma3"), "attention"),
    "output projection of the next head": (changed(w_o=lambda w: other(w.w_o)), checkpoint_models.FAMILIES, "output"),
    "no RoPE": (without_rope, ("llama", "mistral", "gemma", "gemma2", "gemma3"), "attention"),
    "RoPE turned the other way": (
        backwards_rope, ("llama", "mistral", "gemma", "gemma2", "gemma3"), "attention"),
    "RoPE pairs of neighbours": (interleaved_rope, ("llama", "mistral", "gemma", "gemma2"), "attention"),
    "gain dropped from the weights": (
        changed(norm_gain=lambda w: np.ones_like(w.norm_gain)), checkpoint_models.FAMILIES, "pre-attention input"),
    "gain dropped from the input": (plain_inputs, checkpoint_models.FAMILIES, "pre-attention input"),
    "Gemma's gain read as it is stored": (
        changed(norm_gain=lambda w: w.norm_gain - 1.0), ("gemma", "gemma2", "gemma3"), "pre-attention input"),
    "bias of the norm dropped": (changed(norm_bias=nothing), ("gpt2",), "pre-attention input"),
    "RMSNorm for LayerNorm": (changed(norm=lambda w: "rms"), ("gpt2",), "pre-attention input"),
    "query bias dropped": (changed(b_q=nothing), ("gpt2",), "attention"),
    "value bias dropped": (changed(b_v=nothing), ("gpt2",), "output"),
    "output bias dropped": (changed(b_o=nothing), ("gpt2",), "output"),
    "soft cap dropped": (changed(soft_cap=nothing), ("gemma2",), "attention"),
    "window dropped": (changed(window=nothing), ("mistral", "gemma2", "gemma3"), "attention"),
    "window one wider": (changed(window=lambda w: w.window + 1), ("mistral", "gemma2", "gemma3"), "attention"),
    "qk-norm dropped": (changed(q_norm=nothing, k_norm=nothing), ("gemma3",), "attention"),
    "qk-norm without its gain": (changed(k_norm=lambda w: np.ones_like(w.k_norm)), ("gemma3",), "attention"),
    "scale from the head dimension": (
        changed(scale=lambda w: w.w_q.shape[1] ** -0.5), ("gemma2", "gemma3"), "attention"),
}


@pytest.mark.parametrize(
    ("fault", "family"), [(fault, family) for fault, (_, families, _) in MISREAD.items() for family in families])
def test_a_part_misread_is_refused_by_layer_and_part(blocks, fault, family):
    spoil, _, part = MISREAD[fault]
    weights, seen = blocks[family][2]  # a layer with every part its family has
    with pytest.raises(ExtractionError, match=f"Layer 2, .*{part} rebuilt"):
        check_extraction(*spoil(weights, seen), 1e-3)


def test_a_key_bias_cannot_change_attention_without_rope(blocks):
    """<q, b_k> is one number per query, which the softmax forgets: the check must not be asked to see it in GPT-2."""
    weights, seen = blocks["gpt2"][1]
    attention = rebuild(dataclasses.replace(weights, b_k=None), seen)[0]
    assert np.abs(attention - rebuild(weights, seen)[0]).max() < 1e-12


def test_one_head_misread_is_named(blocks):
    weights, seen = blocks["llama"][1]
    w_q = weights.w_q.copy()
    w_q[4] *= 1.01
    with pytest.raises(ExtractionError, match="Layer 1, head 4: the attention"):
        check_extraction(dataclasses.replace(weights, w_q=w_q), seen)


def test_nan_is_refused(blocks):
    weights, seen = blocks["llama"][0]
    spoiled = seen.attention.copy()
    spoiled[3, 5, 2] = np.nan
    with pytest.raises(ExtractionError, match="head 3"):
        check_extraction(weights, dataclasses.replace(seen, attention=spoiled))


def test_a_mask_that_is_not_the_extracted_one_is_refused(blocks):
    weights, seen = blocks["llama"][0]
    with pytest.raises(ExtractionError, match="mask"):
        check_extraction(weights, dataclasses.replace(seen, visible=np.ones_like(seen.visible)))


def test_the_window_counts_the_query_itself():
    assert visible_keys(4, 2).tolist() == [
        [True, False, False, False], [True, True, False, False], [False, True, True, False], [False, False, True, True]]
    for no_limit in (None, 5, 9):
        assert np.array_equal(visible_keys(5, no_limit), np.tri(5, dtype=bool))


def test_logits_agree_with_the_rotary_logits_of_the_theory():
    """The second route: numerics.rope turns by base and position, this one reads tables."""
    rng = np.random.default_rng(3)
    count, dim, size, base, scale = 9, 7, 6, 50.0, 0.37
    x, w_q, w_k = rng.normal(size=(count, dim)), rng.normal(size=(2, size, dim)), rng.normal(size=(1, size, dim))
    angle = np.tile(np.arange(count)[:, None] * base ** (-np.arange(size // 2) / (size // 2)), 2)
    weights = bare_weights(w_q, w_k, scale)
    found = head_logits(weights, x, Rotation(np.cos(angle), np.sin(angle)))
    for head in range(2):
        expected = np.asarray(llama_rope_logits(x, w_q[head], w_k[0], base=base, kappa=scale))
        np.testing.assert_allclose(found[head], expected, rtol=0, atol=1e-12)


def test_the_output_is_the_sum_over_heads_of_mixed_values():
    rng = np.random.default_rng(4)
    x, attention = rng.normal(size=(5, 7)), rng.dirichlet(np.ones(5), size=(4, 5))
    weights = bare_weights(rng.normal(size=(4, 3, 7)), rng.normal(size=(2, 3, 7)), 1.0, w_v=rng.normal(size=(2, 3, 7)),
                           w_o=rng.normal(size=(4, 7, 3)))
    expected = sum(attention[head] @ x @ (weights.w_o[head] @ weights.w_v[head // 2]).T for head in range(4))
    np.testing.assert_allclose(mix_values(weights, x, attention), expected, rtol=0, atol=1e-12)


X, HEADS = np.ones((5, 7)), np.ones((4, 3, 7))


@pytest.mark.parametrize(("function", "good", "bad"), [
    (mix_values, (X, np.ones((4, 5, 5))), (X, np.ones((4, 5, 6)))),
    (mix_values, (X, np.ones((4, 5, 5))), (X[0], np.ones((4, 5, 5)))),
    (head_logits, (X, None), (X[:, 0], None)),
])
def test_a_typed_function_accepts_its_shapes_and_rejects_others(function, good, bad):
    checked, weights = jaxtyped(function, typechecker=beartype), bare_weights(HEADS, HEADS[:2], 1.0)
    checked(weights, *good)
    with pytest.raises(TypeCheckError):
        checked(weights, *bad)


def bare_weights(w_q: np.ndarray, w_k: np.ndarray, scale: float, *, w_v=None, w_o=None) -> LayerWeights:
    """A block with projections alone: no bias, qk-norm, cap or window."""
    dim = w_q.shape[2]
    return LayerWeights(
        layer=0, w_q=w_q, w_k=w_k, w_v=w_k if w_v is None else w_v, w_o=w_q.transpose(0, 2, 1) if w_o is None else w_o,
        b_q=None, b_k=None, b_v=None, b_o=None, q_norm=None, k_norm=None, qk_eps=0.0, scale=scale, soft_cap=None,
        window=None, norm="rms", norm_eps=0.0, norm_gain=np.ones(dim), norm_bias=None)
