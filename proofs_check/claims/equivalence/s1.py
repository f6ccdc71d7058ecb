"""S1: with a null sink and independent distinct values, an output along the own value is a mixture of self
and sink."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Choose, Shape, agreement, family, independent, searched, simplex
from proofs_check.claims.exact import zeros

F = Fraction
HALF = F(1, 2)


def at(v: list, v_s: list, a: list, a_s: object, i: int, **witnesses: dict) -> Instance:
    """Content values, the sink's value, the weights of row i, and i itself (a content token)."""
    return Instance({"v": v, "v_s": v_s, "a": a, "a_s": a_s, "i": i}, witnesses)


def build(choose: Choose, shape: Shape) -> Instance:
    """Distinct independent values with copies; half of the rows look at copies of their own value and the
    sink only."""
    count = choose(1, min(shape.tokens, shape.dim))
    base = independent(choose, count, shape)
    which = list(range(count)) + [choose(0, count - 1) for _ in range(shape.tokens - count)]
    turn = choose(0, shape.tokens - 1)
    which = which[turn:] + which[:turn]
    i = choose(0, shape.tokens - 1)
    *a, a_s = simplex(choose, shape.tokens + 1)
    if choose(0, 1):
        a = [weight if which[j] == which[i] else F(0) for j, weight in enumerate(a)]
        a_s = 1 - sum(a)
    return at([base[k] for k in which], zeros(len(base[0])), a, a_s, i)


def slack(values: Mapping[str, object]) -> float:
    """Distance of o from the line of v_i against the weight on other values."""
    v, a, i = values["v"], values["a"], int(values["i"])
    o = a @ v + values["a_s"] * values["v_s"]
    axis = v[i] / np.linalg.norm(v[i])
    elsewhere = a[np.any(v != v[i], axis=1)]
    return agreement(float(np.linalg.norm(o - (o @ axis) * axis)), float(np.abs(elsewhere).sum()))


DEFINITIONS = {"o": "a @ v + a_s * v_s",
               "distinct": "[v[j] for j in range(len(v)) if all(v[k] != v[j] for k in range(j))]"}
# without it v_i has no meaning
INDEX = Hypothesis("own token", "i is a content token", "0 <= i and i < len(v)")
INDEPENDENT = Hypothesis("distinct values independent",
                         "the distinct content values are linearly independent",
                         "rank(distinct) == len(distinct)", at([[1], [2]], [0], [0, 1], 0, 0))
NONNEGATIVE = Hypothesis("nonnegative", "a >= 0", "a_s >= 0 and all(entry >= 0 for entry in a)",
                         at([[1, 0], [0, 1], [0, 1]], [0, 0], [1, 1, -1], 0, 0))
ALONG = "rank([v[i], o]) == rank([v[i]])"
ONLY_SELF = "all(a[j] == 0 or v[j] == v[i] for j in range(len(v)))"

SOFT = Part(
    name="iff",
    text="v_s = 0, distinct content values independent, a >= 0: o_i is in span(v_i) exactly when a_ij = 0 "
         "unless v_j = v_i (or j = s).",
    variables={"v": "matrix: n d", "v_s": "vector: d", "a": "vector: n", "a_s": "scalar", "i": "integer"},
    definitions=DEFINITIONS,
    hypotheses=(INDEX, Hypothesis("null sink", "v_s = 0", "all(entry == 0 for entry in v_s)",
                                  at([[1, 0]], [0, 1], [0], 1, 0)), INDEPENDENT, NONNEGATIVE),
    conclusions=(f"iff({ALONG}, {ONLY_SELF})",),
    satisfiable=at([[1, 0], [0, 1], [1, 0]], [0, 0], [HALF, 0, F(1, 4)], F(1, 4), 0),
    instances=family(build, [at([[1, 0], [0, 1], [0, 1]], [0, 0], [HALF, 0, HALF], 0, 0)]),
    strategy=searched(build), numeric=slack,
)


def instead(name: str, text: str, formula: str) -> tuple[Hypothesis, ...]:
    """S1's hypotheses with another one in place of independence."""
    return SOFT.instead(INDEPENDENT.name, Hypothesis(name, text, formula))


CLAIM = Claim(
    id="S1", title="A soft switch is a mixture of self and sink", family="equivalence",
    statement="v_s = 0, the distinct content values independent, a >= 0: o_i ∈ span(v_i) iff a_ij = 0 "
              "unless v_j = v_i or j = s. A soft switch is exactly a mixture of self (and copies) and sink.",
    parts=(SOFT,),
    variants=(
        SOFT.vary("half-space", "trap", "S1 with a half-space in place of independence",
                  at([[1, 0], [1, 1], [1, -1]], [0, 0], [0, HALF, HALF], 0, 0, hull={"normal": [1, 0]}),
                  hypotheses=instead("half-space", "0 is not in the hull of the content values",
                                     "separable(v, 'hull')")),
        SOFT.vary("pairwise independent", "drop hypothesis",
                  "S1 with distinct values independent in pairs only",
                  at([[1, 0], [0, 1], [1, 1]], [0, 0], [HALF, HALF, 0], 0, 2),
                  hypotheses=instead("pairs", "each two distinct values are independent",
                                     "all(rank([distinct[j], distinct[k]]) == 2 for j in "
                                     "range(len(distinct)) for k in range(j))")),
        SOFT.vary("copies forbidden", "swap sink and diagonal",
                  "o_i ∈ span(v_i) exactly when a_ij = 0 unless j = i or j = s",
                  at([[1], [1]], [0], [0, 1], 0, 0),
                  conclusions=(f"iff({ALONG}, all(a[j] == 0 or j == i for j in range(len(v))))",)),
        SOFT.vary("signs free", "drop hypothesis", "S1 with weights of any sign",
                  at([[1, 0], [0, 1], [0, 1]], [0, 0], [1, 1, -1], 0, 0), drop=("nonnegative",)),
        SOFT.vary("any sink value", "drop hypothesis", "S1 for any value of the sink",
                  at([[1, 0]], [0, 1], [0], 1, 0), drop=("null sink",)),
        SOFT.vary("self is seen", "wrong converse",
                  "if o_i ∈ span(v_i), the row puts weight on a copy of v_i",
                  at([[1]], [0], [0], 1, 0),
                  conclusions=(f"implies({ALONG}, any(a[j] > 0 and v[j] == v[i] for j in range(len(v))))",)),
    ),
    scope_notes=("V = W_VO has rank at most the head dimension, so no more than d_h distinct content "
                 "values can be independent.",),
)
