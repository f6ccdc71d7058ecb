"""Reads a user's arrays: .npy, .npz or .safetensors, one sentence for everything that can be wrong with them."""

from __future__ import annotations

import math
import re
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from proofs_check.kernel.command import one_line

MAX_ENTRIES = 2**27
LARGEST_INTEGER = 2**53  # up to here float64 has every integer
SUFFIXES = (".npy", ".npz", ".safetensors")


class BadInput(ValueError):
    """What was expected, what came, and how to fix it, in one sentence.  The command line exits with 2."""

    def __init__(self, message: str):
        super().__init__(one_line(message))


@dataclass(frozen=True)
class Tokens:
    """Content tokens (T, d), the sink's embedding (d,) or None, and where they came from."""

    content: np.ndarray
    sink: np.ndarray | None
    source: str
    sink_row: int | None = None
    rows: tuple[int, ...] = ()  # of the file, one for each content token; none given: they were not in a file

    def file_rows(self) -> tuple[int, ...]:
        """The file's row of each content token; its index where the tokens came from no file."""
        return self.rows or tuple(range(len(self.content)))


def split_name(text: str) -> tuple[Path, str | None]:
    """``FILE`` or ``FILE:KEY``; the key names an array inside an archive."""
    path = Path(text)
    if path.suffix not in SUFFIXES and ":" in text:
        file, _, key = text.rpartition(":")
        return Path(file), key
    return path, None


def read_arrays(path: Path, wanted: str | None) -> dict[str, np.ndarray]:
    """All arrays of the file that could be meant, by name ('' for a .npy file); only `wanted` when it is given."""
    if path.suffix not in SUFFIXES:
        raise BadInput(f"expected a file ending in {', '.join(SUFFIXES)}, got '{path}'; save the array in one of these")
    if not path.is_file():
        raise BadInput(f"expected an array file, found no file '{path}'; check the path")
    try:
        if path.suffix == ".npy":
            if wanted is not None:
                raise BadInput(f"expected no name for the one array of '{path}', got '{wanted}'; leave it out, or save "
                               "several arrays as .npz")
            with path.open("rb") as stream:
                _affordable(stream, path.name)
            return {"": np.load(path, allow_pickle=False)}
        if path.suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                names = [name.removesuffix(".npy") for name in archive.namelist()]
                _present(wanted, names, path)
                for name in names if wanted is None else [wanted]:
                    with archive.open(f"{name}.npy") as stream:
                        _affordable(stream, f"{path.name}:{name}")
            with np.load(path, allow_pickle=False) as archive:
                return {name: archive[name] for name in (names if wanted is None else [wanted])
                        if wanted is not None or archive[name].dtype.kind == "f"}
        return _safetensors(path, wanted)
    except BadInput:
        raise
    except Exception as error:  # a damaged file makes zipfile, tokenize and numpy raise almost anything
        pickled = "allow_pickle" in str(error) or "Object arrays" in str(error)
        what = ("an object array, which is never unpickled" if pickled else
                f"an unreadable or truncated file ({type(error).__name__})")
        raise BadInput(f"expected plain floating-point arrays in '{path}', got {what}; save it again") from None


def _affordable(stream, name: str) -> None:
    """Refuse by the header, before anything large is read."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a header that numpy only reads after mending it is a damaged one
        shape, _, dtype = read(stream)
    if dtype.hasobject:
        raise BadInput(f"expected plain floating-point arrays, got the object array '{name}', which is never "
                       "unpickled; save it as float64")
    _few_enough(shape, dtype.itemsize, name)


def _few_enough(shape: Sequence[int], itemsize: int, name: str) -> None:
    """At most MAX_ENTRIES entries, and no more memory than so many float64."""
    entries = math.prod(shape)
    if max(entries, entries * itemsize // 8) > MAX_ENTRIES:
        raise BadInput(f"expected at most {MAX_ENTRIES} entries, got {entries} in '{name}'; give fewer tokens")


def _present(wanted: str | None, names: list[str], path: Path) -> None:
    if wanted is not None and wanted not in names:
        raise BadInput(f"expected an array '{wanted}' in '{path}', found {', '.join(sorted(names)[:12]) or 'nothing'}; "
                       "name one of these")


def _safetensors(path: Path, wanted: str | None) -> dict[str, np.ndarray]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as archive:
            names = list(archive.keys())
            _present(wanted, names, path)
            chosen = names if wanted is None else [wanted]
            for name in chosen:
                _few_enough(archive.get_slice(name).get_shape(), 8, name)
            return {name: archive.get_tensor(name) for name in chosen}
    except SafetensorError as error:
        raise BadInput(f"expected a readable safetensors file, got '{path}' ({error}); save it again") from None
    except TypeError:
        raise BadInput(f"expected float16, float32 or float64 arrays in '{path}', got a type numpy has not "
                       "(bfloat16?); convert it to float32") from None


def one_matrix(text: str, what: str) -> tuple[np.ndarray, Path]:
    """The 2-D floating-point array that ``FILE`` or ``FILE:KEY`` names."""
    path, key = split_name(text)
    arrays = read_arrays(path, key)
    if key is None and len(arrays) > 1:
        matrices = sorted(name for name, array in arrays.items() if array.ndim == 2)
        if len(matrices) != 1:
            raise BadInput(f"expected one matrix of {what} in '{path}', found {', '.join(matrices) or 'none'}; "
                           f"name one, as in {path.name}:{matrices[0] if matrices else 'KEY'}")
        key = matrices[0]
    if not arrays:
        raise BadInput(f"expected floating-point {what} in '{path}', found none; save float arrays, or name an array "
                       f"of integers as in {path.name}:KEY")
    array = arrays[key if key is not None else next(iter(arrays))]
    array = as_floats(array, what, path)
    if array.ndim != 2:
        axes = "1 axis" if array.ndim == 1 else f"{array.ndim} axes"
        raise BadInput(f"expected {what} of shape (tokens, dimension), got an array with {axes}; reshape it")
    if len(array) == 0:
        raise BadInput(f"expected {what} of shape (tokens, dimension), got shape {array.shape}: the file has no rows; "
                       "check the array")
    if array.shape[1] == 0:
        raise BadInput(f"expected {what} of dimension at least 1, got shape {array.shape}; check the array")
    return array, path


def as_floats(array: np.ndarray, what: str, path: Path) -> np.ndarray:
    """The array itself if it has floats; integers as float64, which holds them exactly up to 2^53."""
    if array.dtype.kind in "iu":
        if array.size and max(int(array.max()), -int(array.min())) > LARGEST_INTEGER:
            raise BadInput(f"expected integer {what} of size at most 2^53, got larger ones in '{path}', which float64 "
                           "would round; save them as float64 yourself")
        return array.astype(np.float64)
    if array.dtype not in (np.float16, np.float32, np.float64):
        raise BadInput(f"expected {what} as float16, float32, float64 or integers, got {array.dtype} in '{path}'; "
                       "convert them first")
    if not np.isfinite(array).all():
        bad = [int(index) for index in np.argwhere(~np.isfinite(array))[0]]
        where = f"row {bad[0]}, column {bad[1]} of the file" if len(bad) == 2 else f"position {tuple(bad)}"
        raise BadInput(f"expected finite {what}, got nan or inf at {where} (counting from 0); remove that row")
    return array


def read_tokens(text: str, sink: str | None, deduplicate: bool = False) -> Tokens:
    """Tokens and sink as the options name them: a row number of the tokens, or another array of the same file."""
    array, path = one_matrix(text, "tokens")
    sink_row, embedding = None, None
    rows = np.arange(len(array))  # of the file, for what is said
    if sink is not None and re.fullmatch("-?[0-9]+", sink):
        sink_row = int(sink)
        if not 0 <= sink_row < len(array):
            raise BadInput(f"expected the sink's row between 0 and {len(array) - 1}, got {sink_row}; count rows from 0")
        embedding, array, rows = array[sink_row], np.delete(array, sink_row, axis=0), np.delete(rows, sink_row)
    elif sink is not None:
        embedding = as_floats(read_arrays(path, sink)[sink], "the sink's embedding", path)
        if embedding.shape != array.shape[1:]:
            raise BadInput(f"expected the sink '{sink}' of shape {array.shape[1:]}, got {embedding.shape}; "
                           "give one embedding of the tokens' dimension")
    if len(array) < 2:
        beside = "; the sink's row is not counted" if sink_row is not None else ""
        raise BadInput(f"expected at least two content tokens, got {len(array)}{beside}; "
                       "the theory compares keys with each other")
    unique, first, same = np.unique(array, axis=0, return_index=True, return_inverse=True)
    if len(unique) < len(array):
        if not deduplicate:
            originals = first[same.reshape(-1)]
            later = int(np.flatnonzero(originals != np.arange(len(array)))[0])
            number = len(array) - len(unique)
            repeated = "1 repeated row" if number == 1 else f"{number} repeated rows"
            raise BadInput(f"expected distinct tokens, got {repeated} (row {rows[later]} of the file equals row "
                           f"{rows[originals[later]]}, counting from 0); pass --deduplicate to keep one of each")
        array, rows = array[np.sort(first)], rows[np.sort(first)]
        if len(array) < 2:
            raise BadInput("expected at least two distinct content tokens, got one; give more tokens")
    if embedding is not None and (array == embedding).all(axis=1).any():
        row = rows[int(np.argmax((array == embedding).all(axis=1)))]
        whose = f"row {sink_row}" if sink_row is not None else "one"
        raise BadInput(f"expected a sink that is no key, got {whose} equal to row {row} of the file (counting from 0); "
                       "remove that row from the tokens or name another sink")
    return Tokens(array, embedding, text, sink_row, tuple(rows.tolist()))


def read_values(text: str, tokens: Tokens, rows: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Content values (T, d) and the sink's value or None; `rows` is the number of token rows in the user's file."""
    array, _ = one_matrix(text, "values")
    expected = rows if tokens.sink_row is not None else len(tokens.content)
    if len(array) != expected:
        raise BadInput(f"expected {expected} rows of values, one per token, got {len(array)}; "
                       "give values in the tokens' order")
    if tokens.sink_row is None:
        return array, None
    return np.delete(array, tokens.sink_row, axis=0), array[tokens.sink_row]
