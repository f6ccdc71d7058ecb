"""Point clouds read in blocks: float64 arithmetic on float16/32/64 rows without a second copy of the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

__all__ = ["UNIT_ROUNDOFF", "PointCloud", "dot_error"]

UNIT_ROUNDOFF = 2.0**-53
_BLOCK_ROWS = 2048
# Outside this range squares and products of entries could leave the float64 range unnoticed.
_LEAST_SIZE, _LARGEST_SIZE = 1e-120, 1e120


def dot_error(length: int) -> float:
    """gamma_n = n u / (1 - n u): |fl(<a,b>) - <a,b>| <= gamma_n <|a|,|b|> in any order of summation."""
    return length * UNIT_ROUNDOFF / (1.0 - length * UNIT_ROUNDOFF)


@dataclass(frozen=True, eq=False)
class PointCloud:
    """The points x_i - shift: rows of a real array of any float or integer type, converted block by block.

    Raises ValueError unless ``points`` is a non-empty (points, dim) array of finite real numbers of at most
    64 bits whose largest entry in size is 0 or between 1e-120 and 1e120, and ``shift`` (if any) a vector of that
    dimension.
    """

    points: np.ndarray
    shift: Float[np.ndarray, " dim"] | None = None

    def __post_init__(self) -> None:
        try:
            points, shift = np.asarray(self.points), self.shift
        except ValueError:  # numpy's own sentence speaks of inhomogeneous shapes
            raise ValueError(
                "expected an array (points, dim), got rows of unequal length; give each point the same dimension"
            ) from None
        object.__setattr__(self, "points", points)
        if points.ndim != 2 or 0 in points.shape:
            raise ValueError(
                f"expected a non-empty array (points, dim), got shape {points.shape}; pass one row per point"
            )
        if points.dtype.kind not in "fiu" or points.dtype.itemsize > 8:
            raise ValueError(
                f"expected real numbers of at most 64 bits, got dtype {points.dtype};"
                " convert the points to float64"
            )
        if shift is not None and shift.shape != points.shape[1:]:
            raise ValueError(
                f"expected a point of shape {points.shape[1:]} like those of the cloud, got {shift.shape};"
                " pass a vector of the same space"
            )
        largest = 0.0
        for where, block in self.blocks():
            finite = np.isfinite(block).all(axis=1)
            if not finite.all():
                raise ValueError(
                    "expected finite points, got NaN or infinity in row"
                    f" {where.start + int(finite.argmin())}; remove or repair it"
                )
            largest = max(largest, float(np.abs(block).max()))
        if not (largest == 0.0 or _LEAST_SIZE <= largest <= _LARGEST_SIZE):
            raise ValueError(
                f"expected entries of size {_LEAST_SIZE:g} to {_LARGEST_SIZE:g}, got a largest one of"
                f" {largest:g}; rescale the cloud (hull membership does not depend on the scale)"
            )

    @property
    def num_points(self) -> int:
        return self.points.shape[0]

    @property
    def dim(self) -> int:
        return self.points.shape[1]

    def rows(self, index: Int[np.ndarray, " chosen"]) -> Float[np.ndarray, "chosen dim"]:
        """The chosen points in float64."""
        return self._float64(self.points[index])

    def blocks(self) -> Iterator[tuple[slice, Float[np.ndarray, "block dim"]]]:
        """All points in float64, a few thousand rows at a time, each block with the slice it comes from."""
        for start in range(0, self.num_points, _BLOCK_ROWS):
            where = slice(start, min(start + _BLOCK_ROWS, self.num_points))
            yield where, self._float64(self.points[where])

    def norms(self) -> Float[np.ndarray, " point"]:
        """Euclidean norms of all points."""
        return np.concatenate([np.linalg.norm(block, axis=1) for _, block in self.blocks()])

    def products(self, direction: Float[np.ndarray, " dim"]) -> Float[np.ndarray, " point"]:
        """Inner products <direction, x_i> of all points."""
        return np.concatenate([block @ direction for _, block in self.blocks()])

    def least_product(self, direction: Float[np.ndarray, " dim"]) -> float:
        """A lower bound on min_i <direction, x_i> that the rounding of its own evaluation cannot break.

        Each computed product is lowered by its a-priori error gamma_{d+4} <|direction|, |x_i|> (two units
        of it for the rounding of x_i - shift and of the correction itself) and by d * 2^-1022 for
        underflow.
        """
        slack = dot_error(self.dim + 4)
        absolute = np.abs(direction)
        least = min(
            float((block @ direction - slack * (np.abs(block) @ absolute)).min())
            for _, block in self.blocks()
        )
        return least - self.dim * 2.0**-1022

    def _float64(self, rows: np.ndarray) -> Float[np.ndarray, "chosen dim"]:
        wide = rows.astype(np.float64, copy=False)
        return wide if self.shift is None else wide - self.shift
