"""E2: on the simplex, with a null sink, output zero means sink exactly when zero is outside the content values' hull."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from numerics.hull import min_norm_point
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.equivalence.building import (
    Choose, Shape, agreement, attention, family, half_space, hull_witness, nearest, searched, zero_in_hull, zeros)
from proofs_check.claims.equivalence.e1 import HALF, head

ABOVE = {"normal": [1]}


def build(choose: Choose, shape: Shape) -> Instance:
    v, normal = half_space(choose, shape)
    return head(v, zeros(shape.dim), *attention(choose, shape.tokens), hull={"normal": normal})


def slack(values: Mapping[str, object]) -> float:
    """‖o‖ >= dist(0, conv{v_j})·(1 − a_s), with the distance from the minimum-norm point."""
    v, a = values["v"], values["a"]
    off = float(np.linalg.norm(a @ v + values["a_s"] * values["v_s"]))
    away = float(np.linalg.norm(np.append(a, values["a_s"] - 1.0)))
    return min(agreement(off, away), off - min_norm_point(v).distance_lower * (1.0 - values["a_s"]))


# v: content values (n, d); a: attention on the content keys; a_s: attention on the sink, whose value is v_s.
SWITCH = Part(
    name="half-space",
    text="If v_s = 0 and zero is not in the hull of the content values, then on the simplex o = 0 exactly when all mass "
         "is on the sink.",
    variables={"v": "matrix", "v_s": "vector", "a": "vector", "a_s": "scalar"},
    definitions={"o": "a @ v + a_s * v_s"},
    hypotheses=(
        Hypothesis("null sink", "v_s = 0", "all(entry == 0 for entry in v_s)",
                   head([[1]], [1], [0], 1, hull=ABOVE)),
        Hypothesis("half-space", "zero is not in conv{v_j}", "separable(v, 'hull')",
                   head([[0]], [0], [1], 0)),
        Hypothesis("nonnegative", "a >= 0", "a_s >= 0 and all(entry >= 0 for entry in a)",
                   head([[1], [1]], [0], [1, -1], 1, hull=ABOVE)),
        Hypothesis("sum one", "the attention sums to one", "a_s + sum(a) == 1",
                   head([[1]], [0], [0], 0, hull=ABOVE)),
    ),
    conclusions=("iff(all(entry == 0 for entry in o), a_s == 1 and all(entry == 0 for entry in a))",),
    satisfiable=head([[1, 0], [1, 1]], [0, 0], [0, 0], 1, hull={"normal": [1, 0]}),
    instances=family(build), strategy=searched(build), numeric=slack,
)


def build_converse(choose: Choose, shape: Shape) -> Instance:
    v, w = zero_in_hull(choose, shape)
    return Instance({"v": v, "w": w, "t": Fraction(choose(1, 6), 6)},
                    {"hull": {"weights": {k: weight for k, weight in enumerate(w) if weight}}})


def slack_converse(values: Mapping[str, object]) -> float:
    """The attention (t·w, 1 − t) is off and differs from the sink by at least t; the hull reaches zero."""
    off = float(np.linalg.norm(values["t"] * values["w"] @ values["v"]))
    return min(values["t"] * float(np.abs(values["w"]).max()) - off, 1e-9 - min_norm_point(values["v"]).distance_lower)


CONVERSE = Part(
    name="converse",
    text="If zero is in the hull of the content values, with convex weights w, then every attention t·w + (1−t)·e_s with "
         "0 < t <= 1 is switched off (v_s = 0) and is not the sink.",
    variables={"v": "matrix", "w": "vector", "t": "scalar"},
    definitions={"a": "t * w", "a_s": "1 - t"},
    hypotheses=(
        Hypothesis("convex weights", "w >= 0 sums to one", "all(entry >= 0 for entry in w) and sum(w) == 1",
                   Instance({"v": [[1]], "w": [0], "t": 1}, {"hull": ABOVE})),
        Hypothesis("zero in the hull", "Σ w_j v_j = 0", "all(entry == 0 for entry in w @ v)",
                   Instance({"v": [[1]], "w": [1], "t": 1}, {"hull": ABOVE})),
        Hypothesis("some mass", "0 < t <= 1", "0 < t and t <= 1",
                   Instance({"v": [[0]], "w": [1], "t": 0}, {"hull": {"weights": {0: 1}}})),
    ),
    conclusions=(
        "not separable(v, 'hull')",
        "a_s >= 0 and all(entry >= 0 for entry in a) and a_s + sum(a) == 1",
        "all(entry == 0 for entry in a @ v)",
        "a_s != 1 and any(entry != 0 for entry in a)",
    ),
    satisfiable=Instance({"v": [[1], [-1]], "w": [HALF, HALF], "t": 1}, {"hull": {"weights": {0: HALF, 1: HALF}}}),
    instances=family(build_converse), strategy=searched(build_converse), numeric=slack_converse,
)


def near(v: list, w: list, point: list) -> Instance:
    return Instance({"v": v, "w": w}, {"hull": hull_witness(point, w)})


def build_normal(choose: Choose, shape: Shape) -> Instance:
    return near(*nearest(choose, shape, zero=choose(0, 2) == 0))


def slack_normal(values: Mapping[str, object]) -> float:
    """The point Σ w_j v_j has the norm that the solver of minimum-norm points finds for the hull."""
    found = min_norm_point(values["v"])
    size = float(np.linalg.norm(values["w"] @ values["v"]))
    return 1e-7 * (1.0 + size) - max(found.distance_lower - size, size - found.distance_upper)


NORMAL = Part(
    name="some normal",
    text="Let p = Σ w_j v_j be the point of conv{v_j} nearest to zero (⟨p,v_j⟩ >= ‖p‖² for all j). Zero is outside the hull "
         "iff p ≠ 0, and then u = p has ⟨u,v_j⟩ >= ‖p‖² > 0 for every content key.",
    variables={"v": "matrix", "w": "vector"},
    definitions={"p": "w @ v"},
    hypotheses=(
        Hypothesis("nonnegative weights", "w >= 0", "all(entry >= 0 for entry in w)",
                   Instance({"v": [[1], [2]], "w": [2, -1]}, {"hull": ABOVE})),
        Hypothesis("weights sum to one", "Σ w_j = 1", "sum(w) == 1",
                   Instance({"v": [[1]], "w": [0]}, {"hull": ABOVE})),
        Hypothesis("nearest point", "⟨p,v_j⟩ >= ‖p‖² for all j", "all(dot(p, row) >= dot(p, p) for row in v)",
                   Instance({"v": [[1], [-1]], "w": [1, 0]}, {"hull": {"weights": {0: HALF, 1: HALF}}})),
    ),
    conclusions=("iff(separable(v, 'hull'), dot(p, p) > 0)",
                 "implies(dot(p, p) > 0, all(dot(p, row) > 0 for row in v))"),
    satisfiable=near([[1, 1], [1, -1]], [HALF, HALF], [1, 0]),
    instances=family(build_normal), strategy=searched(build_normal), numeric=slack_normal,
)


def without(name: str, formula: str, **extra: object) -> dict[str, object]:
    """Changes that put another hypothesis in place of the half-space."""
    return {**extra, "hypotheses": tuple(Hypothesis(name, name, formula) if item.name == "half-space" else item
                                         for item in SWITCH.hypotheses)}


CLAIM = Claim(
    id="E2", title="Null sink and half-space: switched off means sink", family="equivalence",
    statement="With v_s = 0: (o = 0 implies a = e_s on the simplex) iff 0 is not in conv{v_j, j≠s}, iff some u has "
              "⟨u,v_j⟩ > 0 for all j≠s.",
    parts=(SWITCH, CONVERSE, NORMAL),
    variants=(
        SWITCH.vary("hull contains zero", "trap", "E2 with zero in the hull of the content values",
                    head([[0]], [0], [1], 0), drop=("half-space",)),
        SWITCH.vary("nonzero values", "trap", "E2 with content values nonzero in place of the half-space",
                    head([[1], [-1]], [0], [HALF, HALF], 0),
                    **without("nonzero values", "all(any(entry != 0 for entry in row) for row in v)")),
        SWITCH.vary("closed half-space", "strict for non-strict", "E2 with ⟨u,v_j⟩ >= 0 and u ≠ 0",
                    Instance({"v": [[0]], "v_s": [0], "a": [1], "a_s": 0, "u": [1]}),
                    **without("closed half-space", "dot(u, u) > 0 and all(dot(u, row) >= 0 for row in v)",
                              variables={**SWITCH.variables, "u": "vector"})),
        SWITCH.vary("affine half-space", "drop hypothesis", "E2 with ⟨u,v_j⟩ > c for some u ≠ 0 and some c of any sign",
                    Instance({"v": [[0]], "v_s": [0], "a": [1], "a_s": 0, "u": [1], "c": -1}),
                    **without("affine half-space", "dot(u, u) > 0 and all(dot(u, row) > c for row in v)",
                              variables={**SWITCH.variables, "u": "vector", "c": "scalar"})),
        SWITCH.vary("signs free", "drop hypothesis", "E2 with weights of any sign",
                    head([[1], [1]], [0], [1, -1], 1, hull=ABOVE), drop=("nonnegative",)),
        SWITCH.vary("sink in the half-space", "wrong matrix", "E2 with the sink's value in the half-space instead of zero",
                    head([[1]], [1], [0], 1, hull=ABOVE), **{"hypotheses": tuple(
                        Hypothesis("sink inside", "the sink's value is in the half-space too",
                                   "separable([v_s, v[0]], 'hull')")
                        if item.name == "null sink" else item for item in SWITCH.hypotheses)}),
        SWITCH.vary("off means self", "swap sink and diagonal", "o = 0 exactly when all mass is on the first token",
                    head([[1]], [0], [1], 0, hull=ABOVE),
                    conclusions=("iff(all(entry == 0 for entry in o), a[0] == 1 and a_s == 0)",)),
        NORMAL.vary("centroid as normal", "centroid for min-norm point",
                    "the centroid c of values outside whose hull zero lies has ⟨c,v_j⟩ > 0 for all j",
                    Instance({"v": [[1, 0], [-1, 1], [-2, 1]], "w": [Fraction(1, 3)] * 3},
                             {"hull": {"normal": [1, 3]}}),
                    hypotheses=(Hypothesis("centroid", "w is uniform", "all(entry == 1 / len(w) for entry in w)"),
                                Hypothesis("half-space", "zero is not in the hull", "separable(v, 'hull')")),
                    conclusions=("all(dot(p, row) > 0 for row in v)",)),
    ),
    required_formal="PROVED ON",
    scope_notes=("V = W_VO has rank at most the head dimension; the half-space of the values, unlike their independence, "
                 "can hold for any number of tokens.",),
)
