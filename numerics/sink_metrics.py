"""Sink scores in use, and what each of them counts: the convention is part of every result.

Published scores disagree about the threshold (0.3 or 0.8), about the first row (its softmax has one key, so it
always looks like a sink), and about what is compared with the threshold: each sequence's score, or the mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from numerics.attention import require_row_stochastic

__all__ = ["MEASURES", "THRESHOLDS", "SinkScore", "column_mass", "convention", "diagonal_mass", "importance",
           "sink_score"]

THRESHOLDS = (0.3, 0.8)
MEASURES = ("mass", "importance", "diagonal")
AnyRows = Float[np.ndarray, "token token"]


@dataclass(frozen=True)
class SinkScore:
    """One head's score: of each sequence, their mean, and the share of sequences strictly above the threshold.

    `mean_passes` compares the mean with the threshold; `share` counts sequences.  They can disagree, so
    `convention` says in words which rows, which divisor and which comparison were used.
    """

    sequences: tuple[float, ...]
    mean: float
    share: float
    mean_passes: bool
    threshold: float
    convention: str


def column_mass(attention: AnyRows, *, first_row: bool = True) -> Float[np.ndarray, " token"]:
    """Mean attention that each key receives: (1/T) sum_i a_ik.

    Args: ``attention`` (T, T), query axis first, rows on the simplex; ``first_row=False`` leaves out query 0
    (BOS), and then divides by T - 1. Returns (T,). Raises ValueError for other rows, or when no row is left.
    Claim P0.

    Example:

    >>> column_mass(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.75, 0.25]
    """
    rows = _rows(attention, first_row)
    return rows.mean(axis=0)


def importance(attention: AnyRows, *, first_row: bool = True) -> Float[np.ndarray, " token"]:
    """Importance of each key k = 0..T-1: (1/(T-k)) sum_i a_ik, so that a late key is not punished for being late.

    The divisor counts the queries that see key k under a causal mask. ``first_row=False`` leaves query 0 out
    of the sum, and of the divisor of key 0. Arguments and errors as in ``column_mass``. Returns (T,). Claim P0.

    Example:

    >>> importance(np.array([[1.0, 0.0], [0.5, 0.5]])).tolist()
    [0.75, 0.5]
    """
    rows = _rows(attention, first_row)
    size = rows.shape[1]
    seen = size - np.maximum(np.arange(size), 0 if first_row else 1)
    return rows.sum(axis=0) / seen


def diagonal_mass(attention: AnyRows, *, first_row: bool = True) -> float:
    """Mean of a_ii over the queries; ``first_row=False`` leaves out query 0.

    Arguments and errors as in ``column_mass``. Claim P0.

    Example:

    >>> diagonal_mass(np.array([[1.0, 0.0], [0.5, 0.5]]))
    0.75
    """
    rows = _rows(attention, first_row)
    return float(np.diagonal(rows, offset=rows.shape[1] - rows.shape[0]).mean())


def sink_score(attentions: Sequence[AnyRows], *, measure: str = "importance", key: int = 0,
               threshold: float = 0.3, first_row: bool = True) -> SinkScore:
    """Score one head on one or more sequences (lengths may differ) and compare with the threshold, strictly.

    Args: ``measure`` is "mass" (column mean of ``key``), "importance" (of ``key``) or "diagonal"; a negative
    ``key`` counts from each sequence's end. Raises ValueError for an unknown measure, no sequence, a key that
    some sequence does not have, or a threshold outside (0, 1). Claim P0.

    Example:

    >>> score = sink_score([np.array([[1.0, 0.0], [0.5, 0.5]])], threshold=0.3)
    >>> score.mean, score.mean_passes
    (0.75, True)
    """
    if measure not in MEASURES:
        raise ValueError(f"expected a measure among {', '.join(MEASURES)}, got {measure!r}; choose one of them")
    if not 0.0 < threshold < 1.0:
        raise ValueError(f"expected a threshold between 0 and 1, got {threshold}; published ones are 0.3 and 0.8")
    if len(attentions) == 0:
        raise ValueError("expected at least one sequence's attention, got none; give a list of (T, T) arrays")
    shortest = min(len(_rows(rows, first_row=True)) for rows in attentions)
    if not -shortest <= key < shortest:
        raise ValueError(f"expected a key that every sequence has, got {key} and a sequence of {shortest} tokens; "
                         "choose a smaller key")
    if measure == "diagonal":
        scores = [diagonal_mass(rows, first_row=first_row) for rows in attentions]
    else:
        columns = column_mass if measure == "mass" else importance
        scores = [float(columns(rows, first_row=first_row)[key]) for rows in attentions]
    mean = float(np.mean(scores))
    return SinkScore(
        tuple(scores), mean, float(np.mean([score > threshold for score in scores])), mean > threshold, threshold,
        f"{convention(measure, key, first_row)}; strictly above {threshold:g}; "
        f"mean and share over {len(scores)} sequences")


def convention(measure: str, key: int, first_row: bool) -> str:
    """What a measure of `MEASURES` counts, in words: its sum, its divisor, and whether row 0 takes part. Claim P0."""
    rows = "row 0 included" if first_row else "row 0 excluded"
    if measure == "diagonal":
        return f"{measure}: mean of a_ii over the queries, {rows}"
    divisor = "their number" if measure == "mass" else f"T - k, k = {key}" + ("" if key >= 0 else " + T")
    return f"{measure}: sum of a_ik over the queries by {divisor}, {rows}"


def _rows(attention: AnyRows, first_row: bool) -> np.ndarray:
    require_row_stochastic(attention, tolerance=1e-5)  # float32 rows of a checkpoint do not sum to one exactly
    rows = np.asarray(attention, dtype=np.float64)
    if rows.shape[0] != rows.shape[1]:
        raise ValueError(f"expected square attention (queries are the keys), got shape {rows.shape}; "
                         "give one sequence's own rows")
    if not first_row and len(rows) < 2:
        raise ValueError("expected at least two tokens when row 0 is excluded, got one; include row 0")
    return rows if first_row else rows[1:]
