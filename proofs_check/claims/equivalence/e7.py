"""E7: E2's and E5's hypotheses are sharp, and where softmax with finite logits can be off."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import (
    Choose, Shape, agreement, entry, family, searched, simplex, softmax_row, these, vector, zero_in_hull)
from proofs_check.claims.equivalence.e1 import HALF, head
from proofs_check.claims.equivalence.e2 import ABOVE, SWITCH, instead
from proofs_check.claims.equivalence.e5 import IDENTIFIED as CONTEXTS
from proofs_check.claims.equivalence.e5 import at as contexts
from proofs_check.claims.exact import combine, zeros

F = Fraction
OFF = "all(entry == 0 for entry in o)"
NULL = "all(entry == 0 for entry in v_s)"
SIMPLEX = "a_s >= 0 and all(entry >= 0 for entry in a) and a_s + sum(a) == 1"
OUTSIDE = "separable(v, 'hull')"


def example(name: str, text: str, instance: Instance, *conclusions: str) -> Part:
    """These very values: what holds for them, and what E2 or E5 would say does not."""
    return Part(name=name, text=text, variables=SWITCH.variables, definitions=SWITCH.definitions,
                quantifier="exists", conclusions=(these(instance), *conclusions), satisfiable=instance,
                instances=lambda seed: [instance])


EXAMPLES = (
    example("null content value", "0 in the hull, one content key: v_1 = 0 and all attention on it.",
            head([[0]], [0], [1], 0), NULL, SIMPLEX, OFF, "a_s == 0"),
    example("opposite values",
            "0 in the hull, nonzero values: v_1 = 1, v_2 = −1, half the attention on each.",
            head([[1], [-1]], [0], [HALF, HALF], 0), NULL, "all(row != [0] for row in v)", SIMPLEX, OFF,
            "a_s == 0"),
    example("sink value not 0", "v_s = −1 and v_1 = 1, half the attention on each.",
            head([[1]], [-1], [HALF], HALF, hull=ABOVE), OUTSIDE, SIMPLEX, OFF, "a_s != 1"),
    example("negative weight", "v_s = 0, v_1 = 1, v_2 = 2 with weights 2 and −1, nothing on the sink.",
            head([[1], [2]], [0], [2, -1], 0, hull=ABOVE), NULL, OUTSIDE, "a_s + sum(a) == 1", OFF,
            "a_s == 0"),
    example("sum 1 dropped",
            "v_s = 0, v_1 = 1 and a = 0, as sigmoid attention and softmax₁ may approach: no sink.",
            head([[1]], [0], [0], 0, hull=ABOVE), NULL, OUTSIDE,
            "a_s >= 0 and all(entry >= 0 for entry in a)", OFF,
            "a_s != 1"),
    example("one context",
            "E5 with one context that holds the content key: independent, v_s = −v_1, weights ½.",
            head([[1]], [-1], [HALF], HALF), "rank(v) == len(v)", "a_s + sum(a) == 1", OFF,
            "any(entry != 0 for entry in v_s)"),
)


def single(v: list, v_s: list, a: object, a_s: object, **witnesses: dict) -> Instance:
    return Instance({"v_1": v, "v_s": v_s, "a_1": a, "a_s": a_s}, witnesses)


def build_single(choose: Choose, shape: Shape) -> Instance:
    """One content key with a nonzero value, any weight on it; often none."""
    value = vector(choose, shape)
    value[choose(0, shape.dim - 1)] = choose(1, 3)
    weight = F(entry(choose, "fraction")) * choose(0, 1)
    return single(value, zeros(shape.dim), weight, 1 - weight, hull={"normal": value})


def single_slack(values: Mapping[str, object]) -> float:
    off = float(np.linalg.norm(values["a_1"] * values["v_1"] + values["a_s"] * values["v_s"]))
    return agreement(off, abs(values["a_1"]) + abs(values["a_s"] - 1.0))


TWO_NEEDED = Part(
    name="two content keys needed for that",
    text="With one content key, zero outside the hull of its value, v_s = 0 and weights of sum one, signs "
         "free: o = 0 "
         "still means that all weight is on the sink.",
    variables={"v_1": "vector", "v_s": "vector", "a_1": "scalar", "a_s": "scalar"},
    definitions={"o": "a_1 * v_1 + a_s * v_s"},
    hypotheses=(
        Hypothesis("null sink", "v_s = 0", NULL, single([1], [-1], HALF, HALF, hull=ABOVE)),
        Hypothesis("half-space", "zero is not in {v_1}", "separable([v_1], 'hull')", single([0], [0], 1, 0)),
        Hypothesis("sum one", "the weights sum to one", "a_s + a_1 == 1", single([1], [0], 0, 0, hull=ABOVE)),
    ),
    conclusions=(f"implies({OFF}, a_1 == 0 and a_s == 1)",),
    satisfiable=single([1], [0], 2, -1, hull=ABOVE),
    instances=family(build_single), strategy=searched(build_single), numeric=single_slack,
)


def relative(y: list, w: list, c: list, P: list, eps: list) -> Instance:
    return Instance({"y": y, "w": w, "c": c, "P": P, "eps": eps})


def build_interior(choose: Choose, shape: Shape) -> Instance:
    """Values with 0 in the relative interior of their hull (both sides shown) or somewhere else (neither
    is)."""
    y, w = zero_in_hull(choose, shape, full=choose(0, 2) > 0)
    c, P, eps = simplex(choose, len(y)), [], []
    for j, own in enumerate(w):
        part = F(choose(1, 4), 4)
        through = [F(0) if k == j else weight / (1 - own) for k, weight in enumerate(w)] if own < 1 else w
        P.append(combine([part, 1 - part], [through, w], len(w)))
        eps.append(part * own / (1 - own) if own < 1 else F(choose(1, 4), 2))
    return relative(y, w, c, P, eps)


def interior_slack(values: Mapping[str, object]) -> float:
    """Minus the output for the softmax of the finite logits log w, for both weight vectors, where they are
    positive."""
    y, w = values["y"], values["w"]
    found = values["P"].sum(axis=0) + values["eps"]
    both = [weights / weights.sum() for weights in (w, found) if weights.min() > 0]
    return -max((float(np.linalg.norm(softmax_row(np.log(weights)) @ y)) for weights in both), default=0.0)


# Both sides of the equivalence carry their witnesses as variables.  Left: w.  Right: for each value y_j (and
# so for every point of the hull) an ε_j > 0 with −ε_j·y_j in the hull, by the weights P_j.
RELATIVE = Part(
    name="relative interior",
    text="Some positive weights (softmax of finite logits: log w_j) have output zero iff 0 is in the "
         "relative interior "
         "of the hull of all visible values: it is in the hull, and from every point of the hull the segment "
         "through 0 "
         "goes on inside it. From w: beyond the point Σ c_j y_j at −t times it, t = min w, with weights "
         "(1+t)w − tc. "
         "From the P_j: weights proportional to Σ_j P_j + ε.",
    variables={"y": "matrix: n d", "w": "vector: n", "c": "vector: n", "P": "matrix: n n", "eps": "vector: n"},
    definitions={
        "reached": "all(entry > 0 for entry in w) and sum(w) == 1 and all(entry == 0 for entry in w @ y)",
        "t": "min(w)", "beyond": "(1 + t) * w - t * c",
        "interior": "all(entry > 0 for entry in eps) and all(entry >= 0 for row in P for entry in row) and "
                    "all(sum(row) == 1 for row in P) and "
                    "all(P[j] @ y == [-eps[j] * entry for entry in y[j]] for j in range(len(y)))",
        "total": "sum(1 + entry for entry in eps)",
        "found": "[(sum(row[k] for row in P) + eps[k]) / total for k in range(len(y))]",
    },
    hypotheses=(Hypothesis("a point of the hull", "c >= 0 sums to one",
                           "all(entry >= 0 for entry in c) and sum(c) == 1",
                           relative([[0]], [1], [5], [[1]], [1])),),
    conclusions=(
        "implies(reached, t > 0 and all(entry >= 0 for entry in beyond) and sum(beyond) == 1 "
        "and beyond @ y == [-t * entry for entry in c @ y])",
        "implies(interior, all(entry > 0 for entry in found) and sum(found) == 1 "
        "and all(entry == 0 for entry in found @ y))",
    ),
    satisfiable=relative([[1], [-2]], [F(2, 3), F(1, 3)], [1, 0], [[0, 1], [1, 0]], [2, HALF]),
    instances=family(build_interior,
                     [relative([[1, 0], [-1, 0]], [HALF, HALF], [1, 0], [[0, 1], [1, 0]], [1, 1])]),
    strategy=searched(build_interior), numeric=interior_slack,
)

CLAIM = Claim(
    id="E7", title="Each hypothesis of E2 and E5 is needed; finite logits and the relative interior",
    family="equivalence",
    statement="Smallest exact counterexamples: v_1 = 0 alone; v_1 = −v_2; v_s ≠ 0; weights of any sign (two "
              "content keys at least); Σa = 1 dropped (a = 0); one context in E5. Finite logits reach o = 0 "
              "iff 0 is in the relative interior of the hull of all visible values.",
    parts=(*EXAMPLES, TWO_NEEDED, RELATIVE),
    variants=(
        SWITCH.vary("nonzero values suffice", "trap",
                    "E2 with nonzero content values in place of the half-space",
                    head([[1], [-1]], [0], [HALF, HALF], 0),
                    hypotheses=instead("half-space", "nonzero", "no content value is zero",
                                       "all(any(entry != 0 for entry in row) for row in v)")),
        SWITCH.vary("sigmoid needs a sink", "trap", "E2 with Σa <= 1 in place of Σa = 1",
                    head([[1]], [0], [0], 0, hull=ABOVE),
                    hypotheses=instead("sum one", "sum at most one", "Σa <= 1", "a_s + sum(a) <= 1")),
        SWITCH.vary("signs never matter", "trap",
                    "E2 with weights of any sign, for any number of content keys",
                    head([[1], [1]], [0], [1, -1], 1, hull=ABOVE), drop=("nonnegative",)),
        CONTEXTS.vary("one context suffices", "trap", "E5 with a single context, whatever it holds",
                      contexts([[1]], [-1], [[HALF]], [HALF], [[0, 0]]), drop=("no common token",)),
        RELATIVE.vary("the whole interior", "wrong converse",
                      "finite logits reach zero only if 0 is in the interior of the hull",
                      relative([[0]], [1], [1], [[1]], [1]),
                      conclusions=("implies(reached, rank(y) == len(y[0]))",)),
        RELATIVE.vary("any hull point", "strict for non-strict",
                      "0 in the hull (w >= 0) is enough to go on beyond it",
                      relative([[0], [1]], [1, 0], [0, 1], [[1, 0], [1, 0]], [0, 0]),
                      definitions={**RELATIVE.definitions, "reached": RELATIVE.definitions["reached"].replace(
                          "entry > 0", "entry >= 0")}),
        RELATIVE.vary("a boundary point", "strict for non-strict", "ε_j >= 0 is enough for finite logits",
                      relative([[0], [1]], [1, 0], [0, 1], [[1, 0], [1, 0]], [0, 0]),
                      definitions={**RELATIVE.definitions,
                                   "interior": RELATIVE.definitions["interior"].replace(
                          "entry > 0 for entry in eps", "entry >= 0 for entry in eps")}),
    ),
)
