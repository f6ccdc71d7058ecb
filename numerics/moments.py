"""Exact second moments after one attention step, and the cosine curves they predict (claims O1, O3-O5, O8).

Model: x_i = sqrt(d)(sqrt(rho) u + sqrt(1-rho) z_i), |u|=1, z_i mean zero, pairwise uncorrelated, one covariance R
of trace 1; y_i = x_i + sum_j a_ij V x_j with A fixed, rows summing to 1. With M = C Gamma^2 C (C = I for RMSNorm,
I - 11^T/d for LayerNorm, Gamma the gain after the norm) everything below is about <y_i, M y_j>/d before the norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from numerics.arguments import real_array, real_arrays, whole_number
from numerics.attention import require_row_stochastic

__all__ = [
    "DriftStatistics",
    "HeadStatistics",
    "depth_curve",
    "drift_statistics",
    "head_statistics",
    "input_cosine",
    "mean_off_diagonal",
    "metric_product",
    "mix_curve",
    "mix_maximum",
    "moment_cosines",
    "noise_gram",
    "o1_gram",
    "o1_gram_heads",
    "o1_gram_of",
    "require_covariance",
    "require_direction",
    "require_gain",
    "require_mix",
    "require_norm",
    "require_rho",
    "require_values",
]

Norm = Literal["rms", "layer"]


@dataclass(frozen=True)
class DriftStatistics:
    """The five statistics of (V, R, u, norm, gain) that decide O1-O9, and the drift D = 2 tau + phi >= -t0."""

    t0: float
    g0: float
    g: float
    tau: float
    phi: float
    drift: float


@dataclass(frozen=True)
class HeadStatistics:
    """The same for several heads: tau_h and phi_hk = tr(R V_h^T M V_k), with g for the sum of the heads (O1m)."""

    t0: float
    g0: float
    g: float
    tau: Float[np.ndarray, " head"]
    phi: Float[np.ndarray, "head head"]


def drift_statistics(
    w_vo: Float[np.ndarray, "dim dim"],
    covariance: Float[np.ndarray, "dim dim"] | None = None,
    direction: Float[np.ndarray, " dim"] | None = None,
    norm: Norm = "rms",
    gain: Float[np.ndarray, " dim"] | None = None,
) -> DriftStatistics:
    """t0 = tr RM, g0 = u^T M u, g = u^T(I+V)^T M (I+V)u, tau = tr R(MV+V^T M)/2, phi = tr R V^T M V, D = 2 tau + phi.

    Args: ``w_vo`` (d, d) is V; ``covariance`` (d, d) is R with trace 1 (None: I/d); ``direction`` (d,) is u, unit
    (None: g0 and g are means over a uniformly random u, tr M/d and tr (I+V)^T M (I+V)/d); ``norm`` and ``gain``
    give M. Raises ValueError on wrong shapes, a trace off 1 or a direction off the sphere. Claim O1.

    Example:

    >>> statistics = drift_statistics(-0.5 * np.eye(4))
    >>> statistics.tau, statistics.phi, statistics.drift
    (-0.5, 0.25, -0.75)
    """
    heads = head_statistics(require_values(w_vo, "w_vo", 2)[None], covariance, direction, norm, gain)
    tau, phi = float(heads.tau[0]), float(heads.phi[0, 0])
    return DriftStatistics(heads.t0, heads.g0, heads.g, tau, phi, 2 * tau + phi)


def head_statistics(
    w_vo: Float[np.ndarray, "head dim dim"],
    covariance: Float[np.ndarray, "dim dim"] | None = None,
    direction: Float[np.ndarray, " dim"] | None = None,
    norm: Norm = "rms",
    gain: Float[np.ndarray, " dim"] | None = None,
) -> HeadStatistics:
    """The statistics of O1m for heads V_h given as ``w_vo`` (heads, d, d); other arguments as `drift_statistics`."""
    values = require_values(w_vo, "w_vo", 3)
    dim = values.shape[-1]
    r = np.eye(dim) / dim if covariance is None else require_covariance(covariance, dim)

    def form(x: np.ndarray) -> np.ndarray:
        return metric_product(x, norm, gain)

    moved = [form(v) for v in values]
    moved_by_r = [m / dim if covariance is None else m @ r for m in moved]
    phi = np.array([[np.sum(v * m) for m in moved_by_r] for v in values])
    tau = np.array([np.sum(m * r) for m in moved])  # tr(R M V); its transpose has the same trace
    total = np.eye(dim) + values.sum(axis=0)
    if direction is None:
        g0, g = np.trace(form(np.eye(dim))) / dim, np.sum(total * form(total)) / dim
    else:
        u = require_direction(direction, dim)
        after = total @ u
        g0, g = u @ form(u), after @ form(after)
    return HeadStatistics(float(np.trace(form(r))), float(g0), float(g), tau, phi)


def metric_product(
    columns: Float[np.ndarray, "dim ..."], norm: Norm = "rms", gain: Float[np.ndarray, " dim"] | None = None
) -> Float[np.ndarray, "dim ..."]:
    """M x for each column x, M = C Gamma^2 C, without a d x d product.

    Raises ValueError for another ``norm``, or a ``gain`` that is not (d,) and finite. Claim O1.
    """
    require_norm(norm)
    square = np.ones(len(columns)) if gain is None else require_gain(gain, len(columns)) ** 2

    def centred(x: np.ndarray) -> np.ndarray:
        return x - x.mean(axis=0) if norm == "layer" else x

    return centred((square * centred(columns).T).T)


def o1_gram(
    attention: Float[np.ndarray, "token token"], rho: float, g: float, t0: float, tau: float, phi: float
) -> Float[np.ndarray, "token token"]:
    """G_ij = rho g + (1-rho)[delta_ij t0 + (a_ij + a_ji) tau + (A A^T)_ij phi] (claim O1).

    Args: ``attention`` (T, T), query axis first, rows on the simplex; the statistics of `drift_statistics`.
    Raises ValueError if A is not row-stochastic or rho is outside [0, 1).

    Example:

    >>> o1_gram(np.eye(2), rho=0.5, g=1.0, t0=1.0, tau=0.0, phi=1.0).tolist()
    [[1.5, 0.5], [0.5, 1.5]]
    """
    return o1_gram_heads([attention], rho, g, t0, [tau], [[phi]])


def o1_gram_heads(
    attention: Float[np.ndarray, "head token token"],
    rho: float,
    g: float,
    t0: float,
    tau: Float[np.ndarray, " head"],
    phi: Float[np.ndarray, "head head"],
) -> Float[np.ndarray, "token token"]:
    """O1m: rho g + (1-rho)[delta_ij t0 + sum_h (a^h_ij + a^h_ji) tau_h + sum_hk (A_h A_k^T)_ij phi_hk].

    Args: ``attention`` (H, T, T), query axis first, rows on the simplex; ``tau`` (H,) and ``phi`` (H, H) as in
    `head_statistics`. Returns (T, T). Raises ValueError as `o1_gram` does. Claim O1m.
    """
    require_rho(rho)
    a, tau, phi, _ = real_arrays(("attention", attention, "head token token"), ("tau", tau, "head"),
                                 ("phi", phi, "head head"), ("(g, t0)", (g, t0), "2"))
    for head in a:
        require_row_stochastic(head)
    return rho * g + (1 - rho) * noise_gram(a, t0, tau, phi)


def noise_gram(
    weights: Float[np.ndarray, "head token token"], t0: float, tau: Float[np.ndarray, " head"],
    phi: Float[np.ndarray, "head head"],
) -> Float[np.ndarray, "token token"]:
    """The part of O1m that comes from the z_i: delta_ij t0 + sum_h tau_h(W_h + W_h^T)_ij + sum_hk phi_hk(W_h W_k^T)_ij.

    Row sums play no role here, so ``weights`` may be the columns of A that belong to the random tokens.
    """
    linear = np.einsum("h,hij->ij", tau, weights)
    mixed = np.einsum("hk,hij->kij", phi, weights)
    quadratic = sum(left @ right.T for left, right in zip(mixed, weights, strict=True))
    return t0 * np.eye(weights.shape[1]) + linear + linear.T + quadratic


def o1_gram_of(
    attention: Float[np.ndarray, "token token"], rho: float, statistics: DriftStatistics
) -> Float[np.ndarray, "token token"]:
    """`o1_gram` with the statistics taken from their record."""
    return o1_gram(attention, rho, statistics.g, statistics.t0, statistics.tau, statistics.phi)


def moment_cosines(gram: Float[np.ndarray, "token token"]) -> Float[np.ndarray, "token token"]:
    """G_ij / sqrt(G_ii G_jj), the "cos" of claims O3-O9; NaN where a diagonal entry is not positive
    or ``gram`` (T, T) has one. Raises ValueError for a matrix that is not square.

    Example:

    >>> moment_cosines(np.array([[4.0, 1.0], [1.0, 1.0]])).tolist()
    [[1.0, 0.5], [0.5, 1.0]]
    """
    matrix = _square("gram", gram, 1)
    diagonal = np.diag(matrix)
    scale = np.sqrt(np.where(diagonal > 0, diagonal, np.nan))
    return matrix / np.outer(scale, scale)


def mean_off_diagonal(matrix: Float[np.ndarray, "token token"]) -> float:
    """(1/(T(T-1))) sum_{i != j} M_ij of a matrix (T, T); NaN where M has one.

    Raises ValueError for fewer than two tokens or a matrix that is not square. Claim O7.

    Example:

    >>> mean_off_diagonal(np.array([[1.0, 0.25], [0.75, 1.0]]))
    0.5
    """
    entries = _square("matrix", matrix, 2)
    size = len(entries)
    return float((entries.sum() - np.trace(entries)) / (size * (size - 1)))


def _square(name: str, matrix: object, least: int) -> np.ndarray:
    """The matrix as float64, NaN and all: it marks outputs that are 0, and layers after one."""
    entries = np.asarray(matrix, dtype=np.float64)
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1] or len(entries) < least:
        raise ValueError(f"expected {name} (T, T) of at least {least} token{'s' * (least > 1)}, got shape"
                         f" {entries.shape}; give it a row and a column for each token")
    return entries


def input_cosine(rho: float, statistics: DriftStatistics) -> float:
    """The moment cosine before the layer, rho g0 / (rho g0 + (1-rho) t0); NaN where the tokens are 0.  Claim O5."""
    require_rho(rho)
    shared = rho * statistics.g0
    total = shared + (1 - rho) * statistics.t0
    return shared / total if total != 0 else float("nan")


def mix_curve(
    t: Float[np.ndarray, " point"], num_tokens: int, rho: float, statistics: DriftStatistics
) -> Float[np.ndarray, " point"]:
    """The moment cosine of any pair under A_t = (1-t) I + t 11^T/T, for an array of t in [0, 1] (claim O4).

    NaN where the output is 0. Raises ValueError for t outside [0, 1], rho outside [0, 1), or fewer than two tokens.

    Example:

    >>> statistics = drift_statistics(np.diag([0.5, -1.5]))  # phi > 0 and -phi < tau < 0: a peak inside
    >>> mix_curve(np.array([0.0, 0.6, 1.0]), 2, 0.0, statistics).round(6).tolist()
    [0.0, 0.219512, 0.111111]
    """
    require_rho(rho)
    mix = require_mix(t)
    num_tokens = whole_number("the number of tokens", num_tokens, 2, "a cosine needs a pair")
    other = mix / num_tokens
    own = 1 - mix + other
    square = own**2 + (num_tokens - 1) * other**2
    cross = 2 * own * other + (num_tokens - 2) * other**2
    shared = rho * statistics.g
    diag = shared + (1 - rho) * (statistics.t0 + 2 * own * statistics.tau + square * statistics.phi)
    off = shared + (1 - rho) * (2 * other * statistics.tau + cross * statistics.phi)
    return off / np.where(diag != 0, diag, np.nan)


def mix_maximum(tau: float, phi: float) -> float | None:
    """Where the cosine is largest on the mix path: t* = 1 + tau/phi clipped to [0, 1]; None if it is constant (O4)."""
    if not phi >= 0:
        raise ValueError(f"expected phi >= 0, got {phi}; it is tr(R V^T M V), a mean of squares")
    if phi == 0:
        return None
    return float(min(1.0, max(0.0, 1.0 + tau / phi)))


def depth_curve(rho: float, drift: float, layers: int, num_tokens: int | None = None) -> Float[np.ndarray, " depth"]:
    """Uniform attention, fresh isotropic V per layer, d -> infinity: cosines of layers 0..L (claim O8).

    The odds o = rho/(1-rho) satisfy o_L + 1/T = (1+D)^L (o_0 + 1/T); ``num_tokens`` None means T -> infinity. Under
    diagonal attention or a null sink the cosine stays rho. Returns (L+1,). Raises ValueError for rho outside [0, 1),
    D < -1, L < 0 or T < 1.

    Example:

    >>> depth_curve(rho=0.5, drift=1.0, layers=2).round(6).tolist()
    [0.5, 0.666667, 0.8]
    """
    require_rho(rho)
    if not -1 <= drift < np.inf:
        raise ValueError(f"expected a finite drift >= -1, got {drift}; it is 2 tau + phi")
    layers = whole_number("the number of layers", layers, 0, "layer 0 is the input")
    share = 0.0
    if num_tokens is not None:
        share = 1.0 / whole_number("the number of tokens", num_tokens, 1, "leave it out for T -> infinity")
    odds = (1 + drift) ** np.arange(layers + 1) * (rho / (1 - rho) + share) - share
    return odds / (1 + odds)


def require_rho(rho: float) -> None:
    """ValueError unless 0 <= rho < 1."""
    if not 0 <= rho < 1:
        raise ValueError(f"expected rho in [0, 1), got {rho}; rho is the squared length of the tokens' common part")


def require_values(w_vo: object, name: str, rank: int) -> np.ndarray:
    """``w_vo`` as float64, (d, d) for rank 2 and (heads, d, d) for rank 3; ValueError for another shape or NaN."""
    return real_array(name, w_vo, "dim dim" if rank == 2 else "head dim dim")


def require_norm(norm: str) -> None:
    """ValueError unless ``norm`` is "rms" or "layer"."""
    if norm not in ("rms", "layer"):
        raise ValueError(f"expected norm to be 'rms' or 'layer', got {norm!r}; choose one of the two")


def require_gain(gain: object, dim: int) -> np.ndarray:
    """``gain`` as float64 (d,); ValueError for another shape or NaN."""
    return real_array("gain", gain, str(dim))


def require_mix(t: object) -> np.ndarray:
    """``t`` as float64 (points,), a number as one point; ValueError for one outside [0, 1]."""
    mix = np.atleast_1d(real_array("t", t, "*point"))
    if not (np.all(mix >= 0) and np.all(mix <= 1)):
        raise ValueError(f"expected every t in [0, 1], got values in [{mix.min()}, {mix.max()}]; t=1 is uniform")
    return mix


def require_covariance(covariance: object, dim: int) -> np.ndarray:
    """``covariance`` as float64 (d, d); ValueError unless it is symmetric of trace 1 (its sign is not looked at)."""
    r = real_array("covariance", covariance, f"{dim} {dim}")
    if not abs(np.trace(r) - 1) <= 1e-9 or not np.allclose(r, r.T, atol=1e-12):
        raise ValueError(
            f"expected a symmetric covariance of trace 1, got trace {np.trace(r):g} and largest |R - R^T| ="
            f" {np.abs(r - r.T).max():g}; divide it by its trace"
        )
    return r


def require_direction(direction: object, dim: int) -> np.ndarray:
    """``direction`` as float64 (d,); ValueError unless it is a unit vector to 1e-9."""
    u = real_array("direction", direction, str(dim))
    if not abs(np.linalg.norm(u) - 1) <= 1e-9:
        raise ValueError(f"expected a unit direction, got norm {np.linalg.norm(u):g}; divide it by its norm")
    return u
