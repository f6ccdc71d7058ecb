"""A page per claim with the same headings, and generated parts that are fresh.

That what the pages name exists is tested in test_notes_names.py, that their snippets run in test_notes_snippets.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proofs_check import notes
from proofs_check.claims import all_claims

ROOT = Path(__file__).resolve().parents[2]
HEADINGS = ("Statement", "Why it holds", "Corner cases", "Not claimed", "Evidence", "History")
WORDS = {"Not claimed": 3, "Evidence": 5}  # fewest words below a heading; ten below the others


def sections(page: str) -> dict[str, str]:
    """The hand-written sections of a page by heading; those that share a beginning are put together."""
    found: dict[str, str] = {}
    for block in page.split(notes.BEGIN)[0].split("\n## ")[1:]:
        title, _, text = block.partition("\n")
        for heading in HEADINGS:
            if title.startswith(heading):
                found[heading] = found.get(heading, "") + text
    return found


def lacking(page: str) -> list[str]:
    found = sections(page)
    return [heading for heading in HEADINGS if len(found.get(heading, "").split()) < WORDS.get(heading, 10)]


def test_generated_parts_are_fresh() -> None:
    assert [path.name for path, text in notes.pages().items() if not path.is_file() or path.read_text() != text] == []


def test_a_stale_page_is_seen(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(notes, "NOTES", tmp_path)
    assert notes.main(["--check"]) == 1 and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.id)
def test_a_claims_page_has_every_section(claim) -> None:
    page = (ROOT / "notes" / f"{claim.id}.md").read_text(encoding="utf-8")
    assert lacking(page) == []
    assert page.startswith(f"# {claim.id}: ")
    assert re.search("our reconstruction of arXiv 2605.08453", page, flags=re.I)


def test_a_missing_and_an_empty_section_are_seen() -> None:
    page = (ROOT / "notes" / "G4.md").read_text(encoding="utf-8")
    assert lacking(page.replace("## Corner cases", "## Cases")) == ["Corner cases"]
    assert lacking(re.sub(r"## History\n.*?(?=<!--)", "## History\n\nNone.\n\n", page, flags=re.S)) == ["History"]


def test_the_citation_file_agrees_with_the_package() -> None:
    from proofs_check import __version__

    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {__version__}\n" in citation and f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text()
    assert not re.search(r"^version = \"", (ROOT / "pyproject.toml").read_text(), flags=re.M)
