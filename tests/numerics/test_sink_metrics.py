"""Sink scores: exact values on patterns, and that the convention decides the verdict."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from numerics.attention import (
    banded_attention, causal_uniform_attention, diagonal_attention, sink_attention, uniform_attention)
from numerics.sink_metrics import MEASURES, THRESHOLDS, column_mass, diagonal_mass, importance, sink_score

SIZES = (1, 2, 3, 7, 40)


def harmonic(size: int) -> Fraction:
    return sum((Fraction(1, i) for i in range(1, size + 1)), Fraction(0))


@pytest.mark.parametrize("size", SIZES)
def test_a_diagonal_scores_one_over_the_rows_from_its_own_on(size):
    np.testing.assert_allclose(importance(np.asarray(diagonal_attention(size))), 1 / (size - np.arange(size)),
                               rtol=1e-14)


@pytest.mark.parametrize("size", SIZES)
def test_causal_uniform_attention_has_harmonic_mass_on_token_one(size):
    rows = np.asarray(causal_uniform_attention(size))
    assert column_mass(rows)[0] == pytest.approx(float(harmonic(size) / size), rel=1e-13)
    assert importance(rows)[0] == pytest.approx(column_mass(rows)[0], rel=1e-13)
    if size > 1:
        expected = float((harmonic(size) - 1) / (size - 1))
        assert column_mass(rows, first_row=False)[0] == pytest.approx(expected, rel=1e-13)
        assert importance(rows, first_row=False)[0] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("size", SIZES)
def test_uniform_attention_has_mass_one_over_t_everywhere(size):
    np.testing.assert_allclose(column_mass(np.asarray(uniform_attention(size))), 1 / size, rtol=1e-13)


@pytest.mark.parametrize("first_row", [True, False])
def test_a_pure_sink_has_all_the_mass_with_and_without_the_first_row(first_row):
    rows = np.asarray(sink_attention(5))
    assert column_mass(rows, first_row=first_row).tolist() == [1, 0, 0, 0, 0]
    assert importance(rows, first_row=first_row).tolist() == [1, 0, 0, 0, 0]


def test_a_band_scores_as_a_diagonal_where_it_fits():
    size, width = 9, 3
    scores = importance(np.asarray(banded_attention(size, width, causal=True)))
    fits = np.arange(width - 1, size - width + 1)
    np.testing.assert_allclose(scores[fits], 1 / (size - fits), rtol=1e-13)
    assert scores[-1] == pytest.approx(1 / 3)  # not 1: the last key is seen by one row, which looks at three


def test_the_diagonal_passes_at_a_low_threshold_in_the_last_three_positions_only():
    for size in range(4, 40):
        passing = importance(np.eye(size)) > 0.3
        assert np.flatnonzero(passing).tolist() == [size - 3, size - 2, size - 1]


@pytest.mark.parametrize(("first_row", "longest"), [(True, {0.3: 9, 0.8: 1}), (False, {0.3: 5, 0.8: 0})])
def test_causal_uniform_attention_passes_up_to_the_stated_length(first_row, longest):
    sizes = range(1 if first_row else 2, 60)
    # in numpy, for jax would compile causal_uniform_attention anew for each size
    rows = {size: np.tri(size) / np.arange(1, size + 1)[:, None] for size in sizes}
    np.testing.assert_allclose(rows[7], causal_uniform_attention(7), rtol=1e-15)
    for threshold in THRESHOLDS:
        scores = {size: sink_score([rows[size]], threshold=threshold, first_row=first_row) for size in sizes}
        passes = [size for size, score in scores.items() if score.mean_passes]
        assert max(passes, default=0) == longest[threshold]


def test_the_mean_and_the_share_of_sequences_can_disagree():
    short, long = np.asarray(sink_attention(3)), np.asarray(diagonal_attention(4))
    found = sink_score([short, short, long], threshold=0.8)
    assert found.share == pytest.approx(2 / 3) and not found.mean_passes
    assert found.sequences == (1.0, 1.0, 0.25) and found.mean == pytest.approx(0.75)


def test_diagonal_mass_reads_the_diagonal_with_and_without_the_first_row():
    rows = np.array([[1.0, 0, 0], [0.5, 0.5, 0], [0.5, 0.25, 0.25]])
    assert diagonal_mass(rows) == pytest.approx(1.75 / 3)
    assert diagonal_mass(rows, first_row=False) == pytest.approx(0.375)


@pytest.mark.parametrize("measure", MEASURES)
def test_the_convention_names_measure_threshold_and_first_row(measure):
    text = sink_score([np.eye(3)], measure=measure, threshold=0.8, first_row=False).convention
    assert measure in text and "0.8" in text and "row 0 excluded" in text and "strictly" in text


def test_a_negative_key_counts_from_the_end():
    assert sink_score([np.eye(4), np.eye(6)], key=-1).sequences == (1.0, 1.0)


@pytest.mark.parametrize(("arguments", "message"), [
    ({"attentions": []}, "at least one sequence"), ({"measure": "peak"}, "measure among"),
    ({"threshold": 0.0}, "threshold"),
    ({"threshold": float("nan")}, "threshold"), ({"key": 3}, "every sequence has"), ({"key": -4}, "every sequence has"),
    ({"attentions": [np.ones((3, 3))]}, "simplex"), ({"attentions": [np.full((3, 3), np.nan)]}, "finite entries"),
    ({"attentions": [np.full((2, 4), 0.25)]}, "square"),
    ({"attentions": [np.eye(1)], "first_row": False}, "two tokens")])
def test_bad_input_is_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        sink_score(**{"attentions": [np.eye(3)], **arguments})
