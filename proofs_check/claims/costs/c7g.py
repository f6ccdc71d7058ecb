"""C7g: the value side for any tokens: the pseudo-inverse interpolant is least, dependent tokens included."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

import numpy as np

from numerics.schatten import schatten_norm
from numerics.value_cost import value_cost
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.costs.c7 import columns_for
from proofs_check.claims.building import Choose, Shape, family, independent, matrix, searched, these
from proofs_check.claims.exact import add, axis, combine, identity, plus, product, transposed


def build(choose: Choose, shape: Shape) -> Instance:
    """Independent inputs, combinations of them with agreeing targets, the least V, another V + free·(1 - P)."""
    basis = independent(choose, shape.tokens, shape)
    dim = len(basis[0])
    values = matrix(choose, shape.tokens, Shape(shape.tokens, 2, shape.kind))
    weights = [[choose(-1, 2) for _ in basis] for _ in range(choose(0, 2))]
    inputs = [*basis, *(combine(row, basis, dim) for row in weights)]
    targets = [*values, *(combine(row, values, 2) for row in weights)]
    coordinates = columns_for(basis)
    p = product(transposed(basis), coordinates)  # the projector on the basis' span
    least = [combine([row[out] for row in values], coordinates, dim) for out in range(2)]
    free = matrix(choose, 2, Shape(2, dim, "integer"))
    outside = plus(identity(dim), p, -1)
    other = [add(row, combine(extra, outside, dim)) for row, extra in zip(least, free)]
    return Instance({"M": inputs, "t": targets, "P": p, "V": least, "other": other})


def pseudo_inverse_slack(values: Mapping[str, object]) -> float:
    """‖other‖_p - min‖V‖_p for three norms, the minimum by `value_cost`, and the distance of V from it."""
    slacks = []
    for norm in (1.0, 2.0, inf):
        found = value_cost(values["M"], values["t"], norm)
        scale = 1 + found.upper
        slacks.append((schatten_norm(values["other"], norm) - found.lower) / scale)
        slacks.append(1e-6 - abs(schatten_norm(values["V"], norm) - found.upper) / scale)
    return float(np.min(slacks))


LEAST = Part(
    name="pseudo-inverse",
    text="Inputs are the rows of M (tokens, and the sink with target 0 if there is one), P the projector on "
         "their span, V the interpolant with V P = V, which is [t,0]M^+. Every interpolant `other` has other "
         "P = V; multiplication by a projector increases no unitarily invariant norm, so ‖V‖ <= ‖other‖ in "
         "each; the Frobenius case is spelt out: ‖other‖² = ‖V‖² + ‖other - V‖².",
    variables={name: "matrix" for name in ("M", "t", "P", "V", "other")},
    definitions={"square": "sum(entry**2 for row in V for entry in row)"},
    hypotheses=(
        Hypothesis("projector", "P is the projector on the span of the inputs",
                   "transpose(P) == P and P @ P == P and all(P @ row == row for row in M) and rank(P) == "
                   "rank(M)",
                   Instance({"M": [[1, 0]], "t": [[1]], "P": [[1, 0], [0, 1]],
                       "V": [[1, 0]],
                       "other": [[1, 1]]})),
        Hypothesis("V interpolates", "V x_j = t_j", "all(V @ M[j] == t[j] for j in range(len(M)))",
                   Instance({"M": [[1, 0]], "t": [[1]], "P": [[1, 0], [0, 0]],
                       "V": [[2, 0]],
                       "other": [[1, 0]]})),
        Hypothesis("V in the span", "V P = V", "V @ P == V",
                   Instance({"M": [[1, 0]], "t": [[1]], "P": [[1, 0], [0, 0]],
                       "V": [[1, 1]],
                       "other": [[1, 0]]})),
        Hypothesis("other interpolates", "the other map sends the inputs to "
            "the targets as well",
            "all(other @ M[j] == t[j] for j in range(len(M)))",
                   Instance({"M": [[1, 0]], "t": [[1]], "P": [[1, 0], [0, 0]],
                       "V": [[1, 0]],
                       "other": [[0, 0]]}))),
    conclusions=("other @ P == V", "sum(entry**2 for row in other for entry in row) == square + sum(entry**2 "
        "for row in other - V for entry in row)"),
    attainment="other == V",
    satisfiable=Instance({"M": [[1, 0]], "t": [[1]], "P": [[1, 0], [0, 0]], "V": [[1, 0]],
                          "other": [[1, 1]]}),
    attained=Instance({"M": [[1, 0]], "t": [[1]], "P": [[1, 0], [0, 0]], "V": [[1, 0]], "other": [[1, 0]]}),
    instances=family(build), strategy=searched(build), numeric=pseudo_inverse_slack)

OPPOSITE = Instance({"M": [[1], [-1]], "t": [[1], [1]], "c": [1, 1]})
CONSISTENT = Part(
    name="consistency", quantifier="exists",
    text="Targets that do not agree with the inputs' dependence have no interpolant: the opposite "
         "inputs 1 and -1 with equal targets 1 (and c = (1, 1), a combination of the inputs that is 0 while the "
         "targets' is not).",
    variables={"M": "matrix", "t": "matrix", "c": "vector"},
    conclusions=("all(sum(c[j] * M[j][k] for j in range(len(M))) == 0 for k in range(len(M[0])))",
                 "any(sum(c[j] * t[j][k] for j in range(len(M))) != 0 for k in range(len(t[0])))"),
    satisfiable=OPPOSITE, instances=lambda seed: iter([OPPOSITE]), cases=(these(OPPOSITE),))

TWO = Instance({"M": [axis(2, 0)], "t": [[1]], "P": [[1, 0], [0, 0]], "V": [[1, 0]], "other": [[1, 1]]})
VARIANTS = (
    LEAST.vary("unique interpolant", "drop hypothesis", "Every interpolant is the pseudo-inverse one", TWO,
               conclusions=("other == V",)),
    LEAST.vary("strictly dearer", "strict for non-strict", "Every interpolant is strictly dearer than V",
               Instance({**TWO.values, "other": [[1, 0]]}),
               conclusions=("sum(entry**2 for row in other for entry in row) > square",)),
    LEAST.vary("projector on the other side", "wrong matrix", "V = P other",
               Instance({"M": [[1, 0]], "t": [[1, 1]], "P": [[1, 0], [0, 0]], "V": [[1, 0], [1, 0]],
                         "other": [[1, 0], [1, 0]]}), conclusions=("P @ other == V",)),
)

CLAIM = Claim(
    id="C7g", title="The value side for any tokens", family="costs",
    statement="min‖V‖_p subject to V x_j = t_j, V x_s = 0 is ‖[t,0]·[x,x_s]^+‖_p when consistent, for every "
        "unitarily invariant norm, for any tokens, dependent ones included.",
    parts=(LEAST, CONSISTENT), variants=VARIANTS, required="PROVED ON", required_formal="PROVED ON",
    scope_notes=("Exact instances of the identity V = V'P; that ‖V'P‖ <= ‖V'‖ in every unitarily invariant "
        "norm is standard. Exchangeable tokens, for all T: C7.",
        "Not claimed here: which targets are consistent (exactly those for which every vanishing combination of the "
        "inputs has a vanishing target, by linear algebra); shown is one listed pair that is not."),
)
