"""G1 with explicit matrices: both directions of the equivalence, and why rank one suffices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from proofs_check.claim import Hypothesis, Instance, Part
from proofs_check.claims.exact import dot, minus
from proofs_check.claims.geometry.building import (
    both, index_sets, scaled_normal, side, small_index_sets, small_numbers, small_tables, token_tables, witnesses)

# x: tokens (T+1, d); s: the sink's index; Q, K: index sets.  Positive margins on finitely many pairs can be
# scaled to 1, so "some W has margins >= 1" is `separable` on the rows x_i (x) (x_s - x_j): <W, row> > 0.
VARIABLES = {"x": "matrix: T d", "s": "integer", "Q": "set", "K": "set"}
DEFINITIONS = {
    "rows": "[flat(outer(x[i], x[s] - x[j])) for i in Q for j in K]",
    "representable": "len(rows) == 0 or separable(rows, 'W')",
    "queries_avoid_zero": "len(Q) == 0 or separable([x[i] for i in Q], 'q')",
    "sink_avoids_keys": "len(K) == 0 or separable([x[s] - x[j] for j in K], 'k')",
}


def separators_instance(x: list, queries: list[int], keys: list[int], u: list, w: list) -> Instance:
    return Instance({"x": x, "s": 0, "Q": queries, "K": keys, "u": u, "w": w})


def separators_family(seed: int) -> Iterator[Instance]:
    rng = np.random.default_rng(seed)
    for x in token_tables(seed):
        queries, keys = index_sets(rng, len(x))
        for chosen in (queries, [0, *keys], [1]):
            u, w = scaled_normal([x[i] for i in chosen]), scaled_normal([minus(x[0], x[j]) for j in keys])
            if u is not None and w is not None:
                yield separators_instance(x, chosen, keys, u, w)
                break


@st.composite
def drawn_separators(draw: st.DrawFn) -> Instance:
    """Push content tokens along u until <x_i, u> >= 1, then the sink along w until it is above every key."""
    x = draw(small_tables())
    dim = len(x[0])
    directions = st.lists(small_numbers(), min_size=dim, max_size=dim).filter(any)
    u, w = draw(directions), draw(directions)

    def pushed(row: list, along: list, floor: object) -> list:
        lack = floor - dot(row, along)
        return row if lack <= 0 else [a + lack / dot(along, along) * b for a, b in zip(row, along)]

    content = [pushed([0 + entry for entry in row], u, 1) for row in x[1:]]
    sink = pushed(x[0], w, max(dot(row, w) for row in content) + 1)
    _, keys = draw(small_index_sets(len(x)))
    return separators_instance([sink, *content], list(range(1, len(x))), keys, u, w)


def separators_slack(values: Mapping[str, object]) -> float:
    x, s = values["x"], values["s"]
    margins = x[values["Q"]] @ np.outer(values["u"], values["w"]) @ (x[s] - x[values["K"]]).T
    return float(margins.min(initial=np.inf)) - 1 if margins.size else 1.0


SEPARATORS = Part(
    name="rank one from separators",
    text="If <x_i, u> >= 1 on Q and <w, x_s - x_j> >= 1 on K, then W = u w^T has rank at most one (head "
         "dimension 1) and every margin is at least 1.",
    variables={**VARIABLES, "u": "vector: d", "w": "vector: d"},
    definitions={"W": "outer(u, w)", "margins": "[dot(x[i] @ W, x[s] - x[j]) for i in Q for j in K]"},
    hypotheses=(
        Hypothesis("queries on one side", "<x_i, u> >= 1 on Q", "all(dot(x[i], u) >= 1 for i in Q)",
                   separators_instance([[2], [1]], [1], [1], [0], [1])),
        Hypothesis("keys below the sink", "<w, x_s - x_j> >= 1 on K",
                   "all(dot(w, x[s] - x[j]) >= 1 for j in K)",
                   separators_instance([[2], [1]], [1], [1], [1], [0])),
    ),
    conclusions=("rank(W) <= 1", "all(margin >= 1 for margin in margins)"), attainment="min(margins) == 1",
    satisfiable=separators_instance([[2, 0], [1, 1]], [0, 1], [1], [1, 0], [1, 0]),
    attained=separators_instance([[2], [1]], [1], [1], [1], [1]),
    instances=separators_family, strategy=drawn_separators, numeric=separators_slack,
)


def matrix_instance(x: list, queries: list[int], keys: list[int], W: list) -> Instance:
    found = witnesses(q=[x[i] for i in queries], k=[minus(x[0], x[j]) for j in keys])
    return Instance({"x": x, "s": 0, "Q": queries, "K": keys, "W": W}, found)


def representing(item: Instance, free: list) -> Instance:
    """A matrix with margins of at least 1, as a rule of full rank: c u w^T + `free` for c large enough."""
    x, queries, keys, u, w = (item.values[name] for name in ("x", "Q", "K", "u", "w"))
    least = min(dot([dot(x[i], column) for column in zip(*free)], minus(x[0], x[j]))
                for i in queries for j in keys)
    scale = 1 + max(Fraction(0), -least)
    W = [[scale * Fraction(a) * Fraction(b) + Fraction(c) for b, c in zip(w, row)] for a, row in zip(u, free)]
    return matrix_instance(x, queries, keys, W)


def matrix_family(seed: int) -> Iterator[Instance]:
    rng = np.random.default_rng(seed)
    for item in separators_family(seed):
        dim = len(item.values["u"])
        yield representing(item, rng.integers(-2, 3, size=(dim, dim)).tolist())


@st.composite
def drawn_matrix(draw: st.DrawFn) -> Instance:
    item = draw(drawn_separators())
    dim = len(item.values["u"])
    rows = st.lists(st.integers(-3, 3), min_size=dim, max_size=dim)
    return representing(item, draw(st.lists(rows, min_size=dim, max_size=dim)))


def hulls_slack(values: Mapping[str, object]) -> float:
    x, s = values["x"], values["s"]
    return float(both(side(x[values["Q"]]), side(x[s] - x[values["K"]])))


def low_rank_slack(values: Mapping[str, object]) -> float:
    x, s, W, keys = values["x"], values["s"], values["W"], values["K"]
    u, w = W @ (x[s] - x[keys[0]]), x[values["Q"][0]] @ W
    return float(np.outer(x[values["Q"]] @ u, (x[s] - x[keys]) @ w).min()) - 1


QUERIES = ("queries exist", "Q is not empty", "len(Q) > 0")
KEYS = ("keys exist", "K is not empty", "len(K) > 0")
REPRESENTS = ("represented", "W gives every margin at least 1",
              "all(dot(x[i] @ W, x[s] - x[j]) >= 1 for i in Q for j in K)")
NECESSARY = Part(
    name="necessity",
    text="Q and K not empty: if some W gives every margin at least 1, zero is outside conv{x_i, i in Q} and "
         "x_s outside conv{x_j, j in K}.",
    variables={**VARIABLES, "W": "matrix: d d"},
    definitions={name: DEFINITIONS[name] for name in ("queries_avoid_zero", "sink_avoids_keys")},
    hypotheses=(Hypothesis(*QUERIES, matrix_instance([[1], [1]], [], [1], [[0]])),
                Hypothesis(*KEYS, matrix_instance([[1], [0]], [1], [], [[0]])),
                Hypothesis(*REPRESENTS, matrix_instance([[1], [1]], [1], [1], [[0]]))),
    conclusions=("queries_avoid_zero and sink_avoids_keys",),
    satisfiable=matrix_instance([[2], [1]], [1], [1], [[1]]),
    instances=matrix_family, strategy=drawn_matrix, numeric=hulls_slack,
)

# With Q or K empty the matrix 0 will do; the formulas below name an element of each, hence two hypotheses.
RANK_ONE = Part(
    name="rank one suffices",
    text="Q and K not empty: if some W gives every margin at least 1, a matrix of rank at most one (head "
         "dimension 1) does too. The theorem says one exists; the formula exhibits one: u w^T with u = W "
         "(x_s - x_j0) and w^T = x_i0^T W, i0 in Q, j0 in K, whose margins are products of two margins of W.",
    variables=NECESSARY.variables,
    definitions={"low": "outer(W @ (x[s] - x[K[0]]), x[Q[0]] @ W)"},
    hypotheses=(Hypothesis(*QUERIES), Hypothesis(*KEYS),
                Hypothesis(*REPRESENTS, matrix_instance([[2], [1]], [1], [1], [[0]]))),
    conclusions=("rank(low) <= 1", "all(dot(x[i] @ low, x[s] - x[j]) >= 1 for i in Q for j in K)"),
    satisfiable=matrix_instance([[2, 0], [1, 1]], [0, 1], [1], [[1, 0], [0, -1]]),
    instances=matrix_family, strategy=drawn_matrix, numeric=low_rank_slack,
)


def unscaled(item: Instance) -> Instance:
    """The separators without their scale: products positive, as small as one likes."""
    values = item.values
    u, w = [Fraction(a) / 7 for a in values["u"]], [3 * Fraction(a) for a in values["w"]]
    return Instance({**values, "u": u, "w": w})


def sufficient_slack(values: Mapping[str, object]) -> float:
    x, s, u, w = (values[name] for name in ("x", "s", "u", "w"))
    left, right = x[values["Q"]] @ u, (x[s] - x[values["K"]]) @ w
    W = np.outer(u, w) / (left.min() * right.min())
    return float((x[values["Q"]] @ W @ (x[s] - x[values["K"]]).T).min()) - 1 + 1e-9


# As above, empty sets would do; a minimum over one has no value.
SUFFICIENT = Part(
    name="sufficiency, rank at most one",
    text="If zero is outside conv{x_i, i in Q} and x_s outside conv{x_j, j in K}, that is, some u and w have "
         "<x_i, u> > 0 on Q and <w, x_s - x_j> > 0 on K, then a W of rank at most one gives every margin at "
         "least 1. The theorem says one exists; the formula exhibits one: u w^T over the least products.",
    variables=SEPARATORS.variables,
    definitions={"least": "min([dot(x[i], u) for i in Q]) * min([dot(w, x[s] - x[j]) for j in K])",
                 "W": "outer(u, w) / least"},
    hypotheses=(
        Hypothesis(*QUERIES), Hypothesis(*KEYS),
        Hypothesis("zero outside the queries' hull", "<x_i, u> > 0 on Q", "all(dot(x[i], u) > 0 for i in Q)",
                   separators_instance([[2], [1], [-1]], [1, 2], [1], [1], [1])),
        Hypothesis("sink outside the keys' hull", "<w, x_s - x_j> > 0 on K",
                   "all(dot(w, x[s] - x[j]) > 0 for j in K)",
                   separators_instance([[0], [1], [-1]], [1], [1, 2], [1], [1])),
    ),
    conclusions=("rank(W) <= 1", "all(dot(x[i] @ W, x[s] - x[j]) >= 1 for i in Q for j in K)"),
    satisfiable=separators_instance([[2, 0], [1, 1]], [0, 1], [1], [1, 0], [1, 0]),
    instances=lambda seed: map(unscaled, separators_family(seed)),
    strategy=lambda: drawn_separators().map(unscaled),
    numeric=sufficient_slack,
)
