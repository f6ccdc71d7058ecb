"""Files: canonical JSON without numbers, digests, and exact values read by declared type.

Everything is text: integers are decimal strings, rationals ``["num", "den"]`` in lowest terms, floats C99 hex strings
(a float64 *is* a rational and is taken as one).  A value is read against its declared type, so ``["1", "2"]`` is one
half where a scalar is expected and two integers where a vector is.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from math import frexp, ldexp
from pathlib import Path
from stat import S_ISREG

from flint import fmpq, fmpz

MAX_FILE = 256 * 2**20
MAX_SIDECAR = 4 * 2**30
_INTEGER = re.compile(r"(?:0|-?[1-9][0-9]*)\Z")
_FLOAT = re.compile(r"-?0x[01](?:\.[0-9a-f]+)?p[+-][0-9]{1,4}\Z")
_SHA = re.compile(r"[0-9a-f]{64}\Z")
_SIDECAR_DTYPES = {"float64": ("d", 8), "float32": ("f", 4), "float16": ("e", 2)}


class Rejected(Exception):
    """The certificate does not establish its claim; the message says where it failed."""


class Malformed(Rejected):
    """The file is not a certificate of this claim at all: unreadable, another schema, a digest that does not fit."""


class TooMuch(Rejected):
    """Deciding it would take more work than is allowed, which says nothing about what the answer is."""


def need(condition: bool, message: str, error: type[Rejected] = Rejected) -> None:
    """Reject unless `condition` is the object True: a truthy stand-in or NaN never passes."""
    if condition is not True:
        raise error(message)


def well_formed(condition: bool, message: str) -> None:
    need(condition, message, Malformed)


def canonical(value: object) -> bytes:
    """Sorted keys, no white space, UTF-8; only strings, lists and string-keyed objects exist."""

    def check(node: object) -> None:
        if isinstance(node, dict):
            well_formed(all(isinstance(key, str) for key in node), "object keys must be strings")
            for child in node.values():
                check(child)
        elif isinstance(node, list):
            for child in node:
                check(child)
        else:
            well_formed(isinstance(node, str),
                        f"only strings, lists and objects are allowed, found {type(node).__name__}")

    check(value)
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def digest(value: object) -> str:
    return hashlib.sha256(canonical(value)).hexdigest()


def read_file(path: Path) -> bytes:
    """The bytes of a plain file of bearable size; a pipe or a device, which may never end, is not one."""
    try:
        status = path.stat()
        well_formed(S_ISREG(status.st_mode), f"{path.name}: expected a plain file")
        well_formed(status.st_size <= MAX_FILE, f"{path.name}: {status.st_size} bytes, at most {MAX_FILE} are read")
        return path.read_bytes()
    except OSError as error:
        raise Malformed(f"{path.name}: cannot be read ({error.strerror})") from None


def read_json(path: Path) -> dict:
    """Read a certificate file; numbers, booleans, null, repeated keys and other encodings are refused."""

    def no_number(token: str) -> None:
        raise Malformed(f"{path.name}: found the bare number {token}, expected it as a string")

    def unique(pairs: list[tuple[str, object]]) -> dict:
        table = dict(pairs)
        well_formed(len(table) == len(pairs), f"{path.name}: a key occurs twice in one object")
        return table

    raw = read_file(path)
    try:
        value = json.loads(raw.decode("utf-8"), parse_int=no_number, parse_float=no_number,
                           parse_constant=no_number, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        raise Malformed(f"{path.name}: not a JSON file in UTF-8") from None
    well_formed(isinstance(value, dict), f"{path.name}: expected a JSON object at the top")
    try:
        canonical(value)
    except (RecursionError, ValueError):
        raise Malformed(f"{path.name}: nested too deeply, or text that is not Unicode") from None
    return value


def field(table: dict, name: str, kind: type, where: str) -> object:
    well_formed(isinstance(table, dict) and name in table, f"{where}: the field '{name}' is missing")
    well_formed(isinstance(table[name], kind), f"{where}: the field '{name}' must be of type {kind.__name__}")
    return table[name]


def read_integer(value: object, where: str) -> int:
    well_formed(isinstance(value, str) and _INTEGER.match(value) is not None,
                f"{where}: expected an integer as a decimal string, found {str(value)[:40]!r}")
    try:
        return int(value)
    except ValueError:  # the interpreter's limit on decimal digits; flint has none
        return int(fmpz(value))


def read_number(value: object, where: str) -> fmpq:
    """A rational pair in lowest terms, a decimal integer string, or a C99 hex float."""
    if isinstance(value, list):
        well_formed(len(value) == 2
                    and all(isinstance(part, str) and _INTEGER.match(part) is not None for part in value),
                    f"{where}: expected a rational as [numerator, denominator] in decimal strings")
        top, bottom = fmpz(value[0]), fmpz(value[1])
        well_formed(bool(bottom > 0), f"{where}: a denominator must be positive")
        number = fmpq(top, bottom)
        well_formed(bool(number.q == bottom), f"{where}: a rational must be in lowest terms")
        return number
    well_formed(isinstance(value, str), f"{where}: expected a number as text")
    if _FLOAT.match(value):
        number = float.fromhex(value)
        well_formed(number.hex() == value, f"{where}: {value[:40]!r} is not how a float64 is written")
        return fmpq(*number.as_integer_ratio())
    well_formed(_INTEGER.match(value) is not None, f"{where}: {value[:40]!r} is not a number in the certificate format")
    return fmpq(fmpz(value))


def write_number(value: object) -> object:
    """The text form of an int, Fraction, float or fmpq; the inverse of `read_number`."""
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise ValueError("expected a finite number, got nan or inf; certificates hold exact values only")
        return value.hex()
    if isinstance(value, fmpq):
        return [str(value.p), str(value.q)]
    if hasattr(value, "numerator"):
        return [str(value.numerator), str(value.denominator)]
    raise TypeError(f"expected an int, Fraction, float or fmpq, got {type(value).__name__}")


class Cloud:
    """Rows of floats in a sidecar file, named by its sha256, read in blocks as exact integers over a power of two."""

    def __init__(self, table: dict, directory: Path, where: str):
        self.sha = field(table, "sidecar", str, where)
        well_formed(_SHA.match(self.sha) is not None, f"{where}: a sidecar is named by 64 hex digits")
        dtype = field(table, "dtype", str, where)
        well_formed(dtype in _SIDECAR_DTYPES, f"{where}: dtype must be one of {sorted(_SIDECAR_DTYPES)}")
        self.code, self.width = _SIDECAR_DTYPES[dtype]
        shape = [read_integer(item, where) for item in field(table, "shape", list, where)]
        well_formed(len(shape) == 2 and min(shape) > 0, f"{where}: shape must be two positive integers")
        self.rows, self.columns = shape
        self.path = directory / f"{self.sha}.bin"
        expected = self.rows * self.columns * self.width
        well_formed(expected <= MAX_SIDECAR, f"{where}: the sidecar would be larger than {MAX_SIDECAR} bytes")
        well_formed(self.path.is_file() and self.path.stat().st_size == expected,
                    f"{where}: the sidecar {self.sha[:12]}….bin is missing or not {expected} bytes long")
        running = hashlib.sha256()
        with self.path.open("rb") as stream:
            while block := stream.read(2**20):
                running.update(block)
        well_formed(running.hexdigest() == self.sha, f"{where}: the sidecar's content does not match its name")

    def blocks(self, indices: list[int] | None = None, size: int = 1024):
        """Yield lists of float rows: all of them in order, or those with the given indices."""
        length = self.columns * self.width
        with self.path.open("rb") as stream:
            for start in range(0, self.rows if indices is None else len(indices), size):
                if indices is None:
                    raw = [stream.read(length) for _ in range(min(size, self.rows - start))]
                else:
                    raw = [stream.read(length) for i in indices[start:start + size] if stream.seek(i * length) >= 0]
                yield [struct.unpack(f"<{self.columns}{self.code}", row) for row in raw]

    def content(self) -> str:
        """Equal for two clouds exactly when their shapes and rows are, whatever the width of their floats."""
        running = hashlib.sha256(f"{self.rows} {self.columns}".encode())
        for block in self.blocks():
            for row in block:  # + 0.0 makes one zero of the two
                running.update(struct.pack(f"<{self.columns}d", *(value + 0.0 for value in row)))
        return running.hexdigest()

    def exact_row(self, index: int) -> list[fmpq]:
        well_formed(0 <= index < self.rows, f"row {index} is outside the cloud")
        row = next(self.blocks([index]))[0]
        return [fmpq(*exact_ratio(value)) for value in row]


def exact_ratio(value: float) -> tuple[int, int]:
    well_formed(value - value == 0.0, "the sidecar holds nan or inf")
    return value.as_integer_ratio()


def integer_row(row: tuple[float, ...]) -> tuple[list[int], int]:
    """(integers, scale) with row = integers / scale exactly; scale is a power of two."""
    smallest = min((abs(value) for value in row if value), default=1.0)
    well_formed(all(value - value == 0.0 for value in row), "the sidecar holds nan or inf")
    shift = max(0, 53 - frexp(smallest)[1])  # 2^shift·value has no bits below one, for every value of the row
    if shift + frexp(max(map(abs, row)))[1] < 1024:
        return [int(ldexp(value, shift)) for value in row], 1 << shift
    ratios = [value.as_integer_ratio() for value in row]
    scale = max(bottom for _, bottom in ratios)
    return [top * (scale // bottom) for top, bottom in ratios], scale


def read_value(value: object, kind: str, directory: Path, where: str) -> object:
    """Read a value by its declared type: a number, an index, nested lists of numbers, or a `Cloud`."""

    def listed(node: object, depth: int) -> object:
        if depth == 0:
            return read_number(node, where)
        well_formed(isinstance(node, list), f"{where}: expected a list, found {type(node).__name__}")
        return [listed(child, depth - 1) for child in node]

    def same_lengths(rows: list, what: str) -> None:
        well_formed(len({len(row) for row in rows}) <= 1, f"{where}: all rows of {what} must have one length")

    if kind == "integer":
        return read_integer(value, where)
    if kind in ("set", "integers"):
        well_formed(isinstance(value, list), f"{where}: integers are given as a list")
        integers = [read_integer(item, where) for item in value]
        well_formed(kind == "integers" or len(set(integers)) == len(integers),
                    f"{where}: a set has no repeated elements")
        return integers
    if kind == "pairs":
        well_formed(isinstance(value, list) and all(isinstance(item, list) and len(item) == 2 for item in value),
                    f"{where}: a set of pairs is a list of two-element lists")
        pairs = [[read_integer(end, where) for end in item] for item in value]
        well_formed(len(set(map(tuple, pairs))) == len(pairs), f"{where}: a set of pairs has no repeated elements")
        return pairs
    if kind == "scalar":
        return read_number(value, where)
    if kind == "vector":
        return listed(value, 1)
    if kind == "matrix":
        matrix = listed(value, 2)
        same_lengths(matrix, "a matrix")
        return matrix
    if kind == "matrices":
        matrices = listed(value, 3)
        for matrix in matrices:
            same_lengths(matrix, "a matrix")
        return matrices
    well_formed(kind == "cloud", f"{where}: unknown variable type {kind!r}")
    well_formed(isinstance(value, dict), f"{where}: a cloud is given by its sidecar")
    return Cloud(value, directory, where)
