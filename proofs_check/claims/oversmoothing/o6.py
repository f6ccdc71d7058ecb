"""O6: a sink whose value is zero keeps every cosine; a sink with a value shifts all tokens alike."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from numerics.attention import sink_attention
from numerics.layer import one_step
from proofs_check.claim import Claim, Hypothesis, Instance, Part, Variant
from proofs_check.claims.building import Choose
from proofs_check.claims.derived import drawn, false_formula, points
from proofs_check.claims.oversmoothing.derived import derived
from theory.oversmoothing import DERIVATIONS
from theory.statements import Derivation, Lemma, Parameter

HALF = Fraction(1, 2)


def null_value() -> Derivation:
    """y_i = x_i + 0·w for any w: all inner products, hence all cosines, are those of the input.

    xx, xy, yy are ⟨x_i,x_i⟩, ⟨x_i,x_j⟩, ⟨x_j,x_j⟩, and wx, wy, ww those with a vector w; V x_s = 0 is 0·w.
    """
    names = ("xx", "xy", "yy", "wx", "wy", "ww")
    definitions = {"null": "0", "after_xx": "xx + 2*null*wx + null**2*ww",
                   "after_xy": "xy + null*(wx + wy) + null**2*ww", "after_yy": "yy + 2*null*wy + null**2*ww"}
    lemmas = tuple(Lemma(f"after_{name} == {name}", "identity") for name in ("xx", "xy", "yy"))
    return Derivation(tuple(Parameter(name) for name in names), definitions, {}, lemmas)


def gram_point(choose: Choose) -> dict[str, object]:
    """The inner products of three integer vectors x, y, w in R^3."""
    x, y, w = ([choose(-3, 3) for _ in range(3)] for _ in range(3))
    inner = {name: sum(a * b for a, b in zip(*pair)) for name, pair in
             {"xx": (x, x), "xy": (x, y), "yy": (y, y), "wx": (w, x), "wy": (w, y), "ww": (w, w)}.items()}
    return inner


def null_slack(values: Mapping[str, object]) -> float:
    """Attention on a sink in the kernel of V, with the norm, on two tokens of the given inner products."""
    gram = np.array([[values["xx"], values["xy"]], [values["xy"], values["yy"]]])
    if not np.linalg.eigvalsh(gram)[0] > 1e-9:
        return 0.0
    x, y = np.linalg.cholesky(gram)
    tokens = np.array([[*x, 0.0], [*y, 0.0], [0.0, 0.0, 2.0]])  # the sink is the third axis, which V forgets
    w_vo = np.array([[1.0, values["wx"], 0.0], [values["wy"], 1.0, 0.0], [0.0, 0.0, 0.0]])
    after = np.asarray(one_step(tokens, sink_attention(3, 2), w_vo))
    return 1e-9 - abs(after[0] @ after[1] / 3 - values["xy"] / np.sqrt(values["xx"] * values["yy"]))


NULL = derived(
    null_value, "null sink",
    "A = 1e_s^T and V x_s = 0, that is 0 times any vector w: ⟨x_i + V x_s, x_j + V x_s⟩ = ⟨x_i, x_j⟩ for all i, j, the "
    "inner products expanded; a norm without gain scales each token, so every cosine is kept exactly (under LayerNorm "
    "read C x_i: the tokens must be centred for their cosines to be those before the step).",
    satisfiable={"xx": 2, "xy": 1, "yy": 3, "wx": 1, "wy": 1, "ww": 1},
    instances=points(gram_point), strategy=drawn(gram_point), numeric=null_slack)


def value_point(choose: Choose) -> dict[str, object]:
    """Two tokens x_1, x_2 of norm r and cosine rho, w with equal inner products b: w = c(x_1 + x_2) + something
    orthogonal.

    b = c r²(1+rho) and ‖w‖² = 2c² r²(1+rho) + rest.
    """
    rho, r2 = Fraction(choose(-3, 3), 4), Fraction(choose(1, 9), 4)
    c, rest = Fraction(choose(-6, 6), 5), Fraction(choose(0, 4), 3)
    return {"rho": rho, "r2": r2, "b": c * r2 * (1 + rho), "w2": 2 * c**2 * r2 * (1 + rho) + rest}


def value_slack(values: Mapping[str, object]) -> float:
    """The cosine after RMSNorm on explicit tokens with these inner products, against the formula."""
    r2, rho, b = values["r2"], values["rho"], values["b"]
    gram = np.array([[r2, r2 * rho, b], [r2 * rho, r2, b], [b, b, values["w2"]]])
    eigenvalues, vectors = np.linalg.eigh(gram)
    rows = vectors * np.sqrt(np.clip(eigenvalues, 0.0, None))  # x_1, x_2, w in R^3
    tokens, w_vo = np.zeros((3, 4)), np.zeros((4, 4))
    tokens[:2, :3], tokens[2, 3], w_vo[:3, 3] = rows[:2], 1.0, rows[2]  # the sink is the fourth axis, V x_s = w
    after = np.asarray(one_step(tokens, sink_attention(3, 2), w_vo))
    cosine = after[0] @ after[1] / 4
    return 1e-8 - abs(cosine - (1 - r2 * (1 - rho) / (r2 + 2 * b + values["w2"])))


VALUE = derived(
    DERIVATIONS["O6"]["sink with a value"], "sink with a value",
    "A = 1e_s^T, w = V x_s, ⟨x_i,x_i⟩ = r2 > 0, ⟨x_i,x_j⟩ = r2 rho with -1 <= rho < 1, ⟨w,x_i⟩ = b, ‖w‖^2 = w2: with "
    "after_diag = ‖x_i + w‖^2 and after_off = ⟨x_i + w, x_j + w⟩ expanded, after_diag >= r2(1-rho)/2 > 0, the new "
    "cosine is 1 - r2(1-rho)/(r2 + 2b + w2), and new minus old has the sign of w2 + 2b. RMSNorm without gain; "
    "LayerNorm with centred tokens and Cw for w.",
    satisfiable={"rho": 0, "r2": 1, "b": 0, "w2": 1},
    # of no three vectors: then ‖x_1 + x_2 + 2w‖^2 would be negative
    counterexamples={"pair": {"rho": 0, "r2": 1, "b": -1, "w2": 0}},
    instances=points(value_point), strategy=drawn(value_point), numeric=value_slack)

# Definition-level false versions: x content tokens, x_s the sink, y_i = Gamma C (x_i + V x_s), cosines squared with
# sign.
STEP = {
    "d": "len(x_s)", "w": "V @ x_s", "C": "[[(1 if p == q else 0) - centred / d for q in range(d)] for p in range(d)]",
    "y": "[gain * (C @ (x[i] + w)) for i in range(2)]",
    "cos_before": "dot(x[0], x[1]) / sqrt(dot(x[0], x[0]) * dot(x[1], x[1]))",
    "cos_after": "dot(y[0], y[1]) / sqrt(dot(y[0], y[0]) * dot(y[1], y[1]))",
}
STEP_VARIABLES = {"x": "matrix", "x_s": "vector", "V": "matrix", "gain": "vector", "centred": "integer"}
NULL_VALUE = Hypothesis("null value", "V x_s = 0", "all(entry == 0 for entry in w)")
RMS = Hypothesis("RMSNorm", "no centring", "centred == 0")
NO_GAIN = Hypothesis("no gain", "the gain is one", "all(entry == 1 for entry in gain)")


def step_variant(name: str, operator: str, text: str, hypotheses: tuple, conclusion: str, **values: object) -> Variant:
    part = Part(name=name, text=text, variables=STEP_VARIABLES, definitions=STEP, hypotheses=hypotheses,
                conclusions=(conclusion,))
    return Variant(operator, Instance({"gain": [1] * len(values["x_s"]), "centred": 0, **values}), part)


NOTHING = [[0, 0], [0, 0]]
SAME = "cos_after == cos_before"
VARIANTS = (
    step_variant("the sink's value is not null", "trap", "a sink keeps cosines whatever its value",
                 (RMS, NO_GAIN), SAME,
                 x=[[1, 0, 0], [0, 1, 0]], x_s=[0, 0, 1], V=[[0, 0, 0], [0, 0, 0], [0, 0, 1]]),
    step_variant("LayerNorm without centred tokens", "trap",
                 "a null sink keeps cosines under LayerNorm, whatever the tokens",
                 (NULL_VALUE, NO_GAIN), SAME, x=[[1, 0], [0, 1]], x_s=[1, 1], V=NOTHING, centred=1),
    step_variant("a gain after the norm", "drop hypothesis", "a null sink keeps cosines with any gain after the norm",
                 (NULL_VALUE, RMS), SAME, x=[[1, 1], [1, -1]], x_s=[1, 1], V=NOTHING, gain=[1, 2]),
    step_variant("an orthogonal value", "wrong converse",
                 "a sink whose value is orthogonal to all tokens keeps cosines",
                 (RMS, NO_GAIN, Hypothesis("orthogonal", "⟨w, x_i⟩ = 0", "all(dot(w, row) == 0 for row in x)")), SAME,
                 x=[[1, 0, 0], [0, 1, 0]], x_s=[0, 0, 1], V=[[0, 0, 0], [0, 0, 0], [0, 0, 1]]),
    false_formula(VALUE, "raised iff b > 0", "wrong converse", "the cosine rises iff ⟨w, x_i⟩ > 0",
                  {"rho": 0, "r2": 1, "b": 0, "w2": 1},
                  conclusions=("sign(after_off/after_diag - rho) == sign(b)",)),
    false_formula(VALUE, "always raised", "drop hypothesis", "any nonzero value of the sink raises the cosine",
                  {"rho": 0, "r2": 1, "b": -HALF, "w2": HALF},
                  conclusions=("sign(after_off/after_diag - rho) == sign(w2)",)),
    false_formula(VALUE, "b counted once", "constant moved", "the new cosine is 1 - r2(1-rho)/(r2 + b + w2)",
                  {"rho": 0, "r2": 1, "b": 1, "w2": 2},
                  conclusions=("after_off/after_diag == 1 - r2*(1 - rho)/(r2 + b + w2)",)),
    false_formula(VALUE, "equal tokens", "drop hypothesis", "O6 for rho <= 1: at rho = 1 every cosine stays 1",
                  {"rho": 1, "r2": 1, "b": 0, "w2": 1},
                  bounds={"rho": {"minimum": ["-1", "1"], "maximum": ["1", "1"]}}),
)

CLAIM = Claim(
    id="O6", title="A null sink changes nothing", family="oversmoothing",
    statement="RMSNorm without gain (LayerNorm without gain: centred tokens, and Cw for w), A = 1e_s^T, w = V "
              "x_s. If w = 0, cosines are kept exactly. On exchangeable tokens with rho < 1 and ⟨w, x_i⟩ = b: "
              "cos' = 1 - r^2(1-rho)/(r^2 + 2b + ‖w‖^2), raised iff ‖w‖^2 + 2b > 0.",
    parts=(NULL, VALUE), variants=VARIANTS, required="PROVED",
    scope_notes=("A gain after the norm changes cosines by itself, sink or not (see the variant).",
                 "An actual head keeps some mass off the sink; the statement is about the pattern A = 1e_s^T."),
)
