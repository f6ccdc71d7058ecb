"""C8: its headline, its false neighbours, and the statements behind its parts."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import numpy as np
import pytest

from numerics.diagonal_bound import diagonal_cost
from proofs_check.claims.costs import c8
from theory.scaling import Cell, total_order

IDS = ("C8",)


@pytest.mark.slow
def test_c8_is_proved_without_rocq(run):
    result = run[1]["C8"]
    assert not result.rejected and not result.troubles
    assert (result.verdict.headline, result.verdict.grade, result.verdict.scope) == ("PROVED", "exact", "as stated")


@pytest.mark.slow
def test_every_false_neighbour_of_c8_is_refuted_and_every_assumption_of_its_orders_is_needed(run, unneeded):
    (row,) = [row for row in run[2]["claims"] if row["id"] == "C8"]
    assert row["neighbours"]["survivors"] == [] and row["neighbours"]["planted"] == row["neighbours"]["killed"] == 13
    assert {name for claim, _, name in unneeded if claim == "C8"} == {"unit tokens", "distinct"}


def test_the_statement_names_the_orders_that_its_parts_prove():
    found = {label: tuple(str(total_order(cell, pattern)) for pattern in ("sink", "diagonal"))
             for label, cell in c8.CELLS.items()}
    assert found == {
        "unit norm, 1/√d, p=1": ("T", "T^(3/2)"), "unit norm, 1/√d, p=2": ("T", "T"),
        "unit norm, 1/√d, p=∞": ("T", "T^(1/2)"),
        "unit norm, 1/√d, p=1, mass": ("T log T", "T^(3/2) log T"),
        "unit norm, 1/√d, p=1, correlated": ("T", "T^(3/2)"),
        "unit norm, 1/√d, p=1, touching": ("T", "T^(3/2)"), "unit norm, κ=1, product": ("T", "T^(3/2)"),
        "LayerNorm, 1/√d, p=1, ω=1": ("T^(1/2)", "T^(1/2)"), "LayerNorm, 1/√d, p=1, ω=1/√d": ("1", "T^(1/2)"),
        "LayerNorm, 1/√d, p=1, ω=√d": ("T", "T"), "unit norm, 1/√d, p=1, ρ=c/√T": ("T", "T^(3/2)"),
        "QK alone, ρ=c/√T": ("T^(3/4)", "T^(3/2)"), "QK alone, ρ=c/T²": ("T", "T^(3/2)")}
    assert c8.CELLS["unit norm, 1/√d, p=∞"] == Cell(exponent=inf, value_exponent=inf)


def test_the_solver_lies_between_the_two_bounds_for_unit_tokens():
    for x in c8.CLOUDS:
        tokens = np.array([[float(entry) for entry in row] for row in x])
        count, dim = tokens.shape
        gram, centred = tokens @ tokens.T, tokens - tokens.mean(axis=0)
        top = gram[~np.eye(count, dtype=bool)].max()
        found = diagonal_cost(tokens, "nuclear", margin=1.0, tolerance=1e-6)
        assert (count - 1) / np.linalg.norm(centred, 2) ** 2 <= found.upper * (1 + 1e-9)
        assert found.lower <= dim / (1 - top) * (1 + 1e-9)


def test_stereographic_tokens_are_exact_unit_vectors():
    assert all(sum(entry**2 for entry in row) == 1 for x in c8.CLOUDS for row in x)
    assert c8.unit(Fraction(1, 2)) == [Fraction(4, 5), Fraction(3, 5)]
