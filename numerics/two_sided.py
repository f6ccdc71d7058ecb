"""Bounds on both sides of a minimal norm, read off any W and any dual, rounding included.

Above: W = left right^T is scaled until every constraint holds in exact arithmetic on the float64 tokens; each
computed margin is lowered by its a-priori rounding error first. Below, by weak duality, for lambda >= 0 with
G = sum_c lambda_c x_i (x_a - x_b)^T and p* the dual exponent,

    min ||W||_p >= sum_c m_c lambda_c / ||G||_{p*}                          (margins)
    min ||W||_p >= sum_i s_i (L_i + H(lambda_i / s_i)) / ||G||_{p*}         (masses; s row sums, H entropy),

with ||G|| raised by the rounding in G and in its singular values. Claims C1, C3.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
from jaxtyping import Float
from scipy.special import xlogy

from numerics.cloud import UNIT_ROUNDOFF, dot_error
from numerics.constraints import Constraints
from numerics.schatten import dual_exponent, exponent, lp_norm, schatten_norm
from numerics.soft_maximum import soft_maximum

__all__ = [
    "dual_matrix_norm",
    "dual_objective",
    "feasible_scale",
    "margin_floor",
    "norm_upper_bound",
    "relative_gap",
]


def relative_gap(lower: float, upper: float) -> float:
    """(upper - lower) / upper for 0 <= lower <= upper; 0 when both are 0, inf without an upper bound."""
    if upper == 0.0:
        return 0.0
    return (upper - lower) / upper if upper < math.inf else math.inf


def margin_floor(
    constraints: Constraints, left: Float[np.ndarray, "dim rank"], right: Float[np.ndarray, "dim rank"]
) -> Float[np.ndarray, "row key"]:
    """Lower bounds on the exact margins of W = left right^T at the float64 inputs (+inf off the
    competitors).
    """
    queries = constraints.queries[constraints.row_query]
    keys = constraints.keys
    margins = constraints.margins((queries @ left) @ (keys @ right).T)
    gamma = 2.0 * dot_error(queries.shape[1] * 2 + left.shape[1] + 4)
    sizes = (np.abs(queries) @ np.abs(left)) @ (np.abs(keys) @ np.abs(right)).T
    error = gamma * (sizes + sizes[np.arange(constraints.num_rows), constraints.favoured][:, None])
    return margins - error


def feasible_scale(constraints: Constraints, floor: Float[np.ndarray, "row key"]) -> float:
    """The least t > 0 (raised by rounding) for which t W satisfies every constraint, +inf if none is found.

    Margins: max m / margin. Masses: log sum_b exp(-t margin_b) is convex in t, so that Newton's method from
    t = 0 rises to its first crossing of -L; where L >= 0 it stays below from there on.
    """
    if constraints.margin is not None:
        least = floor.min(axis=1)
        return float((constraints.margin / least).max()) * (1.0 + 1e-14) if (least > 0.0).all() else math.inf
    # Exponentials and logarithms are good to a few units in the last place: ask for that much more.
    odds = constraints.log_odds
    odds = odds + 16.0 * UNIT_ROUNDOFF * (2.0 + np.abs(odds) + np.log(constraints.competitors.sum(axis=1)))
    t = 0.0
    for _ in range(200):
        value, slope = _log_sum_exp(t, floor)
        open_rows = value > -odds
        if not open_rows.any():
            return t
        if not (slope[open_rows] < 0.0).all():
            return math.inf
        rise = float(((value + odds)[open_rows] / -slope[open_rows]).max())
        t = max(t + rise, t * (1.0 + 1e-14))
        if not t < 1e300:
            return math.inf
    # Newton has converged up to rounding: step over it, and confirm.
    t *= 1.0 + 1e-10
    return t if (_log_sum_exp(t, floor)[0] <= -odds).all() else math.inf


def norm_upper_bound(
    left: Float[np.ndarray, "dim rank"], right: Float[np.ndarray, "dim rank"], norm: str | float
) -> float:
    """||left right^T||_p from above: the norm of R_left R_right^T of two QR factorisations, raised by
    rounding.
    """
    if left.shape[1] == 0:
        return 0.0
    core = np.linalg.qr(left, mode="r") @ np.linalg.qr(right, mode="r").T
    spread = min(core.shape) ** (1.0 / exponent(norm))
    rounding = 8.0 * UNIT_ROUNDOFF * sum(left.shape) * np.linalg.norm(left) * np.linalg.norm(right)
    return schatten_norm(core, norm) * (1.0 + 1e-15) + spread * float(rounding)


def dual_matrix_norm(
    constraints: Constraints, dual: Float[np.ndarray, "row key"], norm: str | float
) -> float:
    """An upper bound on ||G||_{p*}, G = sum_c lambda_c x_i (x_a - x_b)^T, evaluated on the tokens."""
    q = dual_exponent(norm)
    queries, keys = constraints.queries[constraints.row_query], constraints.keys
    signed = constraints.signed(dual)
    # Row sums are zero: a common shift of the keys leaves G and takes their mean out of the rounding.
    centre = keys.mean(axis=0)
    inner = signed @ (keys - centre)
    matrix = queries.T @ inner
    gamma = dot_error(sum(signed.shape) + 8)
    sizes = np.abs(queries).T @ (np.abs(signed) @ (np.abs(keys) + np.abs(centre)))
    rank = min(matrix.shape)
    values = scipy.linalg.svdvals(matrix)
    rounding = gamma * float(np.linalg.norm(sizes)) + 8.0 * UNIT_ROUNDOFF * sum(matrix.shape) * float(
        values[0]
    )
    spread = rank ** max(1.0 / q - 0.5, 0.0)  # ||E||_q <= rank^(1/q - 1/2)^+ ||E||_F
    return lp_norm(values, q) * (1.0 + 1e-14) + spread * rounding


def dual_objective(constraints: Constraints, dual: Float[np.ndarray, "row key"]) -> float:
    """sum m lambda, or sum_i s_i (L_i + H(lambda_i / s_i)), lowered by rounding."""
    total = dual.sum(axis=1)
    if constraints.margin is not None:
        return float(constraints.margin @ total) * (1.0 - 1e-13)
    entropy = xlogy(total, total) - xlogy(dual, dual).sum(axis=1)  # s H(lambda / s)
    parts = total * constraints.log_odds + entropy
    return float(parts.sum()) - 1e-14 * float(np.abs(parts).sum() + np.abs(xlogy(dual, dual)).sum())


def _log_sum_exp(
    t: float, margins: Float[np.ndarray, "row key"]
) -> tuple[Float[np.ndarray, " row"], Float[np.ndarray, " row"]]:
    """log sum_b exp(-t margin_b) of each row and its slope in t; infinite margins (no competitor) count
    nothing.
    """
    counts = np.isfinite(margins)
    finite = np.where(counts, margins, 0.0)
    values, weights = soft_maximum(np.where(counts, -t * finite, -np.inf))
    return values, -(weights * finite).sum(axis=1)
