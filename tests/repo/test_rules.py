"""Rules about the repository itself."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = {".py", ".md", ".toml", ".v", ".json", ".lock", ".cff", ".ipynb", ""}
MACHINE = re.compile(r"(?<![\w.])/(?:work|root|farm)/|/tmp/[a-z]|py" + r"pi\.org|pythonhosted|debian\.org/")
LONGEST, WIDEST = 500, 120
# Working papers that are not in the repository: a source is a claim id or an arXiv number.
ABSENT = re.compile(r"\b(?:theory|design|style)\.md\b|\bP1-P7\b")


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:  # an unpacked source distribution has no git
        return [path for path in ROOT.rglob("*") if path.is_file() and ".venv" not in path.parts]
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def sources() -> list[Path]:
    return [path for path in tracked() if path.suffix in TEXT and path != Path(__file__)]


def test_no_path_of_a_machine_or_registry_host_is_in_the_tree() -> None:
    found = [f"{path.relative_to(ROOT)}:{number}" for path in sources()
             for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1) if MACHINE.search(line)]
    assert found == []


@pytest.mark.parametrize("line", ["see /work/main", "open('/tmp/x')", "from /root/a"])
def test_a_machine_path_is_seen(line: str) -> None:
    assert MACHINE.search(line)


def test_a_source_file_longer_than_five_hundred_lines_says_why_at_its_top() -> None:
    long = [path for path in tracked() if path.suffix in (".py", ".v") and len(path.read_text().splitlines()) > LONGEST]
    assert [str(path.relative_to(ROOT)) for path in long
            if "More than 500 lines, because" not in path.read_text()[:300]] == []


def test_every_test_folder_mirrors_a_room() -> None:
    rooms = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and not path.name.startswith("_")}
    assert rooms <= {"theory", "numerics", "proofs_check", "claims", "formal", "repo"}


def too_long(text: str) -> list[int]:
    """The numbers of lines that do not fit."""
    return [number for number, line in enumerate(text.splitlines(), 1) if len(line) > WIDEST]


def test_no_line_of_python_is_longer_than_a_hundred_and_twenty_characters() -> None:
    found = [f"{path.relative_to(ROOT)}:{number}" for path in tracked() if path.suffix == ".py"
             for number in too_long(path.read_text(encoding="utf-8"))]
    assert found == []


def test_a_line_that_is_too_long_is_seen() -> None:
    assert too_long("é" * 120 + "\n" + "x" * 121 + "\n") == [2]


def test_no_python_file_names_a_source_that_is_not_here() -> None:
    found = [f"{path.relative_to(ROOT)}:{number}" for path in sources() if path.suffix == ".py"
             for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if ABSENT.search(line)]
    assert found == []


@pytest.mark.parametrize("line", ["as in theory.md O1", "the claims P1-P7"])
def test_a_source_that_is_not_here_is_seen(line: str) -> None:
    assert ABSENT.search(line)
