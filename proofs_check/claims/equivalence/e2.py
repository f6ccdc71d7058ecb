"""E2: with a null sink, output zero means sink exactly when zero is outside the content values' hull."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from numerics.hull import min_norm_point
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Choose, Shape, agreement, attention, family, hull_witness, nearest, searched
from proofs_check.claims.equivalence.e1 import HALF, head
from proofs_check.claims.exact import zeros

ABOVE = {"normal": [1]}


def at(v: list, v_s: list, a: list, a_s: object, w: list, **witnesses: dict) -> Instance:
    return Instance({"v": v, "v_s": v_s, "a": a, "a_s": a_s, "w": w}, witnesses)


def build(choose: Choose, shape: Shape) -> Instance:
    """Values with a known nearest point, often zero, and an attention on the simplex."""
    v, w, point = nearest(choose, shape, zero=choose(0, 1) == 0)
    return at(v, zeros(shape.dim), *attention(choose, shape.tokens), w, hull=hull_witness(point, w))


def slack(values: Mapping[str, object]) -> float:
    """The solver's distance of zero from the hull is that of p, and ‖o‖ >= distance·(1 − a_s)."""
    v, a, found = values["v"], values["a"], min_norm_point(values["v"])
    off = float(np.linalg.norm(a @ v + values["a_s"] * values["v_s"]))
    size = float(np.linalg.norm(values["w"] @ v))
    gap = max(found.distance_lower - size, size - found.distance_upper, 0.0) / (1.0 + size)
    away = float(np.linalg.norm(np.append(a, values["a_s"] - 1.0)))
    switch = agreement(off, away) if found.status == "separated" else 0.0
    return min(switch, off - found.distance_lower * (1.0 - values["a_s"]), 1e-9 - gap)


ATTENTION = (
    Hypothesis("nonnegative", "a >= 0", "a_s >= 0 and all(entry >= 0 for entry in a)",
               at([[1], [1]], [0], [1, -1], 1, [1, 0], hull=ABOVE)),
    Hypothesis("sum one", "the attention sums to one", "a_s + sum(a) == 1",
               at([[1]], [0], [0], 0, [1], hull=ABOVE)),
)
# An existential statement is evaluated through its witness, which is a variable here: w, the weights of the
# point p of the hull nearest to zero.  If any attention that is no sink is off, then w on the content keys
# is; if any u has all products positive, then u = p has.
EQUIVALENT = Part(
    name="both equivalences",
    text="v_s = 0. 'On the simplex o = 0 forces a = e_s' holds iff 0 is outside conv{v_j}: outside, o = 0 "
         "exactly for a = e_s; inside, the weights w of the hull's nearest point p = Σ w_j v_j switch the "
         "head off without the sink. And 0 is outside iff some u has ⟨u,v_j⟩ > 0 for all j≠s: "
         "the theorem says one exists; the formula exhibits one, u = p.",
    variables={"v": "matrix: n d", "v_s": "vector: d", "a": "vector: n", "a_s": "scalar", "w": "vector: n"},
    definitions={"o": "a @ v + a_s * v_s", "p": "w @ v", "outside": "separable(v, 'hull')"},
    hypotheses=(
        Hypothesis("null sink", "v_s = 0", "all(entry == 0 for entry in v_s)",
                   at([[1]], [1], [0], 1, [1], hull=ABOVE)),
        *ATTENTION,
        Hypothesis("nonnegative weights", "w >= 0", "all(entry >= 0 for entry in w)",
                   at([[1], [2]], [0], [0, 0], 1, [2, -1], hull=ABOVE)),
        Hypothesis("weights sum to one", "Σ w_j = 1", "sum(w) == 1", at([[1]], [0], [0], 1, [0], hull=ABOVE)),
        Hypothesis("nearest point", "⟨p,v_j⟩ >= ‖p‖² for all j", "all(dot(p, row) >= dot(p, p) for row in v)",
                   at([[1], [-1]], [0], [0, 0], 1, [1, 0], hull={"weights": {0: HALF, 1: HALF}})),
    ),
    conclusions=(
        "implies(outside, iff(all(entry == 0 for entry in o), a_s == 1 and all(entry == 0 for entry in a)))",
        "implies(not outside, all(entry == 0 for entry in w @ v) and any(entry != 0 for entry in w))",
        "iff(outside, all(dot(p, row) > 0 for row in v))",
    ),
    satisfiable=at([[1, 1], [1, -1]], [0, 0], [HALF, 0], HALF, [HALF, HALF], hull={"normal": [1, 0]}),
    instances=family(build), strategy=searched(build), numeric=slack,
)

# The direction that heads are tested for, without the weights w: what the false neighbours start from.
SWITCH = Part(
    name="half-space",
    text="v_s = 0 and zero outside conv{v_j}: on the simplex, o = 0 exactly when all mass is on the sink.",
    variables={"v": "matrix: n d", "v_s": "vector: d", "a": "vector: n", "a_s": "scalar"},
    definitions={"o": "a @ v + a_s * v_s"},
    hypotheses=(Hypothesis("null sink", "v_s = 0", "all(entry == 0 for entry in v_s)"),
                Hypothesis("half-space", "zero is not in conv{v_j}", "separable(v, 'hull')"),
                *(Hypothesis(item.name, item.text, item.formula) for item in ATTENTION)),
    conclusions=("iff(all(entry == 0 for entry in o), a_s == 1 and all(entry == 0 for entry in a))",),
)


def instead(dropped: str, name: str, text: str, formula: str) -> tuple[Hypothesis, ...]:
    """SWITCH's hypotheses with another one in place of `dropped`."""
    return SWITCH.instead(dropped, Hypothesis(name, text, formula))


def with_normal(a: list, u: list, **more: object) -> Instance:
    return Instance({"v": [[0]], "v_s": [0], "a": a, "a_s": 0, "u": u, **more})


CLAIM = Claim(
    id="E2", title="Null sink and half-space: switched off means sink", family="equivalence",
    statement="With v_s = 0: (o = 0 implies a = e_s on the simplex) iff 0 is not in conv{v_j, j≠s}, iff "
              "some u has ⟨u,v_j⟩ > 0 for all j≠s.",
    parts=(EQUIVALENT,),
    variants=(
        SWITCH.vary("hull contains zero", "trap", "E2 with zero in the hull of the content values",
                    head([[0]], [0], [1], 0), drop=("half-space",)),
        SWITCH.vary("nonzero values", "trap", "E2 with content values nonzero in place of the half-space",
                    head([[1], [-1]], [0], [HALF, HALF], 0),
                    hypotheses=instead("half-space", "nonzero values", "no content value is zero",
                                       "all(any(entry != 0 for entry in row) for row in v)")),
        SWITCH.vary("closed half-space", "strict for non-strict", "E2 with ⟨u,v_j⟩ >= 0 and u ≠ 0",
                    with_normal([1], [1]), variables={**SWITCH.variables, "u": "vector: d"},
                    hypotheses=instead("half-space", "closed half-space", "u ≠ 0 and ⟨u,v_j⟩ >= 0",
                                       "dot(u, u) > 0 and all(dot(u, row) >= 0 for row in v)")),
        SWITCH.vary("affine half-space", "drop hypothesis",
                    "E2 with ⟨u,v_j⟩ > c for some u ≠ 0 and c of any sign",
                    with_normal([1], [1], c=-1), variables={**SWITCH.variables, "u": "vector: d", "c": "scalar"},
                    hypotheses=instead("half-space", "affine half-space", "u ≠ 0 and ⟨u,v_j⟩ > c",
                                       "dot(u, u) > 0 and all(dot(u, row) > c for row in v)")),
        SWITCH.vary("signs free", "drop hypothesis", "E2 with weights of any sign",
                    head([[1], [1]], [0], [1, -1], 1, hull=ABOVE), drop=("nonnegative",)),
        SWITCH.vary("sink in the half-space", "wrong matrix", "E2 with v_s in the half-space instead of zero",
                    head([[1]], [1], [0], 1, hull=ABOVE),
                    hypotheses=instead("null sink", "sink inside", "v_s is in the half-space of v_1",
                                       "separable([v_s, v[0]], 'hull')")),
        SWITCH.vary("off means self", "swap sink and diagonal",
                    "o = 0 exactly when all mass is on the first token",
                    head([[1]], [0], [1], 0, hull=ABOVE),
                    conclusions=("iff(all(entry == 0 for entry in o), a[0] == 1 and a_s == 0)",)),
        SWITCH.vary("centroid as normal", "centroid for min-norm point",
                    "the centroid c of values whose hull misses zero has ⟨c,v_j⟩ > 0 for all j",
                    head([[1, 0], [-1, 1], [-2, 1]], [0, 0], [0, 0, 0], 1, hull={"normal": [1, 3]}),
                    definitions={"c": "[total / len(v) for total in sum(row for row in v)]"},
                    conclusions=("all(dot(c, row) > 0 for row in v)",)),
    ),
    scope_notes=("V = W_VO has rank at most the head dimension; the half-space of the values, unlike their "
                 "independence, can hold for any number of tokens.",),
)
