"""E7: E2's and E5's hypotheses are sharp, and where softmax with finite logits can be off."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.equivalence.building import (
    Choose, Shape, combine, family, searched, softmax_row, zero_in_hull)
from proofs_check.claims.equivalence.e1 import HALF, head
from proofs_check.claims.equivalence.e2 import ABOVE, SWITCH
from proofs_check.claims.equivalence.e5 import IDENTIFIED as CONTEXTS
from proofs_check.claims.equivalence.e5 import at as contexts
from proofs_check.engines.derivations import symbolic_part
from theory.switch_margins import one_content_key

F = Fraction
OFF_NOT_SINK = ("all(entry == 0 for entry in o)", "not (a_s == 1 and all(entry == 0 for entry in a))")


def without(dropped: str, name: str, text: str, instance: Instance, *more: str) -> Part:
    """Some head meets E2's hypotheses but for one, is off and is not a sink."""
    return Part(name=name, text=text, variables=SWITCH.variables, definitions=SWITCH.definitions,
                quantifier="exists",
                conclusions=(*(item.formula for item in SWITCH.hypotheses if item.name != dropped),
                             *OFF_NOT_SINK, *more),
                satisfiable=instance, instances=lambda seed: [instance])


SHARP = (
    without("half-space", "without half-space: a zero value",
            "One content value, and it is zero: off with all mass on it.",
            head([[0]], [0], [1], 0, hull={"weights": {0: 1}}), "len(v) == 1", "not separable(v, 'hull')"),
    without("half-space", "without half-space: opposite values", "Two nonzero content values, v_1 = −v_2.",
            head([[1], [-1]], [0], [HALF, HALF], 0, hull={"weights": {0: HALF, 1: HALF}}),
            "len(v) == 2 and all(any(entry != 0 for entry in row) for row in v)", "not separable(v, 'hull')"),
    without("null sink", "without null sink", "One content key and v_s = −v_1.",
            head([[1]], [-1], [HALF], HALF, hull=ABOVE), "len(v) == 1"),
    without("nonnegative", "without signs", "Two content keys with one value, weights 1 and −1.",
            head([[1], [1]], [0], [1, -1], 1, hull=ABOVE), "len(v) == 2"),
    without("sum one", "without sum one",
            "All weights zero, which sigmoid attention and softmax₁ approach: no sink is needed.",
            head([[1]], [0], [0], 0, hull=ABOVE), "a_s == 0 and all(entry == 0 for entry in a)"),
)

_SHARED = contexts([[1]], [-1], [[HALF]], [HALF], [[0, 0]])
ONE_CONTEXT = Part(
    name="one context",
    text="One context that holds a content token (E5 without an empty intersection): v_s = −v_1, off, no "
         "sink.",
    variables=CONTEXTS.variables, definitions=CONTEXTS.definitions, quantifier="exists",
    conclusions=(*(item.formula for item in CONTEXTS.hypotheses if item.name != "no common token"),
                 "len(A) == 1",
                 "all(entry == 0 for row in outputs for entry in row)", "a_s[0] != 1"),
    satisfiable=_SHARED, instances=lambda seed: [_SHARED],
)

ONE_KEY = symbolic_part(
    one_content_key, "one content key",
    "With a single nonzero content value, signs do no harm: the counterexample without signs needs two "
    "content keys. v > 0 is a nonzero coordinate of the value (reverse the axis if need be).",
    satisfiable=Instance({"v": 1, "a": 0, "a_s": 1}),
    counterexamples={"off": Instance({"v": 1, "a": 1, "a_s": 0}),
                     "sum one": Instance({"v": 1, "a": 0, "a_s": 0})})


def build_positive(choose: Choose, shape: Shape) -> Instance:
    """Weights all positive with combination zero; the test direction is often orthogonal to all values but
    one or none."""
    y, w = zero_in_hull(choose, shape, full=True)
    return Instance({"y": y, "w": w, "u": [choose(-2, 2) for _ in range(shape.dim)]})


def softmax_reaches_zero(y: np.ndarray, w: np.ndarray) -> float:
    """Minus the size of the output whose attention is the softmax of the finite logits log w."""
    return -float(np.linalg.norm(softmax_row(np.log(w)) @ y))


POSITIVE = Part(
    name="finite logits need the relative interior",
    text="If a row of positive weights (softmax of finite logits: log w_j) has output zero, then 0 is in "
         "the relative interior of the hull of all visible values: no direction separates weakly but not "
         "trivially, and from every value the segment through zero goes on inside the hull (to "
         "−w_j/(1−w_j)·y_j).",
    variables={"y": "matrix", "w": "vector", "u": "vector"},
    definitions={"share": "[[(0 if k == j else w[k]) / (1 - w[j]) for k in range(len(y))] for j in "
                          "range(len(y))]"},
    hypotheses=(
        Hypothesis("finite logits", "every weight is positive", "all(entry > 0 for entry in w)",
                   Instance({"y": [[0], [1]], "w": [1, 0], "u": [1]})),
        Hypothesis("sum one", "the weights sum to one", "sum(w) == 1",
                   Instance({"y": [[1], [-1]], "w": [1, 1], "u": [0]})),
        Hypothesis("off", "o = 0", "all(entry == 0 for entry in w @ y)",
                   Instance({"y": [[1]], "w": [1], "u": [1]})),
    ),
    conclusions=(
        "implies(all(dot(u, row) >= 0 for row in y), all(dot(u, row) == 0 for row in y))",
        "len(y) == 1 or all(w[j] < 1 and sum(share[j]) == 1 and all(entry >= 0 for entry in share[j]) "
        "and share[j] @ y == [-(w[j] / (1 - w[j])) * entry for entry in y[j]] for j in range(len(y)))",
    ),
    satisfiable=Instance({"y": [[1], [-2]], "w": [F(2, 3), F(1, 3)], "u": [1]}),
    instances=family(build_positive, [Instance({"y": [[1, 0], [-1, 0]], "w": [HALF, HALF], "u": [0, 1]})]),
    strategy=searched(build_positive),
    numeric=lambda values: softmax_reaches_zero(values["y"], values["w"]),
)


def build_interior(choose: Choose, shape: Shape) -> Instance:
    """0 in the relative interior, shown value by value: −ε_j·y_j is in the hull, with weights of different
    origins."""
    y, w = zero_in_hull(choose, shape, full=True)
    if len(y) == 1:
        return Instance({"y": y, "P": [[1]], "eps": [F(choose(1, 4), 2)]})
    P, eps = [], []
    for j, own in enumerate(w):
        part = F(choose(1, 4), 4)
        through = [F(0) if k == j else weight / (1 - own) for k, weight in enumerate(w)]
        P.append(combine([part, 1 - part], [through, w], len(w)))
        eps.append(part * own / (1 - own))
    return Instance({"y": y, "P": P, "eps": eps})


def slack_interior(values: Mapping[str, object]) -> float:
    w = values["P"].sum(axis=0) + values["eps"]
    return softmax_reaches_zero(values["y"], w / w.sum())


INTERIOR = Part(
    name="relative interior is enough",
    text="If 0 is in the relative interior of the hull of all visible values (for every j some −ε_j·y_j, "
         "ε_j > 0, is in the hull, with weights P_j), then some row of positive weights, so some finite "
         "logits, has output zero.",
    variables={"y": "matrix", "P": "matrix", "eps": "vector"},
    definitions={"total": "sum(1 + entry for entry in eps)",
                 "w": "[(sum(row[k] for row in P) + eps[k]) / total for k in range(len(y))]"},
    hypotheses=(
        Hypothesis("nonnegative", "P >= 0", "all(entry >= 0 for row in P for entry in row)",
                   Instance({"y": [[1], [0]], "P": [[-1, 2], [0, 1]], "eps": [1, 1]})),
        Hypothesis("sum one", "the rows of P sum to one", "all(sum(row) == 1 for row in P)",
                   Instance({"y": [[0]], "P": [[2]], "eps": [1]})),
        Hypothesis("positive", "ε_j > 0", "all(entry > 0 for entry in eps)",
                   Instance({"y": [[0], [1]], "P": [[1, 0], [1, 0]], "eps": [0, 0]})),
        Hypothesis("through zero", "P_j·y = −ε_j·y_j",
                   "all(P[j] @ y == [-eps[j] * entry for entry in y[j]] for j in range(len(y)))",
                   Instance({"y": [[1]], "P": [[1]], "eps": [1]})),
    ),
    conclusions=("all(entry > 0 for entry in w) and sum(w) == 1", "all(entry == 0 for entry in w @ y)"),
    satisfiable=Instance({"y": [[1], [-2]], "P": [[0, 1], [1, 0]], "eps": [2, HALF]}),
    instances=family(build_interior), strategy=searched(build_interior), numeric=slack_interior,
)

CLAIM = Claim(
    id="E7", title="Each hypothesis of E2 and E5 is needed; finite logits and the relative interior",
    family="equivalence",
    statement="Smallest exact counterexamples: v_1 = 0 alone; v_1 = −v_2; v_s ≠ 0; weights of any sign (two "
              "content keys at least); Σa = 1 dropped (a = 0); one context in E5. Finite logits reach o = 0 "
              "iff 0 is in the relative interior of the hull of all visible values.",
    parts=(*SHARP, ONE_CONTEXT, ONE_KEY, POSITIVE, INTERIOR),
    variants=(
        SWITCH.vary("nonzero values suffice", "trap",
                    "E2 with nonzero content values in place of the half-space",
                    head([[1], [-1]], [0], [HALF, HALF], 0),
                    hypotheses=tuple(item for item in SWITCH.hypotheses if item.name != "half-space")
                    + (Hypothesis("nonzero", "no content value is zero",
                                  "all(any(entry != 0 for entry in row) for row in v)"),)),
        SWITCH.vary("sigmoid needs a sink", "trap", "E2 with Σa <= 1 in place of Σa = 1",
                    head([[1]], [0], [0], 0, hull=ABOVE),
                    hypotheses=tuple(item for item in SWITCH.hypotheses if item.name != "sum one")
                    + (Hypothesis("sum at most one", "Σa <= 1", "a_s + sum(a) <= 1"),)),
        SWITCH.vary("signs never matter", "trap",
                    "E2 with weights of any sign, for any number of content keys",
                    head([[1], [1]], [0], [1, -1], 1, hull=ABOVE), drop=("nonnegative",)),
        POSITIVE.vary("the whole interior", "wrong converse",
                      "finite logits reach zero only if 0 is in the interior of the hull",
                      Instance({"y": [[0]], "w": [1], "u": [0]}), conclusions=("rank(y) == len(y[0])",)),
        POSITIVE.vary("any hull point", "strict for non-strict",
                      "0 in the hull (weights >= 0) excludes weak separation",
                      Instance({"y": [[0], [1]], "w": [1, 0], "u": [1]}), drop=("finite logits",)),
        INTERIOR.vary("a boundary point", "strict for non-strict", "ε_j >= 0 is enough for finite logits",
                      Instance({"y": [[0], [1]], "P": [[1, 0], [1, 0]], "eps": [0, 0]}),
                      hypotheses=tuple(Hypothesis("nonnegative steps", "ε_j >= 0",
                                                  "all(entry >= 0 for entry in eps)")
                                       if item.name == "positive" else item for item in INTERIOR.hypotheses)),
    ),
    required_formal="PROVED ON",
)

