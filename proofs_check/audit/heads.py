"""`--head L:H`: one page for one head, with its attention on the first measured text."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from numerics.audit.values import value_coordinates
from numerics.checkpoint import Checkpoint
from numerics.checkpoint.record import LayerPass
from proofs_check.audit.page import markdown
from proofs_check.audit.pictures import head_picture, png
from proofs_check.audit.summary import head_rows, number
from proofs_check.audit.text import Run
from proofs_check.certificates import write_whole
from proofs_check.inputs import BadInput


def require_head(checkpoint: Checkpoint, layer: int, head: int) -> None:
    if not (layer < checkpoint.layers and head < checkpoint.heads):
        raise BadInput(
            f"expected a layer below {checkpoint.layers} and a head below {checkpoint.heads} of {checkpoint.name}, got "
            f"{layer}:{head}; count both from 0"
        )


def head_page(checkpoint: Checkpoint, run: Run, document: dict, layer: int, head: int, out: Path) -> str:
    """Write `audit-head-L-H.md` and its picture; returns the page's name without suffix."""
    kept: list[LayerPass] = []
    checkpoint.run(run.ids, kept.append, layers=[layer])
    weights, record = checkpoint.weights(layer), kept[0]
    values = value_coordinates(weights, record.inputs)[weights.key_value(head)] @ weights.w_o[head].T
    outputs = np.linalg.norm(record.attention[head] @ values, axis=1)
    name = f"audit-head-{layer}-{head}"
    title = f"{checkpoint.name}, layer {layer}, head {head}, {run.name}"
    write_whole(out / f"{name}.png", png(head_picture(title, weights, record, head, outputs)))
    flat = next(row for row in head_rows(document) if (row["layer"], row["head"]) == (layer, head))
    found = document["layers"][layer]["heads"][head]
    scores = [
        [condition, *(number(item["mean"]) for item in by_name.values())]
        for condition, by_name in found["scores"].items()
    ]
    lines = [
        f"# {title}",
        "",
        f"![{title}]({name}.png)",
        "",
        *markdown((["condition", *(key.replace("_", " ") for key in next(iter(found["scores"].values())))], scores)),
        *markdown(
            (
                ["measure", "value"],
                [
                    [key, str(value) if isinstance(value, (bool, str)) else number(value, 6)]
                    for key, value in flat.items()
                ],
            )
        ),
    ]
    if found["bound_reason"] is not None:
        lines += [f"Costs are no bound for this head: {found['bound_reason']}.", ""]
    write_whole(out / f"{name}.md", "\n".join(lines).encode())
    return name
