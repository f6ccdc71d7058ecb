"""torch, transformers and what they read files with (the extra `models`): imported on first use, offline and quiet."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from types import ModuleType

__all__ = ["Engine", "MissingModels", "engine", "required", "shortened"]


class MissingModels(ModuleNotFoundError):
    """A package of the extra `models` is not installed; the message names it and the command that installs it."""


@dataclass(frozen=True)
class Engine:
    """The two modules that load and run a checkpoint."""

    torch: ModuleType
    transformers: ModuleType


def required(name: str) -> ModuleType:
    """Import a package of the extra `models`; raises MissingModels when it, or one it needs, is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        raise MissingModels(f"expected the package {missing.name} of the extra 'models', found none; install it with:"
                            " make models") from missing


def engine() -> Engine:
    """torch and transformers, told never to use a network; raises MissingModels when one of them is not installed."""
    # Read once by huggingface_hub when it is imported; every call of ours says local_files_only as well.
    os.environ["HF_HUB_OFFLINE"] = "1"
    torch, transformers = required("torch"), required("transformers")
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    return Engine(torch, transformers)


def shortened(error: Exception) -> str:
    """What another library said, on one line of at most 160 characters."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words if len(words) <= 160 else words[:157] + "..."
