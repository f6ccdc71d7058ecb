"""The gate: rebuild every Rocq source, ask Rocq what each named theorem rests on, and accept or reject it.

Run it with `python -m proofs_check.formal.gate` (add `--coqchk` for the independent checker, `--no-cache` to
build everything again, `--pin` after changing a source). Exit code 0: every theorem accepted; 1: something
rejected; 2: a broken `theorems.json`; 3: Rocq is missing.

`theorems.json` says what is claimed, as data:

    {"sources":  {"Geometry.v": "<sha256 of the file>", ...},
     "theorems": [{"claim": "G1", "part": "iff", "file": "Geometry.v", "theorem": "G1",
                   "satisfiable": "G1_satisfiable"}, ...]}

Every file that is used is listed in `sources` with its digest; `satisfiable` (optional) names a lemma, of the
same file, that shows the hypotheses can be met. A theorem is accepted when: its file has the pinned digest;
no source contains an escape (see `vernacular`); the file builds; Rocq knows the name as a theorem; `Print
Assumptions` says "Closed under the global context" for it and for its satisfiability lemma. `--pin` rewrites
the digests in `sources` to those of the files on disk (a person then sees the change in the diff) and then
runs the gate.

With `--coqchk`, Rocq's separate checker reads every compiled library again, MathComp included, and its
summary must show no axiom (other than the machine integers and floats built into the checker, which the ring
tactics load), no type-in-type, no unsafe fixpoint and no assumed positivity.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .listing import HERE, Entry, pin, read_list
from .rocq import (
    LIBRARY,
    BuildFailed,
    RocqMissing,
    Toolchain,
    all_dependencies,
    build,
    build_order,
    cache_or_temporary,
    compile_module,
    default_cache,
    find_toolchain,
    sha256,
)
from .separate import check_separately
from .vernacular import escapes

CLOSED = "Closed under the global context"
PREAMBLE = "From mathcomp Require Import all_ssreflect all_algebra.\n"


@dataclass(frozen=True)
class TheoremReport:
    """What the gate found about one theorem.

    `statement` is Rocq's own print of the statement with white space normalised, `assumptions` its answer to
    `Print Assumptions`; `source_sha256` is of the theorem's file, `set_sha256` of all sources together;
    `reason` is empty when accepted, else one sentence.
    """

    claim: str
    part: str
    theorem: str
    file: str
    satisfiable: str
    statement: str
    assumptions: str
    source_sha256: str
    set_sha256: str
    accepted: bool
    reason: str


@dataclass(frozen=True)
class GateResult:
    """All theorems of one run, the toolchain's versions, and what is wrong with the set as a whole.

    `coqchk` is the separate checker's summary, empty when it was not run.
    """

    theorems: tuple[TheoremReport, ...]
    versions: tuple[tuple[str, str], ...]
    set_sha256: str
    coqchk: str
    problems: tuple[str, ...]

    @property
    def accepted(self) -> tuple[TheoremReport, ...]:
        """The accepted theorems; none when the set itself has a problem."""
        return () if self.problems else tuple(t for t in self.theorems if t.accepted)

    @property
    def rejected(self) -> tuple[TheoremReport, ...]:
        """The theorems that are not accepted."""
        return self.theorems if self.problems else tuple(t for t in self.theorems if not t.accepted)

    @property
    def passed(self) -> bool:
        """True when there are theorems, all are accepted, and nothing else is wrong."""
        return bool(self.theorems) and not self.problems and all(t.accepted for t in self.theorems)


def _ask(entries: tuple[Entry, ...]) -> tuple[str, list[tuple[int, str]]]:
    """A file that asks about each theorem between marker lines; nothing of ours is imported: no notation interferes."""
    lines, questions = [PREAMBLE + "Set Printing Width 100000."], []
    for module in dict.fromkeys(e.file[:-2] for e in entries):
        lines.append(f"Require {LIBRARY}.{module}.")
    for i, entry in enumerate(entries):
        for name in filter(None, (entry.theorem, entry.satisfiable)):
            full = f"{LIBRARY}.{entry.file[:-2]}.{name}"
            questions.append((i, name))
            # `Goal` demands that the constant proves a proposition: a definition of data is no theorem.
            lines.append(f'Goal True. idtac "@@ASSUMPTIONS {i} {name}". Abort.')
            lines.append(f"Print Assumptions {full}.")
            lines.append(f'Goal True. idtac "@@END". let t := type of @{full} in let s := type of t in')
            lines.append('  lazymatch s with Prop => idtac "@@PROPOSITION" | _ => idtac "@@DATA" end. Abort.')
    return "\n".join(lines) + "\n", questions


def _show(entries: tuple[Entry, ...], opened: tuple[str, ...]) -> str:
    """A file that prints each statement the way its own source writes it."""
    lines = [PREAMBLE + "Set Printing Width 100000. Unset Printing Implicit Defensive."]
    for module in opened:
        lines.append(f"From {LIBRARY} Require Import {module}.")
    lines.append("Local Open Scope ring_scope.")
    for i, entry in enumerate(entries):
        lines.append(f'Goal True. idtac "@@STATEMENT {i}". Abort.')
        lines.append(f"Check @{LIBRARY}.{entry.file[:-2]}.{entry.theorem}.")
    return "\n".join(lines) + "\n"


def _sections(printed: str, marker: str) -> dict[tuple[str, ...], str]:
    """The text after each marker line, keyed by the words that follow the marker's name."""
    found: dict[tuple[str, ...], str] = {}
    for block in printed.split("@@")[1:]:
        head, _, body = block.partition("\n")
        words = head.split()
        if words[0] == marker:
            found[tuple(words[1:])] = " ".join(body.split())
    return found


def _judge_file(
    file: str,
    entries: tuple[Entry, ...],
    sources: Mapping[str, str],
    built: Mapping[str, Path | BuildFailed],
    toolchain: Toolchain,
    cache: Path,
) -> list[tuple[Entry, str, str, str]]:
    """For each entry of one file: (entry, statement, assumptions, reason); the reason is empty when all is well."""
    module = file[:-2]
    outcome = built[module]
    if isinstance(outcome, BuildFailed):
        return [(e, "", "", str(outcome)) for e in entries]
    needed = (*all_dependencies(module, sources), module)
    libraries = {m: p for m in needed if isinstance(p := built[m], Path)}
    question, asked = _ask(entries)
    try:
        printed = compile_module("GateAudit", question, libraries, toolchain, cache)[1]
        shown = compile_module("GateShow", _show(entries, needed), libraries, toolchain, cache)[1]
    except BuildFailed as failure:
        if len(entries) == 1:
            said = " ".join(failure.output.split())
            return [(entries[0], "", "", f"Rocq does not know what theorems.json names: {said}")]
        # One unknown name stops the whole file: ask one by one, so that the others keep their answer.
        return [r for e in entries for r in _judge_file(file, (e,), sources, built, toolchain, cache)]
    answers, statements = _sections(printed, "ASSUMPTIONS"), _sections(shown, "STATEMENT")
    kinds = re.findall(r"@@(PROPOSITION|DATA)", printed)
    results = []
    for i, entry in enumerate(entries):
        mine = [(name, kind) for (j, name), kind in zip(asked, kinds, strict=True) if j == i]
        reason = ""
        for name, kind in mine:
            answer = answers.get((str(i), name), "no answer")
            if answer != CLOSED:
                reason = reason or f"{name} rests on more than Rocq's rules: {answer}"
            if kind != "PROPOSITION":
                reason = reason or f"{name} is data, not a proof of a proposition"
        statement = statements.get((str(i),), "").split(" : ", 1)[-1]
        results.append((entry, statement, answers.get((str(i), entry.theorem), ""), reason))
    return results


def run_gate(directory: Path = HERE, *, cache: Path | None = None, coqchk: bool = False) -> GateResult:
    """Rebuild the sources listed in `directory/theorems.json` and judge every theorem named there.

    `directory` is only read. `cache` holds finished builds (see `default_cache`); None builds everything
    afresh. With `coqchk` the separate checker reads all libraries again (minutes).

    Raises ValueError when `theorems.json` is broken and RocqMissing when Rocq or MathComp is not installed.
    """
    pinned, entries = read_list(directory)
    toolchain = find_toolchain()
    problems: list[str] = []
    if not entries:
        problems.append("theorems.json names no theorem, so there is nothing to accept.")
    sources, digests = {}, {}
    for file in pinned:
        path = directory / file
        if not path.is_file():
            problems.append(f"{file} is listed in theorems.json and does not exist.")
            continue
        content = path.read_bytes()
        digests[file], sources[file[:-2]] = sha256(content), content.decode()
    for path in sorted(directory.glob("*.v")):
        if path.name not in pinned:
            problems.append(f"{path.name} is not listed in theorems.json; list it or remove it.")
    set_sha256 = sha256(json.dumps(digests, sort_keys=True))
    for file in digests:
        if digests[file] != pinned[file]:
            problems.append(f"{file} is not the pinned source; review the change, then run the gate with --pin.")
        problems += [f"{file}, {escape}" for escape in escapes(sources[file[:-2]])]
    if any(file not in digests for file in pinned):
        return GateResult((), toolchain.versions, set_sha256, "", tuple(problems))
    summary = ""
    reports: list[TheoremReport] = []
    with cache_or_temporary(cache) as store:
        try:
            build_order(sources)
        except ValueError as error:
            return GateResult((), toolchain.versions, set_sha256, "", (*problems, str(error)))
        built = build(sources, toolchain, store)
        problems += [str(outcome) for outcome in built.values() if isinstance(outcome, BuildFailed)]
        for file in pinned:
            mine = tuple(e for e in entries if e.file == file)
            for entry, statement, assumptions, reason in (
                _judge_file(file, mine, sources, built, toolchain, store) if mine else ()
            ):
                reports.append(
                    TheoremReport(
                        claim=entry.claim,
                        part=entry.part,
                        theorem=entry.theorem,
                        file=file,
                        satisfiable=entry.satisfiable,
                        statement=statement,
                        assumptions=assumptions,
                        source_sha256=digests[file],
                        set_sha256=set_sha256,
                        accepted=not reason,
                        reason=reason,
                    )
                )
        if coqchk and not problems:
            summary, found = check_separately({m: p for m, p in built.items() if isinstance(p, Path)})
            problems += found
    return GateResult(tuple(reports), toolchain.versions, set_sha256, summary, tuple(problems))


def main(arguments: list[str] | None = None) -> int:
    """Command line of the gate; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m proofs_check.formal.gate", description="Rebuild and judge the Rocq proofs."
    )
    parser.add_argument("--coqchk", action="store_true", help="run Rocq's separate checker too")
    parser.add_argument("--no-cache", action="store_true", help="build everything afresh")
    parser.add_argument("--pin", action="store_true", help="first write the digests of the present sources")
    parser.add_argument("--statements", action="store_true", help="print each statement as Rocq shows it")
    parser.add_argument("--directory", type=Path, default=HERE, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    try:
        if options.pin:
            pin(options.directory)
        cache = None if options.no_cache else default_cache()
        result = run_gate(options.directory, cache=cache, coqchk=options.coqchk)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    except RocqMissing as error:
        print(error, file=sys.stderr)
        return 3
    for report in result.theorems:
        word = "accepted" if report in result.accepted else "REJECTED"
        print(f"{word}  {report.claim:4} {report.theorem} ({report.part})")
        if options.statements:
            print(f"    {report.statement}")
        if report.reason:
            print(f"    {report.reason}")
    for problem in result.problems:
        print(f"problem: {problem}", file=sys.stderr)
    if result.coqchk:
        print(result.coqchk)
    print(f"{len(result.accepted)} theorems accepted, {len(result.rejected)} rejected")
    return 0 if result.passed else 1


if __name__ == "__main__":
    sys.exit(main())
