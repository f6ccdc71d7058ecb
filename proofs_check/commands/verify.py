"""`sinkproof verify`: gather evidence, replay certificates, print the table of verdicts, write the report."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import click

from proofs_check.claims import claim_ids
from proofs_check.display import Steps, show_table
from proofs_check.report import dagger_line, exit_code, scope_shown, write_report
from proofs_check.verify import Options, selected
from proofs_check.verify import verify as run_verify


@click.command(epilog="Example: sinkproof verify G1 E2 --out my-run")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--profile", type=click.Choice(["quick", "full"]), default="quick", show_default=True,
              help="How much is sampled and searched.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("sinkproof-out"),
              show_default=True, help="Where report and certificates go; an interrupted run goes on from there.")
@click.option("--jobs", type=click.IntRange(1, 256), default=min(os.cpu_count() or 1, 4),
              help="Processes.  [default: cores, at most 4]")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Fixes every draw.")
@click.option("--claims", "claims_file", type=click.Path(path_type=Path),
              help="A Python file that defines CLAIM or CLAIMS.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True),
              help="Stop (exit 5) after so many seconds; resumable.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json instead of the table.")
def verify(ids: tuple[str, ...], profile: str, out: Path, jobs: int, seed: int, claims_file: Path | None,
           time_limit: float | None, as_json: bool) -> int:
    """Gather evidence for the claims (all, or those named), replay it, and say what is established."""
    from proofs_check import report_html  # templates and fonts, which no other command needs

    options = Options(out, profile, seed, claims_file)
    whole = not ids and claims_file is None
    if whole and not as_json:
        long = "a few minutes" if profile == "quick" else "about half an hour"
        click.echo(f"all {len(claim_ids())} claims: {long} where nothing is stored", err=True)
    chosen = selected(ids, options)
    start, kept = time.monotonic(), 0
    many = f"{len(chosen)} claim{'s' if len(chosen) > 1 else ''}"
    if not as_json:
        click.echo(f"{many} on {jobs} process{'es' if jobs > 1 else ''}: evidence first, then kernel replay", err=True)
    with Steps(len(chosen), as_json) as steps:
        steps.count_anew("evidence")

        def progress(name: str, resumed: bool) -> None:
            nonlocal kept
            kept += 1
            steps.step(f"{name} (stored evidence)" if resumed else name)
            if time_limit is not None and time.monotonic() - start > time_limit:
                raise TimeoutError(f"the time limit of {time_limit:g} s is over; {so_far()}")
            if kept == len(chosen):
                steps.count_anew("replay")

        def so_far() -> str:
            return f"the evidence of {kept} of {many} is kept; run the same command again to go on"

        try:
            results = run_verify(ids, options, jobs, progress,
                                 lambda result: steps.step(f"{result.claim.id} {result.verdict.label}"))
        except KeyboardInterrupt as stopped:
            stopped.args = (so_far(),)
            raise
    replaced = reported(out) - {claim.id for claim in chosen}
    document = write_report(results, options)
    page = report_html.write(out)
    if as_json:
        print(json.dumps(document, indent=1, ensure_ascii=False))
        return exit_code(document)
    rows = [(row["id"], row["label"], row["grade"], scope_shown(row),
             f"{row['neighbours']['killed']}/{row['neighbours']['planted']}",
             row["title"]) for row in document["claims"]]
    show_table("Verdicts", ("claim", "verdict", "grade", "scope", "killed", "title"), rows, styled=1)
    for row in document["claims"]:
        for item in row["counterexamples"]:
            print(f"{row['id']}: {row['label']}, required {row['required']}: part '{item['part']}' at {item['said']}")
        if not row["neighbours"]["planted"]:
            print(f"{row['id']}: no false neighbours: nothing shows that this claim's checker can reject")
    footnote = dagger_line(document["claims"])
    if footnote:
        print(footnote)
    total = document["neighbours"]
    if profile == "full":
        show_table("Neighbours by engine", ("engine", "planted", "killed"),
                   [(engine, str(count["planted"]), str(count["killed"]))
                    for engine, count in total["by_engine"].items()])
    print(f"{many}; false neighbours planted {total['planted']}, killed {total['killed']} "
          f"({total['killed_exactly']} by an exact counterexample); "
          f"report in {page}, certificates in {out / 'certificates'}")
    if document["environment"].get("rocq") == "":
        print("Rocq is not installed, so no claim rests on a formal proof in this run; 'sinkproof doctor' says what to "
              "install.")
    if replaced:
        print(f"The report in {out} had {len(replaced)} other claim{'s' if len(replaced) > 1 else ''}; their "
              "certificates are kept, and 'sinkproof verify' puts them back from there. Another --out keeps reports "
              "apart.")
    for row in document["claims"]:
        survivors = row["neighbours"]["survivors"]
        told = row["outcome"] == "refuted" and row["counterexamples"] and not survivors  # below the table
        if not told and (not row["reached"] or row["outcome"] == "error" or survivors):
            said = "; ".join(row["reasons"]) + (f"; surviving neighbours: {', '.join(survivors)}" if survivors else "")
            click.echo(f"{row['id']}: {row['label']}, required {row['required']}: {said}", err=True)
    return exit_code(document)


def reported(out: Path) -> set[str]:
    """The ids in the report that stands in `out`, if there is one."""
    path = out / "report.json"
    try:
        return {row["id"] for row in json.loads(path.read_text(encoding="utf-8"))["claims"]}
    except (OSError, ValueError, LookupError, TypeError):
        return set()
