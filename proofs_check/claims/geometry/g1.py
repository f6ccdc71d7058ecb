"""G1: a form represents the sink exactly when the queries' hull avoids zero and the keys' hull the sink."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from hypothesis import strategies as st

from numerics.gordan import pair_rows as float_pair_rows
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.exact import minus
from proofs_check.claims.geometry.building import (
    agreement, both, index_sets, pair_rows, side, small_index_sets, small_tables, token_tables, witnesses)
from proofs_check.claims.geometry.separating import (
    DEFINITIONS, NECESSARY, RANK_ONE, SEPARATORS, SUFFICIENT, VARIABLES, matrix_instance,
    separators_instance,
)

def product_instance(x: list, queries: list[int], keys: list[int], s: int = 0,
                     also: Mapping[str, list] = MappingProxyType({}), **extra: object) -> Instance:
    """An instance with the witnesses of every hull question, whichever way it goes; `also` adds rows."""
    pairs = [(i, j) for i in queries for j in keys]
    biased = [row + minus(x[s], x[j]) for row, (_, j) in zip(pair_rows(x, s, pairs), pairs)]
    found = witnesses(W=pair_rows(x, s, pairs), q=[x[i] for i in queries],
                      k=[minus(x[s], x[j]) for j in keys], Wb=biased, **also)
    return Instance({"x": x, "s": s, "Q": queries, "K": keys, **extra}, found)


def family(seed: int) -> Iterator[Instance]:
    rng = np.random.default_rng(seed)
    for x in token_tables(seed):
        yield product_instance(x, *index_sets(rng, len(x)))


@st.composite
def drawn(draw: st.DrawFn) -> Instance:
    x = draw(small_tables())
    return product_instance(x, *draw(small_index_sets(len(x))))


def float_sides(values: Mapping[str, object]) -> tuple[int, int, int, int]:
    """(W exists, queries avoid zero, sink avoids keys, (W, b) exists) as floats judge them."""
    x, s = values["x"], values["s"]
    pairs = np.array([(i, j) for i in values["Q"] for j in values["K"]])
    rows = float_pair_rows(x, s, pairs)
    differences = x[s] - x[values["K"]]
    biased = np.hstack([rows, x[s] - x[pairs[:, 1]]])
    return side(rows), side(x[values["Q"]]), side(differences), side(biased)


def iff_slack(values: Mapping[str, object]) -> float:
    pairs, queries, keys, _ = float_sides(values)
    return agreement(pairs, both(queries, keys))


def bias_slack(values: Mapping[str, object]) -> float:
    _, _, keys, biased = float_sides(values)
    return agreement(biased, keys)


QUERIES_EXIST = Hypothesis("queries exist", "Q is not empty", "len(Q) > 0",
                           product_instance([[1], [1]], [], [1]))

IFF = Part(
    name="iff",
    text="Some W gives every query i of Q a margin of at least 1 for the sink over every key j of K (every "
         "positive margin can be scaled to 1), if and only if zero is outside conv{x_i, i in Q} and x_s "
         "outside conv{x_j, j in K}. The sink may be one of the queries.",
    variables=VARIABLES, definitions=DEFINITIONS,
    hypotheses=(QUERIES_EXIST,
                Hypothesis("keys exist", "K is not empty", "len(K) > 0",
                           product_instance([[1], [0]], [1], []))),
    conclusions=("iff(representable, queries_avoid_zero and sink_avoids_keys)",),
    satisfiable=product_instance([[2], [1]], [1], [1]), instances=family, strategy=drawn, numeric=iff_slack,
)

# With K empty both sides of this one are true, so it needs no hypothesis about K.
BIAS = Part(
    name="query bias",
    text="With a free query bias b the margin is x_i^T W (x_s - x_j) + <b, x_s - x_j>; some (W, b) gives "
         "margins of at least 1 if and only if x_s is outside conv{x_j, j in K}.",
    variables=VARIABLES,
    definitions={"biased": "[flat([flat(outer(x[i], x[s] - x[j])), x[s] - x[j]]) for i in Q for j in K]",
                 "representable": "len(biased) == 0 or separable(biased, 'Wb')",
                 "queries_avoid_zero": DEFINITIONS["queries_avoid_zero"],
                 "sink_avoids_keys": DEFINITIONS["sink_avoids_keys"]},
    hypotheses=(QUERIES_EXIST,), conclusions=("iff(representable, sink_avoids_keys)",),
    satisfiable=product_instance([[2], [0]], [1], [1]), instances=family, strategy=drawn, numeric=bias_slack,
)


VARIANTS = (
    IFF.vary("no queries", "trap", "Q may be empty: then every W will do, though x_s lies in the keys' hull.",
             product_instance([[1], [1]], [], [1]), drop=("queries exist",)),
    IFF.vary("no keys", "trap",
             "K may be empty: then every W will do, though zero lies in the queries' hull.",
             product_instance([[1], [0]], [1], []), drop=("keys exist",)),
    IFF.vary("infinitely many queries", "trap",
             "The equivalence extends to the infinite set Q = {1/n} with x_s - x_j = 1: a W = w that gives "
             "margin 1 at the first query gives it at all.  What is replayed is a finite section, the "
             "queries 1/1..1/N: w = 1 fails at n = 2, as every w does at each n > w, although zero is in no "
             "hull of these queries.",
             Instance({"w": 1, "N": 2}), variables={"w": "scalar", "N": "integer"}, definitions={},
             hypotheses=(Hypothesis("first query", "margin 1 at the query 1", "w >= 1"),),
             conclusions=("all(w * (1 / n) >= 1 for n in range(1, N + 1))",)),
    IFF.vary("affine half-space", "trap",
             "It is enough that the queries lie in an affine half-space <c, x> > t, t any number (finite "
             "sets always do).",
             product_instance([[2], [1], [-1]], [1, 2], [1], c=[1], t=-2),
             variables={**VARIABLES, "c": "vector", "t": "scalar"},
             hypotheses=(*IFF.hypotheses,
                         Hypothesis("affine half-space", "<c, x_i> > t on Q",
                                    "all(dot(c, x[i]) > t for i in Q)"),
                         Hypothesis("sink avoids keys", "x_s is outside conv K", "sink_avoids_keys")),
             conclusions=("representable",)),
    IFF.vary("sink among the keys", "trap",
             "The same with the sink itself put into K, hulls taken over the other keys.",
             product_instance([[2], [1]], [1], [0, 1], also={"others": [[1]]}),
             definitions={**DEFINITIONS,
                          "sink_avoids_keys": "separable([x[s] - x[j] for j in K if j != s], 'others')"}),
    IFF.vary("queries alone", "wrong converse", "Zero outside the queries' hull is enough.",
             product_instance([[1], [1]], [1], [1]), conclusions=("iff(representable, queries_avoid_zero)",)),
    IFF.vary("keys alone", "wrong converse", "x_s outside the keys' hull is enough (true with a query bias).",
             product_instance([[2], [0]], [1], [1]), conclusions=("iff(representable, sink_avoids_keys)",)),
    IFF.vary("hulls exchanged", "transpose", "Zero outside the keys' hull and x_s outside the queries'.",
             product_instance([[2], [1], [0]], [1], [2], also={"sq": [[1]], "zk": [[0]]}),
             definitions={**DEFINITIONS, "queries_avoid_zero": "separable([x[s] - x[i] for i in Q], 'sq')",
                          "sink_avoids_keys": "separable([x[j] for j in K], 'zk')"}),
    IFF.vary("centroids", "centroid for min-norm point",
             "It is enough that the queries' mean is not zero and the keys' mean is not x_s.",
             product_instance([[2], [1], [1], [-1]], [1, 2, 3], [1]),
             conclusions=("iff(representable, sum(x[i] for i in Q) != 0 * x[s] and sum(x[s] - x[j] for j in "
                          "K) != 0 * x[s])",)),
    BIAS.vary("bias changes nothing", "wrong converse",
              "With a query bias both hull conditions are still necessary.",
              product_instance([[2], [0]], [1], [1]),
              conclusions=("iff(representable, queries_avoid_zero and sink_avoids_keys)",)),
    RANK_ONE.vary("key without the sink", "wrong matrix", "u = W x_j0 in place of W (x_s - x_j0) will do.",
                  matrix_instance([[1], [-1]], [1], [1], [[Fraction(-1, 2)]]),
                  definitions={"low": "outer(W @ x[K[0]], x[Q[0]] @ W)"}),
    SEPARATORS.vary("margin two", "constant moved",
                    "Separators with products at least 1 give margins of at least 2.",
                    separators_instance([[2], [1]], [1], [1], [1], [1]),
                    conclusions=("all(margin >= 2 for margin in margins)",)),
    SEPARATORS.vary("transposed", "transpose", "W = w u^T does it too.",
                    separators_instance([[1, 1], [1, 0]], [1], [1], [1, 0], [0, 1]),
                    definitions={**SEPARATORS.definitions, "W": "outer(w, u)"}),
)

CLAIM = Claim(
    id="G1", title="Product form: which sinks a bilinear form can represent", family="geometry",
    statement="Q and K finite and not empty: some W gives x_i^T W (x_s - x_j) >= 1 for all i in Q, j in K iff "
              "0 is not in conv{x_i, i in Q} and x_s is not in conv{x_j, j in K}; then rank one suffices "
              "(head dimension 1). The sink may be one of the queries. With a query bias: iff x_s is not in "
              "conv{x_j, j in K}.",
    parts=(IFF, NECESSARY, SUFFICIENT, RANK_ONE, SEPARATORS, BIAS), variants=VARIANTS,
    scope_notes=(
        "Necessity is for logits x_i^T W x_j without RoPE; under RoPE the half-space is sufficient in the "
        "sense of G6 but not necessary.",
        "With a query bias only the sink's distance from the keys' hull matters; a key bias changes no "
        "margin.",
        "Finite Q and K only; the margin is for logits as they stand, a positive scale can be absorbed in W.",
    ),
)
