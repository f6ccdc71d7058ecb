"""Schatten norms (claims C1-C3, C7): their duals, proximal maps and balls, all through the singular values.

A Schatten-p norm is the p-norm of the vector of singular values; a map that is a projection or a proximal map
for the p-norm of vectors becomes one for matrices by acting on singular values (von Neumann).
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
from jaxtyping import Float
from scipy.optimize import brentq

from numerics.arguments import real_array

__all__ = [
    "dual_exponent",
    "exponent",
    "lp_norm",
    "project_lp_ball",
    "project_schatten_ball",
    "prox_by_gram",
    "prox_lp_norm",
    "prox_schatten",
    "schatten_norm",
]

_NAMES = {"nuclear": 1.0, "frobenius": 2.0, "spectral": math.inf}


def exponent(norm: str | float) -> float:
    """The exponent p in [1, inf] that ``norm`` names: "nuclear" 1, "frobenius" 2, "spectral" inf, or a number.

    Raises ValueError for another name, NaN, or p < 1 (the triangle inequality then fails: no norm, and the
    programs of the C claims are not convex).
    """
    if isinstance(norm, str) and norm in _NAMES:
        return _NAMES[norm]
    try:
        p = float(norm)
    except (TypeError, ValueError):
        p = math.nan
    if not p >= 1.0:
        raise ValueError(
            f"expected a Schatten norm: nuclear, frobenius, spectral or a number p >= 1, got {norm!r};"
            " for p < 1 the minimum-norm problem is not convex"
        )
    return p


def dual_exponent(norm: str | float) -> float:
    """The exponent p* with 1/p + 1/p* = 1: the dual norm of Schatten-p is Schatten-p*."""
    p = exponent(norm)
    if p == 1.0:
        return math.inf
    return 1.0 if p == math.inf else p / (p - 1.0)


def schatten_norm(matrix: Float[np.ndarray, "row col"], norm: str | float) -> float:
    """||M||_p = (sum_k s_k(M)^p)^{1/p}, the largest singular value at p = inf.

    ``norm`` is "nuclear" (p = 1), "frobenius" (2), "spectral" (inf) or a number p >= 1; a matrix without entries has
    norm 0. Raises ValueError for another norm, another rank, NaN or infinity. arXiv 2605.08453, our reconstruction.

    Example:

    >>> [round(schatten_norm(np.diag([3.0, 4.0]), norm), 9) for norm in ("nuclear", "frobenius", "spectral")]
    [7.0, 5.0, 4.0]
    """
    p = exponent(norm)
    if isinstance(matrix, np.ndarray) and matrix.ndim == 2 and matrix.size == 0:
        return 0.0
    entries = real_array("matrix", matrix, "row col")
    return float(np.linalg.norm(entries)) if p == 2.0 else lp_norm(scipy.linalg.svdvals(entries, check_finite=False), p)


def prox_schatten(
    matrix: Float[np.ndarray, "row col"], norm: str | float, step: float
) -> Float[np.ndarray, "row col"]:
    """argmin_Z step ||Z||_p + ½ ||Z - M||_F^2: the proximal map of a Schatten norm."""
    u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    return (u * prox_lp_norm(s, exponent(norm), step)) @ vt


def prox_by_gram(
    matrix: Float[np.ndarray, "row col"], norm: str | float, step: float
) -> Float[np.ndarray, "row col"]:
    """The proximal map of the nuclear or the spectral norm by an eigendecomposition of the smaller Gram
    matrix.

    Both change only the singular values above a threshold (the step; the level at which the excess sums to
    the step). Squaring loses those below 1e-8 ||M||, which matters for neither as long as the threshold is
    well above; it takes half the time of an SVD. With a threshold below 1e-6 ||M||, or another norm, it falls
    back on the SVD.
    """
    p = exponent(norm)
    wide = matrix.shape[0] < matrix.shape[1]
    tall = matrix.T if wide else matrix
    values, vectors = np.linalg.eigh(tall.T @ tall)
    sizes = np.sqrt(np.maximum(values, 0.0))
    shrunk = prox_lp_norm(sizes, p, step) if p in (1.0, math.inf) else sizes
    changed = shrunk < sizes
    kept = shrunk > 0.0 if p == 1.0 else changed  # what the product below must resolve
    if p not in (1.0, math.inf) or not (sizes[kept].min(initial=math.inf) > 1e-6 * sizes[-1]):
        return prox_schatten(matrix, p, step)
    basis = vectors[:, kept]
    if p == 1.0:
        result = (tall @ basis * (shrunk[kept] / sizes[kept])) @ basis.T
    else:
        result = tall - (tall @ basis * (1.0 - shrunk[kept] / sizes[kept])) @ basis.T
    return result.T if wide else result


def project_schatten_ball(
    matrix: Float[np.ndarray, "row col"], norm: str | float, radius: float
) -> Float[np.ndarray, "row col"]:
    """The nearest point of {Z : ||Z||_p <= radius} in Frobenius distance."""
    u, s, vt = np.linalg.svd(matrix, full_matrices=False)
    return (u * project_lp_ball(s, exponent(norm), radius)) @ vt


def prox_lp_norm(vector: Float[np.ndarray, " n"], p: float, step: float) -> Float[np.ndarray, " n"]:
    """argmin_z step ||z||_p + ½ ||z - v||^2 for v >= 0, by Moreau: v minus its projection on the dual ball."""
    return vector - project_lp_ball(vector, dual_exponent(p), step)


def project_lp_ball(vector: Float[np.ndarray, " n"], p: float, radius: float) -> Float[np.ndarray, " n"]:
    """argmin ||z - v|| over ||z||_p <= radius, for v >= 0 and radius > 0.

    1 < p < inf: z + nu z^{p-1} = v coordinate by coordinate, with nu > 0 such that ||z||_p = radius. In y =
    log z the equation log(e^y + nu e^{(p-1) y}) = log v is convex with slopes between 1 and p-1, so that
    Newton's method converges from anywhere.
    """
    if not radius > 0.0:
        raise ValueError(f"expected a positive radius, got {radius}; the ball of radius 0 is the origin")
    if lp_norm(vector, p) <= radius:
        return vector.copy()
    if p == math.inf:
        return np.minimum(vector, radius)
    if p == 2.0:
        return vector * (radius / np.linalg.norm(vector))
    if p == 1.0:
        ordered = -np.sort(-vector)
        levels = (np.cumsum(ordered) - radius) / np.arange(1, len(vector) + 1)
        return np.maximum(vector - levels[ordered >= levels][-1], 0.0)
    scale = float(vector.max())
    positive = vector > 0.0
    target = np.log(vector[positive] / scale)

    def coordinates(log_nu: float) -> Float[np.ndarray, " positive"]:
        y = np.minimum(
            target, (target - log_nu) / (p - 1.0)
        )  # an upper bound on the solution: Newton descends
        for _ in range(60):
            first, second = y, log_nu + (p - 1.0) * y
            share = 1.0 / (1.0 + np.exp(np.clip(second - first, -700, 700)))
            step = (np.logaddexp(first, second) - target) / (share + (p - 1.0) * (1.0 - share))
            y = y - step
            if float(np.abs(step).max()) <= 1e-15 * (1.0 + float(np.abs(y).max())):
                break
        return np.exp(y)

    low, high = -1.0, 1.0
    while lp_norm(coordinates(low), p) < radius / scale:
        low *= 2.0
    while lp_norm(coordinates(high), p) > radius / scale:
        high *= 2.0
    root = brentq(lambda c: lp_norm(coordinates(c), p) - radius / scale, low, high, xtol=1e-14, rtol=1e-14)
    projected = np.zeros_like(vector)
    projected[positive] = coordinates(root) * scale
    return projected


def lp_norm(vector: Float[np.ndarray, " n"], p: float) -> float:
    """(sum |v_i|^p)^{1/p}, the largest |v_i| at p = inf; scaled first, so that no power over- or underflows."""
    largest = float(np.abs(vector).max()) if vector.size else 0.0
    if p == math.inf or largest == 0.0:
        return largest
    if p == 1.0:
        return float(np.abs(vector).sum())
    return largest * float(((np.abs(vector) / largest) ** p).sum() ** (1.0 / p))
