"""How much memory a checkpoint needs, counted before anything is loaded, and how much there is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from numerics.checkpoint.engine import required

__all__ = ["GIB", "attention_bytes", "bytes_needed", "free_memory", "require_memory"]

GIB = 2**30
CONTROL_GROUP = Path("/sys/fs/cgroup")


def bytes_needed(model: Any, stored: int) -> int:
    """Bytes at the peak of loading: each parameter in float32, and as it is read if that is another type.

    ``stored`` is the bytes of a parameter as it is read beside its float32 copy: 0 for float32 (the file is mapped),
    2 for half precision, 4 for GGUF (dequantised first, then assigned).  ``model`` may live on torch's meta device,
    where parameters have shapes but no storage.
    """
    return (4 + stored) * sum(parameter.numel() for parameter in model.parameters())


def attention_bytes(heads: int, count: int) -> int:
    """Bytes that one layer's attention over ``count`` tokens takes while it is computed, handed over and rebuilt.

    Logits, masked logits and softmax in float32; the record's copy, and the softmax that rebuilds it, in float64.
    """
    return (3 * 4 + 6 * 8) * heads * count**2


def free_memory() -> int:
    """Bytes this process may still take: what the machine has, or its control group's limit if that is less.

    Files that the group has cached and not used lately count as free: the kernel drops them when memory is asked for.
    """
    limits = [required("psutil").virtual_memory().available]
    try:
        limit, taken = (int((CONTROL_GROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
        parts = dict(line.split() for line in (CONTROL_GROUP / "memory.stat").read_text().splitlines())
        limits.append(limit - taken + int(parts["inactive_file"]))
    except (OSError, ValueError):  # no such control group, or the limit is "max"
        pass
    return min(limits)


def require_memory(needed: int, what: str, fix: str) -> None:
    """Raise ValueError unless ``needed`` bytes are free; both are said in GiB."""
    free = free_memory()
    if needed > free:
        raise ValueError(f"expected {needed / GIB:.1f} GiB of free memory for {what}, found {max(free, 0) / GIB:.1f}"
                         f" GiB; close other programs or {fix}")
