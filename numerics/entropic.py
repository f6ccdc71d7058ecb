"""The cheapest direction that gives a softmax mass: the entropic counterpart of a hull's nearest point.

With rows d_j = x_s - x_j, L = log(mass / (1 - mass)), and H the entropy,

    min { ||w|| : log sum_j exp(-<w, d_j>) <= -L } = max { (L + H(mu)) / ||sum_j mu_j d_j|| : mu in simplex }

whenever the left side is feasible and w = 0 is not. Scaling w up decides feasibility for L >= 0: it is
feasible iff 0 lies outside conv{d_j}. Claim C2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from jaxtyping import Float
from scipy.special import entr

from numerics.cloud import dot_error
from numerics.hull import min_norm_point
from numerics.soft_maximum import soft_maximum

__all__ = ["EntropicPoint", "entropic_point", "require_majority"]

_MAX_NEWTON = 400


@dataclass(frozen=True, eq=False)
class EntropicPoint:
    """A feasible w with ||w|| <= upper and simplex weights mu whose dual value is >= lower."""

    direction: Float[np.ndarray, " dim"]
    weights: Float[np.ndarray, " point"]
    lower: float
    upper: float
    iterations: int


def entropic_point(
    differences: Float[np.ndarray, "point dim"], mass: float, *, tolerance: float = 1e-8
) -> EntropicPoint | None:
    """Solve the program of the module docstring to a relative gap ``tolerance``, or return None if 0 is in
    the hull.

    Newton's method on ½||w||^2 + theta log sum exp(-<w, d_j>), whose minimiser has w = theta sum_j p_j d_j
    with p the softmax weights: at the theta where the constraint is tight, mu = p closes the gap.
    ``differences`` (n, d) holds the d_j as rows. Needs mass >= 1/2 (L >= 0), else scaling w up may lose the
    constraint: ValueError.
    """
    require_majority(mass)
    rows = np.asarray(differences, dtype=np.float64)
    odds = math.log(mass) - math.log1p(-mass)
    count = len(rows)
    if odds + math.log(count) <= 0.0:
        zero = np.zeros(rows.shape[1])
        return EntropicPoint(zero, np.full(count, 1.0 / count), 0.0, 0.0, 0)
    nearest = min_norm_point(rows)
    if nearest.status != "separated":
        return None
    # A margin of L + log n for every competitor suffices: a feasible start.
    w = nearest.normal * ((odds + math.log(count)) / nearest.margin)
    best_lower, best_upper = 0.0, math.inf
    best_w, best_mu = w, np.full(count, 1.0 / count)
    theta = 0.0
    for iteration in range(1, _MAX_NEWTON + 1):
        value, mu = soft_maximum(-(rows @ w))
        pull = rows.T @ mu
        lower = (odds + float(entr(mu).sum())) / float(np.linalg.norm(pull))
        if lower > best_lower:
            best_lower, best_mu = lower, mu
        scale = _scale(rows, w, odds)
        if scale < math.inf and scale * float(np.linalg.norm(w)) < best_upper:
            best_w, best_upper = scale * w, scale * float(np.linalg.norm(w))
        if best_upper - best_lower <= tolerance * best_upper:
            break
        if theta == 0.0:
            theta = float(np.linalg.norm(w) / np.linalg.norm(pull))
        w, theta = _newton(rows, w, theta, value, mu, pull, odds)
    lower, upper = _rounded(rows, best_w, best_mu, odds)
    return EntropicPoint(best_w, best_mu, lower, upper, iteration)


def require_majority(mass: float) -> None:
    """ValueError unless 1/2 <= mass < 1: what claim C2 needs (it is false for a smaller mass in general)."""
    if not 0.5 <= mass < 1.0:
        raise ValueError(
            f"expected a mass in [1/2, 1), got {mass}: the closed sink cost needs every margin to be"
            " non-negative (L >= 0); for a smaller mass use minimum_norm on the sink's constraints"
        )


def _newton(rows, w, theta, value, mu, pull, odds):
    """One damped Newton step in w at theta, with theta moved along the path of minimisers toward
    tightness.
    """
    weighted = rows * mu[:, None]
    hessian = theta * (weighted.T @ rows - np.outer(pull, pull))
    hessian[np.diag_indices_from(hessian)] += 1.0
    factor = scipy.linalg.cho_factor(hessian, check_finite=False)
    gradient = w - theta * pull
    centring = -scipy.linalg.cho_solve(factor, gradient, check_finite=False)
    decrement = float(-gradient @ centring)
    if decrement > 1e-3 * float(w @ w):
        step, base = 1.0, 0.5 * float(w @ w) + theta * value
        while step > 1e-12:
            trial = w + step * centring
            if (
                0.5 * float(trial @ trial) + theta * soft_maximum(-(rows @ trial))[0]
                <= base - 0.25 * step * decrement
            ):
                break
            step *= 0.5
        return w + step * centring, theta
    # Near the path: solve for w and theta together (theta by a factor, at most e^2 a step).
    tangent = scipy.linalg.cho_solve(factor, pull, check_finite=False)
    curvature = float(pull @ tangent)
    change = (value + odds - float(pull @ centring)) / curvature
    log_change = float(np.clip(change / theta, -2.0, 2.0))
    new_theta = theta * math.exp(log_change) if log_change < 0.0 else theta * (1.0 + log_change)
    return w + centring + (new_theta - theta) * tangent, new_theta


def _scale(rows: Float[np.ndarray, "point dim"], w: Float[np.ndarray, " dim"], odds: float) -> float:
    """The least t with log sum exp(-t <w, d_j>) <= -L, by Newton from below on a convex decreasing
    function.
    """
    margins = rows @ w - dot_error(rows.shape[1] + 6) * (np.abs(rows) @ np.abs(w))
    if not float(margins.min()) > 0.0:
        return math.inf
    t = 0.0
    for _ in range(200):
        value, mu = soft_maximum(-t * margins)
        if value <= -odds:
            return t * (1.0 + 1e-14)
        t = max(t + (value + odds) / float(mu @ margins), t * (1.0 + 1e-15))
    return math.inf


def _rounded(rows, w, mu, odds) -> tuple[float, float]:
    """Both bounds with the rounding of their own evaluation taken against them."""
    gamma = dot_error(sum(rows.shape) + 8)
    upper = float(np.linalg.norm(w)) * (1.0 + gamma)
    pull = float(np.linalg.norm(rows.T @ mu)) + gamma * float(np.linalg.norm(np.abs(rows).T @ mu))
    lower = (odds + float(entr(mu).sum())) * (1.0 - 4.0 * gamma) / (pull * (1.0 + gamma))
    return max(lower, 0.0), upper
