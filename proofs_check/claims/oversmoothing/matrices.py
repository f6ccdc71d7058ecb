"""What O3, O4, O5 and O7 share for matrices: the variables of Rocq's theorems, which prove these parts at all sizes.

K is the norm's linear part (C, or Gamma C with a gain), S the covariance of the noise, V the value matrix, u the common
direction, none of them restricted but S, which is positive semidefinite; i and j are two of T tokens, counted from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from proofs_check.claim import Hypothesis, Instance, Part
from proofs_check.claims.building import Choose, Shape, family, matrix, searched
from proofs_check.claims.exact import Matrix, identity, product, scaled, transposed
from proofs_check.claims.oversmoothing.patterns import before, mix_cosine, same_sign

HALF = Fraction(1, 2)
VARIABLES = {"K": "matrix: d d", "S": "matrix: d d", "V": "matrix: d d", "u": "vector: d", "rho": "scalar",
             "T": "integer",
             "i": "integer", "j": "integer"}
NUMBERS = {
    "M": "transpose(K) @ K", "t0": "trace(S @ M)", "tau": "trace(S @ (M @ V + transpose(V) @ M)) / 2",
    "phi": "trace(S @ transpose(V) @ M @ V)", "g0": "dot(K @ u, K @ u)",
    "g": "dot(K @ (u + V @ u), K @ (u + V @ u))", "D": "2 * tau + phi",
}


def gram_of(name: str, attention: str) -> dict[str, str]:
    """The attention A_name and O1's second moments G_name under it."""
    a = f"A_{name}"
    return {a: attention,
            f"G_{name}": f"[[rho * g + (1 - rho) * ((t0 if p == q else 0) + ({a}[p][q] + {a}[q][p]) * tau "
                         f"+ ({a} @ transpose({a}))[p][q] * phi) for q in range(T)] for p in range(T)]"}


def cosine_of(name: str, attention: str) -> dict[str, str]:
    return {**gram_of(name, attention),
            f"cos_{name}": f"G_{name}[i][j] / sqrt(G_{name}[i][i] * G_{name}[j][j])"}


def mix(t: str) -> str:
    return f"[[(1 - {t} if p == q else 0) + {t} / T for q in range(T)] for p in range(T)]"


UNIFORM = cosine_of("uniform", "[[1 / T for q in range(T)] for p in range(T)]")
DIAGONAL = cosine_of("diagonal", "eye(T)")

COVARIANCE = Hypothesis("covariance", "S is symmetric and positive semidefinite", "psd(S)")
RHO = Hypothesis("rho", "0 <= rho < 1", "0 <= rho and rho < 1")
TOKENS = Hypothesis("two tokens", "i and j are different tokens of T",
                    "0 <= i and i < T and 0 <= j and j < T and i != j")
NONDEGENERATE = Hypothesis("nondegenerate", "(rho g, D) is not (0, -t0), where the diagonal's output is 0",
                           "not (rho * g == 0 and D == -t0)")
MIXED = (COVARIANCE, RHO, TOKENS, NONDEGENERATE)

WORDS = (
    " For matrices K, S, V, u of any size, S a covariance, M = K^T K: t0, tau, phi, g, g0 are their traces and norms, "
         "G is O1's right side under the attention named, and cos = G_ij/sqrt(G_ii G_jj).")

#: d = 1, K = u = S = 1, V = 1: g = 4, g0 = t0 = tau = phi = 1, D = 3
PLAIN = {"K": [[1]], "S": [[1]], "V": [[1]], "u": [1], "rho": HALF, "T": 2, "i": 0, "j": 1}


def part(name: str, text: str, definitions: Mapping[str, str], hypotheses: Sequence[Hypothesis],
         conclusions: Sequence[str],
         satisfiable: Mapping[str, object], needed: Mapping[str, Mapping[str, object]],
         build: Callable[[Choose, Shape], Instance], numeric: Callable[[Mapping[str, object]], float],
         variables: Mapping[str, str] = VARIABLES) -> Part:
    """A statement about K, S, V, u, rho and tokens; `needed` changes `satisfiable` into each counterexample."""
    if not set(needed) <= {item.name for item in hypotheses}:
        raise ValueError(f"expected counterexamples for hypotheses of '{name}', got {sorted(needed)}; correct a name")
    return Part(
        name=name, text=text, variables=variables, definitions={**NUMBERS, **definitions},
        hypotheses=tuple(replace(item, counterexample=Instance({**satisfiable, **needed[item.name]}))
                         if item.name in needed else item for item in hypotheses),
        conclusions=tuple(conclusions), satisfiable=Instance(dict(satisfiable)), instances=family(build),
        strategy=searched(build), numeric=numeric)


def energies(K: Matrix, root: Matrix, V: Matrix) -> tuple[Fraction, Fraction, Fraction]:
    """(t0, tau, phi) for S = root root^T."""
    own, moved = product(K, root), product(product(K, V), root)
    pairs = ((own, own), (own, moved), (moved, moved))
    t0, tau, phi = (sum((x * y for p, q in zip(a, b) for x, y in zip(p, q)), Fraction(0)) for a, b in pairs)
    return t0, tau, phi


def drawn_matrices(choose: Choose, shape: Shape) -> tuple[dict[str, object], Matrix]:
    """Values of all variables with t0 > 0 and t0 + D > 0, and a root of S; V may be zero, and D of either sign."""
    dim, tokens = shape.dim, max(2, shape.tokens)
    K = identity(dim) if choose(0, 1) else [[choose(-2, 2) for _ in range(dim)] for _ in range(dim)]
    root = matrix(choose, dim, Shape(shape.tokens, choose(1, 2), "fraction"))
    V = [[0] * dim for _ in range(dim)] if choose(0, 9) == 0 else scaled(HALF,
                                                                         matrix(choose, dim, Shape(1, dim, "fraction")))
    t0, tau, phi = energies(K, root, V)
    if t0 == 0 or t0 + 2 * tau + phi == 0:
        K, root, V = identity(dim), identity(dim), scaled(Fraction(choose(-3, 8), 4), identity(dim))
    i = choose(0, tokens - 1)
    values = {"K": K, "S": product(root, transposed(root)), "V": V, "u": [choose(-2, 2) for _ in range(dim)],
              "rho": Fraction(choose(0, 9), 10), "T": tokens, "i": i, "j": (i + choose(1, tokens - 1)) % tokens}
    return values, root


def build(choose: Choose, shape: Shape) -> Instance:
    return Instance(drawn_matrices(choose, shape)[0])


def with_slope(choose: Choose, shape: Shape, inverse: Fraction) -> Instance:
    """V = (tau_W/phi_W) inverse W for a drawn W, so that tau/phi = 1/inverse, which is not -1."""
    values, root = drawn_matrices(choose, shape)
    t0, tau, phi = energies(values["K"], root, values["V"])
    dim = len(values["u"])
    factor = inverse * tau / phi if tau else Fraction(0)
    if t0 + 2 * factor * tau + factor**2 * phi == 0 or not tau:
        values.update(K=identity(dim), S=identity(dim), V=identity(dim))
        factor = inverse
    return Instance({**values, "V": scaled(factor, values["V"])})


def without_image(choose: Choose, shape: Shape) -> Instance:
    """phi = 0: V moves the noise only along the last axis, which K forgets; one dimension leaves V = 0."""
    values, root = drawn_matrices(choose, shape)
    dim = len(values["u"])
    if dim == 1:
        return Instance({**values, "V": [[0]]})
    K = [[*row[:-1], 0] for row in values["K"]]
    V = [[0] * dim] * (dim - 1) + [[choose(-3, 3) for _ in range(dim)]]
    if energies(K, root, V)[0] == 0:
        K, root = [[int(p == q < dim - 1) for q in range(dim)] for p in range(dim)], identity(dim)
    return Instance({**values, "K": K, "S": product(root, transposed(root)), "V": V})


def as_numbers(values: Mapping[str, object]) -> dict[str, object]:
    """The statistics in floats, by norms of K times vectors along the eigenvectors of S."""
    K, V, u = (np.asarray(values[name], dtype=np.float64) for name in ("K", "V", "u"))
    weights, axes = np.linalg.eigh(np.asarray(values["S"], dtype=np.float64))
    own, moved = K @ axes, K @ V @ axes
    return {**values, "t0": float(weights @ (own**2).sum(0)), "tau": float(weights @ (own * moved).sum(0)),
            "phi": float(weights @ (moved**2).sum(0)), "g0": float(np.sum((K @ u) ** 2)),
            "g": float(np.sum((K @ (u + V @ u)) ** 2))}


def drift(numbers: Mapping[str, object]) -> float:
    return 2 * numbers["tau"] + numbers["phi"]


def sign_slack(values: Mapping[str, object]) -> float:
    numbers = as_numbers(values)
    D = drift(numbers)
    return same_sign(mix_cosine(numbers, 1.0) - mix_cosine(numbers, 0.0), 0.0 if abs(D) < 1e-9 else D)


def input_slack(values: Mapping[str, object]) -> float:
    numbers = as_numbers(values)
    quantity = numbers["rho"] * (numbers["g"] - numbers["g0"]) + (1 - numbers["rho"]) * drift(numbers) / numbers["T"]
    return same_sign(mix_cosine(numbers, 1.0) - before(numbers), 0.0 if abs(quantity) < 1e-9 else quantity)
