"""M1: when one attention step is a per-token map, and when another token is heard."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import jax
import numpy as np

from numerics.layer import one_step
from proofs_check.claim import Claim, Hypothesis, Instance, Part
from proofs_check.claims.building import Choose, Shape, family, independent, matrix, positive, searched, simplex
from proofs_check.claims.exact import add, axis, centring, combine, identity, product
from proofs_check.engines.derivations import symbolic_part
from theory.communication_rank import rank_one_head

F = Fraction
HALF = F(1, 2)
# The norm maps x_i + o_i to its direction after C (C = I for RMSNorm, I − 11ᵀ/d for LayerNorm), so two
# outputs are equal exactly when the two vectors C(x_i + o_i) are positive multiples of each other.

def build_keep(choose: Choose, shape: Shape) -> Instance:
    """Two inputs that share tokens i and s; T = 1 stands for a row that sees one other token, or itself as
    sink."""
    size = shape.tokens + 1
    i, s = choose(0, size - 1), choose(0, size - 1)
    x, x_new = matrix(choose, size, shape), matrix(choose, size, shape)
    x_new[i], x_new[s] = x[i], x[s]
    t = F(choose(0, 4), 4)
    a = add([t * entry for entry in axis(size, i)], axis(size, s), 1 - t)
    return Instance({"x": x, "x_new": x_new, "a": a, "V": matrix(choose, shape.dim, shape), "i": i, "s": s})


# One shape for all numbers of tokens, so that jax compiles once for each dimension and norm.
ROWS_AT_MOST = 8
compiled_step = jax.jit(one_step, static_argnames="norm")


def step_row(x: np.ndarray, a: np.ndarray, V: np.ndarray, i: int, norm: str | None = None) -> np.ndarray:
    """y_i, or x_i + o_i without a norm, by `numerics`: every row has the attention a, padding is seen by
    nobody."""
    rows, weights = np.zeros((ROWS_AT_MOST, x.shape[1])), np.zeros(ROWS_AT_MOST)
    rows[: len(x)], weights[: len(x)] = x, a
    return np.asarray(compiled_step(rows, np.tile(weights, (ROWS_AT_MOST, 1)), V, norm=norm))[i]


def keep_slack(values: Mapping[str, object]) -> float:
    i = int(values["i"])
    before, after = (step_row(values[name], values["a"], values["V"], i) for name in ("x", "x_new"))
    return -float(np.abs(before - after).max())


KEEP = Part(
    name="a, one row",
    text="A fixed, row i supported on {i, s}, x_s fixed: x_i + o_i, hence y_i = Norm(x_i + o_i), depends on "
         "x_i only.",
    variables={"x": "matrix", "x_new": "matrix", "a": "vector", "V": "matrix", "i": "integer",
               "s": "integer"},
    hypotheses=(
        Hypothesis("row on self and sink", "a_ij = 0 unless j is i or s",
                   "len(a) == len(x) and all(a[j] == 0 or j == i or j == s for j in range(len(a)))",
                   Instance({"x": [[0], [0], [0]], "x_new": [[0], [1], [0]], "a": [0, 1, 0], "V": [[1]],
                             "i": 0, "s": 2})),
        Hypothesis("sink fixed", "x_s does not change", "x_new[s] == x[s]",
                   Instance({"x": [[0], [0]], "x_new": [[0], [1]], "a": [0, 1], "V": [[1]], "i": 0, "s": 1})),
        Hypothesis("own token fixed", "x_i does not change", "x_new[i] == x[i]",
                   Instance({"x": [[0], [0]], "x_new": [[1], [0]], "a": [0, 1], "V": [[1]], "i": 0, "s": 1})),
    ),
    conclusions=("x[i] + V @ (a @ x) == x_new[i] + V @ (a @ x_new)",),
    satisfiable=Instance({"x": [[1], [2], [3]], "x_new": [[1], [5], [3]], "a": [HALF, 0, HALF], "V": [[1]],
                          "i": 0, "s": 2}),
    instances=family(build_keep), strategy=searched(build_keep), numeric=keep_slack,
)


def tokens(x: list, x_new: list, A: list, s: int, t: object) -> Instance:
    return Instance({"x": x, "x_new": x_new, "A": A, "V": [[1]], "s": s, "t": t})


def build_map(choose: Choose, shape: Shape) -> Instance:
    """Two inputs with one sink that share some embeddings, at different places."""
    size, t = shape.tokens + 1, F(choose(0, 4), 4)
    s = choose(0, size - 1)
    A = [add([t * entry for entry in axis(size, i)], axis(size, s), 1 - t) if i != s
         else simplex(choose, size)
         for i in range(size)]
    x = matrix(choose, size, shape)
    x_new = [x[choose(0, size - 1)] if choose(0, 1) else row for row in matrix(choose, size, shape)]
    x_new[s] = x[s]
    return Instance({"x": x, "x_new": x_new, "A": A, "V": matrix(choose, shape.dim, shape), "s": s, "t": t})


def map_slack(values: Mapping[str, object]) -> float:
    """Distance of each step from the one map f(y) = y + tVy + (1−t)Vx_s, over both inputs."""
    V, s, t = values["V"], int(values["s"]), values["t"]
    worst = 0.0
    for x in (values["x"], values["x_new"]):
        for i in range(len(x)):
            if i != s:
                expected = x[i] + t * V @ x[i] + (1 - t) * V @ x[s]
                worst = max(worst, float(np.abs(step_row(x, values["A"][i], V, i) - expected).max()))
    return -worst


SAME_MAP = Part(
    name="a, one map",
    text="Rows of sum one, content rows on {i, s} with equal a_ii = t (diagonal, sink, any mixture), the "
         "sink's embedding fixed: equal embeddings give equal outputs, whatever the input and the place, so "
         "one per-token map does it all.",
    variables={"x": "matrix", "x_new": "matrix", "A": "matrix", "V": "matrix", "s": "integer", "t": "scalar"},
    definitions={"step": "[x[i] + V @ (A[i] @ x) for i in range(len(x))]",
                 "step_new": "[x_new[i] + V @ (A[i] @ x_new) for i in range(len(x))]",
                 "content": "[i for i in range(len(x)) if i != s]"},
    hypotheses=(
        Hypothesis("rows on self and sink", "a_ij = 0 unless j is i or s",
                   "all(A[i][j] == 0 or j == i or j == s for i in content for j in range(len(x)))",
                   tokens([[0], [1], [0]], [[0], [2], [0]], [[0, 1, 0], [0, 0, 1], [0, 0, 1]], 2, 0)),
        Hypothesis("equal diagonal", "a_ii = t for every content token", "all(A[i][i] == t for i in content)",
                   tokens([[1], [1], [0]], [[1], [1], [0]], [[1, 0, 0], [0, 0, 1], [0, 0, 1]], 2, 0)),
        Hypothesis("sum one", "rows sum to one", "all(sum(row) == 1 for row in A)",
                   tokens([[0], [0], [1]], [[0], [0], [1]], [[0, 0, 0], [0, 0, 1], [0, 0, 1]], 2, 0)),
        Hypothesis("sink fixed", "both inputs have the same x_s", "x_new[s] == x[s]",
                   tokens([[0], [0]], [[0], [1]], [[0, 1], [0, 1]], 1, 0)),
    ),
    conclusions=("all(implies(x[i] == x_new[k], step[i] == step_new[k]) for i in content for k in content)",
                 "all(implies(x[i] == x[k], step[i] == step[k]) for i in content for k in content)"),
    satisfiable=tokens([[1], [2], [3]], [[2], [5], [3]], [[HALF, 0, HALF], [0, HALF, HALF], [0, 0, 1]], 2,
                       HALF),
    instances=family(build_map), strategy=searched(build_map), numeric=map_slack,
)

TOKENS = Hypothesis("tokens", "i and j are tokens", "0 <= i and i < len(x) and 0 <= j and j < len(x)")
# `directions[c]` are ways to move x_j, `heard[c]` what they do to C(x_i + o_i) per unit step; the step is 1
# where that is orthogonal to z = C(x_i + o_i), and otherwise the one that reflects z, so it changes the
# direction of z in either case.
RESPONSE = {
    "z": "C @ (x[i] + V @ (a @ x))",
    "heard": "[a[j] * (C @ (V @ direction)) for direction in directions]",
    "step": "[-2 * dot(move, z) / dot(move, move) if dot(move, z) != 0 else 1 for move in heard]",
    "moved": "[[x[k] + step[c] * directions[c] if k == j else x[k] for k in range(len(x))] for c in "
             "range(len(directions))]",
    "z_new": "[C @ (new[i] + V @ (a @ new)) for new in moved]",
}
CHANGED = "any(rank([z, new]) == 2 or dot(z, new) < 0 for new in z_new)"
FIXED = {**RESPONSE, "directions": "eye(len(V))"}


def heard(x: list, a: list, V: list, C: list, i: int, j: int, **more: object) -> Instance:
    return Instance({"x": x, "a": a, "V": V, "C": C, "i": i, "j": j, **more})


def line(x: list, a: list, V: object, i: int, j: int, **more: object) -> Instance:
    return heard([[entry] for entry in x], a, [[V]], [[1]], i, j, **more)


def build_heard(choose: Choose, shape: Shape) -> Instance:
    """RMSNorm or LayerNorm, and a value map of low rank now and then; another token j that row i sees."""
    size, dim = shape.tokens + 1, shape.dim + 1
    wide = Shape(size, dim, shape.kind)
    C = identity(dim) if choose(0, 1) else centring(dim)
    V = matrix(choose, dim, wide)
    if choose(0, 1):
        V = [row if r == choose(0, dim - 1) else [0] * dim for r, row in enumerate(V)]
    if not any(any(row) for row in product(C, V)):
        V = identity(dim)
    i = choose(0, size - 1)
    j = (i + choose(1, size - 1)) % size
    x, a = matrix(choose, size, wide), simplex(choose, size)
    if a[j] == 0:
        a = positive(choose, size)
    z = product(C,
              [[entry] for entry in add(x[i], combine(combine(a, x, dim), [list(c) for c in zip(*V)], dim))])
    if not any(row[0] for row in z):  # the output must be defined: move x_i off the point where it is not
        x[i] = add(x[i], axis(dim, 0), 7)
    return heard(x, a, V, C, i, j)


def direction_gap(x: np.ndarray, new: np.ndarray, a: np.ndarray, V: np.ndarray, C: np.ndarray,
                  i: int) -> float:
    """Distance between the two normalised outputs y_i, by `numerics`' step with its norm."""
    norm = "rms" if np.array_equal(C, np.eye(len(C))) else "layer"
    y, y_new = (step_row(rows, a, V, i, norm) for rows in (x, new))
    return float(np.linalg.norm(y - y_new))


def heard_slack(values: Mapping[str, object], directions: np.ndarray | None = None) -> float:
    """The largest change of y_i over a few steps of x_j along each direction."""
    x, a, V, C, i, j = (values[name] for name in ("x", "a", "V", "C", "i", "j"))
    z = C @ (x[i] + V @ (a @ x))
    gaps = []
    for direction in np.eye(len(V)) if directions is None else directions:
        move = a[j] * (C @ (V @ direction))
        if np.linalg.norm(move) < 1e-12 * (1.0 + np.linalg.norm(direction)):
            continue
        new = np.array(x)
        step = -2.0 * (move @ z) / (move @ move)
        new[j] = x[j] + (step if abs(step) * np.linalg.norm(move) > 1e-6 * np.linalg.norm(z)
                         else 1.0) * direction
        gaps.append(direction_gap(x, new, a, V, C, int(i)))
    return max(gaps, default=0.0)


NAMES = {"x": "matrix: T d", "a": "vector: T", "V": "matrix: d d", "C": "matrix: d d", "i": "integer",
         "j": "integer"}
DEFINED = Hypothesis("output defined", "C(x_i + o_i) ≠ 0", "any(entry != 0 for entry in z)",
                     line([0, 0], [HALF, HALF], 1, 0, 1))
OTHER = Hypothesis("another token", "j ≠ i (j = s is allowed: stronger than needed)", "i != j",
                   line([1, 1], [HALF, HALF], -2, 0, 0))
HEARD = Part(
    name="b, fixed attention",
    text="A fixed, a_ij ≠ 0 for some j ≠ i, and CV ≠ 0 (C = I for RMSNorm, I − 11ᵀ/d for LayerNorm, or any "
         "square matrix): some change of x_j changes y_i, which is defined before and after. The theorem says "
         "one exists; the formula exhibits one, along a coordinate axis.",
    variables=NAMES, definitions=FIXED,
    hypotheses=(
        TOKENS, DEFINED,
        OTHER,
        Hypothesis("row sees j", "a_ij ≠ 0", "a[j] != 0", line([1, 0], [1, 0], 1, 0, 1)),
        Hypothesis("value map heard", "CV ≠ 0", "any(entry != 0 for row in C @ V for entry in row)",
                   line([1, 0], [0, 1], 0, 0, 1)),
    ),
    conclusions=(CHANGED,),
    satisfiable=line([1, 1], [HALF, HALF], 1, 0, 1),
    instances=family(build_heard), strategy=searched(build_heard), numeric=heard_slack,
)

# Directions that leave the logit ℓ_ij alone: the columns of ⟨g,g⟩I − ggᵀ for g = Wᵀx_i, or all axes if g = 0.
SOFTMAX = {**RESPONSE, "g": "x[i] @ W",
           "directions": "dot(g, g) * eye(len(g)) - outer(g, g) if dot(g, g) > 0 else eye(len(g))"}


def build_softmax(choose: Choose, shape: Shape) -> Instance:
    """Positive weights and rank(CV) >= 2: V has independent rows, and C drops one dimension at most."""
    values = dict(build_heard(choose, Shape(shape.tokens, shape.dim + 1, shape.kind)).values)
    dim = len(values["V"])
    wide = Shape(dim, dim, shape.kind)
    values["V"] = independent(choose, dim, wide)
    if choose(0, 1):  # rank exactly two or three
        values["V"][-1] = values["V"][0] if dim > 3 else values["V"][-1]
    size = len(values["x"])
    values["a"] = positive(choose, size)
    values["s"] = (values["j"] + choose(1, size - 1)) % size
    x, i = values["x"], values["i"]
    columns = [list(column) for column in zip(*values["V"])]
    z = product(values["C"],
              [[entry] for entry in add(x[i], combine(combine(values["a"], x, dim), columns, dim))])
    if not any(row[0] for row in z):
        x[i] = add(x[i], axis(dim, 0), 7)
    W = matrix(choose, dim, wide) if choose(0, 4) else [[0] * dim for _ in range(dim)]
    return Instance({**values, "W": W})


def softmax_slack(values: Mapping[str, object]) -> float:
    """As for fixed attention, along an orthonormal basis of the directions that leave the logit of key j
    alone."""
    g = values["x"][int(values["i"])] @ values["W"]
    size = np.linalg.norm(g)
    free = np.eye(len(g)) - np.outer(g, g) / size**2 if size > 0 else np.eye(len(g))
    return heard_slack(values, free)


PLANE, SPREAD = identity(2), F(1, 3)
AT_SINK = heard([[1, 0], [0, 1]], [HALF, HALF], PLANE, PLANE, 0, 1, s=1, W=PLANE)
FINITE = Part(
    name="c, softmax",
    text="Finite softmax (all weights positive), another content key j ∉ {i, s} visible, rank(CV) >= 2: some "
         "change of x_j leaves x_i, x_s and every logit of row i, so its attention, as they are, and changes "
         "y_i, which is defined before and after: y_i is no function of (x_i, x_s). The theorem says one "
         "exists; the formula exhibits one.",
    variables={**NAMES, "s": "integer", "W": "matrix: d d"}, definitions=SOFTMAX,
    hypotheses=(
        Hypothesis("tokens", "i, j and s are tokens", TOKENS.formula + " and 0 <= s and s < len(x)"),
        Hypothesis(DEFINED.name, DEFINED.text, DEFINED.formula,
                   heard([[0, 0], [0, 0]], [HALF, HALF], PLANE, PLANE, 0, 1, s=0, W=PLANE)),
        Hypothesis(OTHER.name, "j ≠ i", OTHER.formula,
                   heard([[1, 0], [1, 0]], [HALF, HALF], [[-2, 0], [0, -2]], PLANE, 0, 0, s=1, W=PLANE)),
        Hypothesis("content key", "j ≠ s: x_s is given", "s != j", AT_SINK),
        Hypothesis("row sees j", "a_ij > 0", "a[j] > 0",
                   heard([[1, 0], [0, 0]], [1, 0], PLANE, PLANE, 0, 1, s=0, W=PLANE)),
        Hypothesis("rank two", "rank(CV) >= 2", "rank(C @ V) >= 2",
                   line([1, 0], [HALF, HALF], 1, 0, 1, s=0, W=[[1]])),
    ),
    conclusions=("all(new[k] == x[k] for new in moved for k in [i, s])",
                 "all(dot(x[i] @ W, new[k]) == dot(x[i] @ W, x[k]) for new in moved for k in range(len(x)))",
                 CHANGED),
    satisfiable=heard([[1, 0], [0, 1], [1, 1]], [SPREAD] * 3, PLANE, PLANE, 0, 1, s=2, W=PLANE),
    instances=family(build_softmax), strategy=searched(build_softmax), numeric=softmax_slack,
)

RANK_ONE = symbolic_part(
    rank_one_head, "c, rank one is not enough",
    "d = 1, RMSNorm, W = V = κ = 1, x_i = 1, x_s = 0: for every x_j = t the step before the norm is "
    "positive, so y_i = 1 although another content key is visible. E = e^(ℓ_ii), q = e^t, of which only 1 − "
    "t <= 1/q is used.",
    satisfiable=Instance({"E": 2, "q": 1, "t": 0}),
    counterexamples={"exponential": Instance({"E": 1, "q": 1, "t": -9})})

CLAIM = Claim(
    id="M1", title="Attention as an MLP", family="equivalence",
    statement="(a) A fixed, row i on {i,s}, x_s fixed: y_i depends on x_i only; with rows of sum one and "
              "equal a_ii = t in all content rows it is one per-token map. Where y_i is defined: (b) A fixed, "
              "a_ij ≠ 0 for some j∉{i,s}, CV ≠ 0: some change of x_j changes y_i. (c) Finite softmax, another "
              "content key visible, rank(CV) >= 2: y_i is not a function of (x_i,x_s).",
    parts=(KEEP, SAME_MAP, HEARD, FINITE, RANK_ONE),
    variants=(
        KEEP.vary("permutation equivariance", "trap",
                  "a permutation equivariant head (uniform A) is a per-token map",
                  Instance({"x": [[0], [0], [0]], "x_new": [[0], [1], [0]], "A": [[SPREAD] * 3] * 3,
                            "V": [[1]], "i": 0,
                            "s": 2}),
                  variables={**{name: kind for name, kind in KEEP.variables.items() if name != "a"},
                             "A": "matrix"},
                  definitions={"a": "A[i]"},
                  hypotheses=(Hypothesis("equivariant", "PAPᵀ = A for every permutation P: A = αI + β11ᵀ",
                                         "all(A[k][k] == A[0][0] and A[k][j] == A[0][1] for k in "
                                         "range(len(A)) "
                                         "for j in range(len(A)) if j != k)"), *KEEP.hypotheses[1:])),
        KEEP.vary("sink free", "drop hypothesis", "(a) when the sink's embedding may change too",
                  Instance({"x": [[0], [0]], "x_new": [[0], [1]], "a": [0, 1], "V": [[1]], "i": 0, "s": 1}),
                  drop=("sink fixed",)),
        KEEP.vary("row on another token", "wrong mask",
                  "(a) with a row supported on {i, s} and the token after i",
                  Instance({"x": [[0], [0], [0]], "x_new": [[0], [1], [0]], "a": [0, 1, 0], "V": [[1]],
                            "i": 0, "s": 2}),
                  hypotheses=(Hypothesis("row on self, next and sink", "a_ij = 0 unless j is i, i+1 or s",
                                         "all(a[j] == 0 or j == i or j == i + 1 or j == s for j in "
                                         "range(len(a)))"),
                              *KEEP.hypotheses[1:])),
        SAME_MAP.vary("any diagonal", "drop hypothesis", "one map although a_ii changes from row to row",
                      tokens([[1], [1], [0]], [[1], [1], [0]], [[1, 0, 0], [0, 0, 1], [0, 0, 1]], 2, 0),
                      drop=("equal diagonal",)),
        HEARD.vary("nonzero values under LayerNorm", "wrong matrix", "(b) with V ≠ 0 in place of CV ≠ 0",
                   heard([[1, 0], [0, 0]], [HALF, HALF], [[1, 0], [1, 0]], [[HALF, -HALF], [-HALF, HALF]], 0,
                         1),
                   hypotheses=HEARD.instead("value map heard", Hypothesis(
                       "value map", "V ≠ 0", "any(entry != 0 for row in V for entry in row)"))),
        FINITE.vary("the sink's key", "drop hypothesis",
                    "(c) with j = s: a change of x_s says nothing about functions of (x_i, x_s)", AT_SINK,
                    drop=("content key",)),
        FINITE.vary("rank of V", "wrong matrix", "(c) with rank(V) >= 2 in place of rank(CV) >= 2",
                    heard([[1, -1], [0, 0]], [HALF, HALF], PLANE, [[HALF, -HALF], [-HALF, HALF]], 0, 1,
                          s=0, W=PLANE),
                    hypotheses=FINITE.instead("rank two", Hypothesis(
                        "rank of V", "rank(V) >= 2", "rank(V) >= 2"))),
        FINITE.vary("rank one", "T for T-1", "(c) with rank(CV) >= 1",
                    line([1, 0], [HALF, HALF], 1, 0, 1, s=0, W=[[1]]),
                    hypotheses=FINITE.instead("rank two", Hypothesis(
                        "rank one", "rank(CV) >= 1", "rank(C @ V) >= 1"))),
    ),
    scope_notes=("(b) and (c) are shown by explicit changes of x_j, valid for every input at which the norm "
                 "is defined; with RMSNorm's ε > 0 outputs are slightly off the sphere.",
                 "Under RoPE part (c) needs W_ij in place of W; the directions that leave one logit alone "
                 "stay the same in number."),
)
