"""Douglas-Rachford splitting on the graph of the logit map: the first-order method behind ``minimum_norm``.

    minimise ||M||_p + indicator(rows of S satisfy their constraints)
    subject to S = alpha * diag(w) * logits(M).

Each half of the objective has a cheap proximal map (singular values; one Newton iteration per row), and the
projection on that graph is exact and costs four products, because between the frames of
``Span`` the map is a diagonal K: minimise ||M - C||^2 + ||K M - E||^2 entry by entry. Primal-dual steps
(PDHG) work with K and its transpose alone and pay for the tokens' condition number; this does not: on T = d
independent unit tokens it needs about a hundred iterations at T = 32 and at T = 256. No dim^2 x constraints
array is ever formed: the constraint rows act on (rows, keys) logits, their duals are Laplacians there.

Anderson extrapolation, safeguarded, cures the slow tail on clouds with many tokens in few dimensions.

At p = 2 the objective is ½||M||_F^2 instead, which the projection absorbs: no singular values at all.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.anderson import Anderson
from numerics.constraints import Constraints
from numerics.row_projections import project_margin_rows, project_mass_rows
from numerics.schatten import dual_exponent, prox_by_gram, prox_schatten, schatten_norm
from numerics.span import Span
from numerics.two_sided import dual_objective, feasible_scale

__all__ = ["SplittingRun", "split"]

_RELAXATION = 1.7
_FIRST_CHECK, _CHECK_GROWTH = 20, 8


@dataclass(frozen=True, eq=False)
class SplittingRun:
    """Best primal and dual met, in span coordinates, with the float bounds that chose them."""

    core: Float[np.ndarray, "rq rk"] | None  # the best feasible M; None if none was met
    dual: Float[np.ndarray, "row key"] | None  # the lambda of the best lower bound
    lower: float
    upper: float
    iterations: int
    seconds: float


def split(
    constraints: Constraints,
    span: Span,
    p: float,
    *,
    tolerance: float,
    max_iterations: int,
    time_limit: float,
    patience: int,
) -> SplittingRun:
    """Iterate until (upper - lower) <= tolerance * upper, a limit, or ``patience`` iterations without a
    feasible W.
    """
    return _Splitting(constraints, span, p).run(tolerance, max_iterations, time_limit, patience)


@dataclass(frozen=True, eq=False)
class _Step:
    """One evaluation of the iteration: the point on the graph, its two proximal points, and their
    distance.
    """

    core: Float[np.ndarray, "rq rk"]
    logits: Float[np.ndarray, "row key"]
    shrunk: Float[np.ndarray, "rq rk"]
    wanted: Float[np.ndarray, "row key"]
    rows: Float[np.ndarray, "row key"]
    residual: Float[np.ndarray, " state"]


class _Splitting:
    def __init__(self, constraints: Constraints, span: Span, p: float) -> None:
        self.constraints, self.span, self.p = constraints, span, p
        gains = np.outer(span.query_scale, span.key_scale)
        self.alpha = 1.0 / float(np.sqrt((gains**2).mean()))
        self.gains = self.alpha * gains
        self.row_scale = self.alpha * span.row_weight  # what multiplies each row's logits in the iteration
        self.level = 1.0 if constraints.margin is None else float(constraints.margin.max())
        self.best_core: np.ndarray | None = None
        self.best_dual: np.ndarray | None = None
        self.lower, self.upper = 0.0, math.inf
        self._try_dual(constraints.competitors.astype(np.float64))
        size = self.lower if self.lower > 0.0 else self.level
        rank = min(self.gains.shape)
        # Typical sizes of a subgradient's and of the minimiser's singular values, were they all equal.
        self.penalty = 1.0 if p == 2.0 else 0.15 * rank ** (2.0 / p - 1.0) / size

    def run(self, tolerance: float, max_iterations: int, time_limit: float, patience: int) -> SplittingRun:
        start = time.monotonic()
        memory = Anderson()
        state = np.zeros(self.gains.size + self.constraints.competitors.size)
        step = self._evaluate(state)
        check, iteration = _FIRST_CHECK, 0
        while iteration < max_iterations:
            iteration += 1
            if iteration >= check:
                check = iteration + max(_FIRST_CHECK, iteration // _CHECK_GROWTH)
                pushed = self.row_scale[:, None] * np.maximum(step.wanted - step.rows, 0.0)
                self._try_dual(np.where(self.constraints.competitors, pushed, 0.0))
                self._try_core(step.shrunk)
                if self.upper - self.lower <= tolerance * self.upper < math.inf:
                    break
                if time.monotonic() - start > time_limit or (
                    iteration >= patience and self.best_core is None
                ):
                    break
                # Checks grow rarer geometrically: the penalty settles between them, convergence is kept.
                factor = self._balance(step, state)
                if factor != 1.0:  # the distance to the graph is a dual scaled by the penalty: keep the dual
                    on_graph = np.concatenate([step.core.ravel(), step.logits.ravel()])
                    state = on_graph + (state - on_graph) / factor
                    self.penalty *= factor
                    memory.reset()
                    step = self._evaluate(state)
            image = state + _RELAXATION * step.residual
            proposal = memory.propose(step.residual, image)
            if proposal is not None:
                iteration += 1
                trial = self._evaluate(proposal)
                if np.linalg.norm(trial.residual) <= np.linalg.norm(step.residual):
                    state, step = proposal, trial
                    continue
                memory.reset()
            state = image
            step = self._evaluate(state)
        return SplittingRun(
            self.best_core, self.best_dual, self.lower, self.upper, iteration, time.monotonic() - start
        )

    def _evaluate(self, state: Float[np.ndarray, " state"]) -> _Step:
        """Project on the graph, reflect, apply both proximal maps: residual zero at a solution."""
        size = self.gains.size
        given_core = state[:size].reshape(self.gains.shape)
        given_logits = state[size:].reshape(self.constraints.competitors.shape)
        core, logits = self._graph_projection(given_core, given_logits)
        shrunk = core if self.p == 2.0 else self._prox(2.0 * core - given_core)
        wanted = 2.0 * logits - given_logits
        rows = self._project(wanted)
        residual = np.concatenate([(shrunk - core).ravel(), (rows - logits).ravel()])
        return _Step(core, logits, shrunk, wanted, rows, residual)

    def _prox(self, core: Float[np.ndarray, "rq rk"]) -> Float[np.ndarray, "rq rk"]:
        step = 1.0 / self.penalty
        return (
            prox_by_gram(core, self.p, step)
            if self.p in (1.0, math.inf)
            else prox_schatten(core, self.p, step)
        )

    def _project(self, scaled: Float[np.ndarray, "row key"]) -> Float[np.ndarray, "row key"]:
        c = self.constraints
        if c.margin is not None:
            return project_margin_rows(scaled, c.favoured, c.competitors, self.row_scale * c.margin)
        return project_mass_rows(scaled, c.favoured, c.competitors, c.log_odds, self.row_scale)

    def _graph_projection(
        self, core: Float[np.ndarray, "rq rk"], logits: Float[np.ndarray, "row key"]
    ) -> tuple[Float[np.ndarray, "rq rk"], Float[np.ndarray, "row key"]]:
        gains, span = self.gains, self.span
        inner = span.query_rows.T @ logits @ span.key_rows
        if self.p == 2.0:  # minimise ½||M||^2 + penalty/2 ||K M - E||^2
            new = self.penalty * gains * inner / (1.0 + self.penalty * gains**2)
        else:
            new = (core + gains * inner) / (1.0 + gains**2)
        return new, (span.query_rows @ (gains * new)) @ span.key_rows.T

    def _balance(self, step: _Step, state: Float[np.ndarray, " state"]) -> float:
        """Factor on the penalty that brings relative primal and dual residuals together, at most 2 either
        way.

        Primal: how far the two proximal points are from the graph. Dual: how far the graph point moves.
        """
        size = self.gains.size
        image = state + _RELAXATION * step.residual
        new_core, new_logits = self._graph_projection(
            image[:size].reshape(self.gains.shape), image[size:].reshape(step.logits.shape)
        )
        on_graph = np.concatenate([step.core.ravel(), step.logits.ravel()])
        moved = np.concatenate([new_core.ravel(), new_logits.ravel()]) - on_graph
        primal, primal_size = np.linalg.norm(step.residual), np.linalg.norm(on_graph)
        dual, dual_size = np.linalg.norm(moved), np.linalg.norm(state - on_graph)
        if not min(primal, dual, primal_size, dual_size) > 0.0:
            return 1.0
        ratio = math.sqrt((primal / primal_size) / (dual / dual_size))
        if 0.7 < ratio < 1.4 or not 1e-60 < self.penalty < 1e60:
            return 1.0
        return float(np.clip(ratio, 0.5, 2.0))

    def _try_dual(self, dual: Float[np.ndarray, "row key"]) -> None:
        value = dual_objective(self.constraints, dual)
        if value > 0.0:
            size = schatten_norm(self.span.pull_back(self.constraints.signed(dual)), dual_exponent(self.p))
            if size > 0.0 and value / size > self.lower:
                self.lower, self.best_dual = value / size, dual

    def _try_core(self, core: Float[np.ndarray, "rq rk"]) -> None:
        self._offer(core)
        if (
            self.constraints.mass is None
            or (self.constraints.log_odds >= 0.0).all()
            or self.best_core is None
        ):
            return
        # Below half the mass scaling up need not help; the feasible set is convex: move toward a feasible W.
        anchor = self.best_core
        for share in 4.0 ** -np.arange(1.0, 16.0):
            self._offer((1.0 - share) * core + share * anchor)

    def _offer(self, core: Float[np.ndarray, "rq rk"]) -> None:
        logits = self.span.logits(core)
        # A margin that is rounding of larger logits is no margin: coinciding keys must not look separated.
        noise = 1e-13 * np.abs(logits).max(axis=1, keepdims=True)
        scale = feasible_scale(self.constraints, self.constraints.margins(logits) - noise)
        if scale < math.inf:
            value = scale * schatten_norm(core, self.p)
            if value < self.upper:
                self.upper, self.best_core = value, scale * core
