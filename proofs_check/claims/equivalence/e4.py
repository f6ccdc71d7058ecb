"""E4: if no convex combination of visible keys vanishes and the value map is injective on their span, no switch."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from numerics.hull import min_norm_point
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.equivalence.building import (
    Choose, Shape, family, hull_witness, matrix, nearest, searched, simplex, zero_witness)

F = Fraction
HALF = F(1, 2)


def at(x: list, V: list, a: list, sigma: object, w: list, **witnesses: dict) -> Instance:
    return Instance({"x": x, "V": V, "a": a, "sigma": sigma, "w": w}, witnesses)


def build(choose: Choose, shape: Shape) -> Instance:
    """Visible keys with a known nearest point, and a value map whose least stretch on their span is known from below."""
    x, w, point = nearest(choose, shape)
    if choose(0, 1):  # a scaled rotation of the coordinates, so that σ is exact
        sigma = F(choose(1, 4), 2)
        V = [[sigma * (choose(0, 1) * 2 - 1) if c == (r + 1) % shape.dim else 0 for c in range(shape.dim)]
             for r in range(shape.dim)]
    else:  # any map: least stretch >= σ by rows of the identity on top of random rows
        sigma = F(choose(0, 2), 2)
        V = [[sigma if c == r else 0 for c in range(shape.dim)] for r in range(shape.dim)]
        V += matrix(choose, 1, shape)
    return at(x, V, simplex(choose, shape.tokens), sigma, w, hull=hull_witness(point, w))


def build_any(choose: Choose, shape: Shape) -> Instance:
    """As `build`, but the hull may contain zero."""
    if choose(0, 2):
        return build(choose, shape)
    x, w, point = nearest(choose, shape, zero=True)
    identity = [[int(r == c) for c in range(shape.dim)] for r in range(shape.dim)]
    return at(x, identity, simplex(choose, shape.tokens), 1, w, hull=hull_witness(point, w))


def slack(values: Mapping[str, object]) -> float:
    """‖o‖ − σ_min·dist, with σ_min from singular values on the span and the distance from the hull solver."""
    x, V = values["x"], values["V"]
    _, stretch, axes = np.linalg.svd(x)
    span = axes[: int(np.sum(stretch > 1e-12 * stretch[0]))] if stretch[0] > 0 else axes[:0]
    off = float(np.linalg.norm(V @ (values["a"] @ x)))
    if not len(span):  # all visible keys are zero: there is no unit vector to stretch, and the distance is zero
        return off
    least = np.linalg.svd(V @ span.T, compute_uv=False)[-1]
    return min(off - least * min_norm_point(x).distance_lower, float(least - values["sigma"]))


STRETCH = "psd(x @ (transpose(V) @ V - sigma**2 * eye(len(x[0]))) @ transpose(x))"
HYPOTHESES = (
    Hypothesis("least stretch", "‖Vc‖ >= σ‖c‖ on the span of the visible keys, σ >= 0", f"sigma >= 0 and {STRETCH}",
               at([[1]], [[0]], [1], 1, [1], hull={"normal": [1]})),
    Hypothesis("nearest point", "p = Σ w_j x_j has ⟨p,x_j⟩ >= ‖p‖² for all j", "all(dot(p, row) >= dot(p, p) for row in x)",
               at([[1], [2]], [[1]], [1, 0], 1, [0, 1])),
    # What makes p the nearest point and ‖p‖ the distance; the bound itself needs only the inequalities above.
    Hypothesis("convex weights", "w >= 0 sums to one", "all(entry >= 0 for entry in w) and sum(w) == 1"),
    Hypothesis("nonnegative", "a >= 0", "all(entry >= 0 for entry in a)", at([[1], [2]], [[1]], [2, -1], 1, [1, 0])),
    Hypothesis("sum one", "the attention sums to one", "sum(a) == 1", at([[1]], [[1]], [0], 1, [1])),
)
NAMES = {"x": "matrix", "V": "matrix", "a": "vector", "sigma": "scalar", "w": "vector"}

BOUND = Part(
    name="bound",
    text="With σ at most the least stretch of V on the span of all visible keys (sink included) and p the point of their "
         "hull nearest to zero, every attention has ‖o‖ >= σ‖p‖.",
    variables=NAMES, definitions={"p": "w @ x", "o": "V @ (a @ x)"}, hypotheses=HYPOTHESES,
    conclusions=("dot(o, o) >= sigma**2 * dot(p, p)",), attainment="dot(o, o) == sigma**2 * dot(p, p)",
    satisfiable=at([[1, 1], [1, -1]], [[1, 0], [0, 2]], [1, 0], 1, [HALF, HALF]),
    attained=at([[1, 1], [1, -1]], [[2, 0], [0, 2]], [HALF, HALF], 2, [HALF, HALF]),
    instances=family(build_any, [at([[1], [-1]], [[1]], [HALF, HALF], 1, [HALF, HALF], hull=zero_witness([HALF, HALF]))]),
    strategy=searched(build_any), numeric=slack,
)

POSITIVE = Part(
    name="no switch",
    text="If moreover zero is outside the hull of all visible keys and σ > 0, no attention switches the head off.",
    variables={name: NAMES[name] for name in ("x", "V", "a", "sigma")}, definitions={"o": "V @ (a @ x)"},
    hypotheses=(
        Hypothesis("hull", "zero is not in the hull of all visible keys, sink included", "separable(x, 'hull')",
                   Instance({"x": [[0]], "V": [[1]], "a": [1], "sigma": 1})),
        Hypothesis("least stretch", "‖Vc‖ >= σ‖c‖ on the span of the visible keys", STRETCH,
                   Instance({"x": [[1]], "V": [[0]], "a": [1], "sigma": 1}, {"hull": {"normal": [1]}})),
        Hypothesis("positive stretch", "σ > 0", "sigma > 0",
                   Instance({"x": [[1]], "V": [[0]], "a": [1], "sigma": 0}, {"hull": {"normal": [1]}})),
        Hypothesis("nonnegative", "a >= 0", "all(entry >= 0 for entry in a)",
                   Instance({"x": [[1], [2]], "V": [[1]], "a": [2, -1], "sigma": 1}, {"hull": {"normal": [1]}})),
        Hypothesis("sum one", "the attention sums to one", "sum(a) == 1",
                   Instance({"x": [[1]], "V": [[1]], "a": [0], "sigma": 1}, {"hull": {"normal": [1]}})),
    ),
    conclusions=("dot(o, o) > 0",),
    satisfiable=Instance({"x": [[1]], "V": [[1]], "a": [1], "sigma": 1}, {"hull": {"normal": [1]}}),
    instances=family(lambda choose, shape: positive_only(build(choose, shape))),
    strategy=searched(lambda choose, shape: positive_only(build(choose, shape))),
    numeric=lambda values: float(np.linalg.norm(values["V"] @ (values["a"] @ values["x"]))),
)


def positive_only(instance: Instance) -> Instance:
    """The same keys and attention with σ > 0: where σ was 0, the identity takes the value map's place."""
    values = {name: value for name, value in instance.values.items() if name != "w"}
    if values["sigma"] == 0:
        size = len(values["x"][0])
        values |= {"sigma": 1, "V": [[int(r == c) for c in range(size)] for r in range(size)]}
    return Instance(values, instance.witnesses)


CLAIM = Claim(
    id="E4", title="No kernel, no switch", family="equivalence",
    statement="σ_min = least ‖Vc‖ over unit c in the span of all visible keys; 0 not in the hull of all visible keys, sink "
              "included: every attention has ‖o‖ >= σ_min·dist(0, conv), positive when σ_min > 0.",
    parts=(BOUND, POSITIVE),
    variants=(
        POSITIVE.vary("sink outside the hull", "trap", "zero outside the hull of the content keys only (x_s = −1, x_1 = 1)",
                      Instance({"x": [[-1], [1]], "V": [[1]], "a": [HALF, HALF], "sigma": 1}, {"hull": {"normal": [1]}}),
                      hypotheses=(Hypothesis("hull", "zero is not in the hull of the content keys, x_s being row 0",
                                             "separable([x[j] for j in range(1, len(x))], 'hull')"),
                                  *POSITIVE.hypotheses[1:])),
        BOUND.vary("centroid", "centroid for min-norm point", "‖o‖ >= σ·‖centroid‖",
                   at([[1], [2]], [[1]], [1, 0], 1, [HALF, HALF]),
                   hypotheses=tuple(Hypothesis("centroid", "w is uniform", "all(entry == 1 / len(w) for entry in w)")
                                    if item.name == "nearest point" else item for item in HYPOTHESES)),
        BOUND.vary("largest stretch", "wrong matrix", "the bound with σ the largest stretch of V",
                   at([[0, 1]], [[2, 0], [0, 1]], [1], 2, [1]),
                   hypotheses=tuple(Hypothesis("largest stretch", "σ is attained as a stretch of V",
                                               "not psd(transpose(V) @ V - (sigma + 1)**2 * eye(2)) and psd(sigma**2 * "
                                               "eye(2) - transpose(V) @ V)")
                                    if item.name == "least stretch" else item for item in HYPOTHESES)),
        BOUND.vary("stretch forgotten", "constant moved", "‖o‖ >= dist(0, conv) whatever V",
                   at([[1]], [[HALF]], [1], HALF, [1]), conclusions=("dot(o, o) >= dot(p, p)",)),
        BOUND.vary("stretch not squared", "exponent moved", "‖o‖² >= σ·dist²",
                   at([[1]], [[HALF]], [1], HALF, [1]), conclusions=("dot(o, o) >= sigma * dot(p, p)",)),
        BOUND.vary("strict", "strict for non-strict", "‖o‖ > σ·dist", at([[1]], [[1]], [1], 1, [1]),
                   conclusions=("dot(o, o) > sigma**2 * dot(p, p)",)),
    ),
    required_formal="PROVED ON",
    scope_notes=("V = W_VO has rank at most the head dimension, so σ_min = 0 as soon as the visible keys span more than "
                 "d_h dimensions: on real heads the bound is then void, not violated.",),
)

