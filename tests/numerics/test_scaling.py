"""Points of a sweep against closed forms, fits against planted laws, and the store of points."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace

import numpy as np
import pytest

from numerics.scaling import Job, Point, measure, sweep_jobs
from numerics.scaling_clouds import CLOUDS, Geometry, Reservoir, exchangeable_tokens, geometry_tokens
from numerics.scaling_fit import Symbolic, fit_exponent
from numerics.scaling_plots import Curve, log_ticks, phase_figure, png, scaling_figure
from numerics.sweep import job_digest, load_point, point_path, run_sweep

CORRELATED = Geometry("correlated", 0.3, 0.0, 0.1, 1.2)
JOB = Job(CORRELATED, 6, 0, "qk", "diagonal", "nuclear", "margin", 1.0, 0, 1e-3, 60.0)
SIZES = (8, 16, 32, 64, 128)


def write(path, content):
    temporary = path.with_name(".writing-test")
    temporary.write_bytes(content)
    os.replace(temporary, path)


@pytest.mark.parametrize("rho, beta, sigma", [(0.0, 0.0, 1.0), (0.3, 0.1, 1.2), (0.5, -0.4, 0.7),
                                              (0.3, 0.3, math.sqrt(0.3))])
def test_exchangeable_tokens_have_their_inner_products(rho, beta, sigma):
    tokens, sink = exchangeable_tokens(5, rho, beta, sigma)
    assert tokens @ tokens.T == pytest.approx(np.full((5, 5), rho) + (1 - rho) * np.eye(5))
    assert tokens @ sink == pytest.approx(np.full(5, beta)) and sink @ sink == pytest.approx(sigma**2)


@pytest.mark.parametrize("geometry, rho, beta, sigma", [
    (Geometry("orthonormal"), 0.0, 0.0, 1.0), (CORRELATED, 0.3, 0.1, 1.2),
    (Geometry("touching", 0.3), 0.3, 0.3, math.sqrt(0.3)),
    (Geometry("fading", 0.6, 0.5, sigma=1.5), 0.6 / math.sqrt(6), 0.0, 1.5)])
def test_points_enclose_the_closed_forms(geometry, rho, beta, sigma):
    mean = rho + (1 - rho) / 6
    last = 1 - rho + 6 * (rho - beta**2 / sigma**2)
    expected = {
        ("qk", "sink", "every"): 1 / math.sqrt(mean * (sigma**2 - 2 * beta + mean)),
        ("qk", "diagonal", "nuclear"): 5 / (1 - rho), ("qk", "diagonal", "frobenius"): math.sqrt(5) / (1 - rho),
        ("qk", "diagonal", "spectral"): 1 / (1 - rho),
        ("value", "sink", "nuclear"): 5 / math.sqrt(1 - rho) + 1 / math.sqrt(last),
        ("value", "diagonal", "frobenius"): math.sqrt(5 / (1 - rho) + 1 / (1 + 5 * rho)),
    }
    for (side, pattern, norm), value in expected.items():
        form = "margin" if side == "qk" else ""
        job = replace(JOB, geometry=geometry, side=side, pattern=pattern, norm=norm, form=form)
        point = measure(job)
        assert point.lower <= value * (1 + 1e-12) and value * (1 - 1e-12) <= point.upper and point.gap <= 1e-3


def test_independent_tokens_are_unit_in_dimension_t_and_fixed_by_seed_size_and_draw():
    tokens, sink = geometry_tokens(Geometry("independent"), 6, 0, 0)
    assert tokens.shape == (6, 6) and np.linalg.norm([*tokens, sink], axis=1) == pytest.approx(np.ones(7))
    again, other = (geometry_tokens(Geometry("independent"), 6, 0, draw)[0] for draw in (0, 1))
    assert np.array_equal(tokens, again) and not np.allclose(tokens, other)


@pytest.mark.parametrize("beta", [0.0, 0.2])
def test_a_common_direction_gives_the_sink_its_bounds_whatever_the_draw(beta):
    geometry = Geometry("common", 0.4, 0.0, beta, 0.9)
    for draw in range(3):
        tokens, sink = geometry_tokens(geometry, 7, 5, draw)
        assert np.linalg.norm(tokens, axis=1) == pytest.approx(np.ones(7))
        assert tokens @ sink == pytest.approx(np.full(7, beta)) and sink @ sink == pytest.approx(0.81)
        assert tokens[:, 0] == pytest.approx(np.full(7, math.sqrt(0.4)))
        excess = 0.81 - 2 * beta + 0.4
        point = measure(replace(JOB, geometry=geometry, pattern="sink", norm="every", draw=draw, tokens=7))
        assert 1 / (1 + excess) <= point.upper and point.lower <= 1 + 1 / (0.4 * excess)
        job = replace(JOB, geometry=geometry, side="value", pattern="sink", form="", tokens=7)
        assert measure(job).status == "independent"


def test_real_tokens_are_different_rows_fixed_by_seed_size_and_draw():
    pool = Reservoir(np.arange(40, dtype=np.float32).reshape(20, 2), np.zeros(2, dtype=np.float32))
    rows, sink = pool.draw(8, 3, 1)
    assert len(np.unique(rows, axis=0)) == 8 and sink is pool.sink and rows.dtype == np.float32
    assert np.array_equal(rows, pool.draw(8, 3, 1)[0]) and not np.array_equal(rows, pool.draw(8, 3, 2)[0])
    moved = Reservoir(pool.tokens + np.float32(1), pool.sink)
    assert pool.digest != moved.digest == Reservoir(moved.tokens.copy(), pool.sink).digest
    with pytest.raises(ValueError, match="at most 20 tokens"):
        pool.draw(21, 0, 0)


def test_a_real_job_is_measured_on_the_rows_beside_it():
    rows, sink = np.eye(3, 5), np.eye(5)[4]
    job = replace(JOB, geometry=Geometry("real", source="x"), tokens=3)
    point = measure(job, (rows, sink))
    assert point.lower <= 2.0 <= point.upper * (1 + 1e-12) and point.gap <= 1e-3
    with pytest.raises(ValueError, match="draw them from a Reservoir"):
        measure(job)


@pytest.mark.parametrize("geometry, words", [
    (Geometry("correlated", 1.0), "0 <= rho < 1"), (Geometry("correlated", 0.3, beta=5.0), "no such sink exists"),
    (Geometry("common", 0.1, beta=0.5), "no such tokens exist"), (Geometry("common", 0.0), "0 < rho < 1")])
def test_tokens_that_do_not_exist_are_one_sentence(geometry, words):
    with pytest.raises(ValueError, match=words):
        measure(replace(JOB, geometry=geometry))


def test_an_unknown_cloud_is_one_sentence():
    with pytest.raises(ValueError, match="expected a cloud among orthonormal, .* got 'spiral'"):
        Geometry("spiral")


def test_jobs_have_a_value_side_where_there_is_room_and_draws_where_there_is_chance():
    jobs = sweep_jobs([Geometry(cloud) for cloud in CLOUDS], (4, 9), ("nuclear",), {"margin": 1.0}, draws=2, dim=8)
    with_values = {(job.geometry.cloud, job.tokens) for job in jobs if job.side == "value"}
    assert {cloud for cloud, _ in with_values} == set(CLOUDS) - {"independent"} and ("real", 9) not in with_values
    assert {job.geometry.cloud for job in jobs if job.draw == 1} == {"common", "independent", "real"}
    assert len(set(jobs)) == len(jobs)


def test_an_impossible_pattern_is_refused_not_measured():
    alone = Geometry("correlated", 0.0, beta=1 / 6, sigma=math.sqrt(1 / 6))
    with pytest.raises(ValueError, match="leave that point out"):
        measure(replace(JOB, pattern="sink", norm="every", geometry=alone))


def brackets(law, width=0.0, draws=1, noise=0.0):
    rng = np.random.default_rng(1)
    return {size: [(value * (1 - width), value * (1 + width))
                   for value in law(size) * np.exp(noise * rng.standard_normal(draws))]
            for size in SIZES}


@pytest.mark.parametrize("exponent", [-0.5, 0.0, 0.5, 1.0, 1.5])
def test_a_pure_power_is_consistent_with_its_exponent_and_inconsistent_half_a_power_off(exponent):
    costs = brackets(lambda t: 3.0 * t**exponent, 1e-4)
    fit = fit_exponent(costs, Symbolic(exponent))
    assert fit.measured == pytest.approx(exponent, abs=1e-9) and fit.verdict == "consistent"
    assert fit.local == pytest.approx([exponent] * 4)
    for wrong in (exponent - 0.5, exponent + 0.5):
        assert fit_exponent(costs, Symbolic(wrong)).verdict == "inconsistent"


def test_a_law_that_still_bends_is_not_identified():
    costs = brackets(lambda t: t / (1 + 8 * t**-0.5))
    fit = fit_exponent(costs, Symbolic(1.0))
    assert fit.verdict == "not identifiable" and fit.measured > 1.05 and fit.corrected[0] < 1.02


def test_a_log_factor_is_divided_out_and_the_held_out_size_prefers_it():
    costs = brackets(lambda t: t * (2 + math.log(t)))
    fit = fit_exponent(costs, Symbolic(1.0, 1, 2.0))
    assert fit.measured == pytest.approx(1.0, abs=1e-9) and fit.verdict == "consistent"
    assert abs(fit.held_out["symbolic"]) < 1e-9
    without = fit_exponent(costs, Symbolic(1.0))
    assert abs(without.held_out["symbolic"]) > 0.05


def test_the_held_out_size_says_whether_there_is_a_log_factor():
    with_log, without = brackets(lambda t: t * (2 + math.log(t))), brackets(lambda t: 3.0 * t**1.5)
    assert fit_exponent(with_log, Symbolic(1.0, 1, 2.0)).log == "yes" and fit_exponent(with_log, Symbolic(1.0)).held_out
    assert fit_exponent(without, Symbolic(1.5, 1, 2.0)).log == fit_exponent(without, None).log == "no"
    assert fit_exponent(brackets(lambda t: t, 0.2), None).log == ""


def test_the_interval_grows_with_brackets_and_draws():
    narrow, wide, noisy = (fit_exponent(brackets(lambda t: t, *item), Symbolic(1.0)).interval for item in
                           ((0.0,), (0.05,), (0.0, 5, 0.1)))
    assert narrow[1] - narrow[0] < 1e-12 < wide[1] - wide[0] and noisy[1] - noisy[0] > 0.01
    assert fit_exponent(brackets(lambda t: t), None).verdict == ""


@pytest.mark.parametrize("costs", [{8: [(1, 1)]}, {size: [(0.0, 1.0)] for size in SIZES},
                                   {size: [(2.0, 1.0)] for size in SIZES},
                                   {size: [(math.nan, 1.0)] for size in SIZES}])
def test_a_fit_needs_four_sizes_and_positive_brackets(costs):
    with pytest.raises(ValueError, match="expected"):
        fit_exponent(costs, None)


def small_jobs():
    return sweep_jobs((Geometry("orthonormal"),), (4, 5), ("nuclear",), {"margin": 1.0}, draws=1)


def test_a_finished_point_is_read_and_not_measured_again(tmp_path):
    jobs = small_jobs()
    first = sorted(run_sweep(jobs, tmp_path, write), key=lambda point: point.job)
    stamps = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")}
    assert len(stamps) == len(jobs) == 8
    again = sorted(run_sweep(jobs + jobs, tmp_path, write), key=lambda point: point.job)
    assert again == first and stamps == {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.json")}


@pytest.mark.parametrize("damage", [
    lambda text: text[: len(text) // 2], lambda text: "", lambda text: "[]",
    lambda text: text.replace('"rho": 0.3', '"rho": 0.4'),
    lambda text: json.dumps({**json.loads(text), "lower": "nan"}),
    lambda text: json.dumps({**json.loads(text), "upper": "inf"}),
    lambda text: json.dumps({**json.loads(text), "lower": "0x1p+9"}),
    lambda text: json.dumps({**json.loads(text), "schema": "x"})])
def test_a_damaged_or_foreign_point_is_not_read(tmp_path, damage):
    point = Point(JOB, 1.0, 2.0, "bounded", 0.1)
    path = point_path(tmp_path, JOB)
    path.write_text(json.dumps({"schema": "sinkproof/point/2", **point.record()}))
    assert load_point(tmp_path, JOB) == point
    path.write_text(damage(path.read_text()))
    assert load_point(tmp_path, JOB) is None


def test_a_failed_job_ends_the_sweep_and_leaves_what_was_finished(tmp_path):
    (tmp_path / ".writing-half").write_text("{")
    good = small_jobs()[:2]
    list(run_sweep(good, tmp_path, write))
    with pytest.raises(ValueError, match="0 <= rho < 1"):
        list(run_sweep([*good, replace(JOB, geometry=Geometry("correlated", 2.0))], tmp_path, write))
    assert {path.name for path in tmp_path.iterdir()} == {f"{job_digest(job)}.json" for job in good}


def test_every_setting_of_a_job_changes_its_digest():
    changes = {"tokens": 7, "draw": 1, "side": "value", "pattern": "sink", "norm": "spectral",
               "form": "mass", "level": 0.5, "seed": 1, "tolerance": 1e-2, "time_limit": 1.0}
    geometry = {"cloud": "touching", "rho": 0.2, "decay": 1.0, "beta": 0.0, "sigma": 1.0, "source": "x"}
    jobs = [replace(JOB, **{name: value}) for name, value in changes.items()]
    jobs += [replace(JOB, geometry=replace(CORRELATED, **{name: value})) for name, value in geometry.items()]
    assert len({job_digest(job) for job in [JOB, *jobs]}) == len(jobs) + 1
    assert {*changes, "geometry"} == set(Job.__dataclass_fields__)
    assert set(geometry) == set(Geometry.__dataclass_fields__)


def test_pictures_are_png_files_that_depend_on_what_they_are_given():
    costs = brackets(lambda t: t)
    first, second = (png(scaling_figure([("nuclear", {"sink": Curve(costs, slope, 1.0)})], "title"))
                     for slope in (1.0, 1.2))
    assert first.startswith(b"\x89PNG") and first != second
    grid = np.linspace(-1, 1, 5)[:, None] + np.zeros((5, 4))
    maps = [png(phase_figure(np.arange(4.0), np.arange(5.0), grid, points, curve, ("x", "y"), "title", "self"))
            for points, curve in (([], []), ([(1.0, 2.0, "sink"), (2.0, 3.0, "open")], []), ([], [(1.0, 2.0)]))]
    assert maps[0].startswith(b"\x89PNG") and len(set(maps)) == 3


def test_bars_say_what_they_are_and_the_fit_is_drawn_where_it_was_fitted():
    sizes = (8, 16, 32, 64, 128, 256)
    draws = {size: [(factor * size, factor * size * 1.001) for factor in (1.0, 1.3)] for size in sizes}
    once = {size: found[:1] for size, found in draws.items()}
    axes = scaling_figure([("nuclear", {"sink": Curve(draws, 1.0, None), "diagonal": Curve(once, 1.0, 1.0)})],
                          "title").axes[0]
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "sink: range over draws, each certified to 0.1%" in labels and "diagonal: certified to 0.1%" in labels
    fits = [line for line in axes.lines if str(line.get_label()).startswith("fit to these points, T ≥ 64: slope 1.000")]
    assert len(fits) == 2 and all(list(line.get_xdata()) == [64, 128, 256] for line in fits)
    assert sum(str(line.get_label()).startswith("theory") for line in axes.lines) == 1


def test_costs_that_do_not_grow_look_equal_and_have_ticks():
    costs = {size: [(1.0, 1.0 + 1e-9 * size)] for size in (8, 16, 32, 64)}
    axes = scaling_figure([("spectral", {"sink": Curve(costs, 0.0, 0.0)})], "title").axes[0]
    low, high = axes.get_ylim()
    assert high / low == pytest.approx(2.0) and sum(low <= tick <= high for tick in axes.get_yticks()) >= 2


@pytest.mark.parametrize(("low", "high", "ticks"), [
    (8, 1200, [10, 100, 1000]), (8, 60, [10, 20, 50]), (3.1, 4.9, [3.5, 4.0, 4.5]), (61, 81, [70, 80]),
    (0.5, 20, [1, 10]),
])
def test_a_log_axis_has_at_least_two_round_ticks(low, high, ticks):
    assert log_ticks(low, high) == pytest.approx(ticks)
