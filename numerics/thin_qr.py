"""A thin QR factorisation that grows and shrinks by single columns (the linear algebra under ``hull``)."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.linalg import qr_delete, qr_insert, solve_triangular

from numerics.cloud import UNIT_ROUNDOFF

__all__ = ["ThinQR"]

# Updating loses a little orthogonality each time; a fresh factorisation costs about thirty updates.
_UPDATES_BEFORE_REFRESH = 200


class ThinQR:
    """M = Q R for a tall matrix M (rows, k) of full column rank, k <= rows, updated column by column.

    Appending and deleting cost O(rows * k). ``refresh`` factorises the stored columns anew, and so do every
    200th update: the error then stays at the level of one Householder factorisation.
    """

    def __init__(self, column: Float[np.ndarray, " row"]) -> None:
        self.num_rows = column.shape[0]
        self._columns = np.empty((self.num_rows, self.num_rows), order="F")
        self._columns[:, 0] = column
        self.num_columns = 1
        self.refresh()

    @property
    def columns(self) -> Float[np.ndarray, "row col"]:
        """The matrix M itself."""
        return self._columns[:, : self.num_columns]

    def refresh(self) -> None:
        """Factorise M from scratch."""
        q, r = np.linalg.qr(self.columns)
        self._q, self._r = np.asfortranarray(q), np.asfortranarray(r)
        self._updates = 0

    def append(self, column: Float[np.ndarray, " row"], least_distance: float) -> bool:
        """Append a column if it is at least ``least_distance`` from the span of M; say whether it is."""
        if self.num_columns == self.num_rows:
            return False
        try:
            q, r = qr_insert(self._q, self._r, column, self.num_columns, which="col")
        except np.linalg.LinAlgError:  # in the span so exactly that there is no direction left to normalise
            return False
        if not (abs(r[self.num_columns, self.num_columns]) >= least_distance):
            return False
        self._q, self._r = q, r
        self._columns[:, self.num_columns] = column
        self.num_columns += 1
        self._count_update()
        return True

    def delete(self, index: int) -> None:
        """Delete the column at ``index``; the later ones move up."""
        q, r = qr_delete(self._q, self._r, index, which="col", overwrite_qr=True)
        self._columns[:, index : self.num_columns - 1] = self._columns[:, index + 1 : self.num_columns].copy()
        self.num_columns -= 1
        # From a square factorisation qr_delete answers with the full one: keep its thin part.
        self._q, self._r = q[:, : self.num_columns], r[: self.num_columns]
        self._count_update()

    def least_squares(self, target: Float[np.ndarray, " row"]) -> Float[np.ndarray, " col"]:
        """The u that minimises ||M u - target||, with one step of refinement."""
        solution = solve_triangular(self._r, self._q.T @ target, check_finite=False)
        remainder = target - self.columns @ solution
        return solution + solve_triangular(self._r, self._q.T @ remainder, check_finite=False)

    def coefficient_errors(self, coefficients: Float[np.ndarray, " col"]) -> Float[np.ndarray, " col"]:
        """How far rounding can have moved each least-squares coefficient u_i: an estimate with room to spare.

        |du_i| <= ||row i of M^+|| * (backward error), the latter taken as 32 units of rounding of || |M|
        |u| ||.
        """
        inverse = solve_triangular(self._r, self._q.T, check_finite=False)
        backward = 32.0 * UNIT_ROUNDOFF * np.linalg.norm(np.abs(self.columns) @ np.abs(coefficients))
        return np.linalg.norm(inverse, axis=1) * backward

    def residual(self, target: Float[np.ndarray, " row"]) -> Float[np.ndarray, " row"]:
        """The part of ``target`` orthogonal to the columns of M, projected twice to be so up to rounding.

        Orthogonality is relative to the residual's own size, however small against ``target``: this is what
        makes a normal read off it separate with a visible margin. Zero when M is square.
        """
        if self.num_columns == self.num_rows:
            return np.zeros(self.num_rows)
        once = target - self._q @ (self._q.T @ target)
        return once - self._q @ (self._q.T @ once)

    def _count_update(self) -> None:
        self._updates += 1
        if self._updates >= _UPDATES_BEFORE_REFRESH:
            self.refresh()
