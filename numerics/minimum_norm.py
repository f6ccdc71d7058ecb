"""The cheapest W that satisfies a set of pattern constraints, with a bound on each side.

    min ||W||_p  subject to the rows of a ``Constraints`` set (margins or softmax masses), any p in [1, inf].

Order of work: rows that all ask the same of every query are a product, solved in closed form (C1, C2); else
the problem is reduced to the tokens' span (``span``: nothing is lost) and split on the graph of the logit map
(``splitting``). Every answer is re-evaluated on the tokens themselves (``two_sided``): W is scaled until it
is feasible in exact arithmetic, and the dual bounds the cost from below whatever the solver did. If no
feasible W turns up, the nearest point of conv{x_i (x_a - x_b)^T} to zero decides (Gordan): zero itself means
that no W exists.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from numerics.arguments import whole_number
from numerics.constraints import Constraints
from numerics.gordan import UNCONFIRMED, Alternative, gordan, outer_rows
from numerics.schatten import exponent
from numerics.sink_cost import sink_cost
from numerics.span import token_span
from numerics.splitting import split
from numerics.two_sided import (
    dual_matrix_norm,
    dual_objective,
    feasible_scale,
    margin_floor,
    norm_upper_bound,
    relative_gap,
)

__all__ = ["MinimumNorm", "certified", "contradiction", "minimum_norm"]

# Above this many entries the constraint matrices x_i (x_a - x_b)^T are not listed one by one.
_LARGEST_GORDAN = 40_000_000
# Iterations without a feasible W after which feasibility itself is examined.
_PATIENCE = 150


@dataclass(frozen=True, eq=False)
class MinimumNorm:
    """Two-sided bounds on min ||W||_p, with the W and the dual that prove them.

    ``status`` "bounded": lower <= min <= upper. "infeasible": ``dual_weight`` are convex (Gordan) weights
    with ||sum lambda x_i (x_a - x_b)^T||_F <= ``residual``, zero to rounding; no W exists, upper is inf.
    "undecided": no feasible W and no Gordan weights were found; ``lower`` still holds. W = left right^T
    satisfies every constraint in exact arithmetic at the float64 tokens. The dual is sparse: entry k says
    lambda = dual_weight[k] >= 0 at constraint row dual_row[k] against competitor dual_key[k], scaled so that
    ||G||_{p*} <= 1; ``lower`` is its objective (C3). ``reason`` says in words why there is no W, or none was
    found; it is empty when the cost is bounded, and says so where "infeasible" is a float64 finding that only
    exact arithmetic can confirm.
    """

    exponent: float
    status: Literal["bounded", "infeasible", "undecided"]
    lower: float
    upper: float
    left: Float[np.ndarray, "dim rank"]
    right: Float[np.ndarray, "dim rank"]
    dual_row: Int[np.ndarray, " entry"]
    dual_key: Int[np.ndarray, " entry"]
    dual_weight: Float[np.ndarray, " entry"]
    residual: float
    method: Literal["trivial", "product", "splitting", "gordan", "given"]
    iterations: int
    reason: str = ""

    @property
    def gap(self) -> float:
        """As in ``relative_gap``."""
        return relative_gap(self.lower, self.upper)

    @property
    def rank(self) -> int:
        """Number of columns of the factors, at least rank W."""
        return self.left.shape[1]

    @property
    def w_qk(self) -> Float[np.ndarray, "dim dim"]:
        """W itself."""
        return self.left @ self.right.T


def minimum_norm(
    constraints: Constraints,
    norm: str | float,
    *,
    tolerance: float = 1e-4,
    max_iterations: int = 50_000,
    time_limit: float = math.inf,
    use_product: bool = True,
) -> MinimumNorm:
    """Bound min ||W||_p from both sides, to a relative gap ``tolerance`` where the limits allow.

    ``norm``: "nuclear", "frobenius", "spectral" or p >= 1. ``time_limit`` in seconds stops the iteration, not
    the answer: what was reached is returned with valid bounds, so look at ``gap``. ``use_product`` False
    forces the general method (for tests). Feasibility is decided for margins and for masses >= 1/2, where
    both forms are feasible together; below 1/2 an infeasible set may end "undecided". Returns a ``MinimumNorm``:
    read ``status``, and ``reason`` where no W exists. Raises ValueError for p < 1, a tolerance outside (0, 1), or
    limits that are none. Claims C1-C3, C9-C12, G2.

    Example:

    >>> from numerics import sink_constraints
    >>> cost = minimum_norm(sink_constraints(np.eye(4)[:3], np.eye(4)[3], margin=1.0), "frobenius")
    >>> cost.status, cost.rank, f"{cost.upper:.6f}"
    ('bounded', 1, '1.500000')
    """
    p = exponent(norm)
    if not isinstance(constraints, Constraints):
        raise ValueError(
            f"expected a set of Constraints, got {type(constraints).__name__}; build it with sink_constraints or"
            " diagonal_constraints"
        )
    if not 0.0 < tolerance < 1.0:
        raise ValueError(
            f"expected a relative tolerance between 0 and 1, got {tolerance}; 1e-4 is the default"
        )
    max_iterations = whole_number("max_iterations", max_iterations, 1, "50,000 is the default")
    if not time_limit >= 0.0:
        raise ValueError(f"expected a time limit of at least 0 seconds, got {time_limit}; leave it out for none")
    dim = constraints.queries.shape[1]
    if _zero_suffices(constraints):
        return _answer(constraints, p, np.zeros((dim, 0)), np.zeros((dim, 0)), None, "trivial", 0)
    if use_product:
        product = _product(constraints, p)
        if product is not None:
            return product
    span = token_span(constraints)
    if 0 in (len(span.query_scale), len(span.key_scale)):
        return _gordan(constraints, p) or _undecided(constraints, p, None, 0)
    limits = {"tolerance": tolerance, "max_iterations": max_iterations, "time_limit": time_limit}
    run = split(constraints, span, p, patience=_PATIENCE, **limits)
    if run.core is None:
        decided = _gordan(constraints, p, run.dual)
        if decided is not None and decided.status == "infeasible":
            return decided
        run = split(constraints, span, p, patience=max_iterations, **limits)
        if run.core is None:
            return decided or _undecided(constraints, p, run.dual, run.iterations)
    u, s, vt = np.linalg.svd(run.core, full_matrices=False)
    keep = s > 0.0
    root = np.sqrt(s[keep])
    left, right = span.query_basis @ (u[:, keep] * root), span.key_basis @ (vt[keep].T * root)
    answer = _answer(constraints, p, left, right, run.dual, "splitting", run.iterations)
    return answer if answer.status == "bounded" else _gordan(constraints, p, run.dual) or answer


def certified(
    constraints: Constraints,
    norm: str | float,
    w_qk: Float[np.ndarray, "dim dim"],
    dual: Float[np.ndarray, "row key"] | None,
) -> MinimumNorm:
    """The bounds that any solver's W and dual prove, by the same scaling and the same rounding as our own."""
    u, s, vt = np.linalg.svd(w_qk)
    root = np.sqrt(s[s > 0.0])
    count = len(root)
    return _answer(constraints, exponent(norm), u[:, :count] * root, vt[:count].T * root, dual, "given", 0)


def _zero_suffices(constraints: Constraints) -> bool:
    """Whether W = 0 satisfies every row: none is left, or each mass is at most that of uniform attention."""
    if constraints.num_rows == 0:
        return True
    if constraints.margin is not None:
        return False
    # Decided exactly: a mass one rounding above 1/(n+1) already needs W != 0.
    asked = set(zip(constraints.mass.tolist(), constraints.competitors.sum(axis=1).tolist(), strict=True))
    return all(Fraction(mass) * (count + 1) <= 1 for mass, count in asked)


def _product(constraints: Constraints, p: float) -> MinimumNorm | None:
    """The closed form when all rows share favoured key, competitors and level (mass: at least 1/2)."""
    levels = constraints.margin if constraints.margin is not None else constraints.mass
    favoured, competitors = constraints.favoured, constraints.competitors
    alike = (
        (favoured == favoured[0]).all()
        and (levels == levels[0]).all()
        and (competitors == competitors[0]).all()
    )
    if not alike or (constraints.mass is not None and levels[0] < 0.5):
        return None
    form = "margin" if constraints.margin is not None else "mass"
    chosen = np.flatnonzero(competitors[0])
    queries = constraints.queries[constraints.row_query]
    cost = sink_cost(
        queries, constraints.keys[favoured[0]], constraints.keys[chosen], **{form: float(levels[0])}
    )
    if cost.status == "undecided":
        return None
    dual = np.zeros(competitors.shape)
    dual[:, chosen] = np.outer(cost.query_weights, cost.key_weights)
    if cost.status == "infeasible":
        return _infeasible(constraints, p, dual, "product", cost.reason)
    return _answer(constraints, p, cost.left[:, None], cost.right[:, None], dual, "product", 0)


def _answer(constraints, p, left, right, dual, method, iterations) -> MinimumNorm:
    """Scale W to exact feasibility and the dual to norm 1, and evaluate both bounds on the tokens."""
    rows, keys, weights, lower = _scaled_dual(constraints, dual, p)
    upper = 0.0
    if left.shape[1]:
        scale = feasible_scale(constraints, margin_floor(constraints, left, right))
        for _ in range(40):  # rounding in the scaling itself: step over it until the scaled W is feasible
            if not scale < math.inf:
                return _undecided(constraints, p, dual, iterations)
            scaled = left * scale
            if feasible_scale(constraints, margin_floor(constraints, scaled, right)) <= 1.0 + 2e-14:
                scaled = scaled * (1.0 + 4e-14)
                break
            scale *= 1.0 + 1e-13
        else:
            return _undecided(constraints, p, dual, iterations)
        left = scaled
        upper = norm_upper_bound(left, right, p)
    assert lower <= upper, f"weak duality is violated: {lower} > {upper}"
    return MinimumNorm(p, "bounded", lower, upper, left, right, rows, keys, weights, 0.0, method, iterations)


def _gordan(
    constraints: Constraints, p: float, split_dual: Float[np.ndarray, "row key"] | None = None
) -> MinimumNorm | None:
    """Decide feasibility by the point of conv{x_i (x_a - x_b)^T} nearest zero; None if it is too large or open.

    A separating normal is a feasible direction W and gives an upper bound; ``split_dual`` keeps the lower one.
    """
    query, favoured, competitor = constraints.triples()
    dim = constraints.queries.shape[1]
    if len(query) * dim * dim > _LARGEST_GORDAN:
        return None
    differences = constraints.keys[favoured] - constraints.keys[competitor]
    alternative = gordan(outer_rows(constraints.queries[query], differences))
    dual = np.zeros(constraints.competitors.shape)
    if alternative.weights is not None:
        entries = np.zeros(len(query))
        entries[alternative.support] = alternative.weights
        dual[constraints.competitors] = entries
    if alternative.kind == "weights":
        if constraints.mass is not None and not (constraints.log_odds >= 0.0).all():
            return None  # margins cannot all be positive, but a mass below 1/2 does not need them to be
        return _infeasible(constraints, p, dual, "gordan", _contradiction(constraints, alternative))
    if alternative.kind == "normal":
        u, s, vt = np.linalg.svd(alternative.normal.reshape(dim, dim))
        keep = s > 1e-15 * s[0]
        root = np.sqrt(s[keep])
        return _answer(constraints, p, u[:, keep] * root, vt[keep].T * root, split_dual, "gordan", 0)
    return None


def _contradiction(constraints: Constraints, alternative: Alternative) -> str:
    row, key = np.nonzero(constraints.competitors)
    chosen = alternative.support[0]
    said = contradiction(constraints, int(row[chosen]), int(key[chosen]), len(alternative.support))
    return said if alternative.stable or _plain(constraints, int(row[chosen]), int(key[chosen])) else said + UNCONFIRMED


def _plain(constraints: Constraints, row: int, key: int) -> str:
    """Why one constraint alone is impossible, or nothing."""
    if (constraints.keys[constraints.favoured[row]] == constraints.keys[key]).all():
        return "those keys coincide"
    return "" if constraints.queries[constraints.row_query[row]].any() else "that query is zero"


def contradiction(
    constraints: Constraints, row: int, key: int, count: int,
    query_name: Callable[[int], str] = "query {}".format, key_name: Callable[[int], str] = "key {}".format,
) -> str:
    """In words, why no W exists: ``count`` constraints have convex weights by which their matrices are zero (G2).

    The constraint named is ``row`` against its competitor ``key``; it has one of the weights.
    """
    first = (f"{query_name(int(constraints.row_query[row]))} must prefer {key_name(int(constraints.favoured[row]))} to"
             f" {key_name(key)}")
    plain = _plain(constraints, row, key)
    if plain:
        return f"no W exists: {first}, but {plain} (G2)"
    return (f"no W exists: {count} constraints contradict one another, a convex combination of them being zero; one is"
            f" that {first} (G2)")


def _infeasible(constraints: Constraints, p: float, dual, method, reason: str) -> MinimumNorm:
    dim = constraints.queries.shape[1]
    matrix = constraints.queries[constraints.row_query].T @ constraints.signed(dual) @ constraints.keys
    rows, keys = np.nonzero(dual > 0.0)
    none = np.zeros((dim, 0))
    residual = float(np.linalg.norm(matrix))
    return MinimumNorm(
        p, "infeasible", math.inf, math.inf, none, none, rows, keys, dual[rows, keys], residual, method, 0, reason
    )


def _undecided(constraints: Constraints, p: float, dual, iterations: int) -> MinimumNorm:
    rows, keys, weights, lower = _scaled_dual(constraints, dual, p)
    none = np.zeros((constraints.queries.shape[1], 0))
    return MinimumNorm(
        p, "undecided", lower, math.inf, none, none, rows, keys, weights, 0.0, "splitting", iterations,
        "neither a W nor convex weights against every W were found; raise the limits or give fewer constraints",
    )  # fmt: skip


def _scaled_dual(constraints: Constraints, dual, p: float):
    """The dual's non-zero entries, scaled to a ||G||_{p*} that rounding cannot lift over 1, and its bound."""
    empty = np.zeros(0, dtype=np.int64)
    if dual is None or not (dual > 0.0).any():
        return empty, empty, np.zeros(0), 0.0
    size = dual_matrix_norm(constraints, dual, p)
    if not size > 0.0:
        return empty, empty, np.zeros(0), 0.0
    scaled = dual / (size * (1.0 + 1e-14))
    rows, keys = np.nonzero(scaled > 0.0)
    return rows, keys, scaled[rows, keys], max(dual_objective(constraints, scaled), 0.0)
