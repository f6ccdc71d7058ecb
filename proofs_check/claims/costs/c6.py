"""C6: how much dearer the diagonal is than the sink, for any tokens that are queries and keys alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
from hypothesis import strategies as st

from numerics.diagonal_bound import diagonal_bound
from numerics.schatten import schatten_norm
from numerics.sink_cost import sink_cost
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.costs.building_bounds import (
    EXPONENT, HALF, INVERSE_EXPONENTS, nearest, norm_bound, norm_formula, norm_witnesses)
from proofs_check.claims.costs.c1 import NONZERO, point_hypotheses
from proofs_check.claims.costs.c3 import CENTRING, DUAL, LOGITS, MARGIN, PRIMAL, between, margin, tellable
from proofs_check.claims.exact import Matrix, Number, Vector, centring, dot, minus, outer

DEFINITIONS = {
    "differences": "[s - row for row in x]", "q": "a @ x", "k": "b @ differences",
    "qk": "dot(q, q) * dot(k, k)", "W0": "(m / qk if qk != 0 else 0) * outer(q, k)",
    "margins0": "flat(x @ W0 @ transpose(differences))", "margins": "flat(x @ V @ transpose(differences))",
    "logits": LOGITS, "centring": CENTRING, "G": "transpose(x) @ (centring @ x)",
}


def ratio_instance(x: Matrix, s: Vector, w: Matrix, t: Number = HALF, *, a: Vector | None = None,
                   b: Vector | None = None,
                   v: Matrix | None = None, m: Number | None = None, c: Number | None = None,
                   g: Number | None = None) -> Instance:
    """A diagonal W, its margin, and a sink's V, by default the cheapest; nearest points and norms where not given."""
    gaps = [minus(s, row) for row in x]
    (best_a, q), (best_b, k) = nearest(x), nearest(gaps)
    m = (margin(x, w) or Fraction(1)) if m is None else m
    size = dot(q, q) * dot(k, k)
    v = (outer(q, k, Fraction(m) / size) if size else [[0] * len(s)] * len(s)) if v is None else v
    dual = between(x, centring(len(x)))
    return Instance(
        {"x": x, "s": s, "a": best_a if a is None else a, "b": best_b if b is None else b, "m": m, "W": w,
         "V": v, "t": t,
         "c": norm_bound(w, t) if c is None else c, "e": norm_bound(v, t),
         "g": (norm_bound(dual, 1 - Fraction(t)) or Fraction(1)) if g is None else g},
        norm_witnesses(W=w, V=v, G=dual))


def nonzero(x: Matrix, s: Vector) -> bool:
    return any(nearest(x)[1]) and any(nearest([minus(s, row) for row in x])[1])


def family(seed: int) -> Iterator[Instance]:
    """Tokens that a diagonal can tell apart, a sink off their hull, and a V that is the cheapest or twice that."""
    rng = np.random.default_rng(seed)
    for case, (x, w) in enumerate(tellable(seed)):
        s = rng.integers(-3, 3, size=len(x[0])).tolist()
        if nonzero(x, s):
            scale = Fraction(case % 4 + 1, 2)
            yield ratio_instance(x, s, [[scale * entry for entry in row] for row in w], INVERSE_EXPONENTS[case % 3])


@st.composite
def drawn(draw: st.DrawFn) -> Instance:
    """A first coordinate for all tokens and one for each; the sink is negative in the first where they are positive."""
    count = draw(st.integers(1, 3))
    x = [[draw(st.integers(1, 3)), *(int(i == j) * draw(st.integers(1, 2)) for j in range(count))]
         for i in range(count)]
    s = [draw(st.integers(-3, 0)), *(draw(st.integers(-2, 2)) for _ in range(count))]
    w = [[int(i == j and i > 0) * draw(st.integers(1, 3)) for j in range(count + 1)] for i in range(count + 1)]
    return ratio_instance(x, s, w, draw(st.sampled_from(INVERSE_EXPONENTS)))


def ratio_slack(values: Mapping[str, object]) -> float:
    """‖W‖_p over the solver's sink cost against δ_Qδ_K times the numerical uniform bound."""
    p, x, m = inf if values["t"] == 0 else 1 / values["t"], values["x"], float(values["m"])
    sink = sink_cost(x, values["s"], margin=m)
    reached = schatten_norm(values["W"], p) / sink.upper
    claimed = sink.query_distance[0] * sink.key_distance[0] * diagonal_bound(x, p, margin=m) / m
    off = schatten_norm(values["V"], p) / sink.lower - 1
    return min((reached - claimed) / (1 + claimed), off + 1e-9)


EYE, H2 = [[1, 0], [0, 1]], [[HALF, -HALF], [-HALF, HALF]]
ONE, ZERO = [[1]], [[0]]
TALL, TELL = [[1, 1], [1, 2]], [[0, -3], [0, 2]]  # independent tokens, the second beyond the first; a W with margin 1
SINK_MARGIN = "all(value >= m for value in margins)"
LOWER = f"implies({SINK_MARGIN} and {norm_formula('V', 't', 'e', 'len(V)', 'V')}, m * m <= e * e * qk)"
RATIO_FORMULA = "qk * (len(x) - 1) / g <= c * qk / m"
RATIO = Part(
    name="ratio",
    text="Q = K = all content tokens, q and k the nearest points of C1, both nonzero, T >= 1, m > 0. The "
         "sink costs m/(δ_Qδ_K): some W0 of margin m has that norm (C1's), and every V of margin m with "
         "‖V‖_p <= e has e >= that. And every diagonal W of margin m and ‖W‖_p <= c has c/(m/(δ_Qδ_K)) >= "
         "δ_Qδ_K(T−1)/g whenever ‖XHXᵀ‖_{p*} <= g, g > 0 (written times δ_Qδ_K > 0). The formal theorem is "
         "for every dual pair of norms and names these three.",
    variables={"x": "matrix: T d", "s": "vector: d", "a": "vector: T", "b": "vector: T", "m": "scalar",
               "W": "matrix: d d", "V": "matrix: d d", "t": "scalar", "c": "scalar", "e": "scalar", "g": "scalar"},
    definitions=DEFINITIONS,
    hypotheses=(
        EXPONENT,  # not known to be needed, see C1 and C3
        *point_hypotheses(
            query_weights=ratio_instance(TALL, [0, 1], TELL, a=[2, -1]),
            query_weights_add_up=ratio_instance(ONE, [2], ZERO, a=[HALF]),
            q_nearest=ratio_instance(TALL, [0, 1], TELL, a=[0, 1]),
            key_weights=ratio_instance(TALL, [2, 3], TELL, b=[-1, 2]),
            key_weights_add_up=ratio_instance(ONE, [2], ZERO, b=[HALF]),
            k_nearest=ratio_instance(TALL, [2, 3], TELL, b=[1, 0])),
        replace(NONZERO[0], counterexample=ratio_instance(ZERO, [1], ZERO)),
        replace(NONZERO[1], counterexample=ratio_instance(ONE, [1], ZERO)),
        Hypothesis("margin positive", "m > 0", "m > 0", ratio_instance(ONE, [2], ZERO, m=-1, v=ZERO)),
        Hypothesis("diagonal margin", "ℓ_ii − ℓ_ij >= m for all i ≠ j", MARGIN,
                   ratio_instance(TALL, [0, 1], [[0, 0], [0, 0]], m=1)),
        Hypothesis("norm", "‖W‖_p <= c", PRIMAL, ratio_instance(TALL, [0, 1], TELL, c=0)),
        Hypothesis("dual norm", "‖XHXᵀ‖_{p*} <= g", DUAL, ratio_instance(TALL, [0, 1], TELL, g=Fraction(1, 9))),
        Hypothesis("positive", "g > 0", "g > 0"),  # without it there is no ratio to state
    ),
    conclusions=("all(value >= m for value in margins0)",
                 "rank(W0) <= 1 and dot(flat(W0), flat(W0)) * qk == m * m", LOWER,
                 RATIO_FORMULA),
    attainment="qk * (len(x) - 1) / g == c * qk / m",
    satisfiable=ratio_instance(TALL, [0, 1], TELL), attained=ratio_instance(EYE, [0, 0], H2, c=1, g=1),
    instances=family, strategy=drawn, numeric=ratio_slack,
)

SAME_NORM = RATIO.instead("dual norm", replace(RATIO.hypothesis("dual norm"), counterexample=None,
                                               formula=norm_formula("G", "t", "g", "len(G)", "G")))
THREE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
VARIANTS = (
    RATIO.vary("T for T−1", "T for T-1", "The ratio is at least δ_Qδ_K T/‖XHXᵀ‖_{p*}.",
               ratio_instance(EYE, [0, 0], H2, c=1, g=1),
               conclusions=(RATIO_FORMULA.replace("(len(x) - 1)", "len(x)"),)),
    RATIO.vary("p for p*", "p for p*", "The ratio is at least δ_Qδ_K(T−1)/‖XHXᵀ‖_p: spectral norm over "
                                       "spectral norm.",
               ratio_instance(THREE, [0, 0, 0], THREE, 0, c=1, g=1), hypotheses=SAME_NORM),
    RATIO.vary("distances left out", "constant moved", "The ratio is at least (T−1)/‖XHXᵀ‖_{p*}, whatever "
                                                       "the distances.",
               ratio_instance(EYE, [0, 0], H2, c=1, g=1),
               conclusions=("(len(x) - 1) ** 2 / g ** 2 <= c ** 2 * qk / m ** 2",)),
    RATIO.vary("sink over diagonal", "swap sink and diagonal", "The same for the sink's cost over the "
                                                               "diagonal's.",
               ratio_instance(EYE, [0, 0], [[5, -5], [-5, 5]], m=1, c=10), conclusions=("qk * (len(x) - 1) / "
                                                                                        "g <= m / c",)),
    RATIO.vary("distance of the keys from zero", "trap", "δ_K is the distance of the keys' hull from zero, "
                                                         "not from x_s.",
               ratio_instance(EYE, [0, 0], H2, c=1, g=1), definitions={**DEFINITIONS, "k": "b @ x"},
               hypotheses=RATIO.instead("k nearest", replace(RATIO.hypothesis("k nearest"), counterexample=None,
                                                             formula="all(dot(k, row) >= dot(k, k) for row in x)"))),
    RATIO.vary("centroids", "centroid for min-norm point", "Centroids of queries and differences in place of "
                                                           "nearest points.",
               ratio_instance(TALL, [0, 1], TELL, a=[HALF, HALF], b=[HALF, HALF]),
               hypotheses=tuple(item for item in RATIO.hypotheses if not item.name.endswith(" nearest"))),
)

CLAIM = Claim(
    id="C6", title="Diagonal over sink, for any tokens", family="costs",
    statement="Q = K = all content tokens, δ_Q, δ_K > 0: (diagonal cost)/(sink cost) >= "
              "δ_Qδ_K(T−1)/‖XHXᵀ‖_{p*}; for p = 1 that is δ_Qδ_K(T−1)/λ_max(XHXᵀ), which grows with the "
              "intrinsic dimension tr/λ_max of the centred cloud when trace, T and both distances stay as "
              "they are.",
    # C6's own theorem contains what it needs of C1 and C3, so no claim is taken over
    parts=(RATIO,), variants=VARIANTS,
    scope_notes=(
        "Both costs are for logits x_iᵀWx_j without RoPE and without a query bias (G6); κ cancels in the "
        "ratio.",
        "Both patterns in margin form with the same m; in mass form the margins differ (L + log T against L "
        "+ log(T−1)).",
        "A lower bound on the ratio only: the diagonal may be dearer, or impossible while the sink is cheap.",
    ),
)
