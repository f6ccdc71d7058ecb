"""E4: if no convex combination of visible keys vanishes and the value map is injective on their span, no
switch."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from numerics.hull import min_norm_point
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import (
    Choose, Shape, family, hull_witness, matrix, nearest, root_below, searched, simplex)
from proofs_check.claims.exact import dot

F = Fraction
HALF = F(1, 2)


def at(x: list, V: list, a: list, sigma: object, w: list, dist: object = 1, **witnesses: dict) -> Instance:
    return Instance({"x": x, "V": V, "a": a, "sigma": sigma, "w": w, "dist": dist}, witnesses)


def build(choose: Choose, shape: Shape) -> Instance:
    """Visible keys with a known nearest point, and a value map whose least stretch on their span is known
    from below."""
    x, w, point = nearest(choose, shape)
    if choose(0, 1):  # a scaled rotation of the coordinates, so that σ is exact
        sigma = F(choose(1, 4), 2)
        V = [[sigma * (choose(0, 1) * 2 - 1) if c == (r + 1) % shape.dim else 0 for c in range(shape.dim)]
             for r in range(shape.dim)]
    else:  # any map: least stretch >= σ by rows of the identity on top of random rows
        sigma = F(choose(0, 2), 2)
        V = [[sigma if c == r else 0 for c in range(shape.dim)] for r in range(shape.dim)]
        V += matrix(choose, 1, shape)
    return at(x, V, simplex(choose, shape.tokens), sigma, w, root_below(dot(point, point)),
              hull=hull_witness(point, w))


def build_any(choose: Choose, shape: Shape) -> Instance:
    """As `build`, but the hull may contain zero."""
    if choose(0, 2):
        return build(choose, shape)
    x, w, point = nearest(choose, shape, zero=True)
    identity = [[int(r == c) for c in range(shape.dim)] for r in range(shape.dim)]
    return at(x, identity, simplex(choose, shape.tokens), 1, w, 0, hull=hull_witness(point, w))


def slack(values: Mapping[str, object]) -> float:
    """‖o‖ − σ_min·dist, with σ_min from singular values on the span and the distance from the hull solver."""
    x, V = values["x"], values["V"]
    _, stretch, axes = np.linalg.svd(x)
    span = axes[: int(np.sum(stretch > 1e-12 * stretch[0]))] if stretch[0] > 0 else axes[:0]
    off = float(np.linalg.norm(V @ (values["a"] @ x)))
    # all visible keys are zero: there is no unit vector to stretch, and the distance is zero
    if not len(span):
        return off
    least = np.linalg.svd(V @ span.T, compute_uv=False)[-1]
    return min(off - least * min_norm_point(x).distance_lower, float(least - values["sigma"]))


STRETCH = "psd(x @ (transpose(V) @ V - sigma**2 * eye(len(x[0]))) @ transpose(x))"
NEAREST = Hypothesis("nearest point", "p = Σ w_j x_j has ⟨p,x_j⟩ >= ‖p‖² for all j",
                     "all(dot(p, row) >= dot(p, p) for row in x)",
                     at([[1], [2]], [[1]], [1, 0], 1, [0, 1], 2))
# What makes p the nearest point and ‖p‖ the distance; the bound itself needs only the inequalities above.
CONVEX = Hypothesis("convex weights", "w >= 0 sums to one", "all(entry >= 0 for entry in w) and sum(w) == 1")
HYPOTHESES = (
    Hypothesis("least stretch", "‖Vc‖ >= |σ|·‖c‖ on the span of the visible keys", STRETCH,
               at([[1]], [[0]], [1], 1, [1])),
    NEAREST,
    CONVEX,
    Hypothesis("distance", "dist <= ‖p‖, the distance of zero from the hull", "dist**2 <= dot(p, p)",
               at([[1]], [[1]], [1], 1, [1], 2)),
    Hypothesis("nonnegative", "a >= 0", "all(entry >= 0 for entry in a)",
               at([[1], [2]], [[1]], [2, -1], 1, [1, 0])),
    Hypothesis("sum one", "the attention sums to one", "sum(a) == 1", at([[1]], [[1]], [0], 1, [1])),
)
NAMES = {"x": "matrix: n d", "V": "matrix: e d", "a": "vector: n", "sigma": "scalar", "w": "vector: n",
         "dist": "scalar"}
OUTPUT = {"p": "w @ x", "o": "V @ (a @ x)"}

BOUND = Part(
    name="bound, squared",
    text="With σ up to the least stretch of V on the span of all visible keys (sink included) and dist up "
         "to the distance of zero from their hull, every attention has ‖o‖² >= (σ·dist)².",
    variables=NAMES, definitions=OUTPUT, hypotheses=HYPOTHESES,
    conclusions=("dot(o, o) >= (sigma * dist)**2",), attainment="dot(o, o) == (sigma * dist)**2",
    satisfiable=at([[1, 1], [1, -1]], [[1, 0], [0, 2]], [1, 0], 1, [HALF, HALF]),
    attained=at([[1, 1], [1, -1]], [[2, 0], [0, 2]], [HALF, HALF], 2, [HALF, HALF]),
    instances=family(build_any, [at([[1], [-1]], [[1]], [HALF, HALF], 1, [HALF, HALF], 0)]),
    strategy=searched(build_any), numeric=slack,
)


def without_distance(x: list, V: list, a: list, sigma: object, w: list, **witnesses: dict) -> Instance:
    return Instance({"x": x, "V": V, "a": a, "sigma": sigma, "w": w}, witnesses)


def positive_only(instance: Instance) -> Instance:
    """The same keys and attention with σ > 0: where σ was 0, the identity takes the value map's place."""
    values = {name: value for name, value in instance.values.items() if name != "dist"}
    if values["sigma"] == 0:
        size = len(values["x"][0])
        values |= {"sigma": 1, "V": [[int(r == c) for c in range(size)] for r in range(size)]}
    return Instance(values, instance.witnesses)


ABOVE = {"normal": [1]}
POSITIVE = Part(
    name="positive",
    text="If zero is outside the hull of all visible keys, sink included, then its distance ‖p‖ from the "
         "hull is positive, and with σ > 0 no attention switches the head off.",
    variables={name: kind for name, kind in NAMES.items() if name != "dist"}, definitions=OUTPUT,
    hypotheses=(
        Hypothesis("hull", "zero is not in the hull of all visible keys, sink included",
                   "separable(x, 'hull')",
                   without_distance([[0]], [[1]], [1], 1, [1])),
        Hypothesis("least stretch", "‖Vc‖ >= |σ|·‖c‖ on the span of the visible keys", STRETCH,
                   without_distance([[1]], [[0]], [1], 1, [1], hull=ABOVE)),
        Hypothesis("positive stretch", "σ > 0", "sigma > 0",
                   without_distance([[1]], [[0]], [1], 0, [1], hull=ABOVE)),
        # Convex weights alone keep p off zero here; that p is nearest says what its norm is.
        Hypothesis("nearest point", NEAREST.text, NEAREST.formula),
        Hypothesis("convex weights", CONVEX.text, CONVEX.formula,
                   without_distance([[1]], [[1]], [1], 1, [0], hull=ABOVE)),
        Hypothesis("nonnegative", "a >= 0", "all(entry >= 0 for entry in a)",
                   without_distance([[1], [2]], [[1]], [2, -1], 1, [1, 0], hull=ABOVE)),
        Hypothesis("sum one", "the attention sums to one", "sum(a) == 1",
                   without_distance([[1]], [[1]], [0], 1, [1], hull=ABOVE)),
    ),
    conclusions=("dot(p, p) > 0 and dot(o, o) > 0",),
    satisfiable=without_distance([[1]], [[1]], [1], 1, [1], hull=ABOVE),
    instances=family(lambda choose, shape: positive_only(build(choose, shape))),
    strategy=searched(lambda choose, shape: positive_only(build(choose, shape))),
    numeric=lambda values: float(np.linalg.norm(values["V"] @ (values["a"] @ values["x"]))),
)

CLAIM = Claim(
    id="E4", title="No kernel, no switch", family="equivalence",
    statement="σ_min = least ‖Vc‖ over unit c in the span of all visible keys; 0 not in the hull of all "
              "visible keys, sink included: every attention has ‖o‖ >= σ_min·dist(0, conv), positive when "
              "σ_min > 0.",
    parts=(BOUND, POSITIVE),
    variants=(
        POSITIVE.vary("sink outside the hull", "trap",
                      "zero outside the hull of the content keys only (x_s = −1, x_1 = 1)",
                      without_distance([[-1], [1]], [[1]], [HALF, HALF], 1, [HALF, HALF], hull=ABOVE),
                      hypotheses=POSITIVE.instead("hull", Hypothesis(
                          "hull", "zero is not in the hull of the content keys, x_s being row 0",
                          "separable([x[j] for j in range(1, len(x))], 'hull')"))),
        BOUND.vary("centroid", "centroid for min-norm point", "‖o‖ >= σ·‖centroid‖",
                   at([[1], [2]], [[1]], [1, 0], 1, [HALF, HALF], F(3, 2)),
                   hypotheses=BOUND.instead("nearest point", Hypothesis(
                       "centroid", "w is uniform", "all(entry == 1 / len(w) for entry in w)"))),
        BOUND.vary("largest stretch", "wrong matrix", "the bound with σ the largest stretch of V",
                   at([[0, 1]], [[2, 0], [0, 1]], [1], 2, [1]),
                   hypotheses=BOUND.instead("least stretch", Hypothesis(
                       "largest stretch", "σ is attained as a stretch of V",
                       "not psd(transpose(V) @ V - (sigma + 1)**2 * eye(2)) and "
                       "psd(sigma**2 * eye(2) - transpose(V) @ V)"))),
        BOUND.vary("stretch forgotten", "constant moved", "‖o‖ >= dist(0, conv) whatever V",
                   at([[1]], [[HALF]], [1], HALF, [1]), conclusions=("dot(o, o) >= dist**2",)),
        BOUND.vary("stretch not squared", "exponent moved", "‖o‖² >= σ·dist²",
                   at([[1]], [[HALF]], [1], HALF, [1]), conclusions=("dot(o, o) >= sigma * dist**2",)),
        BOUND.vary("strict", "strict for non-strict", "‖o‖ > σ·dist", at([[1]], [[1]], [1], 1, [1]),
                   conclusions=("dot(o, o) > (sigma * dist)**2",)),
    ),
    scope_notes=("V = W_VO has rank at most the head dimension, so σ_min = 0 as soon as the visible keys "
                 "span more than d_h dimensions: on real heads the bound is then void, not violated.",),
)

