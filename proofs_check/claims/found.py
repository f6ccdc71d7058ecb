"""Counterexamples that the machine found: to hypotheses whose claim names none, and to bounds of parameters.

`found.json` is written by `python -m proofs_check.falsification` from the results of `sinkproof falsify --all`; every
entry becomes a certificate of its claim, which the kernel replays in each run like those written by hand.
"""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib import resources
from pathlib import Path

from proofs_check.claim import Claim, Instance, Part, plain_type
from proofs_check.kernel import Rejected
from proofs_check.kernel.encoding import read_number, read_value


@cache
def found_table() -> dict:
    """The sweep's results: budget, seed, and one entry for each hypothesis or bound that was dropped."""
    path = resources.files("proofs_check") / "claims" / "found.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {"budget": 0, "seed": 0, "entries": []}


def with_found(claim: Claim) -> Claim:
    """The claim with what the machine found where nothing is written by hand."""
    mine = [entry for entry in found_table()["entries"] if entry["claim"] == claim.id and entry["instance"] is not None]
    if not mine:
        return claim
    return replace(claim, parts=tuple(_filled(part, {entry["subject"]: entry["instance"] for entry in mine
                                                     if entry["part"] == part.name}) for part in claim.parts))


def _filled(part: Part, tables: dict[str, dict]) -> Part:
    names = {item.name for item in part.hypotheses}
    found = {subject: read(part, table) for subject, table in tables.items() if subject in part.subjects()}
    found = {subject: instance for subject, instance in found.items() if instance is not None}
    return replace(part, bounds={**{name: item for name, item in found.items() if name not in names}, **part.bounds},
                   hypotheses=tuple(replace(item, counterexample=item.counterexample or found.get(item.name))
                                    for item in part.hypotheses))


def read(part: Part, table: dict) -> Instance | None:
    """An instance from its certificate form; None when the part's variables are no longer those it was found for."""
    types = {**{item["name"]: "scalar" for item in part.parameters}, **part.variables}
    if set(table["values"]) != set(types) - set(part.constants):
        return None
    try:
        values = {name: _plain(read_value(value, plain_type(types[name]), Path(), name))
                  for name, value in table["values"].items()}
        return Instance(values, {key: {name: _plain(_witness(name, value)) for name, value in witness.items()}
                                 for key, witness in table["witnesses"].items()})
    except Rejected:
        return None


def _plain(value: object) -> object:
    """Fractions for the kernel's numbers, as in instances written by hand."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, int) else Fraction(int(value.p), int(value.q))


def _witness(name: str, value: list) -> object:
    if name == "weights":
        return {int(index): read_number(weight, name) for index, weight in value}
    if name == "basis":
        return [int(index) for index in value]
    return read_value(value, "matrix" if name in ("left", "right") else "vector", Path(), name)
