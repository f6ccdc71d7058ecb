"""What a sink costs: one number for every Schatten norm, from two small programs (claims C1, C2).

min ||W||_p over W with x_i^T W (x_s - x_j) >= m, i in Q, j in K, is m / (delta_Q delta_K) for every p, where
delta_Q = dist(0, conv{x_i}) and delta_K = dist(x_s, conv{x_j}): W = m q k^T / (||q||^2 ||k||^2) with the two
nearest points attains it, and the product of their weights is a dual solution. In mass form with mass >= 1/2
the key side becomes the entropic program of ``entropic``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from numerics.arguments import real_arrays
from numerics.entropic import entropic_point, require_majority
from numerics.gordan import UNCONFIRMED
from numerics.hull import MinNormPoint, distance_to_hull, min_norm_point
from numerics.two_sided import relative_gap

__all__ = ["SinkCost", "sink_cost", "why_not_bounded"]


@dataclass(frozen=True, eq=False)
class SinkCost:
    """Bounds lower <= min ||W||_p <= upper for every p at once, with W and the dual that show them.

    ``left`` right^T is a feasible W (rank one). The dual is lambda_ij proportional to query_weights_i *
    key_weights_j: its matrix is rank one too, so that ||G||_{p*} is the product of two vector norms.
    "infeasible": one of the two hulls contains what it must avoid; the weights are then Gordan's (their G is
    zero) and ``upper`` is inf. "undecided": float64 could not tell. ``reason`` says in words which hull it is;
    it is empty when the cost is bounded, and says so where "infeasible" is a float64 finding that only exact
    arithmetic can confirm (zero on a lower face of a hull).
    """

    status: Literal["bounded", "infeasible", "undecided"]
    lower: float
    upper: float
    left: Float[np.ndarray, " dim"]
    right: Float[np.ndarray, " dim"]
    query_weights: Float[np.ndarray, " query"]
    key_weights: Float[np.ndarray, " key"]
    query_distance: tuple[float, float]  # bounds on delta_Q
    key_distance: tuple[float, float]  # bounds on delta_K
    reason: str = ""

    @property
    def gap(self) -> float:
        """As in ``relative_gap``."""
        return relative_gap(self.lower, self.upper)


def sink_cost(
    queries: Float[np.ndarray, "query dim"],
    sink: Float[np.ndarray, " dim"],
    keys: Float[np.ndarray, "key dim"] | None = None,
    *,
    margin: float | None = None,
    mass: float | None = None,
) -> SinkCost:
    """The cheapest W_QK by which all ``queries`` prefer ``sink`` to all ``keys`` (default: the queries themselves).

    Args: ``queries`` (queries, d), ``sink`` (d,) and ``keys`` (keys, d) as they enter attention; exactly one of
    ``margin`` (> 0) and ``mass`` (in [1/2, 1)); the logit scale is 1. Returns a ``SinkCost``: read ``status``, and
    ``reason`` where no W exists. Raises ValueError for arrays that do not fit, NaN, or bad levels. Claims C1, C2; a
    query bias or RoPE breaks the lower bound (G6).

    Example:

    >>> cost = sink_cost(np.eye(4)[:3], np.eye(4)[3], margin=1.0)  # three tokens and a sink, all orthonormal
    >>> cost.status, f"{cost.lower:.6f}", f"{cost.upper:.6f}"  # C4: T/√(T+1) = 1.5
    ('bounded', '1.500000', '1.500000')
    """
    queries, sink, keys = real_arrays(
        ("queries", queries, "query dim"), ("sink", sink, "dim"), ("keys", keys, "key dim?")
    )
    keys = queries if keys is None else keys
    if (margin is None) == (mass is None):
        raise ValueError("expected either a margin or a mass, got both or neither; pass exactly one of them")
    if margin is not None and not (margin > 0.0 and math.isfinite(margin)):
        raise ValueError(f"expected a finite margin > 0, got {margin}; a margin is a strict preference")
    if mass is not None:
        require_majority(mass)
        if mass == 0.5 and len(keys) == 1:  # W = 0 already gives half the mass
            zero, uniform = np.zeros(queries.shape[1]), np.full(len(queries), 1.0 / len(queries))
            return SinkCost(
                "bounded", 0.0, 0.0, zero, zero, uniform, np.ones(1), (0.0, math.inf), (0.0, math.inf)
            )
    query_side = min_norm_point(queries)
    key_side = distance_to_hull(sink, keys)
    query_weights = _spread(query_side, len(queries))
    query_distance = (query_side.distance_lower, query_side.distance_upper)
    key_distance = (key_side.distance_lower, key_side.distance_upper)
    sides = (query_side.status, key_side.status)
    if sides != ("separated", "separated"):
        infeasible = "contains_zero" in sides
        zero = np.zeros(queries.shape[1])
        level = margin if margin is not None else math.log(mass / (1.0 - mass))
        product = query_distance[1] * key_distance[1]
        lower = math.inf if infeasible else (level / product * (1.0 - 1e-14) if product > 0.0 else 0.0)
        return SinkCost(
            "infeasible" if infeasible else "undecided", lower, math.inf, zero, zero,
            query_weights, _spread(key_side, len(keys)), query_distance, key_distance,
            why_not_bounded(query_side, key_side),
        )  # fmt: skip
    left = query_side.normal / query_side.margin
    if margin is not None:
        weights, right = _spread(key_side, len(keys)), -margin * key_side.normal / key_side.margin
        low, high = margin / key_distance[1], margin / key_distance[0]
    else:
        entropic = entropic_point(sink - keys, mass)
        assert entropic is not None  # the key side was separated above
        weights, right = entropic.weights, entropic.direction
        low, high = entropic.lower, entropic.upper
    rounding = 64 * np.finfo(np.float64).eps
    return SinkCost(
        "bounded", low / query_distance[1] * (1.0 - rounding), high / query_distance[0] * (1.0 + rounding),
        left * (1.0 + rounding), right * (1.0 + rounding),
        query_weights, weights, query_distance, key_distance,
    )  # fmt: skip


def why_not_bounded(query_side: MinNormPoint, key_side: MinNormPoint) -> str:
    """Why no W, or none that float64 could find, prefers the sink: which hull holds its forbidden point. Claim G1."""
    sides = ((query_side, "0", "the queries", "has a positive product with each of them"),
             (key_side, "the sink", "the keys", "puts the sink before each of them"))
    for side, point, hull, wish in sides:
        if side.status == "contains_zero":
            within = f" to within {side.distance_upper:.1e}" if side.distance_upper else ""
            said = (f"no W exists: {point} lies in the convex hull of {hull} (weights on {len(side.support)} of them"
                    f" reach it{within}), so no direction {wish} (G1)")
            return said if side.stable else said + UNCONFIRMED
    open_sides = [f"{point} may lie in the convex hull of {hull} (distance {side.distance_lower:.1e} to"
                  f" {side.distance_upper:.1e})" for side, point, hull, _ in sides if side.status == "undecided"]
    return f"float64 cannot tell whether some W exists: {' and '.join(open_sides)} (G1)" if open_sides else ""


def _spread(point: MinNormPoint, count: int) -> Float[np.ndarray, " point"]:
    weights = np.zeros(count)
    weights[point.support] = point.weights
    return weights
