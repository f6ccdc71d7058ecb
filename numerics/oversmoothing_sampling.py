"""One draw of the oversmoothing model (claims O1, O6, O8), layer by layer: jax kernels behind `numerics.simulate`.

Two routes give the same law. The *embedding* route samples the (T, d) tokens. The *Gram* route samples only what the
cosines need: for isotropic Gaussian (or spherical) tokens the inner products outside a known subspace are a Wishart
matrix, drawn by Bartlett's triangle, so a draw costs O(T^2) random numbers instead of O(T d + d^2). They share
no code beyond the last step and are tested against each other.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from numerics.layer import layer_norm, rms_norm

__all__ = [
    "bartlett",
    "cosine_matrix",
    "depth_draw",
    "gram_depth_draw",
    "gram_step_draw",
    "off_diagonal_mean",
    "shared_row_step_draw",
    "step_draw",
]


def cosine_matrix(gram: Float[Array, "token token"]) -> Float[Array, "token token"]:
    """`numerics.moments.moment_cosines` under jit: NaN where an output is 0."""
    scale = jnp.sqrt(jnp.diagonal(gram))
    return gram / (scale[:, None] * scale[None, :])


def off_diagonal_mean(matrix: Float[Array, "token token"]) -> Float[Array, ""]:
    """`numerics.moments.mean_off_diagonal` under jit, for at least two tokens."""
    size = matrix.shape[0]
    return (jnp.sum(matrix) - jnp.trace(matrix)) / (size * (size - 1))


def sample_noise(key, p, kind: str) -> Float[Array, "token dim"]:
    """z_i up to the map `embed` applies: standard normal rows, or uniform on the unit sphere; the user's tokens."""
    if kind == "given":
        return p["tokens"]
    z = jax.random.normal(key, (p["tokens"].shape[0], p["direction"].shape[0]))
    return z / jnp.linalg.norm(z, axis=1, keepdims=True) if kind == "spherical" else z


def embed(z, p, kind: str) -> Float[Array, "row dim"]:
    """Rows sum_k w_k x_k of weight sum 1, from the same combinations of the noise: the map is affine.

    x_i = sqrt(d)(sqrt(rho) u + sqrt(1-rho) z_i), z_i of covariance R (R^{1/2} times standard normal, or I/d).
    """
    if kind == "given":
        return z
    dim = z.shape[-1]
    if kind == "covariance":
        z = z @ p["root"].T
    elif kind == "gaussian":
        z = z / jnp.sqrt(dim)
    return jnp.sqrt(dim) * (jnp.sqrt(p["rho"]) * p["direction"] + jnp.sqrt(1 - p["rho"]) * z)


def sample_tokens(key, p, kind: str) -> Float[Array, "token dim"]:
    return embed(sample_noise(key, p, kind), p, kind)


def without_token(x: Float[Array, "token dim"], index: int | None) -> Float[Array, "token dim"]:
    """Project x_index out of every row: V(1 - P) has x_index in its kernel."""
    if index is None:
        return x
    sink = x[index]
    return x - jnp.outer(x @ sink, sink) / (sink @ sink)


def head_output(key, mixed: Float[Array, "head query dim"], value) -> Float[Array, "query dim"]:
    """sum_h B_h V_h^T with B_h = A_h X, or for an isotropic V = tau I + s G/sqrt(d) (G iid normal) a draw of B V^T.

    Given B = L Q with orthonormal rows Q, B G^T has the law of L N with N iid normal of B's shape.
    """
    if "w_vo" in value:
        return jnp.einsum("hqd,hed->qe", mixed, value["w_vo"])
    (rows, dim), mixed = mixed.shape[-2:], mixed[0]
    if rows >= dim:
        noise = mixed @ jax.random.normal(key, (dim, dim)).T
    else:
        triangle = jnp.linalg.qr(mixed.T, mode="r").T
        noise = triangle @ jax.random.normal(key, (rows, dim))
    return value["tau"] * mixed + value["spread"] / jnp.sqrt(dim) * noise


def features(x, centre, gain) -> Float[Array, "token dim"]:
    """Gamma C x: the cosines of the normalised outputs are the cosines of these, whatever the norms."""
    centred = x - centre * jnp.mean(x, axis=-1, keepdims=True)
    return centred if gain is None else centred * gain


def step_draw(key, p, spec):
    """(second moment, cosines, mean output cosine, mean input cosine) of one embedding draw."""
    token_key, value_key = jax.random.split(key)
    noise = sample_noise(token_key, p, spec.tokens)
    if spec.attention is None and spec.null_token is None:
        # combine the noise first: with few queries the covariance and V then act on few rows
        queries = embed(_rows(p, noise), p, spec.tokens)
        mixed = embed(p["attention"] @ noise, p, spec.tokens)
    else:
        x = embed(noise, p, spec.tokens)
        attention = p["attention"] if spec.attention is None else _rows(p, spec.attention(x))[None]
        queries, mixed = _rows(p, x), attention @ without_token(x, spec.null_token)
    out = queries + head_output(value_key, mixed, p["value"])
    after, before = (features(y, p["centre"], p["gain"]) for y in (out, queries))
    return _summary(after @ after.T, before @ before.T, out.shape[1])


def _rows(p, matrix):
    return matrix if p["queries"] is None else matrix[p["queries"]]


def _summary(after, before, dim: int):
    cosines = cosine_matrix(after)
    return after / dim, cosines, off_diagonal_mean(cosines), off_diagonal_mean(cosine_matrix(before))


def depth_draw(key, p, spec) -> Float[Array, " depth"]:
    """Mean cosines of layers 0..L on one embedding draw; the value matrix is fresh, given per layer, or the same."""
    token_key, value_key = jax.random.split(key)
    x = _normed(sample_tokens(token_key, p, spec.tokens), p, spec)

    def layer(state, item):
        layer_key, w_vo = item
        attention = p["attention"] if spec.attention is None else spec.attention(state)[None]
        value = p["value"] if w_vo is None else {"w_vo": w_vo[None]}
        mixed = attention @ without_token(state, spec.null_token)
        after = _normed(state + head_output(layer_key, mixed, value), p, spec)
        return after, off_diagonal_mean(cosine_matrix(after @ after.T))

    keys = jax.random.split(value_key, spec.layers)
    _, curve = jax.lax.scan(layer, x, (keys, p["w_vo_per_layer"]))
    return jnp.concatenate([off_diagonal_mean(cosine_matrix(x @ x.T))[None], curve])


def _normed(x, p, spec):
    return layer_norm(x, p["gain"]) if spec.norm == "layer" else rms_norm(x, p["gain"])


def bartlett(key, size: int, freedom: float) -> Float[Array, "token token"]:
    """Lower triangular L with L L^T a Wishart matrix of identity scale; needs freedom >= size."""
    normal_key, chi_key = jax.random.split(key)
    below = jnp.tril(jax.random.normal(normal_key, (size, size)), -1)
    chi_square = jax.random.chisquare(chi_key, freedom - jnp.arange(size, dtype=jnp.float64))
    return below + jnp.diag(jnp.sqrt(chi_square))


def _token_coordinates(key, p, spec, dim: int) -> Float[Array, "token coordinate"]:
    """The tokens in coordinates (u, Bartlett's basis of the rest)."""
    along_key, rest_key = jax.random.split(key)
    size = p["tokens"].shape[0]
    z = jnp.concatenate([jax.random.normal(along_key, (size, 1)), bartlett(rest_key, size, dim - 1)], axis=1)
    if spec.tokens == "spherical":
        z = jnp.sqrt(dim) * z / jnp.linalg.norm(z, axis=1, keepdims=True)
    x = jnp.sqrt(1 - p["rho"]) * z
    return x.at[:, 0].add(jnp.sqrt(p["rho"] * dim))


def _isotropic_layer(key, gram, p, spec, dim: int) -> Float[Array, "token token"]:
    """The Gram matrix after a layer with a fresh isotropic V, given the Gram matrix K before it.

    X = L Q, K = L L^T. With B = A X (rows of the sink projected out where it is null) = F Q, V B^T splits into its
    part in the row space of Q (N_1, T x T) and the rest, a Wishart matrix of d - T degrees of freedom.
    """
    size = gram.shape[0]
    inside_key, outside_key = jax.random.split(key)
    factor = jnp.linalg.cholesky(gram)
    mixed = p["attention"][0] @ without_token(factor, spec.null_token)
    spread = p["value"]["spread"] / jnp.sqrt(dim)
    inside = factor + mixed @ (p["value"]["tau"] * jnp.eye(size) + spread * jax.random.normal(inside_key, (size, size)))
    outside = spread * mixed @ bartlett(outside_key, size, dim - size)
    return inside @ inside.T + outside @ outside.T


def gram_step_draw(key, p, spec):
    """`step_draw` for isotropic tokens and a fresh isotropic V, by Gram matrices (RMSNorm, no gain, d >= 2T)."""
    token_key, value_key = jax.random.split(key)
    dim = p["direction"].shape[0]
    x = _token_coordinates(token_key, p, spec, dim)
    before = x @ x.T
    return _summary(_isotropic_layer(value_key, before, p, spec, dim), before, dim)


def gram_depth_draw(key, p, spec) -> Float[Array, " depth"]:
    """`depth_draw` for isotropic tokens and fresh isotropic V, by Gram matrices (RMSNorm, no gain, d >= 2T)."""
    token_key, value_key = jax.random.split(key)
    dim = p["direction"].shape[0]
    x = _token_coordinates(token_key, p, spec, dim)
    start = dim * cosine_matrix(x @ x.T)

    def layer(gram, layer_key):
        after = cosine_matrix(_isotropic_layer(layer_key, gram, p, spec, dim))
        return dim * after, off_diagonal_mean(after)

    _, curve = jax.lax.scan(layer, start, jax.random.split(value_key, spec.layers))
    return jnp.concatenate([off_diagonal_mean(start / dim)[None], curve])


def shared_row_step_draw(key, p, spec):
    """`step_draw` when all rows of A are one row a and V is given: y_i = x_i + V x_a (uniform, sink; no gain).

    z_a = sum a_j z_j is drawn in full; given it, V x_a and u are known, and the rest of the z_i is an independent
    Gaussian of which only the components along (u, 1 if centring, z_a, V x_a) and a Wishart matrix matter.
    """
    along_key, coordinate_key, rest_key = jax.random.split(key, 3)
    row, u, w_vo = p["attention"][0, 0], p["direction"], p["value"]["w_vo"][0]
    size, dim = p["tokens"].shape[0], u.shape[0]
    length = jnp.linalg.norm(row)
    axis = row / length
    along = jax.random.normal(along_key, (dim,))
    spread = jnp.sqrt(1 - p["rho"])
    output = w_vo @ (jnp.sqrt(dim * p["rho"]) * u + spread * length * along)
    basis, _ = jnp.linalg.qr(jnp.stack([jnp.ones(dim), u, along, output], axis=1))  # (d, 4)
    free = jnp.concatenate([jax.random.normal(coordinate_key, (size, 4)), bartlett(rest_key, size, dim - 4)], axis=1)
    free = free - jnp.outer(axis, axis @ free)
    known = basis.T @ jnp.stack([u, along, output], axis=1)  # (4, 3)
    kept = 1 - p["centre"]  # the first axis is the all-ones direction
    known, free = known.at[0].multiply(kept), free.at[:, 0].multiply(kept)
    before = spread * free
    before = before.at[:, :4].add(jnp.sqrt(dim * p["rho"]) * known[:, 0] + spread * jnp.outer(axis, known[:, 1]))
    after = before.at[:, :4].add(known[:, 2])
    return _summary(after @ after.T, before @ before.T, dim)
