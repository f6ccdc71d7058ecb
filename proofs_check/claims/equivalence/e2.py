"""E2: on the simplex, with a null sink, output zero means sink exactly when zero is outside the content values' hull."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from numerics.hull import min_norm_point
from proofs_check.claim import Claim, Hypothesis, Instance, Part

# v: content values (n, d); a: attention on the content keys; a_s: attention on the sink, whose value is zero.
SWITCH = Part(
    name="half-space",
    text="If v_s = 0 and zero is not in the hull of the content values, a switched-off head puts all mass on the sink.",
    variables={"v": "matrix", "v_s": "vector", "a": "vector", "a_s": "scalar"},
    hypotheses=(
        Hypothesis("null sink", "v_s = 0", "all(entry == 0 for entry in v_s)",
                   Instance({"v": [[1]], "v_s": [-1], "a": [Fraction(1, 2)], "a_s": Fraction(1, 2)},
                            {"hull": {"normal": [1]}})),
        Hypothesis("half-space", "zero is not in conv{v_j}", "separable(v, 'hull')",
                   Instance({"v": [[0]], "v_s": [0], "a": [1], "a_s": 0}, {"hull": {"weights": {0: 1}}})),
        Hypothesis("nonnegative", "a >= 0", "a_s >= 0 and all(entry >= 0 for entry in a)",
                   Instance({"v": [[1], [1]], "v_s": [0], "a": [1, -1], "a_s": 1}, {"hull": {"normal": [1]}})),
        Hypothesis("sum one", "the attention sums to one", "a_s + sum(a) == 1",
                   Instance({"v": [[1]], "v_s": [0], "a": [0], "a_s": 0}, {"hull": {"normal": [1]}})),
        Hypothesis("switched off", "o = 0", "all(entry == 0 for entry in a @ v + a_s * v_s)",
                   Instance({"v": [[1]], "v_s": [0], "a": [1], "a_s": 0}, {"hull": {"normal": [1]}})),
    ),
    conclusions=("a_s == 1 and all(entry == 0 for entry in a)",),
    satisfiable=Instance({"v": [[1, 0], [1, 1]], "v_s": [0, 0], "a": [0, 0], "a_s": 1}, {"hull": {"normal": [1, 0]}}),
)

CLAIM = Claim(
    id="E2", title="Null sink and half-space: switched off means sink", family="equivalence",
    statement="With v_s = 0: (o = 0 implies a = e_s on the simplex) iff 0 is not in conv{v_j, j≠s}.",
    parts=(SWITCH,),
    variants=(
        SWITCH.vary("hull contains zero", "trap", "E2 with zero in the hull of the content values",
                    Instance({"v": [[0]], "v_s": [0], "a": [1], "a_s": 0}), drop=("half-space",)),
    ),
)
