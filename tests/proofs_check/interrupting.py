"""Interrupt `sinkproof verify` at random points, SIGINT and SIGKILL in turn, go on, and compare with a run left alone.

    python tests/proofs_check/interrupting.py --interrupts 20 --seed 0         all claims, `sinkproof verify --jobs 2`
    python tests/proofs_check/interrupting.py --interrupts 6 --forked G5 E1    in forked processes, which start at once

Exit 0 when every finished run says the same as the one left alone (report and certificates, times apart) and nothing
half-written remains; 1 with what differs.  Needs a system with fork and signals, not Windows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

Launch = Callable[[Path], "Process"]
LONGEST_WAIT = 7200.0


class Process:
    """A run of `verify` that can be waited for and signalled; its standard error goes to a file."""

    def __init__(self, pid: int, errors: Path):
        self.pid, self.errors, self.code = pid, errors, None

    def ended(self, within: float) -> bool:
        """Wait at most so many seconds."""
        end = time.monotonic() + within
        while self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                return False
            else:
                time.sleep(0.01)
        return True


def commands(ids: list[str], jobs: int) -> Launch:
    """The command as a user starts it."""
    def launch(out: Path) -> Process:
        errors = out.with_suffix(".stderr")
        with errors.open("wb") as stream:
            started = subprocess.Popen([sys.executable, "-m", "proofs_check", "verify", *ids, "--out", str(out),
                                        "--jobs", str(jobs)], stdout=subprocess.DEVNULL, stderr=stream)
        return Process(started.pid, errors)
    return launch


def forked(ids: list[str]) -> Launch:
    """The same code in a forked process, where the modules are imported already."""
    from proofs_check import cli

    def launch(out: Path) -> Process:
        errors = out.with_suffix(".stderr")
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                with errors.open("w", buffering=1) as stream, open(os.devnull, "w", encoding="utf-8") as silent:
                    sys.argv = ["sinkproof", "verify", *ids, "--out", str(out), "--jobs", "1"]
                    sys.stderr, sys.stdout = stream, silent
                    code = cli.main()
            finally:
                os._exit(code)
        return Process(pid, errors)
    return launch


def without_times(value: object) -> object:
    """A report without its times."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key != "seconds"}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def outcome(out: Path) -> dict:
    """All that a run leaves, times apart: report, page, and the bytes of every file but run.json, which holds times."""
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    files = {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*"))
             if path.is_file() and path.name not in ("report.json", "run.json") and path.suffix != ".html"}
    return {"report": without_times(report), "files": files}


def differences(left: dict, right: dict) -> list[str]:
    found = [] if left["report"] == right["report"] else ["report.json says something else"]
    names = sorted(set(left["files"]) | set(right["files"]))
    return found + [f"{name} differs" for name in names if left["files"].get(name) != right["files"].get(name)]


def interrupt(launch: Launch, interrupts: int, seed: int, folder: Path,
              say: Callable[[str], None] = print) -> list[str]:
    """Interrupt so many times; what went wrong, in words."""
    rng, found = random.Random(seed), []
    alone = launch(folder / "alone")
    start = time.monotonic()
    if not alone.ended(LONGEST_WAIT) or alone.code not in (0, 1):
        return [f"the run left alone ended with {alone.code}: {alone.errors.read_text()[-300:]}"]
    seconds, reference = time.monotonic() - start, outcome(folder / "alone")
    say(f"left alone: {seconds:.1f} s, {len(reference['files'])} files")
    done, fresh, out = 0, 0, folder / "out-0"
    while True:
        run = launch(out)
        if done < interrupts and not run.ended(rng.uniform(0.0, seconds / 3)):  # long enough to finish some claims
            kind = (signal.SIGINT, signal.SIGKILL)[done % 2]
            os.kill(run.pid, kind)
            run.ended(LONGEST_WAIT)
            done += 1
            stored = len(list((out / "certificates").glob("*/run.json")))
            say(f"{done}: {kind.name} with {stored} claims stored, exit code {run.code}")
            if kind == signal.SIGINT and (run.code not in (130, 0, 1) or "Traceback" in run.errors.read_text()):
                found.append(f"SIGINT ended with {run.code}: {run.errors.read_text()[-300:]}")
            continue
        run.ended(LONGEST_WAIT)
        resumed = run.errors.read_text().count("stored evidence")
        if run.code != alone.code:
            found.append(f"a resumed run ended with {run.code}, not {alone.code}: {run.errors.read_text()[-300:]}")
            return found
        found += differences(reference, outcome(out))
        found += [f"{path.name} was left behind" for path in out.rglob(".writing-*")]
        say(f"finished after {done} interrupts, {resumed} claims taken from the store: "
            f"{'as left alone' if not found else found}")
        if done == interrupts:
            return found
        fresh += 1
        out = folder / f"out-{fresh}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ids", nargs="*", help="claims; all without any")
    parser.add_argument("--interrupts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--forked", action="store_true")
    options = parser.parse_args()
    launch = forked(options.ids) if options.forked else commands(options.ids, options.jobs)
    folder = Path(tempfile.mkdtemp())
    try:
        found = interrupt(launch, options.interrupts, options.seed, folder, lambda text: print(text, flush=True))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(found)
          or f"{options.interrupts} interrupts: every finished run says the same as the one left alone")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
