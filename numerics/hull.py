"""The point of a convex hull nearest to the origin, with the separating normal or the weights of zero.

Primal and dual of the hull hypotheses (claims G1, C1, E2):

    dist(0, conv{x_i}) = min { ||sum_i w_i x_i|| : w >= 0, sum w = 1 } = max { min_i <u, x_i> : ||u|| <= 1 } .

The minimum is found as a non-negative least-squares problem in one more dimension. With M the matrix whose
columns are (s, x_i), s > 0 a length scale, and e the first unit vector,

    min { ||M v - e|| : v >= 0 }        has residual r = e - M v with M^T r <= 0 and <r, M v> = 0,

so that v / sum(v) are the weights of the nearest point, -r_x (the residual without its first entry) is the
separating normal, all of whose products are at least s r_0 = s ||r||^2, and r = 0 iff 0 lies in the hull. The
solver is Lawson and Hanson's active set with an updated QR factorisation; candidates are priced on a pool of
the worst points, the whole cloud only when the pool is settled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int, Real

from numerics.arguments import real_array, whole_number
from numerics.cloud import UNIT_ROUNDOFF, PointCloud, dot_error
from numerics.thin_qr import ThinQR

__all__ = ["MinNormPoint", "distance_to_hull", "min_norm_point"]

# A residual this small is rounding: whether zero is in the hull is then decided by the checks at the end.
_RESIDUAL_FLOOR = 32 * UNIT_ROUNDOFF
# Columns closer than this, relative to their length, to the span of the active ones are taken as dependent.
_LEAST_DISTANCE = 1e-12


@dataclass(frozen=True, eq=False)
class MinNormPoint:
    """The answer to ``min_norm_point``: primal, dual, and what the float64 checks allow to be said.

    ``status``: "separated" says that min_i <normal, x_i> >= ``margin`` > 0, the rounding of that check
    accounted for, so that the hull misses the origin; "contains_zero" that no separation was found and
    sum_i w_i x_i is zero to the rounding of its own evaluation; "undecided" neither: ``distance_lower`` and
    ``distance_upper`` say how much is open.

    ``stable`` tells a finding from a coincidence. A separation is stable. Zero in the hull is when it lies
    inside a simplex of dim+1 points whose weights exceed their own rounding: then a small change of the
    input cannot move it out. A smaller support (zero on a lower face, or a cloud that does not span the
    space) is returned all the same, but a hull at distance 1e-17 looks exactly like it: only exact
    arithmetic on that support, all of whose weights are well above rounding, can confirm it.
    """

    point: Float[np.ndarray, " dim"]  # sum_i w_i x_i, the nearest point as evaluated
    weights: Float[np.ndarray, " support"]  # w > 0, sum 1 up to rounding, aligned with support
    support: Int[np.ndarray, " support"]  # ascending rows of affinely independent points, at most dim+1
    normal: Float[np.ndarray, " dim"]  # unit vector maximising min_i <u, x_i>; zeros when nothing separates
    margin: float  # lower bound on min_i <normal, x_i>, rounding included (negative: not separating)
    distance_lower: float  # bounds on dist(0, conv), rounding included
    distance_upper: float
    iterations: int  # points that entered the support
    status: Literal["separated", "contains_zero", "undecided"]
    stable: bool


def min_norm_point(
    points: Real[np.ndarray, "point dim"],
    *,
    tolerance: float = 1e-10,
    max_iterations: int | None = None,
    pool_size: int = 2048,
) -> MinNormPoint:
    """The point of conv{x_i} nearest to the origin, with weights, support and separating normal.

    Solves min ||sum_i w_i x_i|| over the simplex and stops when min_i <p, x_i> >= ||p||^2 (1 - tolerance),
    or at rounding. ``points`` (points, dim) holds one point per row in any real dtype up to 64 bits;
    float16 and float32 are read block by block, never copied whole. ``max_iterations`` counts points
    entering the support (default 50 (dim + 10) + points). The answer is deterministic.

    Returns a ``MinNormPoint``; read its ``status``: it is a float64 finding, not a proof. Raises ValueError
    for an empty cloud, a wrong rank, a dtype that is not real, NaN or infinity, or entries whose squares leave
    the float64 range (sizes beyond 1e-120..1e120). Claims G1, C1, E2.

    Example:

    >>> nearest = min_norm_point(np.array([[1.0, 1.0], [1.0, -1.0], [3.0, 0.0]]))
    >>> nearest.status, abs(nearest.point).round(9).tolist(), nearest.support.tolist()
    ('separated', [1.0, 0.0], [0, 1])
    """
    return _solve(PointCloud(points), tolerance, max_iterations, pool_size)


def distance_to_hull(
    point: Real[np.ndarray, " dim"],
    points: Real[np.ndarray, "point dim"],
    *,
    tolerance: float = 1e-10,
    max_iterations: int | None = None,
    pool_size: int = 2048,
) -> MinNormPoint:
    """The distance from ``point`` (dim,) to the hull of ``points``: ``min_norm_point`` of x_i - point.

    ``status`` "separated" means that ``point`` is outside: <normal, x_i - point> >= margin > 0 for all i. The
    differences are formed block by block and their rounding is inside the bounds. Options and errors as in
    ``min_norm_point``, and ValueError for a ``point`` of another dimension. Claims G1, C1.

    Example:

    >>> found = distance_to_hull(np.array([0.0, 2.0]), np.array([[1.0, 0.0], [-1.0, 0.0]]))
    >>> round(found.distance_lower, 9), round(found.distance_upper, 9)
    (2.0, 2.0)
    """
    shift = real_array("point", point, "dim")
    return _solve(PointCloud(points, shift), tolerance, max_iterations, pool_size)


def _solve(cloud: PointCloud, tolerance: float, max_iterations: int | None, pool_size: int) -> MinNormPoint:
    if not (0.0 < tolerance < 1.0):
        raise ValueError(
            f"expected a relative tolerance between 0 and 1, got {tolerance}; 1e-10 is the default"
        )
    pool_size = whole_number("pool_size", pool_size, 1, "2048 is the default")
    budget = 50 * (cloud.dim + 10) + cloud.num_points
    if max_iterations is not None:
        budget = whole_number("max_iterations", max_iterations, 0, "leave it out for the default")
    norms = cloud.norms()
    nearest = int(norms.argmin())
    if norms[nearest] == 0.0:
        return _finish(cloud, np.array([nearest]), np.ones(1), np.zeros(cloud.dim), 0, stable=False)
    # The median keeps one huge row (a raw sink embedding, say) from costing the others their digits.
    active = _ActiveSet(float(np.median(norms)), nearest, cloud.rows(np.array([nearest]))[0])

    while True:
        gains = active.gains(cloud.products(active.residual[1:]), norms, tolerance)
        violating = int((gains > 0.0).sum())
        if active.at_zero or violating == 0:
            if active.fresh:
                break
            active.refresh()  # optimal for an updated factorisation: confirm on a new one
            continue
        size = min(pool_size, violating)
        pool = np.sort(np.argpartition(-gains, size - 1)[:size])
        entered = active.settle(pool, cloud.rows(pool), norms[pool], tolerance, budget)
        # Nothing entered although some points violate: they depend on the active ones to rounding.
        if entered == 0 or active.iterations >= budget:
            break
    stable = active.at_zero and active.prune()
    return _finish(
        cloud,
        np.array(active.support),
        active.weights,
        -active.residual[1:],
        active.iterations,
        stable=stable,
    )


class _ActiveSet:
    """Lawson-Hanson state: support, coefficients v > 0, factorised columns (s, x_i), residual e - M v."""

    def __init__(self, scale: float, index: int, point: Float[np.ndarray, " dim"]) -> None:
        self.scale = scale
        self._target = np.zeros(len(point) + 1)
        self._target[0] = 1.0
        self._qr = ThinQR(np.concatenate([[scale], point]))
        self.support = [index]
        self._coefficients = self._qr.least_squares(self._target)
        self.residual = self._qr.residual(self._target)
        self.iterations = 0
        self.fresh = True

    @property
    def weights(self) -> Float[np.ndarray, " support"]:
        return self._coefficients / self._coefficients.sum()

    @property
    def at_zero(self) -> bool:
        return bool(np.linalg.norm(self.residual) <= _RESIDUAL_FLOOR)

    def gains(
        self,
        products: Float[np.ndarray, " point"],
        norms: Float[np.ndarray, " point"],
        tolerance: float,
    ) -> Float[np.ndarray, " point"]:
        """<r, (s, x_j)> less what does not count: a relative gap of ``tolerance``, or rounding if larger."""
        size = float(np.linalg.norm(self.residual))
        rounding = 16 * UNIT_ROUNDOFF * size * (self.scale + norms)
        return (
            self.scale * self.residual[0] + products - np.maximum(self.scale * tolerance * size**2, rounding)
        )

    def refresh(self) -> None:
        """Factorise anew and re-solve, in case updating has left an error."""
        self._qr.refresh()
        self._descend()
        self.fresh = True

    def prune(self) -> bool:
        """At zero: drop points whose weight is rounding, so that exact arithmetic finds all weights positive.

        Returns whether zero is inside a full-dimensional simplex, all weights above their own rounding.
        """
        while True:
            ratios = self._coefficients / self._qr.coefficient_errors(self._coefficients)
            least = int(ratios.argmin())
            if ratios[least] > 1.0 or len(self.support) == 1:
                return len(self.support) == len(self._target) and bool(ratios[least] > 1.0)
            index, column = self.support[least], self._qr.columns[:, least].copy()
            self._drop(least)
            self._descend()
            if not self.at_zero:  # small, but needed
                self._enter(index, column[1:])
                return False

    def settle(
        self,
        pool: Int[np.ndarray, " pool"],
        points: Float[np.ndarray, "pool dim"],
        norms: Float[np.ndarray, " pool"],
        tolerance: float,
        budget: int,
    ) -> int:
        """Let points of the pool enter until none violates optimality; return how many entered."""
        entered = 0
        barred = np.isin(pool, self.support, kind="table")
        while not self.at_zero and self.iterations < budget:
            gains = self.gains(points @ self.residual[1:], norms, tolerance)
            gains[barred] = -np.inf
            best = int(gains.argmax())
            if not (gains[best] > 0.0):
                break
            before = float(np.linalg.norm(self.residual))
            if self._enter(int(pool[best]), points[best]) and np.linalg.norm(self.residual) < before:
                entered += 1
                barred = np.isin(pool, self.support, kind="table")
            else:
                barred[best] = True  # depends on the support to rounding, or made no progress
        return entered

    def _enter(self, index: int, point: Float[np.ndarray, " dim"]) -> bool:
        column = np.concatenate([[self.scale], point])
        if not self._qr.append(column, _LEAST_DISTANCE * float(np.linalg.norm(column))):
            return False
        self.support.append(index)
        self._coefficients = np.append(self._coefficients, 0.0)
        self.iterations += 1
        self.fresh = False
        self._descend()
        return True

    def _descend(self) -> None:
        """Move to the least-squares solution; drop each point whose coefficient reaches zero on the way."""
        while True:
            goal = self._qr.least_squares(self._target)
            falling = goal <= 0.0
            if not falling.any() or len(goal) == 1:
                self._coefficients = goal
                self.residual = self._qr.residual(self._target)
                return
            current = self._coefficients
            ratios = np.full(len(goal), np.inf)
            # The fall is zero only for a point that has just entered and gains nothing.
            fall = current[falling] - goal[falling]
            ratios[falling] = np.divide(current[falling], fall, out=np.zeros_like(fall), where=fall > 0.0)
            step = float(ratios.min())
            self._coefficients = np.maximum(current + step * (goal - current), 0.0)
            self._drop(int(ratios.argmin()))

    def _drop(self, position: int) -> None:
        self._coefficients = np.delete(self._coefficients, position)
        del self.support[position]
        self._qr.delete(position)
        self.fresh = False


def _finish(
    cloud: PointCloud,
    support: Int[np.ndarray, " support"],
    weights: Float[np.ndarray, " support"],
    direction: Float[np.ndarray, " dim"],
    iterations: int,
    *,
    stable: bool,
) -> MinNormPoint:
    """Evaluate primal and dual afresh, bound the rounding of both, and say what follows."""
    order = np.argsort(support)
    support, weights = support[order], weights[order]
    rows = cloud.rows(support)
    point = weights @ rows
    # |fl(sum w x) - sum w x| and the rounding in x_i - shift, componentwise, then as a norm.
    point_error = dot_error(len(support) + 4) * float(np.linalg.norm(weights @ np.abs(rows)))
    # The residual is the more accurate normal as a rule; the point is when its coordinates differ wildly.
    margin, normal = max(
        ((cloud.least_product(unit), unit) for unit in (_unit(direction), _unit(point))),
        key=lambda pair: pair[0],
    )
    relative = 1.0 + dot_error(cloud.dim + len(support) + 8)  # ||normal|| and sum(w) are 1 up to this
    length = float(np.linalg.norm(point))
    status: Literal["separated", "contains_zero", "undecided"] = "undecided"
    if margin > 0.0:
        status = "separated"
    elif length <= 4.0 * point_error and bool((weights > 0.0).all()):
        status = "contains_zero"
    return MinNormPoint(
        point=point,
        weights=weights,
        support=support,
        normal=normal,
        margin=margin,
        distance_lower=max(margin, 0.0) / relative,
        distance_upper=(length + point_error) * relative,
        iterations=iterations,
        status=status,
        stable=status == "separated" or (status == "contains_zero" and stable),
    )


def _unit(vector: Float[np.ndarray, " dim"]) -> Float[np.ndarray, " dim"]:
    size = float(np.linalg.norm(vector))
    return vector / size if size > 0.0 else np.zeros_like(vector)
