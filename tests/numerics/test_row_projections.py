import numpy as np
import pytest
from scipy.special import logsumexp

from numerics.row_projections import project_margin_rows, project_mass_rows

ROWS, KEYS = 7, 6


def instance(seed):
    rng = np.random.default_rng(seed)
    logits = rng.standard_normal((ROWS, KEYS)) * rng.choice([0.1, 1.0, 30.0], (ROWS, 1))
    favoured = rng.integers(KEYS, size=ROWS)
    competitors = rng.random((ROWS, KEYS)) < 0.6
    competitors[np.arange(ROWS), favoured] = False
    competitors[np.arange(ROWS), (favoured + 1) % KEYS] = True
    return logits, favoured, competitors, rng


def lead_over(logits, favoured):
    return logits[np.arange(len(favoured)), favoured][:, None] - logits


@pytest.mark.parametrize("seed", range(10))
def test_margin_projection_is_feasible_with_a_dual_that_proves_it_nearest(seed):
    logits, favoured, competitors, rng = instance(seed)
    margin = rng.uniform(0.1, 2.0, ROWS)
    projected = project_margin_rows(logits, favoured, competitors, margin)
    slack = np.where(competitors, lead_over(projected, favoured) - margin[:, None], np.inf)
    dual = np.where(competitors, logits - projected, 0.0)
    assert slack.min() >= -1e-10
    assert dual.min() >= -1e-10
    moved = logits - projected
    assert np.abs(moved.sum(axis=1)).max() <= 1e-9  # what competitors lose the favoured key gains
    assert np.abs(dual * np.where(competitors, slack, 0.0)).max() <= 1e-8
    others = ~competitors
    others[np.arange(ROWS), favoured] = False
    assert (moved[others] == 0.0).all()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("scale", [1.0, 0.2])
def test_mass_projection_is_feasible_with_a_dual_that_proves_it_nearest(seed, scale):
    logits, favoured, competitors, rng = instance(seed)
    log_odds = rng.uniform(-1.0, 4.0, ROWS)
    scales = np.full(ROWS, scale)
    projected = project_mass_rows(logits, favoured, competitors, log_odds, scales)
    gaps = np.where(competitors, -lead_over(projected, favoured) / scale, -np.inf)
    excess = logsumexp(gaps, axis=1) + log_odds
    assert excess.max() <= 1e-9
    moved = logits - projected
    weights = np.exp(gaps - logsumexp(gaps, axis=1, keepdims=True))
    multiplier = np.where(competitors, moved, 0.0).sum(axis=1)
    assert multiplier.min() >= -1e-12
    assert np.abs(np.where(competitors, moved, 0.0) - multiplier[:, None] * weights).max() <= 1e-7
    assert np.abs(multiplier * excess).max() <= 1e-7
    assert np.abs(moved.sum(axis=1)).max() <= 1e-9


def test_rows_that_hold_already_are_left_alone():
    logits = np.array([[5.0, 0.0, 0.0]])
    favoured, competitors = np.array([0]), np.array([[False, True, True]])
    assert (project_margin_rows(logits, favoured, competitors, np.array([1.0])) == logits).all()
    assert (project_mass_rows(logits, favoured, competitors, np.array([1.0]), np.ones(1)) == logits).all()
