import math

import numpy as np
import pytest

from numerics.schatten import (
    dual_exponent,
    exponent,
    project_lp_ball,
    project_schatten_ball,
    prox_by_gram,
    prox_schatten,
    schatten_norm,
)

EXPONENTS = [1.0, 1.2, 1.5, 2.0, 3.0, 20.0, math.inf]


def matrix(seed=0, shape=(5, 3)):
    return np.random.default_rng(seed).standard_normal(shape)


def test_named_norms_are_the_exponents_one_two_and_infinity():
    assert [exponent(n) for n in ("nuclear", "frobenius", "spectral", 1.5, "3")] == [
        1.0,
        2.0,
        math.inf,
        1.5,
        3.0,
    ]


@pytest.mark.parametrize("bad", [0.99, 0, -1, math.nan, "euclid", None])
def test_an_exponent_below_one_or_an_unknown_name_is_refused(bad):
    with pytest.raises(ValueError, match="expected a Schatten norm"):
        exponent(bad)


@pytest.mark.parametrize("p", EXPONENTS)
def test_dual_exponents_are_conjugate(p):
    q = dual_exponent(p)
    assert 1 / p + 1 / q == pytest.approx(1.0)
    assert dual_exponent(q) == pytest.approx(p)


def test_schatten_norms_of_a_diagonal_matrix_are_vector_norms():
    values = np.array([3.0, -4.0, 1.0])
    for p in EXPONENTS:
        assert schatten_norm(np.diag(values), p) == pytest.approx(np.linalg.norm(values, p))
    assert schatten_norm(np.zeros((3, 0)), 1.0) == 0.0


@pytest.mark.parametrize("p", EXPONENTS)
def test_dual_norm_bounds_the_inner_product_and_prox_attains_it(p):
    m = matrix()
    shrunk = prox_schatten(m, p, 0.3)
    subgradient = (m - shrunk) / 0.3
    assert schatten_norm(subgradient, dual_exponent(p)) <= 1.0 + 1e-9
    assert float((subgradient * shrunk).sum()) == pytest.approx(schatten_norm(shrunk, p), rel=1e-8)


@pytest.mark.parametrize("p", EXPONENTS)
def test_prox_of_a_large_step_is_zero(p):
    m = matrix(1)
    assert np.abs(prox_schatten(m, p, 1.01 * schatten_norm(m, dual_exponent(p)))).max() <= 1e-12


@pytest.mark.parametrize("p", EXPONENTS)
def test_projection_is_on_the_ball_and_satisfies_the_variational_inequality(p):
    m = matrix(2)
    projected = project_schatten_ball(m, p, 1.0)
    assert schatten_norm(projected, p) == pytest.approx(1.0, rel=1e-9)
    rng = np.random.default_rng(3)
    for _ in range(50):
        other = rng.standard_normal(m.shape)
        other /= schatten_norm(other, p)
        assert float(((m - projected) * (other - projected)).sum()) <= 1e-8


def test_a_point_inside_the_ball_is_its_own_projection():
    v = np.array([0.1, 0.0, 0.2])
    for p in EXPONENTS:
        assert (project_lp_ball(v, p, 1.0) == v).all()


def test_a_ball_of_radius_zero_is_refused():
    with pytest.raises(ValueError, match="positive radius"):
        project_lp_ball(np.ones(2), 2.0, 0.0)


def test_projection_on_the_one_ball_survives_a_radius_below_rounding():
    assert project_lp_ball(np.array([1e30, 1.0]), 1.0, 1e-3).min() >= 0.0


@pytest.mark.parametrize("norm", [1.0, 2.0, math.inf])
@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
@pytest.mark.parametrize("step", [1e-9, 0.2, 1.0, 50.0])
def test_the_gram_route_to_the_prox_agrees_with_the_svd(shape, step, norm):
    m = matrix(4, shape)
    assert np.abs(prox_by_gram(m, norm, step) - prox_schatten(m, norm, step)).max() <= 1e-9


def test_the_gram_route_takes_zero_to_zero():
    for norm in (1.0, math.inf):
        assert (prox_by_gram(np.zeros((3, 2)), norm, 0.5) == 0.0).all()


def test_norms_are_invariant_under_rotation():
    m = matrix(5, (4, 4))
    q = np.linalg.qr(matrix(6, (4, 4)))[0]
    for p in EXPONENTS:
        assert schatten_norm(q @ m @ q.T, p) == pytest.approx(schatten_norm(m, p))
