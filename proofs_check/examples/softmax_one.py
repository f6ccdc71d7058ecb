"""X3: softmax_1 is ordinary softmax with one more key, of logit 0 and value 0: a null sink that no token has to play.

softmax_1 has the weights e^{l_j} / (1 + sum_k e^{l_k}) (E. Miller, "Attention is off by one", 2023).  Statements are
about z_j = e^{l_j} > 0 and the new key's e_0 = e^{l_0} and value v_0, so that they are exact.  A sink with value 0 is
the null sink of claim O6; softmax_1, whose weights need not sum to one, needs none among the tokens (claim E7).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from numerics.attention import softmax_attention
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.engines.derivations import symbolic_part
from theory.statements import Derivation, Lemma, Parameter


def head(z: list, values: list, e0: object, v0: list) -> Instance:
    return Instance({"z": z, "values": values, "e0": e0, "v0": v0})


def one_for_logit_zero(seed: int) -> Iterator[Instance]:
    """Heads with no, one and many keys; integer, rational and float weights."""
    rng = np.random.default_rng(seed)
    for case in range(40):
        count, dim = case % 8 + 1, case % 3 + 1
        z = np.exp(2 * rng.normal(size=count)).tolist() if case % 4 == 3 else \
            [Fraction(int(top), int(bottom)) for top, bottom in rng.integers(1, 9, size=(count, 2))]
        yield head(z, rng.integers(-4, 5, size=(count, dim)).tolist(), 1, [0] * dim)


@st.composite
def drawn(draw: st.DrawFn) -> Instance:
    z = draw(st.lists(st.builds(Fraction, st.integers(1, 40), st.integers(1, 12)), min_size=1, max_size=5))
    return head(z, [[draw(st.integers(-9, 9))] for _ in z], 1, [0])


def float_gap(values: Mapping[str, object]) -> float:
    """Minus the largest difference of the two outputs, both from logits; the second by `numerics`' softmax."""
    z, v = np.asarray(values["z"]), np.asarray(values["values"])
    scores = np.log(np.concatenate([[values["e0"]], z]))
    ordinary = np.asarray(softmax_attention(scores[None, :]))[0] @ np.vstack([values["v0"], v])
    return -float(np.abs(z / (1 + z.sum()) @ v - ordinary).max())


POSITIVE = Hypothesis("positive", "z_j = e^{l_j} > 0, e_0 = e^{l_0} > 0", "e0 > 0 and all(weight > 0 for weight in z)")
SAME = Part(
    name="one more key",
    text="softmax_1 gives each key the weight that ordinary softmax gives it beside one more key of logit 0, and the "
         "outputs agree when that key has the value 0; what softmax_1's weights lack to 1 is the new key's weight.",
    variables={"z": "vector: n", "values": "matrix: n d", "e0": "scalar", "v0": "vector: d"},
    definitions={"off_by_one": "z / (1 + sum(z))", "ordinary": "z / (e0 + sum(z))", "null": "e0 / (e0 + sum(z))"},
    hypotheses=(
        Hypothesis("logit zero", "e_0 = e^0", "e0 == 1", head([1], [[1]], 2, [0])),
        Hypothesis("value zero", "v_0 = 0", "all(entry == 0 for entry in v0)", head([1], [[1]], 1, [1])),
        POSITIVE,
    ),
    conclusions=("off_by_one == ordinary", "off_by_one @ values == ordinary @ values + null * v0",
                 "1 - sum(off_by_one) == null"),
    satisfiable=head([1, 2], [[1, 0], [0, 1]], 1, [0, 0]),
    instances=one_for_logit_zero, strategy=drawn, numeric=float_gap,
)


def sign_of_the_logit() -> Derivation:
    """z/(1 + S) - z/(e_0 + S) = (e_0 - 1) times something positive; S is the sum of all weights, of any number."""
    factor = "z / ((1 + S) * (e0 + S))"
    return Derivation(
        parameters=tuple(Parameter(name, "0", open_min=True) for name in ("z", "S", "e0")), definitions={},
        assumptions={},
        lemmas=(Lemma(f"{factor} > 0", "orthant"),
                Lemma("sign(z / (1 + S) - z / (e0 + S)) == sign(e0 - 1)", "factor", factor=factor)),
        conclusions=("sign(z / (1 + S) - z / (e0 + S)) == sign(e0 - 1)",))


def mass_of_the_null() -> Derivation:
    """If each of n weights is at most t = e^-m, then their sum S <= n t, and the new key gets at least 1/(1 + n t)."""
    difference = "1 / (1 + S) - 1 / (1 + n * t) >= 0"
    return Derivation(
        parameters=(Parameter("n", "1"), Parameter("t", "0", open_min=True), Parameter("S", "0", open_min=True)),
        definitions={}, assumptions={"margins": "n * t - S >= 0"},
        lemmas=(Lemma(difference, "terms", (("1", ("n * t - S", "1 / ((1 + S) * (1 + n * t))")),)),),
        conclusions=(difference,))


ONLY_ZERO = symbolic_part(
    sign_of_the_logit, "no other logit",
    "For any number of keys: softmax_1's weight is above, equal to or below ordinary softmax's beside a key of logit "
    "l_0 as l_0 is above, equal to or below 0.",
    satisfiable=Instance({"z": 1, "S": 2, "e0": 1}))
QUIET = symbolic_part(
    mass_of_the_null, "quiet when all logits are low",
    "If all n logits are at most -m, the new key has at least 1/(1 + n e^-m), and softmax_1's weights sum to at most "
    "n e^-m/(1 + n e^-m): a switch without a sink among the tokens.",
    satisfiable=Instance({"n": 2, "t": 1, "S": 1}),
    counterexamples={"margins": Instance({"n": 1, "t": 1, "S": 2})})

CLAIM = Claim(
    id="X3", title="softmax_1 is a null sink", family="examples", parts=(SAME, ONLY_ZERO, QUIET),
    statement="softmax_1 (e^{l_j}/(1 + sum_k e^{l_k})) is ordinary softmax beside one more key of logit 0 and value 0, "
              "and of no other logit; the weight it does not hand out is that key's.",
    source='softmax_1: E. Miller, "Attention is off by one", 2023; statement and proof are ours',
    required_formal="PROVED ON",
    scope_notes=("The new key is seen by every query and is no token: no position, no causal mask, no embedding.",),
    variants=(
        SAME.vary("a key that says something", "drop hypothesis", "The outputs agree whatever the new key's value is.",
                  head([1], [[1]], 1, [1]), drop=("value zero",)),
        SAME.vary("weights sum to one", "trap", "softmax_1's weights lie on the simplex, like softmax's.",
                  head([1], [[1]], 1, [0]), conclusions=("sum(off_by_one) == 1",)),
        SAME.vary("shift invariance", "trap", "softmax_1, like softmax, does not change when all logits grow by log 2.",
                  head([1], [[1]], 1, [0]), conclusions=("off_by_one == 2 * z / (1 + 2 * sum(z))",)),
        SAME.vary("minus one in the exponent", "wrong matrix", "The new key has e_0 = 1/2: one is taken from a logit.",
                  head([1], [[1]], Fraction(1, 2), [0]), drop=("logit zero",)),
        ONLY_ZERO.vary("the other way", "flip inequality", "A higher logit of the new key raises the others' weights.",
                       Instance({"z": 1, "S": 1, "e0": 2}), derivation=None,
                       conclusions=("sign(z / (1 + S) - z / (e0 + S)) == sign(1 - e0)",)),
        QUIET.vary("as if there were one key", "T for T-1", "The new key has at least 1/(1 + e^-m) whatever n is.",
                   Instance({"n": 2, "t": 1, "S": 2}), derivation=None,
                   conclusions=("1 / (1 + S) - 1 / (1 + t) >= 0",)),
    ),
)
