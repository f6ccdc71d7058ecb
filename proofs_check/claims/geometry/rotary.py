"""Exact instances of a rotary head: angles are given by rational rotations, so cosines are exact numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from proofs_check.claim import Instance
from proofs_check.claims.exact import Number, dot, minus
from proofs_check.claims.geometry.building import scaled_normal, small_numbers, token_tables

# Tangents of theta/2 for which n theta < pi/2, by n (the causal case needs n, the bidirectional 2n).
HALF_TANGENTS = {1: (0, Fraction(1, 3), Fraction(1, 2)), 2: (0, Fraction(1, 4), Fraction(1, 3)),
                 3: (Fraction(1, 6), Fraction(1, 5)), 4: (Fraction(1, 8), Fraction(1, 6)),
                 6: (Fraction(1, 9),),
                 8: (Fraction(1, 12),)}


def turns(half_tangent: Number, count: int) -> list[list[list[Fraction]]]:
    """R_0, R_theta, ..., R_{count theta}, for cos theta = (1 - u^2)/(1 + u^2), sin theta = 2u/(1 + u^2)."""
    u = Fraction(half_tangent)
    cos, sin = (1 - u * u) / (1 + u * u), 2 * u / (1 + u * u)
    return powers([[cos, -sin], [sin, cos]], count)


def powers(step: list, count: int) -> list:
    table = [[[Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]]]
    for _ in range(max(count, 1)):
        last = table[-1]
        table.append([[sum(last[a][c] * Fraction(step[c][b]) for c in range(2)) for b in range(2)]
                      for a in range(2)])
    return table


def head_instance(x: list, p: list[int], rot: list, n: int, q: Sequence, k: Sequence, alpha: Number,
                  mu: Number, *, kappa: Number = 1, u: Sequence = (1, 0), queries: list | None = None,
                  keys: list | None = None) -> Instance:
    """Content tokens are queries and keys unless named."""
    content = list(range(1, len(x)))
    return Instance({"x": x, "p": p, "rot": rot, "n": n, "q": list(q), "k": list(k), "alpha": alpha, "mu": mu,
                     "kappa": kappa, "u": list(u), "Q": queries or content, "K": keys or content})


def one_token(sigma: Number, tau: Number, rot: list, n: int, *, a: Number = 1, alpha: Number = 1,
              mu: Number = 1, p: Sequence[int] = (0, 1), **options: object) -> Instance:
    """Sink and one token in R^2 with q = e1, k = e2: <q, x_1> = a, <k, x_s> = sigma, <k, x_1> = tau."""
    return head_instance([[0, sigma], [a, tau]], list(p), rot, n, [1, 0], [0, 1], alpha, mu, **options)


def with_bounds(x: list, p: list[int], half_tangent: Number, n: int, q: Sequence, k: Sequence, slack: Number,
                **options: object) -> Instance:
    """alpha and mu are the least products, less a factor."""
    alpha = min(dot(q, row) for row in x[1:]) * slack
    mu = min(dot(k, minus(x[0], row)) for row in x[1:]) * slack
    return head_instance(x, p, turns(half_tangent, 2 * n), n, q, k, alpha, mu, **options)


def rotary_family(seed: int, factor: int) -> Iterator[Instance]:
    """Heads with n theta < pi/2 for factor 1, 2 n theta < pi/2 for factor 2; sink scores of both signs."""
    rng = np.random.default_rng(seed)
    tables = [x for x in token_tables(seed) if len(x) > 1]
    built = 0
    for case, x in enumerate(tables * 2):
        size = len(x)
        if case % 2 or case >= len(tables):  # q = first axis, k = last axis of a table with one column more
            shift = int(rng.integers(-6, 3))
            x = [[abs(row[0]) + 1, *row] for row in x]
            x[0][-1] = max(row[-1] for row in x[1:]) + Fraction(1, 2)
            x = [[*row[:-1], Fraction(row[-1]) + shift] for row in x]
            dim = len(x[0])
            q, k = [1, *[0] * (dim - 1)], [*[0] * (dim - 1), 1]
        else:
            q, k = scaled_normal(x[1:]), scaled_normal([minus(x[0], row) for row in x[1:]])
            if q is None or k is None:
                continue
        n = int(rng.integers(1, 5))
        choices = HALF_TANGENTS[factor * n]
        places = sorted(int(place) for place in rng.integers(0, n + 1, size=size))
        u = [(1, 0), (Fraction(3, 5), Fraction(4, 5)), (0, -1)][case % 3]
        yield with_bounds(x, places, choices[case % len(choices)], n, q, k, (1, Fraction(1, 2))[case % 2],
                          u=u, kappa=(1, Fraction(1, 8))[case % 2])
        built += 1
        if built == 60:
            return


@st.composite
def drawn_head(draw: st.DrawFn, factor: int) -> Instance:
    """Coordinates: the query score, anything, the key score; positions within n of the sink's."""
    n = draw(st.integers(1, 4))
    size = draw(st.integers(1, 4))
    scores = draw(st.lists(st.tuples(st.integers(1, 8), small_numbers(), small_numbers()), min_size=size,
                           max_size=size))
    lead = draw(st.integers(1, 8).map(lambda m: Fraction(m, 4)))
    top = max(Fraction(row[2]) for row in scores)
    x = [[draw(small_numbers()), draw(small_numbers()), top + lead], *map(list, scores)]
    places = [0, *draw(st.lists(st.integers(0, n), min_size=size, max_size=size))]
    return with_bounds(x, places, draw(st.sampled_from(HALF_TANGENTS[factor * n])), n, [1, 0, 0], [0, 0, 1],
                       draw(st.sampled_from((1, Fraction(1, 2)))))
