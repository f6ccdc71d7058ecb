"""E3: how far a head is from off and how far it is from a sink bound each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np

from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Choose, Shape, attention, entry, family, half_space, root_above, searched, unit
from proofs_check.claims.exact import add, combine, dot

F = Fraction
NAMES = {"v": "matrix: n d", "v_s": "vector: d", "a": "vector: n", "a_s": "scalar",
         "u": "vector: d", "gamma": "scalar",
         "B": "scalar", "eta": "scalar", "omega": "scalar", "delta": "scalar"}


def at(v: list, v_s: list, a: list, a_s: object, **numbers: object) -> Instance:
    return Instance({"v": v, "v_s": v_s, "a": a, "a_s": a_s, **numbers})


def hypothesis(name: str, counterexample: Instance | None) -> Hypothesis:
    """E3's hypotheses; norms enter squared, so that they stay rational."""
    texts = {
        "unit normal": ("‖u‖ = 1", "dot(u, u) == 1"),
        "margin": ("⟨u,v_j⟩ >= γ for j≠s", "all(dot(u, row) >= gamma for row in v)"),
        "positive margin": ("γ > 0", "gamma > 0"),
        "content size": ("‖v_j‖ <= B for j≠s", "B >= 0 and all(dot(row, row) <= B**2 for row in v)"),
        "sink size": ("‖v_s‖ <= η", "eta >= 0 and dot(v_s, v_s) <= eta**2"),
        "nonnegative": ("a >= 0", "a_s >= 0 and all(entry >= 0 for entry in a)"),
        "sum one": ("the attention sums to one", "a_s + sum(a) == 1"),
        "omega-switch": ("‖o‖ <= ω", "omega >= 0 and dot(o, o) <= omega**2"),
        "(1-delta)-sink": ("a_s >= 1 − δ", "a_s >= 1 - delta"),
    }
    return Hypothesis(name, *texts[name], counterexample)


def quantities(choose: Choose, shape: Shape) -> dict[str, object]:
    """A head with every number of E3: unit normal, best margin, sizes, ω = ‖o‖ and δ = 1 − a_s or a little
    above."""
    rows, normal = half_space(choose, shape)
    u = unit(choose, shape.dim)
    rows = [reflected(row, normal, u) for row in rows]
    v_s = [F(entry(choose, shape.kind)) / 4 for _ in range(shape.dim)]
    a, a_s = attention(choose, shape.tokens)
    off = add(combine(a, rows, shape.dim), v_s, a_s)
    spare = F(choose(0, 2), 4)
    return {"v": rows, "v_s": v_s, "a": a, "a_s": a_s, "u": u, "gamma": min(dot(u, row) for row in rows),
            "B": max(root_above(dot(row, row)) for row in rows), "eta": root_above(dot(v_s, v_s)),
            "omega": root_above(dot(off, off)) + spare, "delta": 1 - a_s + spare}


def reflected(row: list, normal: list, u: list) -> list:
    """Move a row along the unit vector u so that ⟨u,row⟩ is what ⟨normal,row⟩ was: positive."""
    return add(row, u, dot(normal, row) - dot(u, row))


def builder(names: tuple[str, ...]) -> Callable[[Choose, Shape], Instance]:
    return lambda choose, shape: Instance({name: value for name, value in quantities(choose, shape).items()
                                           if name in names})


def output_norm(values: Mapping[str, object]) -> float:
    return float(np.linalg.norm(values["a"] @ values["v"] + values["a_s"] * values["v_s"]))


def part(name: str, text: str, numbers: tuple[str, ...], hypotheses: tuple[Hypothesis, ...], conclusion: str,
         attainment: str, satisfiable: Instance, attained: Instance,
         numeric: Callable[[Mapping[str, object]], float]) -> Part:
    names = ("v", "v_s", "a", "a_s", *numbers)
    return Part(name=name, text=text, variables={key: NAMES[key] for key in names},
                definitions={"o": "a @ v + a_s * v_s"}, hypotheses=hypotheses, conclusions=(conclusion,),
                attainment=attainment, satisfiable=satisfiable, attained=attained,
                instances=family(builder(names)), strategy=searched(builder(names)), numeric=numeric)


_LOW = {"u": [1], "gamma": 1, "eta": 0}
LOWER = part(
    "lower bound", "γ(1−a_s) − η·a_s <= ‖o‖ (true for γ of any sign; B is not used).", ("u", "gamma", "eta"),
    (hypothesis("unit normal", at([[1]], [0], [1], 0, u=[2], gamma=2, eta=0)),
     hypothesis("margin", at([[0]], [0], [1], 0, **_LOW)),
     hypothesis("sink size", at([[1]], [-1], [F(1, 2)], F(1, 2), **_LOW)),
     hypothesis("nonnegative", at([[1]], [1], [2], -1, u=[1], gamma=1, eta=1)),
     hypothesis("sum one", at([[1]], [0], [0], 0, **_LOW))),
    "gamma * (1 - a_s) - eta * a_s <= sqrt(dot(o, o))", "gamma * (1 - a_s) - eta * a_s == sqrt(dot(o, o))",
    at([[2]], [1], [F(1, 2)], F(1, 2), u=[1], gamma=1, eta=1),
    at([[1]], [-1], [F(3, 4)], F(1, 4), u=[1], gamma=1, eta=1),
    lambda x: output_norm(x) - x["gamma"] * (1 - x["a_s"]) + x["eta"] * x["a_s"])

UPPER = part(
    "upper bound", "‖o‖ <= B(1−a_s) + η·a_s (u and γ are not used).", ("B", "eta"),
    (hypothesis("content size", at([[1]], [0], [1], 0, B=0, eta=0)),
     hypothesis("sink size", at([[0]], [1], [0], 1, B=0, eta=0)),
     hypothesis("nonnegative", at([[1]], [-1], [2], -1, B=1, eta=1)),
     hypothesis("sum one", at([[1]], [0], [2], 0, B=1, eta=0))),
    "sqrt(dot(o, o)) <= B * (1 - a_s) + eta * a_s", "sqrt(dot(o, o)) == B * (1 - a_s) + eta * a_s",
    at([[1]], [-1], [F(1, 2)], F(1, 2), B=1, eta=1), at([[1]], [1], [F(1, 2)], F(1, 2), B=1, eta=1),
    lambda x: x["B"] * (1 - x["a_s"]) + x["eta"] * x["a_s"] - output_norm(x))

_OFF = {"u": [1], "gamma": 1, "eta": 0, "omega": 0}
SINK = part(
    "switch to sink", "An ω-switch (‖o‖ <= ω) has 1 − a_s <= (ω+η)/(γ+η).", ("u", "gamma", "eta", "omega"),
    (hypothesis("unit normal", at([[1]], [0], [1], 0, u=[2], gamma=2, eta=0, omega=1)),
     hypothesis("margin", at([[0]], [0], [1], 0, **_OFF)),
     hypothesis("positive margin", at([[-1]], [0], [1], 0, u=[1], gamma=-1, eta=0, omega=1)),
     hypothesis("sink size", at([[1]], [-1], [F(1, 2)], F(1, 2), **_OFF)),
     hypothesis("nonnegative", at([[1]], [1], [2], -1, u=[1], gamma=1, eta=1, omega=1)),
     hypothesis("sum one", at([[1]], [0], [0], 0, **_OFF)),
     hypothesis("omega-switch", at([[1]], [0], [1], 0, **_OFF))),
    "1 - a_s <= (omega + eta) / (gamma + eta)", "1 - a_s == (omega + eta) / (gamma + eta)",
    at([[2]], [0], [F(1, 2)], F(1, 2), u=[1], gamma=2, eta=0, omega=1),
    at([[1]], [-1], [F(3, 4)], F(1, 4), u=[1], gamma=1, eta=1, omega=F(1, 2)),
    lambda x: (x["omega"] + x["eta"]) / (x["gamma"] + x["eta"]) - (1 - x["a_s"]))

OFF = part(
    "sink to switch", "A (1−δ)-sink has ‖o‖ <= η + δ·max(B−η, 0).", ("B", "eta", "delta"),
    (hypothesis("content size", at([[1]], [0], [1], 0, B=0, eta=0, delta=1)),
     hypothesis("sink size", at([[0]], [1], [0], 1, B=0, eta=0, delta=0)),
     hypothesis("nonnegative", at([[1], [-1]], [0], [1, -1], 1, B=1, eta=0, delta=0)),
     hypothesis("sum one", at([[0]], [1], [0], 2, B=0, eta=1, delta=0)),
     hypothesis("(1-delta)-sink", at([[1]], [0], [1], 0, B=1, eta=0, delta=0))),
    "sqrt(dot(o, o)) <= eta + delta * max(B - eta, 0)", "sqrt(dot(o, o)) == eta + delta * max(B - eta, 0)",
    at([[1]], [0], [F(1, 2)], F(1, 2), B=2, eta=1, delta=F(3, 4)),
    at([[2]], [1], [F(1, 2)], F(1, 2), B=2, eta=1, delta=F(1, 2)),
    lambda x: x["eta"] + x["delta"] * max(x["B"] - x["eta"], 0) - output_norm(x))

# A second instance that attains the last bound, where the maximum is 0.
OFF = replace(OFF, instances=family(builder(("v", "v_s", "a", "a_s", "B", "eta", "delta")),
                                    [at([[0]], [1], [0], 1, B=0, eta=1, delta=1)]))

CLAIM = Claim(
    id="E3", title="Nearly off and nearly a sink, both ways", family="equivalence",
    statement="‖u‖ = 1, ⟨u,v_j⟩ >= γ > 0 and ‖v_j‖ <= B for j≠s, ‖v_s‖ <= η, a on the simplex: γ(1−a_s) − "
              "η·a_s <= ‖o‖ <= B(1−a_s) + η·a_s. Hence ‖o‖ <= ω gives 1−a_s <= (ω+η)/(γ+η), and a (1−δ)-sink "
              "has ‖o‖ <= η + δ·max(B−η, 0).",
    parts=(LOWER, UPPER, SINK, OFF),
    variants=(
        OFF.vary("without the maximum", "constant moved",
                 "‖o‖ <= η + δ(B−η), which can fall below η when B < η",
                 at([[0]], [1], [0], 1, B=0, eta=1, delta=1),
                 conclusions=("sqrt(dot(o, o)) <= eta + delta * (B - eta)",)),
        LOWER.vary("sink ignored below", "drop hypothesis", "γ(1−a_s) <= ‖o‖ whatever the sink's value",
                   at([[1]], [-1], [F(1, 2)], F(1, 2), u=[1], gamma=1, eta=1),
                   conclusions=("gamma * (1 - a_s) <= sqrt(dot(o, o))",)),
        UPPER.vary("sink ignored above", "drop hypothesis", "‖o‖ <= B(1−a_s) whatever the sink's value",
                   at([[0]], [1], [0], 1, B=0, eta=1), conclusions=("sqrt(dot(o, o)) <= B * (1 - a_s)",)),
        SINK.vary("1% sharper", "constant moved", "1 − a_s <= (99/100)(ω+η)/(γ+η)",
                  at([[1]], [0], [1], 0, u=[1], gamma=1, eta=0, omega=1),
                  conclusions=("1 - a_s <= 99 * (omega + eta) / (100 * (gamma + eta))",)),
        SINK.vary("sink ignored", "drop hypothesis", "1 − a_s <= ω/γ whatever the sink's value",
                  at([[1]], [-1], [F(1, 2)], F(1, 2), u=[1], gamma=1, eta=1, omega=0),
                  conclusions=("1 - a_s <= omega / gamma",)),
        LOWER.vary("norm squared", "missing square root", "the lower bound with ‖o‖² for ‖o‖",
                   at([[F(1, 2)]], [0], [1], 0, u=[1], gamma=F(1, 2), eta=0),
                   conclusions=("gamma * (1 - a_s) - eta * a_s <= dot(o, o)",)),
        LOWER.vary("size for margin", "wrong matrix", "B(1−a_s) − η·a_s <= ‖o‖ with B the largest size",
                   at([[1], [2]], [0], [1, 0], 0, u=[1], gamma=1, eta=0),
                   conclusions=("max([dot(u, row) for row in v]) * (1 - a_s) - eta * a_s <= sqrt(dot(o, "
                                "o))",)),
        UPPER.vary("flipped", "flip inequality", "‖o‖ >= B(1−a_s) + η·a_s",
                   at([[1]], [0], [1], 0, B=2, eta=0),
                   conclusions=("sqrt(dot(o, o)) >= B * (1 - a_s) + eta * a_s",)),
    ),
)

