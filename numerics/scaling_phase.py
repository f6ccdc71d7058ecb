"""Where the sink is cheaper than the diagonal on exchangeable tokens: C5's closed form and certified points.

    log(diagonal/sink) = log[(T-1)^(1/p) sqrt(rho_T) sqrt(sigma² - 2 beta + rho_T)/(1-rho)] + log(m_diagonal/m_sink),

with equal margins, or m_sink = L + log T, m_diagonal = L + log(T-1), L = log((1-eps)/eps), in mass form.  theory.md C5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.diagonal_bound import diagonal_cost
from numerics.scaling import exchangeable_tokens
from numerics.sink_cost import sink_cost

__all__ = ["AXES", "PhasePoint", "boundary", "certify", "log_advantage", "sample_sides"]

# Each axis with the values that a phase map may take; T is an integer at computed points, real along the boundary.
AXES = {"T": (3.0, 256.0), "p": (1.0, 64.0), "rho": (0.0, 0.99), "beta": (-4.0, 4.0), "sigma": (0.01, 8.0), "eps": (1e-12, 0.5)}
Setting = Mapping[str, float | None]


@dataclass(frozen=True)
class PhasePoint:
    """Certified bounds of both costs at one setting, and which one they show to be cheaper."""

    setting: dict[str, float | None]
    sink: tuple[float, float]
    diagonal: tuple[float, float]
    closed_form: float  # log(diagonal/sink)

    @property
    def verdict(self) -> str:
        if self.sink[1] < self.diagonal[0]:
            return "sink"
        return "diagonal" if self.diagonal[1] < self.sink[0] else "open"

    @property
    def agrees(self) -> bool:
        """Whether the closed form's sign is the certified one; an open point agrees with nothing."""
        return self.verdict == ("sink" if self.closed_form > 0 else "diagonal")


def log_advantage(setting: Mapping[str, Float[np.ndarray, "..."] | float | None]) -> Float[np.ndarray, "..."]:
    """log(diagonal/sink) by closed form, broadcast over arrays; NaN where no such tokens, or no sink, exist (C4, C5).

    ``setting`` has T, p, rho, beta, sigma and eps; eps None means margin form.
    """
    count, p, rho, beta, sigma = (np.asarray(setting[name], dtype=np.float64) for name in ("T", "p", "rho", "beta", "sigma"))
    mean = rho + (1.0 - rho) / count
    key = sigma**2 - 2.0 * beta + mean
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.log(count - 1.0) / p + 0.5 * (np.log(mean) + np.log(key)) - np.log1p(-rho)
        if setting["eps"] is not None:
            odds = np.log1p(-np.asarray(setting["eps"])) - np.log(setting["eps"])
            value = value + np.log(odds + np.log(count - 1.0)) - np.log(odds + np.log(count))
    exists = (sigma**2 * mean >= beta**2) & (key > 0.0) & (rho < 1.0) & (mean > 0.0)
    return np.where(exists, value, np.nan)


def certify(setting: Setting, tolerance: float = 1e-3) -> PhasePoint:
    """Both costs from the solvers on explicit tokens, refined once where the bounds overlap."""
    count = int(setting["T"])
    tokens, sink = exchangeable_tokens(count, setting["rho"], setting["beta"], setting["sigma"])
    level = {"margin": 1.0} if setting["eps"] is None else {"mass": 1.0 - setting["eps"]}
    first = sink_cost(tokens, sink, **level)
    for gap in (tolerance, tolerance * 1e-3):
        second = diagonal_cost(tokens, setting["p"], **level, tolerance=gap)
        point = PhasePoint(dict(setting), (first.lower, first.upper), (second.lower, second.upper),
                           float(log_advantage(setting)))
        if point.verdict != "open":
            break
    return point


def sample_sides(
    axes: Mapping[str, tuple[float, float]], fixed: Setting, count: int, seed: int
) -> list[dict[str, float | None]]:
    """``count`` random settings in the box ``axes``, half of them on each side of the boundary where both sides occur.

    Half of each side's are the nearest to the boundary among ten times as many, so that it is checked closely.
    """
    rng = np.random.default_rng(seed)
    size = 2000 * count
    drawn = {name: rng.uniform(*ends, size=size) for name, ends in axes.items()}
    if "T" in drawn:
        drawn["T"] = np.round(drawn["T"])
    advantage = log_advantage({**fixed, **drawn})
    order = rng.permutation(size)
    sides = [[i for i in order if advantage[i] > 0], [i for i in order if advantage[i] < 0]]
    wanted = [count - count // 2, count // 2]
    for side in (0, 1):
        lack = wanted[side] - len(sides[side])
        if lack > 0:
            wanted[side], wanted[1 - side] = len(sides[side]), min(wanted[1 - side] + lack, len(sides[1 - side]))
    chosen: list[int] = []
    for found, number in zip(sides, wanted):
        close = sorted(found[: 5 * number], key=lambda i: abs(advantage[i]))[: number // 2]
        chosen += close + [i for i in found if i not in set(close)][: number - len(close)]
    return [{**fixed, **{name: float(values[i]) for name, values in drawn.items()}} for i in chosen]


def boundary(
    x: tuple[str, Float[np.ndarray, " column"]], y: tuple[str, Float[np.ndarray, " row"]], fixed: Setting
) -> list[tuple[float, float]]:
    """Points (x, y) of the closed form's zero: one root by bisection for every change of sign along a column."""
    points = []
    for value in x[1]:
        column = log_advantage({**fixed, x[0]: value, y[0]: y[1]})
        for low, high, a, b in zip(y[1][:-1], y[1][1:], column[:-1], column[1:]):
            if not (a * b < 0.0):
                continue
            for _ in range(60):
                middle = 0.5 * (low + high)
                inside = float(log_advantage({**fixed, x[0]: value, y[0]: middle}))
                if math.isnan(inside):
                    break
                low, high = (middle, high) if inside * a > 0.0 else (low, middle)
            points.append((float(value), 0.5 * (low + high)))
    return points
