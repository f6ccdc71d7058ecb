"""Rules about the repository itself."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = {".py", ".md", ".toml", ".v", ".json", ".lock", ".cff", ".ipynb", ""}
MACHINE = re.compile(r"(?<![\w.])/(?:work|root|farm)/|/tmp/[a-z]|py" + r"pi\.org|pythonhosted|debian\.org/")
LONGEST = 500


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
