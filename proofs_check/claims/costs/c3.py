"""C3: what the diagonal costs at least, by weighted directed Laplacians; equality on solved examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from math import inf, log

import numpy as np
from hypothesis import strategies as st

from numerics.constraints import diagonal_constraints
from numerics.diagonal_bound import diagonal_bound
from numerics.schatten import dual_exponent, schatten_norm
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.costs.building_bounds import (
    EXPONENT, HALF, INVERSE_EXPONENTS, norm_bound, norm_formula, norm_witnesses, solved_part, token_tables)
from proofs_check.claims.exact import Matrix, Number, centring, dot, minus, product, transposed

# Rows of x are tokens, so that the theory's X L Xᵀ is transpose(x) @ L @ x.  t = 1/p; the dual exponent has 1 - t.
# W has as many rows as a token has entries.
LAPLACIAN = "[[(sum(lam[i]) if i == j else 0) - lam[i][j] for j in range(len(x))] for i in range(len(x))]"
CENTRING = "[[(1 if i == j else 0) - 1 / len(x) for j in range(len(x))] for i in range(len(x))]"
LOGITS = "x @ W @ transpose(x)"
MARGIN = "all(logits[i][i] - logits[i][j] >= m for i in range(len(x)) for j in range(len(x)) if i != j)"
PRIMAL = norm_formula("W", "t", "c", "len(W)", "W")
DUAL = norm_formula("G", "(1 - t)", "g", "len(G)", "G")


def laplacian(lam: Matrix) -> list[list[Number]]:
    return [[(sum(row) if i == j else 0) - entry for j, entry in enumerate(row)] for i, row in enumerate(lam)]


def between(x: Matrix, middle: Matrix) -> list[list[Fraction]]:
    """Xᵀ M X for tokens as rows."""
    return product(product(transposed(x), middle), x)


def margin(x: Matrix, w: Matrix) -> Fraction | None:
    """The least ℓ_ii − ℓ_ij over i ≠ j; None for one token."""
    rows = product(x, w)
    gaps = [dot(rows[i], minus(x[i], x[j])) for i in range(len(x)) for j in range(len(x)) if i != j]
    return min(gaps, default=None)


def pair(x: Matrix, lam: Matrix | None, w: Matrix, t: Number, m: Number | None = None, c: Number | None = None,
         g: Number | None = None) -> Instance:
    """An instance of either bound with the least margin, norm and dual norm filled in where they are not given."""
    dual = between(x, centring(len(x)) if lam is None else laplacian(lam))
    least = margin(x, w)
    m = m if m is not None else Fraction(1) if least is None else least
    c = norm_bound(w, t) if c is None else c
    g = (norm_bound(dual, 1 - Fraction(t)) or Fraction(1)) if g is None else g
    values = {"x": x, "W": w, "t": t, "m": m, "c": c, "g": g}
    return Instance(values if lam is None else {**values, "lam": lam}, norm_witnesses(W=w, G=dual))


def directions(x: Matrix, rng: np.random.Generator) -> list[list[Number]]:
    """A W for which diagonal margins are mostly positive: near Xᵀ H X, or small random integers."""
    if rng.random() < 0.6:
        return between(x, centring(len(x)))
    dim = len(x[0])
    return rng.integers(-2, 3, size=(dim, dim)).tolist()


def multipliers(count: int, rng: np.random.Generator) -> list[list[int]]:
    """Nonnegative integers with a zero diagonal, sometimes sparse, not symmetric."""
    lam = rng.integers(0, 4, size=(count, count)) * (rng.random((count, count)) < 0.7)
    np.fill_diagonal(lam, 0)
    return lam.tolist()


def family(seed: int, uniform: bool = False) -> Iterator[Instance]:
    rng = np.random.default_rng(seed)
    for case, x in enumerate(token_tables(seed)):
        lam = None if uniform else multipliers(len(x), rng)
        yield pair(x, lam, directions(x, rng), INVERSE_EXPONENTS[case % 3])


@st.composite
def drawn(draw: st.DrawFn, uniform: bool = False) -> Instance:
    count, dim = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    entries = st.integers(-3, 3)
    x = draw(st.lists(st.lists(entries, min_size=dim, max_size=dim), min_size=count, max_size=count))
    w = draw(st.lists(st.lists(entries, min_size=dim, max_size=dim), min_size=dim, max_size=dim))
    lam = [[0 if i == j else draw(st.integers(0, 3)) for j in range(count)] for i in range(count)]
    return pair(x, None if uniform else lam, w, draw(st.sampled_from(INVERSE_EXPONENTS)))


def exponents(t: float) -> tuple[float, float]:
    p = inf if t == 0 else 1 / t
    return p, dual_exponent(p)


def weak_slack(values: Mapping[str, object]) -> float:
    """‖W‖_p ‖G‖_{p*} − m Σλ with the norms recomputed, relative to the right side's size."""
    p, dual = exponents(values["t"])
    lam, x = values["lam"], values["x"]
    size = schatten_norm(values["W"], p) * schatten_norm(x.T @ (np.diag(lam.sum(axis=1)) - lam) @ x, dual)
    return (size - values["m"] * lam.sum()) / (1 + size)


def uniform_slack(values: Mapping[str, object]) -> float:
    """‖W‖_p − the numerical uniform bound at this margin (which is positive only for positive margins)."""
    p, _ = exponents(values["t"])
    size = schatten_norm(values["W"], p)
    if values["m"] <= 0 or len(values["x"]) == 1:
        return size / (1 + size)
    return (size - diagonal_bound(values["x"], p, margin=values["m"])) / (1 + size)


EYE = [[1, 0], [0, 1]]
ZERO = [[0, 0], [0, 0]]
ONES = [[0, 1], [1, 0]]
SPECTRAL, NUCLEAR = 0, 1
COMMON = (
    EXPONENT,  # not known to be needed: Hölder's inequality gives every other t in [0, 1]
    Hypothesis("margin", "ℓ_ii − ℓ_ij >= m for all i ≠ j", MARGIN,
               pair([[1]] * 2, ONES, [[0]], HALF, m=1, c=0)),
    Hypothesis("norm", "‖W‖_p <= c", PRIMAL, pair(EYE, ONES, EYE, SPECTRAL, c=0)),
    Hypothesis("dual norm", "‖X L_λ Xᵀ‖_{p*} <= g", DUAL, pair(EYE, ONES, EYE, SPECTRAL, g=0)),
)
VARIABLES = {"x": "matrix: T d", "lam": "matrix: T T", "W": "matrix: d d", "t": "scalar", "m": "scalar",
             "c": "scalar", "g": "scalar"}
WEAK = Part(
    name="weighted Laplacian bound",
    text="λ >= 0 with zero diagonal, L_λ = diag(λ1) − λ, logits x_iᵀWx_j: if W has the margin m on the "
         "diagonal, ‖W‖_p <= c and ‖X L_λ Xᵀ‖_{p*} <= g, then m·Σλ_ij <= c·g. So every λ with ‖X L_λ "
         "Xᵀ‖_{p*} <= 1 bounds the cost by m·Σλ_ij. The formal theorem is for every dual pair of norms and "
         "names these three.",
    variables=VARIABLES,
    definitions={"logits": LOGITS, "laplacian": LAPLACIAN, "G": "transpose(x) @ (laplacian @ x)"},
    hypotheses=(
        Hypothesis("nonnegative", "λ >= 0", "all(entry >= 0 for row in lam for entry in row)",
                   # the margins are 1 and 2, and the negative weight, on the second, brings G to zero
                   pair([[-1], [2]], [[0, 2], [-1, 0]], [[Fraction(1, 3)]], SPECTRAL, g=0)),
        Hypothesis("zero diagonal", "λ_ii = 0", "all(lam[i][i] == 0 for i in range(len(lam)))",
                   pair([[1]], [[1]], [[0]], SPECTRAL, m=1, c=0)),
        *COMMON,
    ),
    conclusions=("m * sum(sum(row) for row in lam) <= c * g",),
    attainment="m * sum(sum(row) for row in lam) == c * g",
    satisfiable=pair([[1, 2], [0, 1]], [[0, 1], [2, 0]], [[1, 0], [1, 3]], HALF),
    # tokens 1 and −1: W = 1 has margin 2, and G = XL_λXᵀ = 4
    attained=pair([[1], [-1]], ONES, [[1]], SPECTRAL, c=1, g=4),
    instances=family, strategy=drawn, numeric=weak_slack,
)


def restated(names: Mapping[str, Instance]) -> tuple[Hypothesis, ...]:
    """COMMON with the dual matrix of uniform weights and this part's own counterexamples."""
    texts = {"dual norm": "‖XHXᵀ‖_{p*} <= g"}
    return tuple(replace(item, text=texts.get(item.name, item.text), counterexample=names.get(item.name))
                 for item in COMMON)


UNIFORM = Part(
    name="uniform bound",
    text="For any tokens, T >= 1: W of margin m with ‖W‖_p <= c has c >= m(T−1)/g whenever ‖XHXᵀ‖_{p*} <= g, "
         "g > 0, H = I − 11ᵀ/T. The formal theorem is for every dual pair of norms.",
    variables={name: kind for name, kind in VARIABLES.items() if name != "lam"},
    definitions={"logits": LOGITS, "centring": CENTRING, "G": "transpose(x) @ (centring @ x)"},
    hypotheses=(*restated({"margin": pair([[1]] * 2, None, [[0]], HALF, m=1, c=0),
                           "norm": pair(EYE, None, EYE, SPECTRAL, c=0),
                           "dual norm": pair(EYE, None, EYE, SPECTRAL, g=HALF)}),
                # without it there is no bound to state: m(T−1)/0
                Hypothesis("positive", "g > 0", "g > 0")),
    conclusions=("m * (len(x) - 1) / g <= c",), attainment="m * (len(x) - 1) / g == c",
    satisfiable=pair(EYE, None, EYE, HALF), attained=pair([[1], [-1]], None, [[1]], SPECTRAL, c=1, g=2),
    instances=lambda seed: family(seed, uniform=True), strategy=lambda: drawn(uniform=True), numeric=uniform_slack,
)

# Mass: Σ_{j≠i} exp(ℓ_ij − ℓ_ii) <= (1−a)/a is attention at least a on the token itself.
MASS_ROW = "sum(exp(logits[i][j] - logits[i][i]) for j in range(len(x)) if j != i)"
MASS_VALUE = ("sum(totals[i] * log(mass / (1 - mass)) + totals[i] * log(totals[i]) for i in range(len(x)) if "
              "totals[i] > 0) - sum(entry * log(entry) for row in lam for entry in row if entry > 0)")


def mass_pair(x: Matrix, lam: Matrix, w: Matrix, t: Number, mass: Number, **given: Number) -> Instance:
    values = pair(x, lam, w, t, m=0, **given)
    return Instance({**{key: value for key, value in values.values.items() if key != "m"}, "mass": mass},
                    values.witnesses)


CIRCLE = [[1, 0], [Fraction(3, 5), Fraction(4, 5)], [Fraction(-5, 13), Fraction(12, 13)], [0, -1], [-1, 0]]


def tellable(seed: int) -> Iterator[tuple[list, list]]:
    """(tokens, a W with positive diagonal margins): on a circle (d < T), with a coordinate of their own (d > T),
    scattered."""
    rng = np.random.default_rng(seed)
    yield [[2]], [[0]]
    for case in range(24):
        count = 2 + case % 4
        order = rng.permutation(len(CIRCLE))[:count]
        yield [CIRCLE[i] for i in order], EYE
        first = rng.integers(-2, 3, size=count) if case % 2 else np.round(rng.normal(size=count) * 64) / 64
        x = [[value, *(2 * int(i == j) for j in range(count))] for i, value in enumerate(first.tolist())]
        yield x, [[int(i == j and i > 0) for j in range(count + 1)] for i in range(count + 1)]
    for x in token_tables(seed):
        w = between(x, centring(len(x)))
        if len(x) > 1 and margin(x, w) > 0:
            yield x, w


def mass_family(seed: int) -> Iterator[Instance]:
    """W a multiple of a direction with positive margins, large enough for the mass."""
    rng = np.random.default_rng(seed)
    for case, (x, w) in enumerate(tellable(seed)):
        mass = (Fraction(1, 3), HALF, Fraction(4, 5), Fraction(9, 10))[case // 2 % 4]
        need = log(float(mass / (1 - mass))) + log(max(len(x) - 1, 1))
        scale = Fraction(max(need, 0.0) / float(margin(x, w) or 1) * (1 + 2.0**-20) + 2.0**-20).limit_denominator(2**30)
        grown = [[scale * entry for entry in row] for row in w]
        lam = [[0 if i == j else 1 for j in range(len(x))] for i in range(len(x))]
        yield mass_pair(x, lam if case % 3 else multipliers(len(x), rng), grown, INVERSE_EXPONENTS[case % 3], mass)


@st.composite
def drawn_masses(draw: st.DrawFn) -> Instance:
    """W = scale·(rows)ᵀ(rows) of integer tokens that are distinct by a coordinate of their own."""
    count = draw(st.integers(2, 3))
    x = [[int(i == j) * draw(st.integers(1, 3)) for j in range(count)] for i in range(count)]
    w = [[draw(st.integers(3, 5)) if i == j else 0 for j in range(count)] for i in range(count)]
    lam = [[0 if i == j else draw(st.integers(0, 3)) for j in range(count)] for i in range(count)]
    mass = draw(st.sampled_from((Fraction(1, 4), HALF, Fraction(3, 5), Fraction(9, 10))))
    return mass_pair(x, lam, w, draw(st.sampled_from(INVERSE_EXPONENTS)), mass)


def mass_slack(values: Mapping[str, object]) -> float:
    p, dual = exponents(values["t"])
    lam, x, odds = values["lam"], values["x"], log(values["mass"] / (1 - values["mass"]))
    size = schatten_norm(values["W"], p) * schatten_norm(x.T @ (np.diag(lam.sum(axis=1)) - lam) @ x, dual)
    worth = sum(row.sum() * odds - sum(e * log(e / row.sum()) for e in row if e > 0) for row in lam)
    return (size - worth) / (1 + size)


SEVEN = [[Fraction(7, 10), 0], [0, Fraction(7, 10)]]  # exp(−7/10) < 1/2
MASS = Part(
    name="mass bound",
    text="With attention at least a on the token itself in every row, L = log(a/(1−a)), s = λ1 and H the "
         "entropy: Σ_i s_i(L + H(λ_i/s_i)) <= c·g; so every λ with ‖X L_λ Xᵀ‖_{p*} <= 1 bounds the cost of "
         "the mass form. Uniform λ: m = L + log(T−1).",
    variables={**{name: kind for name, kind in VARIABLES.items() if name != "m"}, "mass": "scalar"},
    definitions={**WEAK.definitions, "totals": "[sum(row) for row in lam]"},
    hypotheses=(
        # a negative weight has no entropy, and as the sums are written it only lowers its row's total
        Hypothesis("nonnegative", "λ >= 0", "all(entry >= 0 for row in lam for entry in row)",
                   mass_pair([[1], [0], [-1]], [[0, HALF, -Fraction(2, 5)], [0, 0, 0], [0, 0, 0]], [[0]], SPECTRAL,
                             Fraction(1, 3), c=0)),
        Hypothesis("zero diagonal", "λ_ii = 0", "all(lam[i][i] == 0 for i in range(len(lam)))",
                   mass_pair([[1]], [[1]], [[0]], SPECTRAL, Fraction(3, 4), c=0)),
        EXPONENT,
        Hypothesis("a mass", "0 < a < 1", "0 < mass and mass < 1"),  # L is not defined without it
        Hypothesis("mass", "row i puts at least a on itself",
                   f"all({MASS_ROW} <= (1 - mass) / mass for i in range(len(x)))",
                   mass_pair(EYE, ONES, ZERO, SPECTRAL, Fraction(3, 4), c=0)),
        Hypothesis("norm", "‖W‖_p <= c", PRIMAL, mass_pair(EYE, ONES, [[3, 0], [0, 3]], SPECTRAL, Fraction(3, 4), c=0)),
        Hypothesis("dual norm", "‖X L_λ Xᵀ‖_{p*} <= g", DUAL,
                   mass_pair(EYE, ONES, [[3, 0], [0, 3]], SPECTRAL, Fraction(3, 4), g=0)),
    ),
    conclusions=(f"{MASS_VALUE} <= c * g",),
    # equality needs margins exactly L + H, a logarithm: it is reached at a = 1/2, T = 2, where both sides are 0
    satisfiable=mass_pair(EYE, ONES, SEVEN, SPECTRAL, Fraction(2, 3)),
    instances=mass_family, strategy=drawn_masses, numeric=mass_slack,
)

SKEW = np.array([[2.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 1.0, 1.0]])


def solved(form: str, norm: str, p: float, low: str, high: str) -> Part:
    """Strong duality on one instance: independent tokens, none orthogonal to all others."""
    level = {"margin": {"margin": 1.0}, "mass": {"mass": 0.75}}[form]
    return solved_part(diagonal_constraints(SKEW, **level), p, Fraction(low), Fraction(high), f"solved {form}, {norm}",
                       f"Tokens (2,0,1), (0,1,0), (−1,1,1), diagonal of {form} {level[form]:g}: the cheapest "
                       f"W has {norm} norm in [{low}, {high}]; a dual λ as in the bounds above has at least "
                       "the lower value.")


SOLVED = (
    solved("margin", "nuclear", 1.0, "1.737784", "1.737785"),
    solved("margin", "Frobenius", 2.0, "1.384736", "1.384737"),
    solved("margin", "spectral", inf, "1.224744", "1.224746"),
    solved("margin", "Schatten 3/2", 1.5, "1.486388", "1.486389"),
    solved("mass", "nuclear", 1.0, "2.732247", "2.732248"), solved("mass", "Frobenius", 2.0, "2.092974", "2.092975"),
    solved("mass", "spectral", inf, "1.650024", "1.650025"),
)

# Tokens −1 and 2 on a line: W = 1/3 is the cheapest with margin 1; its margins are 1 (first token) and 2 (second).
THIRD = Fraction(1, 3)
IN_DEGREES = ("[[(sum(row[i] for row in lam) if i == j else 0) - lam[i][j] for j in range(len(x))]"
              " for i in range(len(x))]")
THREE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
SAME = norm_formula("G", "t", "g", "len(G)", "G")


def other_norm(part: Part) -> tuple[Hypothesis, ...]:
    return part.instead("dual norm", replace(part.hypothesis("dual norm"), formula=SAME, counterexample=None))


VARIANTS = (
    WEAK.vary("p for p*", "trap", "The dual matrix measured in the same norm: ‖X L_λ Xᵀ‖_p <= g.",
              pair(THREE, [[0, 1, 1], [1, 0, 1], [1, 1, 0]], THREE, SPECTRAL, c=1, g=3), hypotheses=other_norm(WEAK)),
    UNIFORM.vary("uniform, p for p*", "p for p*", "‖W‖_p >= m(T−1)/‖XHXᵀ‖_p.",
                 pair(THREE, None, THREE, SPECTRAL, c=1, g=1), hypotheses=other_norm(UNIFORM)),
    WEAK.vary("λ_ii free", "trap", "λ_ii may be positive and counts in Σλ: it leaves L_λ, and so the dual "
                                   "matrix, unchanged.",
              pair([[1]], [[1]], [[0]], SPECTRAL, m=1, c=0), drop=("zero diagonal",)),
    WEAK.vary("in-degrees", "trap",
              "With in-degrees, L_λ = diag(λᵀ1) − λ, the bound is another true one (it is that of λᵀ), but "
              "at equality λ is not a multiplier: it need not vanish where the margin is slack.",
              pair([[-1], [2]], [[0, 0], [THIRD, 0]], [[THIRD]], HALF, m=1, c=THIRD, g=1),
              definitions={**WEAK.definitions, "laplacian": IN_DEGREES},
              hypotheses=(*WEAK.hypotheses, Hypothesis("equality", "m·Σλ = c·g",
                                                       "m * sum(sum(row) for row in lam) == c * g")),
              conclusions=("all(lam[i][j] * (logits[i][i] - logits[i][j] - m) == 0 for i in range(len(x)) "
                           "for j in range(len(x)) if i != j)",)),
    WEAK.vary("signless Laplacian", "wrong matrix", "diag(λ1) + λ in place of diag(λ1) − λ.",
              pair([[1], [-1]], ONES, [[1]], HALF, c=1, g=0),
              definitions={**WEAK.definitions, "laplacian": LAPLACIAN.replace(" - lam[i][j]", " + lam[i][j]")}),
    UNIFORM.vary("T for T−1", "T for T-1", "‖W‖_p >= mT/‖XHXᵀ‖_{p*}.",
                 pair([[1], [-1]], None, [[1]], SPECTRAL, c=1, g=2),
                 conclusions=("m * len(x) / g <= c",)),
    UNIFORM.vary("covariance for scatter", "constant moved", "XHXᵀ/T, the covariance, in place of XHXᵀ.",
                 pair([[1], [-1]], None, [[1]], HALF, c=1, g=1),
                 definitions={**UNIFORM.definitions, "G": "(1 / len(x)) * (transpose(x) @ (centring @ x))"}),
    MASS.vary("weights not normalised", "trap", "Mass dual with L·s_i + H(λ_i), the entropy of λ_i itself, "
                                                "not of λ_i/s_i.",
              mass_pair(THREE, [[0, 1 / 4, 1 / 4], [1 / 4, 0, 1 / 4], [1 / 4, 1 / 4, 0]],
                        [[Fraction(7, 5), 0, 0], [0, Fraction(7, 5), 0], [0, 0, Fraction(7, 5)]], HALF, Fraction(2, 3)),
              conclusions=("sum(totals) * log(mass / (1 - mass)) - sum(entry * log(entry) for row in lam for "
                           "entry in row if entry > 0) <= c * g",)),
    MASS.vary("L + log T", "trap", "With uniform weights the mass form has m = L + log T (that is the "
                                   "sink's).",
              mass_pair(EYE, ONES, SEVEN, HALF, Fraction(2, 3)),
              conclusions=("sum(totals) * (log(mass / (1 - mass)) + log(len(x))) <= c * g",)),
)

CLAIM = Claim(
    id="C3", title="The diagonal's cost: weighted directed Laplacians", family="costs",
    statement="Diagonal with margin m, λ >= 0 with zero diagonal, L_λ = diag(λ1) − λ: min‖W‖_p = max{m·Σλ_ij "
              ": ‖X L_λ Xᵀ‖_{p*} <= 1}; every λ gives a lower bound, the uniform one ‖W‖_p >= "
              "m(T−1)/‖XHXᵀ‖_{p*} for any tokens. Mass a: Σ_i s_i(L + H(λ_i/s_i)), s = λ1. Equality is "
              "certified on solved instances.",
    parts=(WEAK, UNIFORM, MASS, *SOLVED), variants=VARIANTS,
    # the mass bound has exact instances only, with Rocq or without
    required_formal="PROVED ON",
    scope_notes=(
        "The lower bounds are for logits x_iᵀWx_j without RoPE and without a query bias (G6), κ = 1: divide by κ.",
        "Equality of minimum and maximum for all tokens is convex duality (the margin form is polyhedral); "
        "what is replayed is weak duality for every λ and equality to six digits on the solved instances.",
        "The bounds are for nuclear, Frobenius and spectral norm and, in Rocq, for every dual pair of norms; "
        "other exponents need Hölder's inequality to be such a pair.",
    ),
)
