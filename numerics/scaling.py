"""One point of a sweep over T: a certified two-sided bound for a pattern, a norm, a form and a cloud of T tokens.

Points are measured at kappa = 1 and unit targets, and generated clouds at unit embedding norm; a cost model with other
scales multiplies the QK side by 1/(kappa r²) and the value side by omega/r exactly, so one sweep serves every model.
Claims C4, C7, C8.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from jaxtyping import Float

from numerics.diagonal_bound import diagonal_cost
from numerics.scaling_clouds import DRAWN, Geometry, geometry_tokens
from numerics.sink_cost import sink_cost
from numerics.two_sided import relative_gap
from numerics.value_cost import value_cost

__all__ = ["Job", "Point", "measure", "sweep_jobs"]


@dataclass(frozen=True, order=True)
class Job:
    """What one point measures.  `level` is the margin or the mass; `norm` is "every" for the sink's QK side (C1).

    On the value side "sink" asks V x_s = 0 and "diagonal" does not.
    """

    geometry: Geometry
    tokens: int
    draw: int
    side: str  # "qk" or "value"
    pattern: str
    norm: str
    form: str  # "margin" or "mass"; "" on the value side
    level: float
    seed: int
    tolerance: float
    time_limit: float

    def __str__(self) -> str:
        return f"T = {self.tokens}, {self.geometry.cloud}, {self.pattern}, {self.side} {self.norm}"


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
        """As in `relative_gap`."""
        return relative_gap(self.lower, self.upper)

    def record(self) -> dict:
        return {"job": asdict(self.job), "lower": self.lower.hex(), "upper": self.upper.hex(), "status": self.status,
                "seconds": self.seconds}

    @staticmethod
    def from_record(record: dict) -> Point:
        """Raises ValueError, KeyError or TypeError for anything but a whole record of finite bounds."""
        job = Job(**{**record["job"], "geometry": Geometry(**record["job"]["geometry"])})
        point = Point(job, float.fromhex(record["lower"]), float.fromhex(record["upper"]), str(record["status"]),
                      float(record["seconds"]))
        if not (0.0 <= point.lower <= point.upper < math.inf):
            raise ValueError(f"expected 0 <= lower <= upper < inf, got {point.lower} and {point.upper}; measure again")
        return point


def measure(
    job: Job, cloud: tuple[Float[np.ndarray, "token dim"], Float[np.ndarray, " dim"]] | None = None
) -> Point:
    """Bounds for one job, on its geometry's tokens or, for real embeddings, on the ``cloud`` drawn for it.

    A pattern that is impossible or undecided there raises ValueError, never a number.
    """
    start = time.perf_counter()
    tokens, sink = cloud or geometry_tokens(job.geometry, job.tokens, job.seed, job.draw)
    tokens, sink = np.asarray(tokens, dtype=np.float64), np.asarray(sink, dtype=np.float64)
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
        raise ValueError(f"expected a bounded {job.side} cost of the {job.pattern} at T = {job.tokens}"
                         f" ({job.geometry.cloud}), got '{status}'; leave that point out")
    return Point(job, float(found.lower), float(found.upper), status, time.perf_counter() - start)


def sweep_jobs(
    geometries: Sequence[Geometry], sizes: Sequence[int], norms: Sequence[str], forms: dict[str, float], *, draws: int,
    dim: int = 0, seed: int = 0, tolerance: float = 1e-3, time_limit: float = 600.0,
) -> list[Job]:
    """Every point of a sweep, small T first; ``dim`` is the dimension of real embeddings."""
    shared = {"seed": seed, "tolerance": tolerance, "time_limit": time_limit}
    jobs = []
    for count in sorted(set(sizes)):
        for geometry in geometries:
            for draw in range(draws if geometry.cloud in DRAWN else 1):
                for form, level in forms.items():
                    jobs.append(Job(geometry, count, draw, "qk", "sink", "every", form, level, **shared))
                    jobs += [Job(geometry, count, draw, "qk", "diagonal", norm, form, level, **shared)
                             for norm in norms]
                if geometry.has_values(count, dim):
                    jobs += [Job(geometry, count, draw, "value", pattern, norm, "", 0.0, **shared)
                             for pattern in ("sink", "diagonal") for norm in norms]
    return jobs
