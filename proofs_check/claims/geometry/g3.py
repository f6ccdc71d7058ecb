"""G3: after a normalisation the sink avoids the keys' hull by itself, so only the queries matter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from numerics.gordan import pair_rows as float_pair_rows
from numerics.hull import distance_to_hull
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.exact import minus
from proofs_check.claims.geometry.building import agreement, index_sets, pair_rows, side, small_index_sets, witnesses
from proofs_check.claims.geometry.spheres import affine, drawn_sphere, sphere_tables

# n: normalised tokens (T+1, d); G: the gain as a matrix; b: the bias; x_j = G n_j + b enters attention.
VARIABLES = {"n": "matrix: T d", "G": "matrix: d d", "b": "vector: d", "s": "integer", "Q": "set", "K": "set"}
DEFINITIONS = {
    "x": "[G @ token + b for token in n]",
    "rows": "[flat(outer(x[i], x[s] - x[j])) for i in Q for j in K]",
    "representable": "len(rows) == 0 or separable(rows, 'W')",
    "half_space": "len(Q) == 0 or separable([x[i] for i in Q], 'q')",
    "sink_avoids_keys": "len(K) == 0 or separable([x[s] - x[j] for j in K], 'k')",
    "minus_bias_outside": "len(Q) == 0 or separable([G @ n[i] - (-b) for i in Q], 'q')",
}


def sphere_instance(n: list, G: list, b: list, queries: list[int], keys: list[int], s: int = 0,
                    also: Mapping[str, list] | None = None, **extra: object) -> Instance:
    x = affine(n, G, b)
    pairs = [(i, j) for i in queries for j in keys]
    found = witnesses(W=pair_rows(x, s, pairs), q=[x[i] for i in queries],
                      k=[minus(x[s], x[j]) for j in keys], **(also or {}))
    return Instance({"n": n, "G": G, "b": b, "s": s, "Q": queries, "K": keys, **extra}, found)


def family(seed: int) -> Iterator[Instance]:
    rng = np.random.default_rng(seed)
    for n, G, b in sphere_tables(seed):
        yield sphere_instance(n, G, b, *index_sets(rng, len(n)))


@st.composite
def drawn(draw: st.DrawFn) -> Instance:
    n, G, b = draw(drawn_sphere())
    return sphere_instance(n, G, b, *draw(small_index_sets(len(n))))


def float_tokens(values: Mapping[str, object]) -> np.ndarray:
    return values["n"] @ values["G"].T + values["b"]


def keys_slack(values: Mapping[str, object]) -> float:
    x = float_tokens(values)
    return float(side(x[values["s"]] - x[values["K"]]))


def iff_slack(values: Mapping[str, object]) -> float:
    x, s = float_tokens(values), values["s"]
    pairs = np.array([(i, j) for i in values["Q"] for j in values["K"]])
    return agreement(side(float_pair_rows(x, s, pairs)), side(x[values["Q"]]))


ONE, UNIT = [[1]], [0]
INVERTIBLE = "rank(G) == len(G) and len(G) == len(G[0])"
SPHERE = "all(dot(n[j], n[j]) == dot(n[s], n[s]) for j in K)"
DISTINCT = "all(n[j] != n[s] for j in K)"

OFF_HULL = Part(
    name="sink off the keys' hull",
    text="If the keys' normalised tokens have the norm of the sink's and differ from it, and the gain is "
         "invertible, x_s is not in conv{x_j, j in K}, whatever the bias. (Two different points have one "
         "norm r only if r > 0.)",
    variables=VARIABLES, definitions=DEFINITIONS,
    hypotheses=(
        Hypothesis("gain invertible", "G is invertible", INVERTIBLE,
                   sphere_instance([[1], [-1]], [[0]], [0], [1], [1])),
        Hypothesis("one sphere", "|n_j| = |n_s| for j in K", SPHERE,
                   sphere_instance([[0], [1], [-1]], ONE, UNIT, [1], [1, 2])),
        Hypothesis("sink apart", "n_j != n_s for j in K", DISTINCT,
                   sphere_instance([[1], [1]], ONE, UNIT, [1], [1])),
    ),
    conclusions=("sink_avoids_keys",),
    satisfiable=sphere_instance([[1], [-1]], ONE, UNIT, [1], [1]), instances=family, strategy=drawn,
    numeric=keys_slack,
)

# With Q empty both conditions hold and every W represents: "queries exist" is not known to be needed.
IFF = Part(
    name="iff",
    text="Under the same hypotheses, with Q and K not empty, the sink is representable if and only if the "
         "queries lie in an open half-space bounded by a hyperplane through the origin, that is if and only "
         "if -b is not in conv(G n_i, i in Q).",
    variables=VARIABLES, definitions=DEFINITIONS,
    hypotheses=(
        Hypothesis("queries exist", "Q is not empty", "len(Q) > 0"),
        Hypothesis("keys exist", "K is not empty", "len(K) > 0",
                   sphere_instance([[1], [1]], ONE, [-1], [1], [])),
        Hypothesis("gain invertible", "G is invertible", INVERTIBLE,
                   sphere_instance([[1], [-1]], [[0]], [1], [1], [1])),
        Hypothesis("one sphere", "|n_j| = |n_s| for j in K", SPHERE,
                   sphere_instance([[2], [1], [3]], ONE, UNIT, [1], [1, 2])),
        Hypothesis("sink apart", "n_j != n_s for j in K", DISTINCT,
                   sphere_instance([[1], [1]], ONE, UNIT, [1], [1])),
    ),
    conclusions=("iff(representable, half_space)", "iff(representable, minus_bias_outside)"),
    satisfiable=sphere_instance([[1], [-1]], ONE, UNIT, [1], [1]), instances=family, strategy=drawn,
    numeric=iff_slack,
)


def distance_instance(n: list, b: list, keys: list[int], r: object, mu: object, a: list) -> Instance:
    return Instance({"n": n, "b": b, "s": 0, "K": keys, "r": r, "mu": mu, "a": a})


def hull_point(n: list, b: list, r: object, weights: list) -> Instance:
    """All content tokens are keys, mu is the least squared distance, the weights are normalised."""
    total = sum(Fraction(w) for w in weights)
    keys = list(range(1, len(n)))
    mu = min(sum(entry**2 for entry in minus(n[0], n[j])) for j in keys)
    return distance_instance(n, b, keys, r, mu, [Fraction(w) / total for w in weights])


def distance_family(seed: int) -> Iterator[Instance]:
    rng = np.random.default_rng(seed)
    for n, G, b in sphere_tables(seed, floats=False):
        radius = 1 + int(rng.integers(3))
        weights = rng.integers(0, 4, size=len(n) - 1)
        weights[int(rng.integers(len(weights)))] += 1
        yield hull_point([[radius * entry for entry in row] for row in n], b, radius, weights.tolist())


@st.composite
def drawn_distance(draw: st.DrawFn) -> Instance:
    n, _, b = draw(drawn_sphere())
    size = len(n) - 1
    weights = draw(st.lists(st.integers(0, 5), min_size=size, max_size=size).filter(any))
    return hull_point(n, b, 1, weights)


def distance_slack(values: Mapping[str, object]) -> float:
    """The hull's distance itself, which is at most the distance of the given point, against the bound."""
    x = values["n"] + values["b"]
    least = distance_to_hull(x[values["s"]], x[values["K"]]).distance_upper
    return float(least - values["mu"] / (2 * values["r"]))


# r = 0 leaves the bound without a meaning, r < 0 leaves it as it is: "r positive" is not known to be needed
# otherwise.
DISTANCE = Part(
    name="distance",
    text="With G = I (any bias) and all norms r > 0: if 0 <= mu <= |x_s - x_j|^2 for every key, every point "
         "z of conv{x_j, j in K} has |x_s - z| >= mu/(2r); squared here, so that no root is needed. Hence "
         "delta_K >= min_j |x_s - x_j|^2/(2r).",
    variables={"n": "matrix: T d", "b": "vector: d", "s": "integer", "K": "set", "r": "scalar", "mu": "scalar",
               "a": "vector"},
    definitions={"x": "[token + b for token in n]",
                 "z": "sum([a[k] * x[K[k]] for k in range(len(K))])",
                 "bound": "mu / (2 * r)", "square": "dot(x[s] - z, x[s] - z)"},
    hypotheses=(
        Hypothesis("r positive", "r > 0", "r > 0"),
        Hypothesis("sink on the sphere", "|n_s| = r", "dot(n[s], n[s]) == r ** 2",
                   distance_instance([[0], [1], [-1]], [0], [1, 2], 1, 1, [Fraction(1, 2), Fraction(1, 2)])),
        Hypothesis("keys on the sphere", "|n_j| = r for j in K", "all(dot(n[j], n[j]) == r ** 2 for j in K)",
                   distance_instance([[1], [2], [0]], [0], [1, 2], 1, 1, [Fraction(1, 2), Fraction(1, 2)])),
        Hypothesis("mu not negative", "mu >= 0", "mu >= 0",
                   distance_instance([[1], [-1]], [0], [1], 1, -5, [1])),
        Hypothesis("mu below", "mu <= |x_s - x_j|^2 for j in K",
                   "all(mu <= dot(x[s] - x[j], x[s] - x[j]) for j in K)",
                   distance_instance([[1], [-1]], [0], [1], 1, 5, [1])),
        Hypothesis("weights not negative", "a >= 0", "len(a) == len(K) and all(weight >= 0 for weight in a)",
                   distance_instance([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0], [1, 2, 3], 1, 2,
                                     [-1, 1, 1])),
        Hypothesis("weights sum to one", "the weights sum to one", "sum(a) == 1",
                   distance_instance([[1], [-1]], [-1], [1], 1, 4, [0])),
    ),
    conclusions=("bound ** 2 <= square",), attainment="bound ** 2 == square",
    satisfiable=hull_point([[1, 0], [0, 1], [0, -1]], [1, 1], 1, [1, 2]),
    attained=hull_point([[1], [-1]], [0], 1, [1]),
    instances=distance_family, strategy=drawn_distance, numeric=distance_slack,
)

VARIANTS = (
    OFF_HULL.vary("one gain is zero", "trap", "The gain may have a zero entry.",
                  sphere_instance([[Fraction(3, 5), Fraction(4, 5)], [Fraction(3, 5), Fraction(-4, 5)]],
                                  [[1, 0], [0, 0]],
                                  [0, 0], [1], [1]), drop=("gain invertible",)),
    OFF_HULL.vary(
        "norm with epsilon", "trap",
        "The tokens come from RMSNorm with epsilon > 0, n_j = h_j/sqrt(mean(h_j^2) + epsilon), and differ "
        "from the sink's. At d = 1, epsilon = 1 the inputs 3/4, 4/3, 12/5 give 3/5, 4/5, 12/13: the sink is "
        "between the keys.",
        Instance({"h": [[Fraction(4, 3)], [Fraction(3, 4)], [Fraction(12, 5)]], "epsilon": 1, "s": 0,
                  "K": [1, 2]},
                 witnesses(k=[[Fraction(4, 5) - Fraction(3, 5)], [Fraction(4, 5) - Fraction(12, 13)]])),
        variables={"h": "matrix", "epsilon": "scalar", "s": "integer", "K": "set"},
        definitions={"n": "[row / sqrt(dot(row, row) / len(row) + epsilon) for row in h]"},
        hypotheses=(Hypothesis("epsilon positive", "epsilon > 0", "epsilon > 0"),
                    Hypothesis("sink apart", "n_j != n_s for j in K", DISTINCT)),
        conclusions=("separable([n[s] - n[j] for j in K], 'k')",)),
    OFF_HULL.vary("sink off the sphere", "trap", "The sink may have a smaller norm than the keys.",
                  sphere_instance([[0], [1], [-1]], ONE, UNIT, [1], [1, 2]),
                  hypotheses=(OFF_HULL.hypotheses[0], OFF_HULL.hypotheses[2],
                              Hypothesis("keys on one sphere", "the keys have one norm, not below the sink's",
                                         "all(dot(n[j], n[j]) == dot(n[K[0]], n[K[0]]) >= dot(n[s], n[s]) "
                                         "for j in K)"))),
    IFF.vary("bias forgotten", "wrong matrix", "Zero, instead of -b, is outside conv(G n_i, i in Q).",
             sphere_instance([[1], [-1]], ONE, [2], [0, 1], [1], also={"plain": [[1], [-1]]}),
             conclusions=("iff(representable, separable([G @ n[i] for i in Q], 'plain'))",)),
    IFF.vary("affine half-space", "trap", "Queries in an affine half-space <c, x> > t are enough.",
             sphere_instance([[1], [-1]], ONE, UNIT, [0, 1], [1], c=[1], t=-2),
             variables={**VARIABLES, "c": "vector", "t": "scalar"},
             hypotheses=(*IFF.hypotheses,
                         Hypothesis("affine half-space", "<c, x_i> > t on Q",
                                    "all(dot(c, x[i]) > t for i in Q)")),
             conclusions=("representable",)),
    IFF.vary("always representable", "drop hypothesis", "On the sphere every sink is representable.",
             sphere_instance([[1], [-1]], ONE, UNIT, [0, 1], [1]), conclusions=("representable",)),
    DISTANCE.vary("one percent more", "constant moved", "delta_K >= 1.01 * min |x_s - x_j|^2/(2r).",
                  hull_point([[1], [-1]], [0], 1, [1]), conclusions=("(101 * bound / 100) ** 2 <= square",)),
    DISTANCE.vary("the distance itself", "exponent moved",
                  "delta_K >= min |x_s - x_j|/2, as if it were linear.",
                  hull_point([[1, 0], [0, 1], [0, -1], [Fraction(4, 5), Fraction(3, 5)],
                              [Fraction(4, 5), Fraction(-3, 5)]], [0, 0], 1, [0, 0, 1, 1]),
                  conclusions=("mu / 4 <= square",)),
)

CLAIM = Claim(
    id="G3", title="On a sphere only the queries matter", family="geometry",
    statement="Q and K finite and not empty, n_j, n_s of equal norm r > 0, n_j != n_s, x = G n + b with G "
              "invertible: x_s is not in conv{x_j, j in K}, so the sink is representable iff the queries lie "
              "in an open linear half-space, i.e. iff -b is not in conv(G n_i, i in Q). For G = I: delta_K >= "
              "min_j |x_s - x_j|^2/(2r).",
    parts=(OFF_HULL, IFF, DISTANCE), variants=VARIANTS,
    scope_notes=(
        "RMSNorm's epsilon puts outputs slightly off the sphere, and then the sink can lie between the keys: "
        "test x_s against the keys' hull on the embeddings themselves.",
        "A gain with a zero entry is not invertible; LayerNorm outputs lie on a sphere inside the hyperplane "
        "of mean zero, which changes nothing here.",
        "Necessity is for logits without RoPE and without a query bias (G1, G6).",
    ),
)
