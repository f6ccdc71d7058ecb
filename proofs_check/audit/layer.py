"""Everything that is measured on one layer, from what extraction left on disk: one job, one JSON file, no torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from numerics.audit.drift import drift_statistics_of, head_drifts, layer_drift
from numerics.audit.mixing import BlockStep, MixPoint, head_changes, mix_points
from numerics.audit.norms import bound_reason, product_norms, sink_margins
from numerics.audit.planes import rotary_planes
from numerics.audit.scores import CONVENTIONS, head_scores
from numerics.audit.tokens import token_cosines
from numerics.audit.values import head_values
from numerics.checkpoint.record import LayerPass, LayerWeights
from numerics.checkpoint.stream import without_gain
from proofs_check.audit.costs import cloud_costs
from proofs_check.audit.half_spaces import half_spaces
from proofs_check.audit.records import load_record
from proofs_check.audit.text import Run, WITH, WITHOUT
from proofs_check.certificates import write_whole


@dataclass(frozen=True)
class LayerTask:
    """Where a layer's extracted records are, where its results go, and the settings that shape them."""

    layer: int
    scratch: Path
    out: Path
    result: Path
    runs: tuple[Run, ...]
    mixes: tuple[float, ...]
    tolerance: float
    iterations: int
    seed: int

    @property
    def main(self) -> str:
        """The condition that pools, costs and head-by-head changes are taken from."""
        return WITH if any(run.condition == WITH for run in self.runs) else WITHOUT

    def folder(self) -> Path:
        return layer_folder(self.scratch, self.layer)


def layer_folder(scratch: Path, layer: int) -> Path:
    return scratch / f"layer-{layer:03d}"


def measure_layer(task: LayerTask) -> int:
    """Measure, certify, write the layer's file whole; returns the layer's number. Runs in a worker process."""
    document = layer_document(task)
    write_whole(task.result, json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False).encode())
    return task.layer


def layer_document(task: LayerTask) -> dict:
    """Everything measured on one layer as JSON values; NaN does not occur (a number that does not exist is null)."""
    weights = load_record(task.folder() / "weights.npz", LayerWeights)
    by_condition: dict[str, list[dict]] = {}
    for run in task.runs:
        if run.measured:
            record = load_record(task.folder() / f"{run.name}.npz", LayerPass)
            by_condition.setdefault(run.condition, []).append(_measure_run(weights, record, run, task))
    pools = {
        condition: pool_of(task, condition)
        for condition in (WITH, WITHOUT)
        if any(run.pooled and run.condition == condition for run in task.runs)
    }
    content, sink = pools[task.main]
    statistics = drift_statistics_of(weights, content, without_gain(weights, content), _inverse_scale(task))
    first = load_record(task.folder() / f"{_first(task).name}.npz", LayerPass)
    rotary = first.rotation is not None
    spaces = half_spaces(
        task.layer,
        weights,
        content,
        sink if task.main == WITH else None,
        pools.get(WITHOUT, (None, None))[0] if task.main == WITH else None,
        task.out,
        task.seed,
    )
    costs = cloud_costs(np.asarray(first.inputs), task.tolerance, task.iterations)
    reasons = [
        bound_reason(weights, rotary, first.visible, sink_margins(attention, first.visible))
        for attention in first.attention
    ]
    heads = [
        _head(weights, head, by_condition, task, statistics, spaces, costs, reasons[head])
        for head in range(weights.heads)
    ]
    return {
        "layer": task.layer,
        "norm": weights.norm,
        "rotary": rotary,
        "window": weights.window,
        "query_bias": weights.b_q is not None,
        "norm_bias": weights.norm_bias is not None,
        "output_norm": weights.post_norm_gain is not None,
        "tokens": {condition: _average([run["tokens"] for run in runs]) for condition, runs in by_condition.items()},
        "sink_seen": {condition: _mean([run["sink_seen"] for run in runs]) for condition, runs in by_condition.items()},
        "planes": {condition: runs[0]["planes"] for condition, runs in by_condition.items()},
        "half_space": {key: value for key, value in spaces.items() if key != "values"},
        "drift": {
            name: asdict(layer_drift(found)) | {"rho": model.rho, "g": found.g / found.t0, "g0": found.g0 / found.t0}
            for name, (found, model) in statistics.items()
        },
        "mixing": {
            condition: _mixing([run["mixing"] for run in runs])
            for condition, runs in by_condition.items()
            if runs[0]["mixing"]
        },
        "costs": costs,
        "heads": heads,
    }


def pool_of(task: LayerTask, condition: str) -> tuple[np.ndarray, np.ndarray]:
    """Content rows of all pooled runs of a condition (float32, in text order) and the first run's row 0."""
    rows = [
        np.load(task.folder() / f"pool-{run.name}.npy")
        for run in task.runs
        if run.pooled and run.condition == condition
    ]
    return np.concatenate([item[1:] for item in rows]), rows[0][0]


def _first(task: LayerTask) -> Run:
    return next(run for run in task.runs if run.measured and run.condition == task.main)


def _inverse_scale(task: LayerTask) -> float:
    scales = [
        np.load(task.folder() / f"scale-{run.name}.npy")[1:]
        for run in task.runs
        if run.pooled and run.condition == task.main
    ]
    return float(np.mean(1.0 / np.concatenate(scales)))


def _measure_run(weights: LayerWeights, record: LayerPass, run: Run, task: LayerTask) -> dict:
    mixing: list[MixPoint] = []
    changes: list[tuple[float, float | None]] = []
    if run.condition in (WITH, WITHOUT):
        step = BlockStep(weights, record)
        mixing = mix_points(step, task.mixes if run.condition == task.main else (1.0,), task.seed)
        if run.condition == task.main:
            changes = head_changes(step)
    return {
        "tokens": asdict(token_cosines(weights, record)),
        "sink_seen": float(record.visible[1:, 0].mean()),
        "planes": None if record.rotation is None else asdict(rotary_planes(record.rotation, len(record.inputs) - 1)),
        "scores": [head_scores(attention) for attention in record.attention],
        "values": [asdict(item) for item in head_values(weights, record)],
        "margins": [
            None if (found := sink_margins(attention, record.visible)) is None else asdict(found)
            for attention in record.attention
        ],
        "mixing": [asdict(point) for point in mixing],
        "changes": changes,
    }


def _head(
    weights: LayerWeights,
    head: int,
    by_condition: dict[str, list[dict]],
    task: LayerTask,
    statistics: dict,
    spaces: dict,
    costs: dict,
    reason: str | None,
) -> dict:
    group = weights.key_value(head)
    qk = product_norms(weights.w_q[head].T, weights.w_k[group].T)
    vo = product_norms(weights.w_o[head], weights.w_v[group].T)
    ratios = {
        pattern: None if costs[pattern]["upper"] is None else weights.scale * qk.nuclear / costs[pattern]["upper"]
        for pattern in ("sink", "diagonal")
    }
    changes = [run["changes"][head] for run in by_condition[task.main]]
    return {
        "head": head,
        "key_value_head": group,
        "scores": {
            condition: {
                name: {"mean": _mean(values := [run["scores"][head][name] for run in runs]), "sequences": values}
                for name in CONVENTIONS
            }
            for condition, runs in by_condition.items()
        },
        "values": {
            condition: _average([run["values"][head] for run in runs]) for condition, runs in by_condition.items()
        },
        "margins": {
            condition: _average([run["margins"][head] for run in runs]) for condition, runs in by_condition.items()
        },
        "drift": {name: asdict(head_drifts(found)[head]) for name, (found, _) in statistics.items()},
        "uniform_change": {
            "measured": _mean([item[0] for item in changes]),
            "predicted": _mean([item[1] for item in changes]),
        },
        "w_qk": asdict(qk),
        "w_vo": asdict(vo),
        "trace_vo": float(np.sum(weights.w_o[head] * weights.w_v[group].T)),
        "logit_scale": weights.scale,
        "w_o_rank": int(np.linalg.matrix_rank(weights.w_o[head])),
        "norm_over_cost": ratios,
        "bound_applies": reason is None,
        "bound_reason": reason,
        "value_half_space": spaces["values"][group],
    }


def _mixing(texts: Sequence[list[dict]]) -> list[dict]:
    """Means over texts of each point, and the changes from t = 0 that measurement and prediction are compared by."""
    points = []
    starts = [text[0]["result"] for text in texts]
    for found in zip(*texts, strict=True):
        results = [point["result"] for point in found]
        points.append(
            {
                "target": found[0]["target"],
                "t": found[0]["t"],
                "budget_met": _mean([point["budget_met"] for point in found]),
                **{
                    name: _mean([result[name] for result in results])
                    for name in ("measured", "predicted", "pair_rms", "pair_spread")
                },
                "measured_change": _mean(
                    [after["measured"] - before["measured"] for after, before in zip(results, starts)]
                ),
                "predicted_change": _mean(
                    [
                        None if after["predicted"] is None else after["predicted"] - before["predicted"]
                        for after, before in zip(results, starts)
                    ]
                ),
            }
        )
    return points


def _mean(numbers: Sequence[float | None]) -> float | None:
    """The mean of those that exist; None when none does."""
    known = [number for number in numbers if number is not None and np.isfinite(number)]
    return float(np.mean(known)) if known else None


def _average(records: Sequence[dict | None]) -> dict | None:
    """Means of equal records, field by field; extremes stay extremes, answers become the share of yes."""
    known = [record for record in records if record is not None]
    if not known:
        return None
    joint: dict[str, Callable] = {"least": min, "greatest": max, "rank": min, "count": min, "sphere": max}
    found = {}
    for name in known[0]:
        values = [record[name] for record in known]
        if isinstance(values[0], dict):
            found[name] = _average(values)
        elif name in joint:
            found[name] = joint[name](values)
        else:
            found[name] = _mean([float(value) if isinstance(value, bool) else value for value in values])
    return found
