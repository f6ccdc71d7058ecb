import math
import os

import numpy as np
import pytest

from numerics.bench import BenchCase, BenchRow, bench, default_cases, measure, ratio
from numerics.scaling_clouds import independent_unit_tokens

CASE = BenchCase(4, 4, "nuclear", 1e-4)


def test_every_solver_meets_a_small_case_and_brackets_one_value():
    rows = [measure(CASE, solver) for solver in CASE.solvers]
    assert all(row.met for row in rows)
    assert max(row.lower for row in rows) <= min(row.upper for row in rows) * (1 + 1e-12)
    assert all(row.seconds > 0.0 and row.peak_megabytes > 1.0 for row in rows)


@pytest.mark.slow
def test_bench_runs_each_solver_in_its_own_process():
    before = dict(os.environ)
    rows = bench([CASE])
    assert dict(os.environ) == before
    assert [row.solver for row in rows] == list(CASE.solvers)
    assert all(row.met for row in rows) and ratio(rows, CASE) > 0.0


def test_the_ratio_counts_only_runs_that_met_the_gap():
    fast = BenchRow(CASE, "sinkproof", 1.0, 1.0, 1.0, 1.00001, "default")
    missed = BenchRow(CASE, "SCS", 0.1, 1.0, 1.0, 1.1, "default")
    slow = BenchRow(CASE, "CLARABEL", 50.0, 1.0, 1.0, 1.00001, "default")
    assert ratio([fast, missed, slow], CASE) == 50.0
    assert math.isnan(ratio([fast, missed], CASE))
    assert not BenchRow(CASE, "SCS", 0.1, 1.0, math.nan, math.nan, "default").met


def test_full_cases_extend_the_quick_ones_and_tokens_are_unit():
    assert set(default_cases()) < set(default_cases("full"))
    assert np.abs(np.linalg.norm(independent_unit_tokens(5, 3, 0), axis=1) - 1.0).max() <= 1e-14


def test_bad_requests_are_refused():
    with pytest.raises(ValueError, match="solver among"):
        measure(CASE, "MOSEK")
    with pytest.raises(ValueError, match="at least one repeat"):
        bench([CASE], repeats=0)
