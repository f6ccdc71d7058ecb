"""Nearest logits that satisfy a row constraint, all rows at once.

Rows are independent given the logits, and each is a star: one favoured logit against its competitors. Both
projections come down to one unknown per row, found by a monotone Newton iteration. What is subtracted from
the competitors is non-negative and is the row's dual: V - projection(V) = lambda on the competitors and
-sum(lambda) on the favoured key.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import wrightomega

__all__ = ["project_margin_rows", "project_mass_rows"]


def project_margin_rows(
    logits: Float[np.ndarray, "row key"],
    favoured: Int[np.ndarray, " row"],
    competitors: Bool[np.ndarray, "row key"],
    margin: Float[np.ndarray, " row"],
) -> Float[np.ndarray, "row key"]:
    """argmin ||Z - S||_F over rows with z_favoured - z_b >= margin for every competitor b.

    The favoured value r is the root of r - s_f = sum_b (s_b + m - r)^+, whose right side is decreasing and
    convex: Newton's method from s_f rises to it without overshooting and ends after finitely many steps.
    """
    rows = np.arange(len(favoured))
    shifted = np.where(competitors, logits + margin[:, None], -np.inf)
    lead = logits[rows, favoured]
    root = lead
    for _ in range(logits.shape[1] + 1):
        active = shifted > root[:, None]
        pooled = (lead + np.where(active, shifted, 0.0).sum(axis=1)) / (1 + active.sum(axis=1))
        if not (pooled > root).any():
            break
        root = np.maximum(root, pooled)
    projected = np.where(competitors, np.minimum(logits, (root - margin)[:, None]), logits)
    projected[rows, favoured] = root
    return projected


def project_mass_rows(
    logits: Float[np.ndarray, "row key"],
    favoured: Int[np.ndarray, " row"],
    competitors: Bool[np.ndarray, "row key"],
    log_odds: Float[np.ndarray, " row"],
    scale: Float[np.ndarray, " row"],
) -> Float[np.ndarray, "row key"]:
    """argmin ||Z - S||_F over rows with log sum_b exp((z_b - z_favoured) / scale) <= -L.

    With nu >= 0 the multiplier, k = e^{-L} and Wright's omega(t) = W(e^t), the minimiser (scale 1) is
    z_f = s_f + nu k, z_b = s_b - omega(log nu + s_b - z_f), and nu the root of sum_b omega(...) = nu k.
    In c = log nu the function log sum_b omega(c + s_b - s_f - k e^c) - c - log k is decreasing.
    """
    rows = np.arange(len(favoured))
    gaps = np.where(competitors, logits - logits[rows, favoured][:, None], -np.inf) / scale[:, None]
    shift = gaps.max(axis=1)
    excess = shift + np.log(np.exp(gaps - shift[:, None]).sum(axis=1)) + log_odds
    violated = excess > 0.0
    projected = logits.copy()
    if not violated.any():
        return projected
    gap, odds = gaps[violated], log_odds[violated]
    c = _log_multiplier(gap, odds, excess[violated])
    drop = wrightomega(c[:, None] + np.maximum(gap, -1e6) - np.exp(c - odds)[:, None])
    drop[~np.isfinite(gap)] = 0.0
    drop *= scale[violated, None]
    projected[violated] -= drop
    # The favoured logit rises by what the competitors lose, so that the row's residual sums to zero exactly.
    projected[rows[violated], favoured[violated]] += drop.sum(axis=1)
    return projected


def _log_multiplier(
    gap: Float[np.ndarray, "row key"], log_odds: Float[np.ndarray, " row"], excess: Float[np.ndarray, " row"]
) -> Float[np.ndarray, " row"]:
    """Root c of log sum_b omega(c + gap_b - e^{c - L}) = c - L, by Newton steps kept inside a bracket.

    ``excess`` = log sum_b e^{gap_b} + L > 0. Raising the favoured logit by all of it restores the row, and no
    competitor falls by more than the favoured logit rises: the rise nu k lies between excess / 2 and excess.
    """
    finite = np.isfinite(gap)
    gap = np.where(finite, gap, -1e6)
    low, high = np.log(0.5 * excess) + log_odds, np.log(excess) + log_odds
    c = low
    for _ in range(60):
        rise = np.exp(c - log_odds)
        omega = np.where(finite, wrightomega(c[:, None] + gap - rise[:, None]), 0.0)
        total = np.maximum(omega.sum(axis=1), 1e-300)
        value = np.log(total) - (c - log_odds)
        done = np.abs(value) <= 1e-13
        if done.all():
            break
        slope = (omega / (1.0 + omega)).sum(axis=1) * (1.0 - rise) / total - 1.0
        low, high = np.where(value >= 0.0, c, low), np.where(value < 0.0, c, high)
        newton = c - value / np.where(slope < 0.0, slope, -1.0)
        inside = (newton > low) & (newton < high)
        c = np.where(done, c, np.where(inside, newton, 0.5 * (low + high)))
    return c
