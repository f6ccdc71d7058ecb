"""The model of family O in the kernel's language, on a finite distribution of z given as equally likely cases.

So a statement about expectations can be replayed exactly from its definition: tokens, outputs and second moments are
written out here, and O1's statistics beside them.  Square roots of rho are exact where rho and 1 - rho are squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from proofs_check.claim import Hypothesis, Instance, Part, Variant
from proofs_check.claims.building import Choose, Shape, matrix, simplex, unit
from proofs_check.claims.exact import Matrix, Vector

#: A (T, T), V (d, d), u (d,), rho; gain (d,) after the norm; centred = 1 for LayerNorm, 0 for RMSNorm; z[k] the k-th
#: of equally likely cases, a (T, d) matrix.  Tokens and outputs are divided by sqrt(d), as O1's left side is.
VARIABLES = {"A": "matrix", "V": "matrix", "u": "vector", "gain": "vector", "centred": "integer", "rho": "scalar",
             "z": "matrices"}

SIZES = {"T": "len(z[0])", "d": "len(u)"}
FORM = {
    "C": "[[(1 if p == q else 0) - centred / d for q in range(d)] for p in range(d)]",
    "M": "C @ [[(gain[p] ** 2 if p == q else 0) for q in range(d)] for p in range(d)] @ C",
}
TOKENS = {"x": "[[sqrt(rho) * u + sqrt(1 - rho) * case[i] for i in range(T)] for case in z]"}
OUTPUTS = {"y": "[case + A @ case @ transpose(V) for case in x]"}
R_MATRIX = {"R": "sum(outer(case[0], case[0]) for case in z) / len(z)"}
STATISTICS = {
    **R_MATRIX,
    "t0": "trace(R @ M)",
    "tau": "trace(R @ (M @ V + transpose(V) @ M)) / 2",
    "phi": "trace(R @ transpose(V) @ M @ V)",
    "g0": "u @ M @ u",
    "g": "(u + V @ u) @ M @ (u + V @ u)",
    "D": "2 * tau + phi",
}
G_MATRIX = {"G": "[[rho * g + (1 - rho) * ((t0 if i == j else 0) + (A[i][j] + A[j][i]) * tau "
                 "+ (A @ transpose(A))[i][j] * phi) for j in range(T)] for i in range(T)]"}


def second_moment(name: str, outputs: str) -> dict[str, str]:
    """E<y_i, M y_j>/d over the cases, as a (T, T) matrix."""
    return {name: f"[[sum(case[i] @ M @ case[j] for case in {outputs}) / len({outputs}) for j in range(T)] "
                  "for i in range(T)]"}


def moments_under(name: str, attention: str) -> dict[str, str]:
    """The second moments of the outputs under a named attention written in the kernel's language."""
    return {f"A_{name}": attention, f"y_{name}": f"[case + A_{name} @ case @ transpose(V) for case in x]",
            **second_moment(f"E_{name}", f"y_{name}")}


UNIFORM = "[[1 / T for j in range(T)] for i in range(T)]"
DIAGONAL = "eye(T)"

ROW_SUMS = Hypothesis("row sums one", "every row of A sums to one", "all(sum(row) == 1 for row in A)")
RHO = Hypothesis("rho", "0 <= rho <= 1, so that the square roots are real", "0 <= rho and rho <= 1")
MEAN_ZERO = Hypothesis("mean zero", "E z_i = 0 for every token",
                       "all(sum(case[i][p] for case in z) == 0 for i in range(T) for p in range(d))")
UNCORRELATED = Hypothesis("pairwise uncorrelated", "E z_i z_j^T = 0 for i != j",
                          "all(sum(case[i][p] * case[j][q] for case in z) == 0 "
                          "for i in range(T) for j in range(T) if i != j for p in range(d) for q in range(d))")
ONE_COVARIANCE = Hypothesis("one covariance", "E z_i z_i^T = R for every token",
                            "all(sum(outer(case[i], case[i]) for case in z) / len(z) == R for i in range(T))")
TRACE_ONE = Hypothesis("trace one", "tr R = 1", "trace(R) == 1")
UNIT = Hypothesis("unit direction", "‖u‖ = 1", "u @ u == 1")
DISTRIBUTION = (RHO, MEAN_ZERO, UNCORRELATED, ONE_COVARIANCE)
MODEL = (*DISTRIBUTION, TRACE_ONE, UNIT, Hypothesis("rho below one", "rho < 1", "rho < 1"))


def instance(V: Matrix, u: Vector, rho: object, z: Sequence[Matrix], *, A: Matrix | None = None,
             gain: Vector | None = None, centred: int = 0, **extra: object) -> Instance:
    """Values of the model's variables; A only where the statement has it."""
    values = {"V": V, "u": u, "gain": gain or [1] * len(u), "centred": centred, "rho": rho, "z": z, **extra}
    return Instance(values if A is None else {"A": A, **values})


def false_model_statement(name: str, operator: str, text: str, counterexample: Instance, conclusions: Sequence[str],
                          definitions: Mapping[str, str], *, hypotheses: Sequence[Hypothesis] = MODEL,
                          variables: Mapping[str, str] | None = None) -> Variant:
    """A false statement about the model itself, so that its counterexample does not rest on our formula for G."""
    known = {"A", *counterexample.values}
    types = {key: kind for key, kind in {**VARIABLES, **(variables or {})}.items()
             if key in known and key in counterexample.values}
    part = Part(name=name, text=text, variables=types,
                definitions={**SIZES, **FORM, **TOKENS, **STATISTICS, **definitions},
                hypotheses=tuple(hypotheses), conclusions=tuple(conclusions))
    return Variant(operator, counterexample, part)


# rho for which sqrt(rho) and sqrt(1 - rho) are rational
SQUARES = (Fraction(0), Fraction(9, 25), Fraction(16, 25), Fraction(25, 169), Fraction(144, 169), Fraction(64, 289))


def signs(tokens: int, dim: int) -> list[list[list[int]]]:
    """Equally likely sign matrices (T, d) whose entries are mean zero and uncorrelated: columns of a Hadamard
    matrix."""
    size = 1 << (tokens * dim).bit_length()
    return [[[(-1) ** (case & (1 + i * dim + p)).bit_count() for p in range(dim)] for i in range(tokens)]
            for case in range(size)]


def noise(tokens: int, root: Matrix) -> list[Matrix]:
    """Cases of z_i = B s_i for uncorrelated sign vectors s_i, so that R = B B^T; `root` is B (d, m)."""
    return [[[sum((Fraction(a) * s for a, s in zip(row, token)), Fraction(0)) for row in root] for token in case]
            for case in signs(tokens, len(root[0]))]


def random_noise(choose: Choose, shape: Shape) -> list[Matrix]:
    """Cases with an anisotropic covariance of trace one: B is a rational point of a sphere, one or two columns wide."""
    width = min(2, shape.dim) if shape.tokens * shape.dim <= 12 else 1
    entries = unit(choose, shape.dim * width)
    return noise(shape.tokens, [entries[p * width:(p + 1) * width] for p in range(shape.dim)])


def random_attention(choose: Choose, tokens: int) -> Matrix:
    """Uniform, diagonal, sink, causal, or any rows on the simplex."""
    kind = choose(0, 5)
    if kind == 0:
        return [[Fraction(1, tokens)] * tokens for _ in range(tokens)]
    if kind == 1:
        return [[int(i == j) for j in range(tokens)] for i in range(tokens)]
    if kind == 2:
        return [[int(j == 0) for j in range(tokens)] for _ in range(tokens)]
    if kind == 3:
        return [[Fraction(int(j <= i), i + 1) for j in range(tokens)] for i in range(tokens)]
    return [simplex(choose, tokens) for _ in range(tokens)]


def random_model(choose: Choose, shape: Shape) -> dict[str, object]:
    """Everything but A and V: direction, gain, norm, rho and the cases of z."""
    return {"u": unit(choose, shape.dim), "gain": [choose(-2, 2) for _ in range(shape.dim)], "centred": choose(0, 1),
            "rho": SQUARES[choose(0, len(SQUARES) - 1)], "z": random_noise(choose, shape)}


def random_value(choose: Choose, shape: Shape) -> Matrix:
    return matrix(choose, shape.dim, shape)


def float_form(values: Mapping[str, object]) -> dict[str, object]:
    """The arguments of `numerics.moments` for an instance in floats: direction, covariance, norm and gain."""
    cases = np.array(values["z"], dtype=np.float64)
    return {"covariance": np.einsum("kp,kq->pq", cases[:, 0], cases[:, 0]) / len(cases), "direction": values["u"],
            "norm": "layer" if values["centred"] else "rms", "gain": values["gain"]}


def float_tokens(values: Mapping[str, object]) -> np.ndarray:
    """x/sqrt(d) as an array (case, token, dim)."""
    rho = values["rho"]
    return np.sqrt(rho) * values["u"] + np.sqrt(1 - rho) * np.array(values["z"], dtype=np.float64)


def float_centre(values: Mapping[str, object], outputs: np.ndarray) -> np.ndarray:
    """Gamma C y, whose inner products are those of the form M."""
    centred = outputs - values["centred"] * outputs.mean(axis=-1, keepdims=True)
    return centred * values["gain"]
