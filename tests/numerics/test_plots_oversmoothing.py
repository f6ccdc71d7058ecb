"""Figures of family O: they draw what they are given, the same input gives the same bytes, and the notes' pictures
exist."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from numerics import plots_oversmoothing as plots
from numerics.moments import depth_curve

ROOT = Path(__file__).resolve().parents[2]
T = np.linspace(0, 1, 5)


def mix(peak: float | None):
    return plots.mix_figure(T, T, T**2, T**2 + 0.01, 0.02 + 0 * T, peak, 0.3, "title", 0.99)


def test_the_mix_figure_marks_t_star_only_where_there_is_one():
    (axes,) = mix(0.4).axes
    assert [text.get_text() for text in axes.texts] == ["t* = 0.4"]
    (flat,) = mix(None).axes
    assert not flat.texts and len(flat.lines) < len(axes.lines)


def test_the_same_figure_gives_the_same_bytes_and_another_one_other_bytes():
    assert plots.png(mix(0.4)) == plots.png(mix(0.4)) != plots.png(mix(0.6))
    assert plots.png(mix(0.4)).startswith(b"\x89PNG")


def test_the_depth_figure_draws_the_theory_and_the_means():
    theory = depth_curve(0.1, 0.25, 4, 8)
    (axes,) = plots.depth_figure(theory, theory + 0.01, theory - 0.1, theory + 0.1, "title").axes
    drawn = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert np.allclose(drawn["simulated mean"], theory + 0.01)
    assert np.allclose(drawn["recursion, d → ∞ (O8)"], theory)


def test_a_pair_without_spread_has_no_predicted_curve():
    rng = np.random.default_rng(0)
    cosines = 0.5 + 0.01 * rng.standard_normal(200)
    (spread,) = plots.histogram_figure(cosines, 0.5, 0.01, "title").axes
    (sure,) = plots.histogram_figure(cosines, 0.5, 0.0, "title").axes
    assert len(spread.lines) == 2 and len(sure.lines) == 1
    assert len(plots.histogram_edges(rng.standard_cauchy(4000))) <= 81


def test_every_head_is_inside_the_regions_figure():
    tau, phi = np.array([-0.8, 0.1, 2.0]), np.array([1.0, 0.02, 30.0])
    (axes,) = plots.regions_figure({"head": (tau, phi)}, "title").axes
    (low, high), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert low < tau.min() and tau.max() < high and bottom < phi.min() and phi.max() < top
    assert [text.get_text() for text in axes.texts] == ["0", "1", "2"]


def test_the_heads_of_the_packaged_layer_satisfy_cauchy_schwarz_in_both_conventions():
    found = plots.smollm2_head_statistics()
    assert len(found) == 2
    for tau, phi in found.values():
        assert tau.shape == phi.shape == (9,) and np.all(tau**2 <= phi)


@pytest.mark.slow
def test_depth_patterns_follow_the_recursion_at_a_small_size():
    for name, (theory, run) in plots.depth_patterns(8, 128, layers=6, draws=128).items():
        assert np.all(np.abs(run.mean_cosine.mean - theory) < 0.05), name


def test_the_pictures_of_the_notes_are_in_the_tree_and_small():
    files = {path.name: path.stat().st_size for path in (ROOT / "notes" / "pictures").glob("O*.png")}
    assert {"O1-embeddings.png", "O4-regions.png", "O8-depth.png"} <= set(files)
    assert all(size < 150_000 for size in files.values())
