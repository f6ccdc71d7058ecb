"""Gordan's alternative, and with it the representability of a sink by one bilinear form (claims G1, G2).

For a finite set of rows exactly one holds: some u has <u, row_i> > 0 for all i, or some weights w >= 0, sum
1, have sum_i w_i row_i = 0. For a set P of (query, key) pairs the rows are x_i (x) (x_s - x_j) and u is W.
When P holds a whole product of queries and keys, or enough of one, two hull problems in d dimensions
replace d^2 unknowns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float, Int

from numerics.arguments import row_number, whole_number
from numerics.cloud import PointCloud
from numerics.hull import MinNormPoint, distance_to_hull, min_norm_point

__all__ = ["UNCONFIRMED", "Alternative", "SinkRepresentation", "gordan", "outer_rows", "pair_rows", "representable",
           "sink_pairs"]

# Ends a sentence about weights of zero on a lower face (`stable` False): a margin below rounding would look the same.
UNCONFIRMED = "; float64 alone says so, exact arithmetic has yet to confirm it"
# One GiB of float64: beyond this the general pair problem is refused, not attempted.
_MOST_ROW_ENTRIES = 2**27


@dataclass(frozen=True, eq=False)
class Alternative:
    """One side of Gordan's alternative for the rows given, or both candidates when float64 cannot tell."""

    kind: Literal["normal", "weights", "undecided"]
    normal: Float[np.ndarray, " dim"] | None  # unit u; None when the weights stand
    weights: Float[np.ndarray, " support"] | None  # w > 0, sum 1, on support; None when the normal stands
    support: Int[np.ndarray, " support"]  # ascending rows carrying the weights; empty when the normal stands
    margin: float  # lower bound on min_i <u, row_i>, rounding included; 0 when there is no normal
    residual: float  # upper bound on ||sum_i w_i row_i||; 0 when there are no weights
    stable: bool  # as in MinNormPoint: False for weights on a lower face, which exact arithmetic must confirm


@dataclass(frozen=True, eq=False)
class SinkRepresentation:
    """Whether one W gives the sink a positive margin on every pair, with the witness for either answer."""

    kind: Literal["representable", "not_representable", "undecided"]
    w_qk: Float[np.ndarray, "dim dim"] | None  # scaled so that the least margin is 1 up to rounding
    weights: Float[np.ndarray, " support"] | None  # convex weights of 0 in conv{x_i (x) (x_s - x_j)}
    support: Int[np.ndarray, "support 2"]  # the pairs (i, j) carrying the weights; empty when W stands
    margin: float  # min over pairs of x_i^T W (x_s - x_j) as evaluated; 0 when there is no W
    rank_one: bool  # W was built from two hull problems (G1)
    stable: bool


def gordan(rows: np.ndarray) -> Alternative:
    """Gordan's alternative for the rows of a matrix: a normal u with <u, row_i> > 0, or weights of zero.

    Rows (rows, dim) of any real dtype. They are first scaled by powers of two to comparable length, which is
    exact and changes neither side of the alternative, so a tiny row counts as much as a long one. A zero row
    is by itself the weights. Returns an ``Alternative``; raises ValueError as ``min_norm_point`` does.
    Claims G1, G2, E2.
    """
    cloud = PointCloud(rows)
    exponent = np.frexp(cloud.norms())[1]
    scaled = np.concatenate([np.ldexp(block, -exponent[where, None]) for where, block in cloud.blocks()])
    found = min_norm_point(scaled)
    if found.status == "separated":
        margin = cloud.least_product(found.normal)
        if margin > 0.0:
            return Alternative("normal", found.normal, None, _no_rows(), margin, 0.0, True)
    kind: Literal["weights", "undecided"] = "weights" if found.status == "contains_zero" else "undecided"
    least = int(exponent[found.support].min())
    shifted = np.ldexp(found.weights, least - exponent[found.support])
    weights = shifted / shifted.sum()
    # The bound of the scaled problem, carried over: the same sum up to a common factor and normalisation.
    residual = float(np.ldexp(found.distance_upper, least) / shifted.sum()) * (1 + 1e-12)
    normal = found.normal if kind == "undecided" else None
    margin = cloud.least_product(found.normal) if kind == "undecided" else 0.0
    return Alternative(kind, normal, weights, found.support, margin, residual, found.stable)


def sink_pairs(
    num_tokens: int,
    sink: int,
    causal: bool,
    queries: Sequence[int] | None = None,
    keys: Sequence[int] | None = None,
) -> Int[np.ndarray, "pair 2"]:
    """The pairs (i, j) on which the sink must win: i in Q, j in K, and j <= i if causal (own token included).

    ``queries`` and ``keys`` are row numbers below ``num_tokens``; by default K is every token but the sink,
    and Q too, less, when causal, the tokens before the sink (they cannot see it). The query i = s may be
    named explicitly. Returns (pairs, 2), in lexicographic order, possibly empty for a causal mask. Raises
    ValueError for an index out of range, an empty Q or K, the sink among the keys, or, when causal, a query
    before the sink. Claims G1, G2 (pairs j < i are a trap: at T=1 they accept W = 0).

    Example:

    >>> sink_pairs(3, 0, causal=True).tolist()
    [[1, 1], [2, 1], [2, 2]]
    """
    num_tokens = whole_number("the number of tokens", num_tokens, 1, "pass how many rows there are, sink included")
    sink = row_number("the sink", sink, num_tokens)
    others = [i for i in range(num_tokens) if i != sink]
    seeing = [i for i in others if i > sink or not causal]
    chosen_queries = _rows_of("queries", seeing if queries is None else queries)
    chosen_keys = _rows_of("keys", others if keys is None else keys)
    for name, chosen in (("queries", chosen_queries), ("keys", chosen_keys)):
        if not chosen:
            raise ValueError(
                f"expected at least one index among the {name}, got none; an empty set demands nothing"
            )
        if chosen[-1] >= num_tokens:
            raise ValueError(
                f"expected {name} in 0..{num_tokens - 1}, got {chosen[0]}..{chosen[-1]}; use row numbers"
            )
    _require_other_keys(chosen_keys, sink)
    if causal and chosen_queries[0] < sink:
        raise ValueError(
            f"expected causal queries at or after the sink {sink}, got query {chosen_queries[0]}, which"
            " cannot see it; drop the earlier queries"
        )
    pairs = [(i, j) for i in chosen_queries for j in chosen_keys if j <= i or not causal]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def pair_rows(
    tokens: Float[np.ndarray, "token dim"], sink: int, pairs: Int[np.ndarray, "pair 2"]
) -> Float[np.ndarray, "pair dim2"]:
    """Rows x_i (x) (x_s - x_j), flattened so that <W.ravel(), row> = x_i^T W (x_s - x_j)."""
    x = np.asarray(tokens, dtype=np.float64)
    return outer_rows(x[pairs[:, 0]], x[sink] - x[pairs[:, 1]])


def outer_rows(
    queries: Float[np.ndarray, "row dim"], differences: Float[np.ndarray, "row dim"]
) -> Float[np.ndarray, "row dim2"]:
    """Rows q (x) d, flattened so that <W.ravel(), row> = q^T W d."""
    return np.einsum("pa,pb->pab", queries, differences).reshape(len(queries), -1)


def representable(
    tokens: Float[np.ndarray, "token dim"], sink: int, pairs: Int[np.ndarray, "pair 2"]
) -> SinkRepresentation:
    """Whether some W has x_i^T W (x_s - x_j) >= 1 for every pair (i, j), with W or the weights against it.

    First G1: with Q and K the queries and keys that occur, two separated hulls give a rank-one W whatever the
    pairs; a hull that holds its forbidden point gives weights if one key meets all of Q (or one query all of
    K), as for products and causal masks. Otherwise Gordan on the pair rows themselves, in coordinates of the
    tokens' span when they are fewer than the dimensions.

    Args: ``tokens`` (T, d), the sink's row among them; ``pairs`` (P, 2) of (query, key), e.g.
    ``sink_pairs``. Returns a ``SinkRepresentation``. Raises ValueError for an empty or out-of-range pair
    set, a pair whose key is the sink, tokens as in ``min_norm_point``, or a general pair problem beyond a
    GiB. Claims G1, G2.

    Example:

    >>> tokens = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])  # the sink, and two opposite tokens
    >>> found = representable(tokens, 0, sink_pairs(3, 0, causal=False))
    >>> found.kind, found.weights.tolist(), found.support.tolist()
    ('not_representable', [0.5, 0.5], [[1, 1], [2, 1]])
    """
    cloud = PointCloud(tokens)
    pairs = _checked_pairs(pairs, sink, cloud.num_points)
    x = cloud.rows(np.arange(cloud.num_points))
    queries, keys = np.unique(pairs[:, 0]), np.unique(pairs[:, 1])
    query_hull = min_norm_point(x[queries])
    key_hull = distance_to_hull(x[sink], x[keys])  # of x_j - x_s: the normal of x_s - x_j is its negative
    if query_hull.status == key_hull.status == "separated":
        return _scaled_to_margin(x, sink, pairs, np.outer(query_hull.normal, -key_hull.normal), rank_one=True)
    for hull, side, members, others in ((query_hull, 0, queries, keys), (key_hull, 1, keys, queries)):
        partner = _partner_of_all(pairs, side, len(members), others)
        if hull.status != "separated" and partner is not None:
            return _against(hull, side, members, partner)
    return _general(x, sink, pairs)


def _general(
    x: Float[np.ndarray, "token dim"], sink: int, pairs: Int[np.ndarray, "pair 2"]
) -> SinkRepresentation:
    basis = np.linalg.qr(x.T)[0] if len(x) < x.shape[1] else np.eye(x.shape[1])
    entries = len(pairs) * basis.shape[1] ** 2
    if entries > _MOST_ROW_ENTRIES:
        raise ValueError(
            f"expected a pair problem of at most {_MOST_ROW_ENTRIES} entries, got {entries} for"
            f" {len(pairs)} pairs in {basis.shape[1]} dimensions; use all queries with all keys (or a causal"
            " mask), or fewer pairs"
        )
    found = gordan(pair_rows(x @ basis, sink, pairs))
    if found.kind == "normal":
        return _scaled_to_margin(
            x, sink, pairs, basis @ found.normal.reshape((basis.shape[1],) * 2) @ basis.T
        )
    kind: Literal["not_representable", "undecided"] = (
        "not_representable" if found.kind == "weights" else "undecided"
    )
    return SinkRepresentation(kind, None, found.weights, pairs[found.support], 0.0, False, found.stable)


def _scaled_to_margin(
    x: Float[np.ndarray, "token dim"],
    sink: int,
    pairs: Int[np.ndarray, "pair 2"],
    w_qk: Float[np.ndarray, "dim dim"],
    rank_one: bool = False,
) -> SinkRepresentation:
    def margin(w: Float[np.ndarray, "dim dim"]) -> float:
        products = (x @ w) @ (x[sink] - x).T
        return float(products[pairs[:, 0], pairs[:, 1]].min())

    least = margin(w_qk)
    none = np.empty((0, 2), dtype=np.int64)
    if not (least > 0.0):
        return SinkRepresentation("undecided", w_qk, None, none, least, rank_one, False)
    scaled = w_qk / least
    return SinkRepresentation("representable", scaled, None, none, margin(scaled), rank_one, True)


def _against(
    hull: MinNormPoint, side: int, members: Int[np.ndarray, " member"], partner: int
) -> SinkRepresentation:
    """The weights of one hull, carried by pairs with a single partner, as weights of the pair problem."""
    support = np.full((len(hull.support), 2), partner, dtype=np.int64)
    support[:, side] = members[hull.support]
    kind: Literal["not_representable", "undecided"] = (
        "not_representable" if hull.status == "contains_zero" else "undecided"
    )
    return SinkRepresentation(kind, None, hull.weights, support, 0.0, False, hull.stable)


def _partner_of_all(
    pairs: Int[np.ndarray, "pair 2"], side: int, num_members: int, others: Int[np.ndarray, " other"]
) -> int | None:
    """A key paired with every query (side 0), or a query paired with every key (side 1)."""
    full = [int(o) for o in others if len(np.unique(pairs[pairs[:, 1 - side] == o, side])) == num_members]
    return full[0] if full else None


def _checked_pairs(pairs: np.ndarray, sink: int, num_tokens: int) -> Int[np.ndarray, "pair 2"]:
    chosen = np.asarray(pairs)
    if chosen.ndim != 2 or chosen.shape[1:] != (2,) or len(chosen) == 0 or chosen.dtype.kind not in "iu":
        raise ValueError(
            f"expected a non-empty integer array of pairs (pairs, 2), got shape {chosen.shape} and dtype"
            f" {chosen.dtype}; build it with sink_pairs"
        )
    sink = row_number("the sink", sink, num_tokens)
    if not (chosen.min() >= 0 and chosen.max() < num_tokens):
        raise ValueError(
            f"expected pairs of indices in 0..{num_tokens - 1}, got {chosen.min()}..{chosen.max()}; use row numbers"
        )
    _require_other_keys(chosen[:, 1], sink)
    return np.asarray(chosen, dtype=np.int64)


def _rows_of(name: str, rows: Iterable[int]) -> list[int]:
    return sorted({whole_number(f"each of the {name}", row, 0, "use row numbers") for row in rows})


def _require_other_keys(keys: Iterable[int], sink: int) -> None:
    if sink in keys:
        raise ValueError(
            f"expected keys other than the sink, got key {sink} = sink; leave the sink out of the keys"
        )


def _no_rows() -> Int[np.ndarray, " support"]:
    return np.empty(0, dtype=np.int64)
