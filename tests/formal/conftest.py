"""A tiny set of sources: it needs MathComp's first library only, so each build takes about a second."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from proofs_check.formal.listing import pin

FIRST = """From mathcomp Require Import all_ssreflect.
Definition three := 3.
(* One and two are three. *)
Theorem X1_sum : 1 + 2 = three. Proof. by []. Qed.
"""
SECOND = """From mathcomp Require Import all_ssreflect.
From sinkproof Require Import First.
Theorem X2_add (n : nat) : n = 1 -> n + 2 = three.
Proof. by move=> ->. Qed.
Lemma X2_satisfiable : exists n, n = 1. Proof. by exists 1. Qed.
"""
LIST = {
    "sources": {"Second.v": "", "First.v": ""},
    "theorems": [
        {"claim": "X1", "part": "", "file": "First.v", "theorem": "X1_sum"},
        {"claim": "X2", "part": "", "file": "Second.v", "theorem": "X2_add", "satisfiable": "X2_satisfiable"},
    ],
}


@pytest.fixture
def needs_rocq() -> None:
    if shutil.which("coqc") is None:
        pytest.skip("coqc is not installed, so nothing can be built")


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A directory with two sources and a pinned `theorems.json` that the gate accepts."""
    (tmp_path / "First.v").write_text(FIRST)
    (tmp_path / "Second.v").write_text(SECOND)
    (tmp_path / "theorems.json").write_text(json.dumps(LIST))
    pin(tmp_path)
    return tmp_path


@pytest.fixture
def edit(sources: Path) -> Callable[..., None]:
    """Replace a text that occurs once in a file of `sources`, and pin the result unless told not to."""

    def change(file: str, old: str, new: str, *, pinned: bool = True) -> None:
        text = (sources / file).read_text()
        assert text.count(old) == 1
        (sources / file).write_text(text.replace(old, new))
        if pinned:
            pin(sources)

    return change
