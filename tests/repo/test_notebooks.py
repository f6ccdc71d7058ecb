"""The notebooks of notes/: stored without outputs, and they run from first to last cell."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notes").glob("*.ipynb"))
PICTURES = {"ten-minutes.ipynb": 4}
# In a process of its own: what nbclient leaves open there is no warning here.
RUN = """
import sys, nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
notebook = nbformat.reads(sys.stdin.read(), as_version=4)
nbformat.validate(notebook)
manager = AsyncKernelManager(kernel_name="python3", transport="ipc")
NotebookClient(notebook, km=manager, timeout=300).execute()
print(nbformat.writes(notebook))
"""


def run(text: str, folder: Path) -> subprocess.CompletedProcess:
    """The notebook with the outputs of a fresh kernel on standard output; another exit code where a cell fails.

    The kernel leaves its sockets in `folder`.
    """
    command = [sys.executable, "-W", "ignore", "-c", RUN]
    return subprocess.run(command, input=text, capture_output=True, text=True, cwd=folder)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_stores_no_output(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert cells and all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_runs_from_first_to_last_cell(path: Path, tmp_path: Path) -> None:
    result = run(path.read_text(encoding="utf-8"), tmp_path)
    assert result.returncode == 0, result.stderr[-2000:]
    outputs = [output for cell in json.loads(result.stdout)["cells"] for output in cell.get("outputs", [])]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == PICTURES[path.name]
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []


def test_a_cell_that_fails_is_seen(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None,
            "source": "assert 1 == 2"}
    result = run(json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), tmp_path)
    assert result.returncode != 0 and "AssertionError" in result.stderr
