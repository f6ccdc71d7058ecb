"""Finds the claims: every module of a family package that defines `CLAIM`, and a user's own file."""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from proofs_check.claim import Claim
from proofs_check.claims.found import with_found
from proofs_check.claims.own import sound

FAMILIES = ("geometry", "equivalence", "oversmoothing", "costs", "practice")


def _order(family: str, name: str) -> tuple[int, str, int, str]:
    letters, number, rest = re.match(r"([A-Za-z]*)([0-9]*)(.*)", name).groups()
    return FAMILIES.index(family) if family in FAMILIES else len(FAMILIES), letters, int(number or 0), rest


@cache
def _modules() -> dict[str, tuple[str, str]]:
    """id -> (family, module), in the theory's order, from the modules named after their claim; none is imported."""
    found = {path.stem[0].upper() + path.stem[1:]: (family, f"proofs_check.claims.{family}.{path.stem}")
             for family in FAMILIES for path in (Path(__file__).parent / family).glob("*.py")
             if re.fullmatch("[a-z][0-9]+[a-z]?", path.stem)}
    return dict(sorted(found.items(), key=lambda item: _order(item[1][0], item[0])))


def claim_ids(family: str | None = None) -> tuple[str, ...]:
    """The ids of the project's claims (of one family) in the theory's order; no claim is built for it."""
    return tuple(name for name, (of, _) in _modules().items() if family in (None, of))


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
    return checked(sorted(found, key=lambda claim: _order(claim.family, claim.id)))


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
    return checked([sound(claim, path) for claim in claims], claim_ids())


def claim_by_id(name: str, claims: tuple[Claim, ...] | None = None, own: tuple[Claim, ...] = ()) -> Claim:
    """The claim with this id: of `claims`, or by default of the project's and a user's `own`.

    Raises ValueError that names the nearest id, or lists the known ones.
    """
    return with_found(written_claim(name, own)) if claims is None else _named(name, claims)


def written_claim(name: str, own: tuple[Claim, ...] = ()) -> Claim:
    """The claim with this id as it is written by hand; building one takes a fraction of the time of all."""
    if name in _modules():
        return importlib.import_module(_modules()[name][1]).CLAIM
    return _named(name, own, claim_ids())


def _named(name: str, claims: tuple[Claim, ...], others: tuple[str, ...] = ()) -> Claim:
    """The claim with this id among `claims`; the ValueError knows of `others` too."""
    for claim in claims:
        if claim.id == name:
            return claim
    known = [*others, *(claim.id for claim in claims)]
    if near := nearest(name, known):
        raise ValueError(f"expected a claim id, got {name!r}; did you mean {near}? 'sinkproof claims' lists the ids")
    raise ValueError(f"expected a claim id, got {name!r}; known ids are {', '.join(known)}")


def nearest(name: str, known: Sequence[str]) -> str:
    """The known name that looks most like this one; "" where none does."""
    lower = {item.lower(): item for item in known}
    return next((lower[key] for key in difflib.get_close_matches(name.lower(), lower, 1, 0.66)), "")


def claim_beside(name: str, claims_file: Path | None) -> Claim:
    """The claim with this id among the project's and those of a user's file, if one is given; ValueError as above."""
    return claim_by_id(name, own=() if claims_file is None else load_claims(claims_file))


def checked(claims: list[Claim], beside: tuple[str, ...] = ()) -> tuple[Claim, ...]:
    """The same claims; ValueError when an id occurs twice, or `uses` names an unknown id or runs in a circle.

    `beside` are the ids of claims that have been checked before, so that they use none of these.
    """
    known = {claim.id: claim for claim in claims}
    listed = [*beside, *(claim.id for claim in claims)]
    if len(set(listed)) != len(listed):
        twice = next(name for name in listed if listed.count(name) > 1)
        owner = "which a built-in claim has" if twice in beside else "which occurs twice"
        raise ValueError(f"expected each claim to have an id of its own, got {twice!r}, {owner}; rename yours")

    def visit(name: str, path: tuple[str, ...]) -> None:
        if name in path:
            raise ValueError(f"expected claims to use each other without a circle, got {' -> '.join((*path, name))}; "
                             "remove one of these uses")
        for other in known[name].uses if name in known else ():
            if other not in known and other not in beside:
                raise ValueError(f"expected {name} to use known claims, got {other!r}; correct the id")
            visit(other, (*path, name))

    for claim in claims:
        visit(claim.id, ())
    return tuple(claims)
