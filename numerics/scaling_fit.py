"""Exponents from a sweep: slopes with intervals, local exponents, held-out extrapolation, and a verdict.

A fit is never an exponent: over a finite range every power law bends.  So a slope is compared with the symbolic
exponent together with fits that allow one correction term, and where these disagree the verdict is that the data do
not identify the exponent.  Claim C8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

__all__ = ["Fit", "Symbolic", "fit_exponent", "upper_half"]

# Distance at which a slope over the upper half of the range still counts as the symbolic exponent.
CLOSE = 0.02
REPLICATES = 400
WITHOUT_LOG, WITH_LOG = "power of T", "power of T times log T"
# Ways in which a power law may be approached: lower-order terms, and the extreme value of T inner products in
# dimension T.
CORRECTIONS = {
    "T^(-1/4)": lambda t: t**-0.25,
    "T^(-1/2)": lambda t: t**-0.5,
    "T^(-1)": lambda t: 1.0 / t,
    "sqrt(log T / T)": lambda t: np.sqrt(np.log(t) / t),
}


@dataclass(frozen=True)
class Symbolic:
    """The derived order T^exponent·(shift + log T)^log."""

    exponent: float
    log: int = 0
    shift: float = 0.0


@dataclass(frozen=True)
class Fit:
    """The measured exponent, log factor divided out.

    `measured` and `interval`: least squares over the upper half of the sizes, bootstrap over draws and over the
    certified brackets (2.5% to 97.5%).  `corrected`: the union of the same intervals for fits a + b log T + c·shape
    over all sizes, one for each shape of `CORRECTIONS`.  `local`: slopes between consecutive sizes.  `held_out`:
    relative error at the largest T of models fitted without it.  `log`: whether a power with a factor log T ("yes") or
    without ("no") predicts the largest T better; "" where both are as good as the brackets there are wide.  `verdict`:
    "consistent", "not identifiable", "inconsistent", or "" without a symbolic exponent.
    """

    measured: float
    interval: tuple[float, float]
    corrected: tuple[float, float]
    local: tuple[float, ...]
    held_out: Mapping[str, float]
    log: str
    verdict: str


def upper_half(count: int) -> slice:
    """The sizes, of `count` in order, that a slope is fitted to: the larger half, and three of four or five."""
    return slice(count // 2 - 1 if count < 6 else count // 2, None)


def fit_exponent(
    costs: Mapping[int, Sequence[tuple[float, float]]], symbolic: Symbolic | None, *, seed: int = 0
) -> Fit:
    """Fit the (lower, upper) brackets of every draw, by T.  Needs at least four sizes and positive bounds."""
    sizes = sorted(costs)
    if len(sizes) < 4:
        raise ValueError(f"expected at least four sizes T for an exponent, got {sizes}; add sizes")
    if not all(0.0 < low <= high for size in sizes for low, high in costs[size]):
        raise ValueError("expected positive brackets lower <= upper, got others; a zero cost has no exponent")
    t = np.array(sizes, dtype=np.float64)
    order = symbolic or Symbolic(0.0)
    slow = order.log * np.log(order.shift + np.log(t)) if order.log else np.zeros(len(t))
    middles = [np.mean([0.5 * (np.log(low) + np.log(high)) for low, high in costs[size]]) for size in sizes]
    centre = np.array(middles) - slow
    rng = np.random.default_rng(seed)
    fitted = upper_half(len(t))
    samples = np.column_stack([_resampled(costs[size], rng) for size in sizes]) - slow
    plain = _slope(np.log(t[fitted]))
    measured = float(plain @ centre[fitted])
    interval = _ends(samples[:, fitted] @ plain, measured)
    bent = [_slope(np.log(t), shape(t)) for shape in CORRECTIONS.values()]
    ends = [_ends(samples @ row, float(row @ centre)) for row in bent]
    wide = min(low for low, _ in ends), max(high for _, high in ends)
    held_out = _held_out(t, centre, symbolic) | _log_factor(t, centre + slow, order)
    last = costs[sizes[-1]]
    width = max(high for _, high in last) / min(low for low, _ in last) - 1.0
    return Fit(measured, interval, wide, tuple(np.diff(centre) / np.diff(np.log(t))), held_out,
               _which(held_out[WITHOUT_LOG], held_out[WITH_LOG], width), _verdict(symbolic, interval, wide))


def _resampled(brackets: Sequence[tuple[float, float]], rng: np.random.Generator) -> Float[np.ndarray, " replicate"]:
    """Mean log costs of draws taken with replacement, each anywhere in its bracket."""
    low, high = np.log(np.array(brackets)).T
    chosen = rng.integers(0, len(low), (REPLICATES, len(low)))
    share = rng.uniform(size=chosen.shape)
    return (low[chosen] + share * (high - low)[chosen]).mean(axis=1)


def _design(*regressors: Float[np.ndarray, " size"]) -> Float[np.ndarray, "size coefficient"]:
    return np.column_stack([np.ones(len(regressors[0])), *regressors])


def _slope(*regressors: Float[np.ndarray, " size"]) -> Float[np.ndarray, " size"]:
    """The row by which values give the least-squares coefficient of the first regressor."""
    return np.linalg.pinv(_design(*regressors))[1]


def _least_squares(
    values: Float[np.ndarray, " size"], *regressors: Float[np.ndarray, " size"]
) -> Float[np.ndarray, " coefficient"]:
    return np.linalg.lstsq(_design(*regressors), values, rcond=None)[0]


def _ends(samples: Float[np.ndarray, " replicate"], centre: float) -> tuple[float, float]:
    low, high = np.quantile(samples, [0.025, 0.975])
    return float(min(low, centre)), float(max(high, centre))


def _held_out(
    t: Float[np.ndarray, " size"], centre: Float[np.ndarray, " size"], symbolic: Symbolic | None
) -> dict[str, float]:
    """exp(prediction - value) - 1 at the largest T, for models that saw only the smaller ones."""
    x, last = np.log(t), len(t) - 1
    free = _least_squares(centre[:last], x[:last])
    bent = _least_squares(centre[:last], x[:last], t[:last] ** -0.5)
    found = {"free power": free @ [1.0, x[-1]], "free power, corrected": bent @ [1.0, x[-1], t[-1] ** -0.5]}
    if symbolic is not None:
        rest = centre - symbolic.exponent * x
        found["symbolic"] = rest[:last].mean() + symbolic.exponent * x[-1]
        one = _least_squares(rest[:last], t[:last] ** -0.5)
        found["symbolic, corrected"] = one @ [1.0, t[-1] ** -0.5] + symbolic.exponent * x[-1]
    return {name: float(np.expm1(value - centre[-1])) for name, value in found.items()}


def _log_factor(t: Float[np.ndarray, " size"], raw: Float[np.ndarray, " size"], order: Symbolic) -> dict[str, float]:
    """The same for a free power without and with a factor shift + log T, on the costs themselves."""
    x, last = np.log(t), len(t) - 1
    found = {}
    for name, factor in ((WITHOUT_LOG, np.zeros(len(t))), (WITH_LOG, np.log(order.shift + x))):
        free = _least_squares((raw - factor)[:last], x[:last])
        found[name] = float(np.expm1(free @ [1.0, x[-1]] + factor[-1] - raw[-1]))
    return found


def _which(without: float, within: float, width: float) -> str:
    """The better of two predictions, if they differ by more than the data."""
    if abs(abs(without) - abs(within)) <= width:
        return ""
    return "yes" if abs(within) < abs(without) else "no"


def _verdict(symbolic: Symbolic | None, interval: tuple[float, float], corrected: tuple[float, float]) -> str:
    """Consistent when the plain slope is there; inconsistent when not even the correction reaches it."""
    if symbolic is None:
        return ""
    distance = max(interval[0] - symbolic.exponent, symbolic.exponent - interval[1])
    if distance <= CLOSE:
        return "consistent"
    low, high = min(interval[0], corrected[0]), max(interval[1], corrected[1])
    if low - CLOSE <= symbolic.exponent <= high + CLOSE:
        return "not identifiable"
    return "inconsistent"
