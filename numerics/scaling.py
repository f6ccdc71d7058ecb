"""One point of a sweep over T: a certified two-sided bound for a pattern, a norm, a form and a cloud of T tokens.

Points are measured at unit embedding norm, kappa = 1 and unit targets; a cost model with other scales multiplies the
QK side by 1/(kappa r²) and the value side by omega/r exactly, so one sweep serves every model.  theory.md C4, C7, C8.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass

import numpy as np
from jaxtyping import Float

from numerics.diagonal_bound import diagonal_cost
from numerics.sink_cost import sink_cost
from numerics.value_cost import value_cost

__all__ = ["CLOUDS", "Job", "Point", "exchangeable_tokens", "measure", "scaling_tokens", "sweep_jobs"]

CLOUDS = ("orthonormal", "correlated", "touching", "independent")


@dataclass(frozen=True, order=True)
class Job:
    """What one point measures.  `level` is the margin or the mass; `norm` is "every" for the sink's QK side (C1)."""

    cloud: str
    tokens: int
    draw: int
    side: str  # "qk" or "value"
    pattern: str
    norm: str
    form: str  # "margin" or "mass"; "" on the value side
    level: float
    rho: float
    beta: float
    sigma: float
    seed: int
    tolerance: float
    time_limit: float


@dataclass(frozen=True)
class Point:
    """lower <= cost <= upper, and how long it took; `status` is the solver's word for what the bounds are."""

    job: Job
    lower: float
    upper: float
    status: str
    seconds: float

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0

    def record(self) -> dict:
        return {"job": asdict(self.job), "lower": self.lower.hex(), "upper": self.upper.hex(), "status": self.status,
                "seconds": self.seconds}

    @staticmethod
    def from_record(record: dict) -> Point:
        """Raises ValueError, KeyError or TypeError for anything but a whole record of finite bounds."""
        point = Point(Job(**record["job"]), float.fromhex(record["lower"]), float.fromhex(record["upper"]),
                      str(record["status"]), float(record["seconds"]))
        if not (0.0 <= point.lower <= point.upper < math.inf):
            raise ValueError(f"expected 0 <= lower <= upper < inf, got {point.lower} and {point.upper}; measure again")
        return point


def exchangeable_tokens(
    count: int, rho: float, beta: float, sigma: float
) -> tuple[Float[np.ndarray, "token dim"], Float[np.ndarray, " dim"]]:
    """Unit tokens with equal inner products rho in [0, 1), and a sink of norm sigma with <x_s, x_i> = beta.

    x_i = sqrt(rho) u + sqrt(1-rho) e_i and x_s = a (mean direction) + b v in dimension count + 2.  Raises ValueError
    where no such sink exists, i.e. sigma² rho_T < beta².  theory.md section 0.
    """
    if not 0.0 <= rho < 1.0:
        raise ValueError(f"Expected 0 <= rho < 1 for a sweep, got {rho}; equal tokens have no diagonal.")
    tokens = np.zeros((count, count + 2))
    tokens[:, 0] = math.sqrt(rho)
    tokens[:, 1 : count + 1] = math.sqrt(1.0 - rho) * np.eye(count)
    mean = tokens.mean(axis=0)
    mean_square = rho + (1.0 - rho) / count
    rest = sigma**2 - beta**2 / mean_square
    if rest < -1e-12 * sigma**2:
        raise ValueError(
            f"Expected sigma² rho_T >= beta², got sigma = {sigma}, beta = {beta}, rho_T = {mean_square:.6g} at T = {count};"
            " no such sink exists, raise sigma or lower |beta|."
        )
    sink = beta / mean_square * mean
    sink[-1] = math.sqrt(max(rest, 0.0))
    return tokens, sink


def scaling_tokens(job: Job) -> tuple[Float[np.ndarray, "token dim"], Float[np.ndarray, " dim"]]:
    """The cloud and the sink of a job; "independent": T + 1 uniform unit vectors in dimension d = T."""
    if job.cloud == "orthonormal":
        return exchangeable_tokens(job.tokens, 0.0, 0.0, 1.0)
    if job.cloud == "correlated":
        return exchangeable_tokens(job.tokens, job.rho, job.beta, job.sigma)
    if job.cloud == "touching":
        return exchangeable_tokens(job.tokens, job.rho, job.rho, math.sqrt(job.rho))
    if job.cloud == "independent":
        rng = np.random.default_rng([job.seed, job.tokens, job.draw])
        rows = rng.standard_normal((job.tokens + 1, job.tokens))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows[1:], rows[0]
    raise ValueError(f"Expected a cloud among {', '.join(CLOUDS)}, got {job.cloud!r}; choose one of them.")


def measure(job: Job) -> Point:
    """Bounds for one job; a pattern that is impossible or undecided there raises ValueError, never a number."""
    start = time.perf_counter()
    tokens, sink = scaling_tokens(job)
    if job.side == "value":
        null = sink if job.pattern == "sink" else None
        found = value_cost(tokens, np.eye(len(tokens)), job.norm, null=null)
        status, good = found.status, found.status == "independent"
    elif job.pattern == "sink":
        found = sink_cost(tokens, sink, **{job.form: job.level})
        status, good = found.status, found.status == "bounded"
    else:
        found = diagonal_cost(tokens, job.norm, **{job.form: job.level}, tolerance=job.tolerance,
                              time_limit=job.time_limit)
        status, good = found.status, found.status == "bounded"
    if not good:
        raise ValueError(f"Expected a bounded {job.side} cost of the {job.pattern} at T = {job.tokens} ({job.cloud}), got"
                         f" '{status}'; leave that point out.")
    return Point(job, float(found.lower), float(found.upper), status, time.perf_counter() - start)


def sweep_jobs(
    clouds: tuple[str, ...], sizes: tuple[int, ...], norms: tuple[str, ...], forms: dict[str, float], *, draws: int,
    rho: float = 0.3, beta: float = 0.0, sigma: float = 1.0, seed: int = 0, tolerance: float = 1e-3,
    time_limit: float = 600.0,
) -> list[Job]:
    """Every point of a sweep, small T first.  Only "independent" tokens are drawn; they have no value side here,
    since T + 1 vectors in dimension T leave no room for a null constraint.
    """
    jobs = []
    for count in sorted(set(sizes)):
        for cloud in clouds:
            shared = {"rho": rho, "beta": beta, "sigma": sigma, "seed": seed, "tolerance": tolerance,
                      "time_limit": time_limit}
            for draw in range(draws if cloud == "independent" else 1):
                for form, level in forms.items():
                    jobs.append(Job(cloud, count, draw, "qk", "sink", "every", form, level, **shared))
                    jobs += [Job(cloud, count, draw, "qk", "diagonal", norm, form, level, **shared) for norm in norms]
                if cloud != "independent":
                    jobs += [Job(cloud, count, draw, "value", pattern, norm, "", 0.0, **shared)
                             for pattern in ("sink", "diagonal") for norm in norms]
    return jobs
