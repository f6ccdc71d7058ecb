"""`sinkproof falsify`: search for a counterexample, shrink it, replay it, save it."""

from __future__ import annotations

import json
from pathlib import Path

import click

from proofs_check.claim import Claim
from proofs_check.claims import claim_beside, load_claims
from proofs_check.claims.registry import written_claim, written_claims
from proofs_check.display import Steps, brief, show_table
from proofs_check.falsification import SCHEMA, counted, droppable, standing, sweep
from proofs_check.falsify import Attack, attack, counterexamples, read_saved, save, targets

ENTERING = ("The ledger is part of the claim, so this changes no verdict by itself: a counterexample without a "
            "hypothesis is written beside that Hypothesis in the claim's file, or, for the built-in claims, 'sinkproof "
            "falsify --all' and 'python -m proofs_check.falsification' put it into found.json; a counterexample to the "
            "claim as it stands means that the claim is false.")
COLUMNS = ("claim", "part", "dropped hypothesis", "outcome", "arm", "tried", "met", "counterexample")


@click.command(epilog="Example: sinkproof falsify E2 --drop 'null sink'")
@click.argument("id_", metavar="[ID]", required=False)
@click.option("--drop", metavar="HYPOTHESIS",
              help="Leave out this hypothesis, or bound of a parameter (named in 'sinkproof claims --ledger').")
@click.option("--part", metavar="NAME", help="Attack only this part.")
@click.option("--budget", type=int, default=2000, show_default=True, help="Instances tried for each part.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Fixes every draw.")
@click.option("--all", "everything", is_flag=True,
              help="Drop every hypothesis and every bound of a parameter, of ID or of all claims; resumable.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("sinkproof-out"),
              show_default=True, help="Counterexamples are kept below it, and tried first next time.")
@click.option("--claims", "claims_file", metavar="FILE.py", type=click.Path(path_type=Path),
              help="A Python file that defines the claim, as for verify.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def falsify(id_: str | None, drop: str | None, part: str | None, budget: int, seed: int, everything: bool, out: Path,
            claims_file: Path | None, as_json: bool) -> int:
    """Search for a counterexample to a claim, with all its hypotheses or without one.

    \b
    Exit codes: 0 nothing found, or --all is done; 1 a counterexample was replayed; 2 bad input.
    """
    if not 1 <= budget <= 10**9:
        raise ValueError(f"expected a budget of at least 1 and at most 10^9 instances, got {budget}; "
                         "2000 is the default")
    if everything and (drop or part):
        raise ValueError("expected --all without --drop and --part, got both; choose one")
    if id_ is None and not everything:
        raise ValueError("expected a claim id or --all, got neither; 'sinkproof claims' lists the ids")
    if everything:
        own = () if claims_file is None else load_claims(claims_file)
        chosen = own or written_claims() if id_ is None else (written_claim(id_, own),)
        return drop_everything(chosen, budget, seed, out, as_json)
    claim = claim_beside(id_, claims_file)
    jobs, folder = targets(claim, drop, part), counterexamples(out, claim.id)
    attacks: list[Attack] = []
    with Steps(len(jobs), as_json) as steps:
        for item, subject in jobs:
            attacks.append(attack(claim, item, subject, budget, seed, read_saved(folder)))
            without = f" without {subject}" if subject else ""
            steps.step(f"{claim.id} {item.name}{without}: {attacks[-1].outcome}")
    names = save(claim, attacks, folder)
    if as_json:
        print(json.dumps({"schema": "sinkproof/falsify/1", "budget": budget, "seed": seed,
                          "attacks": [row(item) for item in attacks]}, indent=1, ensure_ascii=False))
    else:
        show_table("Falsification", COLUMNS, [cells(item) for item in attacks])
        remarks(attacks)
        if any(item.outcome == "refuted" for item in attacks):
            print(f"Kept in {folder}: {', '.join(names)}; replay with: sinkproof check {folder}")
            print(ENTERING)
    return 1 if any(item.outcome == "refuted" for item in attacks) else 0


def drop_everything(claims: tuple[Claim, ...], budget: int, seed: int, out: Path, as_json: bool) -> int:
    """The sweep over all that can be dropped; what was found by an interrupted run of the same code is kept."""
    entries: list[dict] = []
    with Steps(sum(len(droppable(claim)) for claim in claims), as_json) as steps:
        for claim in claims:
            entries += sweep(claim, budget, seed, out, lambda entry: steps.step(
                f"{entry['claim']} {entry['part']} without {entry['subject']}: {entry['outcome']}"))
    if as_json:
        document = {"schema": SCHEMA, "budget": budget, "seed": seed, "entries": entries}
        print(json.dumps(document, indent=1, ensure_ascii=False))
        return 0
    table = counted(entries, standing(claims))
    rows = [(name, *(f"{row[kind][1]}/{row[kind][0]}" for kind in ("needed", "open", "bound")))
            for name, row in table.items()]
    show_table("Dropped one at a time", ("claim", "needed, found again", "open, found needed", "bounds, found needed"),
               rows)
    found = sum(entry["outcome"] == "refuted" for entry in entries)
    print(f"{found} of {len(entries)} have a counterexample that the machine found and the kernel replayed; results in "
          f"{out / 'falsification'}")
    return 0


def remarks(attacks: list[Attack]) -> None:
    for item in attacks:
        if item.outcome == "suspect":
            print(f"{item.part}: SUSPECT, the numerical slack reaches {item.margin:.3g}, "
                  "which no exact instance confirms")
        if item.outcome != "refuted" and item.bound is not None:
            print(f"{item.part}: none of {item.samples} independent samples violates it, so with 95% confidence at "
                  f"most {item.bound:.3g} of such samples do (rule of three)")


def cells(item: Attack) -> tuple[str, ...]:
    return (item.claim, item.part, item.subject or "(none)", item.outcome, item.arm, str(item.tried), str(item.met),
            "" if item.instance is None else brief(item.instance.values))


def row(item: Attack) -> dict:
    return {"claim": item.claim, "part": item.part, "dropped": item.subject, "outcome": item.outcome, "arm": item.arm,
            "tried": item.tried, "met": item.met, "samples": item.samples, "bound": item.bound, "margin": item.margin,
            "certificate": item.certificate}
