"""O1m: the exact second moments after one step of several heads."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from numerics.moments import head_statistics, o1_gram_heads
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Choose, Shape, family, searched
from proofs_check.claims.oversmoothing import model
from proofs_check.claims.oversmoothing.model import FORM, SIZES, STATISTICS, TOKENS, VARIABLES, instance, second_moment
from proofs_check.claims.oversmoothing.o1 import COIN, COINS, NEEDED, dropped, size_parts, slack_from

HALF, RHO = Fraction(1, 2), Fraction(9, 25)
SINGLE = [[[1]]]  # attention of one head on one token


def build_heads(choose: Choose, shape: Shape) -> Instance:
    heads = choose(1, 3)
    return Instance({"A": [model.random_attention(choose, shape.tokens) for _ in range(heads)],
                     "V": [model.random_value(choose, shape) for _ in range(heads)],
                     **model.random_model(choose, shape)})


def slack_heads(values: Mapping[str, object]) -> float:
    tokens, attention, value = model.float_tokens(values), np.array(values["A"]), np.array(values["V"])
    outputs = tokens + np.einsum("hij,kjp,hqp->kiq", attention, tokens, value)
    s = head_statistics(value, **model.float_form(values))
    return slack_from(outputs, o1_gram_heads(attention, values["rho"], s.g, s.t0, s.tau, s.phi), values)


def heads_instance(V: list, rho: object, z: list, A: list) -> Instance:
    return instance(V, [1], rho, z, A=A)


HEADS = Part(
    name="heads",
    text="O1m: with heads (A_h, V_h), E<My_i, y_j>/d = rho g + (1 - rho)[delta_ij t0 + sum_h (a^h_ij + a^h_ji) tau_h + "
         "sum_hk (A_h A_k^T)_ij phi_hk], g the form at u + sum_h V_h u, tau_h = tr R(MV_h + V_h^T M)/2, "
         "phi_hk = tr R V_h^T M V_k.",
    variables={**VARIABLES, "A": "matrices", "V": "matrices"},
    definitions={
        **SIZES, **FORM, **TOKENS, "H": "range(len(A))",
        "y": "[case + sum(A[h] @ case @ transpose(V[h]) for h in H) for case in x]", **second_moment("E", "y"),
        **{key: STATISTICS[key] for key in ("R", "t0")},
        "moved": "u + sum(V[h] @ u for h in H)", "g": "moved @ M @ moved",
        "tau": "[trace(R @ (M @ V[h] + transpose(V[h]) @ M)) / 2 for h in H]",
        "phi": "[[trace(R @ transpose(V[h]) @ M @ V[k]) for k in H] for h in H]",
        "mixing": "[[A[h] @ transpose(A[k]) for k in H] for h in H]",
        "G": "[[rho * g + (1 - rho) * ((t0 if i == j else 0) + sum((A[h][i][j] + A[h][j][i]) * tau[h] for h in H) "
             "+ sum(mixing[h][k][i][j] * phi[h][k] for h in H for k in H)) for j in range(T)] for i in range(T)]"},
    hypotheses=(
        Hypothesis("row sums one", "every row of every A_h sums to one",
                   "all(sum(row) == 1 for head in A for row in head)",
                   heads_instance([[[1]]], RHO, COIN, [[[0]]])),
        NEEDED[0],
        *(dropped(item, Instance({**item.counterexample.values, "A": [item.counterexample.values["A"]],
                                  "V": [item.counterexample.values["V"]]})) for item in NEEDED[1:]),
    ),
    conclusions=("E == G",),
    satisfiable=heads_instance([[[1]], [[-2]]], RHO, COINS, [[[1, 0], [0, 1]], [[HALF, HALF], [3, -2]]]),
    instances=family(build_heads), strategy=searched(build_heads), numeric=slack_heads,
)


def wrong(name: str, operator: str, text: str, counterexample: Instance, **formulas: str):
    """O1m with one definition replaced."""
    return HEADS.vary(name, operator, text, counterexample, definitions={**HEADS.definitions, **formulas})


TWO = heads_instance([[[1]], [[1]]], 0, COIN, [*SINGLE, *SINGLE])  # V = 1 twice: y = 3x
VARIANTS = (
    wrong("heads do not mix", "trap", "O1m with the terms phi_hk of one head only, h = k", TWO,
          G=HEADS.definitions["G"].replace("for h in H for k in H)", "for h in H for k in H if h == k)")),
    wrong("g of the heads one by one", "wrong matrix", "O1m with g = the form at u plus its changes by each head alone",
          heads_instance([[[1]], [[1]]], RHO, COIN, [*SINGLE, *SINGLE]),
          g="u @ M @ u + sum((u + V[h] @ u) @ M @ (u + V[h] @ u) - u @ M @ u for h in H)"),
    wrong("A_k transposed with A_h", "transpose", "O1m with A_h^T A_k for A_h A_k^T",
          heads_instance([[[1]], [[1]]], 0, COINS, [[[1, 0], [HALF, HALF]], [[1, 0], [1, 0]]]),
          mixing="[[transpose(A[h]) @ A[k] for k in H] for h in H]"),
    wrong("mean head", "wrong matrix", "O1m as O1 with the mean attention and the sum of the V_h",
          heads_instance([[[1]], [[-1]]], 0, COINS, [[[1, 0], [0, 1]], [[0, 1], [1, 0]]]),
          mixing="[[sum(A[n] for n in H) @ transpose(sum(A[n] for n in H)) / len(A) ** 2 for k in H] for h in H]"),
)

CLAIM = Claim(
    id="O1m", title="Exact second moments, several heads", family="oversmoothing",
    statement="O1's tokens, and heads (A_h, V_h), every A_h fixed with row sums one: in O1's G_ij, g is the "
              "form M at (I + sum V_h)u, and (a_ij + a_ji) tau, (A A^T)_ij phi become sum_h (a^h_ij + a^h_ji) "
              "tau_h and sum_hh' (A_h A_h'^T)_ij phi_hh'.",
    parts=(HEADS, *size_parts("O1m")), variants=VARIANTS,
    scope_notes=("The attention of every head is fixed; see O1.",),
)
