"""What an engine is given and what it returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from proofs_check.blame import blame
from proofs_check.claim import Instance, Part, encode_instance, plain_type
from proofs_check.kernel import Rejected
from proofs_check.kernel.replay import examine
from proofs_check.verdict import Trouble


@dataclass(frozen=True)
class Context:
    """Seed, effort and where sidecars go.  `examples` is the search budget per part."""

    directory: Path
    seed: int = 0
    examples: int = 60
    profile: str = "quick"


@dataclass
class Gathered:
    """Certificates to be replayed, and troubles that no certificate can carry."""

    certificates: list[dict] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)


def examine_instance(part: Part, statement: dict, instance: Instance, directory: Path) -> tuple[bool, bool]:
    """(hypotheses hold, conclusions hold) on one instance, by the kernel's own evaluator; its `Rejected` says where."""
    table = encode_instance(part, instance)
    try:
        return examine(statement, table, directory)[:2]
    except Rejected as error:
        raise type(error)(f"part '{part.name}': {blame(statement, table, directory) or error}") from error


def to_float(part: Part, instance: Instance) -> dict[str, object]:
    """An instance for the numerical route: scalars float, vectors and matrices float64 arrays, index sets as they
    are."""
    types = {**{table["name"]: "scalar" for table in part.parameters}, **part.variables}
    values = {**part.constants, **instance.values}
    return {name: _floats(value, types[name]) for name, value in values.items()}


def _floats(value: object, kind: str) -> object:
    kind = plain_type(kind)
    if kind == "scalar":
        return float(value)
    if kind in ("vector", "matrix"):
        return np.array([[float(entry) for entry in row] if kind == "matrix" else float(row) for row in value])
    if kind == "matrices":
        return [_floats(matrix, "matrix") for matrix in value]
    return value
