"""How much memory a checkpoint needs, counted before anything is loaded, and how much there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numerics.checkpoint.engine import required

__all__ = ["GIB", "bytes_needed", "free_memory", "require_memory"]

GIB = 2**30


def bytes_needed(model: Any, *, gguf: bool) -> int:
    """Bytes at the peak of loading: the parameters in float32, twice for GGUF (transformers dequantises before it assigns).

    `model` may live on torch's meta device, where parameters have shapes but no storage.
    """
    return (2 if gguf else 1) * sum(4 * parameter.numel() for parameter in model.parameters())


def free_memory() -> int:
    """Bytes this process may still take: what the machine has available, or its control group's limit if that is less."""
    limits = [required("psutil").virtual_memory().available]
    group = Path("/sys/fs/cgroup")
    try:
        limits.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    except (OSError, ValueError):  # no such control group, or the limit is "max"
        pass
    return min(limits)


def require_memory(needed: int, free: int, name: str) -> None:
    """Raise ValueError unless ``needed`` bytes are free; both are said in GiB."""
    if needed > free:
        raise ValueError(f"Expected {needed / GIB:.1f} GiB of free memory for {name} in float32, found {max(free, 0) / GIB:.1f} GiB;"
                         " close other programs or choose a smaller model.")
