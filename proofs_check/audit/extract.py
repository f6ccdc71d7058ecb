"""Runs the model over every sequence, checks the extraction, and leaves the records on disk, a layer at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from numerics.checkpoint import Checkpoint, check_extraction
from numerics.checkpoint.record import LayerPass, LayerWeights
from numerics.checkpoint.stream import stream
from proofs_check.audit.layer import layer_folder
from proofs_check.audit.records import save_record
from proofs_check.audit.text import Run


def extract(
    checkpoint: Checkpoint, runs: Sequence[Run], scratch: Path, tolerance: float, progress: Callable[[str], None]
) -> list[dict]:
    """Fill `scratch` with weights, measured passes and pools; returns the extraction check's errors, a row per layer.

    Attention and output of every measured run are rebuilt from the extracted weights and inputs and compared with the
    model's own before anything is kept; a disagreement raises with layer, head and error.  The largest errors over
    runs are kept.  Only one layer's weights are in memory beside the model.
    """
    agreements: dict[int, dict] = {}
    ordered = sorted(runs, key=lambda run: not run.measured)  # what can fail the check comes first
    for number, run in enumerate(ordered, 1):
        checkpoint.run(run.ids, lambda layer: _keep(checkpoint, layer, run, scratch, tolerance, agreements))
        progress(f"extracted {run.name} ({len(run.ids)} tokens), {number} of {len(ordered)}")
    return [agreements[layer] for layer in sorted(agreements)]


def _keep(
    checkpoint: Checkpoint, record: LayerPass, run: Run, scratch: Path, tolerance: float, agreements: dict[int, dict]
) -> None:
    folder = layer_folder(scratch, record.layer)
    weights = _weights(checkpoint, folder, record.layer)
    if run.measured:
        agreement = check_extraction(weights, record, tolerance)
        _note(agreements, agreement, run)
        save_record(folder / f"{run.name}.npz", record)
    if run.pooled:
        np.save(folder / f"pool-{run.name}.npy", np.asarray(record.inputs, dtype=np.float32))
        np.save(folder / f"scale-{run.name}.npy", stream(weights, record.residual).scale)


def _weights(checkpoint: Checkpoint, folder: Path, layer: int) -> LayerWeights:
    weights = checkpoint.weights(layer)
    if not folder.is_dir():
        folder.mkdir(parents=True)
        save_record(folder / "weights.npz", weights)
    return weights


def _note(agreements: dict[int, dict], agreement, run: Run) -> None:
    errors = [float(error) for error in agreement.attention_error]
    head = int(np.argmax(errors))
    row = {
        "layer": int(agreement.layer),
        "attention_error": errors[head],
        "output_error": float(agreement.output_error),
        "worst_head": head,
        "runs": 1,
    }
    before = agreements.get(row["layer"])
    if before is not None:
        worse = max((before, row), key=lambda item: item["attention_error"])
        row = worse | {"output_error": max(before["output_error"], row["output_error"]), "runs": before["runs"] + 1}
    agreements[row["layer"]] = row
