"""What a page names exists: claim ids, modules, functions, theorems, files, certificates."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from proofs_check.certificates import _slug
from proofs_check.claims import all_claims
from proofs_check.engines import ENGINES
from proofs_check.examples import family

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("theory", "numerics", "proofs_check")
PAGES = [*sorted((ROOT / "notes").glob("*.md")), ROOT / "README.md", ROOT / "CHANGELOG.md"]
EVERY = (*all_claims(), *family.CLAIMS)
CLAIM_ID = re.compile(r"(?<![\w/_^\\{-])([GECOSMPTX][0-9]{1,2}[a-z]?)(?![\w^_(=]|\.[0-9a-z])")
# Not claims: the measurements on checkpoints, P1 to P7, and the page of C8's table.
OTHER_IDS = {f"P{number}" for number in range(1, 8)} | {"T32"}
# Mathematics that looks like an identifier, in pages that use words for symbols.
MATHS = re.compile(r"[A-Za-zΑ-ω]{1,2}_\w{1,5}|[a-z]_s")
TICK = re.compile(r"`([^`\n]+)`")


def prose(path: Path) -> str:
    """The hand-written part, without fenced blocks."""
    text = path.read_text(encoding="utf-8").split("<!-- generated")[0]
    return re.sub(r"```.*?```", "", text, flags=re.S)


@cache
def words() -> frozenset[str]:
    """Every identifier of our sources: Python names and fields, formula functions, Rocq theorems, array keys."""
    found: set[str] = set()
    for room in (*ROOMS, "tests"):
        for path in {*(ROOT / room).rglob("*.py")} - {Path(__file__).resolve()}:  # this file names what is not there
            found.add(path.stem)
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                texts = [getattr(node, field, None) for field in ("id", "name", "attr", "arg", "value")]
                found |= {text for text in texts if isinstance(text, str) and text.isidentifier()}
    for path in (ROOT / "proofs_check" / "formal").glob("*.v"):
        found |= set(re.findall(r"\w+", path.read_text(encoding="utf-8")))
    for claim in EVERY:
        for part in (*claim.parts, *(item.part for item in claim.variants)):
            found |= {part.name, *part.variables, *part.definitions, *(item.name for item in part.hypotheses)}
    for path in (ROOT / "numerics" / "data").glob("*.npz"):
        found |= set(np.load(path).files)
    return frozenset(found)


def missing(token: str) -> bool:
    """Does a piece of code in backticks name something of ours that is not there?"""
    call = re.fullmatch(r"([A-Za-z_][\w.]+)\(.*\)", token)
    name = call.group(1) if call else token
    if not re.fullmatch(r"[A-Za-z_][\w.*]*", name) or MATHS.fullmatch(name):
        return False
    if name.endswith((".cff", ".html", ".ipynb", ".json", ".md", ".py", ".v")):
        return False  # a file
    first, _, rest = name.partition(".")
    if first in ROOMS:
        return not resolves(name)
    if name.endswith("*"):
        return not any(word.startswith(name[:-1]) for word in words())
    if rest:
        return first not in words() or rest not in words()
    return ("_" in name or call is not None) and name not in words()


def resolves(name: str) -> bool:
    """Is this dotted name a module of ours, or something inside one?"""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


def no_such_certificate(name: str) -> bool:
    """A certificate is named by engine, part or variant, and role (`proofs_check.certificates.write_claim`)."""
    engine, _, rest = name.removeprefix("cert-").partition("-")
    targets = {_slug(part.name) for claim in EVERY for part in (*claim.parts, *(item.part for item in claim.variants))}
    return engine not in {*ENGINES, "ledger"} or not any(rest.startswith(f"{target}-") for target in targets)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_claim_ids_named_in_a_page_exist(path: Path) -> None:
    known = {claim.id for claim in EVERY} | OTHER_IDS
    text = re.sub(r"`[^`\n]*`", "", prose(path))
    assert sorted(set(CLAIM_ID.findall(text)) - known) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_names_in_backticks_exist(path: Path) -> None:
    assert sorted({token for token in TICK.findall(prose(path)) if missing(token)}) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_files_and_folders_in_backticks_exist(path: Path) -> None:
    named = {token for text in TICK.findall(prose(path)) for token in text.split()
             if re.fullmatch(rf"(?:{'|'.join(ROOMS)}|tests|notes)/[\w./-]*", token)}
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_certificates_named_in_a_page_are_written_by_a_run(path: Path) -> None:
    named = re.findall(r"cert-[\w-]+\.json", path.read_text(encoding="utf-8"))
    assert [name for name in named if no_such_certificate(name)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).exists()] == []


@pytest.mark.parametrize("token", [
    "numerics.sink_cost.cheapest", "numerics.no_such_module", "theory.statements.Theorem", "sink_price", "PRIMITIVE_*",
    "most_cheaply()", "oversmoothing_rate.uncover", "C1_unique_nuclear",
])
def test_a_name_that_is_not_there_is_seen(token: str) -> None:
    assert missing(token)


def test_an_id_and_a_certificate_that_are_not_there_are_seen() -> None:
    assert CLAIM_ID.findall("by C1, (E9) and C14's bound, G_ij, C_2, H10, O(1), P0.") == ["C1", "E9", "C14", "P0"]
    assert no_such_certificate("cert-ledger-nine-lives-refuted.json")
    assert no_such_certificate("cert-oracle-iff-evidence.json")
    assert not no_such_certificate("cert-ledger-nine-tokens-refuted.json")
