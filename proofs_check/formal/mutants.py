"""False variants of the statements: with the original proof script none may build, and some are proved false.

`mutants.json` lists them as data:

    {"mutants": [{"file": "Geometry.v", "theorem": "G5_mass", "what": "the bound is strict",
                  "replace": "<=", "by": "<", "negation": "Negations.G5_strict"}, ...]}

`replace` occurs exactly once in the statement (the text between the theorem's name and the full stop that
ends the sentence). The mutant is the file up to this theorem's `Qed` with the statement changed and the proof
script untouched. It must fail *inside the proof*: a mutant whose statement is ill-typed tests nothing and is
reported as broken. `negation` (optional) is a lemma, of a file listed in `theorems.json`, whose type is `~
mutant` where `mutant` is the changed statement quantified over all the theorem's arguments; Rocq checks
exactly that. So the theorem must name all its arguments itself (no section variables).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from .gate import CLOSED
from .listing import HERE, read_list
from .rocq import (
    LIBRARY,
    BuildFailed,
    RocqMissing,
    all_dependencies,
    build,
    cache_or_temporary,
    compile_module,
    default_cache,
    find_toolchain,
)
from .vernacular import blank_comments_and_strings, sentences

HEADER = {"From", "Require", "Import", "Export", "Set", "Unset", "Open", "Local"}
STATES = r"\b(?:Theorem|Lemma|Corollary|Proposition|Fact)\s+{}\b"


@dataclass(frozen=True)
class Mutant:
    """One false variant of one statement; see the module's docstring."""

    file: str
    theorem: str
    what: str
    replace: str
    by: str
    negation: str = ""


@dataclass(frozen=True)
class MutantReport:
    """What became of a mutant: `killed` when its proof failed (and its negation, if named, is proved), or `reason`."""

    mutant: Mutant
    killed: bool
    negated: bool
    reason: str


def read_mutants(directory: Path = HERE) -> tuple[Mutant, ...]:
    """Read `mutants.json`.  Raises ValueError, with one sentence, when it is not what the module's docstring says."""
    try:
        data = json.loads((directory / "mutants.json").read_text(encoding="utf-8"))
        return tuple(Mutant(**line) for line in data["mutants"])
    except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"expected a list of mutants in mutants.json, got {error!r}; restore its form") from error


def locate(source: str, theorem: str) -> tuple[int, int, int]:
    """Where a theorem stands: start of its sentence, end of the statement (its full stop), end of its `Qed.`."""
    blank = blank_comments_and_strings(source)
    # Blanking a string keeps its length, so positions agree.
    start = re.search(STATES.format(re.escape(theorem)), blank)
    if start is None:
        raise ValueError(f"expected a theorem named {theorem}, got none; correct mutants.json")
    stop = re.search(r"\.(?=\s)", blank[start.end() :])
    end = re.search(r"\bQed\.(?=\s|\Z)", blank[start.end() :])
    if stop is None or end is None:
        raise ValueError(f"expected a proof of {theorem} that ends with Qed, got none; finish it")
    return start.start(), start.end() + stop.start(), start.end() + end.end()


def mutate(source: str, mutant: Mutant) -> tuple[str, tuple[int, int], str]:
    """The mutated source, cut after the theorem; where its statement ends (line, byte in it); that statement."""
    start, stop, end = locate(source, mutant.theorem)
    statement = source[start:stop]
    if statement.count(mutant.replace) != 1 or mutant.replace == mutant.by:
        raise ValueError(f"expected {mutant.replace!r} exactly once in the statement of {mutant.theorem}, with another "
                         f"text to replace it, got {statement.count(mutant.replace)} times; correct mutants.json")
    changed = statement.replace(mutant.replace, mutant.by)
    head = source[:start] + changed
    place = (head.count("\n") + 1, len(head.rpartition("\n")[2].encode()))
    return head + source[stop:end] + "\n", place, changed


def as_proposition(statement: str) -> str:
    """Turn `Theorem name binders : body` into `forall binders, body`."""
    rest = re.sub(r"^\s*\w+\s+[\w']+", "", statement, count=1)
    depth = 0
    for i, char in enumerate(rest):
        depth += (char in "([{") - (char in ")]}")
        if char == ":" and depth == 0:
            binders, body = rest[:i].strip(), rest[i + 1 :].strip()
            return f"forall {binders}, {body}" if binders else body
    raise ValueError(f"expected a colon between arguments and body, got the statement {statement[:60]!r}; write one")


def header(source: str) -> str:
    """The sentences of a source that set up scopes, imports and implicit arguments."""
    kept = []
    for sentence in sentences(source):
        first, second = (*sentence.words, "", "")[:2]
        if first in HEADER and (first != "Local" or second == "Open"):
            kept.append(source[sentence.start : sentence.end])
    return "\n".join(kept) + "\n"


def negation_file(source: str, mutant: Mutant) -> str:
    """A source that compiles exactly when the named lemma proves the negation of the mutated statement."""
    module, _, lemma = mutant.negation.rpartition(".")
    changed = mutate(source, mutant)[2]
    return (
        header(source)
        + f"Require {LIBRARY}.{module}.\nFrom {LIBRARY} Require Import {mutant.file[:-2]}.\n"
        + f"Definition mutant : Prop := {as_proposition(changed)}.\n"
        + f"Definition negated : ~ mutant := @{LIBRARY}.{module}.{lemma}.\nPrint Assumptions negated.\n"
    )


def run_mutants(directory: Path = HERE, *, cache: Path | None = None,
                only: frozenset[str] | None = None) -> tuple[MutantReport, ...]:
    """Try to build every mutant (of the theorems `only`, if given), and check the named negations.

    Raises ValueError when a data file is broken, BuildFailed when an original does not build, RocqMissing
    without Rocq.
    """
    pinned, _ = read_list(directory)
    mutants = tuple(item for item in read_mutants(directory) if only is None or item.theorem in only)
    toolchain = find_toolchain()
    sources = {file[:-2]: (directory / file).read_text(encoding="utf-8") for file in pinned}
    reports = []
    with cache_or_temporary(cache) as store:
        built = build(sources, toolchain, store)
        compiled = {m: p for m, p in built.items() if isinstance(p, Path)}
        for outcome in built.values():
            if isinstance(outcome, BuildFailed):
                raise outcome
        for mutant in mutants:
            module = mutant.file[:-2]
            if module not in sources:
                raise ValueError(f"expected a file of theorems.json, got {mutant.file} in mutants.json; list it")
            needed = {m: compiled[m] for m in all_dependencies(module, sources)}
            reason, negated = "", False
            text, place, _ = mutate(sources[module], mutant)
            try:
                compile_module(module, text, needed, toolchain, store)
                reason = "it builds with the original proof"
            except BuildFailed as failure:
                found = re.search(r"line (\d+), characters (\d+)-", failure.output)
                at = (int(found.group(1)), int(found.group(2))) if found else (0, 0)
                if at <= place or "yntax error" in failure.output:
                    reason = f"it fails before its proof begins: {' '.join(failure.output.split())[:300]}"
            if mutant.negation and not reason:
                wanted = mutant.negation.rpartition(".")[0]
                if wanted not in sources:
                    raise ValueError(f"expected Module.lemma of a file of theorems.json, got {mutant.negation}; "
                                     "correct mutants.json")
                modules = {*all_dependencies(wanted, sources), wanted, *needed, module}
                libraries = {m: compiled[m] for m in modules}
                try:
                    text = negation_file(sources[module], mutant)
                    printed = compile_module("Negated", text, libraries, toolchain, store)[1]
                    negated = printed.split("\n")[0].strip() == CLOSED
                    if not negated:
                        reason = f"its negation rests on more than Rocq's rules: {' '.join(printed.split())}"
                except BuildFailed as failure:
                    said = " ".join(failure.output.split())[:400]
                    reason = f"{mutant.negation} is not its negation: {said}"
            reports.append(MutantReport(mutant, not reason, negated, reason))
    return tuple(reports)


def main(arguments: list[str] | None = None) -> int:
    """Command line: `python -m proofs_check.formal.mutants`; exit code 1 when a mutant survives."""
    parser = argparse.ArgumentParser(
        prog="python -m proofs_check.formal.mutants", description="Try to build every false variant."
    )
    parser.add_argument("--no-cache", action="store_true", help="build everything afresh")
    parser.add_argument("--directory", type=Path, default=HERE, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        reports = run_mutants(options.directory, cache=None if options.no_cache else default_cache())
    except (ValueError, BuildFailed) as error:
        print(error, file=sys.stderr)
        return 2
    except RocqMissing as error:
        print(error, file=sys.stderr)
        return 3
    for report in reports:
        word = "killed" if report.killed else "SURVIVED"
        more = " (negation proved)" if report.negated else ""
        print(f"{word}  {report.mutant.theorem}: {report.mutant.what}{more}")
        if report.reason:
            print(f"    {report.reason}")
    killed, negated = sum(r.killed for r in reports), sum(r.negated for r in reports)
    print(f"{len(reports)} mutants, {killed} killed, {negated} proved false")
    return 0 if reports and killed == len(reports) else 1


if __name__ == "__main__":
    sys.exit(main())
