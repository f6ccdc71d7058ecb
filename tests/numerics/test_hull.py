"""Minimum-norm points against exact enumeration, a convex solver, planted answers, and symmetries."""

import itertools
import tracemalloc
from fractions import Fraction

import cvxpy
import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from numerics.embeddings import load_pool
from numerics.hull import distance_to_hull, min_norm_point


def exact_squared_distance(points):
    """Oracle: the least squared norm over all faces, each face's optimality system solved in rationals."""
    rows = [[Fraction(int(value)) for value in row] for row in points]
    best = None
    for size in range(1, len(rows[0]) + 2):
        for face in itertools.combinations(range(len(rows)), size):
            # Stationarity on the affine hull: sum_j <x_i, x_j> w_j = mu for i in the face, sum w = 1.
            gram = [
                [sum(a * b for a, b in zip(rows[i], rows[j], strict=True)) for j in face] + [-1] for i in face
            ]
            system = flint.fmpq_mat([[_q(v) for v in row] for row in [*gram, [1] * size + [0]]])
            if system.rank() < size + 1:
                continue
            solved = system.solve(flint.fmpq_mat([[_q(v)] for v in [0] * size + [1]]))
            if all(solved[k, 0] >= 0 for k in range(size)):
                value = Fraction(int(solved[size, 0].p), int(solved[size, 0].q))
                best = value if best is None else min(best, value)
    return best


def _q(value):
    fraction = Fraction(value)
    return flint.fmpq(fraction.numerator, fraction.denominator)


def check_record(points, found):
    """What every answer owes, recomputed from scratch: a primal point of the hull and bounds that hold."""
    wide = np.asarray(points, dtype=np.float64)
    scale = np.linalg.norm(wide, axis=1).max()
    assert (found.weights > 0).all() and found.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert (np.diff(found.support) > 0).all() and len(found.support) <= wide.shape[1] + 1
    lifted = np.column_stack([np.ones(len(found.support)), wide[found.support]])
    assert np.linalg.matrix_rank(lifted) == len(found.support)  # affinely independent
    np.testing.assert_allclose(found.weights @ wide[found.support], found.point, atol=1e-13 * scale)
    assert 0.0 <= found.distance_lower <= found.distance_upper
    assert np.linalg.norm(found.point) <= found.distance_upper
    if found.status == "separated":
        assert found.stable and (wide @ found.normal > 0).all()
        assert (wide @ found.normal).min() >= found.margin > 0
        assert found.distance_upper - found.distance_lower <= 1e-9 * found.distance_upper + 1e-12 * scale
    if found.status == "contains_zero":
        assert np.linalg.norm(found.point) <= 1e-12 * scale and found.distance_lower == 0.0


def planted_half_space(num_points, dim, margin, rng):
    """Points at distance exactly ``margin`` from 0: pairs margin u +- z, the rest further along u."""
    axis = rng.normal(size=dim)
    axis /= np.linalg.norm(axis)
    noise = rng.normal(size=(num_points, dim))
    noise -= np.outer(noise @ axis, axis)
    half = num_points // 4
    noise[half : 2 * half] = -noise[:half]
    level = margin * np.ones(num_points)
    level[2 * half :] += rng.exponential(size=num_points - 2 * half)
    return noise + np.outer(level, axis), axis


def planted_zero(num_points, dim, rng):
    """A half-space cloud, and one further point that puts 0 into the hull."""
    points, _ = planted_half_space(num_points - 1, dim, 0.5, rng)
    weights = rng.exponential(size=num_points - 1)
    return np.vstack([points, -(weights / weights.sum()) @ points])


def all_weights_verified_positive(points, found):
    """Whether ball arithmetic encloses the solution of [1; X^T] w = e_1 on the support by positive balls."""
    lifted = np.column_stack([np.ones(len(found.support)), points[found.support]]).T
    with flint.ctx.workprec(128):
        right = flint.arb_mat([[1]] + [[0]] * (lifted.shape[0] - 1))
        solved = flint.arb_mat(lifted.tolist()).solve(right)
        return all(solved[i, 0] > 0 for i in range(lifted.shape[1]))


@pytest.mark.parametrize(
    "points, status, distance, support",
    [
        ([[2.0]], "separated", 2.0, [0]),
        ([[3.0, 4.0]], "separated", 5.0, [0]),
        ([[0.0, 0.0]], "contains_zero", 0.0, [0]),
        ([[1.0], [-3.0]], "contains_zero", 0.0, [0, 1]),
        ([[1.0, 0.0], [0.0, 1.0]], "separated", 0.5**0.5, [0, 1]),
        ([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], "separated", 2**0.5, [0]),
        ([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], "contains_zero", 0.0, [0, 1]),
        ([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]], "contains_zero", 0.0, [0, 1, 2]),
        ([[5.0, 5.0], [0.0, 0.0], [1.0, 0.0]], "contains_zero", 0.0, [1]),
        ([[1.0, 2.0, 2.0, 0.0, 0.0], [1.0, -2.0, -2.0, 0.0, 0.0]], "separated", 1.0, [0, 1]),
        ([[1.0, 1e-9], [-2.0, 1e-9]], "separated", 1e-9, [0, 1]),
        ([[1.0, 1e-17], [-1.0, 1e-17]], "separated", 1e-17, [0, 1]),
    ],
)
def test_small_clouds_have_their_known_answers(points, status, distance, support):
    found = min_norm_point(np.array(points))
    check_record(points, found)
    assert found.status == status and found.support.tolist() == support
    assert found.distance_lower <= distance <= found.distance_upper


def test_zero_on_a_lower_face_is_not_called_stable_and_zero_inside_is():
    face = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    assert not min_norm_point(face).stable
    assert min_norm_point(face - np.array([0.0, 0.25])).stable


def test_what_rounding_hides_is_never_called_separated_or_stable():
    # The vertices of a regular polygon moved until one rounds onto the origin: exactly, it stays 2e-19 away.
    angle = np.linspace(0.0, 2.0 * np.pi, 2001)[:-1]
    found = min_norm_point(np.column_stack([np.cos(angle) + 1.0, np.sin(angle)]))
    assert found.status == "undecided" and not found.stable
    assert found.distance_lower == 0.0 < found.distance_upper < 1e-15


@settings(deadline=None, derandomize=True, max_examples=200)
@given(
    st.tuples(st.integers(1, 6), st.integers(1, 3)).flatmap(
        lambda shape: arrays(np.int64, shape, elements=st.integers(-2, 2))
    )
)
def test_small_integer_clouds_agree_with_exact_enumeration(points):
    found = min_norm_point(points)
    check_record(points, found)
    squared = exact_squared_distance(points)
    assert found.status == ("separated" if squared > 0 else "contains_zero")
    assert found.distance_lower**2 * (1 - 1e-12) <= squared <= found.distance_upper**2 * (1 + 1e-12) + 1e-28


def test_the_enumeration_oracle_knows_two_answers():
    assert exact_squared_distance([[1, 0], [0, 1]]) == Fraction(1, 2)
    assert exact_squared_distance([[1, 1], [-2, -2], [3, 0]]) == 0


@pytest.mark.parametrize("num_points, dim", [(5, 12), (40, 7), (12, 12), (60, 25)])
@pytest.mark.parametrize("offset", [0.0, 0.7, 3.0])
def test_random_clouds_agree_with_a_convex_solver(num_points, dim, offset):
    rng = np.random.default_rng([num_points, dim, int(10 * offset)])
    points = rng.normal(size=(num_points, dim))
    points[:, 0] += offset
    found = min_norm_point(points)
    check_record(points, found)
    weights = cvxpy.Variable(num_points, nonneg=True)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.norm(points.T @ weights)), [cvxpy.sum(weights) == 1])
    assert problem.solve(solver=cvxpy.CLARABEL) == pytest.approx(found.distance_upper, abs=1e-6)


@pytest.mark.parametrize("margin", [1.0, 1e-3, 1e-6, 1e-9, 1e-12])
def test_a_planted_margin_is_found_and_its_normal_separates(margin):
    points, axis = planted_half_space(400, 30, margin, np.random.default_rng(3))
    found = min_norm_point(points)
    check_record(points, found)
    assert found.status == "separated"
    assert found.distance_lower <= margin + 1e-14 and found.distance_upper >= margin - 1e-14
    assert found.normal @ axis > 0.9


def test_a_planted_zero_is_found_inside_a_full_simplex_and_verified_in_balls():
    points = planted_zero(200, 30, np.random.default_rng(4))
    found = min_norm_point(points)
    check_record(points, found)
    assert found.status == "contains_zero" and found.stable and len(found.support) == 31
    assert all_weights_verified_positive(points, found)


def test_the_ball_check_rejects_a_support_whose_simplex_misses_the_origin():
    points = planted_zero(200, 30, np.random.default_rng(4))
    found = min_norm_point(points)
    assert not all_weights_verified_positive(points + 50.0, found)


def test_a_planted_lower_face_is_returned_without_spurious_points():
    rng = np.random.default_rng(5)
    points, _ = planted_half_space(150, 20, 0.5, rng)
    face = rng.normal(size=(5, 20))
    weights = np.array([0.1, 0.2, 0.3, 0.3, 0.1])
    face[4] = -(weights[:4] @ face[:4]) / weights[4]
    normal = np.linalg.svd(face)[2][-1]  # keep the others strictly on one side of a plane through the face
    points += np.outer(1.0 - points @ normal, normal)
    found = min_norm_point(np.vstack([points, face]))
    assert found.status == "contains_zero" and not found.stable
    assert found.support.tolist() == [150, 151, 152, 153, 154]
    np.testing.assert_allclose(found.weights, weights, atol=1e-12)


def symmetries(points, rng):
    num_points, dim = points.shape
    rotation = np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    inside = rng.dirichlet(np.ones(num_points), size=3) @ points
    return {
        "permuted": (points[rng.permutation(num_points)], 1.0, np.eye(dim)),
        "rotated": (points @ rotation.T, 1.0, rotation),
        "rescaled": (1e6 * points, 1e6, np.eye(dim)),
        "shrunk": (2.0**-40 * points, 2.0**-40, np.eye(dim)),
        "repeated": (np.repeat(points, 3, axis=0), 1.0, np.eye(dim)),
        "with redundant points": (np.vstack([inside, points]), 1.0, np.eye(dim)),
    }


@pytest.mark.parametrize("name", symmetries(np.ones((2, 2)), np.random.default_rng(0)))
@pytest.mark.parametrize("num_points, dim", [(3, 9), (50, 9)])
def test_min_norm_point_moves_with_the_cloud(name, num_points, dim):
    rng = np.random.default_rng(6)
    points = rng.normal(size=(num_points, dim)) + 1.5 * np.eye(dim)[0]
    base = min_norm_point(points)
    assert base.status == "separated"
    moved, factor, rotation = symmetries(points, rng)[name]
    found = min_norm_point(moved)
    check_record(moved, found)
    np.testing.assert_allclose(found.point, factor * rotation @ base.point, atol=1e-9 * factor)


@pytest.mark.parametrize("name", symmetries(np.ones((2, 2)), np.random.default_rng(0)))
def test_zero_stays_in_the_hull_under_the_same_moves(name):
    rng = np.random.default_rng(7)
    moved, _, _ = symmetries(planted_zero(40, 6, rng), rng)[name]
    found = min_norm_point(moved)
    check_record(moved, found)
    assert found.status == "contains_zero"


@pytest.mark.parametrize("factor", [1e4, 1e8, 1e12])
def test_one_huge_point_costs_the_others_no_digits(factor):
    points = np.random.default_rng(17).normal(size=(100, 12)) + 3.0 * np.eye(12)[0]
    base = min_norm_point(points)
    assert base.status == "separated"
    found = min_norm_point(np.vstack([points, factor * base.normal]))
    np.testing.assert_allclose(found.point, base.point, atol=1e-13)


@pytest.mark.parametrize("pool_size", [1, 3, 50])
def test_the_pool_changes_the_path_and_not_the_answer(pool_size):
    points, _ = planted_half_space(300, 15, 0.4, np.random.default_rng(8))
    np.testing.assert_allclose(
        min_norm_point(points, pool_size=pool_size).point, min_norm_point(points).point, atol=1e-9
    )


def test_an_exhausted_budget_is_undecided_with_both_bounds_or_still_certified():
    points, _ = planted_half_space(300, 40, 0.01, np.random.default_rng(9))
    stopped = min_norm_point(points, max_iterations=5)
    assert stopped.status == "undecided" and not stopped.stable and stopped.iterations == 5
    assert stopped.distance_lower == 0.0 and stopped.margin < 0.0
    assert stopped.distance_upper > 0.01
    assert min_norm_point(points).status == "separated"


def test_points_on_a_subspace_are_handled():
    rng = np.random.default_rng(10)
    flat = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 15))
    found = min_norm_point(flat)
    check_record(flat, found)
    assert found.status == "contains_zero" and not found.stable and len(found.support) == 5
    lifted = flat + 0.5 * np.linalg.svd(flat)[2][-1]
    assert min_norm_point(lifted).distance_upper == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_floats_give_the_answer_of_their_float64_values(dtype):
    points = (np.random.default_rng(11).normal(size=(80, 10)) + 0.6).astype(dtype)
    narrow, wide = min_norm_point(points), min_norm_point(points.astype(np.float64))
    np.testing.assert_array_equal(narrow.point, wide.point)
    np.testing.assert_array_equal(narrow.support, wide.support)


def test_the_distance_to_a_hull_is_that_of_the_shifted_cloud():
    rng = np.random.default_rng(12)
    points, outside = rng.normal(size=(30, 5)), 4.0 * np.ones(5)
    found = distance_to_hull(outside, points)
    assert found.status == "separated"
    np.testing.assert_allclose(found.point, min_norm_point(points - outside).point, atol=1e-12)
    assert ((points - outside) @ found.normal >= found.margin).all()
    assert distance_to_hull(points.mean(axis=0), points).status == "contains_zero"
    assert distance_to_hull(points[3], points).support.tolist() == [3]


@pytest.mark.parametrize(
    "point", [np.ones(2), np.array([np.nan, 0.0, 0.0]), np.array([1j, 0, 0]), np.ones((1, 3))]
)
def test_a_point_that_does_not_fit_the_cloud_is_refused(point):
    with pytest.raises(ValueError, match="^expected .*; .*[^.]$"):
        distance_to_hull(point, np.ones((4, 3)))


@pytest.mark.parametrize("tolerance", [0.0, 1.0, float("nan")])
def test_a_meaningless_tolerance_is_refused(tolerance):
    with pytest.raises(ValueError, match="^expected .*; .*[^.]$"):
        min_norm_point(np.ones((2, 2)), tolerance=tolerance)


def test_real_attention_inputs_lie_in_an_open_half_space_that_chance_does_not_give():
    pool = load_pool()
    found = min_norm_point(pool.tokens)
    check_record(pool.tokens, found)
    assert found.status == "separated" and found.margin > 1.0
    sink = distance_to_hull(pool.sink, pool.tokens)
    assert sink.status == "separated" and sink.margin > 1.0


def test_real_attention_inputs_with_a_planted_counterweight_do_not():
    points = load_pool().tokens.astype(np.float64)
    weights = np.random.default_rng(13).dirichlet(np.ones(10))
    found = min_norm_point(np.vstack([points, -weights @ points[:10]]))
    assert found.status == "contains_zero"
    assert found.support.tolist() == [*range(10), 1500]
    np.testing.assert_allclose(found.weights[:10] / found.weights[10], weights, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("num_points", [1_500, 20_000])
def test_large_clouds_with_a_planted_zero_have_supports_that_balls_confirm(num_points):
    points = planted_zero(num_points, 576, np.random.default_rng(14))
    found = min_norm_point(points)
    assert found.status == "contains_zero" and found.stable and len(found.support) == 577
    assert all_weights_verified_positive(points, found)


@pytest.mark.slow
@pytest.mark.parametrize("num_points", [1_500, 20_000])
def test_large_clouds_with_a_planted_margin_are_separated_by_it(num_points):
    points, axis = planted_half_space(num_points, 576, 0.05, np.random.default_rng(15))
    found = min_norm_point(points)
    check_record(points, found)
    assert found.status == "separated"
    assert found.distance_lower <= 0.05 + 1e-12 and found.distance_upper >= 0.05 - 1e-12


@pytest.mark.slow
def test_a_large_narrow_cloud_is_never_copied_whole():
    points = (np.random.default_rng(16).normal(size=(20_000, 576)) + 0.3).astype(np.float16)
    tracemalloc.start()
    try:
        found = min_norm_point(points)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.status == "separated"
    assert peak < points.size * 8
