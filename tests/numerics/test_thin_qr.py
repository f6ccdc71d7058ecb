"""The updated factorisation stays one of the matrix it claims to factorise."""

import numpy as np
import pytest

from numerics.thin_qr import ThinQR


def matrix_of(qr):
    return qr._q @ qr._r


def test_a_long_random_run_of_updates_keeps_the_factorisation():
    rng = np.random.default_rng(0)
    qr = ThinQR(rng.normal(size=12))
    mirror = [qr.columns[:, 0].copy()]
    for _ in range(600):
        if qr.num_columns > 1 and (rng.random() < 0.5 or qr.num_columns == 12):
            index = int(rng.integers(qr.num_columns))
            qr.delete(index)
            del mirror[index]
        else:
            column = rng.normal(size=12)
            assert qr.append(column, 1e-12)
            mirror.append(column)
        np.testing.assert_array_equal(qr.columns, np.array(mirror).T)
        np.testing.assert_allclose(matrix_of(qr), qr.columns, atol=1e-12)
        np.testing.assert_allclose(qr._q.T @ qr._q, np.eye(qr.num_columns), atol=1e-12)


@pytest.mark.parametrize("num_columns", [1, 3, 5])
def test_least_squares_and_residual_agree_with_numpy(num_columns):
    rng = np.random.default_rng(1)
    columns, target = rng.normal(size=(5, num_columns)), rng.normal(size=5)
    qr = ThinQR(columns[:, 0])
    for k in range(1, num_columns):
        assert qr.append(columns[:, k], 1e-12)
    expected = np.linalg.lstsq(columns, target)[0]
    np.testing.assert_allclose(qr.least_squares(target), expected, rtol=1e-11)
    np.testing.assert_allclose(qr.residual(target), target - columns @ expected, atol=1e-13)


def test_a_tiny_residual_is_still_orthogonal_relative_to_its_own_size():
    columns = np.random.default_rng(2).normal(size=(6, 3))
    normal = np.linalg.svd(columns.T)[2][-1]
    qr = ThinQR(columns[:, 0])
    qr.append(columns[:, 1], 1e-12)
    qr.append(columns[:, 2], 1e-12)
    residual = qr.residual(columns @ np.array([1.0, 2.0, 3.0]) + 1e-9 * normal)
    assert np.abs(columns.T @ residual).max() <= 1e-14 * np.linalg.norm(residual)


def test_a_column_in_the_span_is_refused_and_leaves_the_factorisation_alone():
    columns = np.random.default_rng(3).normal(size=(4, 2))
    qr = ThinQR(columns[:, 0])
    assert qr.append(columns[:, 1], 1e-12)
    assert not qr.append(columns @ np.array([2.0, -1.0]), 1e-12)
    np.testing.assert_array_equal(qr.columns, columns)
    np.testing.assert_allclose(matrix_of(qr), columns, atol=1e-14)


def test_a_square_factorisation_takes_no_more_columns_and_has_no_residual():
    qr = ThinQR(np.array([1.0, 2.0]))
    assert qr.append(np.array([1.0, 0.0]), 1e-12)
    assert not qr.append(np.array([0.0, 5.0]), 0.0)
    np.testing.assert_array_equal(qr.residual(np.array([3.0, 4.0])), np.zeros(2))
    qr.delete(0)
    np.testing.assert_array_equal(qr.columns, [[1.0], [0.0]])
    np.testing.assert_allclose(qr.residual(np.array([3.0, 4.0])), [0.0, 4.0], atol=1e-15)


def test_coefficient_errors_cover_the_error_of_an_ill_conditioned_solve():
    columns = np.vander(np.linspace(0.0, 1.0, 9), 9, increasing=True)
    truth = np.arange(1.0, 10.0)
    qr = ThinQR(columns[:, 0])
    for k in range(1, 9):
        assert qr.append(columns[:, k], 1e-12)
    got = qr.least_squares(columns @ truth)
    errors = qr.coefficient_errors(got)
    assert (np.abs(got - truth) <= errors).all()
    assert errors.max() < 1e-6
