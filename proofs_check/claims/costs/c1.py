"""C1: the sink with margin m costs m/(δ_Q δ_K) in every norm at once, by the two nearest points of two hulls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
from hypothesis import strategies as st

from numerics.schatten import schatten_norm
from numerics.sink_cost import sink_cost
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.costs.building_bounds import (
    EXPONENT, HALF, INVERSE_EXPONENTS, nearest, norm_bound, norm_formula, norm_witnesses, token_tables)
from proofs_check.claims.exact import Matrix, Number, Vector, combine, dot, minus, outer, plus

# x: queries, y: keys other than the sink, as rows; s: the sink; a, b: convex weights of the two nearest points
# q = Σ a_i x_i and k = Σ b_j (s − y_j).  1/0 is 0, as in a field, so that W0 is defined before q, k ≠ 0 is used.
VARIABLES = {"x": "matrix: Q d", "y": "matrix: K d", "s": "vector: d", "a": "vector: Q", "b": "vector: K",
             "m": "scalar"}
POINTS = {
    "differences": "[s - row for row in y]", "q": "a @ x", "k": "b @ differences",
    "qk": "dot(q, q) * dot(k, k)", "W0": "(m / qk if qk != 0 else 0) * outer(q, k)",
    "margins0": "flat(x @ W0 @ transpose(differences))",
}
FREE = {**POINTS, "margins": "flat(x @ W @ transpose(differences))"}
BOUNDED = {**VARIABLES, "W": "matrix: d d", "c": "scalar", "t": "scalar"}


def sink_instance(x: Matrix, y: Matrix, s: Vector, m: Number = 1, *, a: Vector | None = None, b: Vector | None = None,
                  **more: object) -> Instance:
    """Values with the nearest points' weights filled in where they are not given."""
    a = nearest(x)[0] if a is None else a
    b = nearest([minus(s, row) for row in y])[0] if b is None else b
    return Instance({"x": x, "y": y, "s": s, "a": a, "b": b, "m": m, **more})


def closed_form(instance: Instance) -> list[list[Fraction]] | None:
    """W0, or None where a nearest point is zero."""
    v = instance.values
    q, k = combine(v["a"], v["x"]), combine(v["b"], [minus(v["s"], row) for row in v["y"]])
    size = dot(q, q) * dot(k, k)
    return outer(q, k, Fraction(v["m"]) / size) if size else None


def with_matrix(instance: Instance, w: Matrix, t: Number, c: Number | None = None) -> Instance:
    """The instance beside a competing W of norm at most c, least if not given."""
    values = {**instance.values, "W": w, "t": t, "c": norm_bound(w, t) if c is None else c}
    return Instance(values, norm_witnesses(W=w))


def clouds(seed: int) -> Iterator[tuple[list, list, list]]:
    """(queries, keys, sink): the token tables against themselves or against other keys, the sink on either side."""
    rng = np.random.default_rng(seed)
    for case, x in enumerate(token_tables(seed)):
        dim = len(x[0])
        sink = [int(e) for e in rng.integers(-3, 4, size=dim)] if case % 3 else [-2] + [0] * (dim - 1)
        y = x if case % 2 else rng.integers(-2, 3, size=(int(rng.integers(1, 4)), dim)).tolist()
        yield x, y, sink


def family(seed: int) -> Iterator[Instance]:
    """Nearest points away from zero beside a feasible W: W0, or W0 moved and scaled up until all margins reach m."""
    rng = np.random.default_rng(seed)
    for case, (x, y, sink) in enumerate(clouds(seed)):
        base = sink_instance(x, y, sink, Fraction(case % 5 + 1, 2))
        w = closed_form(base)
        if w is not None:
            yield competitor(base, w, rng.integers(-1, 2, size=(len(w), len(w))).tolist(), case)


def competitor(base: Instance, w: Matrix, noise: Matrix, case: int) -> Instance:
    v, moved = base.values, plus(w, noise, Fraction(1, 8))
    gaps = [minus(v["s"], row) for row in v["y"]]
    least = min(dot(combine(row, moved), gap) for row in v["x"] for gap in gaps)
    if case % 2 and least > 0:
        w = [[Fraction(v["m"]) / least * entry for entry in row] for row in moved]
    return with_matrix(base, w, INVERSE_EXPONENTS[case % 3])


@st.composite
def drawn_base(draw: st.DrawFn, degenerate: bool = False) -> Instance:
    """Content to the right of zero, the sink not; or a query, or a difference to a key, that is zero."""
    dim = draw(st.integers(1, 3))
    rest = st.lists(st.integers(-3, 3), min_size=dim - 1, max_size=dim - 1)

    def table() -> list[list[int]]:
        return [[draw(st.integers(1, 3)), *draw(rest)] for _ in range(draw(st.integers(1, 4)))]

    x, y, sink = table(), table(), [draw(st.integers(-2, 0)), *draw(rest)]
    if degenerate and draw(st.booleans()):
        x.append([0] * dim)
    elif degenerate:
        y.append(sink)
    return sink_instance(x, y, sink, Fraction(draw(st.integers(1, 6)), 2))


@st.composite
def drawn(draw: st.DrawFn) -> Instance:
    base = draw(drawn_base())
    w = closed_form(base)
    noise = draw(
        st.lists(st.lists(st.integers(-1, 1), min_size=len(w), max_size=len(w)), min_size=len(w), max_size=len(w)))
    return competitor(base, w, noise, draw(st.integers(0, 5)))


def bound_slack(values: Mapping[str, object]) -> float:
    """‖W‖_p against the solver's lower bound, for the W at hand; it is feasible in every instance made here."""
    t = values["t"]
    size = schatten_norm(values["W"], inf if t == 0 else 1 / t)
    cost = sink_cost(values["x"], values["s"], values["y"], margin=float(values["m"]))
    return (size - cost.lower) / (1 + size)


def unique_slack(values: Mapping[str, object]) -> float:
    """The solver's W is this one."""
    cost = sink_cost(values["x"], values["s"], values["y"], margin=float(values["m"]))
    return 1e-7 - float(np.abs(np.outer(cost.left, cost.right) - values["W"]).max()) / (1 + cost.upper)


def degenerate_slack(values: Mapping[str, object]) -> float:
    """The solver too finds no W, or cannot tell."""
    return -1.0 if sink_cost(values["x"], values["s"], values["y"], margin=1.0).status == "bounded" else 1.0


# One query and one key on a line, with everything equal to one, and what spoils it.
LINE, ZERO, ONE = [[0]], [[0]], [[1]]
SPREAD = [Fraction(5, 4), Fraction(-1, 4)]


def on_line(x: Matrix = ONE, y: Matrix = LINE, m: Number = 1, w: Matrix = ONE, c: Number | None = None,
            **weights: Vector) -> Instance:
    return with_matrix(sink_instance(x, y, [1], m, **weights), w, HALF, c)


def point_hypotheses(**counterexamples: Instance) -> tuple[Hypothesis, ...]:
    """q and k are the nearest points: convex combinations, with <q, x_i> >= ‖q‖² and <k, x_s − x_j> >= ‖k‖²."""
    listed = (
        ("query weights", "a >= 0", "all(entry >= 0 for entry in a)"),
        ("query weights add up", "Σ a_i = 1", "sum(a) == 1"),
        ("q nearest", "<q, x_i> >= ‖q‖² on Q", "all(dot(q, row) >= dot(q, q) for row in x)"),
        ("key weights", "b >= 0", "all(entry >= 0 for entry in b)"), ("key weights add up", "Σ b_j = 1", "sum(b) == 1"),
        ("k nearest", "<k, x_s − x_j> >= ‖k‖² on K", "all(dot(k, row) >= dot(k, k) for row in differences)"))
    return tuple(Hypothesis(name, text, formula, counterexamples.get(name.replace(" ", "_")))
                 for name, text, formula in listed)


FEASIBLE = "all(margin >= m for margin in margins)"
NONZERO = (Hypothesis("q not zero", "q ≠ 0", "dot(q, q) > 0"), Hypothesis("k not zero", "k ≠ 0", "dot(k, k) > 0"))
NONNEGATIVE = Hypothesis("margin nonnegative", "m >= 0", "m >= 0")
BOUND = f"implies({FEASIBLE} and {norm_formula('W', 't', 'c', 'len(W)', 'W')}, m * m <= c * c * qk)"
EVERY = Part(
    name="every dual pair",
    text="Let q be the point of conv{x_i} nearest to 0 and k the point of conv{x_s − x_j} nearest to 0, both "
         "nonzero, so that ‖q‖ = δ_Q and ‖k‖ = δ_K. W0 = m·q kᵀ/(‖q‖²‖k‖²) has margin m and norm m/(δ_Qδ_K) "
         "(it has rank one: all its norms are that), and every W of margin m with ‖W‖_p <= c has c >= "
         "m/(δ_Qδ_K). The formal theorem is for every dual pair of norms and names these three.",
    variables=BOUNDED, definitions=FREE,
    hypotheses=(
        EXPONENT,  # not known to be needed: every Schatten norm is at least the spectral one, which is t = 0
        *point_hypotheses(
            query_weights=on_line(x=[[1], [3]], a=SPREAD), query_weights_add_up=on_line(a=[HALF]),
            q_nearest=on_line(x=[[1], [3]], a=[0, 1]), key_weights=on_line(y=[[0], [-2]], b=SPREAD),
            key_weights_add_up=on_line(b=[HALF]), k_nearest=on_line(y=[[0], [-2]], b=[0, 1])),
        replace(NONZERO[0], counterexample=on_line(x=ZERO)), replace(NONZERO[1], counterexample=on_line(y=ONE)),
        replace(NONNEGATIVE, counterexample=on_line(m=-1, w=ZERO)),
    ),
    conclusions=("all(margin >= m for margin in margins0)",
                 "rank(W0) <= 1 and dot(flat(W0), flat(W0)) * qk == m * m", BOUND),
    attainment="min(margins) == m and m * m == c * c * qk",
    satisfiable=with_matrix(sink_instance([[2, 0], [0, 2]], [[3, 1]], [1, 1], 1), [[0, 0], [0, 0]], 0),
    attained=with_matrix(sink_instance([[3, 4], [4, 5]], [[0, 0], [-1, 0]], [5, 0], 25),
                         [[Fraction(3, 5), 0], [Fraction(4, 5), 0]],
                         0, 1),
    instances=family, strategy=drawn, numeric=bound_slack,
)

MARGINS = Hypothesis("margins", "W has margin m", FEASIBLE)
LEAST = Hypothesis("least norm", "‖W‖_F <= m/(δ_Qδ_K)", "dot(flat(W), flat(W)) * qk <= m * m")


def on_line_free(**options: object) -> Instance:
    """The same without a norm's bound and exponent."""
    found = on_line(**options)
    return Instance({key: value for key, value in found.values.items() if key not in ("c", "t")})


def only(seed: int) -> Iterator[Instance]:
    """W is W0, written down by its formula: nothing else meets the hypotheses."""
    for found in family(seed):
        base = Instance({key: value for key, value in found.values.items() if key not in ("c", "t")})
        yield Instance({**base.values, "W": closed_form(base)})


UNIQUE = Part(
    name="unique in Frobenius norm",
    text="With q, k as above and nonzero: a W of margin m with ‖W‖_F <= m/(δ_Qδ_K) is W0.",
    variables={**VARIABLES, "W": "matrix: d d"}, definitions=FREE,
    hypotheses=(
        # that q and k are nearest is not needed: from farther points of the hulls no W has so small a norm
        *point_hypotheses(query_weights=on_line_free(x=[[1], [3]], a=SPREAD),
                          query_weights_add_up=on_line_free(a=[HALF]),
                          key_weights=on_line_free(y=[[0], [-2]], b=SPREAD), key_weights_add_up=on_line_free(b=[HALF])),
        replace(NONZERO[0], counterexample=on_line_free(x=ZERO, m=0)),
        replace(NONZERO[1], counterexample=on_line_free(y=ONE, m=0)),
        replace(NONNEGATIVE, counterexample=on_line_free(m=-1, w=ZERO)),
        replace(MARGINS, counterexample=on_line_free(w=ZERO)), replace(LEAST, counterexample=on_line_free(w=[[2]])),
    ),
    conclusions=("W == W0",), satisfiable=on_line_free(), instances=only,
    strategy=lambda: drawn_base().map(lambda base: Instance({**base.values, "W": closed_form(base)})),
    numeric=unique_slack,
)


def impossible(seed: int) -> Iterator[Instance]:
    """Zero among the queries, opposite queries, or the sink in the keys' hull; W arbitrary."""
    rng = np.random.default_rng(seed)
    for case, (x, y, sink) in enumerate(clouds(seed)):
        dim = len(sink)
        x = [*x, [-entry for entry in x[0]]] if case % 3 == 0 else [*x, [0] * dim] if case % 3 == 1 else x
        y = [sink, *y] if case % 3 == 2 else y
        w = rng.integers(-2, 3, size=(dim, dim)).tolist()
        yield sink_instance(x, y, sink, Fraction(case % 4 + 1, 2), W=w)


DEGENERATE = Part(
    name="degenerate",
    text="If q = 0 or k = 0 (0 in conv{x_i}, or x_s in conv{x_j}), then no W has a positive margin.",
    variables={**VARIABLES, "W": "matrix: d d"}, definitions=FREE,
    hypotheses=(
        # the condition that makes a point nearest holds for zero; of the other point it is not needed
        *point_hypotheses(query_weights=on_line_free(x=[[1], [2]], a=[2, -1]), query_weights_add_up=on_line_free(a=[0]),
                          key_weights=on_line_free(y=[[0], [-1]], b=[2, -1]), key_weights_add_up=on_line_free(b=[0])),
        Hypothesis("a zero point", "q = 0 or k = 0", "dot(q, q) == 0 or dot(k, k) == 0", on_line_free()),
        Hypothesis("margin positive", "m > 0", "m > 0", on_line_free(x=ZERO, m=0)),
    ),
    conclusions=("any(margin < m for margin in margins)",), satisfiable=on_line_free(x=ZERO), instances=impossible,
    strategy=lambda: st.tuples(drawn_base(degenerate=True), st.integers(-3, 3)).map(
        lambda found: Instance({**found[0].values, "W": [[found[1]] * len(found[0].values["s"])] * len(
            found[0].values["s"])})),
    numeric=degenerate_slack,
)


VARIANTS = (
    EVERY.vary("centroids", "trap", "The queries' centroid in place of their nearest point.",
               on_line(x=[[1], [3]], a=[HALF, HALF]), hypotheses=EVERY.instead("q nearest", Hypothesis(
                   "centroid", "all a_i are equal", "all(entry == a[0] for entry in a)"))),
    EVERY.vary("centroid of the keys", "centroid for min-norm point", "The keys' centroid in place of their "
                                                                      "nearest point.",
               on_line(y=[[0], [-2]], b=[HALF, HALF]), hypotheses=EVERY.instead("k nearest", Hypothesis(
                   "centroid", "all b_j are equal", "all(entry == b[0] for entry in b)"))),
    EVERY.vary("dist(0, conv K)", "trap", "k is the point of the keys' hull nearest to zero, not to x_s.",
               with_matrix(sink_instance(ONE, [[2]], [1], 1, b=[1]), [[-1]], HALF),
               definitions={**FREE, "k": "b @ y"}, hypotheses=EVERY.instead("k nearest", Hypothesis(
                   "k nearest", "<k, x_j> >= ‖k‖² on K", "all(dot(k, row) >= dot(k, k) for row in y)"))),
    EVERY.vary("q and k exchanged", "transpose", "W0 = m·k qᵀ/(‖q‖²‖k‖²).",
               with_matrix(sink_instance([[1, 0]], [[0, -1]], [0, 0], 1), [[0, 1], [0, 0]], HALF),
               definitions={**FREE, "W0": POINTS["W0"].replace("outer(q, k)", "outer(k, q)")}),
    EVERY.vary("distances squared", "missing square root", "The cost is m/(δ_Q²δ_K²).", on_line(x=[[HALF]], w=[[2]]),
               conclusions=(*EVERY.conclusions[:2], BOUND.replace("m * m <= c * c * qk", "m <= c * qk"))),
    EVERY.vary("one distance", "constant moved", "The cost is m/δ_Q², the key side as the query side.",
               with_matrix(sink_instance(ONE, [[-1]], [1], 1), [[HALF]], HALF),
               conclusions=(BOUND.replace("m * m <= c * c * qk", "m <= c * dot(q, q)"),)),
    UNIQUE.vary("unique in spectral norm", "trap", "A W of margin m with ‖W‖_∞ <= m/(δ_Qδ_K) is W0.",
                sink_instance([[1, 0]], [[-1, 0]], [0, 0], 1, W=[[1, 0], [0, 1]]),
                hypotheses=UNIQUE.instead("least norm", Hypothesis(
                    "least norm", "‖W‖_∞ <= m/(δ_Qδ_K)", "psd(m * m * eye(len(W)) - qk * (transpose(W) @ W))"))),
    DEGENERATE.vary("no margin at all", "strict for non-strict", "If q = 0 or k = 0, no W has even margin m = 0.",
                    on_line_free(x=ZERO, m=0), drop=("margin positive",)),
)

CLAIM = Claim(
    id="C1", title="The sink's cost: two nearest points, one number for every norm", family="costs",
    statement="m > 0: min‖W‖ over W with x_iᵀW(x_s − x_j) >= m on Q × K is m/(δ_Qδ_K) in every norm at once: "
              "in Frobenius, nuclear and spectral norm and every other norm of a dual pair with ‖qkᵀ‖ = "
              "‖q‖‖k‖. It is attained by the rank-one W = m·q kᵀ/(‖q‖²‖k‖²) of the two nearest points, the "
              "only minimiser in Frobenius norm. If one of the hulls contains what it must avoid, no W "
              "exists.",
    parts=(EVERY, UNIQUE, DEGENERATE), variants=VARIANTS,
    scope_notes=(
        "The lower bound is for logits x_iᵀWx_j without RoPE and without a query bias (G6), κ = 1: divide by κ.",
        "Schatten norms of other exponents follow from ‖W‖_p >= ‖W‖_∞ and ‖qkᵀ‖_p = ‖q‖‖k‖, which the "
        "formulas do not say; so does uniqueness for p < 2 from ‖W‖_p >= ‖W‖_F. Uniqueness for 2 < p < ∞ is "
        "derived in notes/C1.md, not replayed.",
    ),
)
