"""What a pattern asks of W: constraint sets as data, and the patterns that produce them.

A *row* of a constraint set asks one query for one favoured key over a set of competitors,

    margin form:  <W, x_i (x_a - x_b)^T> >= m                        for every competitor b of the row, m > 0,
    mass form:    log sum_b exp(-<W, x_i (x_a - x_b)^T>) <= -L,       L = log(mass / (1 - mass)),

the second being softmax mass >= ``mass`` on the favoured key among itself and its competitors. Every set of
pair constraints is a set of such rows, because a query may own several. Logits are l_ij = x_i^T W x_j (scale
1). Claims C1-C3, G2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Bool, Float, Int

from numerics.arguments import real_array, real_arrays

__all__ = [
    "Constraints",
    "constraints_from_triples",
    "diagonal_constraints",
    "sink_constraints",
]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Rows (query, favoured key, competitors), all in margin form or all in mass form.

    One level may be given for all rows; it is spread over them. Raises ValueError for arrays that do not fit
    each other, a favoured key that is its own competitor, a margin that is not positive, a mass outside (0, 1),
    or neither/both of ``margin`` and ``mass``. A row without competitors asks for nothing and is dropped.
    """

    queries: Float[np.ndarray, "query dim"]
    keys: Float[np.ndarray, "key dim"]
    row_query: Int[np.ndarray, " row"]
    favoured: Int[np.ndarray, " row"]
    competitors: Bool[np.ndarray, "row key"]
    margin: Float[np.ndarray, " row"] | float | None = field(default=None, kw_only=True)
    mass: Float[np.ndarray, " row"] | float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if (self.margin is None) == (self.mass is None):
            raise ValueError(
                "expected either margins or masses, got both or neither; pass exactly one of them"
            )
        put = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        queries, keys = real_arrays(("queries", self.queries, "query dim"), ("keys", self.keys, "key dim"))
        put("queries", queries.copy())  # what the caller does to his array later must not change the record
        put("keys", keys.copy())
        rows, keys, mask = np.asarray(self.row_query), np.asarray(self.favoured), np.asarray(self.competitors)
        if not (rows.dtype.kind in "iu" and keys.dtype.kind in "iu" and mask.dtype == bool):
            raise ValueError(
                f"expected whole-number indices and a boolean mask of competitors, got dtypes {rows.dtype},"
                f" {keys.dtype} and {mask.dtype}; convert them"
            )
        rows, keys = rows.astype(np.int64), keys.astype(np.int64)
        if not (rows.ndim == 1 and keys.shape == rows.shape and mask.shape == (len(rows), len(self.keys))):
            raise ValueError(
                f"expected favoured keys (rows,) and competitors (rows, keys) for {len(rows)} rows, got"
                f" shapes {keys.shape} and {mask.shape}; give each row a favoured key and a mask over keys"
            )
        if rows.size and not (
            0 <= rows.min()
            and rows.max() < len(self.queries)
            and 0 <= keys.min()
            and keys.max() < len(self.keys)
        ):
            raise ValueError(
                "expected row indices inside queries and keys, got one outside; check the indices"
            )
        own = mask[np.arange(len(rows)), keys]
        if own.any():
            raise ValueError(
                f"expected competitors other than the favoured key, got key {int(keys[own.argmax()])}"
                " competing with itself; clear it from the mask"
            )
        keep = mask.any(axis=1)
        levels = self._levels(len(rows))
        put("row_query", rows[keep])
        put("favoured", keys[keep])
        put("competitors", mask[keep])
        put("margin" if self.mass is None else "mass", levels[keep])

    def _levels(self, num_rows: int) -> Float[np.ndarray, " row"]:
        is_margin = self.mass is None
        given = real_array("margin" if is_margin else "mass", self.margin if is_margin else self.mass, "*row")
        if given.shape not in ((), (1,), (num_rows,)):
            raise ValueError(
                f"expected one level per row ({num_rows}), got shape {given.shape}; pass one or all"
            )
        levels = np.broadcast_to(given, (num_rows,)).copy()
        if is_margin and not (np.isfinite(levels) & (levels > 0.0)).all():
            raise ValueError(
                f"expected finite margins > 0, got {float(levels.min())}; a margin is a strict preference"
            )
        if not is_margin and not ((levels > 0.0) & (levels < 1.0)).all():
            worst = float(levels[~((levels > 0.0) & (levels < 1.0))][0])
            raise ValueError(f"expected masses between 0 and 1, got {worst}; softmax reaches neither end")
        return levels

    @property
    def num_rows(self) -> int:
        return len(self.row_query)

    @property
    def num_constraints(self) -> int:
        """Pairs (row, competitor): the inequalities of the margin form."""
        return int(self.competitors.sum())

    @property
    def log_odds(self) -> Float[np.ndarray, " row"]:
        """L = log(mass / (1 - mass)) of each row (mass form)."""
        assert self.mass is not None
        return np.log(self.mass) - np.log1p(-self.mass)

    def triples(self) -> tuple[Int[np.ndarray, " n"], Int[np.ndarray, " n"], Int[np.ndarray, " n"]]:
        """(query, favoured, competitor) of every inequality, row by row."""
        row, competitor = np.nonzero(self.competitors)
        return self.row_query[row], self.favoured[row], competitor

    def margins(self, logits: Float[np.ndarray, "row key"]) -> Float[np.ndarray, "row key"]:
        """l_favoured - l_b for logits given row by row; +inf off the competitors."""
        lead = logits[np.arange(self.num_rows), self.favoured]
        return np.where(self.competitors, lead[:, None] - logits, np.inf)

    def signed(self, dual: Float[np.ndarray, "row key"]) -> Float[np.ndarray, "row key"]:
        """N with row_i sum_b lambda_b (e_favoured - e_b): G = sum lambda x_i (x_a - x_b)^T = X_q^T N X_k.

        For the diagonal this is the directed Laplacian diag(lambda 1) - lambda of claim C3.
        """
        signed = -dual
        signed[np.arange(self.num_rows), self.favoured] += dual.sum(axis=1)
        return signed


def constraints_from_triples(
    queries: Float[np.ndarray, "query dim"],
    keys: Float[np.ndarray, "key dim"],
    triples: Sequence[tuple[int, int, int]],
    margin: float | Sequence[float],
) -> Constraints:
    """The margin-form set of arbitrary triples (query i, favoured a, competitor b), a margin for all or for each.

    Triples that share query, favoured key and margin become one row. Raises ValueError for no triple, an index
    out of range, or as ``Constraints`` does. Claim G2.
    """
    if len(triples) == 0 or any(len(t) != 3 for t in triples):
        raise ValueError(
            f"expected a non-empty list of triples (query, favoured, competitor), got {len(triples)} entries;"
            " give each constraint its three indices"
        )
    margins = np.broadcast_to(np.asarray(margin, dtype=np.float64), (len(triples),))
    grouped: dict[tuple[int, int, float], list[int]] = {}
    for (query, favoured, competitor), m in zip(triples, margins, strict=True):
        grouped.setdefault((int(query), int(favoured), float(m)), []).append(int(competitor))
    mask = np.zeros((len(grouped), len(keys)), dtype=bool)
    for row, chosen in enumerate(grouped.values()):
        if min(chosen) < 0 or max(chosen) >= len(keys):
            raise ValueError(f"expected competitors in 0..{len(keys) - 1}, got {chosen}; check the indices")
        mask[row, chosen] = True
    index = np.array([key[:2] for key in grouped], dtype=np.int64)
    levels = np.array([key[2] for key in grouped])
    return Constraints(queries, keys, index[:, 0], index[:, 1], mask, margin=levels)


def sink_constraints(
    tokens: Float[np.ndarray, "token dim"],
    sink: Float[np.ndarray, " dim"],
    *,
    margin: float | None = None,
    mass: float | None = None,
    causal: bool = False,
    sink_queries: bool = False,
) -> Constraints:
    """The sink pattern: every content token prefers the sink to every content token it sees, its own included.

    Args: ``tokens`` (T, d) without the sink; ``sink`` (d,); one of ``margin`` (> 0, in logits at scale 1) and
    ``mass`` (in (0, 1)). Keys are (sink, tokens), the sink at position 0; ``causal``: token i sees tokens
    j <= i. ``sink_queries`` puts the sink among the queries (it then sees all tokens, none under a causal mask).
    Raises ValueError for shapes that do not fit, NaN, a bad level, or not exactly one. Claims C1, C2, C11, G2.

    Example:

    >>> sink_constraints(np.eye(3), np.zeros(3), margin=1.0, causal=True).num_constraints
    6
    """
    tokens, sink = real_arrays(("tokens", tokens, "token dim"), ("sink", sink, "dim"))
    keys = np.vstack([sink, tokens])
    count = len(keys)
    visible = np.tri(count, dtype=bool) if causal else np.ones((count, count), dtype=bool)
    visible[:, 0] = False
    first = 0 if sink_queries else 1
    rows = np.arange(first, count)
    zeros = np.zeros(len(rows), dtype=np.int64)
    return Constraints(keys, keys, rows, zeros, visible[first:], margin=margin, mass=mass)


def diagonal_constraints(
    tokens: Float[np.ndarray, "token dim"],
    *,
    margin: float | None = None,
    mass: float | None = None,
    causal: bool = False,
    sink: Float[np.ndarray, " dim"] | None = None,
) -> Constraints:
    """The diagonal pattern: every token prefers itself to every other key it sees (j < i under a causal mask).

    Keys are the tokens (T, d), and a ``sink`` (d,) as an extra key at the end that every token sees when one is
    given. Levels and errors as in ``sink_constraints``. Claims C3, C4, C11.

    Example:

    >>> diagonal_constraints(np.eye(3), margin=1.0).num_constraints
    6
    """
    tokens, sink = real_arrays(("tokens", tokens, "token dim"), ("sink", sink, "dim?"))
    count = len(tokens)
    visible = np.tri(count, k=-1, dtype=bool) if causal else ~np.eye(count, dtype=bool)
    keys = tokens
    if sink is not None:
        keys = np.vstack([tokens, sink])
        visible = np.hstack([visible, np.ones((count, 1), dtype=bool)])
    index = np.arange(count)
    return Constraints(tokens, keys, index, index, visible, margin=margin, mass=mass)
