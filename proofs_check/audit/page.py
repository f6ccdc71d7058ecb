"""What an audit writes for people: `audit.md` with pictures, the heads as Parquet and CSV, `audit.json`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from proofs_check.audit import pictures
from proofs_check.audit.meaning import main_condition
from proofs_check.audit.summary import (
    Table,
    control_table,
    drift_table,
    fixed,
    head_rows,
    layer_table,
    mixing_table,
    network_table,
    score_table,
    value_table,
)
from proofs_check.audit.text import WITHOUT
from proofs_check.certificates import write_whole
from proofs_check.tables import write_table

PICTURES = {"heads": pictures.heatmaps, "layers": pictures.curves, "bos": pictures.bos_curves}


def markdown(table: Table) -> list[str]:
    columns, rows = table
    return [
        "| " + " | ".join(columns) + " |",
        "|" + "---|" * len(columns),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]


def meaning_table(document: dict) -> Table:
    rows = [
        [
            item["family"],
            item["hypothesis"],
            f"{item['holds']} of {item['of']} {item['unit']}"
            + (f", {item['undecided']} undecided" if item["undecided"] else ""),
            fixed(item["fraction"]),
            ", ".join(item["claims"]) or "–",
            item["note"],
        ]
        for item in document["meaning"]
    ]
    return ["family", "hypothesis", "holds", "share", "claims that then apply", "note"], rows


def sections(document: dict) -> list[str]:
    """The tables, each with the convention its numbers follow; shared by `audit.md` and the notes page."""
    condition, about, check = main_condition(document), document["model"], document["extraction"]
    space = [layer["half_space"] for layer in document["layers"]]
    measured = [run for run in document["text"]["runs"] if run["measured"] and run["condition"] == condition]
    sizes, distinct = [run["tokens"] for run in measured], [item["distinct"] for item in space]
    first = "BOS is " + (
        f"`{about['bos']['token']}` (id {about['bos']['id']})" if about["bos"] else "absent: row 0 is the first token"
    )
    lines = [
        f"{about['name']} ({about['family']}): {about['layers']} layers, {about['heads']} heads on "
        f"{about['key_value_heads']} key/value heads, d = {about['dim']}, d_h = {about['head_dim']}. {first}. "
        f"Text: {document['text']['source']} ({document['text']['paragraphs']} paragraphs), {len(measured)} measured "
        f"texts of {min(sizes)} to {max(sizes)} tokens; pools of {space[-1]['count']} content tokens, {min(distinct)} "
        f"to {max(distinct)} distinct (2d = {space[-1]['twice_dim']}; chance of a half-space for isotropic points "
        f"{space[0]['chance']} in layer 0, {space[-1]['chance']} in the last).",
        "",
        f"Extraction check: attention rebuilt to {check['worst_attention_error']:.1e}, output to "
        f"{check['worst_output_error']:.1e} (tolerance {check['tolerance']:g}; {check['errors']}).",
        "",
        "### Which hypotheses hold where",
        "",
        *markdown(meaning_table(document)),
        "### Sinks and diagonals",
        "",
        "Share of heads whose mean score over the texts is strictly above "
        + " / ".join(map(str, document["conventions"]["thresholds"]))
        + ".",
        *(f"*{name.replace('_', ' ')}* is {words}." for name, words in document["conventions"]["scores"].items()),
        "",
        *markdown(score_table(document)),
        "### Layer by layer",
        "",
        f"{condition}; cosines of row 0 with the others, with and without gain; *pairs*: content pairs without gain; "
        "margin: distance of zero from the hull of the pooled inputs; chance: of a half-space for as many isotropic "
        "points (Wendel); D: all heads sharing one attention, in the stream, measured R; *uniform*: change of the "
        "mean pair cosine at t = 1, this layer alone; mass and diagonal: means over heads, row 0 excluded; costs: "
        "nuclear norm, margin 1, scale 1.",
        "",
        *markdown(layer_table(document)),
        "### Drift",
        "",
        *(f"- *{name}*: {words}" for name, words in document["conventions"]["drift"].items()),
        "",
        *markdown(drift_table(document)),
        f"### Mixed attention, one layer at a time ({condition})",
        "",
        *(f"- *{name}*: {words}" for name, words in document["conventions"]["targets"].items()),
        "",
        *markdown(mixing_table(document, condition)),
    ]
    if condition != WITHOUT and WITHOUT in document["layers"][0]["mixing"]:
        lines += [
            f"### Mixed attention, one layer at a time ({WITHOUT})",
            "",
            *markdown(mixing_table(document, WITHOUT)),
        ]
    if document["network"] is not None:
        lines += [
            "### Mixed attention through the rest of the network",
            "",
            f"Text {document['network']['text']}; one layer replaced at a time; content pairs of the stream entering "
            "the next layer (without gain), and of the final hidden states.",
            "",
            *markdown(network_table(document)),
        ]
    return [
        *lines,
        "### Values",
        "",
        *markdown(value_table(document)),
        "### Controls",
        "",
        *markdown(control_table(document)),
    ]


def write_audit(document: dict, out: Path, heads: Sequence[str] = ()) -> None:
    """Pictures, tables and JSON, each whole; `heads` are the names of pages written for single heads."""
    for name, draw in PICTURES.items():
        write_whole(out / f"audit-{name}.png", pictures.png(draw(document)))
    rows = head_rows(document)
    write_table(out / "audit", list(rows[0]), rows)
    lines = [
        f"# Audit of {document['model']['name']}",
        "",
        *(f"- {note}" for note in document["scope_notes"]),
        "",
        *(f"![{name}](audit-{name}.png)" for name in PICTURES),
        "",
        *sections(document),
    ]
    if heads:
        lines += ["### Single heads", "", *(f"- [{name}]({name}.md)" for name in heads), ""]
    write_whole(out / "audit.md", "\n".join(lines).encode())
    write_whole(out / "audit.json", json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode())
