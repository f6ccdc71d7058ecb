"""Tasks: what a head must attend to and what it must output, as data.

A task has a constraint set for W_QK and an interpolation set for W_VO (inputs, targets, and a token whose
value must vanish when a sink is the way to switch off). Its cost in a norm is ||W_QK||_p + ||W_VO||_p at the
cheapest W of each kind; the two problems do not interact. Claims C7, C9, C10.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float, Int

from numerics.arguments import real_array, real_arrays
from numerics.constraints import Constraints, diagonal_constraints, sink_constraints
from numerics.minimum_norm import MinimumNorm, minimum_norm
from numerics.value_cost import ValueCost, value_cost

__all__ = ["Task", "TaskCost", "copy_paste", "diagonal_task", "inverse_bigram", "sink_task", "task_cost"]

SwitchOff = Literal["sink", "self"]


@dataclass(frozen=True, eq=False)
class Task:
    """Constraints on W_QK and the outputs asked of W_VO: V inputs_j = targets_j, and V null = 0 if there
    is one.
    """

    attention: Constraints
    inputs: Float[np.ndarray, "input dim"]
    targets: Float[np.ndarray, "input out"]
    null: Float[np.ndarray, " dim"] | None


@dataclass(frozen=True, eq=False)
class TaskCost:
    """Both halves of a task's cost and bounds on their sum."""

    qk: MinimumNorm
    vo: ValueCost

    @property
    def lower(self) -> float:
        return self.qk.lower + self.vo.lower

    @property
    def upper(self) -> float:
        return self.qk.upper + self.vo.upper


def task_cost(task: Task, norm: str | float, **options: float) -> TaskCost:
    """min ||W_QK||_p + min ||W_VO||_p for one task.

    ``norm`` as in ``schatten_norm``; ``options`` (tolerance, max_iterations, time_limit) go to ``minimum_norm``.
    Returns both halves and their sum. Raises ValueError for what is not a ``Task``, p < 1, or a bad option.
    Claims C8, C10, C13.

    Example:

    >>> cost = task_cost(diagonal_task(np.eye(3), np.eye(3), margin=1.0), "frobenius")
    >>> f"{cost.qk.upper:.3f}", f"{cost.vo.upper:.3f}"  # √(T-1) and √T at T = 3
    ('1.414', '1.732')
    """
    if not isinstance(task, Task):
        raise ValueError(
            f"expected a Task, got {type(task).__name__}; build one with sink_task, diagonal_task, inverse_bigram or"
            " copy_paste"
        )
    return TaskCost(
        minimum_norm(task.attention, norm, **options),
        value_cost(task.inputs, task.targets, norm, null=task.null),
    )


def sink_task(
    tokens: Float[np.ndarray, "token dim"],
    sink: Float[np.ndarray, " dim"],
    targets: Float[np.ndarray, "token out"],
    *,
    margin: float | None = None,
    mass: float | None = None,
    causal: bool = False,
) -> Task:
    """Every token attends to the sink, whose value vanishes; content values are ``targets`` (T, out).

    The other arguments and errors as in ``sink_constraints``. Claims C1, C7.

    Example:

    >>> sink_task(np.eye(3)[:2], np.eye(3)[2], np.eye(2), margin=1.0).null.tolist()
    [0.0, 0.0, 1.0]
    """
    attention = sink_constraints(tokens, sink, margin=margin, mass=mass, causal=causal)
    return Task(attention, *real_arrays(
        ("tokens", tokens, "token dim"), ("targets", targets, "token out"), ("sink", sink, "dim")))


def diagonal_task(
    tokens: Float[np.ndarray, "token dim"],
    targets: Float[np.ndarray, "token out"],
    *,
    margin: float | None = None,
    mass: float | None = None,
    causal: bool = False,
) -> Task:
    """Every token attends to itself; content values are ``targets`` (T, out), none need vanish.

    The other arguments and errors as in ``diagonal_constraints``. Claims C3, C7.

    Example:

    >>> diagonal_task(np.eye(3), np.eye(3), margin=1.0).null is None
    True
    """
    attention = diagonal_constraints(tokens, margin=margin, mass=mass, causal=causal)
    return Task(attention, *real_arrays(("tokens", tokens, "token dim"), ("targets", targets, "token out")), None)


def inverse_bigram(
    tokens: Float[np.ndarray, "token dim"],
    permutation: Sequence[int],
    *,
    sink: Float[np.ndarray, " dim"] | None = None,
    margin: float = 1.0,
) -> Task:
    """Query i copies token pi(i) when it is present and falls back to its default when it is not.

    The default is the ``sink`` if one is given, else the query's own token. Present: pi(i) over the default
    by ``margin``. Absent: the default over all other keys but pi(i) by ``margin``. The head outputs what it
    copies, V x_j = x_j, and V x_s = 0. Raises ValueError unless ``permutation`` is a permutation of the
    tokens without fixed points (a token that copies itself has no default to beat). Claim C9.

    Example:

    >>> cost = task_cost(inverse_bigram(np.eye(4)[:3], [1, 2, 0], sink=np.eye(4)[3]), "frobenius")
    >>> f"{cost.qk.upper:.3f}"  # C9: √(n(5n-4)/(n+1)) at n = 3
    '2.872'
    """
    tokens, sink = real_arrays(("tokens", tokens, "token dim"), ("sink", sink, "dim?"))
    count = len(tokens)
    target = np.asarray(permutation)
    if (
        target.shape != (count,)
        or target.dtype.kind not in "iu"
        or sorted(target.tolist()) != list(range(count))
    ):
        raise ValueError(
            f"expected a permutation of 0..{count - 1}, got {list(permutation)}; list pi(0), pi(1), ..."
        )
    index = np.arange(count)
    if (target == index).any():
        raise ValueError(
            f"expected a permutation without fixed points, got one at {int((target == index).argmax())};"
            " such a query copies itself and has no default"
        )
    keys = tokens if sink is None else np.vstack([tokens, sink])
    default = index if sink is None else np.full(count, count)
    present = np.zeros((count, len(keys)), dtype=bool)
    present[index, default] = True
    absent = ~present
    absent[index, target] = False
    attention = Constraints(
        tokens, keys, np.tile(index, 2), np.concatenate([target, default]), np.vstack([present, absent]),
        margin=margin,
    )  # fmt: skip
    return Task(attention, tokens, tokens, sink)


def copy_paste(
    tokens: Float[np.ndarray, "token dim"],
    sink: Float[np.ndarray, " dim"],
    assignment: Sequence[int],
    *,
    off: SwitchOff = "sink",
    contexts: Bool[np.ndarray, "context token"] | None = None,
    probabilities: Float[np.ndarray, " context"] | None = None,
    targets: Float[np.ndarray, "token out"] | None = None,
    margin: float | None = None,
    mass: float | None = None,
) -> Task:
    """A fraction of the queries copies from given keys, the rest switch off at the sink or at themselves.

    ``assignment[i]`` is the key that query i copies, or -1 to be off. In each context (a row of the mask
    ``contexts``; default: one that sees everything) the visible tokens are queries, the visible tokens and
    the sink are keys; a copying query prefers its key to **all** others, an off query (or one whose key is
    not visible) prefers the sink (``off="sink"``) or itself (``off="self"``). Contexts of probability 0 are
    dropped: what must hold is what has positive probability. V x_j = ``targets``_j (default x_j), and V x_s =
    0 if the sink is the switch. Raises ValueError for an assignment, mask or probabilities that do not fit the
    tokens, another ``off``, or as ``Constraints`` does. Claim C10.

    Example:

    >>> one_copies = copy_paste(np.eye(4)[:3], np.eye(4)[3], [1, -1, -1], margin=1.0)
    >>> f"{task_cost(one_copies, 'frobenius').qk.upper:.4f}"  # T/√(T+1) at T = 3, for every assignment
    '1.5000'
    """
    tokens, sink, targets = real_arrays(
        ("tokens", tokens, "token dim"), ("sink", sink, "dim"), ("targets", targets, "token out?")
    )
    count = len(tokens)
    chosen = np.asarray(assignment)
    if (
        chosen.shape != (count,)
        or chosen.dtype.kind not in "iu"
        or chosen.min() < -1
        or chosen.max() >= count
    ):
        raise ValueError(
            f"expected one key index in -1..{count - 1} per token, got {list(assignment)}; -1 means off"
        )
    if off not in ("sink", "self"):
        raise ValueError(
            f"expected off to be sink or self, got {off!r}; say where a query that is off attends"
        )
    seen = _likely_contexts(contexts, probabilities, count)
    keys = np.vstack([tokens, sink])
    queries, favoured, masks = [], [], []
    for visible in seen:
        mask = np.append(visible, True)
        for i in np.flatnonzero(visible):
            copies = chosen[i] >= 0 and visible[chosen[i]]
            key = int(chosen[i]) if copies else (count if off == "sink" else int(i))
            rivals = mask.copy()
            rivals[key] = False
            queries.append(int(i)), favoured.append(key), masks.append(rivals)
    rows = _merge(queries, favoured, masks, whole=mass is not None)
    attention = Constraints(tokens, keys, *rows, margin=margin, mass=mass)
    outputs = tokens if targets is None else targets
    return Task(attention, tokens, outputs, sink if off == "sink" else None)


def _likely_contexts(
    contexts: np.ndarray | None, probabilities: np.ndarray | None, count: int
) -> Bool[np.ndarray, "context token"]:
    seen = np.ones((1, count), dtype=bool) if contexts is None else np.asarray(contexts)
    if seen.dtype != bool or seen.ndim != 2 or seen.shape[1] != count or len(seen) == 0:
        raise ValueError(
            f"expected contexts as a non-empty boolean mask (contexts, {count}), got dtype {seen.dtype} and"
            f" shape {seen.shape}; mark the visible tokens of each context"
        )
    if probabilities is None:
        return seen
    weights = real_array("probabilities", probabilities, str(len(seen)))
    if not ((weights >= 0.0).all() and math.isclose(float(weights.sum()), 1.0)):
        raise ValueError(f"expected one probability per context with sum 1, got {weights}; normalise them")
    return seen[weights > 0.0]


def _merge(
    queries: list[int], favoured: list[int], masks: list[np.ndarray], *, whole: bool
) -> tuple[Int[np.ndarray, " row"], Int[np.ndarray, " row"], Bool[np.ndarray, "row key"]]:
    """One row per (query, favoured key): margins unite their competitors; masses keep the maximal sets only."""
    groups: dict[tuple[int, int], list[np.ndarray]] = {}
    for query, key, mask in zip(queries, favoured, masks, strict=True):
        groups.setdefault((query, key), []).append(mask)
    rows: list[tuple[int, int, np.ndarray]] = []
    for (query, key), rivals in groups.items():
        if not whole:
            rows.append((query, key, np.any(rivals, axis=0)))
            continue
        kept: list[np.ndarray] = []
        for mask in sorted(rivals, key=lambda m: -int(m.sum())):
            if not any((mask <= other).all() for other in kept):  # less competition asks for less
                kept.append(mask)
        rows.extend((query, key, mask) for mask in kept)
    index = np.array([row[:2] for row in rows], dtype=np.int64)
    return index[:, 0], index[:, 1], np.array([row[2] for row in rows])
