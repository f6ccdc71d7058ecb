"""Rational points on spheres, gains and biases: tokens as they leave a normalisation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from proofs_check.claims.exact import Number, Vector, dot, identity
from proofs_check.claims.geometry.building import sphere_point


def affine(n: Sequence[Vector], gain: Sequence[Vector], bias: Vector) -> list[list[Fraction]]:
    """x_j = G n_j + b."""
    return [[dot(row, token) + Fraction(shift) for row, shift in zip(gain, bias)] for token in n]


def unit_triangular(rng: np.random.Generator, dim: int, floats: bool) -> list[list[Number]]:
    """An invertible gain: non-zero diagonal, anything below it."""
    lower = np.tril(rng.integers(-1, 2, size=(dim, dim)), -1)
    if floats:
        return (lower + np.diag(rng.uniform(0.25, 2.0, size=dim))).tolist()
    return (lower + np.diag(rng.choice([-2, -1, 1, 3], size=dim))).tolist()


def sphere_tables(seed: int, floats: bool = True) -> Iterator[tuple[list, list, list]]:
    """(n, G, b), sink first, no other token equal to it; zero biases half of the time, d = 1 included.

    Coordinates are exact rationals, as points on a sphere must be; gain and bias may be float64 entries.
    """
    yield [[1], [-1]], [[1]], [0]
    yield [[-1], [1]], [[2]], [1]
    yield [[1], [-1], [-1]], [[-1]], [1]
    yield [[1, 0], [0, 1], [0, -1]], identity(2), [0, 0]
    yield [[0, 1], [1, 0], [-1, 0]], identity(2), [0, 1]
    yield [[1, 0], [0, 1], [0, 1], [-1, 0]], identity(2), [1, 0]
    rng = np.random.default_rng(seed + 1)
    for case in range(54):
        dim, size = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        sink = sphere_point([Fraction(int(t), 2) for t in rng.integers(-4, 5, size=dim - 1)])
        tokens = []
        while len(tokens) < size:
            tops, bottom = rng.integers(-4, 5, size=dim - 1), int(rng.integers(1, 4))
            token = sphere_point([Fraction(int(top), bottom) for top in tops])
            token = token if rng.random() < 0.5 else [-entry for entry in token]
            if tokens and rng.random() < 0.2:
                token = tokens[-1] if rng.random() < 0.5 else [-entry for entry in tokens[-1]]
            if token != sink:
                tokens.append(token)
        use_floats = floats and case % 3 == 2
        gain = identity(dim) if case % 4 == 0 else unit_triangular(rng, dim, use_floats)
        bias = [0] * dim if case % 2 else rng.integers(-2, 3, size=dim).tolist()
        if use_floats and case % 2 == 0:
            bias = rng.normal(size=dim).tolist()
        yield [sink, *tokens], gain, bias


@st.composite
def drawn_sphere(draw: st.DrawFn) -> tuple[list, list, list]:
    """(n, G, b) as above: stereographic coordinates, a triangular gain, a small bias.

    A token that happens to equal the sink is replaced by its antipode.
    """
    dim, size = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    slopes = st.lists(st.integers(-6, 6).map(lambda t: Fraction(t, 2)), min_size=dim - 1, max_size=dim - 1)
    points = [sphere_point(draw(slopes)) for _ in range(size + 1)]
    flips = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    sink = points[0]
    tokens = [[-entry for entry in point] if flip or point == sink else point
              for point, flip in zip(points[1:], flips)]
    tokens = [[-entry for entry in token] if token == sink else token for token in tokens]
    gain = [[draw(st.sampled_from((1, 2, -1))) if i == j else draw(st.integers(-1, 1)) if j < i else 0
             for j in range(dim)] for i in range(dim)]
    return [sink, *tokens], gain, draw(st.lists(st.integers(-2, 2), min_size=dim, max_size=dim))
