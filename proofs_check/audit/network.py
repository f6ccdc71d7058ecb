"""Mixed attention through the rest of the network: one layer's attention replaced, the rest of the model left alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from numerics.audit.mixing import CONTROLS, TARGETS, equal_budget, mix, target_attention
from numerics.checkpoint import Checkpoint
from numerics.checkpoint.record import LayerPass, LayerWeights
from numerics.checkpoint.stream import stream
from numerics.moments import mean_off_diagonal, moment_cosines
from proofs_check.audit.text import Run


def content_cosine(rows: np.ndarray, sink: int = 0) -> float:
    """Mean cosine over pairs of content rows."""
    content = np.delete(np.asarray(rows, dtype=np.float64), sink, axis=0)
    return mean_off_diagonal(moment_cosines(content @ content.T))


def baseline(checkpoint: Checkpoint, run: Run) -> tuple[list[float], float]:
    """Content cosines of the normalised stream (no gain) entering every layer, and of the final hidden states."""
    entering: list[float] = []
    final = checkpoint.run(run.ids, lambda record: entering.append(_entering(checkpoint, record)))
    return entering, content_cosine(final)


def replaced(checkpoint: Checkpoint, record: LayerPass, run: Run, mixes: Sequence[float], seed: int) -> list[dict]:
    """For every target: the content cosine entering the next layer, and at the end, this layer's attention mixed."""
    own = np.asarray(record.attention, dtype=np.float64)
    uniform = target_attention("uniform", record.visible, own, 0, seed)
    rows = []
    for name in TARGETS:
        target = target_attention(name, record.visible, own, 0, seed)
        for share in mixes:
            t = equal_budget(own, mix(own, uniform, share), target) if name in CONTROLS else share
            entering: dict[int, float] = {}
            following = [] if record.layer + 1 == checkpoint.layers else [record.layer + 1]
            final = checkpoint.run_with(
                run.ids,
                record.layer,
                mix(own, target, t),
                lambda later: entering.update({later.layer: _entering(checkpoint, later)}),
                layers=following,
                residual=record.residual,
            )
            rows.append(
                {"target": name, "t": share, "next": entering.get(record.layer + 1), "final": content_cosine(final)}
            )
    return rows


def _entering(checkpoint: Checkpoint, record: LayerPass) -> float:
    weights: LayerWeights = checkpoint.weights(record.layer)
    return content_cosine(stream(weights, record.residual).normalised)
