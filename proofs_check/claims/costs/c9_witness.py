"""C9: which side is cheaper for k cycles of length l, shown by rational slacks (self) or multipliers (sink).

The search minimises k·sum_{t>=1} |f(w^t)| + (k-1)|f(1)|, f(z) = 1 + 2z - sum_{j>=2} a_j z^j over slacks a
>= 0, w = exp(2 pi i/l), with |.| smoothed by mu, in floating point by L-BFGS; it stops at the first mu that
decides. It is believed nowhere: the slacks and multipliers leave as nonnegative rationals, which is all
their feasibility needs, and the kernel encloses their eigenvalues. `theory.costs_bigram_witness` is the
slower, more accurate search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import sqrt

import numpy as np
from scipy.optimize import minimize

SMOOTHINGS = (0.1, 0.01, 0.001, 0.0001)
SAFETY = 1e-7  # what a float bound must win by, relative, before it is handed to the kernel
RESOLUTION = 10**9


@dataclass(frozen=True)
class Decision:
    """`slacks` show that self is cheaper, or (target, others, cross) that the sink is."""

    length: int
    cycles: int
    alignment: Fraction
    slacks: tuple[Fraction, ...] | None = None
    target: Fraction = Fraction(0)
    others: tuple[Fraction, ...] = ()
    cross: Fraction = Fraction(0)

    @property
    def self_is_cheaper(self) -> bool:
        return self.slacks is not None

    @property
    def dual_row(self) -> list[Fraction]:
        """First row of G's diagonal blocks: own = -alpha + sum gamma + (k-1) l gamma', alpha, -gamma_j."""
        own = sum(self.others) - self.target + (self.cycles - 1) * self.length * self.cross
        return [own, self.target, *(-item for item in self.others)]


def sink_cost(tokens: int, alignment: float = 0.0) -> float:
    """Nuclear cost of the sink default times 1 - c², for tokens aligned by c."""
    return 2 * (tokens - 1) + sink_excess(tokens, alignment)


def sink_excess(tokens: int, alignment: float) -> float:
    """What that cost is above 2(n-1): (1-c²)(n-2)/g."""
    c, n = alignment, tokens
    return (1 - c**2) * (n - 2) / sqrt((1 + (n - 1) * c**2) * (1 - c**2 + n * (1 + c) ** 2))


@cache
def decide(length: int, cycles: int = 1, alignment: Fraction = Fraction(0)) -> Decision:
    """The cheaper side with its witness; raises ValueError where the search cannot tell the two apart."""
    size, weights = length, np.full(length, float(cycles))
    weights[0] = cycles - 1
    sink = sink_cost(length * cycles, float(alignment))
    slacks, mus = np.zeros(size - 2), (0.0, *SMOOTHINGS)
    for mu in mus:
        if mu:
            slacks = _minimise(slacks, weights, mu)
        rounded = np.round(slacks * RESOLUTION) / RESOLUTION
        if (weights * np.abs(_spectrum(rounded))).sum() < sink * (1 - SAFETY):
            return Decision(length, cycles, alignment, slacks=_fractions(slacks))
        if mu:
            target, others, cross = _multipliers(slacks, cycles, mu)
            if _lower_bound(target, others, cross, cycles) > sink * (1 + SAFETY):
                return Decision(length, cycles, alignment, None, _fractions([target])[0], _fractions(others),
                                _fractions([cross])[0])
    raise ValueError(f"expected one side to be cheaper for {cycles} cycles of length {length}, got bounds which "
                     "overlap; lower the last smoothing")


def _fractions(values: Sequence[float]) -> tuple[Fraction, ...]:
    return tuple(Fraction(max(0, round(float(value) * RESOLUTION)), RESOLUTION) for value in values)


def _spectrum(slacks: np.ndarray) -> np.ndarray:
    return np.fft.fft(np.concatenate([[1.0, 2.0], -slacks]))


def _minimise(slacks: np.ndarray, weights: np.ndarray, mu: float) -> np.ndarray:
    def objective(a: np.ndarray) -> tuple[float, np.ndarray]:
        values = _spectrum(a)
        moduli = np.sqrt(np.abs(values) ** 2 + mu**2)
        gradient = np.fft.ifft(weights * values / moduli) * len(weights)
        return float((weights * moduli).sum()), -gradient.real[2:]

    if slacks.size == 0:
        return slacks
    return minimize(objective, slacks, jac=True, method="L-BFGS-B", bounds=[(0, None)] * slacks.size,
                    options={"maxiter": 3000, "maxfun": 5000, "ftol": 1e-14, "gtol": 1e-8}).x


def _multipliers(slacks: np.ndarray, cycles: int, mu: float) -> tuple[float, np.ndarray, float]:
    """alpha = g_1 - tau/n, gamma_j = tau/n - g_j, gamma' = tau/n, g the polar part's coefficients, from 0 up."""
    values = _spectrum(slacks)
    polar = values / np.sqrt(np.abs(values) ** 2 + mu**2)
    tau = max(0.0, float(polar[0].real)) if cycles > 1 else 0.0
    polar[0] = tau
    g, floor = np.fft.ifft(polar).real, tau / (len(values) * cycles)
    return max(0.0, g[1] - floor), np.maximum(0.0, floor - g[2:]), floor


def _lower_bound(target: float, others: np.ndarray, cross: float, cycles: int) -> float:
    size = len(others) + 2
    row_total = target + others.sum() + (cycles - 1) * size * cross
    moduli = np.abs(np.fft.fft(np.concatenate([[row_total - 2 * target, target], -others])))
    return size * cycles * row_total / max(moduli[1:].max(), size * cycles * cross)


def self_values(cases: Sequence[tuple[int, int, Fraction]]) -> dict[str, object]:
    """The variables of a "self is cheaper" table; raises ValueError where the sink is."""
    found = [decide(*case) for case in cases]
    if not all(item.self_is_cheaper for item in found):
        raise ValueError("expected self to be cheaper in every case, got one where the sink is; correct the "
            "list")
    return {**_shape(cases), "rows": [[[1, 2, *(-a for a in item.slacks)]] for item in found]}


def sink_values(cases: Sequence[tuple[int, int, Fraction]]) -> dict[str, object]:
    """The variables of a "sink is cheaper" table; raises ValueError where self is."""
    found = [decide(*case) for case in cases]
    if any(item.self_is_cheaper for item in found):
        raise ValueError("expected the sink to be cheaper in every case, got one where self is; correct the "
            "list")
    return {**_shape(cases), "rows": [[item.dual_row] for item in found],
            "cross": [item.cross for item in found]}


def _shape(cases: Sequence[tuple[int, int, Fraction]]) -> dict[str, object]:
    return {"lengths": [case[0] for case in cases], "cycles": [case[1] for case in cases],
            "alignment": [case[2] for case in cases]}
