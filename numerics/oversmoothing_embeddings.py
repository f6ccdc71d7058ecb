"""O1's prediction on real embeddings: cosines when a layer's attention is mixed toward uniform (claim O1m).

The tokens are one realisation and not of the model's form: their mean direction and covariance are estimated from
themselves, and neighbouring tokens are correlated, which O1 excludes. The comparison measures what that costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.attention import require_row_stochastic
from numerics.moments import head_statistics, mean_off_diagonal, moment_cosines, noise_gram, require_mix

__all__ = ["EmpiricalModel", "MixComparison", "compare_mix", "empirical_model"]


@dataclass(frozen=True)
class EmpiricalModel:
    """x_i ~ scale(sqrt(rho) u + sqrt(1-rho) z_i) fitted to tokens: R has trace 1, scale^2 = mean |x_i|^2."""

    scale: float
    rho: float
    direction: Float[np.ndarray, " dim"]
    covariance: Float[np.ndarray, "dim dim"]


@dataclass(frozen=True)
class MixComparison:
    """Mean pair cosine of the content tokens' outputs along A_t = (1-t)A + tU: measured and predicted.

    ``pair_rms`` (points,) is the RMS over pairs of predicted minus measured cosine; ``pair_rms_of_mean`` the same for
    the constant that predicts every pair by the measured mean (what a prediction must beat to say anything about
    single pairs). ``input_cosine`` is the mean cosine before the layer, ``model`` the fit.
    """

    t: Float[np.ndarray, " point"]
    measured: Float[np.ndarray, " point"]
    predicted: Float[np.ndarray, " point"]
    pair_rms: Float[np.ndarray, " point"]
    pair_rms_of_mean: Float[np.ndarray, " point"]
    input_cosine: float
    model: EmpiricalModel


def empirical_model(tokens: Float[np.ndarray, "token dim"]) -> EmpiricalModel:
    """Mean and covariance of the rows, as rho, u and R; |mean|^2 is debiased by tr(cov)/T (floored at 0).

    With the unbiased covariance S, E|mean|^2 = |mu|^2 + tr S/T. Raises ValueError for fewer than two tokens.
    """
    x = np.asarray(tokens, dtype=np.float64)
    if x.ndim != 2 or len(x) < 2 or not np.all(np.isfinite(x)):
        raise ValueError(f"expected at least two finite tokens of shape (T, d), got shape {x.shape}; rows are tokens")
    mean = x.mean(axis=0)
    covariance = np.cov(x, rowvar=False)
    spread = np.trace(covariance)
    common = max(mean @ mean - spread / len(x), 0.0)
    square = common + spread
    return EmpiricalModel(float(np.sqrt(square)), float(common / square), mean / np.linalg.norm(mean),
                          covariance / spread)


def compare_mix(
    tokens: Float[np.ndarray, "token dim"],
    attention: Float[np.ndarray, "head token token"],
    w_vo: Float[np.ndarray, "head dim dim"],
    t: Float[np.ndarray, " point"],
    toward: Float[np.ndarray, "token token"],
    sink: int | None = None,
) -> MixComparison:
    """Measure and predict cos(y_i, y_j), y = x + sum_h ((1-t)A_h + tU) x V_h^T, over pairs of content tokens.

    Args: ``tokens`` (T, d) as they enter attention (the residual is taken to be the same vectors, as in the model);
    ``attention`` (H, T, T) and ``w_vo`` (H, d, d) per head; ``t`` in [0, 1]; ``toward`` U (T, T); ``sink`` the row
    that is not a content token: it enters with its own embedding, x_s fixed, and E y_i = (I + sum (1-a_is)V)mu
    + sum a_is V x_s. Raises ValueError on bad input.
    """
    x = np.asarray(tokens, dtype=np.float64)
    heads = np.stack([np.asarray(require_row_stochastic(head)) for head in attention])
    uniform = np.asarray(require_row_stochastic(toward))
    points = require_mix(t)
    if heads.shape[1:] != (len(x), len(x)) or uniform.shape != (len(x), len(x)) or len(w_vo) != len(heads):
        raise ValueError(f"expected attention (H, T, T) for T={len(x)} tokens and V (H, d, d), got {heads.shape},"
                         f" {uniform.shape} and {np.shape(w_vo)}; one V per head")
    content = np.array([k for k in range(len(x)) if k != sink])
    model = empirical_model(x[content])
    stats = head_statistics(w_vo, model.covariance, model.direction)
    mean = model.scale * np.sqrt(model.rho) * model.direction
    values = [x @ v.T for v in w_vo]
    mean_values = [v @ mean for v in w_vo]
    rows: list[tuple[float, float, float, float]] = []
    for point in points:
        mixed = (1 - point) * heads + point * uniform
        out = (x + sum(a @ v for a, v in zip(mixed, values, strict=True)))[content]
        measured = moment_cosines(out @ out.T)
        expected = np.tile(mean, (len(content), 1))
        for a, v, mv in zip(mixed, values, mean_values, strict=True):
            off = 0.0 if sink is None else a[content, sink][:, None]
            expected = expected + (1 - off) * mv + (0.0 if sink is None else off * v[sink])
        weights = mixed[:, content][:, :, content]
        noise = model.scale**2 * (1 - model.rho) * noise_gram(weights, stats.t0, stats.tau, stats.phi)
        predicted = moment_cosines(expected @ expected.T + noise)
        pairs = ~np.eye(len(content), dtype=bool)
        gap = (predicted - measured)[pairs]
        rows.append((mean_off_diagonal(measured), mean_off_diagonal(predicted), float(np.sqrt(np.mean(gap**2))),
                     float(measured[pairs].std())))
    columns = np.array(rows).T
    before = mean_off_diagonal(moment_cosines(x[content] @ x[content].T))
    return MixComparison(points, *columns, before, model)
