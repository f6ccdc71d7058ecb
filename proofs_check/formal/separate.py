"""Rocq's separate checker, coqchk: run it on compiled libraries and judge its summary."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from .rocq import LIBRARY, run

# What the separate checker lists as axioms although no statement rests on them: built-in machine numbers.
BUILT_IN = ("Coq.Numbers.Cyclic.Int63.PrimInt63.", "Coq.Floats.PrimFloat.")


def check_separately(built: Mapping[str, Path], timeout: int = 3600) -> tuple[str, tuple[str, ...]]:
    """Run coqchk on compiled modules: its summary, and one sentence for each thing in it that is not allowed."""
    with tempfile.TemporaryDirectory(prefix="sinkproof-") as directory:
        work = Path(directory)
        for module, path in built.items():
            (work / f"{module}.vo").write_bytes(path.read_bytes())
        modules = [f"{LIBRARY}.{module}" for module in built]
        done = run(["coqchk", "-silent", "-o", "-Q", ".", LIBRARY, *modules], work, timeout)
    return judge_summary(done.returncode, done.stdout + done.stderr)


def judge_summary(returncode: int, printed: str) -> tuple[str, tuple[str, ...]]:
    """Judge coqchk's exit code and output: the summary without built-in numbers, and a sentence for each fault."""
    _, found, summary = printed.partition("CONTEXT SUMMARY")
    if returncode != 0 or not found:
        return "", (f"coqchk did not accept the libraries: {' '.join(printed.split())[-400:]}",)
    problems, seen, title = [], set(), ""
    for line in summary.splitlines():
        text = line.strip()
        if text.startswith("*"):
            title, _, text = text[1:].partition(":")
            title, text = title.strip(), text.strip()
            seen.add(title)
        if title == "Theory" or not text or text == "<none>" or set(text) == {"="}:
            continue
        if not (title == "Axioms" and text.startswith(BUILT_IN)):
            problems.append(f"coqchk reports under {title}: {text}")
    for needed in ("Axioms", "type-in-type", "unsafe (co)fixpoints", "positivity is assumed"):
        if not any(needed in t for t in seen):
            problems.append(f"coqchk's summary says nothing about {needed!r}, so it is not understood.")
    lines = [line.strip() for line in summary.splitlines()]
    kept = [line for line in lines if line and not line.startswith(BUILT_IN)]
    return "\n".join(kept), tuple(problems)
