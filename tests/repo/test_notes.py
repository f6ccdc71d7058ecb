"""The notes say what the code says: a page per claim, generated parts fresh, names that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proofs_check import notes
from proofs_check.claims import all_claims
from proofs_check.cli import sinkproof

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "notes").glob("*.md")) + [ROOT / "README.md"]


def test_generated_parts_are_fresh() -> None:
    assert [path.name for path, text in notes.pages().items() if not path.is_file() or path.read_text() != text] == []


def test_a_stale_page_is_seen(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(notes, "NOTES", tmp_path)
    assert notes.main(["--check"]) == 1 and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_files_named_in_a_page_exist(path: Path) -> None:
    named = re.findall(r"`((?:theory|numerics|proofs_check|tests|notes)/[\w./-]+\.(?:py|v|md|json|npz|png))", path.read_text())
    named += [f"notes/{name}" for name in re.findall(r"\]\((?!http)([\w./-]+\.(?:md|png))\)", path.read_text())
              if not name.startswith("notes/")] if path.parent.name == "notes" else []
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_commands_and_claims_named_in_a_page_exist(path: Path) -> None:
    text = path.read_text()
    commands = set(re.findall(r"(?:`|\$ |\n    )sinkproof ([a-z]+)", text))
    assert commands <= set(sinkproof.commands)
    ids = {claim.id for claim in all_claims()}
    verified = {name for group in re.findall(r"sinkproof (?:verify|show) ((?:[A-Z][0-9]+m? ?)+)", text) for name in group.split()}
    assert verified <= ids
