"""Our engine and cvxpy's solvers on the same instances in one run: time, certified gap, peak memory.

A solver's own claim of accuracy is not compared: every answer's W and dual go through ``certified``, and a
solver is run at tighter and tighter settings until the gap *proved* by its answer meets the target; the time
shown is that of the run that met it (of the last one if none did). Each run has a process of its own, so that
peak memory is its own; imports and the building of the instance are not timed, cvxpy's compilation is.
"""

from __future__ import annotations

import math
import multiprocessing
import multiprocessing.context
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from numerics.constraints import diagonal_constraints
from numerics.minimum_norm import certified, minimum_norm
from numerics.reference import reference_minimum_norm
from numerics.scaling_clouds import independent_unit_tokens
from numerics.two_sided import relative_gap
from numerics.workers import threads_of_children

__all__ = ["BenchCase", "BenchRow", "bench", "default_cases", "measure", "ratio"]

SOLVERS = ("sinkproof", "CLARABEL", "SCS")
_SCS_LADDER = (1e-4, 1e-5, 1e-6, 1e-7)


@dataclass(frozen=True)
class BenchCase:
    """The diagonal pattern, margin 1, on independent uniform unit tokens, to a certified relative gap."""

    num_tokens: int
    dim: int
    norm: str | float
    tolerance: float
    solvers: tuple[str, ...] = SOLVERS
    seed: int = 0


@dataclass(frozen=True)
class BenchRow:
    """One solver on one case: bounds proved by its answer, seconds, and the process's peak resident
    memory.
    """

    case: BenchCase
    solver: str
    seconds: float
    peak_megabytes: float
    lower: float
    upper: float
    setting: str

    @property
    def gap(self) -> float:
        return relative_gap(self.lower, self.upper)

    @property
    def met(self) -> bool:
        """Whether the certified gap reached the case's tolerance."""
        return bool(self.gap <= self.case.tolerance)


def default_cases(profile: str = "quick") -> list[BenchCase]:
    """The cases of ``sinkproof bench``: quick compares at T = d = 8..32, full adds what only our engine
    can do.
    """
    cases = [BenchCase(8, 8, norm, 1e-4) for norm in ("nuclear", "frobenius", "spectral")]
    cases += [BenchCase(32, 32, "nuclear", 1e-4)]
    if profile == "full":
        own = ("sinkproof",)
        cases += [BenchCase(32, 32, norm, 1e-4) for norm in ("frobenius", "spectral")]
        cases += [BenchCase(size, size, "nuclear", 1e-3, own) for size in (64, 128, 256)]
        cases += [BenchCase(256, 256, "frobenius", 1e-6, own)]
    return cases


def bench(cases: Sequence[BenchCase], *, repeats: int = 1, threads: int = 1) -> list[BenchRow]:
    """Every solver on every case, each in a fresh process, solvers interleaved; the fastest of ``repeats``
    counts.

    ``threads`` caps the linear algebra of every solver alike: on a busy machine two threads that wait for
    each other are ten times slower than one.
    """
    if repeats < 1 or len(cases) == 0:
        raise ValueError(
            f"expected cases and at least one repeat, got {len(cases)} and {repeats}; raise both to 1"
        )
    context = multiprocessing.get_context("spawn")
    with threads_of_children(threads):
        return _run(cases, repeats, context)


def _run(
    cases: Sequence[BenchCase], repeats: int, context: multiprocessing.context.SpawnContext
) -> list[BenchRow]:
    rows = []
    for case in cases:
        best: dict[str, BenchRow] = {}
        for _ in range(repeats):
            for solver in case.solvers:
                with context.Pool(1) as pool:
                    row = pool.apply(measure, (case, solver))
                if solver not in best or (row.met, -row.seconds) > (best[solver].met, -best[solver].seconds):
                    best[solver] = row
        rows.extend(best[solver] for solver in case.solvers)
    return rows


def measure(case: BenchCase, solver: str) -> BenchRow:
    """One solver on one case, in this process (peak memory is then the process's so far)."""
    tokens = independent_unit_tokens(case.num_tokens, case.dim, case.seed)
    constraints = diagonal_constraints(tokens, margin=1.0)
    if solver == "sinkproof":
        start = time.perf_counter()
        answer = minimum_norm(constraints, case.norm, tolerance=case.tolerance)
        return _row(case, solver, time.perf_counter() - start, answer.lower, answer.upper, "default")
    if solver not in SOLVERS:
        raise ValueError(f"expected a solver among {', '.join(SOLVERS)}, got {solver}; choose one of them")
    row = None
    for setting in _SCS_LADDER if solver == "SCS" else (None,):
        options = {} if setting is None else {"eps_abs": setting, "eps_rel": setting, "max_iters": 100_000}
        start = time.perf_counter()
        solution = reference_minimum_norm(constraints, case.norm, solver=solver, **options)
        seconds = time.perf_counter() - start
        lower, upper = 0.0, math.inf
        if solution.w_qk is not None:
            proved = certified(constraints, case.norm, solution.w_qk, solution.dual)
            lower, upper = proved.lower, proved.upper
        row = _row(case, solver, seconds, lower, upper, "default" if setting is None else f"eps {setting:g}")
        if row.met:
            break
    return row


def ratio(rows: Sequence[BenchRow], case: BenchCase) -> float:
    """Seconds of the fastest other solver that met the case's gap over ours; nan if we or all others
    missed it.
    """
    own = [row for row in rows if row.case == case and row.solver == "sinkproof" and row.met]
    others = [row for row in rows if row.case == case and row.solver != "sinkproof" and row.met]
    if not own or not others:
        return math.nan
    return min(row.seconds for row in others) / min(row.seconds for row in own)


def _row(case: BenchCase, solver: str, seconds: float, lower: float, upper: float, setting: str) -> BenchRow:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    megabytes = peak / (2**20 if sys.platform == "darwin" else 2**10)  # kilobytes on Linux, bytes on macOS
    return BenchRow(case, solver, seconds, megabytes, lower, upper, setting)
