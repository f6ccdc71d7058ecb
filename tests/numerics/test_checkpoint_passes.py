"""Passes over a text: every layer once and in order; one layer's attention replaced, with effect on all later ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import checkpoint_models
import numpy as np
import pytest

from numerics.attention import causal_uniform_attention
from numerics.checkpoint import Checkpoint, LayerPass, open_checkpoint
from numerics.checkpoint import memory
from numerics.checkpoint.rebuild import mix_values
from numerics.checkpoint.stream import stream

FAMILIES = checkpoint_models.FAMILIES


@pytest.fixture(scope="module")
def opened(tiny_checkpoint: Callable[[str], Path]) -> dict[str, Checkpoint]:
    return {family: open_checkpoint(tiny_checkpoint(family)) for family in FAMILIES}


def passed(checkpoint: Checkpoint, ids: list[int]) -> tuple[list[LayerPass], np.ndarray]:
    kept: list[LayerPass] = []
    return kept, checkpoint.run(ids, kept.append)


@pytest.fixture
def ids(opened: dict[str, Checkpoint]) -> list[int]:
    checkpoint = opened["llama"]
    return [checkpoint.bos_id, *checkpoint.encode(checkpoint_models.TEXT)]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_pass_is_the_models_own(opened, ids, family):
    """The second route: transformers' own record of hidden states and attentions."""
    import torch

    kept, final = passed(opened[family], ids)
    with torch.no_grad():
        expected = opened[family].model(
            torch.tensor([ids]), output_attentions=True, output_hidden_states=True, use_cache=False)
    assert [seen.layer for seen in kept] == [0, 1, 2]
    for seen in kept:
        np.testing.assert_array_equal(seen.residual, expected.hidden_states[seen.layer][0].double().numpy())
        np.testing.assert_array_equal(seen.attention, expected.attentions[seen.layer][0].double().numpy())
    np.testing.assert_array_equal(final, expected.last_hidden_state[0].double().numpy())


@pytest.mark.parametrize("family", FAMILIES)
def test_the_stream_after_a_block_is_read_by_the_next_norm(opened, ids, family):
    """residual + output (through the norm that follows it, if there is one), then next_norm: what the MLP is given."""
    checkpoint = opened[family]
    places, block = checkpoint.places, getattr(checkpoint.model, checkpoint.places.blocks)[1]
    given: list[np.ndarray] = []
    handle = getattr(block, places.next_norm).register_forward_hook(
        lambda _, __, made: given.append(made[0].double().numpy()))
    kept, _ = passed(checkpoint, ids)
    handle.remove()
    weights, seen = checkpoint.weights(1), kept[1]
    added = seen.output
    if weights.post_norm_gain is not None:
        added = stream(weights, added).normalised * weights.post_norm_gain
    after = stream(weights, seen.residual + added).normalised * weights.next_norm_gain
    after = after if weights.next_norm_bias is None else after + weights.next_norm_bias
    np.testing.assert_allclose(after, given[0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_replacing_attention_by_itself_changes_nothing(opened, ids, family):
    kept, final = passed(opened[family], ids)
    for layer in range(3):
        again = opened[family].run_with(ids, layer, kept[layer].attention, lambda _: None)
        np.testing.assert_allclose(again, final, rtol=0, atol=3e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_replaced_attention_is_seen_by_that_layer_and_all_later_ones_only(opened, ids, family):
    checkpoint = opened[family]
    kept, final = passed(checkpoint, ids)
    uniform = np.tile(np.asarray(causal_uniform_attention(len(ids))), (6, 1, 1))
    seen: list[LayerPass] = []
    changed = checkpoint.run_with(ids, 1, uniform, seen.append)
    np.testing.assert_array_equal(seen[0].output, kept[0].output)
    np.testing.assert_array_equal(seen[1].inputs, kept[1].inputs)
    np.testing.assert_allclose(seen[1].attention, uniform, rtol=0, atol=1e-7)
    expected = mix_values(checkpoint.weights(1), kept[1].inputs, uniform)
    np.testing.assert_allclose(seen[1].output, expected, rtol=0, atol=1e-5)
    assert np.abs(seen[1].output - kept[1].output).max() > 0.1
    assert np.abs(seen[2].residual - kept[2].residual).max() > 0.1 and np.abs(changed - final).max() > 0.01


@pytest.mark.parametrize("family", FAMILIES)
def test_starting_from_a_known_stream_gives_the_same_pass_without_the_earlier_layers(opened, ids, family):
    checkpoint = opened[family]
    kept, final = passed(checkpoint, ids)
    diagonal = np.tile(np.eye(len(ids)), (6, 1, 1))
    whole, tail = [], []
    expected = checkpoint.run_with(ids, 2, diagonal, whole.append)
    found = checkpoint.run_with(ids, 2, diagonal, tail.append, residual=kept[2].residual)
    np.testing.assert_array_equal(found, expected)
    assert [seen.layer for seen in tail] == [2] and np.array_equal(tail[0].output, whole[2].output)
    np.testing.assert_array_equal(checkpoint.run(ids, lambda _: None), final)  # nothing is left behind


def test_a_pass_that_fails_leaves_no_hook_behind(opened, ids):
    checkpoint = opened["llama"]
    kept, final = passed(checkpoint, ids)

    def fail(_: LayerPass) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checkpoint.run_with(ids, 1, np.tile(np.eye(len(ids)), (6, 1, 1)), fail, residual=kept[1].residual)
    np.testing.assert_array_equal(checkpoint.run(ids, lambda _: None), final)


def test_only_the_layers_asked_for_are_visited(opened, ids):
    seen: list[int] = []
    opened["gpt2"].run(ids, lambda layer: seen.append(layer.layer), layers={2, 0})
    diagonal = np.tile(np.eye(len(ids)), (6, 1, 1))
    opened["gpt2"].run_with(ids, 1, diagonal, lambda layer: seen.append(layer.layer), layers=[2])
    assert seen == [0, 2, 2]


def test_a_text_may_stand_without_bos(opened, ids):
    kept, _ = passed(opened["gemma3"], ids[1:])
    assert kept[0].attention.shape == (6, len(ids) - 1, len(ids) - 1) and kept[0].attention[0, 0, 0] == 1.0


@pytest.mark.parametrize(("given", "message"), [
    ([], "at least one token"),
    ([0] * 97, "at most 96 tokens"),
    ([0, 5000], "token ids in 0"),
    ([-1, 4], "token ids in 0"),
])
def test_ids_that_cannot_be_run_are_refused(opened, given, message):
    with pytest.raises(ValueError, match=f"expected {message}"):
        opened["llama"].run(given, lambda _: None)


@pytest.mark.parametrize("count", [1, 2, 96])
@pytest.mark.parametrize("family", FAMILIES)
def test_any_length_up_to_the_context_can_be_run(opened, family, count):
    kept, final = passed(opened[family], [4] * count)
    assert final.shape == (count, 36) and kept[2].visible.shape == (count, count)
    np.testing.assert_array_equal(kept[0].attention[:, 0, 0], 1.0)


@pytest.mark.parametrize("layer", [3, -1])
def test_a_layer_that_does_not_exist_is_refused(opened, ids, layer):
    with pytest.raises(ValueError, match="layer in 0..2"):
        opened["llama"].weights(layer)
    with pytest.raises(ValueError, match="layer in 0..2"):
        opened["llama"].run(ids, lambda _: None, layers=[layer])
    with pytest.raises(ValueError, match="layer in 0..2"):
        opened["llama"].run_with(ids, layer, np.zeros((6, len(ids), len(ids))), lambda _: None)


def test_attention_and_stream_of_the_wrong_shape_or_with_nan_are_refused(opened, ids):
    good = np.tile(np.eye(len(ids)), (6, 1, 1))
    spoiled = good.copy()
    spoiled[0, 0, 0] = np.nan
    for bad in (good[:5], good[:, :-1], spoiled):
        with pytest.raises(ValueError, match="expected attention of shape"):
            opened["llama"].run_with(ids, 0, bad, lambda _: None)
    with pytest.raises(ValueError, match="expected residual of shape"):
        opened["llama"].run_with(ids, 1, good, lambda _: None, residual=np.zeros((len(ids), 35)))


def test_a_text_whose_attention_does_not_fit_into_memory_is_refused_before_it_is_run(opened, ids, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: memory.attention_bytes(6, len(ids)) - 1)
    opened["llama"].run(ids[:-1], lambda _: None)
    with pytest.raises(ValueError, match="GiB of free memory for attention over 82 tokens"):
        opened["llama"].run(ids, lambda _: None)
