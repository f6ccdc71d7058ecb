"""`sinkproof inspect`: which hypotheses of G, E and M hold on the user's embeddings."""

from __future__ import annotations

import json
from pathlib import Path

import click

from proofs_check.certificates import write_whole
from proofs_check.display import Steps, show_table
from proofs_check.inputs import read_tokens, read_values


@click.command(epilog="Example: sinkproof inspect --tokens numerics/data/smollm2_pool15.npz --sink x_sink")
@click.option("--tokens", required=True, metavar="FILE[:KEY]",
              help="Embeddings as they enter attention, one row per token "
              "(.npy, .npz, .safetensors).")
@click.option("--sink", metavar="KEY|ROW",
              help="The sink's embedding: a row of the tokens, or another array of the file.")
@click.option("--values", metavar="FILE[:KEY]",
              help="Values v_j = V x_j in the tokens' order; with --sink ROW that row is v_s.")
@click.option("--deduplicate", is_flag=True, help="Keep one of each repeated row instead of refusing them.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("sinkproof-out"),
              show_default=True,
              help="Where certificates go.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def inspect(tokens: str, sink: str | None, values: str | None, deduplicate: bool, out: Path, as_json: bool) -> int:
    """Check the hypotheses of G, E and M on your embeddings, each with a certificate and the chance level beside it.

    Exit 0 when every check was decided (whether it holds or not), 1 when one stayed undecided.
    """
    from proofs_check.inspect import inspect as run_inspect
    from proofs_check.inspect import not_checked, scope_notes

    if values is not None and deduplicate:
        raise click.UsageError("--deduplicate cannot be used with --values, whose rows would no longer fit; "
                               "remove the repeated rows from both files")
    given = read_tokens(tokens, sink, deduplicate)
    content_values, sink_value = None, None
    if values is not None:
        rows = len(given.content) + (given.sink_row is not None)
        content_values, sink_value = read_values(values, given, rows)
    with Steps(None, as_json) as steps:
        checks = run_inspect(given, content_values, sink_value, out, steps.step)
    document = {"schema": "sinkproof/inspect/1", "tokens": tokens, "sink": sink, "count": len(given.content),
                "dimension": int(given.content.shape[1]), "checks": [check.row() for check in checks],
                "not_checked": not_checked(given, values is not None), "scope_notes": list(scope_notes(checks))}
    write_whole(out / "inspect.json", json.dumps(document, indent=1, ensure_ascii=False).encode())
    if as_json:
        print(json.dumps(document, indent=1, ensure_ascii=False))
    else:
        show_table(f"{document['count']} content tokens of dimension {document['dimension']}",
                   ("check", "holds", "margin", "chance", "grade", "hypothesis"),
                   [(check.key, {True: "yes", False: "no", None: "undecided"}[check.holds], _margin(check),
                     check.chance or "", check.grade, check.hypothesis) for check in checks])
        meanings: dict[str, list[str]] = {}
        for check in checks:
            if check.margin_means and check.margin_lower is not None:
                meanings.setdefault(check.margin_means, []).append(check.key)
        for meaning, keys in meanings.items():
            print(f"Margin of {', '.join(keys)}: {meaning}")
        for line in document["not_checked"]:
            print(f"Not checked: {line}")
        for note in document["scope_notes"]:
            print(f"Scope: {note}")
        print(f"Certificates in {out / 'certificates' / 'inspect'}; replay with: sinkproof check {out}")
    return 0 if all(check.holds is not None for check in checks) else 1


def _margin(check) -> str:
    if check.margin_lower is None:  # exact arithmetic separates what float64 cannot measure
        return "below float64's rounding" if check.holds and check.margin_means else ""
    return f"{check.margin_lower:.6g}" if check.margin_lower == check.margin_upper else \
        f"{check.margin_lower:.6g} .. {check.margin_upper:.6g}"
