"""The optimiser's attack: several starts, downhill on the slack of a part, then rounding to small rationals.

The slack is the numerical route's where the part has one; else the least distance of a comparison in the conclusions
from being violated, evaluated by the kernel's evaluator.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from flint import fmpq
from scipy.optimize import minimize

from proofs_check.claim import Instance
from proofs_check.engines.gathering import to_float
from proofs_check.perturb import Values, entries, get, replaced
from proofs_check.probing import Answer, Probe

DENOMINATORS = (1, 2, 3, 4, 6, 12, 64, 4096)
SUSPICIOUS = 1e-6  # below this a negative slack may be rounding
FEASIBLE = 1e-9
WEIGHT = 10.0


@dataclass(frozen=True)
class Descent:
    """The best point of one descent: an exact refutation, or a suspicious slack that no rounding confirmed."""

    values: Values | None
    answer: Answer | None
    slack: float
    feasible: bool
    evaluations: int


def descend(probe: Probe, start: Values, rng: random.Random, evaluations: int) -> Descent:
    """One start.  The gradient is jax's where the numerical route can be differentiated, else Nelder-Mead is used."""
    spots = entries(start, probe.free)
    spent = 0
    if not spots:
        return Descent(None, None, float("inf"), False, 0)
    spots = rng.sample(spots, min(len(spots), 12))

    def at(point: Iterable[float]) -> Values:
        values = start
        for spot, entry in zip(spots, point):
            values = replaced(values, spot, _exact(entry))
        return values

    def penalty(values: Values) -> float:
        total = 0.0
        for atom, gaps in zip(probe.atoms, probe.gaps(values, probe.atoms)):
            for gap in gaps or ():
                total += abs(float(gap)) if atom.relation == "==" else max(0.0, -float(gap))
        return total

    def objective(point: np.ndarray) -> float:
        nonlocal spent
        spent += 1
        values = at(point)
        return _slack(probe, values) + WEIGHT * penalty(values)

    origin = np.array([float(get(start, spot)) for spot in spots])
    origin = origin + np.array([rng.gauss(0.0, 0.3) for _ in spots])
    gradient = _gradient(probe, start, spots, origin)
    if gradient is not None:
        best = origin
        for step in range(max(1, evaluations // 8)):
            slope = gradient(best)
            if not np.all(np.isfinite(slope)) or not np.any(slope):
                break
            best = best - slope / (1.0 + np.linalg.norm(slope)) / (1.0 + step)
            spent += 1
        origin = best
    found = minimize(objective, origin, method="Nelder-Mead", options={"maxfev": max(10, evaluations - spent)})
    exact = at(found.x)
    slack = _slack(probe, exact)
    for denominator in DENOMINATORS:
        values = at([_rounded(entry, denominator) for entry in found.x])
        for candidate in (values, probe.moved(values, rng)):
            if candidate is None:
                continue
            spent += 1
            answer = probe.judge(candidate)
            if answer.refutes():
                return Descent(candidate, answer, slack, True, spent)
    answer = probe.judge(exact)
    if answer.refutes():
        return Descent(exact, answer, slack, True, spent)
    suspicious = penalty(exact) <= FEASIBLE and slack < -SUSPICIOUS and _opaque(probe, exact, answer)
    return Descent(exact, None, slack, suspicious, spent)


def _opaque(probe: Probe, values: Values, answer: Answer) -> bool:
    """Could the point be a counterexample?  Not when the kernel says that its conclusions hold there, nor where a
    hypothesis fails that is no comparison (a comparison may fail by rounding).

    A slack that is evaluated from the formulas themselves says no more than the kernel, so there only what the kernel
    leaves undecided is suspect.
    """
    if probe.numeric is None:
        return answer.meets is True and answer.concludes is None
    return not (answer.meets is True and answer.concludes is True) and probe.meets_the_rest(values)


def _slack(probe: Probe, values: Values) -> float:
    """The slack of the conclusions; a point where it cannot be computed is no place to go."""
    if probe.numeric is None:
        found = [-abs(gap) if atom.relation == "==" else gap
                 for atom, gaps in zip(probe.aims, probe.gaps(values, probe.aims, balls=True)) for gap in gaps or ()]
        return float(min(found, default=1e6))
    try:
        with np.errstate(all="ignore"):
            slack = float(probe.numeric(to_float(probe.part, Instance(values))))
    except (ArithmeticError, LookupError, TypeError, ValueError, np.linalg.LinAlgError):
        return 1e6
    return slack if np.isfinite(slack) else 1e6


def _gradient(probe: Probe, start: Values, spots: list, origin: np.ndarray) -> Callable | None:
    """The gradient of the slack in the chosen entries, or None where the numerical route leaves jax."""
    if probe.numeric is None:
        return None
    table = to_float(probe.part, Instance(start))

    def slack(point: jax.Array) -> jax.Array:
        values = dict(table)
        for index, (name, path) in enumerate(spots):
            if isinstance(values[name], list):
                return jnp.nan * point.sum()
            values[name] = jnp.asarray(values[name]).at[path].set(point[index]) if path else point[index]
        return probe.numeric(values)

    try:
        gradient = jax.grad(slack)
        gradient(jnp.asarray(origin))
    except Exception:  # whatever a function that was not written for tracing raises
        return None
    return lambda point: np.asarray(gradient(jnp.asarray(point)))


def _exact(value: float) -> fmpq:
    if isinstance(value, fmpq):
        return value
    return fmpq(*float(value).as_integer_ratio()) if np.isfinite(value) else fmpq(0)


def _rounded(value: float, denominator: int) -> fmpq:
    return fmpq(round(float(value) * denominator), denominator) if np.isfinite(value) else fmpq(0)
