"""C2: the sink with a mass: the nearest query point as in C1, and an entropic program on the side of the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import inf, log

import numpy as np
from hypothesis import strategies as st
from scipy.special import entr

from numerics.entropic import entropic_point
from numerics.schatten import dual_exponent, schatten_norm
from numerics.sink_cost import sink_cost
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Later
from proofs_check.claims.costs.building_bounds import (
    EXPONENT, HALF, INVERSE_EXPONENTS, nearest, norm_bound, norm_formula, norm_witnesses)
from proofs_check.claims.costs.c1 import clouds, drawn_base
from proofs_check.claims.derived import derived
from proofs_check.claims.exact import Matrix, Number, Vector, dot, minus, outer, product, transposed
from theory.costs_exchangeable import mass_needs_mean_margin

# odds = (1−a)/a for the mass a, L = −log odds.  A row has mass a on the sink iff Σ_j exp(−margin_j) <= odds.
ODDS = {"differences": "[s - row for row in y]", "odds": "(1 - mass) / mass", "L": "log(mass / (1 - mass))"}
ROWS = "all(sum(exp(-dot(row @ W, gap)) for gap in differences) <= odds for row in x)"
TOKENS = {"x": "matrix: Q d", "y": "matrix: K d", "s": "vector: d", "mass": "scalar"}
A_MASS = Hypothesis("a mass", "0 < a < 1", "0 < mass and mass < 1")  # otherwise L is not defined
MASSES = (HALF, Fraction(3, 5), Fraction(4, 5), Fraction(99, 100))


def sides(x: Matrix, y: Matrix, s: Vector, mass: Number) -> tuple[list, list, list] | None:
    """(weights of q, q, w) with w along the keys' nearest point, long enough for the mass; None where one side is
    zero."""
    gaps = [minus(s, row) for row in y]
    (a, q), (_, k) = nearest(x), nearest(gaps)
    if not any(q) or not any(k):
        return None
    need = max(0.0, log(float(mass / (1 - mass))) + log(len(y)))
    length = Fraction(need / float(dot(k, k)) * (1 + 2.0**-20) + 2.0**-20).limit_denominator(2**30)
    return a, q, [length * entry for entry in k]


def lower_instance(x: Matrix, y: Matrix, s: Vector, mass: Number, a: Vector, mu: Vector, w: Matrix, t: Number = HALF,
                   c: Number | None = None) -> Instance:
    values = {"x": x, "y": y, "s": s, "mass": mass, "a": a, "mu": mu, "W": w, "t": t,
              "c": norm_bound(w, t) if c is None else c}
    return Instance(values, norm_witnesses(W=w))


def upper_instance(x: Matrix, y: Matrix, s: Vector, mass: Number, q: Vector, w: Vector) -> Instance:
    return Instance({"x": x, "y": y, "s": s, "mass": mass, "q": q, "w": w})


def lower_family(seed: int) -> Iterator[Instance]:
    """W from both nearest points; a from the nearest point or uniform, μ uniform, at a corner or in between."""
    rng = np.random.default_rng(seed)
    for case, (x, y, s) in enumerate(clouds(seed)):
        mass = (*MASSES, Fraction(1, 3))[case % 5]
        found = sides(x, y, s, mass)
        if found is None:
            continue
        a, q, w = found
        matrix = outer(q, w, 1 / dot(q, q))
        parts = rng.integers(0 if case % 2 else 1, 4, size=len(y))
        parts[0] += 1
        mu = [Fraction(int(part), int(parts.sum())) for part in parts]
        uniform = [Fraction(1, len(x))] * len(x)
        yield lower_instance(x, y, s, mass, a if case % 3 else uniform, mu, matrix, INVERSE_EXPONENTS[case % 3])


def upper_family(seed: int) -> Iterator[Instance]:
    for case, (x, y, s) in enumerate(clouds(seed)):
        found = sides(x, y, s, MASSES[case % 4])
        if found is not None:
            yield upper_instance(x, y, s, MASSES[case % 4], *found[1:])


@st.composite
def drawn_lower(draw: st.DrawFn) -> Instance:
    v, mass = draw(drawn_base()).values, draw(st.sampled_from((*MASSES, Fraction(1, 4))))
    a, q, w = sides(v["x"], v["y"], v["s"], mass)
    parts = [draw(st.integers(0, 3)) for _ in v["y"]]
    mu = [Fraction(part, sum(parts)) if any(parts) else Fraction(1, len(parts)) for part in parts]
    matrix = outer(q, w, draw(st.integers(1, 3)) / dot(q, q))
    return lower_instance(v["x"], v["y"], v["s"], mass, a, mu, matrix, draw(st.sampled_from(INVERSE_EXPONENTS)))


@st.composite
def drawn_upper(draw: st.DrawFn) -> Instance:
    v, mass = draw(drawn_base()).values, draw(st.sampled_from(MASSES))
    return upper_instance(v["x"], v["y"], v["s"], mass, *sides(v["x"], v["y"], v["s"], mass)[1:])


def lower_slack(values: Mapping[str, object]) -> float:
    """‖W‖_p‖q‖‖d_μ‖ over L + H(μ) in floats; where the mass allows, ‖W‖_p over the solver's lower bound too."""
    size = schatten_norm(values["W"], inf if values["t"] == 0 else 1 / values["t"])
    q, pull = values["a"] @ values["x"], values["s"] - values["mu"] @ values["y"]
    worth = log(values["mass"] / (1 - values["mass"])) + float(entr(values["mu"]).sum())
    slack = (size * np.linalg.norm(q) * np.linalg.norm(pull) - worth) / (1 + size)
    if values["mass"] >= 0.5:
        cost = sink_cost(values["x"], values["s"], values["y"], mass=values["mass"])
        slack = min(slack, (size - cost.lower) / (1 + size))
    return float(slack)


def upper_slack(values: Mapping[str, object]) -> float:
    """Every row's mass in floats, and that ‖w‖/‖q‖ is no less than the solver's lower bound."""
    q, w = values["q"], values["w"]
    rows = np.exp(-(values["x"] @ q / (q @ q))[:, None] * ((values["s"] - values["y"]) @ w)[None, :]).sum(axis=1)
    size = float(np.linalg.norm(w) / np.linalg.norm(q))
    cost = sink_cost(values["x"], values["s"], values["y"], mass=values["mass"])
    return float(min(1 / values["mass"] - 1 - rows.max(), (size - cost.lower) / (1 + size)))


# One query 1, one key 0, the sink 1, on a line: exp(−11/10) < 1/3.
ELEVEN, SPREAD = Fraction(11, 10), [Fraction(5, 4), Fraction(-1, 4)]


def on_line(x: Matrix = ((1,),), y: Matrix = ((0,),), mass: Number = Fraction(3, 4), a: Vector = (1,),
            mu: Vector = (1,), w: Number = ELEVEN, c: Number | None = None) -> Instance:
    return lower_instance([list(row) for row in x], [list(row) for row in y], [1], mass, list(a), list(mu),
                          [[w]], HALF, c)


def convex(name: str, what: str, negative: Instance, total: Instance) -> tuple[Hypothesis, Hypothesis]:
    return (Hypothesis(f"{what} weights", f"{name} >= 0", f"all(entry >= 0 for entry in {name})", negative),
            Hypothesis(f"{what} weights add up", f"Σ {name} = 1", f"sum({name}) == 1", total))


ENTROPY = "(-sum(entry * log(entry) for entry in mu if entry > 0))"
LOWER = Part(
    name="lower bound",
    text="If every query i puts mass at least a on the sink, then ‖W‖_p <= c gives L + H(μ) <= c·‖q‖·‖x_s − "
         "Σμ_j x_j‖ for every q in conv{x_i} and every μ on the simplex over K, with any 0 < a < 1; with q "
         "nearest to zero, ‖W‖_p is at least (L + H(μ))/(δ_Q‖x_s − Σμ_j x_j‖).",
    variables={**TOKENS, "a": "vector: Q", "mu": "vector: K", "W": "matrix: d d", "t": "scalar", "c": "scalar"},
    definitions={**ODDS, "q": "a @ x", "pull": "mu @ differences", "entropy": ENTROPY},
    hypotheses=(
        A_MASS, EXPONENT,
        *convex("a", "query", on_line(x=[[1], [3]], a=SPREAD), on_line(a=[HALF])),
        # the entropy adds up −μ log μ over the positive entries only
        *convex("mu", "key", on_line(y=[[0], [-1]], mass=Fraction(9, 10), mu=[2, -1], w=Fraction(12, 5)),
                on_line(mu=[0])),
        Hypothesis("mass", "every query has mass at least a on the sink", ROWS, on_line(w=0)),
        Hypothesis("norm", "‖W‖_p <= c", norm_formula("W", "t", "c", "len(W)", "W"), on_line(c=0)),
    ),
    conclusions=("L + entropy <= c * sqrt(dot(q, q) * dot(pull, pull))",),
    attainment="L + entropy == c * sqrt(dot(q, q) * dot(pull, pull))",
    satisfiable=on_line(), attained=on_line(mass=HALF, w=0),
    instances=lower_family, strategy=drawn_lower, numeric=lower_slack,
)

# What carries the lower bound: one row, no convexity between the queries, and exp only through its tangent.
MEAN = derived(
    mass_needs_mean_margin, "mean margin of a row",
    "One row, margins u_j, any μ on the simplex (μ_j > 0; other keys only add to the sum). Put m_j = L − log "
    "μ_j, so that Σ μ_j m_j = L + H(μ) =: m, u = Σ μ_j u_j and E = Σ μ_j exp(m_j − u_j) = exp(L)·Σ "
    "exp(−u_j). Mass at least a is E <= 1, and exp(x) >= 1 + x gives E >= 1 + m − u. Hence u >= m: averaging "
    "over the queries, qᵀW d_μ >= L + H(μ), and |qᵀW d_μ| <= ‖W‖_p‖q‖‖d_μ‖.",
    words={"tangent": "E >= 1 + m − u: exp(x) >= 1 + x, averaged", "mass": "E <= 1: the row has the mass"},
    satisfiable={"u": 1, "m": 1, "E": 1},
    counterexamples={"tangent": {"u": 0, "m": 1, "E": 1}, "mass": {"u": 0, "m": 1, "E": 2}})

DIRECTION = "sum(exp(-dot(w, gap)) for gap in differences) <= odds"
MAJORITY = Hypothesis("majority", "a >= 1/2 (ε <= ½, L >= 0)", "1 / 2 <= mass and mass < 1",
                      # margins 3w and −w: the query three times as long amplifies the negative one
                      upper_instance([[1], [3]], [[-3], [1]], [0], Fraction(5, 14), [1], [Fraction(1, 5)]))
UPPER = Part(
    name="upper bound",
    text="a >= 1/2. If <q, x_i> >= ‖q‖² > 0 on Q (the nearest point has that) and w alone gives the mass, "
         "Σ_j exp(−<w, x_s − x_j>) <= (1−a)/a, then W = q wᵀ/‖q‖² gives it to every query, and its norm is "
         "‖w‖/‖q‖ (rank one).",
    variables={**TOKENS, "q": "vector: d", "w": "vector: d"},
    definitions={**ODDS, "W": "(1 / dot(q, q) if dot(q, q) != 0 else 0) * outer(q, w)"},
    hypotheses=(
        MAJORITY,
        Hypothesis("q not zero", "q ≠ 0", "dot(q, q) > 0",
                   upper_instance([[0]], [[0]], [1], Fraction(3, 4), [0], [ELEVEN])),
        Hypothesis("q nearest", "<q, x_i> >= ‖q‖² on Q", "all(dot(q, row) >= dot(q, q) for row in x)",
                   upper_instance([[1]], [[0]], [1], Fraction(3, 4), [3], [ELEVEN])),
        Hypothesis("direction", "w gives the mass", DIRECTION,
                   upper_instance([[1]], [[0]], [1], Fraction(3, 4), [1], [0])),
    ),
    conclusions=(ROWS, "rank(W) <= 1 and dot(flat(W), flat(W)) * dot(q, q) == dot(w, w)"),
    attainment="all(sum(exp(-dot(row @ W, gap)) for gap in differences) == odds for row in x)",
    satisfiable=upper_instance([[1]], [[0]], [1], Fraction(3, 4), [1], [ELEVEN]),
    attained=upper_instance([[1]], [[0]], [1], HALF, [1], [0]),
    instances=upper_family, strategy=drawn_upper, numeric=upper_slack,
)


def dual_instance(x: Matrix, y: Matrix, s: Vector, mass: Number, q: Vector, w: Vector, lam: Matrix, t: Number = HALF,
                  g: Number | None = None) -> Instance:
    matrix = product(transposed(x), product(lam, [minus(s, row) for row in y]))
    bound = (norm_bound(matrix, 1 - Fraction(t)) or Fraction(1, 2**20)) if g is None else g
    return Instance({**upper_instance(x, y, s, mass, q, w).values, "lam": lam, "t": t, "g": bound},
                    norm_witnesses(G=matrix))


def dual_family(seed: int) -> Iterator[Instance]:
    """Multipliers: products of the solver's weights, rounded, and integers at random."""
    rng = np.random.default_rng(seed)
    for case, instance in enumerate(upper_family(seed)):
        v = instance.values
        lam = rng.integers(0, 3, size=(len(v["x"]), len(v["y"])))
        lam[0, 0] += 1
        if case % 2:
            gaps = np.array([[float(e) for e in minus(v["s"], row)] for row in v["y"]])
            point = entropic_point(gaps, float(v["mass"]))
            lam = np.outer([float(e) for e in nearest(v["x"])[0]], point.weights)
        yield dual_instance(**v, lam=lam.tolist(), t=INVERSE_EXPONENTS[case % 3])


@st.composite
def drawn_dual(draw: st.DrawFn) -> Instance:
    v = draw(drawn_upper()).values
    lam = [[draw(st.integers(0, 3)) for _ in v["y"]] for _ in v["x"]]
    return dual_instance(**v, lam=lam, t=draw(st.sampled_from(INVERSE_EXPONENTS)))


def dual_slack(values: Mapping[str, object]) -> float:
    """The multipliers' worth over ‖G‖_{p*} against the solver's upper bound on the cost."""
    lam, dual = values["lam"], dual_exponent(inf if values["t"] == 0 else 1 / values["t"])
    size = schatten_norm(values["x"].T @ lam @ (values["s"] - values["y"]), dual)
    odds = log(values["mass"] / (1 - values["mass"]))
    worth = sum(row.sum() * odds + row.sum() * float(entr(row / row.sum()).sum()) for row in lam if row.sum() > 0)
    upper = sink_cost(values["x"], values["s"], values["y"], mass=values["mass"]).upper
    return float((size * upper - worth) / (1 + size * upper))


WORTH = ("sum(totals[i] * L + totals[i] * log(totals[i]) for i in range(len(totals)) if totals[i] > 0) - "
         "sum(entry * log(entry) for row in lam for entry in row if entry > 0)")
# theory's example: at its own w the shorter query is served exactly, the one three times as long is not.  The
# multipliers are the solver's, rounded; w is 1/2 % longer than the best for the shorter query.
LAM = [[Fraction(117, 100), Fraction(252, 100)], [Fraction(17, 1000), Fraction(17, 100)]]
LONGER = [Fraction(2322, 10000), Fraction(2271, 10000)]
DELTA = Fraction(2556, 10000)  # the exact one is in the variant
BELOW_HALF = dual_instance([[1, 0], [3, 0]], [[-3, 0], [1, -DELTA]], [0, 0], Fraction(3718, 10000), [1, 0], LONGER, LAM,
                           g=Fraction(1001, 1000))

NO_GAP = Part(
    name="no multiplier beats a direction",
    text="a >= 1/2, q and w as in the upper bound: every λ >= 0 on Q × K with ‖Σ λ_ij x_i(x_s − x_j)ᵀ‖_{p*} "
         "<= g has Σ_i s_i(L + H(λ_i/s_i)) <= g·‖w‖/‖q‖, s = λ1: nothing above max_μ (L + H(μ))/(δ_Q‖x_s − "
         "Σμ_j x_j‖) can be proved.",
    variables={**UPPER.variables, "lam": "matrix: Q K", "t": "scalar", "g": "scalar"},
    definitions={**ODDS, "totals": "[sum(row) for row in lam]", "G": "transpose(x) @ (lam @ differences)"},
    hypotheses=(
        replace(MAJORITY, counterexample=BELOW_HALF), EXPONENT,
        Hypothesis("q not zero", "q ≠ 0", "dot(q, q) > 0"),  # nothing to state without it
        Hypothesis("q nearest", "<q, x_i> >= ‖q‖² on Q", "all(dot(q, row) >= dot(q, q) for row in x)",
                   dual_instance([[1]], [[0]], [1], Fraction(3, 4), [3], [ELEVEN], [[1]])),
        Hypothesis("direction", "w gives the mass", DIRECTION,
                   dual_instance([[1]], [[0]], [1], Fraction(3, 4), [1], [0], [[1]])),
        # a negative weight has no entropy, and as the sums are written it only lowers the dual norm
        Hypothesis("multipliers", "λ >= 0", "all(entry >= 0 for row in lam for entry in row)",
                   dual_instance([[1]], [[0], [0]], [1], HALF, [1], [Fraction(7, 10)], [[HALF, -Fraction(2, 5)]],
                                 g=Fraction(1, 10))),
        Hypothesis("dual norm", "‖Σ λ_ij x_i(x_s − x_j)ᵀ‖_{p*} <= g", norm_formula("G", "(1 - t)", "g", "len(G)", "G"),
                   dual_instance([[1]], [[0]], [1], Fraction(3, 4), [1], [ELEVEN], [[1]], g=HALF)),
    ),
    conclusions=(f"{WORTH} <= g * sqrt(dot(w, w) / dot(q, q))",),
    satisfiable=dual_instance([[1]], [[0]], [1], Fraction(3, 4), [1], [ELEVEN], [[1]]),
    instances=dual_family, strategy=drawn_dual, numeric=dual_slack,
)


def solved(name: str, x: Matrix, y: Matrix, s: Vector, mass: Fraction, low: str, high: str) -> Part:
    """The closed form on one instance: a, μ and w from the solvers, both bounds from the kernel, every p at once."""
    def values() -> dict:
        a = nearest(x)[0]
        point = entropic_point(np.array([[float(e) for e in minus(s, row)] for row in y]), float(mass))
        mu = [Fraction(value).limit_denominator(2**40) for value in point.weights]
        mu[0] += 1 - sum(mu)
        return {"a": a, "mu": mu, "w": [Fraction(e * (1 + 1e-12)) for e in point.direction]}

    later = Instance(Later(values))
    convex_pair = "all(entry >= 0 for entry in {0}) and sum({0}) == 1"
    return Part(
        name=f"solved, {name}", quantifier="exists",
        text=f"{name}, mass {mass}: the sink's cost is between {low} and {high} in every norm: some a, μ on "
             "the simplices prove the lower bound, some w the upper one.",
        variables={**TOKENS, "low": "scalar", "high": "scalar", "a": "vector: Q", "mu": "vector: K", "w": "vector: d"},
        constants={"x": x, "y": y, "s": s, "mass": mass, "low": Fraction(low), "high": Fraction(high)},
        definitions={**ODDS, "q": "a @ x", "pull": "mu @ differences", "entropy": ENTROPY},
        conclusions=(convex_pair.format("a"), convex_pair.format("mu"), "all(dot(q, row) >= dot(q, q) for "
                                                                        "row in x)",
                     DIRECTION, "1 / 2 <= mass and L + entropy >= low * sqrt(dot(q, q) * dot(pull, pull))",
                     "dot(w, w) <= high * high * dot(q, q)"),
        satisfiable=later, instances=lambda seed: [later])


CROSS = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
SOLVED = (
    solved("one query and three keys on a line", [[2]], [[0], [-1], [1]], [3], Fraction(9, 10), "0.627363", "0.627364"),
    solved("three orthonormal tokens, the sink at zero", CROSS, CROSS, [0, 0, 0], Fraction(3, 4), "6.591673",
           "6.591674"),
    solved("five keys in the plane", [[1, 2], [2, 1]], [[0, 0], [1, 1], [-1, 0], [2, -1], [0, 1]], [2, 3], HALF,
           "0.243950", "0.243951"),
)

VARIANTS = (
    Part(name="", text="", variables={"w": "vector", "lam": "matrix"}).vary(
        "below one half", "trap",
        "The closed form with ε > ½, on theory's example: Q = {e1, 3e1}, x_s − x_j in {(3,0), (−1,δ)}, δ² = "
        "(3·2^{−5/4} − 1)/4, e^{−L} = ½ + 2^{1/4}. If the cost were (1/δ_Q)·max_μ(...), which no w that "
        "gives the shorter query its mass can undercut, no multipliers λ with ‖Σ λ_ij x_i(x_s − x_j)ᵀ‖ <= 1 "
        "(rank one: every norm) would be worth more than ‖w‖.",
        Instance({"w": LONGER, "lam": [[Fraction(999, 1000) * entry for entry in row] for row in LAM]}),
        definitions={"delta": "sqrt((3 * 2 ** (-5 / 4) - 1) / 4)", "odds": "1 / 2 + 2 ** (1 / 4)", "L": "-log(odds)",
                     "differences": "[[3, 0], [-1, delta]]", "totals": "[sum(row) for row in lam]",
                     "pull": "[sum((lam[0][j] + 3 * lam[1][j]) * differences[j][e] for j in range(2)) for e "
                             "in range(2)]"},
        hypotheses=(Hypothesis("direction", "w gives the query e1 its mass", DIRECTION),
                    Hypothesis("multipliers", "λ >= 0", "all(entry >= 0 for row in lam for entry in row)"),
                    Hypothesis("dual norm", "‖Σ λ_ij x_i(x_s − x_j)ᵀ‖ <= 1", "dot(pull, pull) <= 1")),
        conclusions=(f"{WORTH} <= sqrt(dot(w, w))",)),
    UPPER.vary("any mass", "drop hypothesis", "The same W does it for every mass.", MAJORITY.counterexample,
               hypotheses=(A_MASS, *(item for item in UPPER.hypotheses if item.name != "majority"))),
    LOWER.vary("L + log n", "trap", "L + log n in place of L + H(μ), whatever μ.",
               lower_instance([[1]], [[0], [-9]], [1], Fraction(3, 4), [1], [1, 0], [[ELEVEN]]),
               conclusions=("L + log(len(y)) <= c * sqrt(dot(q, q) * dot(pull, pull))",)),
    LOWER.vary("entropy twice", "constant moved", "Twice the entropy: L + 2H(μ).",
               lower_instance([[1]], [[0], [0]], [1], HALF, [1], [HALF, HALF], [[Fraction(7, 10)]]),
               conclusions=("L + 2 * entropy <= c * sqrt(dot(q, q) * dot(pull, pull))",)),
    LOWER.vary("keys from zero", "trap", "‖Σμ_j x_j‖ in place of ‖x_s − Σμ_j x_j‖.", on_line(),
               definitions={**LOWER.definitions, "pull": "mu @ y"}),
    UPPER.vary("centroid of the queries", "centroid for min-norm point", "q the centroid of the queries.",
               upper_instance([[1], [3]], [[0]], [1], Fraction(3, 4), [2], [ELEVEN]), hypotheses=(
                   *(item for item in UPPER.hypotheses if item.name != "q nearest"),
                   Hypothesis("centroid", "q = Σ x_i/|Q|", "len(x) * q == sum(row for row in x)"))),
    UPPER.vary("margins of L", "trap", "It is enough that every margin <w, x_s − x_j> is L (strictly more, "
                                       "even).",
               upper_instance([[1]], [[0], [0]], [1], Fraction(3, 4), [1], [ELEVEN]), hypotheses=(
                   *(item for item in UPPER.hypotheses if item.name != "direction"),
                   Hypothesis("margins", "<w, x_s − x_j> > L", "all(dot(w, gap) > log(mass / (1 - mass)) for "
                                                               "gap in differences)"))),
)

CLAIM = Claim(
    id="C2", title="The sink's cost for a mass: an entropic program", family="costs",
    statement="0 outside conv Q, x_s outside conv K, mass at least 1−ε on the sink, ε <= ½, L = log((1−ε)/ε): "
              "min‖W‖_p = (1/δ_Q)·max_μ (L + H(μ))/‖x_s − Σμ_j x_j‖ over the simplex on K, for every p at "
              "once. For ε > ½ the lower bound stays, the equality fails in general.",
    parts=(MEAN, LOWER, UPPER, NO_GAP, *SOLVED), variants=VARIANTS,
    # logarithms: what is symbolic takes exp's tangent as an assumption, and Rocq has no theorem here
    required_formal="PROVED ON",
    scope_notes=(
        "The lower bound is for logits x_iᵀWx_j without RoPE and without a query bias (G6), κ = 1: divide by κ.",
        "That the largest (L + H(μ))/‖x_s − Σμ_j x_j‖ is the smallest ‖w‖ is convex duality, derived in "
        "notes/C2.md; replayed are both bounds on instances and their meeting to six digits on the solved "
        "ones.",
    ),
)
