"""Drop everything that can be dropped, one hypothesis or bound at a time, and record what the machine finds.

`sinkproof falsify --all` runs the sweep; its results are kept claim by claim, so an interrupted run goes on where it
stopped.  `python -m proofs_check.falsification --out DIR` turns them into `claims/found.json`, from which the ledger is
completed, and the page `notes/falsification.md`; with `--check` it only says whether the page is what found.json says.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from proofs_check.certificates import write_whole
from proofs_check.claim import Claim
from proofs_check.claims.found import found_table
from proofs_check.claims.registry import written_claims
from proofs_check.falsify import Attack, attack, targets
from proofs_check.kernel import digest
from proofs_check.verify import code_digest

SCHEMA = "sinkproof/falsification/1"
ROOT = Path(__file__).resolve().parents[1]
PAGE, FOUND = ROOT / "notes" / "falsification.md", ROOT / "proofs_check" / "claims" / "found.json"


def droppable(claim: Claim) -> list[tuple]:
    """(part, hypothesis or bound) for all that can be dropped."""
    return [(part, subject) for part, _ in targets(claim) for subject in part.subjects()]


def stored(claim: Claim, budget: int, seed: int, out: Path) -> tuple[Path, dict]:
    """Where a claim's results are kept, and those that this code found for this claim, budget and seed."""
    path = out / "falsification" / f"{claim.id}.json"
    key = digest({"claim": digest(claim.document()), "code": code_digest(), "budget": str(budget), "seed": str(seed)})
    found = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if found.get("key") != key:
        found = {"schema": SCHEMA, "key": key, "claim": claim.id, "budget": budget, "seed": seed, "entries": []}
    return path, found


def sweep(claim: Claim, budget: int, seed: int, out: Path, step: Callable[[dict], None]) -> list[dict]:
    """Attack every droppable of a claim without looking at what was saved; `step` is called with each entry."""
    path, found = stored(claim, budget, seed, out)
    path.parent.mkdir(parents=True, exist_ok=True)
    done = {(entry["part"], entry["subject"]) for entry in found["entries"]}
    for part, subject in droppable(claim):
        if (part.name, subject) not in done:
            found["entries"].append(entry_of(attack(claim, part, subject, budget, seed)))
            write_whole(path, json.dumps(found, ensure_ascii=False).encode())
        step(next(entry for entry in found["entries"] if (entry["part"], entry["subject"]) == (part.name, subject)))
    return found["entries"]


def entry_of(found: Attack) -> dict:
    """One result as data; the instance in certificate form."""
    return {"claim": found.claim, "part": found.part, "subject": found.subject, "outcome": found.outcome,
            "arm": found.arm, "tried": found.tried, "met": found.met,
            "instance": None if found.certificate is None else found.certificate["body"]["instances"][0]}


KINDS = ("needed", "open", "bound")


def standing(claims: Sequence[Claim]) -> dict[tuple[str, str, str], str]:
    """(claim, part, subject) -> "needed" (a counterexample is written by hand), "open", or "bound" (of a parameter)."""
    return {(claim.id, part.name, subject): "needed" if counterexample is not None else
            "open" if subject in {item.name for item in part.hypotheses} else "bound"
            for claim in claims for part, _ in targets(claim) for subject, counterexample in part.subjects().items()}


def counted(entries: Sequence[dict], known: Mapping[tuple[str, str, str], str]
            ) -> dict[str, dict[str, tuple[int, int]]]:
    """claim -> standing -> (dropped, refuted); `known` is `standing`'s, and what a claim no longer has is left out."""
    table: dict[str, dict[str, tuple[int, int]]] = {}
    for entry in entries:
        kind = known.get((entry["claim"], entry["part"], entry["subject"]))
        if kind is not None:
            row = table.setdefault(entry["claim"], dict.fromkeys(KINDS, (0, 0)))
            row[kind] = (row[kind][0] + 1, row[kind][1] + (entry["outcome"] == "refuted"))
    return table


def page(found: dict) -> str:
    """The page `notes/falsification.md`."""
    claims = written_claims()
    entries, known = found["entries"], standing(claims)
    table = counted(entries, known)
    total = {kind: [sum(row[kind][place] for row in table.values()) for place in (0, 1)] for kind in KINDS}

    def standing_of(entry: dict) -> str | None:
        return known.get((entry["claim"], entry["part"], entry["subject"]))

    arms = sorted({entry["arm"] for entry in entries if entry["outcome"] == "refuted"})
    lines = [
        "# What the machine finds when something is dropped", "",
        "Generated from `proofs_check/claims/found.json` by `python -m proofs_check.falsification`, which reads the "
        "results of",
        f"`sinkproof falsify --all --budget {found['budget']} --seed {found['seed']}` (tens of minutes; it goes on "
        "where it was stopped).", "",
        "Each hypothesis, and each bound of a parameter, is dropped by itself and the rest attacked: counterexamples "
        "that were",
        "saved or written by hand are not used. *needed*: the claim names a counterexample by hand, and the machine "
        "found its own",
        "again; *open*: it names none, and what was found now stands in the ledger; *bound*: minimum, maximum or "
        "integrality of a",
        "parameter. Every instance found is a certificate that the kernel replays. Not finding one says nothing about "
        "need: many",
        "bounds serve only to keep a denominator from zero, and a formula that is undefined there is no "
        "counterexample.", "",
        f"In all: {total['needed'][1]} of {total['needed'][0]} needed hypotheses found again; {total['open'][1]} of "
        f"{total['open'][0]} open ones found to be needed; {total['bound'][1]} of {total['bound'][0]} bounds found to "
        "be needed.", "",
        "| claim | needed, found again | open, found needed | bounds, found needed | needed but not found again |",
        "|---|---|---|---|---|"]
    for claim in claims:
        if claim.id in table:
            missed = [f"{entry['part']}: {entry['subject']}" for entry in entries if entry["claim"] == claim.id
                      and entry["outcome"] != "refuted" and standing_of(entry) == "needed"]
            cells = [f"{table[claim.id][kind][1]}/{table[claim.id][kind][0]}" for kind in KINDS]
            lines.append(f"| {claim.id} | {' | '.join(cells)} | {'; '.join(missed)} |")
    lines += ["", "## Which arm found it", "", "| arm | needed | open | bound |", "|---|---|---|---|"]
    for arm in arms:
        hits = [standing_of(entry) for entry in entries if entry["arm"] == arm]
        lines.append(f"| {arm} | {' | '.join(str(hits.count(kind)) for kind in KINDS)} |")
    lines += ["", "## Hypotheses that no claim called needed by hand, and that are", ""]
    lines += [f"- {entry['claim']}, {entry['part']}: *{entry['subject']}* ({entry['arm']}, {entry['tried']} instances "
              "tried)" for entry in entries if entry["outcome"] == "refuted" and standing_of(entry) == "open"]
    return "\n".join(lines) + "\n"


def gathered(out: Path) -> dict:
    """The stored results of all claims as one table; ValueError when some are missing or differ in budget or seed."""
    claims = {claim.id: claim for claim in written_claims()}
    wanted = [name for name, claim in claims.items() if droppable(claim)]
    folder = out / "falsification"
    files = {name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in wanted
             if (folder / f"{name}.json").is_file()}
    effort = {(item["budget"], item["seed"]) for item in files.values()}
    short = [name for name in wanted if len(files.get(name, {}).get("entries", ())) < len(droppable(claims[name]))]
    if short or len(effort) != 1:
        raise ValueError(f"expected finished results of one budget and seed in {folder}, got none or not all for "
                         f"{', '.join(short) or 'several budgets'}; run sinkproof falsify --all --out {out} to its end")
    budget, seed = effort.pop()
    entries = [entry for name in wanted for entry in files[name]["entries"]]
    return {"schema": SCHEMA, "budget": budget, "seed": seed, "entries": entries}


def text_of(found: dict) -> str:
    """found.json: one entry a line, so that a change of one shows as one."""
    head = {key: value for key, value in found.items() if key != "entries"}
    rows = ",\n".join(json.dumps(entry, ensure_ascii=False, sort_keys=True) for entry in found["entries"])
    return json.dumps(head)[:-1] + ', "entries": [\n' + rows + "\n]}\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs_check.falsification",
                                     description="Write found.json and its page.")
    parser.add_argument("--out", type=Path, help="the output directory of sinkproof falsify --all")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page is stale")
    options = parser.parse_args(arguments)
    if options.check == (options.out is not None):
        parser.error("expected either --out or --check, got both or neither; give one of them")
    if options.check:
        return 0 if PAGE.read_text(encoding="utf-8") == page(found_table()) else 1
    try:
        found = gathered(options.out)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    write_whole(FOUND, text_of(found).encode())
    write_whole(PAGE, page(found).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
