"""`sinkproof claims` and `sinkproof show`: what is claimed, and one claim in full."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from proofs_check.certificates import write_claim
from proofs_check.claim import Claim, Instance, Part, bound_formula
from proofs_check.claims import FAMILIES, claim_beside, claim_by_id, claim_ids
from proofs_check.claims.registry import nearest
from proofs_check.display import brief, each_of, show_table
from proofs_check.engines.gathering import Context
from proofs_check.engines.ledger import ledger
from proofs_check.falsify import counterexamples, read_saved
from proofs_check.kernel import bound_names, canonical, digest, replay_files
from proofs_check.report import claim_row, dagger_line, verdict_shown
from proofs_check.verify import Options, collect, is_fresh, selected


@click.command(epilog="Example: sinkproof claims --family geometry")
@click.option("--family", help="Only this family.")
@click.option("--ledger", "with_ledger", is_flag=True, help="One row per hypothesis and bound: needed (its "
              "counterexample is replayed now) or not known to be.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def claims(family: str | None, with_ledger: bool, as_json: bool) -> int:
    """List the claims."""
    if family not in (None, *FAMILIES):
        near = nearest(family, FAMILIES)
        raise ValueError(f"expected one of the families {', '.join(FAMILIES)}, got {family!r}; "
                         + (f"did you mean {near}?" if near else "correct the name"))
    ids = claim_ids(family)
    if not as_json:
        click.echo(f"building {len(ids)} claim{'s' if len(ids) > 1 else ''}, which takes some seconds", err=True)
    chosen = [claim_by_id(name) for name in ids]
    if as_json:
        listed = [claim.document() | {"digest": digest(claim.document())} for claim in chosen]
        print(json.dumps({"schema": "sinkproof/claims/1", "claims": listed}, indent=1, ensure_ascii=False))
    elif with_ledger:
        rows = [row for claim in chosen for row in ledger_rows(claim)]
        show_table("Ledger", ("claim", "part", "hypothesis", "ledger", "replayed", "counterexample without it",
                              "certificate"), rows)
        failed = [row for row in rows if row[4].startswith("REJECTED")]
        replayed = f"should replay; it rejected {len(failed)}" if failed else "replayed just now"
        print(f"{sum(row[3] == 'needed' for row in rows)} of {len(rows)} hypotheses and bounds are needed, each by a "
              f"counterexample that the kernel {replayed}; 'sinkproof verify' writes the certificates")
        return 1 if failed else 0
    else:
        rows = [(claim.id, claim.family, str(len(claim.parts)), str(len(claim.variants)), ", ".join(claim.uses),
                 claim.title) for claim in chosen]
        show_table("Claims", ("claim", "family", "parts", "variants", "uses", "title"), rows)
    return 0


def ledger_rows(claim: Claim) -> list[tuple[str, ...]]:
    """One row per hypothesis and bound of a parameter: the file of its certificate and what the kernel says to it."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        gathered = ledger(claim, Context(folder)).certificates
        names = dict(zip(map(canonical, gathered), write_claim(folder, claim, gathered)))
        accepted, rejected = replay_files(folder, list(names.values()))
    said = {file: f"{record.outcome}, {record.grade}" for file, record in accepted}
    said |= {file: f"REJECTED: {reason}" for file, reason in rejected}
    files = {(item["target"], item["subject"]): names[canonical(item)] for item in gathered
             if item["role"] == "dropped"}
    rows = []
    for part in claim.parts:
        for subject, counterexample in part.subjects().items():
            file = files.get((part.name, subject), "")
            rows.append((claim.id, part.name, subject, "needed" if file else "not known to be needed",
                         said.get(file, ""), "" if counterexample is None else brief(counterexample.values), file))
    return rows


@click.command(epilog="Example: sinkproof show G4")
@click.argument("id_", metavar="ID")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("sinkproof-out"),
              show_default=True, help="Show evidence from this run, if it is there.")
@click.option("--claims", "claims_file", metavar="FILE.py", type=click.Path(path_type=Path),
              help="A Python file that defines the claim, as for verify.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(id_: str, out: Path, claims_file: Path | None, as_json: bool) -> int:
    """Show one claim: statement, hypotheses with their ledger, variants, and the evidence of a run."""
    claim = claim_beside(id_, claims_file)
    row = _evidence(claim, out, claims_file)
    if as_json:
        print(json.dumps({"schema": "sinkproof/show/1", "claim": claim.document(), "run": row}, indent=1,
                         ensure_ascii=False))
        return 0
    lines = [f"{claim.id}  {claim.title}", *_verdict_lines(claim, row, out), *_falsified_lines(claim, out), "",
             claim.statement, f"Source: {claim.source}"]
    lines += [f"Uses: {', '.join(claim.uses)}"] if claim.uses else []
    lines += [f"Scope: {note}" for note in claim.scope_notes]
    said: set[tuple[str, str]] = set()
    for part in claim.parts:
        lines += ["", f"Part {part.name} ({part.quantifier}): {part.text}"]
        lines += _definition_lines(part, said)
        for item in part.hypotheses:
            lines.append(f"  hypothesis {item.name}: {item.text}   [{item.formula}]   ({_mark(item.counterexample)})")
        lines += [f"  bound {name}: {bound_formula(part.parameters, name) or name}   ({_mark(part.subjects()[name])})"
                  for name in bound_names(part.parameters)]
        lines += [f"  conclusion: {text}" for text in part.conclusions]
        lines += [f"  {each_of(part.cases)}"] if part.cases else []
        lines += [f"  attained: {part.attainment}"] if part.attainment else []
    lines += ["", "False variants:"] if claim.variants else []
    lines += [f"  {item.part.name} ({item.operator}): {item.part.text}; refuted by {brief(item.counterexample.values)}"
              for item in claim.variants]
    print("\n".join(lines))
    return 0


def _definition_lines(part: Part, said: set[tuple[str, str]]) -> list[str]:
    """Definitions in full where they are new; those that an earlier part has, by name."""
    known = [name for name, text in part.definitions.items() if (name, text) in said]
    lines = [f"  where {name} = {text}" for name, text in part.definitions.items() if name not in known]
    said.update(part.definitions.items())
    return [*lines, *([f"  where {', '.join(known)}: as above"] if known else [])]


def _mark(counterexample: Instance | None) -> str:
    return "not known to be needed" if counterexample is None else f"needed: {brief(counterexample.values)}"


def _verdict_lines(claim: Claim, row: dict | None, out: Path) -> list[str]:
    """The verdict of a run with how much evidence stands behind it, or how to get one."""
    if row is None:
        return [f"No evidence of this code in {out}; run: sinkproof verify {claim.id} --out {out}"]
    counts = Counter(item["kind"] for item in row["evidence"])
    footnote = dagger_line([row])
    found = [f"part '{item['part']}' at {item['said']}" for item in row["counterexamples"]]
    return [f"Verdict: {verdict_shown(row)}", *(f"  {line}" for line in (footnote, *row["reasons"], *found) if line),
            f"  certificates: {', '.join(f'{count} {kind}' for kind, count in sorted(counts.items()))}; "
            f"list them with --json, replay them with: sinkproof check {out}"]


def _falsified_lines(claim: Claim, out: Path) -> list[str]:
    """What `sinkproof falsify` found of this very claim and keeps in `out`; the ledger is the claim's own."""
    folder = counterexamples(out, claim.id)
    saved = [item for item in read_saved(folder) if item.get("claim_digest") == digest(claim.document())]
    found = [f"{item['target']}" + (f" without '{item['subject']}'" if item["subject"] else "") for item in saved]
    return [f"Found false by 'sinkproof falsify': {'; '.join(found)}; replay with: sinkproof check {folder}"] \
        if found else []


def _evidence(claim: Claim, out: Path, claims_file: Path | None) -> dict | None:
    """The claim's row of a run in `out`, replayed now; None without a run of this code for it and what it uses."""
    needed = selected([claim.id], Options(out, claims_file=claims_file))
    for profile in ("full", "quick"):
        options = Options(out, profile, claims_file=claims_file)
        if all(is_fresh(item, options) for item in needed):
            results: dict = {}
            for item in needed:
                results[item.id] = collect(item, options, results)
            return claim_row(results[claim.id], options)
    return None
