"""What the command line promises whatever it is given: runs it in this process and says what it broke.

A *finding* is a sentence about a broken promise: a traceback, an internal error, an exit code that is not documented, a
refusal that is not one sentence, a refusal that left something behind, a warning that leaked, a file half-written, JSON
that is none, a hang.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import os
import re
import signal
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from proofs_check.__main__ import main

DOCUMENTED = {0, 1, 2, 3, 5}
GRACE = 60.0
PROGRESS = re.compile(r"\d+( of \d+)?: |\d+ claims? on \d+ process")
# How our own refusals and click's begin; an exception's own words do not.
SENTENCE = re.compile(
    r"sinkproof( check)?: .*([Ee]xpected|hold different claims|in a circle|Invalid value|No such (option|command)|"
    r"Missing (option|argument)|does not take a value|requires an argument|cannot be used with|has no meaning for)")


@dataclass(frozen=True)
class Outcome:
    """What one run of the command line came to; `interrupted` when it was still at work after the given patience."""

    code: object
    stdout: str
    stderr: str
    warned: tuple[str, ...]
    interrupted: bool


def tree(folder: Path) -> dict[str, object]:
    """Every path below the folder with what it holds (a link's target, the bytes of a small file, else the size)."""
    found: dict[str, object] = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place) / name
            key = str(path.relative_to(folder))
            if path.is_symlink():
                found[key] = os.readlink(path)
            elif path.is_file():
                found[key] = path.read_bytes() if path.stat().st_size < 2**16 else path.stat().st_size
            else:
                found[key] = None
    return found


def run(arguments: list[str], folder: Path, patience: float = 300.0, encoding: str = "utf-8") -> Outcome:
    """Run `sinkproof ARGUMENTS` in this process with `folder` as working directory.

    After `patience` seconds a KeyboardInterrupt is raised, as by Ctrl-C; if that is not obeyed within `GRACE` more, the
    process dumps its stacks and exits, which whoever started it sees.
    """
    interrupted = False

    def interrupt(_signal: int, _frame: object) -> None:
        nonlocal interrupted
        interrupted = True
        raise KeyboardInterrupt

    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")
    err = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")
    before = signal.signal(signal.SIGALRM, interrupt)
    faulthandler.dump_traceback_later(patience + GRACE, exit=True, file=sys.__stderr__)
    with (contextlib.chdir(folder), patch.object(sys, "argv", ["sinkproof", *arguments]),
          warnings.catch_warnings(record=True) as warned,
          contextlib.redirect_stdout(out), contextlib.redirect_stderr(err)):
        warnings.simplefilter("always")
        # again and again: an interrupt that meets a finalizer is lost, for a user as well
        signal.setitimer(signal.ITIMER_REAL, patience, 10.0)
        try:
            code: object = main()
        except SystemExit as stop:
            code = stop.code
        except BaseException as escaped:  # whatever escapes would be a traceback
            code = f"{type(escaped).__name__}: {escaped}"
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
            faulthandler.cancel_dump_traceback_later()
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode(encoding, "replace"))
    return Outcome(code, texts[0], texts[1], tuple(f"{item.category.__name__}: {item.message}" for item in warned),
                   interrupted)


def findings(arguments: list[str], folder: Path, before: dict[str, object], outcome: Outcome,
             may_be_long: bool) -> list[str]:
    """Every promise that this run broke; `before` is the `tree` of the folder before it."""
    command = next(iter(arguments), "")
    found = []
    if outcome.interrupted:
        if not may_be_long:
            found.append("still at work when the patience was over")
        if outcome.code != 130:
            found.append(f"an interrupt ended with {outcome.code!r}, not with 130")
    elif not isinstance(outcome.code, int) or outcome.code not in DOCUMENTED | ({4} if command == "verify" else set()):
        found.append(f"exit code {outcome.code!r} is not documented")
    said = outcome.stdout + outcome.stderr
    if "Traceback" in said or "internal error" in said:
        found.append("a traceback or an internal error")
    if outcome.warned:
        found.append(f"a warning leaked: {outcome.warned[0]}")
    after = tree(folder)
    if half := [name for name in after if Path(name).name.startswith((".writing-", "tmp"))]:
        found.append(f"a temporary file was left: {half[0]}")
    lines = [line for line in outcome.stderr.splitlines() if not PROGRESS.match(line)]
    if outcome.code == 2:
        if not lines or (len(lines) != 1 and command != "check"):
            found.append(f"a refusal in {len(lines)} lines")
        if not all(SENTENCE.match(line) or (command == "check" and line.startswith("sinkproof check: "))
                   for line in lines):
            found.append("a refusal that does not say what was expected")
        if after != before:
            found.append(f"a refusal that changed {_changed(before, after)}")
    if outcome.code in (0, 1) and "--json" in arguments and "--help" not in arguments and "-h" not in arguments:
        try:
            json.loads(outcome.stdout, parse_constant=_no_constant)
        except ValueError as error:
            found.append(f"--json printed no JSON ({error})")
    return found


def _changed(before: dict[str, object], after: dict[str, object]) -> str:
    return ", ".join(name for name in sorted({*before, *after}) if before.get(name, ...) != after.get(name, ...))[:200]


def _no_constant(token: str) -> None:
    raise ValueError(f"{token} is no JSON")
