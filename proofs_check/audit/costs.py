"""Certified costs of a sink and of a diagonal on one text's real cloud, at margin 1 and logit scale 1."""

from __future__ import annotations

import math

import numpy as np

from numerics.diagonal_bound import diagonal_bound, diagonal_cost
from numerics.sink_cost import sink_cost


def cloud_costs(inputs: np.ndarray, tolerance: float, iterations: int) -> dict:
    """Nuclear costs on the distinct content rows of `inputs` (row 0 is the sink): bounds lower <= min ‖W‖_1 <= upper.

    The sink's cost is the same in every Schatten norm (C1); infinite where no W exists ("infeasible"), null where
    float64 could not tell.  `closed_form` is C3's uniform dual, a lower bound that needs no solver.
    """
    rows = np.unique(np.asarray(inputs[1:], dtype=np.float64), axis=0)
    sink = np.asarray(inputs[0], dtype=np.float64)
    found = {"count": len(rows), "dim": rows.shape[1], "mean_norm": float(np.linalg.norm(rows, axis=1).mean())}
    if len(rows) < 2 or (rows == sink).all(axis=1).any():
        nothing = {"status": "not asked", "lower": None, "upper": None, "rank": None}
        return found | {"sink": nothing, "diagonal": nothing | {"closed_form": None}, "ratio": None}
    cheapest = sink_cost(rows, sink, margin=1.0)
    diagonal = diagonal_cost(rows, "nuclear", margin=1.0, tolerance=tolerance, max_iterations=iterations)
    found["sink"] = _bounds(cheapest.status, cheapest.lower, cheapest.upper) | {"rank": 1}
    found["diagonal"] = _bounds(diagonal.status, diagonal.lower, diagonal.upper) | {
        "rank": diagonal.rank,
        "closed_form": _finite(diagonal_bound(rows, "nuclear", margin=1.0)),
    }
    ratio = None
    if cheapest.status == diagonal.status == "bounded":
        ratio = [diagonal.lower / cheapest.upper, diagonal.upper / cheapest.lower]
    return found | {"ratio": ratio}


def isotropic_costs(count: int, dim: int, seed: int, tolerance: float, iterations: int) -> dict:
    """The control: the same for independent Gaussian rows scaled to norm 1 on average, the sink one of them."""
    rows = np.random.default_rng(seed).standard_normal((count + 1, dim)) / math.sqrt(dim)
    return cloud_costs(rows, tolerance, iterations)


def _bounds(status: str, lower: float, upper: float) -> dict:
    return {"status": status, "lower": _finite(lower), "upper": _finite(upper)}


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
