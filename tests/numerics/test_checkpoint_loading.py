"""Opening a checkpoint: what it says of itself, and one sentence for everything that cannot be opened."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import checkpoint_models
import numpy as np
import pytest

from numerics.checkpoint import MissingModels, check_extraction, engine, memory, memory_needed, open_checkpoint
from numerics.checkpoint.engine import shortened

FAMILIES = checkpoint_models.FAMILIES


@pytest.fixture
def copy(tiny_checkpoint: Callable[[str], Path], tmp_path: Path) -> Path:
    """A Llama checkpoint to be spoiled."""
    return Path(shutil.copytree(tiny_checkpoint("llama"), tmp_path / "mine"))


def configured(directory: Path, **changes: object) -> Path:
    file = directory / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))
    return directory


@pytest.mark.parametrize("family", FAMILIES)
def test_a_checkpoint_says_its_sizes(tiny_checkpoint, family):
    opened = open_checkpoint(tiny_checkpoint(family))
    kv_heads, head_dim = {"gpt2": (6, 6), "llama": (2, 10), "mistral": (3, 8), "gemma": (1, 14), "gemma2": (2, 10),
                          "gemma3": (3, 8)}[family]
    assert (opened.name, opened.family, opened.layers, opened.heads, opened.dim) == (family, family, 3, 6, 36)
    assert (opened.kv_heads, opened.head_dim, opened.context, opened.bos_id) == (kv_heads, head_dim, 96, 0)
    weights = opened.weights(2)
    assert weights.layer == 2
    assert weights.w_o.shape == (6, 36, head_dim) and weights.w_v.shape == (kv_heads, head_dim, 36)
    assert weights.w_q.dtype == np.float64


def test_text_is_encoded_without_special_tokens_and_decoded_back(tiny_checkpoint):
    opened = open_checkpoint(tiny_checkpoint("llama"))
    ids = opened.encode("The river, größer.")
    assert opened.bos_id not in ids and "".join(map(opened.decode, opened.encode("The river."))) == "The river."
    assert opened.encode("") == []


def test_a_tokenizer_may_name_no_bos(tmp_path):
    pytest.importorskip("torch", reason="the extra 'models' is not installed; run: make models")
    opened = open_checkpoint(checkpoint_models.save("llama", tmp_path / "nobos", bos=False))
    assert opened.bos_id is None and len(opened.encode("a text")) > 0


def test_opening_and_running_need_no_network(tiny_checkpoint, monkeypatch):
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    opened = open_checkpoint(tiny_checkpoint("gemma"))
    assert opened.run(opened.encode("The river"), lambda _: None).shape[1] == 36


def test_bfloat16_weights_are_read_into_float32(copy):
    import torch
    from safetensors.torch import load_file, save_file

    exact = open_checkpoint(copy).weights(1).w_q
    file = copy / "model.safetensors"
    tensors = {name: tensor.to(torch.bfloat16) for name, tensor in load_file(file).items()}
    save_file(tensors, file, metadata={"format": "pt"})
    rounded = open_checkpoint(copy).weights(1).w_q
    assert rounded.dtype == np.float64
    # bfloat16 keeps eight bits: its rounding error is at most 2^-8 of the number.
    assert 0 < np.abs(rounded / exact - 1).max() <= 2.0**-8


@pytest.mark.parametrize("kind", ["bert", "roberta", "t5", "mixtral", "unheard-of", None])
def test_another_architecture_is_refused_by_name(copy, kind):
    with pytest.raises(ValueError, match=f"expected a decoder-only checkpoint of one of .*, got {kind!r}"):
        open_checkpoint(configured(copy, model_type=kind))


@pytest.mark.parametrize(
    "setting", [{"is_encoder_decoder": True}, {"quantization_config": {"quant_method": "gptq", "bits": 4}}])
def test_a_decoder_of_another_make_is_refused(copy, setting):
    with pytest.raises(ValueError, match=f"got {next(iter(setting))} in the configuration"):
        open_checkpoint(configured(copy, **setting))


def test_a_gemma_that_looks_both_ways_is_refused(tiny_checkpoint, tmp_path):
    directory = Path(shutil.copytree(tiny_checkpoint("gemma3"), tmp_path / "mine"))
    both_ways = configured(directory, use_bidirectional_attention=True)
    with pytest.raises(ValueError, match="expected a causal decoder .* use_bidirectional_attention"):
        open_checkpoint(both_ways)


def test_a_path_that_holds_no_checkpoint_is_refused(tmp_path):
    with pytest.raises(ValueError, match="found nothing at"):
        open_checkpoint(tmp_path / "nowhere")
    (tmp_path / "a.txt").write_text("text")
    with pytest.raises(ValueError, match="found a file at"):
        open_checkpoint(tmp_path / "a.txt")
    with pytest.raises(ValueError, match="found 0 GGUF files and no config.json"):
        open_checkpoint(tmp_path)
    with pytest.raises(ValueError, match="expected the GGUF file 'b.gguf'"):
        open_checkpoint(tmp_path, gguf="b.gguf")


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_a_configuration_that_cannot_be_read_is_refused(copy, text):
    (copy / "config.json").write_text(text)
    with pytest.raises(ValueError, match="expected (JSON|a decoder-only)"):
        open_checkpoint(copy)


def test_a_gemma3_that_reads_images_is_opened_as_the_decoder_of_its_text(tiny_checkpoint, tmp_path):
    """The decoder's weights are those of the text-only checkpoint, in the layout of a checkpoint with images."""
    import torch
    import transformers

    text_only = open_checkpoint(tiny_checkpoint("gemma3"))
    vision = transformers.SiglipVisionConfig(hidden_size=8, intermediate_size=8, num_hidden_layers=1,
                                             num_attention_heads=2, image_size=16, patch_size=4)
    whole = transformers.Gemma3ForConditionalGeneration(transformers.Gemma3Config(
        text_config=checkpoint_models.config("gemma3"), vision_config=vision, mm_tokens_per_image=4)).to(torch.float32)
    whole.model.language_model.load_state_dict(text_only.model.state_dict())
    whole.save_pretrained(tmp_path)
    checkpoint_models.tokenizer(True).save_pretrained(tmp_path)
    opened, ids = open_checkpoint(tmp_path), text_only.encode(checkpoint_models.TEXT)
    assert (opened.family, opened.layers, opened.dim, opened.context) == ("gemma3", 3, 36, 96)
    kept = []
    np.testing.assert_array_equal(opened.run(ids, kept.append), text_only.run(ids, lambda _: None))
    for seen in kept:
        check_extraction(opened.weights(seen.layer), seen, 1e-5)


def test_weights_in_several_files_are_read_and_a_missing_one_is_refused(tmp_path):
    pytest.importorskip("torch", reason="the extra 'models' is not installed; run: make models")
    checkpoint_models.model("llama").save_pretrained(tmp_path, max_shard_size="40KB")
    checkpoint_models.tokenizer(True).save_pretrained(tmp_path)
    files = sorted(tmp_path.glob("model-*.safetensors"))
    assert len(files) > 1 and open_checkpoint(tmp_path).layers == 3
    files[-1].unlink()
    with pytest.raises(ValueError, match="expected (weights|every weight) of"):
        open_checkpoint(tmp_path)


def test_missing_weights_are_refused(copy):
    (copy / "model.safetensors").unlink()
    with pytest.raises(ValueError, match="expected weights of mine"):
        open_checkpoint(copy)


def test_truncated_weights_are_refused(copy):
    file = copy / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1000])
    with pytest.raises(ValueError, match="expected weights of mine"):
        open_checkpoint(copy)


def test_one_missing_tensor_is_refused_and_not_made_up(copy):
    from safetensors.torch import load_file, save_file

    file = copy / "model.safetensors"
    tensors = load_file(file)
    del tensors["model.layers.1.self_attn.k_proj.weight"]
    save_file(tensors, file, metadata={"format": "pt"})
    with pytest.raises(ValueError, match="found 1 missing or of another shape, among them layers.1.self_attn.k_proj"):
        open_checkpoint(copy)


def test_weights_of_another_shape_are_refused(copy):
    with pytest.raises(ValueError, match="expected (every weight|weights) of mine"):
        open_checkpoint(configured(copy, num_key_value_heads=3))


def test_a_missing_tokenizer_is_refused(copy):
    for file in copy.glob("tokenizer*"):
        file.unlink()
    with pytest.raises(ValueError, match="expected a tokenizer of mine"):
        open_checkpoint(copy)


def test_a_model_too_large_for_the_machine_is_refused_before_its_weights_are_read(copy):
    """The configuration alone says so: the weights beside it are a tiny model's."""
    huge = configured(copy, hidden_size=2**15, intermediate_size=2**17, num_hidden_layers=200, num_attention_heads=256,
                      num_key_value_heads=256, head_dim=128)
    assert memory_needed(huge) > 2**40
    with pytest.raises(ValueError, match=r"expected \d+\.\d GiB of free memory for mine in float32, found \d+\.\d GiB"):
        open_checkpoint(huge)


def test_the_memory_needed_is_four_bytes_a_parameter_and_two_more_in_half(tiny_checkpoint, copy, monkeypatch):
    for family in FAMILIES:
        opened = open_checkpoint(tiny_checkpoint(family))
        needed = memory_needed(tiny_checkpoint(family))
        assert needed == sum(parameter.numel() * 4 for parameter in opened.model.parameters())
    assert memory_needed(configured(copy, dtype="bfloat16")) == memory_needed(tiny_checkpoint("llama")) * 6 // 4
    monkeypatch.setattr(memory, "free_memory", lambda: needed - 1)
    with pytest.raises(ValueError, match="GiB of free memory"):
        open_checkpoint(tiny_checkpoint(family))
    monkeypatch.setattr(memory, "free_memory", lambda: needed)
    open_checkpoint(tiny_checkpoint(family))


def test_a_limit_of_the_control_group_counts_as_memory(monkeypatch, tmp_path):
    pytest.importorskip("psutil", reason="the extra 'models' is not installed; run: make models")
    monkeypatch.setattr(memory, "CONTROL_GROUP", tmp_path)
    unlimited = memory.free_memory()
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    (tmp_path / "memory.stat").write_text("anon 700\ninactive_file 300\n")
    assert memory.free_memory() == pytest.approx(unlimited, rel=0.5)
    (tmp_path / "memory.max").write_text("5000\n")
    assert memory.free_memory() == 4300


@pytest.mark.parametrize("name", ["torch", "transformers"])
def test_without_the_extra_one_sentence_names_the_command(monkeypatch, tmp_path, name):
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')

    def absent(wanted: str) -> ModuleType:
        if wanted == name:
            raise ModuleNotFoundError(f"No module named {wanted!r}", name=wanted)
        return ModuleType(wanted)

    monkeypatch.setattr(engine.importlib, "import_module", absent)
    with pytest.raises(MissingModels, match=f"expected the package {name} of the extra 'models'.*make models"):
        open_checkpoint(tmp_path)


def test_what_another_library_says_is_shortened_to_one_line():
    assert shortened(ValueError("first\n  second")) == "first second"
    assert len(shortened(ValueError("word " * 100))) == 160 and shortened(KeyError()) == "KeyError"
