"""E8: softmax with finite logits never quite switches a head off, and being nearly off costs mean logit margin."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.equivalence.building import (
    Choose, Shape, add, combine, dot, family, half_space, root_above, searched, softmax_row, unit, zeros)
from proofs_check.claims.equivalence.e3 import reflected

F = Fraction
# Finite logits enter through q_j = e^(ℓ_j − ℓ_s), any positive numbers: then a_s = 1/(1 + Σq) and a_j = q_j·a_s exactly,
# and the margins are m_j = −log q_j.
ROW = {"a_s": "1 / (1 + sum(q))", "a": "[entry * a_s for entry in q]", "o": "a @ v + a_s * v_s"}


def row_and_output(values: Mapping[str, object]) -> tuple[np.ndarray, float]:
    """(attention on content and sink, ‖o‖) from the logits log q and 0, by numerics' softmax."""
    row = softmax_row(np.append(np.log(values["q"]), 0.0))
    return row, float(np.linalg.norm(row[:-1] @ values["v"] + row[-1] * values["v_s"]))


def never(v: list, v_s: list, q: list, **witnesses: dict) -> Instance:
    return Instance({"v": v, "v_s": v_s, "q": q}, witnesses)


def build_never(choose: Choose, shape: Shape) -> Instance:
    v, normal = half_space(choose, shape)
    q = [F(choose(1, 8), 8) * F(2) ** choose(-20, 4) for _ in v]
    return never(v, zeros(shape.dim), q, hull={"normal": normal})


ABOVE = {"normal": [1]}
NEVER = Part(
    name="never off", text="Under E2's hypotheses with at least one content key, a row of softmax with finite logits has o ≠ 0.",
    variables={"v": "matrix", "v_s": "vector", "q": "vector"}, definitions=ROW,
    hypotheses=(
        Hypothesis("null sink", "v_s = 0", "all(entry == 0 for entry in v_s)", never([[1]], [-1], [1], hull=ABOVE)),
        Hypothesis("half-space", "zero is not in conv{v_j}", "separable(v, 'hull')", never([[0]], [0], [1])),
        Hypothesis("finite logits", "e^(ℓ_j−ℓ_s) > 0", "all(entry > 0 for entry in q)", never([[1]], [0], [0], hull=ABOVE)),
    ),
    conclusions=("any(entry != 0 for entry in o)",),
    satisfiable=never([[1]], [0], [1], hull=ABOVE),
    instances=family(build_never), strategy=searched(build_never), numeric=lambda values: row_and_output(values)[1],
)

NAMES = {"v": "matrix", "v_s": "vector", "q": "vector", "u": "vector", "gamma": "scalar", "eta": "scalar", "omega": "scalar"}


def at(v: list, v_s: list, q: list, gamma: object, eta: object, omega: object, u: list | None = None) -> Instance:
    return Instance({"v": v, "v_s": v_s, "q": q, "u": u or [1], "gamma": gamma, "eta": eta, "omega": omega})


def build(choose: Choose, shape: Shape) -> Instance:
    """A head of E3 with so little content mass that ω < γ; ω is a little above ‖o‖."""
    rows, normal = half_space(choose, shape)
    u = unit(choose, shape.dim)
    rows = [reflected(row, normal, u) for row in rows]
    gamma = min(dot(u, row) for row in rows)
    size = max(root_above(dot(row, row)) for row in rows)
    q = [gamma / (4 * size * shape.tokens) * F(choose(1, 4), 4) for _ in rows]
    v_s = [gamma / (8 * shape.dim) * choose(-1, 1) for _ in range(shape.dim)] if choose(0, 2) else zeros(shape.dim)
    a_s = 1 / (1 + sum(q))
    off = add(combine([entry * a_s for entry in q], rows, shape.dim), v_s, a_s)
    # The factor keeps the enclosures of both sides of the mean-margin bound apart where it would be an equality.
    return at(rows, v_s, q, gamma, root_above(dot(v_s, v_s)), root_above(dot(off, off)) * F(65, 64), u)


def hypotheses(*counterexamples: Instance | None) -> tuple[Hypothesis, ...]:
    texts = (
        ("unit normal", "‖u‖ = 1", "dot(u, u) == 1"),
        ("margin", "⟨u,v_j⟩ >= γ for j≠s", "all(dot(u, row) >= gamma for row in v)"),
        ("positive margin", "γ > 0", "gamma > 0"),
        ("sink size", "‖v_s‖ <= η", "eta >= 0 and dot(v_s, v_s) <= eta**2"),
        ("finite logits", "e^(ℓ_j−ℓ_s) > 0", "all(entry > 0 for entry in q)"),
        ("omega-switch", "‖o‖ <= ω", "omega >= 0 and dot(o, o) <= omega**2"),
        ("delta below one", "δ = (ω+η)/(γ+η) < 1 (δ > 0 follows from finite logits)", "delta < 1"),
    )
    return tuple(Hypothesis(*text, instance) for text, instance in zip(texts, counterexamples, strict=True))


DELTA = {**ROW, "n": "len(v)", "delta": "(omega + eta) / (gamma + eta)"}
QUARTER = F(1, 4)
# One content key with as much mass as the sink; the bound claimed is then a third or less.
NEEDED = (
    at([[1]], [0], [1], 2, 0, F(1, 2), u=[2]),
    at([[0]], [0], [1], 1, 0, QUARTER),
    at([[-1]], [0], [1], -1, 0, 1),
    at([[1]], [-1], [1], 1, 0, QUARTER),
)


def mean_slack(values: Mapping[str, object]) -> float:
    row, off = row_and_output(values)
    delta = (off + values["eta"]) / (values["gamma"] + values["eta"])
    margins = np.log(row[-1]) - np.log(row[:-1])
    return float(margins.mean() - np.log(len(margins) * (1 - delta) / delta))


def least_slack(values: Mapping[str, object]) -> float:
    row, off = row_and_output(values)
    delta = (off + values["eta"]) / (values["gamma"] + values["eta"])
    return float((np.log(row[-1]) - np.log(row[:-1])).min() - np.log((1 - delta) / delta))


MEAN = Part(
    name="mean margin",
    text="Under E3 with δ = (ω+η)/(γ+η) < 1, an ω-switch has mean margin (1/n)Σ(ℓ_s−ℓ_j) >= log(n(1−δ)/δ), "
         "written as e^(−mean) <= δ/(n(1−δ)).",
    variables=NAMES, definitions=DELTA,
    # Without finite logits there are no margins, so nothing can be said of that hypothesis.
    hypotheses=hypotheses(*NEEDED, None, at([[1]], [0], [1], 1, 0, QUARTER), at([[1]], [0], [1], 1, 0, 2)),
    conclusions=("exp(sum(log(entry) for entry in q) / n) <= delta / (n * (1 - delta))",),
    satisfiable=at([[1]], [0], [F(1, 3)], 1, 0, F(1, 2)),
    instances=family(build), strategy=searched(build), numeric=mean_slack,
)


def lattice(instance: Instance, base: object, k: list) -> Instance:
    values = {name: value for name, value in instance.values.items() if name != "q"}
    return Instance({**values, "base": base, "k": k})


def on_lattice(v: list, v_s: list, base: object, k: list, gamma: object, eta: object, omega: object,
               u: list | None = None) -> Instance:
    return lattice(at(v, v_s, [], gamma, eta, omega, u), base, k)


def build_lattice(choose: Choose, shape: Shape) -> Instance:
    """As `build`, with margins k_j·log(base) for integers k_j; ω is as small as it may be, so equality occurs."""
    rows, normal = half_space(choose, shape)
    u = unit(choose, shape.dim)
    equal = choose(0, 1)
    rows = [reflected(rows[0] if equal else row, normal, u) for row in rows]
    gamma = min(dot(u, row) for row in rows)
    size = max(root_above(dot(row, row)) for row in rows)
    base, first = F(choose(3, 6), 2), 1
    while shape.tokens * size > gamma * base**first / 8:
        first += 1
    k = [first + choose(0, 2) * (1 - equal) for _ in rows]
    q = [base**-power for power in k]
    v_s = [-gamma / 8 * entry for entry in u] if choose(0, 1) else zeros(shape.dim)
    a_s = 1 / (1 + sum(q))
    off = add(combine([entry * a_s for entry in q], rows, shape.dim), v_s, a_s)
    return on_lattice(rows, v_s, base, k, gamma, root_above(dot(v_s, v_s)), root_above(dot(off, off)), u)


EXACT = Part(
    name="mean margin, exact",
    text="The same for logits with margins k_j·log b, k_j integers, b > 1 rational, where both sides are powers: "
         "b^(−Σk_j) <= (δ/(n(1−δ)))^n. Equality when all margins are equal and E3's lower bound is attained.",
    variables={**{name: kind for name, kind in NAMES.items() if name != "q"}, "base": "scalar", "k": "vector"},
    definitions={"q": "[base**(-entry) for entry in k]", **DELTA},
    hypotheses=(
        *(item for item in hypotheses(
            *(lattice(item, 2, [0]) for item in NEEDED), None, on_lattice([[1]], [0], 2, [0], 1, 0, QUARTER),
            on_lattice([[1]], [0], 2, [0], 1, 0, 2)) if item.name != "finite logits"),
        Hypothesis("base", "b > 1, so that b^(−k_j) is the exponential of a margin", "base > 1",
                   on_lattice([[1], [1], [1]], [0], -2, [0, 1, 1], 1, 0, 0)),
    ),
    conclusions=("base**(-sum(k)) <= (delta / (n * (1 - delta)))**n",),
    attainment="base**(-sum(k)) == (delta / (n * (1 - delta)))**n",
    satisfiable=on_lattice([[1]], [0], 2, [1], 1, 0, F(1, 2)),
    attained=on_lattice([[1], [1]], [-QUARTER], 4, [1, 1], 1, QUARTER, F(1, 6)),
    instances=family(build_lattice), strategy=searched(build_lattice),
    numeric=lambda values: mean_slack({**values, "q": values["base"] ** -values["k"]}),
)

LEAST = Part(
    name="least margin",
    text="Under the same hypotheses every margin is at least log((1−δ)/δ), that is e^(−m_j) <= δ/(1−δ); for the least "
         "margin there is no log n.",
    variables=NAMES, definitions=DELTA,
    hypotheses=hypotheses(*NEEDED, at([[1], [1]], [0], [3, -2], 1, 0, F(1, 2)), at([[1]], [0], [1], 1, 0, QUARTER),
                          at([[1]], [0], [1], 1, 0, 2)),
    conclusions=("all(entry <= delta / (1 - delta) for entry in q)",),
    attainment="any(entry == delta / (1 - delta) for entry in q)",
    satisfiable=at([[1], [1]], [0], [F(1, 3), F(2, 3)], 1, 0, F(1, 2)),
    attained=at([[1]], [-1], [3], 1, 1, F(1, 2)),
    instances=family(build), strategy=searched(build), numeric=least_slack,
)


def build_sharp(choose: Choose, shape: Shape) -> Instance:
    return Instance({"n": shape.tokens + choose(0, 3), "delta": F(choose(1, 7), 8), "tau": F(choose(1, 100), 100)})


SHARP = Part(
    name="least margin is sharp",
    text="For every n >= 1, 0 < δ < 1 and 0 < τ <= 1, the head v_j = 1, v_s = 0 (γ = 1, η = 0, ω = δ) with q_1 = "
         "(1−τ(n−1)/n)·δ/(1−δ) and the others τ/n·δ/(1−δ) is an ω-switch, and e^(−m_1) is within the factor 1−τ of δ/(1−δ).",
    variables={"n": "integer", "delta": "scalar", "tau": "scalar"},
    definitions={"bound": "delta / (1 - delta)",
                 "q": "[(1 - tau * (n - 1) / n) * bound if j == 0 else tau / n * bound for j in range(n)]",
                 "a_s": "1 / (1 + sum(q))", "o": "sum(entry * a_s for entry in q)"},
    hypotheses=(
        Hypothesis("keys", "n >= 1", "n >= 1", Instance({"n": 0, "delta": F(1, 2), "tau": 1})),
        Hypothesis("mass", "0 < δ < 1", "0 < delta and delta < 1", Instance({"n": 1, "delta": 0, "tau": 1})),
        Hypothesis("closeness", "0 < τ <= 1", "0 < tau and tau <= 1", Instance({"n": 2, "delta": F(1, 2), "tau": 2})),
    ),
    conclusions=("all(entry > 0 for entry in q)", "o == delta", "max(q) >= (1 - tau) * bound"),
    satisfiable=Instance({"n": 3, "delta": F(1, 2), "tau": F(1, 10)}),
    instances=family(build_sharp), strategy=searched(build_sharp),
    numeric=lambda values: least_slack(sharp_head(values)) + 1e-9,
)


def sharp_head(values: Mapping[str, object]) -> dict[str, object]:
    n, delta, tau = int(values["n"]), values["delta"], values["tau"]
    q = np.full(n, tau / n)
    q[0] = 1 - tau * (n - 1) / n
    return {"v": np.ones((n, 1)), "v_s": np.zeros(1), "q": q * delta / (1 - delta), "gamma": 1.0, "eta": 0.0}


def mean_variant(name: str, operator: str, text: str, conclusion: str, instance: Instance,
                 part: Part = EXACT, **changes: object) -> object:
    return part.vary(name, operator, text, instance, conclusions=(conclusion,), **changes)


CLAIM = Claim(
    id="E8", title="Softmax never quite switches", family="equivalence",
    statement="E2's hypotheses, n>=1 content keys, finite W: o ≠ 0. Under E3 with 0 < δ = (ω+η)/(γ+η) < 1, an ω-switch has "
              "mean margin >= log(n(1−δ)/δ); the minimum margin obeys only log((1−δ)/δ).",
    parts=(NEVER, MEAN, EXACT, LEAST, SHARP),
    variants=(
        mean_variant("least margin with log n", "trap", "every margin is at least log(n(1−δ)/δ)",
                     "all(entry <= delta / (n * (1 - delta)) for entry in q)",
                     at([[1], [1]], [0], [F(1, 3), F(2, 3)], 1, 0, F(1, 2)), LEAST),
        mean_variant("log n twice", "exponent moved", "the mean margin is at least log(n²(1−δ)/δ)",
                     "base**(-sum(k)) <= (delta / (n**2 * (1 - delta)))**n",
                     on_lattice([[1], [1]], [0], 2, [1, 1], 1, 0, F(1, 2))),
        mean_variant("strictly more", "strict for non-strict", "the mean margin exceeds log(n(1−δ)/δ)",
                     "base**(-sum(k)) < (delta / (n * (1 - delta)))**n", on_lattice([[1]], [0], 2, [1], 1, 0, F(1, 3))),
        mean_variant("sink ignored", "drop hypothesis", "the bound with δ = ω/γ whatever the sink's value",
                     "base**(-sum(k)) <= (delta / (n * (1 - delta)))**n",
                     on_lattice([[1]], [F(-1, 2)], 2, [1], 1, F(1, 2), 0),
                     definitions={**EXACT.definitions, "delta": "omega / gamma"}),
        mean_variant("n+1 for n", "T for T-1", "the mean over content keys with n+1 in place of n",
                     "base**(-sum(k)) <= (delta / ((n + 1) * (1 - delta)))**n",
                     on_lattice([[1]], [0], 2, [1], 1, 0, F(1, 3))),
        NEVER.vary("zero in the hull", "drop hypothesis", "finite logits are never off, whatever the values",
                   never([[1], [-1]], [0], [1, 1]), drop=("half-space",)),
        NEVER.vary("any sink value", "drop hypothesis", "finite logits are never off, whatever the sink's value",
                   never([[1]], [-1], [1], hull=ABOVE), drop=("null sink",)),
        NEVER.vary("mostly sink", "constant moved", "a row of finite logits has more than half of its mass on the sink",
                   never([[1]], [0], [1], hull=ABOVE), conclusions=("a_s > sum(a)",)),
    ),
    required_formal="PROVED ON",
    scope_notes=("Finite logits enter as q_j = e^(ℓ_j−ℓ_s), any positive numbers; which W produces them does not matter.",),
)
