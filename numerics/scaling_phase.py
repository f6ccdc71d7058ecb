"""Where the sink is cheaper on exchangeable tokens, against the diagonal (C5) or, for copy-paste, against self (C10).

The log of (other cost)/(sink's cost), positive where the sink is cheaper.  C5, closed form:

    sink  m_sink/(sqrt(rho_T) sqrt(sigma² - 2 beta + rho_T)),      diagonal  m_diagonal (T-1)^(1/p)/(1-rho),

with equal margins, or m_sink = L + log T, m_diagonal = L + log(T-1), L = log((1-eps)/eps), in mass form.  With a
`fraction` n/T of the queries copying (margin form), the costs are those of `copy_cost`.  With a `weight` A the totals
A ||W_QK||_p + ||W_VO||_p are compared, for orthonormal targets (C7) and V x_s = 0 where the sink is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.copy_cost import off_at_self, off_at_sink
from numerics.diagonal_bound import diagonal_cost
from numerics.minimum_norm import minimum_norm
from numerics.scaling_clouds import exchangeable_tokens
from numerics.sink_cost import sink_cost
from numerics.tasks import copy_paste
from numerics.value_cost import value_cost

__all__ = ["AXES", "PhasePoint", "boundary", "certify", "log_advantage", "sample_sides"]

# Each axis with the values that a phase map may take; T and fraction·T are integers at computed points, real between
# them.
AXES = {"T": (3.0, 256.0), "p": (1.0, 64.0), "rho": (0.0, 0.99), "beta": (-4.0, 4.0), "sigma": (0.01, 8.0),
        "eps": (1e-12, 0.5), "fraction": (0.0, 1.0)}
Setting = Mapping[str, float | None]
# Where the two routes to a copy-paste cost differ by more than this, the map has no value.
LARGEST_GAP = 1e-6
# Costs whose logs differ by less are equal as far as rounding shows (C10 has whole regions where they are).
TIE = 1e-9


@dataclass(frozen=True)
class PhasePoint:
    """Certified bounds of both costs at one setting, and which one they show to be cheaper."""

    setting: dict[str, float | None]
    sink: tuple[float, float]
    diagonal: tuple[float, float]  # or self, where a fraction copies
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
    """log(diagonal/sink), broadcast over arrays; NaN where no such tokens, or no sink, exist (C4, C5, C7, C10).

    ``setting`` has T, p, rho, beta, sigma, eps (None: margin form), fraction (None: every query uses the pattern) and
    weight (None: QK alone).
    """
    names = ("T", "p", "rho", "beta", "sigma")
    count, p, rho, beta, sigma = np.broadcast_arrays(*(np.asarray(setting[name], dtype=np.float64) for name in names))
    mean = rho + (1.0 - rho) / count
    key = sigma**2 - 2.0 * beta + mean
    exists = (sigma**2 * mean >= beta**2) & (key > 0.0) & (rho < 1.0) & (mean > 0.0)
    if setting["fraction"] is None:
        sink, other = _pattern_costs(count, p, rho, mean, key, setting["eps"])
    else:
        sink, other = _copy_costs(count, p, rho, beta, sigma, exists, setting["fraction"])
    if setting["weight"] is not None:
        sink = setting["weight"] * sink + _value_cost(count, p, rho, mean - beta**2 / sigma**2)
        other = setting["weight"] * other + _value_cost(count, p, rho, mean)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(exists, np.log(other) - np.log(sink), np.nan)


def _pattern_costs(count, p, rho, mean, key, eps):
    """Sink and diagonal in margin form 1 or mass form 1 - eps."""
    if eps is None:
        sink, diagonal = 1.0, 1.0
    else:
        odds = np.log1p(-np.asarray(eps)) - np.log(eps)
        sink, diagonal = odds + np.log(count), odds + np.log(count - 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return sink / np.sqrt(mean * key), diagonal * (count - 1.0) ** (1.0 / p) / (1.0 - rho)


def _copy_costs(count, p, rho, beta, sigma, exists, fraction):
    """Off at the sink and off at themselves, cell by cell; NaN where n or T - n is below 1 or the gap is wide."""
    fraction = np.asarray(fraction, dtype=np.float64)
    *cells, exists, fraction = np.broadcast_arrays(count, p, rho, beta, sigma, exists, fraction)
    sink, other = np.full(fraction.shape, np.nan), np.full(fraction.shape, np.nan)
    for index in np.argwhere(exists):
        place = tuple(index)
        here = [float(array[place]) for array in cells]
        copiers = here[0] * float(fraction[place])
        if abs(copiers - round(copiers)) < 1e-9:  # n/T·T
            copiers = float(round(copiers))
        if not 1.0 <= copiers <= here[0] - 1.0:
            continue
        try:
            found = off_at_sink(here[0], copiers, *here[1:])
        except ValueError:  # means that are dependent, at the edge of existence
            continue
        if found.upper - found.lower <= LARGEST_GAP * found.upper:
            sink[place], other[place] = found.upper, off_at_self(*here)
    return sink, other


def _value_cost(count, p, rho, mean):
    """||W_VO||_p for orthonormal targets: T - 1 values (1-rho)^(-1/2) and one (T mean)^(-1/2) (C7).

    ``mean`` is rho_T or, with V x_s = 0, rho_T - beta²/sigma².
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (1.0 - rho) / np.maximum(count * mean, 0.0)  # inf where the sink is among the tokens' span
        return (1.0 - rho) ** -0.5 * ((count - 1.0) + ratio ** (p / 2.0)) ** (1.0 / p)


def certify(setting: Setting, tolerance: float = 1e-3) -> PhasePoint:
    """Both costs from the solvers on explicit tokens, refined where the bounds overlap."""
    count = int(setting["T"])
    tokens, sink = exchangeable_tokens(count, setting["rho"], setting["beta"], setting["sigma"])
    closed_form = float(log_advantage(setting))
    for gap in (tolerance, tolerance * 1e-3):
        sides = [_certified(setting, tokens, sink, pattern, gap) for pattern in ("sink", "self")]
        point = PhasePoint(dict(setting), *sides, closed_form)
        if point.verdict != "open":
            break
    return point


def _certified(setting: Setting, tokens, sink, pattern: str, gap: float) -> tuple[float, float]:
    """Bounds on one side's cost, values included where the setting has a weight."""
    level = {"margin": 1.0} if setting["eps"] is None else {"mass": 1.0 - setting["eps"]}
    if setting["fraction"] is not None:
        copiers = round(setting["fraction"] * len(tokens))
        # copiers permute their own keys in a cycle; one alone copies itself, which costs the same (C10)
        copied = [(i + 1) % copiers for i in range(copiers)] if copiers > 1 else [0]
        task = copy_paste(tokens, sink, copied + [-1] * (len(tokens) - copiers), off=pattern, **level)
        found = minimum_norm(task.attention, setting["p"], tolerance=gap)
    elif pattern == "sink":
        found = sink_cost(tokens, sink, **level)
    else:
        found = diagonal_cost(tokens, setting["p"], **level, tolerance=gap)
    if setting["weight"] is None:
        return found.lower, found.upper
    values = value_cost(tokens, np.eye(len(tokens)), setting["p"], null=sink if pattern == "sink" else None)
    return setting["weight"] * found.lower + values.lower, setting["weight"] * found.upper + values.upper


def sample_sides(
    axes: Mapping[str, tuple[float, float]], fixed: Setting, count: int, seed: int
) -> list[dict[str, float | None]]:
    """``count`` random settings in the box ``axes``, half of them on each side of the boundary where both sides occur.

    Fewer, or none, where tokens hardly exist or both patterns cost the same.

    Half of each side's are the nearest to the boundary among ten times as many, so that it is checked closely.
    """
    rng = np.random.default_rng(seed)
    copying = fixed["fraction"] is not None or "fraction" in axes
    size = (20 if copying else 2000) * count  # a copy-paste cost takes milliseconds, C5's formula microseconds
    drawn = {name: rng.uniform(*ends, size=size) for name, ends in axes.items()}
    if "T" in drawn:
        drawn["T"] = np.round(drawn["T"])
    if copying:
        tokens = drawn.get("T", np.full(size, fixed["T"]))
        drawn["fraction"] = np.clip(np.round(drawn.get("fraction", fixed["fraction"]) * tokens), 1, tokens - 1) / tokens
    advantage = log_advantage({**fixed, **drawn})
    order = rng.permutation(size)
    sides = [[i for i in order if advantage[i] > TIE], [i for i in order if advantage[i] < -TIE]]
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
    """Points (x, y) where both cost the same: one root by bisection for every change of sign along a column."""
    points = []
    steps = 25 if fixed["fraction"] is not None or "fraction" in (x[0], y[0]) else 60
    for value in x[1]:
        column = log_advantage({**fixed, x[0]: value, y[0]: y[1]})
        for low, high, a, b in zip(y[1][:-1], y[1][1:], column[:-1], column[1:]):
            if not (a * b < 0.0):
                continue
            for _ in range(steps):
                middle = 0.5 * (low + high)
                inside = float(log_advantage({**fixed, x[0]: value, y[0]: middle}))
                if math.isnan(inside):
                    break
                low, high = (middle, high) if inside * a > 0.0 else (low, middle)
            points.append((float(value), 0.5 * (low + high)))
    return points
