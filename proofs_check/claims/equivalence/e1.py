"""E1: with independent values and a null sink, a switched-off head is a sink, whatever the signs of the
weights."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Choose, Shape, agreement, attention, entry, family, independent, searched
from proofs_check.claims.exact import zeros

HALF = Fraction(1, 2)


def head(v: list, v_s: list, a: list, a_s: object, **witnesses: dict) -> Instance:
    """One head at one row: content values (n, d), the sink's value, and the attention on both."""
    return Instance({"v": v, "v_s": v_s, "a": a, "a_s": a_s}, witnesses)


def build(choose: Choose, shape: Shape) -> Instance:
    """Independent values, and weights of any sign that sum to one; a third of them are the pure sink."""
    v = independent(choose, shape.tokens, shape)
    a, a_s = attention(choose, shape.tokens)
    if choose(0, 1):
        a = [entry(choose, shape.kind) for _ in range(shape.tokens)]
        a_s = 1 - sum(map(Fraction, a))
    return head(v, zeros(len(v[0])), a, a_s)


def slack(values: Mapping[str, object]) -> float:
    """σ_min‖a‖ <= ‖o‖ <= σ_max‖a‖ for the singular values of the content values, and the two zeros agree."""
    v, a = values["v"], values["a"]
    off = float(np.linalg.norm(a @ v + values["a_s"] * values["v_s"]))
    away = float(np.linalg.norm(np.append(a, values["a_s"] - 1.0)))
    stretch = np.linalg.svd(v, compute_uv=False)
    least = stretch[-1] if len(v) <= v.shape[1] else 0.0
    return min(agreement(off, away), off - least * np.linalg.norm(a), stretch[0] * np.linalg.norm(a) - off)


IDENTIFIED = Part(
    name="iff",
    text="If v_s = 0, the content values are linearly independent as a family and the weights sum to one "
         "(signs free), then o = 0 exactly when all weight is on the sink.",
    variables={"v": "matrix: n d", "v_s": "vector: d", "a": "vector: n", "a_s": "scalar"},
    definitions={"o": "a @ v + a_s * v_s"},
    hypotheses=(
        Hypothesis("null sink", "v_s = 0", "all(entry == 0 for entry in v_s)", head([[1]], [1], [0], 1)),
        Hypothesis("independent family", "{v_j} is linearly independent as a family", "rank(v) == len(v)",
                   head([[0]], [0], [1], 0)),
        Hypothesis("sum one", "the weights sum to one", "a_s + sum(a) == 1", head([[1]], [0], [0], 0)),
    ),
    conclusions=("iff(all(entry == 0 for entry in o), a_s == 1 and all(entry == 0 for entry in a))",),
    satisfiable=head([[1, 0], [1, 1]], [0, 0], [2, -1], 0),
    instances=family(build, [head([[1]], [0], [0], 1), head([[1, 0], [1, 1]], [0, 0], [1, -1], 1)]),
    strategy=searched(build),
    numeric=slack,
)

# The family is independent, the set {v_1, ...} may be so although a value occurs twice.
DISTINCT = "[v[j] for j in range(len(v)) if all(v[k] != v[j] for k in range(j))]"


def instead(name: str, formula: str) -> tuple[Hypothesis, ...]:
    """E1's hypotheses with another one in place of independence."""
    return IDENTIFIED.instead("independent family", Hypothesis(name, name, formula))


CLAIM = Claim(
    id="E1", title="Independent values: switched off means sink", family="equivalence",
    statement="If v_s = 0, {v_j}_{j≠s} is linearly independent as a family and Σa = 1 (signs free), then o "
              "= 0 iff a = e_s.",
    parts=(IDENTIFIED,),
    variants=(
        IDENTIFIED.vary("any sink value", "drop hypothesis", "E1 for any value of the sink",
                        head([[1]], [-1], [HALF], HALF), drop=("null sink",)),
        IDENTIFIED.vary("weights of any sum", "drop hypothesis",
                        "E1 without Σa = 1, as for sigmoid attention",
                        head([[1]], [0], [0], 0), drop=("sum one",)),
        IDENTIFIED.vary("independent set", "trap",
                        "E1 with the set of values independent, repetitions allowed",
                        head([[1], [1]], [0], [1, -1], 1),
                        hypotheses=instead("independent set", "rank(distinct) == len(distinct)"),
                        definitions={**IDENTIFIED.definitions, "distinct": DISTINCT}),
        IDENTIFIED.vary("pairwise independent", "drop hypothesis",
                        "E1 with values that are independent in pairs only",
                        head([[1, 0], [0, 1], [1, 1]], [0, 0], [1, 1, -1], 0),
                        hypotheses=instead("pairs",
                                           "all(rank([v[j], v[k]]) == 2 for j in range(len(v)) for k in "
                                           "range(j))")),
        IDENTIFIED.vary("affinely independent", "drop hypothesis",
                        "E1 with affine in place of linear independence",
                        head([[0]], [0], [1], 0),
                        hypotheses=instead("affine",
                                           "rank([v[j] - v[0] for j in range(1, len(v))]) == len(v) - 1")),
        IDENTIFIED.vary("half-space, signs free", "drop hypothesis",
                        "E1 with a half-space in place of independence, signs free",
                        head([[1], [1]], [0], [1, -1], 1, hull={"normal": [1]}),
                        hypotheses=instead("half-space", "separable(v, 'hull')")),
        IDENTIFIED.vary("off means self", "swap sink and diagonal",
                        "o = 0 exactly when all weight is on the first token",
                        head([[1]], [0], [1], 0),
                        conclusions=("iff(all(entry == 0 for entry in o), a[0] == 1 and a_s == 0)",)),
    ),
    scope_notes=("V = W_VO has rank at most the head dimension, so more than d_h content values cannot be "
                 "independent; for real heads E2 and E3 are what applies.",),
)
