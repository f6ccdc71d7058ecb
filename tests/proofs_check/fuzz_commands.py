"""Command lines drawn from click's own parameters: every command, every option, sound and unsound values."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

import click
from fuzz_claims import claims_file
from fuzz_files import FLOATS, JUNK, array_file, certificate_folder, out_place, sound_claim, strange_place
from fuzz_oracle import findings, run, tree
from hypothesis import strategies as st

from proofs_check.cli import sinkproof

# Values that keep a run short; options not named here get values from their type alone.  An option whose value decides
# how much work there is may also get a large one, and then the run may be long but must obey an interrupt.
SMALL = {
    "cost": {"--time-limit": ("0.2", "1")}, "bench": {"--profile": ("quick",)}, "phase": {"--points": ("2", "3")},
    "falsify": {"--budget": ("1", "7", "30")}, "verify": {"--jobs": ("1",)},
    "scale": {"--sizes": ("4,5,6,7", "4,6,8,9"), "--draws": ("1",), "--time-limit": ("0.5",)},
    "simulate": {"-T": ("2", "3", "5"), "-d": ("1", "2", "3"), "--draws": ("2", "9"), "--layers": ("1", "2"),
                 "--memory": ("1", "64")},
}
WORK = {"--budget", "--points", "--sizes", "--draws", "--layers", "-T", "-d", "--num-tokens", "--dim", "--repeats",
        "--jobs", "--threads", "--t"}
PATIENCE = 300.0  # a hang, on any machine
HUGE = ("100000", str(2**31), str(2**40), "9" * 30)
LONG = {"claims": {"--ledger"}, "falsify": {"--all"}, "scale": {"--quick", "--cloud"}}  # options that make a run long
ALWAYS_LONG = {"bench", "falsify"}  # their smallest run may take a minute
FILES = {"--tokens": "array", "--values": "array", "--value": "array", "--attention": "array", "--out": "out",
         "--claims": "claims"}
TEXTS = {
    "--sink": ("0", "1", "-1", "7", "s", "x", "y"),
    "--drop": ("null sink", "x"), "--part": ("if", "x"), "--family": ("costs", "x"),
    "--norm": ("nuclear", "frobenius", "spectral", "1", "1.5", "3"),
    "--x-range": ("3,8", "0.1,0.5", "1,2"), "--y-range": ("3,8", "0.1,0.5", "1,2"),
    "--value": ("random:0,0.25", "scaled:2", "drift:0.5", "structured:1,2", "random:1,0", "scaled:-1", "drift:-9",
                "scaled:1e308"),
    "--attention": ("uniform", "diagonal", "sink", "causal", "mix:0.5", "banded:2", "block:2", "mix:", "block:0",
                    "banded:99"),
    "--t": ("0", "0,1", "0.5", "-1", "2", "1e308"), "--pair": ("0,1", "1,0", "0,0", "0", "9,1", "0.5,1"),
    "--sizes": ("4,5,6,7", "1,2,3,4", "4"),
}
IDS = ("E2", "G5", "S1", "P0", "NOPE", "e2", "")


@dataclass(frozen=True)
class Plan:
    """A command line whose files are named by the seeds that make them: it can be printed, and run again."""

    command: str
    words: tuple[tuple[str, str, object], ...]  # (option or "" for an argument, kind, text or seed)
    may_be_long: bool
    encoding: str


def _values(command: str, option: click.Parameter, flag: str) -> st.SearchStrategy:
    """(kind, value, may it be long) for one option or argument."""
    kinds = []
    if flag in FILES:
        kinds += 3 * [st.tuples(st.just(FILES[flag]), st.integers(0, 2**32), st.just(False))]
    small = SMALL.get(command, {}).get(flag)
    texts = list(TEXTS.get(flag, ()))
    if isinstance(option.type, click.Choice):
        texts += list(option.type.choices)
    if small or texts:
        kinds += 4 * [st.tuples(st.just("text"), st.sampled_from(small or texts), st.just(False))]
    if flag in WORK:
        kinds.append(st.tuples(st.just("text"), st.sampled_from(HUGE), st.just(True)))
    elif isinstance(option.type, (click.types.IntParamType, click.IntRange)):
        ends = [end for end in (getattr(option.type, "min", None), getattr(option.type, "max", None))
                if end is not None]
        near = [*ends, *(end + step for end in ends for step in (-1, 1)), 0, 1, 5]
        kinds += 2 * [st.tuples(st.just("text"), st.sampled_from(near).map(str), st.just(False))]
    if isinstance(option.type, click.types.FloatParamType):
        kinds += 2 * [st.tuples(st.just("text"), st.sampled_from(FLOATS), st.just(False))]
    if flag not in WORK or not small:
        junk = st.sampled_from(JUNK) | st.text(max_size=4).filter(lambda text: "\0" not in text)
        kinds.append(st.tuples(st.just("text"), junk, st.just(False)))
    return st.one_of(*kinds)


def _flag(option: click.Parameter) -> str:
    return max(option.opts, key=lambda name: (name in SMALL.get("simulate", {}), len(name)))


@st.composite
def plans(draw: st.DrawFn, commands: tuple[str, ...] | None = None) -> Plan:
    """A command line for one of the commands."""
    name = draw(st.sampled_from(commands or tuple(sinkproof.commands)))
    words: list[tuple[str, str, object]] = []
    long = name in ALWAYS_LONG
    given: set[str] = set()
    for option in sinkproof.commands[name].params:
        if isinstance(option, click.Argument):
            if name == "check":
                words.append(("", "folder", draw(st.integers(0, 2**32))))
            else:
                choices = IDS if name != "verify" else ("NOPE", "MINE", "MINE", "")
                if isinstance(option.type, click.Choice):
                    choices = option.type.choices
                words += [("", "text", draw(st.sampled_from(choices)))
                          for _ in range(draw(st.sampled_from((0, 1, 1, 1, 2))))
                          if name != "verify" or draw(st.booleans())]
            continue
        flag = _flag(option)
        needed = (option.required or flag in SMALL.get(name, {}) or flag == "--out"
                  or (flag, name) == ("--claims", "verify"))
        if not (needed and draw(st.integers(0, 30)) or draw(st.integers(0, 3)) == 0):
            continue
        given.add(flag)
        if getattr(option, "is_flag", False):
            words.append((flag, "flag", ""))
            continue
        for _ in range(draw(st.sampled_from((1, 1, 1, 2)))):
            kind, value, may_be_long = draw(_values(name, option, flag))
            long = long or may_be_long
            words.append((flag, kind, value))
    if name == "check" and draw(st.booleans()):
        words.append(("--json", "flag", ""))
    if draw(st.integers(0, 30)) == 0:
        words.insert(draw(st.integers(0, len(words))), ("", "text", draw(st.sampled_from(JUNK))))
    # an option left out has its default, whose work may take minutes; a verify without --claims is about all claims
    long = long or bool(set(SMALL.get(name, {})) - given) or (name == "verify" and "--claims" not in given)
    long = long or bool(LONG.get(name, set()) & given)
    return Plan(name, tuple(words), long, draw(st.sampled_from(("utf-8", "utf-8", "utf-8", "ascii", "latin-1"))))


@cache
def _sound() -> dict[str, bytes]:
    return sound_claim()


def spelled(plan: Plan, folder: Path) -> list[str]:
    """Make the plan's files in `folder` and spell its words."""
    arguments = [plan.command]
    for place, (flag, kind, value) in enumerate(plan.words):
        arguments += [flag] if flag else []
        rng = Random(value) if isinstance(value, int) else None
        below = folder / f"f{place}"
        if kind == "text":
            arguments.append(str(value))
        elif kind == "out":
            below.mkdir()
            arguments.append(out_place(rng, below))
        elif kind == "array":
            below.mkdir()
            arguments.append(array_file(rng, below))
        elif kind == "claims":
            below.mkdir()
            path = below / "mine.py"
            if rng.randrange(12) == 0:
                strange_place(rng, path)
            else:
                path.write_bytes(claims_file(rng))
            arguments.append(str(path))
        elif kind == "folder":
            below.mkdir()
            if rng.randrange(12) == 0:
                strange_place(rng, below / "run")
            else:
                certificate_folder(rng, below / "run", _sound())
            names = sorted(path.name for path in (below / "run").iterdir()) if (below / "run").is_dir() else []
            arguments.append(str(below / "run" / rng.choice(names)) if names and rng.randrange(4) == 0
                             else str(below / "run"))
    return arguments


def broken_promises(plan: Plan, folder: Path) -> tuple[list[str], str]:
    """Run the plan in an empty folder: (findings, what was run and said)."""
    work = folder / "work"
    work.mkdir()
    arguments = spelled(plan, folder)
    before = tree(folder)
    outcome = run(arguments, work, 6.0 if plan.may_be_long else PATIENCE, plan.encoding)
    found = findings(arguments, folder, before, outcome, plan.may_be_long)
    said = f"stdout: {outcome.stdout[:400]}\nstderr: {outcome.stderr[:1500]}"
    return found, f"{plan}\nsinkproof {arguments}\nexit {outcome.code!r}\n{said}"


def emptied(folder: Path) -> Path:
    """The folder, new and empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
