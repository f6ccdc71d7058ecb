import math

import numpy as np
import pytest

from numerics.tasks import copy_paste, diagonal_task, inverse_bigram, sink_task, task_cost

N = 5
BASIS = np.eye(N + 1)
TOKENS, SINK = BASIS[:N], BASIS[N]
CYCLE = np.roll(np.arange(N), -1)


def triples(task):
    return sorted(zip(*(part.tolist() for part in task.attention.triples()), strict=True))


@pytest.mark.parametrize("permutation", [CYCLE, np.array([1, 0, 3, 4, 2])])
@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_inverse_bigram_with_an_orthonormal_sink_costs_the_same_for_every_permutation(norm, permutation):
    cost = task_cost(inverse_bigram(TOKENS, permutation, sink=SINK), norm, tolerance=1e-6)
    closed = 2 * (N - 1) + (N - 2) / math.sqrt(N + 1) if norm == 1.0 else math.sqrt(N * (5 * N - 4) / (N + 1))
    assert cost.qk.lower - 1e-9 <= closed <= cost.qk.upper + 1e-9
    assert cost.vo.upper == pytest.approx(N if norm == 1.0 else math.sqrt(N))
    assert cost.lower == cost.qk.lower + cost.vo.lower and cost.lower <= cost.upper


def test_inverse_bigram_with_self_as_default_costs_its_frobenius_form_and_less_than_the_ansatz_later():
    cost = task_cost(inverse_bigram(np.eye(N), CYCLE), 2.0, tolerance=1e-6)
    assert cost.qk.lower - 1e-9 <= math.sqrt(5 * N - 9) <= cost.qk.upper + 1e-9
    involution = task_cost(inverse_bigram(np.eye(4), [1, 0, 3, 2]), 1.0, tolerance=1e-6).qk
    assert involution.lower - 1e-9 <= 2 * 4 - 3 <= involution.upper + 1e-9


def test_inverse_bigram_asks_for_the_target_over_the_default_and_the_default_over_the_rest():
    task = inverse_bigram(TOKENS[:3], [1, 2, 0], sink=SINK)
    assert triples(task) == sorted(
        [(i, (i + 1) % 3, 3) for i in range(3)]
        + [(i, 3, j) for i in range(3) for j in range(3) if j != (i + 1) % 3]
    )


@pytest.mark.parametrize("permutation", [[0, 1, 2], [0, 2, 1], [1, 1, 2], [1, 2], [1.0, 2.0, 0.0]])
def test_inverse_bigram_refuses_what_is_no_permutation_without_fixed_points(permutation):
    with pytest.raises(ValueError, match="permutation"):
        inverse_bigram(TOKENS[:3], permutation)


def test_copy_paste_sends_copiers_to_their_key_and_the_rest_off():
    task = copy_paste(TOKENS[:3], SINK, [1, -1, -1], margin=1.0)
    assert triples(task) == sorted(
        [(0, 1, 0), (0, 1, 2), (0, 1, 3)] + [(i, 3, j) for i in (1, 2) for j in range(3)]
    )
    assert (task.null == SINK).all()
    task = copy_paste(TOKENS[:3], SINK, [1, -1, -1], off="self", margin=1.0)
    assert (1, 1, 3) in triples(task) and (1, 1, 0) in triples(task) and task.null is None


def test_a_copier_whose_key_is_not_visible_is_off_in_that_context():
    contexts = np.array([[True, True, True], [True, False, True]])
    task = copy_paste(TOKENS[:3], SINK, [1, -1, -1], contexts=contexts, margin=1.0)
    assert (0, 3, 0) in triples(task) and (0, 3, 2) in triples(task) and (0, 3, 1) not in triples(task)
    assert (0, 1, 3) in triples(task)
    sure = copy_paste(
        TOKENS[:3], SINK, [1, -1, -1], contexts=contexts, probabilities=np.array([1.0, 0.0]), margin=1.0
    )
    assert (0, 3, 0) not in triples(sure)


def test_contexts_unite_for_margins_and_keep_maximal_sets_for_masses():
    contexts = np.array([[True, True, False], [True, False, True], [True, False, False]])
    off = [-1, -1, -1]
    margins = copy_paste(TOKENS[:3], SINK, off, contexts=contexts, margin=1.0).attention
    masses = copy_paste(TOKENS[:3], SINK, off, contexts=contexts, mass=0.8).attention
    assert margins.num_rows == 3
    assert sorted(masses.competitors[masses.row_query == 0].sum(axis=1).tolist()) == [2, 2]


def test_all_off_is_the_plain_pattern():
    plain = sink_task(TOKENS, SINK, TOKENS, margin=1.0)
    off = copy_paste(TOKENS, SINK, [-1] * N, margin=1.0)
    one, other = (task_cost(task, 1.0, tolerance=1e-6) for task in (plain, off))
    assert one.qk.lower <= other.qk.upper and other.qk.lower <= one.qk.upper
    assert one.qk.upper == pytest.approx(N / math.sqrt(N + 1))
    itself = task_cost(diagonal_task(TOKENS, TOKENS, margin=1.0), 2.0, tolerance=1e-6)
    assert itself.qk.upper == pytest.approx(math.sqrt(N - 1)) and itself.vo.upper == pytest.approx(
        math.sqrt(N)
    )


def test_copying_oneself_while_off_at_oneself_is_the_diagonal_with_the_sink_as_a_rival():
    task = copy_paste(TOKENS, SINK, list(range(N)), off="self", margin=1.0)
    assert triples(task) == sorted((i, i, j) for i in range(N) for j in range(N + 1) if i != j)


def test_contradicting_tasks_are_proved_infeasible():
    tokens = np.vstack([TOKENS[:2], TOKENS[0]])  # one token twice, asked to copy two different keys
    cost = task_cost(copy_paste(tokens, SINK, [0, -1, 1], margin=1.0), 1.0)
    assert cost.qk.status == "infeasible" and cost.lower == math.inf


def test_bad_descriptions_are_refused():
    for assignment in ([0], [0, 1, 3], [0, 1, -2], [0.0, 1.0, 2.0]):
        with pytest.raises(ValueError, match="one key index"):
            copy_paste(TOKENS[:3], SINK, assignment, margin=1.0)
    with pytest.raises(ValueError, match="sink or self"):
        copy_paste(TOKENS[:3], SINK, [-1] * 3, off="nowhere", margin=1.0)
    with pytest.raises(ValueError, match="boolean mask"):
        copy_paste(TOKENS[:3], SINK, [-1] * 3, contexts=np.ones((1, 3)), margin=1.0)
    for weights in ([0.5], [0.5, 0.6], [-0.5, 1.5], [np.nan, 1.0]):
        with pytest.raises(ValueError, match="probabilit"):
            copy_paste(
                TOKENS[:3],
                SINK,
                [-1] * 3,
                contexts=np.ones((2, 3), dtype=bool),
                probabilities=weights,
                margin=1.0,
            )
