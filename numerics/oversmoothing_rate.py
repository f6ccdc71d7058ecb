"""O2 measured: coverage of the bounds, the delta-method deviation, the d^{-1/2} rate and the dimensions it implies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.concentration import (
    Coverage, RateFit, clopper_pearson, cosine_bound, cosine_bound_as_stated, fit_rate, instance_bound, pair_law,
    smallest_dimension)
from numerics.simulate import simulate_step

__all__ = ["CoverageReport", "RateReport", "cover", "rate"]


@dataclass(frozen=True)
class CoverageReport:
    """Misses of each bound at one x with the failure probability it allows, and of the delta-method interval.

    ``bounds`` maps a name to (bound, allowed failure, coverage); ``delta`` is the coverage of
    |cos - c| <= 1.96 * deviation, which is 5% up to O(d^{-1/2}); ``looseness`` is bound over measured RMS.
    """

    bounds: dict[str, tuple[float, float, Coverage]]
    delta: Coverage
    measured_rms: float
    deviation: float
    looseness: dict[str, float]


@dataclass(frozen=True)
class RateReport:
    """RMS of cos - c per dimension beside the delta-method's, the fit, the bias, and the smallest d within 1% and 5%
    of |c| in RMS (from the fit: extrapolated where it exceeds ``dims``)."""

    dims: Float[np.ndarray, " point"]
    rms: Float[np.ndarray, " point"]
    deviation: Float[np.ndarray, " point"]
    bias: Float[np.ndarray, " point"]
    bias_error: Float[np.ndarray, " point"]
    fit: RateFit
    smallest: dict[float, int]


def cover(
    attention: Float[np.ndarray, "token token"], w_vo: Float[np.ndarray, "dim dim"], rho: float, pair: tuple[int, int],
    x: float, draws: int = 4000, seed: int = 0, norm: str = "rms", confidence: float = 0.99,
) -> CoverageReport:
    """Independent draws of cos(y_i, y_j) against the three bounds at level x and the delta-method (claim O2)."""
    law = pair_law(attention, w_vo, rho, pair, norm=norm)
    dim, size = len(w_vo), float(np.linalg.norm(w_vo, 2))
    g_min = float(min(law.gram[0, 0], law.gram[1, 1]))
    errors = np.abs(_draws(attention, w_vo, rho, pair, draws, seed, norm) - law.cosine)
    rms = float(np.sqrt(np.mean(errors**2)))
    levels = {"as stated": cosine_bound_as_stated(x, dim, size, g_min),
              "proved": cosine_bound(x, dim, rho, size, g_min),
              "instance": instance_bound(law, x)}
    bounds = {name: (bound, failure, clopper_pearson(int(np.sum(~(errors <= bound))), draws, confidence))
              for name, (bound, failure) in levels.items()}
    delta = clopper_pearson(int(np.sum(~(errors <= 1.959963984540054 * law.deviation))), draws, confidence)
    return CoverageReport(bounds, delta, rms, law.deviation,
                          {name: bound / rms for name, (bound, _, _) in bounds.items()})


def rate(
    attention: Float[np.ndarray, "token token"], value: Callable[[int], Float[np.ndarray, "dim dim"]], rho: float,
    pair: tuple[int, int], dims: tuple[int, ...] = (16, 32, 64, 128, 256, 512, 1024), draws: int = 2000, seed: int = 0,
    confidence: float = 0.99,
) -> RateReport:
    """Measure RMS(cos - c) over dimensions for a family of V (``value(d)``) and fit the rate (claim O2)."""
    rows, all_errors = [], []
    for dim in dims:
        w_vo = value(dim)
        law = pair_law(attention, w_vo, rho, pair)
        errors = _draws(attention, w_vo, rho, pair, draws, seed + dim, "rms") - law.cosine
        all_errors.append(errors)
        rows.append((np.sqrt(np.mean(errors**2)), law.deviation, errors.mean(), errors.std(ddof=1) / np.sqrt(draws)))
    fit = fit_rate(np.array(dims, dtype=np.float64), np.array(all_errors), confidence)
    rms, deviation, bias, bias_error = np.array(rows).T
    smallest = {level: smallest_dimension(fit, level, law.cosine) for level in (0.01, 0.05)}
    return RateReport(np.array(dims), rms, deviation, bias, bias_error, fit, smallest)


def _draws(attention, w_vo, rho, pair, draws, seed, norm) -> np.ndarray:
    """cos(y_i, y_j) of one pair per draw: the mean over the only pair there is."""
    return simulate_step(attention, w_vo, rho=rho, norm=norm, queries=np.array(pair), draws=draws,
                         seed=seed).mean_cosines
