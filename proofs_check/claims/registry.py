"""Finds the claims: every module of a family package that defines `CLAIM`, and a user's own file."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
import re
from functools import cache
from pathlib import Path
from typing import NoReturn

from proofs_check.claim import Claim
from proofs_check.claims.found import with_found
from proofs_check.claims.own import sound

FAMILIES = ("geometry", "equivalence", "oversmoothing", "costs", "practice")


def _order(claim: Claim) -> tuple[int, str, int, str]:
    letters, number, rest = re.match(r"([A-Za-z]*)([0-9]*)(.*)", claim.id).groups()
    family = FAMILIES.index(claim.family) if claim.family in FAMILIES else len(FAMILIES)
    return family, letters, int(number or 0), rest


@cache
def all_claims() -> tuple[Claim, ...]:
    """The claims that ship with the project, in the theory's order, ledgers completed by what the machine found."""
    return tuple(map(with_found, written_claims()))


@cache
def written_claims() -> tuple[Claim, ...]:
    """The claims as they are written by hand."""
    found = []
    package = importlib.import_module("proofs_check.claims")
    for module in pkgutil.walk_packages(package.__path__, "proofs_check.claims."):
        if not module.ispkg and module.name != __name__:
            claim = getattr(importlib.import_module(module.name), "CLAIM", None)
            if claim is not None:
                found.append(claim)
    return checked(sorted(found, key=_order))


def load_claims(path: Path) -> tuple[Claim, ...]:
    """The claims of a user's file: `CLAIM` or `CLAIMS` at its top level.

    Raises ValueError with one sentence when the file is missing, does not run, or defines no claim.
    """
    if not path.is_file():
        raise ValueError(f"expected a Python file with claims, found no file {path}; check the path")
    if path.suffix != ".py":
        raise ValueError(f"expected a Python file with claims, got {path}; its name has to end in .py")
    spec = importlib.util.spec_from_file_location(f"user_claims_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # sys.exit() in the file is a mistake like any other
        raise ValueError(f"expected {path} to run, got {type(error).__name__}: {error}; correct the file") from error
    claims = getattr(module, "CLAIMS", None) or [getattr(module, "CLAIM", None)]
    if not (isinstance(claims, (list, tuple)) and all(isinstance(claim, Claim) for claim in claims)):
        raise ValueError(f"expected {path} to define CLAIM or a list CLAIMS, found neither; "
                         "see proofs_check.claim.Claim")
    return checked([sound(claim, path) for claim in claims], all_claims())


def claim_by_id(name: str, claims: tuple[Claim, ...] | None = None) -> Claim:
    """The claim with this id; raises ValueError that names the nearest id, or lists the known ones."""
    if claims is None:
        claims = _by_module_name(name)
        if not claims and (near := _nearest(name, _module_names())):
            _mistyped(name, getattr(importlib.import_module(near), "CLAIM").id)
        claims = claims or all_claims()
    for claim in claims:
        if claim.id == name:
            return claim
    if near := _nearest(name, {claim.id.lower(): claim.id for claim in claims}):
        _mistyped(name, near)
    raise ValueError(f"expected a claim id, got {name!r}; known ids are {', '.join(claim.id for claim in claims)}")


def _mistyped(name: str, near: str) -> NoReturn:
    raise ValueError(f"expected a claim id, got {name!r}; did you mean {near}? 'sinkproof claims' lists the ids")


def _nearest(name: str, known: dict[str, str]) -> str:
    """What the key that looks most like the name stands for; "" where none does."""
    return next((known[key] for key in difflib.get_close_matches(name.lower(), known, 1, 0.66)), "")


def _module_names() -> dict[str, str]:
    """The modules that are named after their claim, such as g4, found without importing any."""
    found = {}
    for family in FAMILIES:
        folder = Path(__file__).parent / family
        found |= {path.stem: f"proofs_check.claims.{family}.{path.stem}" for path in sorted(folder.glob("*.py"))
                  if re.fullmatch("[a-z][0-9]+[a-z]?", path.stem)}
    return found


def claim_beside(name: str, claims_file: Path | None) -> Claim:
    """The claim with this id among the project's and those of a user's file, if one is given; ValueError as above."""
    return claim_by_id(name, None if claims_file is None else (*all_claims(), *load_claims(claims_file)))


def _by_module_name(name: str) -> tuple[Claim, ...]:
    """The claim of the module named like it, if there is one: loading one claim takes a fraction of the time of all."""
    for family in FAMILIES:
        module = f"proofs_check.claims.{family}.{name.lower()}"
        if name.isalnum() and importlib.util.find_spec(module) is not None:
            claim = getattr(importlib.import_module(module), "CLAIM", None)
            if claim is not None and claim.id == name:
                return (with_found(claim),)
    return ()


def checked(claims: list[Claim], beside: tuple[Claim, ...] = ()) -> tuple[Claim, ...]:
    """The same claims; ValueError when an id occurs twice, or `uses` names an unknown id or runs in a circle."""
    known = {claim.id: claim for claim in (*beside, *claims)}
    if len(known) != len(claims) + len(beside):
        listed = [claim.id for claim in (*beside, *claims)]
        twice = next(name for name in listed if listed.count(name) > 1)
        owner = "which a built-in claim has" if twice in {claim.id for claim in beside} else "which occurs twice"
        raise ValueError(f"expected each claim to have an id of its own, got {twice!r}, {owner}; rename yours")

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"expected claims to use each other without a circle, got {' -> '.join((*path, name))}; "
                             "remove one of these uses")
        for other in known[name].uses:
            if other not in known:
                raise ValueError(f"expected {name} to use known claims, got {other!r}; correct the id")
            visit(other, (*path, name))

    for claim in claims:
        visit(claim.id, ())
    return tuple(claims)
