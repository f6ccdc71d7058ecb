"""Tables that sentences of the notes page rest on: by sequence, named layers, margins, distances of targets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from numerics.audit.mixing import TARGETS, target_attention
from proofs_check.audit.meaning import SINK, main_condition, one_sign
from proofs_check.audit.summary import Table, fixed, heads_of, share
from proofs_check.audit.text import SHUFFLED, WITH, WITHOUT

WIDE = 0.05  # bounds further apart than this part of the lower one are named


def sequences(document: dict) -> Table:
    """Share of sink heads on every single sequence, with BOS, without and shuffled; uniform attention's mass."""
    rows = []

    def shown(condition: str, place: int) -> str:
        scores = [head["scores"].get(condition) for _, head in heads_of(document)]
        if scores[0] is None:
            return "–"
        return fixed(share([item["mass_without_row_0"]["sequences"][place] > SINK for item in scores]))

    def row(name: str, tokens: int, conditions: tuple[str, ...], place: int) -> list[str]:
        harmonic = float(np.sum(1.0 / np.arange(1, tokens + 1)))
        found = [shown(condition, place) for condition in conditions]
        return [name, str(tokens), *found, *["–"] * (3 - len(found)), fixed(harmonic / tokens, 3)]

    runs = [run for run in document["text"]["runs"] if run["measured"]]
    for place, run in enumerate(run for run in runs if run["condition"] == WITH):
        rows.append(row(f"text {place + 1}", run["tokens"], (WITH, WITHOUT, SHUFFLED), place))
    for run in runs:
        if run["condition"].startswith(f"{WITH}, ") and run["condition"] != SHUFFLED:
            cut = run["condition"].removeprefix(f"{WITH}, ")
            rows.append(row("joined paragraphs", run["tokens"], (run["condition"], f"{WITHOUT}, {cut}"), 0))
    return ["sequence", "T", "with BOS", "without BOS", "with BOS, shuffled", "H_T/T"], rows


def named_layers(document: dict) -> Table:
    """Which layers a condition singles out."""
    condition, layers = main_condition(document), document["layers"]

    def names(test: Callable[[dict], bool]) -> str:
        return ", ".join(str(layer["layer"]) for layer in layers if test(layer)) or "none"

    def wide(layer: dict) -> bool:
        cost = layer["costs"]["diagonal"]
        return cost["lower"] is None or cost["upper"] is None or cost["upper"] > cost["lower"] * (1 + WIDE)

    def drift(layer: dict) -> float:
        return layer["drift"]["stream_measured"]["drift"]

    def sign(layer: dict) -> int:
        return one_sign(layer["tokens"][condition]["gain"])

    aligned = names(lambda layer: layer["half_space"].get("alignment", {}).get("holds") is True)
    return ["layers where", "which"], [
        ["all products with the sink have one strict sign on the pool", aligned],
        ["all products with the sink are positive on the measured texts", names(lambda layer: sign(layer) > 0)],
        ["all products with the sink are negative on the measured texts", names(lambda layer: sign(layer) < 0)],
        ["D < 0 for all heads sharing one attention", names(lambda layer: drift(layer) < 0)],
        [f"the diagonal's upper bound is more than {WIDE:.0%} above its lower bound", names(wide)],
    ]


def margins(document: dict) -> Table:
    """Heads by the margin of the sink's logit over the largest other one the row sees, own token included."""
    condition = main_condition(document)
    found = [head["margins"][condition] for _, head in heads_of(document)]

    def count(name: str, test: Callable[[float], bool]) -> str:
        return f"{sum(item is not None and test(item[name]) for item in found)} of {len(found)}"

    return ["margin for the sink, rows of the measured texts", "heads"], [
        ["least at least 1", count("least", lambda value: value >= 1)],
        ["least above 0", count("least", lambda value: value > 0)],
        ["mean at least 1", count("mean", lambda value: value >= 1)],
        ["mean above 0", count("mean", lambda value: value > 0)],
    ]


def distances(document: dict) -> Table:
    """‖U - uniform‖_F per head of every target U as it is drawn, on the first measured text's causal mask."""
    condition = main_condition(document)
    size = next(run["tokens"] for run in document["text"]["runs"] if run["measured"] and run["condition"] == condition)
    visible = np.tril(np.ones((size, size), dtype=bool))
    blank = np.zeros((1, size, size))
    uniform = target_attention("uniform", visible, blank, 0, 0)
    rows = [
        [name, fixed(float(np.linalg.norm(target_attention(name, visible, blank, 0, 0) - uniform)))]
        for name in TARGETS
        if name != "uniform"
    ]
    return ["target", f"Frobenius distance from uniform, T = {size}"], rows
