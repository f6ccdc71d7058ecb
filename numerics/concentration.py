"""How close cos(y_i, y_j) is to the moment cosine at finite d (claim O2; proofs in notes/O2.md).

Setting of O2: z_i ~ N(0, I/d) independent, A on the simplex, no gain. With h standard normal in R^{Td},
C y_p / sqrt(d) = m + sqrt((1-rho)/d) B_p h, where m = sqrt(rho) C(I+V)u and B_p = C[delta_pk I + a_pk V]_k. So each
<Cy_p, Cy_q>/d is a Gaussian quadratic form h^T S h + l^T h + const, whose exact variance is 2|S|_F^2 + |l|^2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float
from scipy import stats

from numerics.moments import drift_statistics, o1_gram_of, require_direction, require_values

__all__ = [
    "Coverage",
    "PairLaw",
    "RateFit",
    "clopper_pearson",
    "cosine_bound",
    "cosine_bound_as_stated",
    "fit_rate",
    "instance_bound",
    "pair_law",
    "smallest_dimension",
]


@dataclass(frozen=True)
class PairLaw:
    """The law of the pair (i, j): ``gram`` (2, 2) is G, ``cosine`` the moment cosine, ``deviation`` the delta-method
    standard deviation of cos(y_i, y_j); ``variance_factor`` v = |S|_F^2 + |l|^2/2 and ``spectral`` |S| for the three
    entries (ii, ij, jj), so that P(|entry - G| > 2 sqrt(v x) + 2 |S| x) <= 2 e^{-x} for every x > 0."""

    gram: Float[np.ndarray, "2 2"]
    cosine: float
    deviation: float
    variance_factor: Float[np.ndarray, " 3"]
    spectral: Float[np.ndarray, " 3"]


@dataclass(frozen=True)
class Coverage:
    """``misses`` out of ``draws`` and the Clopper-Pearson interval of the miss probability at ``confidence``."""

    misses: int
    draws: int
    lower: float
    upper: float
    confidence: float


@dataclass(frozen=True)
class RateFit:
    """RMS error = constant * d^exponent, with the interval [lower, upper] of the exponent at ``confidence``."""

    exponent: float
    lower: float
    upper: float
    constant: float
    confidence: float


def pair_law(
    attention: Float[np.ndarray, "token token"],
    w_vo: Float[np.ndarray, "dim dim"],
    rho: float,
    pair: tuple[int, int],
    direction: Float[np.ndarray, " dim"] | None = None,
    norm: Literal["rms", "layer"] = "rms",
) -> PairLaw:
    """The exact means and variances behind cos(y_i, y_j), i != j, and its delta-method deviation.

    Args: ``attention`` (T, T), rows on the simplex; ``w_vo`` V (d, d); ``rho``; ``pair`` (i, j); ``direction`` u
    (default e_1); ``norm``. To first order cos - c = sum_pq beta_pq(<Cy_p,Cy_q>/d - G_pq) with
    beta = [[-c/2G_ii, 1/2 s], [1/2 s, -c/2G_jj]], s = sqrt(G_ii G_jj). Cost O(d^3), independent of T otherwise.
    Raises ValueError on bad input or G_ii = 0. Claim O2.
    """
    i, j = pair
    v = require_values(w_vo, "w_vo", 2)
    dim = len(v)
    u = np.eye(dim)[0] if direction is None else require_direction(direction, dim)
    full = o1_gram_of(attention, rho, drift_statistics(v, direction=u, norm=norm))
    if i == j or not (0 <= min(i, j) and max(i, j) < len(full)):
        raise ValueError(f"expected two different tokens in 0..{len(full) - 1}, got {pair}; O2 is about pairs")
    gram = full[np.ix_(pair, pair)]
    if not min(gram[0, 0], gram[1, 1]) > 0:
        raise ValueError(
            f"expected outputs of positive energy, got G_ii={gram[0, 0]:g}, G_jj={gram[1, 1]:g}; they are 0")
    rows = np.asarray(attention, dtype=np.float64)[list(pair)]
    centre = np.eye(dim) - (1 / dim if norm == "layer" else 0)
    blocks = [[centre @ (np.eye(dim) * (p == q) + rows[q, pair[p]] * v.T + rows[p, pair[q]] * v
                         + rows[p] @ rows[q] * (v @ v.T)) @ centre for q in (0, 1)] for p in (0, 1)]
    kernel = np.block(blocks)  # B_p B_q^T
    mean = np.sqrt(rho) * centre @ (u + v @ u)

    def law(beta: np.ndarray) -> tuple[float, float, float]:
        weight = np.kron(beta, np.eye(dim))
        product = weight @ kernel * (1 - rho) / dim
        linear = weight @ np.concatenate([mean, mean])
        return float(np.sum(product * product.T)), float(4 * (1 - rho) / dim * linear @ kernel @ linear), \
            float(np.abs(np.linalg.eigvals(product)).max())

    entries = [law(np.array(beta)) for beta in ([[1, 0], [0, 0]], [[0, 0.5], [0.5, 0]], [[0, 0], [0, 1]])]
    scale = np.sqrt(gram[0, 0] * gram[1, 1])
    cosine = gram[0, 1] / scale
    square, linear, _ = law(np.array([[-cosine / gram[0, 0], 1 / scale], [1 / scale, -cosine / gram[1, 1]]]) / 2)
    return PairLaw(gram, float(cosine), float(np.sqrt(2 * square + linear)),
                   np.array([s + ell / 2 for s, ell, _ in entries]), np.array([e for _, _, e in entries]))


def cosine_bound(
    x: float, dim: int, rho: float, value_norm: float, g_min: float
) -> tuple[float, float]:
    """(bound, failure): |cos(y_i,y_j) - c| <= 4 b^2 [sqrt((1-rho^2)x/d) + (1-rho)x/d] / G_min except with
    probability 6 e^{-x}, for every x > 0; b = 1 + |V|_inf (spectral). notes/O2.md, sharper than claim O2.
    """
    b = 1 + value_norm
    return 4 * b**2 * (np.sqrt((1 - rho**2) * x / dim) + (1 - rho) * x / dim) / g_min, 6 * float(np.exp(-x))


def cosine_bound_as_stated(x: float, dim: int, value_norm: float, g_min: float) -> tuple[float, float]:
    """Claim O2's (2(2 + sqrt 6) b^2 sqrt(x/d)/G_min, 9 e^{-x}) for 0 < x <= d; implied by `cosine_bound`."""
    if not 0 < x <= dim:
        raise ValueError(f"expected 0 < x <= d = {dim}, got x={x}; beyond d use cosine_bound")
    return 2 * (2 + np.sqrt(6)) * (1 + value_norm) ** 2 * np.sqrt(x / dim) / g_min, 9 * float(np.exp(-x))


def instance_bound(law: PairLaw, x: float) -> tuple[float, float]:
    """(bound, failure 6 e^{-x}) from the instance's own |S|_F, |S| and |l| instead of b: no constant is estimated.

    With e_pq = 2 sqrt(v_pq x) + 2|S_pq| x and r_p = e_pp/G_pp: |cos - c| <= e_ij/sqrt(G_ii G_jj)
    + max(sqrt((1+r_i)(1+r_j)) - 1, 1 - sqrt((1-r_i)_+(1-r_j)_+)).
    """
    error = 2 * np.sqrt(law.variance_factor * x) + 2 * law.spectral * x
    ratio_i, ratio_j = error[0] / law.gram[0, 0], error[2] / law.gram[1, 1]
    above = np.sqrt((1 + ratio_i) * (1 + ratio_j)) - 1
    below = 1 - np.sqrt(max(1 - ratio_i, 0.0) * max(1 - ratio_j, 0.0))
    return float(error[1] / np.sqrt(law.gram[0, 0] * law.gram[1, 1]) + max(above, below)), 6 * float(np.exp(-x))


def clopper_pearson(misses: int, draws: int, confidence: float = 0.99) -> Coverage:
    """The exact binomial interval of a miss probability from independent draws (Clopper and Pearson 1934).

    Raises ValueError unless 0 <= ``misses`` <= ``draws``, ``draws`` >= 1 and 0 < ``confidence`` < 1.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"expected a confidence in (0, 1), got {confidence}; 0.99 is the default")
    if draws < 1 or not 0 <= misses <= draws:
        raise ValueError(f"expected 0 <= misses <= draws and at least one draw, got {misses} of {draws};"
                         " count each draw once")
    tail = (1 - confidence) / 2
    lower = 0.0 if misses == 0 else float(stats.beta.ppf(tail, misses, draws - misses + 1))
    upper = 1.0 if misses == draws else float(stats.beta.ppf(1 - tail, misses + 1, draws - misses))
    return Coverage(misses, draws, lower, upper, confidence)


def fit_rate(
    dims: Float[np.ndarray, " point"], errors: Float[np.ndarray, "point draw"], confidence: float = 0.99
) -> RateFit:
    """Fit log RMS against log d by weighted least squares; the interval propagates each RMS's own sampling error.

    Args: ``dims`` (n,) at least three dimensions; ``errors`` (n, draws) signed errors, independent across points.
    The variance of log RMS is estimated from the fourth moment, var(e^2)/(4 draws E[e^2]^2). A fit is never an
    exponent: the interval covers the model "power law on this range" and nothing beyond.
    """
    dims, squares = np.asarray(dims, dtype=np.float64), np.asarray(errors, dtype=np.float64) ** 2
    if dims.ndim != 1 or len(dims) < 3 or squares.shape[0] != len(dims) or squares.shape[1] < 2:
        raise ValueError(f"expected at least three dimensions with a row of errors each, got {dims.shape} and"
                         f" {squares.shape}; a line through two points has no residual")
    second = squares.mean(axis=1)
    variance = squares.var(axis=1, ddof=1) / (4 * squares.shape[1] * second**2)
    design = np.stack([np.ones_like(dims), np.log(dims)], axis=1)
    information = design.T @ (design / variance[:, None])
    estimate = np.linalg.solve(information, design.T @ (0.5 * np.log(second) / variance))
    half = stats.norm.ppf((1 + confidence) / 2) * np.sqrt(np.linalg.inv(information)[1, 1])
    slope = float(estimate[1])
    return RateFit(slope, slope - float(half), slope + float(half), float(np.exp(estimate[0])), confidence)


def smallest_dimension(fit: RateFit, relative: float, cosine: float) -> int:
    """The least d at which the fitted RMS error is at most ``relative`` times |cosine|: a fit, extrapolated as such."""
    if not (relative > 0 and cosine != 0 and fit.exponent < 0):
        raise ValueError(f"expected a positive tolerance, a nonzero cosine and a falling fit, got {relative}, {cosine}"
                         f" and exponent {fit.exponent}; no dimension can be read off other fits")
    return int(np.ceil((relative * abs(cosine) / fit.constant) ** (1 / fit.exponent)))
