"""What the values cost: the cheapest W_VO with prescribed outputs, by pseudo-inverse (claim C7).

    min ||V||_p  subject to  V x_j = t_j, V x_s = 0   is   ||B M^+||_p,
    M = [x_1 .. x_n, x_s],  B = [t_1 .. t_n, 0],

for every p (indeed every unitarily invariant norm), when B M^+ M = B: any V with V M = B has V P = B M^+ for
the projection P on the span of M, and projecting does not raise the norm. The dual is max <Y, B> over ||Y
M^T||_{p*} <= 1, attained at Y = S (M^+)^T with S aligned to V.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from numerics.arguments import real_arrays
from numerics.cloud import dot_error
from numerics.schatten import dual_exponent, exponent, schatten_norm
from numerics.two_sided import relative_gap

__all__ = ["ValueCost", "value_cost"]


@dataclass(frozen=True, eq=False)
class ValueCost:
    """Bounds on min ||V||_p, the V found, and how far the data can be trusted.

    ``status`` "independent": the inputs are independent beyond rounding, and both bounds hold for the exact
    problem. "consistent": the inputs are dependent and the targets agree to ``residual``; the bounds hold for
    targets moved by that much. "inconsistent": ``conflict`` is a unit c with sum c_j x_j = 0 to rounding
    while sum c_j t_j has norm ``residual``: no V exists, ``upper`` is inf.
    """

    status: Literal["independent", "consistent", "inconsistent"]
    exponent: float
    lower: float
    upper: float
    w_vo: Float[np.ndarray, "out dim"]
    dual: Float[np.ndarray, "out input"]  # Y, scaled so that ||Y M^T||_{p*} <= 1
    rank: int
    condition: float  # s_max / s_min over the retained singular values of M
    residual: float
    conflict: Float[np.ndarray, " input"]

    @property
    def gap(self) -> float:
        """As in ``relative_gap``."""
        return relative_gap(self.lower, self.upper)


def value_cost(
    inputs: Float[np.ndarray, "input dim"],
    targets: Float[np.ndarray, "input out"],
    norm: str | float,
    *,
    null: Float[np.ndarray, " dim"] | None = None,
    rank_tolerance: float = 1e-12,
) -> ValueCost:
    """The cheapest V (out, dim) in Schatten norm with V inputs_j = targets_j for all j, and V null = 0 if given.

    Args: ``inputs`` (n, d), ``targets`` (n, out), ``null`` (d,); ``norm`` as in ``schatten_norm``; singular
    values of the inputs below ``rank_tolerance`` times the largest count as zero. Returns a ``ValueCost``: read
    ``status``. Raises ValueError for arrays that do not fit, NaN or p < 1. Claim C7.

    Example:

    >>> cost = value_cost(np.eye(3)[:2], np.eye(2), "frobenius", null=np.eye(3)[2])
    >>> cost.status, f"{cost.upper:.6f}", abs(cost.w_vo).round(9).tolist()
    ('independent', '1.414214', [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    """
    p = exponent(norm)
    inputs, targets, null = real_arrays(
        ("inputs", inputs, "input dim"), ("targets", targets, "input out"), ("null", null, "dim?")
    )
    if not 0.0 <= rank_tolerance < 1.0:
        raise ValueError(f"expected a rank tolerance in [0, 1), got {rank_tolerance}; 1e-12 is the default")
    if null is not None:
        inputs = np.vstack([inputs, null])
        targets = np.vstack([targets, np.zeros(targets.shape[1])])
    u, s, vt = np.linalg.svd(inputs, full_matrices=False)
    keep = s > rank_tolerance * s[0] if s[0] > 0.0 else np.zeros(len(s), dtype=bool)
    u, s, vt = u[:, keep], s[keep], vt[keep]
    rank = int(keep.sum())
    w_vo = (targets.T @ u / s) @ vt
    misfit = targets - inputs @ w_vo.T
    residual = schatten_norm(misfit, p)
    condition = float(s[0] / s[-1]) if rank else math.inf
    independent = rank == len(inputs)
    conflict = np.zeros(len(inputs))
    status: Literal["independent", "consistent", "inconsistent"] = (
        "independent" if independent else "consistent"
    )
    size = float(np.linalg.norm(targets))
    if not independent and np.linalg.norm(misfit) > 1e-9 * max(size, 1e-300) * math.sqrt(condition):
        status = "inconsistent"
        off = misfit @ np.linalg.svd(misfit, full_matrices=False)[2][0]
        off -= u @ (u.T @ off)
        conflict = off / np.linalg.norm(off)
        residual = float(np.linalg.norm(conflict @ targets))
    dual, lower = _dual(w_vo, inputs, targets, u / s @ vt if rank else np.zeros_like(inputs), p)
    upper = schatten_norm(w_vo, p)
    if independent:
        # V + (B - V M) M^+ is exactly feasible; s_min is lowered by the SVD's error.
        floor = float(s[-1]) - 8.0 * dot_error(sum(inputs.shape)) * float(s[0])
        slack = residual + dot_error(inputs.shape[1] + 4) * float(
            np.linalg.norm(np.abs(inputs) @ np.abs(w_vo.T))
        )
        slack *= min(w_vo.shape) ** (1.0 / p)
        upper = upper * (1.0 + 1e-13) + slack / floor if floor > 0.0 else math.inf
    if status == "inconsistent":
        lower = upper = math.inf
    return ValueCost(status, p, lower, upper, w_vo, dual, rank, condition, residual, conflict)


def _dual(w_vo, inputs, targets, pseudo_inverse, p):
    """Y = S (M^+)^T for S with ||S||_{p*} = 1 and <S, V> = ||V||_p, rescaled to ||Y M^T||_{p*} <= 1; its
    value.
    """
    q = dual_exponent(p)
    left, values, right = np.linalg.svd(w_vo, full_matrices=False)
    if values[0] == 0.0:
        return np.zeros((w_vo.shape[0], len(inputs))), 0.0
    positive = values > 1e-13 * values[0]
    shape = (
        np.where(positive, (values / values[0]) ** (p - 1.0), 0.0) if p < math.inf else values >= values[0]
    )
    aligned = (left * shape) @ right
    dual = aligned @ pseudo_inverse.T
    size = schatten_norm(dual @ inputs, q)
    rounding = dot_error(sum(inputs.shape) + 8) * float(np.linalg.norm(np.abs(dual) @ np.abs(inputs)))
    size = size * (1.0 + 1e-13) + rounding * min(w_vo.shape) ** max(1.0 / q - 0.5, 0.0)
    dual = dual / size
    value = float((dual.T * targets).sum()) - dot_error(targets.size) * float(
        (np.abs(dual.T) * np.abs(targets)).sum()
    )
    return dual, max(value, 0.0)
