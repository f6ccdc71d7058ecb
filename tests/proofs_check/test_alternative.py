"""Gordan's alternative: one exact witness each time, accepted by the kernel, as a linear program says."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.gordan import sink_pairs
from proofs_check.alternative import _simplex, cloud_witness, gordan_witness
from proofs_check.claim import _witness
from proofs_check.kernel.formula import Evaluator
from proofs_check.kernel.separation import separable

COUNT = 400


def exact(rows):
    return [[Fraction(entry.item() if hasattr(entry, "item") else entry) for entry in row] for row in rows]


def kernel_says(rows, witness) -> bool:
    """The kernel's `separable` on the rows, reading the witness in certificate form."""
    encoded = {name: _witness(name, value) for name, value in witness.items()}
    table = [[fmpq(entry.numerator, entry.denominator) for entry in row] for row in exact(rows)]
    return separable(Evaluator({}, {"w": encoded}, []), table, "w")


def proves(rows, answer, witness) -> bool:
    """Check a witness against the definition, in Fractions, and again with the kernel's predicate."""
    rows = exact(rows)
    if answer:
        (normal,) = witness.values()
        plain = all(sum(a * b for a, b in zip(normal, row)) > 0 for row in rows)
    else:
        weights = witness["weights"]
        total = [sum(weight * rows[index][k] for index, weight in weights.items())
                 for k in range(len(rows[0]))]
        plain = not any(total) and sum(weights.values()) == 1 and min(weights.values()) > 0
    return plain and kernel_says(rows, witness) is answer


def pair_problem(rng: np.random.Generator, case: int):
    """One G2 instance: (kind, pair rows in Fractions). Kinds cycle through what the claim can meet."""
    kind = ("integer", "float", "boundary", "near boundary")[case % 4]
    size, dim = int(rng.integers(1, 9)), int(rng.integers(1, 7))
    if kind == "integer":
        tokens = rng.integers(-2, 3, size=(size + 1, dim))
    else:
        tokens = rng.normal(size=(size + 1, dim))
    if case % 8 >= 4:
        tokens[1:, 0] = np.abs(tokens[1:, 0]) + (kind != "boundary")  # queries in a half-space
    if "boundary" in kind:
        # zero on a face of the queries' hull: an opposite pair, everything else on one side
        tokens[:, -1] = np.abs(tokens[:, -1])
        tokens[1, -1], tokens[-1] = 0, -tokens[1]
        if kind == "near boundary":
            tokens[[1, -1], -1] = 2.0 ** -int(rng.integers(20, 60))
    causal = bool(rng.integers(2))
    if case % 5 == 4:
        pairs = [(i, j) for i in range(size + 1) for j in range(1, size + 1) if rng.random() < 0.5]
    else:
        pairs = [(int(i), int(j)) for i, j in sink_pairs(size + 1, 0, causal)]
    x = exact(tokens)
    rows = [[a * (s - b) for a in x[i] for s, b in zip(x[0], x[j])] for i, j in pairs or [(1, 1)]]
    return kind, rows


def widest_margin(rows) -> float:
    """max t with <u, row> >= t for rows scaled to length one, |u| <= 1 entrywise; NaN unless solved."""
    table = np.array(rows, dtype=float)
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-300)
    normal, margin = cp.Variable(table.shape[1]), cp.Variable()
    problem = cp.Problem(cp.Maximize(margin), [table @ normal >= margin, cp.norm_inf(normal) <= 1])
    problem.solve(solver=cp.CLARABEL)
    return float(margin.value) if problem.status == cp.OPTIMAL else float("nan")


@pytest.mark.slow
def test_four_hundred_pair_problems_have_exactly_one_certificate_and_agree_with_a_linear_program():
    rng = np.random.default_rng(2)
    answers, decisive, boundary = [], 0, 0
    for case in range(COUNT):
        kind, rows = pair_problem(rng, case)
        answer, witness = gordan_witness(rows)
        assert proves(rows, answer, witness), (case, kind)
        assert list(witness) == (["normal"] if answer else ["weights"])
        margin = widest_margin(rows)
        # below 1e-9 a linear program says "no" reliably only where tiny margins cannot occur
        if margin > 1e-6 or (margin < 1e-7 and kind != "near boundary"):
            decisive += 1
            assert (margin > 1e-6) is answer, (case, kind, margin)
        answers.append(answer)
        boundary += not answer and len(witness["weights"]) <= len(rows[0])
    assert min(sum(answers), COUNT - sum(answers)) >= 80, "both sides must be well represented"
    assert boundary >= 40, "zero on a lower face, where floats alone cannot tell, must be well represented"
    assert decisive >= 320, "the linear program must have an opinion most of the time"


def test_the_rational_simplex_method_decides_what_the_float_route_decides():
    rng = np.random.default_rng(5)
    for case in range(60):
        rows = rng.integers(-2, 3, size=(int(rng.integers(1, 9)), int(rng.integers(1, 4)))).tolist()
        rows = [row for row in rows if any(row)] or [[1]]
        separated, answer = _simplex(rows)
        assert separated is gordan_witness(rows)[0]
        assert proves(rows, separated, {"normal": answer} if separated else {"weights": answer})


@pytest.mark.parametrize("shift, answer",
                         [(0, False), (Fraction(1, 2**80), True), (Fraction(-1, 2**80), False)])
def test_a_hull_at_distance_two_to_the_minus_eighty_is_decided(shift, answer):
    rows = [[1, shift], [-1, shift], [Fraction(1, 3), 1]]
    found, witness = gordan_witness(rows)
    assert found is answer and proves(rows, found, witness)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(1, 3).flatmap(lambda dim: st.lists(
    st.lists(st.one_of(st.integers(-3, 3), st.floats(-2, 2, width=16)), min_size=dim, max_size=dim),
    min_size=1, max_size=7)))
def test_every_small_table_of_rows_gets_a_witness(rows):
    answer, witness = gordan_witness(rows)
    assert proves(rows, answer, witness)


def test_permuting_and_rescaling_rows_by_positive_numbers_does_not_change_the_answer():
    rng = np.random.default_rng(7)
    for _ in range(20):
        rows = rng.integers(-2, 3, size=(6, 3)).tolist()
        other = [[Fraction(entry * (k + 1), 7) for entry in rows[k]] for k in rng.permutation(6)]
        assert gordan_witness(rows)[0] is gordan_witness(other)[0]


def test_a_zero_row_is_by_itself_the_weights():
    assert gordan_witness([[1, 2], [0, 0.0]]) == (False, {"weights": {1: 1}})


@pytest.mark.parametrize("rows", [[], [[]], [[1], [1, 2]], [[float("nan")]], [[float("inf"), 1]], [["x"]],
                                  [[None]]])
def test_what_is_not_a_table_of_finite_numbers_is_refused_in_one_sentence(rows):
    with pytest.raises(ValueError, match="expected .*; pass"):
        gordan_witness(rows)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_cloud_in_a_half_space_gets_a_float_normal_and_a_surrounding_one_a_basis(dtype):
    rng = np.random.default_rng(3)
    cloud = rng.normal(size=(300, 12)).astype(dtype)
    answer, witness = cloud_witness(cloud)
    assert answer is False and len(witness["basis"]) == 13
    assert kernel_says(cloud, witness) is False
    cloud[:, 0] = np.abs(cloud[:, 0]) + dtype(0.01)
    answer, witness = cloud_witness(cloud)
    assert answer is True and proves(cloud, answer, witness)


def test_a_shifted_cloud_is_decided_about_the_shift():
    cloud = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    for shift, answer in (([0.25, 0.25], False), ([0.5, 0.5], False), ([0.75, 0.75], True)):
        found, witness = cloud_witness(cloud, np.array(shift))
        assert found is answer and kernel_says(cloud - np.array(shift), witness) is answer


def test_zero_on_a_lower_face_of_a_cloud_gets_exact_weights():
    rng = np.random.default_rng(4)
    cloud = rng.integers(-8, 9, size=(200, 40)).astype(float)
    cloud[:, 0] = np.abs(cloud[:, 0]) + 1
    cloud[3, 0] = 0
    cloud[5] = -2 * cloud[3]
    answer, witness = cloud_witness(cloud)
    assert answer is False and witness["weights"] == {3: Fraction(2, 3), 5: Fraction(1, 3)}


def test_a_large_cloud_that_floats_cannot_decide_stays_undecided():
    rng = np.random.default_rng(6)
    cloud = rng.integers(-8, 9, size=(80, 70)) * 2.0**48
    cloud[40] = -cloud[3]
    cloud[:, 0] = 1  # the only direction that separates, by one part in 2^51
    cloud = cloud @ (np.eye(70) + np.eye(70, k=1))  # exact, and now no axis separates
    assert cloud_witness(cloud) == (None, {})
