"""Points, numerical routes and model instances that O3, O4 and O5 share."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from numerics.moments import DriftStatistics, input_cosine, mix_curve
from proofs_check.claim import Instance
from proofs_check.claims.building import Choose
from proofs_check.claims.exact import Matrix
from proofs_check.claims.oversmoothing.derived import statistics
from proofs_check.claims.oversmoothing.model import DIAGONAL, UNIFORM, instance, moments_under, noise

GRAM_WORDS = ("Here G_ii = rho g + (1-rho)(t0 + 2 a_ii tau + (A A^T)_ii phi), G_ij = rho g + (1-rho)(2 a_ij tau + "
              "(A A^T)_ij phi) with the entries of the attention named, D = 2 tau + phi, and cos = G_ij/G_ii.")
SCOPE = (
    "cos is the moment cosine G_ij/G_ii; that G holds the second moments of the model is O1, and how close the actual "
         "cosine is, O2.",)

#: V = -(I - uu^T) with z along the second axis: g = t0 = 1, tau = -1, phi = 1, D = -1
REMOVES_NOISE: Matrix = [[0, 0], [0, -1]]
ALONG_SECOND: Matrix = [[0], [1]]  # B with R = B B^T
BOTH = {**moments_under("uniform", UNIFORM), **moments_under("diagonal", DIAGONAL)}


def on_two_axes(value: Matrix, rho: object = Fraction(9, 25), tokens: int = 2, **extra: object) -> Instance:
    """u the first axis, z along the second: V diagonal acts on each apart."""
    return instance(value, [1, 0], rho, noise(tokens, ALONG_SECOND), **extra)


def point(choose: Choose) -> dict[str, object]:
    return {"T": choose(2, 9), **statistics(choose)}


def as_statistics(values: Mapping[str, object]) -> DriftStatistics:
    tau = values.get("tau", 0.0)
    phi = values.get("phi", 0.0)
    return DriftStatistics(values["t0"], values.get("g0", 1.0), values["g"], tau, phi, 2 * tau + phi)


def mix_cosine(values: Mapping[str, object], t: float) -> float:
    return float(mix_curve(np.array([t]), int(values["T"]), values["rho"], as_statistics(values))[0])


def before(values: Mapping[str, object]) -> float:
    return input_cosine(values["rho"], as_statistics(values))


def same_sign(gap: float, quantity: float) -> float:
    """Slack of "gap and quantity have one sign": zero where both vanish, negative by the smaller where they differ."""
    if gap * quantity > 0:
        return min(abs(gap), abs(quantity))
    return -max(abs(gap), abs(quantity)) if min(abs(gap), abs(quantity)) <= 1e-12 else -min(abs(gap), abs(quantity))
