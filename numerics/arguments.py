"""Arguments of public functions, checked once at the boundary: arrays with named axes, whole numbers, row numbers.

What is refused is refused in one sentence: expected, got, how to fix.  Under a jax transformation only shapes and types
are known, so entries are looked at outside of one alone.
"""

from __future__ import annotations

import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

__all__ = ["is_traced", "real_array", "real_arrays", "row_number", "whole_number"]


def is_traced(value: object) -> bool:
    """Whether a jax transformation is running over ``value``, whose entries are then unknown."""
    return isinstance(value, jax.core.Tracer)


def real_arrays(*given: tuple[str, Any, str], minus_infinity: bool = False) -> list[Any]:
    """Each (name, value, axes) as a float64 array with one axis for every word of ``axes``.

    A word that occurs twice, in one array or in two, asks for one size; a number asks for that size; a first word with
    a star stands for any axes; where ``axes`` end in "?", None is passed on.  Lists, integers and narrower floats are
    converted (exactly, integers above 2^53 to the nearest float64), jax tracers pass as tracers.  Raises ValueError
    for an empty array, another rank or size, what is not real or wider than 64 bits, NaN and infinities (-inf is kept
    with ``minus_infinity``).
    """
    sizes: dict[str, tuple[int, str]] = {}
    arrays = []
    for name, value, axes in given:
        if value is None and axes.endswith("?"):
            arrays.append(None)
            continue
        array = _float64(name, value)
        _require_axes(name, array.shape, axes.rstrip("?").split(), sizes)
        if not is_traced(array):
            _require_entries(name, array, minus_infinity)
        arrays.append(array)
    return arrays


def real_array(name: str, value: Any, axes: str) -> Any:
    """`real_arrays` of a single one."""
    return real_arrays((name, value, axes))[0]


def whole_number(name: str, value: object, least: int, fix: str) -> int:
    """``value`` as an int of at least ``least``; raises ValueError, ending in ``fix``, for what is not one."""
    try:
        number = operator.index(value)  # numpy's integers would overflow where Python's do not
    except TypeError:
        number = least - 1
    if number < least:
        raise ValueError(f"expected {name} as a whole number of at least {least}, got {value!r}; {fix}")
    return number


def row_number(name: str, value: object, num_rows: int) -> int:
    """``value`` as an int; ValueError unless it is a whole number with 0 <= value < num_rows."""
    try:
        row = operator.index(value)
    except TypeError:
        row = -1
    if not 0 <= row < num_rows:
        raise ValueError(f"expected {name} in 0..{num_rows - 1}, got {value!r}; pass its row number")
    return row


def _float64(name: str, value: Any) -> Any:
    if is_traced(value):
        return value.astype(jnp.float64)
    try:
        array = np.asarray(value)
    except ValueError:  # rows of unequal length
        array = np.asarray(None)
    # jax's question, for bfloat16 is a floating type to jax and a void one to numpy.
    real = any(jnp.issubdtype(array.dtype, kind) for kind in (np.floating, np.integer))
    if not real or array.dtype.itemsize > 8:
        raise ValueError(f"expected {name} as an array of real numbers of at most 64 bits, got"
                         f" {_described(array, value)}; convert {name} to float64, with rows of one length")
    return array.astype(np.float64, copy=False)


def _described(array: np.ndarray, value: Any) -> str:
    return f"dtype {array.dtype}" if array.dtype.kind != "O" else f"a {type(value).__name__} of other objects"


def _require_axes(name: str, shape: tuple[int, ...], axes: list[str], sizes: dict[str, tuple[int, str]]) -> None:
    any_before = axes[0].startswith("*")
    named = axes[1:] if any_before else axes
    spelled = ", ".join(axes)
    fits = len(shape) >= len(named) if any_before else len(shape) == len(named)
    if not fits or 0 in shape:
        raise ValueError(f"expected {name} as a non-empty array ({spelled}), got shape {shape}; give it one axis for"
                         " each of these, none of size 0")
    for word, size in zip(named, shape[len(shape) - len(named):], strict=True):
        wanted, owner = (int(word), "") if word.isdigit() else sizes.setdefault(word, (size, name))
        if size != wanted:
            said = f", {word} = {wanted} as in {owner}" if owner else ""
            raise ValueError(f"expected {name} of shape ({spelled}){said}, got shape {shape}; check the order of the"
                             " arguments and their sizes")


def _require_entries(name: str, array: np.ndarray, minus_infinity: bool) -> None:
    fine = (array < np.inf).all() if minus_infinity else np.isfinite(array).all()
    if not fine:
        what = "NaN or +infinity" if minus_infinity else "NaN or infinity"
        raise ValueError(f"expected finite entries in {name}, got {what}; remove or repair them")
