"""G2: on a finite set of pairs a sink is representable exactly when zero avoids a hull of outer products."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from hypothesis import strategies as st

from numerics.gordan import pair_rows as float_pair_rows
from numerics.gordan import representable as float_representable
from numerics.gordan import sink_pairs
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.exact import minus
from proofs_check.claims.geometry.building import agreement, pair_rows, side, small_tables, token_tables, witnesses

# x: tokens (T+1, d); s: the sink's index; P: pairs (query, key).  "Some W has margins >= 1 on P" is
# `separable` on the rows x_i (x) (x_s - x_j), read as vectors of length d^2, because finitely many positive
# margins can be scaled to 1.
ROWS = "[flat(outer(x[i], x[s] - x[j])) for (i, j) in P]"
DEFINITIONS = {
    "rows": ROWS,
    "representable": "len(rows) == 0 or separable(rows, 'W')",
    "obstructed": "len(rows) > 0 and not separable(rows, 'hull')",
}


def pairs_instance(x: list, pairs: list[tuple[int, int]], s: int = 0, **also: list) -> Instance:
    rows = pair_rows(x, s, pairs)
    return Instance({"x": x, "s": s, "P": pairs}, witnesses(W=rows, hull=rows, **also))


def causal_pairs(size: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(1, size) for j in range(1, i + 1)]


def full_pairs(size: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(1, size) for j in range(1, size)]


def pairs_family(seed: int) -> Iterator[Instance]:
    """Causal, product and arbitrary pair sets, the empty one included; zero on, inside and near the hull."""
    yield pairs_instance([[1], [2]], [])
    rng = np.random.default_rng(seed)
    for case, x in enumerate(token_tables(seed)):
        size = len(x)
        if case % 3 == 0:
            yield pairs_instance(x, causal_pairs(size))
        else:
            everything = [(i, j) for i in range(size) for j in range(1, size)]
            chosen = [pair for pair in everything if rng.random() < (0.4 if case % 3 == 1 else 0.8)]
            yield pairs_instance(x, chosen or everything)


@st.composite
def drawn_pairs(draw: st.DrawFn) -> Instance:
    x = draw(small_tables())
    everything = [(i, j) for i in range(len(x)) for j in range(1, len(x))]
    return pairs_instance(x, sorted(draw(st.sets(st.sampled_from(everything)))))


def pairs_slack(values: Mapping[str, object]) -> float:
    """Two float routes: Gordan on the d^2-dimensional rows, and two hulls where they suffice."""
    if not values["P"]:
        return 1.0
    pairs = np.array(values["P"])
    found = float_representable(values["x"], values["s"], pairs)
    other = {"representable": 1, "not_representable": -1, "undecided": 0}[found.kind] if found.stable else 0
    return agreement(side(float_pair_rows(values["x"], values["s"], pairs)), other)


IFF = Part(
    name="iff",
    text="Some W has x_i^T W (x_s - x_j) >= 1 for all (i, j) in P if and only if zero is not in the convex "
         "hull of the outer products of x_i with x_s - x_j, (i, j) in P. Each instance carries W or the "
         "weights, checked exactly.",
    variables={"x": "matrix: T d", "s": "integer", "P": "pairs"}, definitions=DEFINITIONS,
    conclusions=("iff(representable, not obstructed)",),
    satisfiable=pairs_instance([[2], [1]], [(1, 1)]), instances=pairs_family, strategy=drawn_pairs,
    numeric=pairs_slack,
)

ONE_OF_TWO = Part(
    name="exactly one of the two",
    text="W with margins of at least 1 on P, or convex weights that combine the outer products to zero: one "
         "of the two exists, and never both.",
    variables=IFF.variables, definitions=DEFINITIONS,
    conclusions=("(representable or obstructed) and not (representable and obstructed)",),
    satisfiable=pairs_instance([[1], [0]], [(1, 1)]), instances=pairs_family, strategy=drawn_pairs,
    numeric=pairs_slack,
)


def causal_instance(x: list, **also: list) -> Instance:
    size = len(x)
    return Instance({"x": x}, witnesses(C=pair_rows(x, 0, causal_pairs(size)),
                                        F=pair_rows(x, 0, full_pairs(size)), **also))


def causal_family(seed: int) -> Iterator[Instance]:
    return map(causal_instance, token_tables(seed))


def causal_slack(values: Mapping[str, object]) -> float:
    x = values["x"]
    full = sink_pairs(len(x), 0, False)
    return agreement(side(float_pair_rows(x, 0, sink_pairs(len(x), 0, True))),
                     side(float_pair_rows(x, 0, full)))


CAUSAL = Part(
    name="causal mask",
    text="Tokens 0..T, the sink first. With the causal mask (row i competes with the content keys j <= i, "
         "its own token included) the sink is representable if and only if it is without a mask: the mask "
         "has a full row (the last) and a full column (the first content token), so it buys nothing.",
    variables={"x": "matrix"},
    definitions={
        "causal": "[flat(outer(x[i], x[0] - x[j])) for i in range(1, len(x)) for j in range(1, i + 1)]",
        "full": "[flat(outer(x[i], x[0] - x[j])) for i in range(1, len(x)) for j in range(1, len(x))]",
    },
    # Without content tokens both sides are empty demands, so this hypothesis is there for the wording only.
    hypotheses=(Hypothesis("a content token", "T >= 1", "len(x) >= 2"),),
    conclusions=("iff(len(causal) == 0 or separable(causal, 'C'), len(full) == 0 or separable(full, 'F'))",),
    satisfiable=causal_instance([[2], [1]]), instances=causal_family,
    strategy=lambda: small_tables().map(causal_instance),
    numeric=causal_slack,
)

# x_0 is the sink; <q, x_i> must have one sign on connected pairs, and x_1..x_3 have zero in their hull.
RANK_TWO = [[1, 0], [-2, 0], [1, -2], [0, 2]]
CONNECTED = [(1, 1), (2, 1), (2, 3), (3, 3)]
NO_RANK_ONE = Instance({"x": RANK_TWO, "s": 0, "P": CONNECTED, "W": [[-1, -2], [-1, -1]]},
                       witnesses(queries=[RANK_TWO[i] for i, _ in CONNECTED]))

RANK_ONE_FAILS = Part(
    name="rank one can fail", quantifier="exists",
    text="x_s = (1,0), x_1 = (-2,0), x_2 = (1,-2), x_3 = (0,2) and the pairs (1,1), (2,1), (2,3), (3,3): "
         "some W has margins of at least 1, none of rank at most one has. For u w^T the factors <x_i, u> and "
         "<w, x_s - x_j> would have the same sign on each pair, hence, as each pair shares an end with the next, "
         "one sign throughout; but zero is in the queries' hull.",
    variables={**IFF.variables, "W": "matrix: d d"},
    conclusions=(f"s == 0 and x == {RANK_TWO}", f"P == {[list(pair) for pair in CONNECTED]}",
                 "all(dot(x[i] @ W, x[s] - x[j]) >= 1 for (i, j) in P)",
                 "all(P[m][0] == P[m + 1][0] or P[m][1] == P[m + 1][1] for m in range(len(P) - 1))",
                 "not separable([x[i] for (i, j) in P], 'queries')"),
    satisfiable=NO_RANK_ONE, instances=lambda seed: iter([NO_RANK_ONE]),
)

VARIANTS = (
    CAUSAL.vary("own token left out", "trap",
                "With pairs j < i instead of j <= i: at T = 1 no pair is left and W = 0 is accepted.",
                causal_instance([[1], [0]]), definitions={
                    **CAUSAL.definitions,
                    "causal": "[flat(outer(x[i], x[0] - x[j])) "
                              "for i in range(1, len(x)) for j in range(1, i)]"}),
    CAUSAL.vary("diagonal pairs only", "wrong mask", "The pairs (i, i) alone are as strong as all pairs.",
                causal_instance([[0], [1], [-1]], D=[[-1], [-1]]),
                definitions={**CAUSAL.definitions,
                             "own": "[flat(outer(x[i], x[0] - x[i])) for i in range(1, len(x))]"},
                conclusions=("iff(separable(own, 'D'), separable(full, 'F'))",)),
    IFF.vary("rank one for every P", "trap",
             "Where P is representable, rank one will do. P is connected here, so a rank-one q k^T with "
             "positive margins has <q, x_i> of one sign on all queries and <k, x_s - x_j> of that sign on "
             "all keys: both families would be separable.",
             pairs_instance(RANK_TWO, CONNECTED, queries=[RANK_TWO[i] for i, _ in CONNECTED],
                            keys=[minus(RANK_TWO[0], RANK_TWO[j]) for _, j in CONNECTED]),
             conclusions=("implies(representable, separable([x[i] for (i, j) in P], 'queries') "
                          "and separable([x[s] - x[j] for (i, j) in P], 'keys'))",)),
    IFF.vary("G1 for every P", "wrong mask",
             "For every P, representable iff zero avoids the queries' hull and the sink the keys' hull.",
             pairs_instance([[0], [1], [-1]], [(1, 1), (2, 2)], queries=[[1], [-1]], keys=[[-1], [1]]),
             conclusions=("iff(representable, separable([x[i] for (i, j) in P], 'queries') "
                          "and separable([x[s] - x[j] for (i, j) in P], 'keys'))",)),
    IFF.vary("weights of any sign", "drop hypothesis",
             "Weights may have any sign: representable iff the outer products are linearly independent.",
             pairs_instance([[2], [1]], [(0, 1), (1, 1)]),
             conclusions=("iff(representable, rank(rows) == len(rows))",)),
    IFF.vary("zero on the boundary", "strict for non-strict",
             "Zero on the boundary of the hull does no harm: margins of 0 count, so <W, row> >= 0 with W != "
             "0 is enough.",
             Instance({**pairs_instance([[1], [0]], [(1, 1)]).values, "W": [[1]]},
                      pairs_instance([[1], [0]], [(1, 1)]).witnesses),
             variables={**IFF.variables, "W": "matrix: d d"},
             hypotheses=(Hypothesis("margins not negative", "<W, row> >= 0, W != 0",
                                    "all(dot(flat(W), row) >= 0 for row in rows) and not W == 0 * W"),),
             conclusions=("representable",)),
)

CLAIM = Claim(
    id="G2", title="Any set of pairs: Gordan's alternative for a sink", family="geometry",
    statement="For every finite set P of pairs the sink is representable iff 0 is not in conv{x_i (x) (x_s - "
              "x_j), (i, j) in P}: exactly one of W and the convex weights exists. A causal mask, own token "
              "included, is representable iff the full product is. For general P rank one can fail.",
    parts=(IFF, ONE_OF_TWO, CAUSAL, RANK_ONE_FAILS), variants=VARIANTS,
    scope_notes=(
        "On instances the kernel reads W or the weights and checks it exactly; that there is always one of "
        "them, for every size, is Gordan's theorem, which is proved formally.",
        "Logits without RoPE: with RoPE the form depends on the positions (G6).",
    ),
)
