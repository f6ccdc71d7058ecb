"""Row numbers as arguments, checked once."""

from __future__ import annotations

__all__ = ["require_sink_index"]


def require_sink_index(sink: int, num_tokens: int) -> None:
    """ValueError unless 0 <= sink < num_tokens."""
    if not 0 <= sink < num_tokens:
        raise ValueError(f"Expected a sink index in 0..{num_tokens - 1}, got {sink}; pass the sink's row number.")
