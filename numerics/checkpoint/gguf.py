"""GGUF files: which architecture they hold, and whether transformers reads all that their attention depends on.

The extraction check compares with the model that transformers builds, so a setting that transformers leaves unread in
a GGUF file would pass it; such files are refused here instead.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numerics.checkpoint.engine import MissingModels, required, shortened

__all__ = ["gguf_architecture", "parsed_once"]

# What is known to be read faithfully, up to the settings below; Mistral's files call themselves llama.
READ = ("llama",)
UNREAD = ("rope.scaling.type", "attention.sliding_window", "attention.scale", "attn_logit_softcapping", "expert_count")
FACTORS = "rope_freqs.weight"  # llama3 rotary scaling, stored as a tensor


def gguf_architecture(file: Path) -> str:
    """The architecture a GGUF file names; raises ValueError for one whose attention transformers reads only in part."""
    required("accelerate")  # transformers asks for it when it reads GGUF
    try:
        reader = required("gguf").GGUFReader(file)
        kind = str(reader.get_field("general.architecture").contents())
        # rope.scaling.type says "none" where there is no scaling.
        fields = {key: reader.get_field(f"{kind}.{key}") for key in UNREAD}
        unread = [key for key, field in fields.items() if field and field.contents() not in ("none", 0)]
        unread += [FACTORS for tensor in reader.tensors if tensor.name == FACTORS]
    except MissingModels:
        raise
    except Exception as error:  # the reader raises whatever its parsing runs into
        raise ValueError(f"expected a GGUF file at '{file}', could not read it ({shortened(error)});"
                         " restore the file") from error
    if kind not in READ:
        raise ValueError(f"expected a GGUF file of the architecture {' or '.join(READ)}, got {kind!r} in '{file}';"
                         " use the safetensors version of a gpt2 or gemma checkpoint; others are not read")
    if unread:
        raise ValueError(f"expected a GGUF file whose attention needs no more than transformers reads, got {unread[0]}"
                         f" in '{file}'; use the safetensors version of the checkpoint")
    return kind


@contextmanager
def parsed_once() -> Iterator[None]:
    """Let transformers share one parsed GGUF file: it opens the file three times, parsing the vocabulary each time."""
    module = required("gguf")
    reader = module.GGUFReader
    shared = functools.cache(reader)
    module.GGUFReader = lambda path, *rest: shared(os.fspath(path), *rest)
    try:
        yield
    finally:
        module.GGUFReader = reader
