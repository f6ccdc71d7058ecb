"""Open a checkpoint on disk: a directory (config.json, safetensors, tokenizer) or a GGUF file; never the network.

Everything that can be known to be wrong is said before the weights are read, in one sentence.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from numerics.checkpoint.engine import engine, shortened
from numerics.checkpoint.families import FAMILIES
from numerics.checkpoint.gguf import gguf_architecture, parsed_once
from numerics.checkpoint.memory import bytes_needed, require_memory
from numerics.checkpoint.model import Checkpoint

__all__ = ["memory_needed", "open_checkpoint"]


def open_checkpoint(path: Path, *, gguf: str | None = None) -> Checkpoint:
    """Open the checkpoint in directory ``path`` (with ``gguf``: the GGUF file of that name in it), or a .gguf file.

    The architecture is read from the files: GPT-2, Llama, Mistral, Gemma 1, 2 or 3 (of one that
    reads images, the text's decoder); as GGUF, Llama alone.  Weights are held in float32, and attention is computed
    explicitly.

    Raises MissingModels without the extra ``models``; ValueError, with what was expected, what was found and the fix,
    for: no such directory, another architecture (encoder-only ones among them), bidirectional attention, weights or a
    tokenizer missing or unreadable, weights that are not all there, too little memory.
    """
    directory, name = _located(Path(path), gguf)
    source = {"gguf_file": name} if name else {}
    title = name or directory.resolve().name
    with parsed_once() if name else nullcontext():
        config = _config(directory, name, title)
        require_memory(_needed(config, name), f"{title} in float32", "choose a smaller model")
        tokenizer = _read(title, "a tokenizer", engine().transformers.AutoTokenizer, directory, source)
        model = _model(directory, source, config, title)
    text = config.get_text_config()
    return Checkpoint(
        name=title,
        family=FAMILIES[config.model_type].name,
        layers=text.num_hidden_layers,
        heads=text.num_attention_heads,
        kv_heads=getattr(text, "num_key_value_heads", text.num_attention_heads),
        dim=text.hidden_size,
        head_dim=getattr(text, "head_dim", text.hidden_size // text.num_attention_heads),
        context=text.max_position_embeddings,
        vocabulary=text.vocab_size,
        bos_id=tokenizer.bos_token_id,
        model=model,
        tokenizer=tokenizer,
        places=FAMILIES[config.model_type],
    )


def memory_needed(path: Path, *, gguf: str | None = None) -> int:
    """Bytes that `open_checkpoint` needs at its peak, by the configuration alone; raises ValueError for a bad one."""
    directory, name = _located(Path(path), gguf)
    with parsed_once() if name else nullcontext():
        return _needed(_config(directory, name, name or directory.resolve().name), name)


def _located(path: Path, gguf: str | None) -> tuple[Path, str | None]:
    """The directory and, for GGUF, the file's name in it."""
    if path.is_file() and path.suffix == ".gguf" and gguf is None:
        return path.parent, path.name
    if not path.is_dir():
        found = "a file" if path.exists() else "nothing"
        raise ValueError(f"expected a checkpoint's directory or a .gguf file, found {found} at '{path}'; give the"
                         " directory that holds config.json, or the GGUF file itself")
    if gguf is not None:
        if not (path / gguf).is_file():
            raise ValueError(f"expected the GGUF file '{gguf}' in '{path}', found none; check its name")
        return path, gguf
    if not (path / "config.json").is_file():
        files = sorted(file.name for file in path.glob("*.gguf"))
        if len(files) == 1:
            return path, files[0]
        raise ValueError(f"expected config.json or one GGUF file in '{path}', found {len(files)} GGUF files and no"
                         " config.json; give the directory of one checkpoint, or the GGUF file itself")
    return path, None


def _config(directory: Path, gguf: str | None, title: str) -> Any:
    kind = gguf_architecture(directory / gguf) if gguf else _stated_kind(directory / "config.json")
    if kind not in FAMILIES:
        raise ValueError(f"expected a decoder-only checkpoint of one of the architectures {', '.join(FAMILIES)}, got"
                         f" {kind!r} in {title}; encoders and other architectures are not read")
    config = _read(title, "a configuration", engine().transformers.AutoConfig, directory,
                   {"gguf_file": gguf} if gguf else {})
    for setting in ("use_bidirectional_attention", "add_cross_attention", "is_encoder_decoder", "quantization_config"):
        if getattr(config, setting, None) or getattr(config.get_text_config(), setting, None):
            raise ValueError(f"expected a causal decoder with plain float weights, got {setting} in the configuration"
                             f" of {title}; choose another checkpoint")
    return config


def _stated_kind(file: Path) -> str | None:
    """The architecture that config.json names."""
    try:
        stated = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise ValueError(f"expected JSON in '{file}', got something else ({error}); restore the file") from error
    return stated.get("model_type") if isinstance(stated, dict) else None


def _needed(config: Any, gguf: str | None) -> int:
    torch, transformers = engine().torch, engine().transformers
    stored = 4 if gguf else 2 if config.dtype in (torch.float16, torch.bfloat16) else 0
    with torch.device("meta"):
        return bytes_needed(transformers.AutoModel.from_config(config), stored)


def _model(directory: Path, source: dict[str, str], config: Any, title: str) -> Any:
    """The base model in float32 with explicit attention; refuses weights that are not all there."""
    model, report = _read(title, "weights", engine().transformers.AutoModel, directory, source | {
        "config": config, "dtype": engine().torch.float32, "attn_implementation": "eager", "output_loading_info": True})
    absent = sorted(map(str, (*report["missing_keys"], *report["mismatched_keys"])))
    if absent:
        raise ValueError(f"expected every weight of {title}, found {len(absent)} missing or of another shape, among"
                         f" them {absent[0]}; restore the checkpoint's files")
    return getattr(model, "language_model", model).eval()  # Gemma 3 with images: the decoder of its text


def _read(title: str, what: str, reader: Any, directory: Path, options: dict[str, Any]) -> Any:
    """from_pretrained, never from the network and never running a checkpoint's own code; its errors as one sentence."""
    try:
        return reader.from_pretrained(directory, local_files_only=True, trust_remote_code=False, **options)
    except MemoryError:
        raise
    except Exception as error:  # transformers, tokenizers and safetensors each raise their own
        raise ValueError(f"expected {what} of {title} in '{directory}', could not read it ({shortened(error)});"
                         " restore the checkpoint's files") from error
