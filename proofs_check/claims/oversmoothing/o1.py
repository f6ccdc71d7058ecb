"""O1: the exact second moments after one attention step, before the normalisation."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from numerics.layer import one_step
from numerics.moments import drift_statistics, o1_gram_of
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Choose, Shape, family, searched
from proofs_check.claims.oversmoothing import model
from proofs_check.claims.oversmoothing.derived import derived
from proofs_check.claims.oversmoothing.model import (
    DISTRIBUTION, FORM, G_MATRIX, OUTPUTS, ROW_SUMS, SIZES, STATISTICS, TOKENS, VARIABLES, instance, second_moment)
from theory.oversmoothing import DERIVATIONS

HALF, RHO = Fraction(1, 2), Fraction(9, 25)
COIN = [[[1]], [[-1]]]  # one token, z = ±1
COINS = [[[a], [b]] for a in (1, -1) for b in (1, -1)]  # two independent tokens, z_i = ±1


def slack_from(outputs: np.ndarray, gram: np.ndarray, values: Mapping[str, object]) -> float:
    after = model.float_centre(values, outputs)
    moments = np.einsum("kip,kjp->ij", after, after) / len(after)
    return 1e-9 * (1 + float(np.abs(gram).max())) - float(np.abs(moments - gram).max())


def slack(values: Mapping[str, object]) -> float:
    """Outputs by `one_step` case by case against `o1_gram`."""
    outputs = np.stack([one_step(x, values["A"], values["V"], None) for x in model.float_tokens(values)])
    statistics = drift_statistics(values["V"], **model.float_form(values))
    return slack_from(outputs, o1_gram_of(values["A"], values["rho"], statistics), values)


def build(choose: Choose, shape: Shape) -> Instance:
    return Instance({"A": model.random_attention(choose, shape.tokens), "V": model.random_value(choose, shape),
                     **model.random_model(choose, shape)})


def dropped(item: Hypothesis, counterexample: Instance) -> Hypothesis:
    return Hypothesis(item.name, item.text, item.formula, counterexample)


# Each counterexample has d = 1 (V, u, gain are numbers) and one or two tokens.
_ONE = {"V": [[0]], "u": [1], "rho": 0}
ROW_SUMS_NEEDED = dropped(ROW_SUMS, instance([[1]], [1], RHO, COIN, A=[[0]]))
NEEDED = (
    DISTRIBUTION[0],  # without it the square roots are not real: nothing to evaluate
    dropped(DISTRIBUTION[1], instance([[0]], [1], RHO, [[[1]]], A=[[1]])),
    dropped(DISTRIBUTION[2], instance(**_ONE, z=[[[1], [1]], [[-1], [-1]]], A=[[1, 0], [0, 1]])),
    dropped(DISTRIBUTION[3], instance(**_ONE, z=[[[1], [0]], [[-1], [0]]], A=[[1, 0], [0, 1]])),
)

MOMENTS = Part(
    name="second moments",
    text="E<My_i, y_j>/d = rho g + (1 - rho)[delta_ij t0 + (a_ij + a_ji) tau + (A A^T)_ij phi] for every fixed A with "
         "row sums one (of any signs), V, u, norm and gain, and tokens whose noise z is mean zero, pairwise "
         "uncorrelated and of one covariance R. (tr R = 1, ‖u‖ = 1 and rho < 1 are not needed for the identity.)",
    variables=VARIABLES,
    definitions={**SIZES, **FORM, **TOKENS, **OUTPUTS, **second_moment("E", "y"), **STATISTICS, **G_MATRIX},
    hypotheses=(ROW_SUMS_NEEDED, *NEEDED), conclusions=("E == G",),
    satisfiable=instance([[1, 2], [0, -1]], [Fraction(3, 5), Fraction(4, 5)], RHO,
                         model.noise(2, [[Fraction(3, 5)], [Fraction(4, 5)]]), A=[[2, -1], [HALF, HALF]], centred=1,
                         gain=[1, 2]),
    instances=family(build), strategy=searched(build), numeric=slack,
)


def input_slack(values: Mapping[str, object]) -> float:
    """The tokens' own moments against `input_cosine`'s two terms."""
    s = drift_statistics(np.zeros((len(values["u"]),) * 2), **model.float_form(values))
    tokens = len(np.array(values["z"])[0])
    gram = values["rho"] * s.g0 + (1 - values["rho"]) * s.t0 * np.eye(tokens)
    return slack_from(model.float_tokens(values), gram, values)


def build_input(choose: Choose, shape: Shape) -> Instance:
    return Instance(model.random_model(choose, shape))


def without(values: Mapping[str, object], *names: str) -> Instance:
    return Instance({key: value for key, value in values.items() if key not in names})


INPUT = Part(
    name="the input",
    text="Before the step: E<Mx_i, x_j>/d = rho g0 + (1 - rho) delta_ij t0, g0 the form M at u.",
    variables={key: kind for key, kind in VARIABLES.items() if key not in ("A", "V")},
    definitions={**SIZES, **FORM, **TOKENS, **second_moment("E", "x"),
                 **{key: STATISTICS[key] for key in ("R", "t0", "g0")},
                 "G": "[[rho * g0 + (1 - rho) * (t0 if i == j else 0) for j in range(T)] for i in range(T)]"},
    hypotheses=(NEEDED[0], *(dropped(item, without(item.counterexample.values, "A", "V")) for item in NEEDED[1:])),
    conclusions=("E == G",), satisfiable=without(MOMENTS.satisfiable.values, "A", "V"),
    instances=family(build_input), strategy=searched(build_input), numeric=input_slack,
)


def size_parts(claim: str) -> tuple[Part, ...]:
    """The identity with every entry free, at explicit sizes: proved there by polynomial arithmetic."""
    parts = []
    for name, recipe in DERIVATIONS[claim].items():
        parts.append(derived(
            recipe, f"identity at {name}",
            f"At {name}, for free A (last column 1 minus the others), V, u, rho and symmetric R, M: the expectation "
            "written out index by index from E x_k x_l^T/d = rho u u^T + (1 - rho) delta_kl R equals O1's right side, "
            "for i <= j.",
            default=HALF))
    return tuple(parts)


SUBSTOCHASTIC = Hypothesis("row sums at most one", "rows of A are nonnegative and sum to at most one",
                           "all(sum(row) <= 1 and all(a >= 0 for a in row) for row in A)")
#: T = 2, d = 1, rho = 0, V = 1: every query attends the token with the larger z, half and half when they tie
LARGER = [[[HALF, HALF]] * 2 if a == b else [[int(a > b), int(b > a)]] * 2 for (a,), (b,) in COINS]
CAUSAL = [[1, 0], [HALF, HALF]]


def wrong(name: str, operator: str, text: str, counterexample: Instance, **formulas: str):
    """O1 with one definition replaced."""
    return MOMENTS.vary(name, operator, text, counterexample, definitions={**MOMENTS.definitions, **formulas})


VARIANTS = (
    MOMENTS.vary(
        "A depends on z", "trap", "O1 at the mean attention when A is a function of the tokens",
        Instance({**instance([[1]], [1], 0, COINS).values, "A": LARGER}),
        variables={**VARIABLES, "A": "matrices"},
        hypotheses=(Hypothesis("row sums one", "rows of A sum to one in every case",
                               "len(A) == len(z) and all(sum(row) == 1 for case in A for row in case)"), *DISTRIBUTION),
        definitions={**MOMENTS.definitions, "y": "[x[k] + A[k] @ x[k] @ transpose(V) for k in range(len(z))]",
                     "mean": "sum(case for case in A) / len(A)",
                     "G": MOMENTS.definitions["G"].replace("A", "mean")}),
    wrong("t0 is 1 under LayerNorm", "trap", "O1 with t0 = 1 for every norm",
          instance([[0, 0], [0, 0]], [1, 0], 0, model.noise(1, [[1], [0]]), A=[[1]], centred=1), t0="1"),
    wrong("A^T A", "trap", "O1 with A^T A for A A^T", instance([[1]], [1], 0, COINS, A=CAUSAL),
          G=MOMENTS.definitions["G"].replace("(A @ transpose(A))", "(transpose(A) @ A)")),
    MOMENTS.vary("row sums below 1", "trap", "O1 for nonnegative A with row sums at most one",
                 instance([[1]], [1], RHO, COIN, A=[[0]]), hypotheses=(SUBSTOCHASTIC, *DISTRIBUTION)),
    wrong("A transposed in one term", "transpose", "O1 with 2 a_ij for a_ij + a_ji",
          instance([[1]], [1], 0, COINS, A=CAUSAL), G=MOMENTS.definitions["G"].replace("A[j][i]", "A[i][j]")),
    wrong("phi with the wrong trace", "wrong matrix", "O1 with phi = tr(R V M V^T)",
          instance([[0, 1], [0, 0]], [1, 0], 0, model.noise(1, [[1], [0]]), A=[[1]]),
          phi="trace(R @ V @ M @ transpose(V))"),
    wrong("centring forgotten", "wrong matrix", "O1's statistics without C under LayerNorm",
          instance([[0]], [1], 0, COIN, A=[[1]], centred=1), t0="trace(R)", tau="trace(R @ (V + transpose(V))) / 2",
          phi="trace(R @ transpose(V) @ V)", g="(u + V @ u) @ (u + V @ u)"),
)

CLAIM = Claim(
    id="O1", title="Exact second moments after one attention step", family="oversmoothing",
    statement="Tokens x_i = sqrt(d)(sqrt(rho) u + sqrt(1-rho) z_i), 0 <= rho <= 1, the z_i mean zero, "
              "pairwise uncorrelated and of one covariance R. E<y_i, M y_j>/d before normalising, M = C (with "
              "a gain Gamma: C Gamma^2 C), is G_ij = rho g + (1 - rho)[delta_ij t0 + (a_ij + a_ji) tau + (A "
              "A^T)_ij phi] for every fixed A with row sums one and every V, u, norm and gain.",
    parts=(MOMENTS, INPUT, *size_parts("O1")), variants=VARIANTS,
    scope_notes=(
        "A is fixed: where attention depends on the tokens (softmax) the identity does not apply, see the variant.",
                 "G is a second moment before the norm; the cosine after it is a ratio, which O2 compares with G's."),
)
