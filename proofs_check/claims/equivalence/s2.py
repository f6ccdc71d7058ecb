"""S2: what one token's change does to a head's output: ∂o_i/∂x_j in closed form, under RoPE too, and its
norm."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from numerics.jacobian import (
    BilinearLogits, RotaryLogits, autodiff_jacobian, closed_form_jacobian, jacobian_norm_bound)
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Choose, Shape, family, matrix, root_above, searched
from proofs_check.claims.exact import add, combine, dot
from proofs_check.engines.derivations import symbolic_part
from theory.communication import explicit_jacobian, other_token, own_token, softmax_rule

F = Fraction

RULE = symbolic_part(
    softmax_rule, "softmax rule", "∂a_k/∂ℓ_m = a_k(δ_km − a_m), for any number of keys: scaling e^(ℓ_m) by "
                                  "r changes a_k by (r−1)·a_k(δ_km − a_m) up to (r−1)² times a bounded term.",
    satisfiable=Instance({"e_k": 1, "e_m": 1, "rest": 0, "r": 2}))
OTHER = symbolic_part(
    other_token, "other token", "j ≠ i, entry by entry for every T and d: ∂o_i/∂x_j = a_ij[V + "
                                "κ(v_j−o_i)(W_ijᵀx_i)ᵀ]; W_ij may depend on the pair, as under RoPE.",
    satisfiable=Instance({"e_j": 1, "rest": 1, "v_jc": 2, "rest_v": 1, "V_cb": 1, "kappa": 1, "g_b": 1}))
OWN = symbolic_part(
    own_token, "own token", "j = i, entry by entry for every T and d: to the formula above add κΣ_k a_ik "
                            "v_k(W_ik x_k − Σ_l a_il W_il x_l)ᵀ, with its sums over k gathered.",
    satisfiable=Instance({"e_i": 1, "rest": 1, "v_ic": 2, "rest_v": 1, "s_ib": 1, "rest_s": 2, "rest_vs": 3,
                          "V_cb": 1,
                          "kappa": 1, "g_b": 1}))
EXPLICIT = symbolic_part(
    lambda: explicit_jacobian(3, 2), "three tokens in the plane", "T = 3, d = 2, every entry for j = i and "
                                                                  "j ≠ i: sympy's derivative of the softmax "
                                                                  "average is the closed form, with κVΣ_iWᵀ "
                                                                  "added for j = i.",
    satisfiable=Instance({**{f"e_{k}": 1 for k in range(3)},
                          **{f"x_{k}{c}": k - c for k in range(3) for c in range(2)},
                          **{f"{m}_{b}{c}": b + c for m in "WV" for b in range(2) for c in range(2)},
                          "kappa": 1}))

NAMES = {"x": "matrix: T d", "V": "matrix: c d", "e": "vector: T", "kappa": "scalar", "i": "integer", "j": "integer"}
# e: unnormalised weights, any positive numbers; slopes[k][b] = ∂ℓ_ik/∂x_jb; Wk[k] = W_ik.
SLOPES = {
    "a": "[entry / sum(e) for entry in e]", "values": "x @ transpose(V)", "o": "a @ values",
    "pull": "x[i] @ Wk[j]",
    "scored": "[Wk[k] @ x[k] for k in range(len(x))]",
    "slopes": "[[kappa * ((pull[b] if k == j else 0) + (scored[k][b] if i == j else 0)) for b in "
              "range(len(pull))] for k in range(len(x))]",
    "quotient_rule": "[[a[j] * V[c][b] + sum(a[k] * slopes[k][b] * values[k][c] for k in range(len(x))) "
                     "- o[c] * sum(a[k] * slopes[k][b] for k in range(len(x))) for b in range(len(pull))] "
                     "for c in range(len(o))]",
    "direct": "a[j] * (V + kappa * outer(values[j] - o, pull))",
    "closed_form": "direct + added if i == j else direct",
}
PLAIN = {"Wk": "[W for row in x]",
         "Sigma": "sum(a[k] * outer(x[k], x[k]) for k in range(len(x))) - outer(a @ x, a @ x)",
         "added": "kappa * (V @ Sigma @ transpose(W))", **SLOPES}
ROTARY = {"Wk": "[transpose(w_q) @ R[k] @ w_k for k in range(len(x))]",
          "added": "kappa * sum(a[k] * outer(values[k], scored[k] - a @ scored) for k in range(len(x)))",
          **SLOPES}
# The identities hold wherever Σe ≠ 0; positive weights are what softmax gives.
POSITIVE = Hypothesis("positive weights", "e_k = e^(ℓ_ik) > 0 for every key",
                      "len(e) == len(x) and all(entry > 0 for entry in e)")
TOKENS = Hypothesis("tokens", "i and j are tokens", "0 <= i and i < len(x) and 0 <= j and j < len(x)")


def build(choose: Choose, shape: Shape) -> Instance:
    x = matrix(choose, shape.tokens, shape)
    if shape.tokens > 1 and choose(0, 3) == 0:
        x[-1] = x[0]
    return Instance({
        "x": x, "W": matrix(choose, shape.dim, shape), "V": matrix(choose, shape.dim, shape),
        "e": [F(choose(1, 8), 4) for _ in x], "kappa": F(choose(-4, 4), 2),
        "i": choose(0, shape.tokens - 1), "j": choose(0, shape.tokens - 1)})


TOKENS_AT_MOST, DIM_AT_MOST = 5, 5


def padded(array: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The array with zeros added: one shape for all instances, so that jax compiles once."""
    result = np.zeros((rows, columns))
    result[: array.shape[0], : array.shape[1]] = array
    return result


def problem(values: Mapping[str, object]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(tokens, V, mask), padded; padding rows see the true tokens, and nobody sees padding."""
    x = padded(values["x"], TOKENS_AT_MOST, DIM_AT_MOST)
    mask = np.zeros((TOKENS_AT_MOST,) * 2, dtype=bool)
    mask[:, : len(values["x"])] = True
    return x, padded(values["V"], DIM_AT_MOST, DIM_AT_MOST), mask


def plain_scores(values: Mapping[str, object]) -> BilinearLogits:
    return BilinearLogits(padded(values["W"], DIM_AT_MOST, DIM_AT_MOST), float(values["kappa"]))


def rotary_scores(values: Mapping[str, object]) -> RotaryLogits:
    w_q, w_k = (padded(values[name], 2, DIM_AT_MOST) for name in ("w_q", "w_k"))
    angles = np.zeros(TOKENS_AT_MOST)
    angles[: len(values["R"])] = [np.arctan2(turn[1, 0], turn[0, 0]) for turn in values["R"]]
    return RotaryLogits(w_q, w_k, angles, 1.0, float(values["kappa"]))


def slack(values: Mapping[str, object], scores_of: Callable = plain_scores) -> float:
    """Closed form against jax's derivative of the true softmax head, for the instance's i and j."""
    x, V, mask = problem(values)
    pair = int(values["i"]), int(values["j"])
    derived, closed = (np.asarray(f(x, scores_of(values), V, mask))[pair]
                       for f in (autodiff_jacobian, closed_form_jacobian))
    return -float(np.abs(derived - closed).max() / (1.0 + np.abs(closed).max()))


def line(x: list, e: list, i: int, j: int, kappa: object = 1, W: object = 1, V: object = 1,
         **more: object) -> Instance:
    """An instance in dimension one."""
    return Instance({"x": [[entry] for entry in x], "W": [[W]], "V": [[V]], "e": e, "kappa": kappa, "i": i,
                     "j": j, **more})


MATRIX = Part(
    name="closed form",
    text="For tokens, W, V, κ and positive weights, any i and j: the quotient rule gives the closed form, "
         "with κVΣ_iWᵀ added for j = i.",
    variables={**NAMES, "W": "matrix"}, definitions=PLAIN, hypotheses=(POSITIVE, TOKENS),
    conclusions=("quotient_rule == closed_form",),
    satisfiable=line([1, 2], [1, 1], 0, 1), instances=family(build), strategy=searched(build), numeric=slack,
)


def build_rope(choose: Choose, shape: Shape) -> Instance:
    values = build(choose, shape).values
    turns = []
    for k in range(shape.tokens):
        t = F(choose(-4, 4), choose(1, 3)) if k != values["i"] else F(0)
        cosine, sine = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
        turns.append([[cosine, -sine], [sine, cosine]])
    return Instance({**{name: value for name, value in values.items() if name != "W"}, "R": turns,
                     "w_q": matrix(choose, 2, shape), "w_k": matrix(choose, 2, shape)})


def turned(x: list, turns: list, i: int, j: int) -> Instance:
    """Two coordinates, identity projections and values."""
    return Instance({"x": x, "V": [[1, 0], [0, 1]], "e": [1] * len(x), "kappa": 1, "i": i, "j": j,
                     "w_q": [[1, 0], [0, 1]], "w_k": [[1, 0], [0, 1]], "R": turns})


STILL, QUARTER_TURN = [[1, 0], [0, 1]], [[0, -1], [1, 0]]
ROPE = Part(
    name="RoPE",
    text="The same with W_ik = W_QᵀR_kW_K, R_k the rotation by (p_k−p_i)θ: for j = i the added term is "
         "κΣ_k a_ik v_k(W_ik x_k − Σ_l a_il W_il x_l)ᵀ.",
    variables={**NAMES, "w_q": "matrix", "w_k": "matrix", "R": "matrices"}, definitions=ROTARY,
    # The algebra works for any matrices W_ik; that they come from rotations is what makes it RoPE.
    hypotheses=(POSITIVE, TOKENS, Hypothesis(
        "rotations", "R_k is a rotation, R_i the identity",
        "len(R) == len(x) and R[i] == eye(2) and all(turn @ transpose(turn) == eye(2) and "
        "turn[0][0] * turn[1][1] - turn[0][1] * turn[1][0] == 1 for turn in R)")),
    conclusions=("quotient_rule == closed_form",),
    satisfiable=turned([[1, 0], [0, 1]], [STILL, QUARTER_TURN], 0, 1),
    instances=family(build_rope), strategy=searched(build_rope), numeric=lambda values: slack(values, rotary_scores),
)


def build_norm(choose: Choose, shape: Shape) -> Instance:
    """Two tokens at least and j ≠ i; the norms' upper bounds are their values, up to rounding up."""
    values = dict(build(choose, Shape(max(2, shape.tokens), shape.dim, shape.kind)).values)
    count = len(values["x"])
    values["j"] = (values["i"] + choose(1, count - 1)) % count
    x, total = values["x"], sum(values["e"])
    rows = [[dot(line, row) for line in values["V"]] for row in x]
    o = combine([entry / total for entry in values["e"]], rows, shape.dim)
    gap = add(rows[values["j"]], o, -1)
    pull = combine(x[values["i"]], values["W"], shape.dim)
    return Instance({**values, "nu": root_above(sum(dot(line, line) for line in values["V"])),
                     "h": root_above(dot(gap, gap)), "g": root_above(dot(pull, pull))})


def norm_slack(values: Mapping[str, object]) -> float:
    x, V, mask = problem(values)
    scores, pair = plain_scores(values), (int(values["i"]), int(values["j"]))
    size = np.linalg.norm(np.asarray(autodiff_jacobian(x, scores, V, mask))[pair], 2)
    bound = float(np.asarray(jacobian_norm_bound(x, scores, V, mask))[pair])
    return (bound - float(size)) / (1.0 + bound)


NORM = Part(
    name="norm",
    text="For j ≠ i: ‖∂o_i/∂x_j‖ <= a_ij(‖V‖ + |κ|·‖v_j−o_i‖·‖W_ijᵀx_i‖) in spectral norm, for all upper "
         "bounds ν, h, g of the three norms.",
    variables={**NAMES, "W": "matrix", "nu": "scalar", "h": "scalar", "g": "scalar"},
    definitions={**PLAIN, "beta": "a[j] * (nu + abs(kappa) * h * g)",
                 "spare": "beta**2 * eye(len(pull)) - transpose(closed_form) @ closed_form"},
    hypotheses=(
        Hypothesis(POSITIVE.name, POSITIVE.text, POSITIVE.formula,
                   line([1, 2], [2, -1], 0, 1, nu=1, h=2, g=1)),
        TOKENS,
        Hypothesis("another token", "j ≠ i", "i != j", line([1, 5], [1, 1], 0, 0, nu=1, h=2, g=1)),
        Hypothesis("value map", "‖V‖ <= ν", "nu >= 0 and psd(nu**2 * eye(len(x[0])) - transpose(V) @ V)",
                   line([1, 2], [1, 1], 0, 1, nu=0, h=F(1, 2), g=1)),
        Hypothesis("distance", "‖v_j−o_i‖ <= h", "h >= 0 and dot(values[j] - o, values[j] - o) <= h**2",
                   line([1, 2], [1, 1], 0, 1, nu=1, h=0, g=1)),
        Hypothesis("pull", "‖Wᵀx_i‖ <= g", "g >= 0 and dot(pull, pull) <= g**2",
                   line([1, 2], [1, 1], 0, 1, nu=1, h=F(1, 2), g=0)),
    ),
    conclusions=("beta >= 0 and psd(spare)",), attainment="rank(spare) < len(spare)",
    satisfiable=line([1, 2], [1, 1], 0, 1, nu=2, h=1, g=1),
    attained=line([1, 2], [1, 1], 0, 1, nu=1, h=F(1, 2), g=1),
    instances=family(build_norm), strategy=searched(build_norm), numeric=norm_slack,
)

CLAIM = Claim(
    id="S2", title="How tokens communicate through a head", family="equivalence",
    statement="∂o_i/∂x_j = a_ij[V + κ(v_j−o_i)(Wᵀx_i)ᵀ] for j≠i, of norm <= a_ij(‖V‖+|κ|‖v_j−o_i‖‖Wᵀx_i‖); "
              "for j=i add κVΣ_iWᵀ, Σ_i the attention-weighted token covariance. RoPE: W_ij in place of W, "
              "and for j=i the added term is κΣ_k a_ik v_k(W_ik x_k − Σ_l a_il W_il x_l)ᵀ.",
    parts=(RULE, OTHER, OWN, EXPLICIT, MATRIX, ROPE, NORM),
    variants=(
        MATRIX.vary("untransposed", "transpose", "the pull is W x_i instead of Wᵀx_i",
                    Instance({"x": [[1, 0], [0, 1]], "W": [[0, 1], [0, 0]], "V": [[1, 0], [0, 1]],
                              "e": [1, 1], "kappa": 1,
                              "i": 0, "j": 1}),
                    definitions={**PLAIN,
                                 "closed_form": "a[j] * (V + kappa * outer(values[j] - o, W @ x[i]))"}),
        MATRIX.vary("output not subtracted", "wrong matrix", "v_j in place of v_j − o_i",
                    line([1, 2], [1, 1], 0, 1),
                    definitions={**PLAIN, "direct": "a[j] * (V + kappa * outer(values[j], pull))"}),
        MATRIX.vary("no covariance", "drop hypothesis", "the formula for j ≠ i at j = i",
                    line([1, 2], [1, 1], 0, 0),
                    definitions={**PLAIN, "closed_form": "direct"}),
        MATRIX.vary("second moment", "wrong matrix",
                    "the second moment of the tokens in place of their covariance",
                    line([1, 2], [1, 1], 0, 0),
                    definitions={**PLAIN, "Sigma": "sum(a[k] * outer(x[k], x[k]) for k in range(len(x)))"}),
        ROPE.vary("unrotated own term", "wrong matrix",
                  "under RoPE, W_ii in place of W_ik in the term added for j = i",
                  turned([[1, 0], [0, 1]], [STILL, QUARTER_TURN], 0, 0),
                  definitions={**ROTARY, "added": "kappa * sum(a[k] * outer(values[k], Wk[i] @ x[k] - "
                                                  "Wk[i] @ (a @ x)) for k in range(len(x)))"}),
        NORM.vary("signed scale", "constant moved", "the norm bound with κ in place of |κ|",
                  line([-1, 2], [1, 1], 0, 1, kappa=-1, nu=1, h=F(3, 2), g=1),
                  definitions={**NORM.definitions, "beta": "a[j] * (nu + kappa * h * g)"}),
        NORM.vary("value for distance", "wrong matrix", "the norm bound with ‖v_j‖ in place of ‖v_j − o_i‖",
                  line([2, 0], [1, 1], 0, 1, kappa=-1, nu=1, h=0, g=2),
                  hypotheses=NORM.instead("distance", Hypothesis(
                      "distance", "‖v_j‖ <= h", "h >= 0 and dot(values[j], values[j]) <= h**2"))),
        NORM.vary("own token too", "drop hypothesis", "the norm bound at j = i",
                  line([1, 5], [1, 1], 0, 0, nu=1, h=2, g=1), drop=("another token",)),
        NORM.vary("1% sharper", "constant moved", "99% of the norm bound",
                  line([1, 2], [1, 1], 0, 1, nu=1, h=F(1, 2), g=1),
                  definitions={**NORM.definitions, "beta": "99 * a[j] * (nu + abs(kappa) * h * g) / 100"}),
    ),
    required_formal="PROVED ON",
    scope_notes=("The symbolic parts treat the weights e^(ℓ_ik) as independent positive numbers; that e^ℓ "
                 "is its own derivative, and the chain rule, are used and not replayed.",
                 "In the part 'three tokens in the plane' the left sides are sympy's derivatives: that they are "
                 "the derivatives is sympy's word; the kernel replays that they equal the closed form.",
                 "Without query bias; a bias q on the queries adds W_Kᵀq to Wᵀx_i and changes nothing else."),
)
