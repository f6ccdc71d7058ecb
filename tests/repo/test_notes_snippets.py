"""Snippets of the pages run.

- ```python: executed, in the order of the page, in one namespace;
- ```console: its `$ sinkproof ...` lines are executed one after the other in an empty folder that sees the rooms; each
  line shown below a command must be in its output (blanks count once; a line that ends in ... is a beginning);
- in the README, the indented commands that show an output: likewise;
- every other `sinkproof ...`, in ```sh blocks, indented or in backticks: its options must parse, and are not executed;
- `python -m ...`, `pytest ...`, `make ...`: the module, the files, the target exist.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from proofs_check.claims import all_claims
from proofs_check.cli import sinkproof

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted((ROOT / "notes").glob("*.md")), ROOT / "README.md"]
# `cost` stops at a time limit, so that its digits depend on the machine.
NOT_RUN = ("cost",)
PLACEHOLDERS = {"ID": "G1", "T,...": "8,16"}


def fences(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(encoding="utf-8"), flags=re.M | re.S)


def command_lines(text: str) -> list[str]:
    """Whatever is said to be typed: in backticks, after a $, on an indented line, or in a ```sh block."""
    tools = r"((?:sinkproof|python -m|pytest|make) "
    found = re.findall(rf"`{tools}[^`\n]+)`", text)
    found += re.findall(rf"^(?: {{4}}|\$ | {{4}}\$ ){tools}.+)$", text, flags=re.M)
    for block in re.findall(r"^```sh\n(.*?)^```", text, flags=re.M | re.S):
        found += re.findall(rf"^{tools}.+)$", block, flags=re.M)
    return [line.split("#")[0].strip() for line in found]


def complaint(line: str) -> str:
    """What is wrong with one command line; empty if nothing is."""
    words = [PLACEHOLDERS.get(word, word) for word in shlex.split(line.split(" > ")[0])]
    if words[0] == "sinkproof":
        try:
            name, command, rest = sinkproof.resolve_command(click.Context(sinkproof), words[1:])
            if rest:  # a command named alone says nothing about its options
                command.make_context(name, [*rest])
        except click.exceptions.Exit:  # --help
            return ""
        except click.ClickException as error:
            return error.format_message()
        ids = {word for word in rest if re.fullmatch(r"[A-Z]\w{1,2}", word)}
        return ", ".join(ids - {claim.id for claim in all_claims()}) if name in ("verify", "show", "falsify") else ""
    if words[0] == "python":
        return "" if importlib.util.find_spec(words[2]) else f"no module {words[2]}"
    if words[0] == "pytest":
        named = [word.split("::")[0] for word in words[1:] if not word.startswith("-")]
        return ", ".join(name for name in named if not (ROOT / name).exists())
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M)
    return "" if words[1] in targets else f"no target {words[1]}"


def squeezed(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text)


def unsaid(shown: list[str], output: str) -> list[str]:
    """The lines shown that the output does not have."""
    lines = [line.strip() for line in squeezed(output).splitlines()]
    return [line for line in (squeezed(line).strip() for line in shown) if line and line not in lines
            and not (line.endswith("...") and any(other.startswith(line[:-3].strip()) for other in lines))]


@pytest.mark.parametrize("path", [page for page in PAGES if fences(page, "python")], ids=lambda path: path.name)
def test_python_blocks_run(path: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict = {"__name__": "snippet"}
    for block in fences(path, "python"):
        exec(compile(block, path.name, "exec"), namespace)


def sessions(path: Path) -> list[tuple[str, list[str]]]:
    """(command line, lines shown below it) of the console blocks; in the README of what is indented."""
    blocks = fences(path, "console")
    if path.name == "README.md":
        blocks = [re.sub(r"^ {4}", "", block, flags=re.M)
                  for block in re.findall(r"(?:^ {4}.*\n)+", path.read_text(encoding="utf-8"), flags=re.M)]
    found = [part.splitlines() for block in blocks for part in re.split(r"^\$ ", block, flags=re.M)[1:]]
    return [(command.split("#")[0].strip(), shown) for command, *shown in found
            if path.name != "README.md" or (shown and command.split()[1] not in NOT_RUN)]


@pytest.mark.slow
@pytest.mark.parametrize("path", [page for page in PAGES if sessions(page)], ids=lambda path: path.name)
def test_console_blocks_print_what_they_show(path: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for room in ("theory", "numerics", "proofs_check"):
        (tmp_path / room).symlink_to(ROOT / room)
    for command, shown in sessions(path):
        result = CliRunner().invoke(sinkproof, shlex.split(command)[1:], standalone_mode=False)
        assert result.exception is None and not result.return_value, (command, result.output)
        assert unsaid(shown, result.output) == [], (command, result.output)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_command_lines_parse(path: Path) -> None:
    wrong = {line: complaint(line) for line in command_lines(path.read_text(encoding="utf-8"))}
    assert {line: said for line, said in wrong.items() if said} == {}


def test_the_tutorial_builds_the_example_file() -> None:
    blocks = "".join(fences(ROOT / "notes" / "tutorial.md", "python"))
    file = (ROOT / "proofs_check" / "examples" / "repeated_tokens.py").read_text(encoding="utf-8")
    assert [line for line in blocks.splitlines() if line] == [line for line in file.splitlines() if line]
    assert len(file.splitlines()) < 60


@pytest.mark.parametrize("line", [
    "sinkproof verify --profile slow", "sinkproof prove G1", "sinkproof show C99", "sinkproof cost --norms nuclear",
    "python -m proofs_check.note", "pytest tests/claims/test_nothing.py", "make coffee",
])
def test_a_command_line_that_is_wrong_is_seen(line: str) -> None:
    assert complaint(line)


def test_a_line_that_is_not_printed_is_seen() -> None:
    assert unsaid(["a  b", "c d ...", "e"], "x\na b\nc d e f\n") == ["e"]
