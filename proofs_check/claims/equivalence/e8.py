"""E8: softmax with finite logits never quite switches a head off, and being nearly off costs mean logit
margin."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import accumulate
from operator import mul

import numpy as np

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import (
    Choose, Shape, family, half_space, positive, root_above, searched, softmax_row, unit)
from proofs_check.claims.equivalence.e3 import reflected
from proofs_check.claims.exact import add, combine, dot, zeros
from proofs_check.engines.derivations import symbolic_part
from theory.switch_margins import least_margin_is_sharp

F = Fraction
QUARTER = F(1, 4)
ABOVE = {"normal": [1]}


def never(v: list, v_s: list, a: list, a_s: object, **witnesses: dict) -> Instance:
    return Instance({"v": v, "v_s": v_s, "a": a, "a_s": a_s}, witnesses)


def build_never(choose: Choose, shape: Shape) -> Instance:
    """Positive weights, some of them tiny."""
    v, normal = half_space(choose, shape)
    weights = [weight * F(2) ** choose(-20, 0) for weight in positive(choose, shape.tokens)]
    return never(v, zeros(shape.dim), weights, 1 - sum(weights) if sum(weights) < 1 else F(0),
                 hull={"normal": normal})


def with_sink(instance: Instance) -> Instance:
    """The same head with some weight on the sink, too."""
    values = instance.values
    if values["a_s"] == 0:
        values = {**values, "a": [weight / 2 for weight in values["a"]], "a_s": F(1, 2)}
    return Instance(values, instance.witnesses)


def never_slack(values: Mapping[str, object]) -> float:
    """‖o‖ for the softmax of the finite logits log a."""
    row = softmax_row(np.log(np.append(values["a"], values["a_s"])))
    return float(np.linalg.norm(row[:-1] @ values["v"] + row[-1] * values["v_s"]))


NEVER = Part(
    name="never zero",
    text="Under E2's hypotheses with at least one content key, positive weights of sum one (softmax of "
         "finite logits) have o ≠ 0.",
    variables={"v": "matrix: n d", "v_s": "vector: d", "a": "vector: n", "a_s": "scalar"},
    definitions={"o": "a @ v + a_s * v_s"},
    hypotheses=(
        Hypothesis("null sink", "v_s = 0", "all(entry == 0 for entry in v_s)",
                   never([[1]], [-1], [F(1, 2)], F(1, 2), hull=ABOVE)),
        # A non-empty list of values is what `separable` takes: at least one content key.
        Hypothesis("half-space", "zero is not in conv{v_j}, n >= 1", "separable(v, 'hull')",
                   never([[0]], [0], [F(1, 2)], F(1, 2))),
        Hypothesis("finite logits", "every weight is positive", "a_s > 0 and all(entry > 0 for entry in a)",
                   never([[1], [2]], [0], [2, -1], 0, hull=ABOVE)),
        # Positive weights of another sum only rescale the output.
        Hypothesis("sum one", "the weights sum to one", "a_s + sum(a) == 1"),
    ),
    conclusions=("any(entry != 0 for entry in o)",),
    satisfiable=never([[1]], [0], [F(1, 2)], F(1, 2), hull=ABOVE),
    instances=family(lambda choose, shape: with_sink(build_never(choose, shape))),
    strategy=searched(lambda choose, shape: with_sink(build_never(choose, shape))), numeric=never_slack,
)

# Finite logits enter through q_j = e^(ℓ_j − ℓ_s), any positive numbers: a_s = 1/(1 + Σq), a_j = q_j·a_s, and
# the margins are m_j = −log q_j.  `running` are the products q_1, q_1q_2, ...: the last is e^(−Σm_j), so that
# the mean margin is compared without a logarithm: mean >= log(n(1−δ)/δ) says that it is at most
# (δ/(n(1−δ)))^n.
RUNNING = Hypothesis(
    "running products", "running_k = q_1···q_k",
    "running[0] == q[0] and all(running[k] == running[k - 1] * q[k] for k in range(1, len(q)))")
ROW = {"n": "len(q)", "a_s": "1 / (1 + sum(q))"}
MEAN_BOUND = "running[n - 1] <= (delta / (n * (1 - delta)))**n"
MEAN_EQUAL = MEAN_BOUND.replace("<=", "==")


def products(q: list) -> list:
    return list(accumulate(map(F, q), mul))


def mass(q: list, delta: object) -> Instance:
    return Instance({"q": q, "running": products(q), "delta": delta})


def build_mass(choose: Choose, shape: Shape) -> Instance:
    """Positive numbers, all equal now and then, and δ at the mass they leave the sink or a little above."""
    q = [F(choose(1, 8), choose(1, 8)) for _ in range(shape.tokens + choose(0, 3))]
    if choose(0, 1):
        q = [q[0]] * len(q)
    least = sum(q) / (1 + sum(q))
    return mass(q, least + (1 - least) * F(choose(0, 3), 4))


def margins(values: Mapping[str, object]) -> np.ndarray:
    row = softmax_row(np.append(np.log(values["q"]), 0.0))
    return np.log(row[-1]) - np.log(row[:-1])


JENSEN = Part(
    name="Jensen step",
    text="n >= 1 other keys and sink mass at least 1−δ, δ < 1: the mean margin is at least log(n(1−δ)/δ).",
    variables={"q": "vector", "running": "vector", "delta": "scalar"}, definitions=ROW,
    hypotheses=(
        Hypothesis("finite logits", "q_j = e^(−m_j) > 0", "all(entry > 0 for entry in q)",
                   mass([1, F(-1, 2), F(-1, 2)], 0)),
        Hypothesis("mass", "a_s >= 1 − δ", "a_s >= 1 - delta", mass([1], QUARTER)),
        Hypothesis("delta below one", "δ < 1", "delta < 1", mass([1], 2)),
        Hypothesis(RUNNING.name, RUNNING.text, RUNNING.formula,
                   Instance({"q": [1], "running": [2], "delta": F(1, 2)})),
    ),
    conclusions=(MEAN_BOUND,), attainment=MEAN_EQUAL,
    satisfiable=mass([1, F(1, 2)], F(3, 5)), attained=mass([QUARTER, QUARTER], F(1, 3)),
    instances=family(build_mass), strategy=searched(build_mass),
    numeric=lambda x: float(margins(x).mean() - np.log(len(x["q"]) * (1 - x["delta"]) / x["delta"])),
)

NAMES = {"v": "matrix: n d", "v_s": "vector: d", "q": "vector", "running": "vector", "u": "vector: d",
         "gamma": "scalar",
         "eta": "scalar", "omega": "scalar"}


def at(v: list, v_s: list, q: list, gamma: object, eta: object, omega: object,
       u: list | None = None) -> Instance:
    return Instance({"v": v, "v_s": v_s, "q": q, "running": products(q), "u": u or [1], "gamma": gamma,
                     "eta": eta,
                     "omega": omega})


def build(choose: Choose, shape: Shape) -> Instance:
    """A head of E3 with so little content mass that ω < γ; equal margins along u now and then, where
    equality holds."""
    rows, normal = half_space(choose, shape)
    u = unit(choose, shape.dim)
    equal = choose(0, 2) == 0
    rows = [add(zeros(shape.dim), u, 2) if equal else reflected(row, normal, u) for row in rows]
    gamma = min(dot(u, row) for row in rows)
    size = max(root_above(dot(row, row)) for row in rows)
    q = [gamma / (4 * size * shape.tokens) * F(1 if equal else choose(1, 4), 4) for _ in rows]
    v_s = add(zeros(shape.dim), u, -gamma / 32 * choose(0, 1))
    a_s = 1 / (1 + sum(q))
    off = add(combine([entry * a_s for entry in q], rows, shape.dim), v_s, a_s)
    return at(rows, v_s, q, gamma, root_above(dot(v_s, v_s)), root_above(dot(off, off)), u)


def switch_slack(values: Mapping[str, object]) -> float:
    """The smaller of: mean margin minus log(n(1−δ)/δ), least margin minus log((1−δ)/δ)."""
    found, q = margins(values), values["q"]
    row = softmax_row(np.append(np.log(q), 0.0))
    off = float(np.linalg.norm(row[:-1] @ values["v"] + row[-1] * values["v_s"]))
    delta = (off + values["eta"]) / (values["gamma"] + values["eta"])
    return float(min(found.mean() - np.log(len(q) * (1 - delta) / delta),
                     found.min() - np.log((1 - delta) / delta)))


SWITCH = Part(
    name="mean and minimum margin",
    text="Under E3 with δ = (ω+η)/(γ+η) < 1, an ω-switch has mean margin at least log(n(1−δ)/δ), and every "
         "margin is at least log((1−δ)/δ).",
    variables=NAMES,
    definitions={**ROW, "o": "[entry * a_s for entry in q] @ v + a_s * v_s",
                 "delta": "(omega + eta) / (gamma + eta)"},
    hypotheses=(
        # One content key with as much mass as the sink, where the bound is a third.
        Hypothesis("unit normal", "‖u‖ = 1", "dot(u, u) == 1", at([[1]], [0], [1], 2, 0, F(1, 2), u=[2])),
        Hypothesis("margin", "⟨u,v_j⟩ >= γ for j≠s", "all(dot(u, row) >= gamma for row in v)",
                   at([[0]], [0], [1], 1, 0, QUARTER)),
        Hypothesis("positive margin", "γ > 0", "gamma > 0", at([[-1]], [0], [1], -1, 0, 1)),
        Hypothesis("sink size", "‖v_s‖ <= η", "eta >= 0 and dot(v_s, v_s) <= eta**2",
                   at([[1]], [-1], [1], 1, 0, QUARTER)),
        Hypothesis("finite logits", "e^(ℓ_j−ℓ_s) > 0", "all(entry > 0 for entry in q)",
                   at([[1], [1]], [0], [3, -2], 1, 0, F(1, 2))),
        Hypothesis("omega-switch", "‖o‖ <= ω", "omega >= 0 and dot(o, o) <= omega**2",
                   at([[1]], [0], [1], 1, 0, QUARTER)),
        # δ > 0 follows: finite logits leave some mass on content.
        Hypothesis("delta below one", "δ < 1", "delta < 1", at([[1]], [0], [1], 1, 0, 2)),
        Hypothesis(RUNNING.name, RUNNING.text, RUNNING.formula,
                   Instance({**at([[1]], [0], [1], 1, 0, F(1, 2)).values, "running": [2]})),
    ),
    conclusions=(MEAN_BOUND, "all(entry <= delta / (1 - delta) for entry in q)"), attainment=MEAN_EQUAL,
    satisfiable=at([[1], [1]], [0], [F(1, 3), F(2, 3)], 1, 0, F(1, 2)),
    attained=at([[1], [1]], [-QUARTER], [QUARTER, QUARTER], 1, QUARTER, F(1, 6)),
    instances=family(build), strategy=searched(build), numeric=switch_slack,
)

SHARP = symbolic_part(
    least_margin_is_sharp, "no log n for the minimum",
    "For every n >= 2, 0 < δ < 1 and 0 < τ < 1 there is a head (v_j = 1, v_s = 0, γ = 1, η = 0) with "
    "content mass, so ‖o‖, exactly δ and e^(−m_1) = (1−τ)·δ/(1−δ): the bound on the least margin cannot be "
    "improved.",
    satisfiable=Instance({"n": 3, "delta": F(1, 2), "tau": F(1, 10)}))


def bound(name: str, operator: str, text: str, conclusion: str, instance: Instance,
          **changes: object) -> object:
    return SWITCH.vary(name, operator, text, instance, conclusions=(conclusion,), **changes)


CLAIM = Claim(
    id="E8", title="Softmax never quite switches", family="equivalence",
    statement="E2's hypotheses, n>=1 content keys, finite W: o ≠ 0. Under E3 with 0 < δ = (ω+η)/(γ+η) < 1, "
              "an ω-switch has mean margin >= log(n(1−δ)/δ); the minimum margin obeys only log((1−δ)/δ).",
    parts=(NEVER, JENSEN, SWITCH, SHARP),
    variants=(
        bound("least margin with log n", "trap", "every margin is at least log(n(1−δ)/δ)",
              "all(entry <= delta / (n * (1 - delta)) for entry in q)",
              at([[1], [1]], [0], [F(1, 3), F(2, 3)], 1, 0, F(1, 2))),
        bound("log n twice", "exponent moved", "the mean margin is at least log(n²(1−δ)/δ)",
              "running[n - 1] <= (delta / (n**2 * (1 - delta)))**n",
              at([[1], [1]], [0], [F(1, 2), F(1, 2)], 1, 0, F(1, 2))),
        bound("strictly more", "strict for non-strict", "the mean margin exceeds log(n(1−δ)/δ)",
              MEAN_BOUND.replace("<=", "<"), at([[1]], [0], [F(1, 2)], 1, 0, F(1, 3))),
        bound("sink ignored", "drop hypothesis", "the bound with δ = ω/γ whatever the sink's value",
              MEAN_BOUND,
              at([[1]], [F(-1, 2)], [F(1, 2)], 1, F(1, 2), 0),
              definitions={**SWITCH.definitions, "delta": "omega / gamma"}),
        bound("n+1 for n", "T for T-1", "the mean over content keys with n+1 in place of n",
              "running[n - 1] <= (delta / ((n + 1) * (1 - delta)))**n",
              at([[1]], [0], [F(1, 2)], 1, 0, F(1, 3))),
        NEVER.vary("zero in the hull", "drop hypothesis", "finite logits are never off, whatever the values",
                   never([[1], [-1]], [0], [QUARTER, QUARTER], F(1, 2)), drop=("half-space",)),
        NEVER.vary("any sink value", "drop hypothesis",
                   "finite logits are never off, whatever the sink's value",
                   never([[1]], [-1], [F(1, 2)], F(1, 2), hull=ABOVE), drop=("null sink",)),
        NEVER.vary("mostly sink", "constant moved",
                   "a row of finite logits has more than half of its mass on the sink",
                   never([[1]], [0], [F(1, 2)], F(1, 2), hull=ABOVE), conclusions=("a_s > sum(a)",)),
    ),
    scope_notes=("Finite logits enter as q_j = e^(ℓ_j−ℓ_s), any positive numbers; which W produces them "
                 "does not matter.",),
)
