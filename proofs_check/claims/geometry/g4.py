"""G4: on the sphere a strict common sign of <x_s, x_i> is enough, by a rank-one form of known margin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import these
from proofs_check.claims.exact import Matrix, Vector, dot, identity, solve, transposed
from proofs_check.claims.geometry.building import pair_rows, witnesses
from proofs_check.claims.geometry.spheres import affine, drawn_sphere, sphere_tables

# n: normalised tokens (T+1, d); G: the gain as a matrix; b: the bias; sigma = +1 or -1; k = G^-T n_s, given
# by G^T k = n_s.
VARIABLES = {"n": "matrix", "G": "matrix", "b": "vector", "k": "vector", "sigma": "integer", "s": "integer",
             "Q": "set", "K": "set"}
DEFINITIONS = {
    "x": "[G @ token + b for token in n]",
    "W": "sigma * outer(x[s], k)",
    "margins": "[dot(x[i] @ W, x[s] - x[j]) for i in Q for j in K]",
    "values": "[abs(dot(x[s], x[i])) * dot(n[s] - n[j], n[s] - n[j]) / 2 for i in Q for j in K]",
    "alignment": "min([abs(dot(x[s], x[i])) for i in Q])",
    "spread": "min([dot(n[s] - n[j], n[s] - n[j]) for j in K])",
    "rows": "[flat(outer(x[i], x[s] - x[j])) for i in Q for j in K]",
}
HALF = Fraction(1, 2)
P35, P45 = Fraction(3, 5), Fraction(4, 5)


def dual_sink(gain: Matrix, sink: Vector) -> list[Fraction]:
    """k with G^T k = n_s, exactly."""
    return [entry for entry, in solve(transposed(gain), [[entry] for entry in sink])]


def aligned_instance(n: list, gain: list, sigma: int, queries: list[int], keys: list[int], *,
                     k: list | None = None, b: list | None = None, represent: bool = False) -> Instance:
    """k is computed from the gain unless given; `represent` adds the witness for `separable(rows, 'W')`."""
    bias = b or [0] * len(n[0])
    values = {"n": n, "G": gain, "b": bias, "k": k or dual_sink(gain, n[0]), "sigma": sigma, "s": 0,
              "Q": queries, "K": keys}
    x = affine(n, gain, bias)
    rows = pair_rows(x, 0, [(i, j) for i in queries for j in keys])
    return Instance(values, witnesses(rows=rows) if represent else {})


def strictly_aligned(n: list, gain: list) -> Iterator[tuple[int, list[int]]]:
    """(sigma, queries): all tokens whose product with the sink has that sign; the sink comes with +1."""
    x = affine(n, gain, [0] * len(n[0]))
    for sigma in (1, -1):
        queries = [i for i in range(len(n)) if sigma * dot(x[0], x[i]) > 0]
        if queries:
            yield sigma, queries


def family(seed: int) -> Iterator[Instance]:
    for n, gain, _ in sphere_tables(seed):
        for sigma, queries in strictly_aligned(n, gain):
            yield aligned_instance(n, gain, sigma, queries, list(range(1, len(n))))


@st.composite
def drawn(draw: st.DrawFn, with_sink: bool = False) -> Instance:
    n, gain, _ = draw(drawn_sphere())
    choices = [item for item in strictly_aligned(n, gain) if not with_sink or 0 in item[1]]
    sigma, queries = draw(st.sampled_from(choices))
    keys = draw(st.sets(st.integers(1, len(n) - 1), min_size=1))
    return aligned_instance(n, gain, sigma, queries, sorted(keys))


def float_margins(values: Mapping[str, object]) -> tuple[np.ndarray, np.ndarray]:
    """Margins of sigma x_s (G^-T n_s)^T, its inverse taken in floats, and the values claimed for them."""
    n, s = values["n"], values["s"]
    x = n @ values["G"].T + values["b"]
    form = values["sigma"] * np.outer(x[s], np.linalg.solve(values["G"].T, n[s]))
    margins = x[values["Q"]] @ form @ (x[s] - x[values["K"]]).T
    squares = ((n[s] - n[values["K"]]) ** 2).sum(axis=1)
    return margins, np.abs(x[values["Q"]] @ x[s])[:, None] * squares / 2


def margin_slack(values: Mapping[str, object]) -> float:
    margins, claimed = float_margins(values)
    return float(min(margins.min(),
                     -np.abs(margins - claimed).max() if not np.allclose(margins, claimed) else np.inf))


def minimum_slack(values: Mapping[str, object]) -> float:
    margins, claimed = float_margins(values)
    return -abs(float(margins.min() - claimed.min())) / max(1.0, float(claimed.min()))


def sign_slack(values: Mapping[str, object]) -> float:
    x = values["n"] @ values["G"].T + values["b"]
    return float(values["sigma"] * (x[values["s"]] @ x[values["s"]]))


def geometry(**counterexamples: Instance) -> tuple[Hypothesis, ...]:
    """The hypotheses of the first two parts, each with its own counterexample."""
    table = {
        # Given k with G^T k = n_s the margins come out the same for a singular G, and for any bias: the first
        # two are not needed. They belong to the statement, which takes G^-1 and sets b = 0.
        "gain invertible": ("G is invertible", "rank(G) == len(G) and len(G) == len(G[0])"),
        "no bias": ("b = 0", "b == 0 * b"),
        "dual sink": ("k = G^-T n_s", "transpose(G) @ k == n[s]"),
        "sign": ("sigma is +1 or -1", "sigma == 1 or sigma == -1"),
        "aligned": ("sigma <x_s, x_i> > 0 on Q", "all(sigma * dot(x[s], x[i]) > 0 for i in Q)"),
        "one sphere": ("|n_j| = |n_s| for j in K", "all(dot(n[j], n[j]) == dot(n[s], n[s]) for j in K)"),
        "sink apart": ("n_j != n_s for j in K", "all(n[j] != n[s] for j in K)"),
    }
    return tuple(Hypothesis(name, text, formula, counterexamples.get(name.replace(" ", "_")))
                 for name, (text, formula) in table.items())


ONE = [[1]]
MARGIN = Part(
    name="margin",
    text="W = sigma x_s (G^-T n_s)^T gives the pair (i, j) the margin |<x_s, x_i>| |n_s - n_j|^2/2, which is "
         "positive.",
    variables=VARIABLES, definitions=DEFINITIONS,
    hypotheses=geometry(
        dual_sink=aligned_instance([[1], [-1]], ONE, 1, [0], [1], k=[2]),
        sign=aligned_instance([[1], [-1]], ONE, 2, [0], [1]),
        aligned=aligned_instance([[1, 0], [0, 1]], identity(2), 1, [1], [1]),
        one_sphere=aligned_instance([[1], [HALF]], ONE, 1, [0], [1]),
        sink_apart=aligned_instance([[1], [1]], ONE, 1, [0], [1])),
    conclusions=("margins == values", "all(margin > 0 for margin in margins)"),
    satisfiable=aligned_instance([[1], [-1]], ONE, -1, [1], [1]), instances=family, strategy=drawn,
    numeric=margin_slack,
)

# A minimum over an empty set has no value, so these two are there for the wording and have no counterexample.
NOT_EMPTY = (Hypothesis("queries exist", "Q is not empty", "len(Q) > 0"),
             Hypothesis("keys exist", "K is not empty", "len(K) > 0"))
MINIMUM = Part(
    name="minimum",
    text="The least margin of W is exactly min_i |<x_s, x_i>| times min_j |n_s - n_j|^2/2.",
    variables=VARIABLES, definitions=DEFINITIONS,
    # With n_j = n_s for some j both sides are zero, so "sink apart" is not known to be needed for this
    # equality.
    hypotheses=(*geometry(
        dual_sink=aligned_instance([[1], [-1]], ONE, 1, [0], [1], k=[2]),
        sign=aligned_instance([[1], [-1]], ONE, 2, [0], [1]),
        aligned=aligned_instance([[1], [-1]], ONE, -1, [0], [1]),
        one_sphere=aligned_instance([[1], [HALF]], ONE, 1, [0], [1])), *NOT_EMPTY),
    conclusions=("min(margins) == alignment * spread / 2",),
    satisfiable=aligned_instance([[1], [-1]], ONE, -1, [1], [1]), instances=family, strategy=drawn,
    numeric=minimum_slack,
)


SIGN = Part(
    name="sign when the sink is a query",
    text="If the sink is one of the queries, the common sign is +.",
    variables=VARIABLES, definitions=DEFINITIONS,
    hypotheses=(
        Hypothesis("sign", "sigma is +1 or -1", "sigma == 1 or sigma == -1",
                   aligned_instance([[1], [-1]], ONE, 2, [0], [1])),
        Hypothesis("aligned", "sigma <x_s, x_i> > 0 on Q", "all(sigma * dot(x[s], x[i]) > 0 for i in Q)",
                   aligned_instance([[1], [-1]], ONE, -1, [0], [1])),
        Hypothesis("sink is a query", "s is in Q", "s in Q",
                   aligned_instance([[1], [-1]], ONE, -1, [1], [1])),
    ),
    conclusions=("sigma == 1",), satisfiable=aligned_instance([[1], [-1]], ONE, 1, [0], [1]),
    instances=lambda seed: (item for item in family(seed) if 0 in item.values["Q"]),
    strategy=lambda: drawn(with_sink=True), numeric=sign_slack,
)

OPEN = aligned_instance([[1, 0], [P35, P45], [-P35, P45]], identity(2), 1, [1, 2], [1, 2], represent=True)
NOT_NECESSARY = Part(
    name="not necessary", quantifier="exists",
    text="n_s = (1,0), n_1 = (3/5,4/5), n_2 = (-3/5,4/5), no gain, no bias, Q = K = {1, 2}: some W represents "
         "the sink, though <x_s, x_1> and <x_s, x_2> have opposite signs.",
    variables=VARIABLES, definitions=DEFINITIONS,
    conclusions=(*[item.formula for item in MARGIN.hypotheses if item.name != "aligned"],
                 "separable(rows, 'rows')",
                 "any(dot(x[s], x[i]) > 0 for i in Q) and any(dot(x[s], x[i]) < 0 for i in Q)"),
    satisfiable=OPEN, instances=lambda seed: iter([OPEN]), cases=(these(OPEN),),
)

RAW = ("all(dot(x[i] @ (sigma * outer(x[s], x[s])), x[s] - x[j]) > 0 for i in Q for j in K)",)
VARIANTS = (
    MARGIN.vary("not positive is enough", "trap",
                "If all <x_s, x_i> <= 0 the sink is representable, the sign need not be strict: x_s = e1, "
                "x_1 = e2, x_2 = -e2.",
                aligned_instance([[1, 0], [0, 1], [0, -1]], identity(2), -1, [1, 2], [1, 2], represent=True),
                hypotheses=(*[item for item in MARGIN.hypotheses if item.name != "aligned"],
                            Hypothesis("weakly aligned", "sigma <x_s, x_i> >= 0 on Q",
                                       "all(sigma * dot(x[s], x[i]) >= 0 for i in Q)")),
                conclusions=("separable(rows, 'rows')",)),
    MARGIN.vary("x_s x_s^T after the gain", "trap",
                "W = sigma x_s x_s^T will do: with the gain (1, 2) and n_s = (4/5, 3/5) the key n_1 = (3/5, "
                "4/5) wins.",
                aligned_instance([[P45, P35], [P35, P45], [1, 0]], [[1, 0], [0, 2]], 1, [0, 1, 2], [1, 2]),
                conclusions=RAW),
    MARGIN.vary("alignment is necessary", "wrong converse",
                "Where the sink is representable all <x_s, x_i> have one strict sign.",
                OPEN,
                hypotheses=(*[item for item in MARGIN.hypotheses if item.name != "aligned"],
                            Hypothesis("representable", "some W represents the sink",
                                       "separable(rows, 'rows')")),
                conclusions=("all(dot(x[s], x[i]) > 0 for i in Q) or all(dot(x[s], x[i]) < 0 for i in Q)",)),
    MARGIN.vary("minus with the sink among the queries", "trap",
                "The sign of the content queries may be - also where the sink is a query itself.",
                aligned_instance([[1], [-1]], ONE, -1, [0, 1], [1]),
                hypotheses=(*[item for item in MARGIN.hypotheses if item.name != "aligned"],
                            Hypothesis("content aligned", "sigma <x_s, x_i> > 0 on Q without s",
                                       "all(sigma * dot(x[s], x[i]) > 0 for i in Q if i != s)")),
                conclusions=("all(margin > 0 for margin in margins)",)),
    MARGIN.vary("signs may differ", "drop hypothesis", "The products need not have a common sign.",
                aligned_instance([[1], [1], [-1]], ONE, 1, [1, 2], [2]), drop=("aligned",),
                conclusions=("all(margin > 0 for margin in margins)",)),
    MARGIN.vary("transposed", "transpose", "W = sigma (G^-T n_s) x_s^T has the same margins.",
                aligned_instance([[P45, P35], [P35, P45]], [[1, 0], [0, 2]], 1, [1], [1]),
                definitions={**DEFINITIONS, "W": "sigma * outer(k, x[s])"}),
    MINIMUM.vary("without the half", "constant moved",
                 "The least margin is min_i |<x_s, x_i>| min_j |n_s - n_j|^2.",
                 aligned_instance([[1], [-1]], ONE, 1, [0], [1]),
                 conclusions=("min(margins) == alignment * spread",)),
    MINIMUM.vary("squares of the embeddings", "wrong matrix",
                 "The least margin is min_i |<x_s, x_i>| min_j |x_s - x_j|^2/2, taken after the gain.",
                 aligned_instance([[1], [-1]], [[2]], 1, [0], [1]),
                 definitions={**DEFINITIONS, "spread": "min([dot(x[s] - x[j], x[s] - x[j]) for j in K])"}),
)

CLAIM = Claim(
    id="G4", title="Alignment with the sink is enough", family="geometry",
    statement="As G3 with b = 0: if all <x_s, x_i>, i in Q, have the strict common sign sigma, W = sigma x_s "
              "(G^-T n_s)^T has margin exactly min_i |<x_s, x_i>| min_j |n_s - n_j|^2/2. Sufficient, not "
              "necessary; if s is in Q then sigma = +.",
    parts=(MARGIN, MINIMUM, SIGN, NOT_NECESSARY), variants=VARIANTS,
    scope_notes=(
        "For a diagonal gain G^-T n_s is G^-1 n_s, which is not x_s: after a gain x_s x_s^T can lose the "
        "sink.",
        "RMSNorm's epsilon puts outputs slightly off the sphere; then |n_s - n_j|^2/2 becomes <n_s, n_s - "
        "n_j>.",
        "Logits without RoPE; with RoPE see G6.",
    ),
)
