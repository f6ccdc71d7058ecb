"""The plain formulation, as literal as the mathematics: the oracle in tests and the yardstick in the
benchmark.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
from jaxtyping import Float

from numerics.constraints import Constraints
from numerics.schatten import exponent

__all__ = ["ReferenceSolution", "reference_minimum_norm"]


@dataclass(frozen=True, eq=False)
class ReferenceSolution:
    """What cvxpy answered: status, value (nan if none), W and dual (None if none). No bound is implied.

    ``dual`` (rows, keys) holds lambda >= 0 as in claim C3; the softmax weights split a mass row's
    multiplier.
    """

    status: str
    value: float
    w_qk: Float[np.ndarray, "dim dim"] | None
    dual: Float[np.ndarray, "row key"] | None


def reference_minimum_norm(
    constraints: Constraints, norm: str | float, *, solver: str = "CLARABEL", **options: float
) -> ReferenceSolution:
    """min ||W||_p subject to the rows, written down one by one; p in {1, 2, inf}. Claims C1-C3.

    ``options`` go to the solver. Raises ValueError for another p (cvxpy has no general Schatten norm).
    """
    p = exponent(norm)
    dim = constraints.queries.shape[1]
    w = cp.Variable((dim, dim))
    if p == 1.0:
        objective = cp.normNuc(w)
    elif p == 2.0:
        objective = cp.norm(w, "fro")
    elif p == math.inf:
        objective = cp.sigma_max(w)
    else:
        raise ValueError(
            f"expected the nuclear, Frobenius or spectral norm, got p = {p}; the reference has no other"
        )
    rows = []
    for row in range(constraints.num_rows):
        query = constraints.queries[constraints.row_query[row]]
        favoured = constraints.keys[constraints.favoured[row]]
        differences = favoured - constraints.keys[constraints.competitors[row]]
        margins = differences @ (w.T @ query)
        if constraints.margin is not None:
            rows.append(margins >= constraints.margin[row])
        else:
            rows.append(cp.log_sum_exp(-margins) <= -constraints.log_odds[row])
    problem = cp.Problem(cp.Minimize(objective), rows)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "solution may be inaccurate" is in the status
            problem.solve(solver=solver, **options)
    except cp.SolverError:
        return ReferenceSolution("solver_error", math.nan, None, None)
    value = math.nan if problem.value is None else float(problem.value)
    if w.value is None:
        return ReferenceSolution(problem.status, value, None, None)
    found = np.asarray(w.value)
    return ReferenceSolution(problem.status, value, found, _multipliers(constraints, found, rows))


def _multipliers(
    constraints: Constraints, w_qk: Float[np.ndarray, "dim dim"], rows: list[cp.Constraint]
) -> Float[np.ndarray, "row key"]:
    dual = np.zeros(constraints.competitors.shape)
    margins = constraints.margins(constraints.queries[constraints.row_query] @ w_qk @ constraints.keys.T)
    for row, asked in enumerate(rows):
        chosen = constraints.competitors[row]
        multiplier = np.maximum(np.atleast_1d(asked.dual_value), 0.0)
        if constraints.mass is not None:
            weights = np.exp(margins[row, chosen].min() - margins[row, chosen])
            multiplier = multiplier[0] * weights / weights.sum()
        dual[row, chosen] = multiplier
    return dual
