"""Token geometries as data: what T tokens and a sink look like, for every cloud that a sweep over T can name.

All but "real" have unit tokens and a sink with <x_s, x_i> = beta, ||x_s|| = sigma (orthonormal: 0, 1).  Claim C8.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

__all__ = ["CLOUDS", "DRAWN", "Geometry", "Reservoir", "exchangeable_tokens", "geometry_tokens",
           "independent_unit_tokens"]

Cloud = tuple[Float[np.ndarray, "token dim"], Float[np.ndarray, " dim"]]

CLOUDS = ("orthonormal", "correlated", "fading", "touching", "common", "independent", "real")
# Clouds that differ from draw to draw; the others are fixed by T.
DRAWN = ("common", "independent", "real")


@dataclass(frozen=True, order=True)
class Geometry:
    """One family of clouds, by name and parameters.

    "orthonormal": the sink included.  "correlated": equal inner products rho.  "fading": equal inner products
    rho T^-decay and an orthogonal sink.  "touching": beta = rho = sigma², where the sink's distance to the keys' hull
    tends to 0.  "common": x_i = sqrt(rho) u + sqrt(1-rho) z_i, z_i independent and uniform on the unit sphere of T
    dimensions orthogonal to u.  "independent": T + 1 uniform unit vectors, dimension d = T.  "real": T rows drawn
    without replacement from the embeddings whose digest is ``source``.
    """

    cloud: str
    rho: float = 0.0
    decay: float = 0.0
    beta: float = 0.0
    sigma: float = 1.0
    source: str = ""

    def __post_init__(self) -> None:
        if self.cloud not in CLOUDS:
            raise ValueError(f"expected a cloud among {', '.join(CLOUDS)}, got {self.cloud!r}; choose one of them")

    def has_values(self, count: int, dim: int) -> bool:
        """Whether T tokens and a null sink leave room for a value side (C7 needs them independent)."""
        return {"independent": False, "real": count + 1 <= dim}.get(self.cloud, True)


@dataclass(frozen=True, eq=False)
class Reservoir:
    """Real embeddings to draw from: content tokens and the sink, in the type they were stored in."""

    tokens: Float[np.ndarray, "token dim"]
    sink: Float[np.ndarray, " dim"]

    @property
    def digest(self) -> str:
        """sha256 of shape, type and bytes: a sweep over other embeddings has other points."""
        running = hashlib.sha256(f"{self.tokens.shape} {self.tokens.dtype} {self.sink.dtype} ".encode())
        for array in (self.tokens, self.sink):
            running.update(np.ascontiguousarray(array).tobytes())
        return running.hexdigest()

    def draw(self, count: int, seed: int, number: int) -> Cloud:
        """``count`` different rows, fixed by seed, size and the draw's number.  Raises ValueError for too many."""
        if count > len(self.tokens):
            raise ValueError(f"expected at most {len(self.tokens)} tokens from these embeddings, got T = {count};"
                             " give more tokens or smaller sizes")
        chosen = np.random.default_rng([seed, count, number]).choice(len(self.tokens), size=count, replace=False)
        return self.tokens[chosen], self.sink


def exchangeable_tokens(count: int, rho: float, beta: float, sigma: float) -> Cloud:
    """Unit tokens with equal inner products rho in [0, 1), and a sink of norm sigma with <x_s, x_i> = beta.

    x_i = sqrt(rho) u + sqrt(1-rho) e_i and x_s = a (mean direction) + b v in dimension count + 2.  Raises ValueError
    where no such sink exists, i.e. sigma² rho_T < beta².  arXiv 2605.08453, our reconstruction.
    """
    if not 0.0 <= rho < 1.0:
        raise ValueError(f"expected 0 <= rho < 1 for a sweep, got {rho}; equal tokens have no diagonal")
    tokens = np.zeros((count, count + 2))
    tokens[:, 0] = math.sqrt(rho)
    tokens[:, 1 : count + 1] = math.sqrt(1.0 - rho) * np.eye(count)
    mean = tokens.mean(axis=0)
    mean_square = rho + (1.0 - rho) / count
    rest = sigma**2 - beta**2 / mean_square
    if rest < -1e-12 * sigma**2:
        raise ValueError(
            f"expected sigma² rho_T >= beta², got sigma = {sigma}, beta = {beta}, rho_T = {mean_square:.6g} at"
            f" T = {count}; no such sink exists, raise sigma or lower |beta|"
        )
    sink = beta / mean_square * mean
    sink[-1] = math.sqrt(max(rest, 0.0))
    return tokens, sink


def geometry_tokens(geometry: Geometry, count: int, seed: int, draw: int) -> Cloud:
    """The cloud and the sink of ``count`` tokens; ``seed`` and ``draw`` matter for random clouds only.

    Raises ValueError for parameters at which no such cloud exists, and for "real", whose tokens are a `Reservoir`'s.
    """
    rho, beta, sigma = geometry.rho, geometry.beta, geometry.sigma
    if geometry.cloud == "orthonormal":
        return exchangeable_tokens(count, 0.0, 0.0, 1.0)
    if geometry.cloud == "correlated":
        return exchangeable_tokens(count, rho, beta, sigma)
    if geometry.cloud == "fading":
        return exchangeable_tokens(count, rho * count**-geometry.decay, 0.0, sigma)
    if geometry.cloud == "touching":
        return exchangeable_tokens(count, rho, rho, math.sqrt(rho))
    if geometry.cloud == "common":
        return _common_tokens(count, rho, beta, sigma, [seed, count, draw])
    if geometry.cloud == "independent":
        rows = independent_unit_tokens(count + 1, count, [seed, count, draw])
        return rows[1:], rows[0]
    raise ValueError("expected the rows of a 'real' cloud beside the job, got none; draw them from a Reservoir")


def independent_unit_tokens(count: int, dim: int, seed: int | Sequence[int]) -> Float[np.ndarray, "token dim"]:
    """Independent tokens (count, dim), uniform on the unit sphere; ``seed`` as numpy's ``default_rng`` takes it."""
    rows = np.random.default_rng(seed).standard_normal((count, dim))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _common_tokens(count: int, rho: float, beta: float, sigma: float, seed: Sequence[int]) -> Cloud:
    """Coordinates: u, then the z_i's T dimensions, then one for what is left of the sink."""
    if not (0.0 < rho < 1.0 and beta**2 <= rho * sigma**2):
        raise ValueError("expected 0 < rho < 1 and beta² <= rho sigma² for a common direction, got"
                         f" rho = {rho}, beta = {beta}, sigma = {sigma}; no such tokens exist, raise rho or lower"
                         " |beta|")
    tokens, sink = np.zeros((count, count + 2)), np.zeros(count + 2)
    tokens[:, 0] = math.sqrt(rho)
    tokens[:, 1:-1] = math.sqrt(1.0 - rho) * independent_unit_tokens(count, count, seed)
    sink[0], sink[-1] = beta / math.sqrt(rho), math.sqrt(max(sigma**2 - beta**2 / rho, 0.0))
    return tokens, sink
