"""Block reading of clouds: exact conversion, safe bounds, one-sentence refusals."""

from fractions import Fraction

import numpy as np
import pytest

from numerics.cloud import PointCloud


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint16])
def test_every_real_type_is_read_exactly(dtype):
    points = np.random.default_rng(0).integers(0, 100, size=(5000, 3)).astype(dtype)
    cloud = PointCloud(points)
    direction = np.array([1.0, -2.0, 0.5])
    np.testing.assert_array_equal(cloud.products(direction), points.astype(np.float64) @ direction)
    np.testing.assert_allclose(cloud.norms(), np.linalg.norm(points.astype(np.float64), axis=1), rtol=1e-14)
    np.testing.assert_array_equal(cloud.rows(np.array([4999, 0])), points[[4999, 0]].astype(np.float64))


def test_blocks_of_a_float64_cloud_are_views():
    points = np.ones((3, 2))
    assert all(np.shares_memory(block, points) for _, block in PointCloud(points).blocks())


def test_the_shift_is_subtracted():
    cloud = PointCloud(np.array([[3.0, 1.0]]), shift=np.array([1.0, 1.0]))
    np.testing.assert_array_equal(cloud.rows(np.array([0])), [[2.0, 0.0]])


@pytest.mark.parametrize("shifted", [False, True])
def test_the_least_product_is_a_true_lower_bound_and_a_close_one(shifted):
    rng = np.random.default_rng(1)
    for _ in range(50):
        points = rng.normal(size=(6, 9)) * 10.0 ** rng.integers(-6, 7, size=(6, 9))
        direction, shift = rng.normal(size=9), rng.normal(size=9) if shifted else None
        bound = PointCloud(points, shift).least_product(direction)
        origin = np.zeros(9) if shift is None else shift
        exact = [
            sum(
                (Fraction(p) - Fraction(o)) * Fraction(u)
                for p, o, u in zip(row, origin, direction, strict=True)
            )
            for row in points
        ]
        assert Fraction(bound) <= min(exact)
        assert (
            float(min(exact) - Fraction(bound)) <= 1e-14 * np.abs(points).max() * np.abs(direction).max() * 9
        )


@pytest.mark.parametrize(
    "points",
    [
        np.ones(3),
        np.ones((2, 2, 2)),
        np.ones((0, 3)),
        np.ones((3, 0)),
        np.array([[1.0, np.nan]]),
        np.array([[1.0, np.inf]]),
        np.array([[1.0 + 1j, 2.0]]),
        np.array([[True, False]]),
        np.array([["a", "b"]]),
        np.array([[None, 1]], dtype=object),
        np.array([[1e-200, 0.0]]),
        np.array([[1e200, 0.0]]),
    ],
)
def test_what_is_not_a_cloud_is_refused_in_one_sentence(points):
    with pytest.raises(ValueError, match="^expected .*; .*[^.]$"):
        PointCloud(points)


def test_the_offending_row_is_named():
    points = np.ones((5000, 2))
    points[4321, 1] = np.nan
    with pytest.raises(ValueError, match="row 4321"):
        PointCloud(points)


def test_a_shift_of_another_dimension_is_refused():
    with pytest.raises(ValueError, match="^expected .*; .*[^.]$"):
        PointCloud(np.ones((2, 3)), shift=np.ones(2))
