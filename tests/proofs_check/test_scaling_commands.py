"""`sinkproof scale` and `sinkproof phase`: what they write, that a killed sweep loses nothing, bad input."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from math import inf, log
from pathlib import Path

import click
import numpy as np
import pytest
import sympy
from click.testing import CliRunner
from pyarrow import parquet
from test_cli import one_sentence, sinkproof

from numerics.copy_cost import off_at_self, off_at_sink
from numerics.scaling import Point
from numerics.scaling_phase import boundary, certify, log_advantage, sample_sides
from proofs_check import scaling
from proofs_check.commands.phase import phase
from proofs_check.commands.scale import scale
from proofs_check.inputs import BadInput
from theory.costs_exchangeable import diagonal_cost, sink_cost
from theory.costs_value import last_eigenvalue, value_cost
from theory.scaling import GEOMETRIES, PATTERNS, Cell, table, total_order

SIZES = "5,8,12,16,24"
SMALL = ("--sizes", SIZES, "--cloud", "orthonormal", "--cloud", "independent", "--draws", "2", "--omega", "1",
         "--omega", "sqrt")


def run(command, *arguments: object, out: Path) -> tuple[int, dict]:
    result = CliRunner().invoke(command, [*map(str, arguments), "--out", str(out), "--json"], standalone_mode=False,
                                catch_exceptions=False)
    return result.return_value, json.loads(result.stdout)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    out = tmp_path_factory.mktemp("scale")
    return out, run(scale, *SMALL, out=out)


def test_scale_writes_points_exponents_and_pictures(swept):
    out, (code, document) = swept
    assert code == 0 and document["wide"] == 0
    assert {"T", "pattern", "norm", "lower", "upper"} <= set(document["points"][0])
    assert all(0 < row["lower"] <= row["upper"] for row in document["points"])
    assert {"pattern", "norm", "symbolic", "measured", "interval", "verdict"} <= set(document["exponents"][0])
    assert json.loads((out / "scale.json").read_text()) == document
    with (out / "scale-points.csv").open() as stream:
        assert [float(row["upper"]) for row in csv.DictReader(stream)] == [row["upper"] for row in document["points"]]
    with (out / "scale-exponents.csv").open() as stream:
        assert [row["verdict"] for row in csv.DictReader(stream)] == [row["verdict"] for row in document["exponents"]]
    assert [row["upper"] for row in parquet.read_table(out / "scale-points.parquet").to_pylist()] == [
        row["upper"] for row in document["points"]]
    exponents = parquet.read_table(out / "scale-exponents.parquet").to_pylist()
    assert [row["local"] for row in exponents] == [row["local"] for row in document["exponents"]]
    for name in document["pictures"]:
        assert (out / name).read_bytes().startswith(b"\x89PNG")
    assert len(document["pictures"]) == 2


def test_every_exchangeable_row_is_replayed_and_every_cell_is_there_once(swept):
    rows = swept[1][1]["exponents"]
    exchangeable = [row for row in rows if row["cloud"] == "orthonormal"]
    keys = ("r", "kappa", "omega", "p", "p_value", "form", "combination", "pattern")
    assert len({tuple(row[key] for key in keys) for row in exchangeable}) == len(exchangeable)
    # r, kappa, p, form, pattern, and (sum, product) x omega beside QK alone
    assert len(exchangeable) == 2 * 2 * 3 * 2 * 2 * (2 * 2 + 1)
    assert all(row["symbolic_replayed"] for row in exchangeable)
    assert all(not row["symbolic_replayed"] for row in rows if row["cloud"] == "independent")
    assert {row["verdict"] for row in rows if row["cloud"] == "independent"
            and row["pattern"] == "sink"} == {"no symbolic exponent"}


def test_the_cell_of_the_claim_measures_one_and_three_halves_in_margin_form(swept):
    wanted = {"cloud": "orthonormal", "r": "1", "kappa": "1/√d", "omega": "1", "form": "margin",
              "combination": "QK + VO"}
    found = {(row["norm"], row["pattern"]): row for row in swept[1][1]["exponents"]
             if all(row[key] == value for key, value in wanted.items())}
    for norm, pattern, exponent in (("nuclear", "sink", 1.0), ("nuclear", "diagonal", 1.5), ("frobenius", "sink", 1.0),
                                    ("frobenius", "diagonal", 1.0)):
        assert found[norm, pattern]["symbolic_exponent"] == exponent
        assert found[norm, pattern]["measured"] == pytest.approx(exponent, abs=0.1)


def test_the_kernel_accepts_the_order_of_every_cell_of_the_table():
    cells = [cell for index, cell in enumerate(table(geometries=GEOMETRIES)) if cell.geometry != "fading"
             or index % 11 == 0]
    assert all(scaling.order_replays(cell, pattern) for cell in cells for pattern in PATTERNS)


def test_the_model_rescales_the_points_exactly():
    cell = Cell()
    points = [Point(job, value, value, "bounded", 0.0) for job, value in zip(
        scaling_jobs(), (3.0, 5.0, 7.0), strict=True)]
    qk, value = scaling.side_costs(points, cell, "diagonal", "orthonormal")
    assert qk == {4: [(2 * 5.0, 2 * 5.0)]} and value == {4: [(7.0, 7.0)]}
    assert scaling.combined(cell, qk, value) == {4: [(17.0, 17.0)]}
    sink, _ = scaling.side_costs(points, Cell(exponent=inf), "sink", "orthonormal")
    assert sink == {4: [(6.0, 6.0)]}


def scaling_jobs():
    from numerics.scaling import Job
    from numerics.scaling_clouds import Geometry

    cloud, rest = Geometry("orthonormal"), (1.0, 0, 1e-3, 60.0)
    return (Job(cloud, 4, 0, "qk", "sink", "every", "margin", *rest),
            Job(cloud, 4, 0, "qk", "diagonal", "nuclear", "margin", *rest),
            Job(cloud, 4, 0, "value", "diagonal", "nuclear", "", *rest))


def test_embeddings_of_ones_own_are_measured_and_get_no_symbolic_exponent(tmp_path):
    rows = np.random.default_rng(3).standard_normal((20, 24)).astype(np.float32) + np.float32(0.5)
    np.save(tmp_path / "mine.npy", rows)
    arguments = ("--cloud", "real", "--tokens", tmp_path / "mine.npy", "--sink", 3, "--sizes", "4,6,9,12", "--form",
                 "margin", "--draws", 2)
    code, document = run(scale, *arguments, "--norm", "frobenius", out=tmp_path / "out")
    rows = document["exponents"]
    assert code == 0 and {row["combination"] for row in rows} == {"QK", "QK + VO", "QK · VO"}
    assert {(row["symbolic"], row["verdict"], row["r"]) for row in rows} == {("", "no symbolic exponent", "own")}
    assert len({point["source"] for point in document["points"]}) == 1 and document["pictures"] == ["scale-real.png"]
    free = run(scale, *arguments, "--norm", "frobenius", "--values", "free", out=tmp_path / "out")[1]
    total = {(row["pattern"], row["values"]): row["measured"] for row in rows + free["exponents"]
             if row["combination"] == "QK + VO"}
    assert total["sink", "null"] != total["sink", "free"] and total["diagonal", "null"] == total["diagonal", "free"]


def test_a_dimension_that_grows_faster_is_rescaled_exactly(tmp_path):
    document = run(scale, "--cloud", "fading", "--decay", "1/2", "--growth", 2, "--sizes", SIZES, "--norm", "nuclear",
                   "--form", "margin",
                   out=tmp_path)[1]
    row = next(row for row in document["exponents"] if (row["combination"], row["pattern"], row["kappa"], row["r"]) == (
        "QK", "sink", "1/√d", "1"))
    assert (row["symbolic"], row["d"], row["rho"]) == ("T^(5/4)", "T^2", "c·T^-1/2") and row["symbolic_replayed"]


def points_of(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (out / "scale-points").glob("*.json")}


@pytest.mark.slow
def test_a_sweep_killed_ten_times_loses_nothing_and_runs_nothing_twice(swept, tmp_path):
    """SIGKILL to the command and its workers as soon as more points are there; no finished file is written again."""
    code = "import sys; from proofs_check.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "scale", *SMALL, "--jobs", "1", "--out", str(tmp_path), "--json"]
    total, before, kills = len(swept[1][1]["points"]), {}, 0
    while kills < 10:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            wanted = min(len(before) + total // 14, total - 1)
            while process.poll() is None and len(points_of(tmp_path)) < wanted:
                time.sleep(0.005)
            assert process.poll() is None
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        kills += 1
        after = points_of(tmp_path)
        assert len(after) > len(before) and before.items() <= after.items()
        before = after
    assert 0 < len(before) < total and not (tmp_path / "scale.json").exists()
    exit_code, document = run(scale, *SMALL, out=tmp_path)
    assert exit_code == swept[1][0] and len(points_of(tmp_path)) == total
    assert before.items() <= points_of(tmp_path).items()
    def essence(found: dict) -> list:
        return [{key: value for key, value in row.items() if key != "seconds"} for row in found["points"]]

    assert essence(document) == essence(swept[1][1])
    assert document["exponents"] == swept[1][1]["exponents"]
    assert not list((tmp_path / "scale-points").glob(".writing-*"))


SETTING = {"T": 7.0, "p": 1.5, "rho": 0.25, "beta": 0.1, "sigma": 1.2, "eps": None, "fraction": None, "weight": None}


@pytest.mark.parametrize("eps", [None, 0.1, 0.5])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, inf])
def test_the_closed_form_is_theorys(p, eps):
    exact = [sympy.Rational(str(SETTING[name])) for name in ("T", "rho", "beta", "sigma")]
    tokens, rho, beta, sigma = exact
    odds = None if eps is None else log((1 - eps) / eps)
    sink = sink_cost(tokens, 1, rho, beta, sigma, 1 if eps is None else odds + log(7))
    diagonal = diagonal_cost(tokens, 1, rho, 1 if eps is None else odds + log(6), sympy.oo if p == inf else p)
    value = log_advantage({**SETTING, "p": p, "eps": eps})
    assert float(value) == pytest.approx(float(sympy.log(diagonal / sink)), abs=1e-12)


def test_the_closed_form_is_nan_where_no_sink_exists():
    for changes in ({"beta": 2.0}, {"rho": 0.0, "beta": 1 / 7, "sigma": (1 / 7) ** 0.5}, {"rho": 1.0}):
        assert np.isnan(log_advantage({**SETTING, **changes}))


def test_the_boundary_is_the_critical_exponent_of_orthonormal_tokens():
    fixed = {**SETTING, "rho": 0.0, "beta": 0.0, "sigma": 1.0}
    points = boundary(("T", np.array([3.0, 10.0])), ("p", np.linspace(1, 4, 40)), fixed)
    expected = [(t, 2 * log(t - 1) / log(t * t / (t + 1))) for t in (3.0, 10.0)]
    assert points == [pytest.approx(item, abs=1e-9) for item in expected]


def test_samples_lie_on_both_sides_and_half_of_them_close():
    fixed = {**SETTING, "p": 2.0, "beta": 0.0, "sigma": 1.0}
    settings = sample_sides({"T": (3.0, 30.0), "rho": (0.0, 0.9)}, fixed, 20, 0)
    values = np.array([float(log_advantage(setting)) for setting in settings])
    assert (values > 0).sum() == (values < 0).sum() == 10 and np.sort(abs(values))[9] < np.median(abs(values)) + 1e-12
    assert all(setting["T"] == round(setting["T"]) for setting in settings)


def test_the_values_weigh_in_by_theorys_formula():
    tokens, rho, beta, sigma = (sympy.Rational(str(SETTING[name])) for name in ("T", "rho", "beta", "sigma"))
    p, weight = sympy.Rational(3, 2), 2
    sides = []
    for cost, null in ((sink_cost(tokens, 1, rho, beta, sigma, 1), True), (diagonal_cost(tokens, 1, rho, 1, p), False)):
        last = last_eigenvalue(tokens, rho, beta, sigma, null_sink=null)
        sides.append(weight * cost + value_cost(tokens, 1, rho, last, 1, p))
    found = float(log_advantage({**SETTING, "weight": 2.0}))
    assert found == pytest.approx(float(sympy.log(sides[1] / sides[0])), abs=1e-12)


def test_a_fraction_has_a_cost_from_one_copier_to_one_query_that_is_off():
    fractions = np.array([0.0, 0.5 / 7, 1 / 7, 3.3 / 7, 6 / 7, 6.5 / 7, 1.0])
    values = log_advantage({**SETTING, "fraction": fractions})
    assert np.isnan(values).tolist() == [True, True, False, False, False, True, True]
    ratio = off_at_self(7, 1.5, 0.25, 0.1, 1.2) / off_at_sink(7, 6, 1.5, 0.25, 0.1, 1.2).upper
    assert values[4] == pytest.approx(log(ratio))


@pytest.mark.parametrize("changes", [{}, {"p": 4.0, "rho": 0.0}, {"eps": 0.2}, {"beta": -0.4}, {"weight": 0.3},
                                     {"fraction": 3 / 7},
                                     {"fraction": 1 / 7, "weight": 2.0},
                                     {"fraction": 6 / 7, "p": 1.0, "sigma": 0.4, "beta": 0.0}])
def test_certified_costs_agree_with_the_closed_form_and_not_with_its_opposite(changes):
    point = certify({**SETTING, **changes})
    assert point.agrees and point.verdict != "open"
    assert not type(point)(point.setting, point.sink, point.diagonal, -point.closed_form).agrees
    overlap = type(point)(point.setting, (1.0, 2.0), (1.5, 2.5), point.closed_form)
    assert overlap.verdict == "open" and not overlap.agrees


def test_phase_writes_a_map_whose_points_agree(tmp_path):
    code, document = run(phase, "--points", 12, "--x-range", "3,20", out=tmp_path)
    assert code == 0 and document["agree"] == len(document["points"]) == 12
    assert {row["verdict"] for row in document["points"]} == {"sink", "diagonal"}
    assert document["boundary"] and all(3 <= x <= 20 and 0 <= y <= 0.9 for x, y in document["boundary"])
    assert json.loads((tmp_path / "phase-T-rho.json").read_text()) == document
    assert (tmp_path / "phase-T-rho.png").read_bytes().startswith(b"\x89PNG")


def test_phase_over_the_fraction_agrees_on_both_sides_of_c10s_boundary(tmp_path):
    code, document = run(phase, "--x", "fraction", "--y", "sigma", "-p", 1, "--rho", 0.2, "-T", 8, "--y-range", "0.1,1",
                         "--points", 8,
                         out=tmp_path)
    assert code == 0 and document["agree"] == 8 and document["against"] == "self"
    assert {row["verdict"] for row in document["points"]} == {"sink", "self"}
    assert all(row["fraction"] * 8 == round(row["fraction"] * 8) for row in document["points"])
    assert document["boundary"] and all(0.5 < x < 1 for x, _ in document["boundary"])
    with (tmp_path / "phase-fraction-sigma.csv").open() as stream:
        assert [row["verdict"] for row in csv.DictReader(stream)] == [row["verdict"] for row in document["points"]]
    assert parquet.read_table(tmp_path / "phase-fraction-sigma.parquet").to_pylist() == document["points"]


def test_phase_fails_when_a_point_contradicts_the_closed_form(tmp_path, monkeypatch):
    monkeypatch.setattr("numerics.scaling_phase.log_advantage", lambda setting: -log_advantage(setting))
    code, document = run(phase, "--points", 4, "--x-range", "3,12", out=tmp_path)
    assert code == 1 and document["agree"] == 0


@pytest.mark.parametrize("arguments, words", [
    (("scale", "--sizes", "8,16"), "at least four different sizes"),
    (("scale", "--sizes", "8,x"), "integers separated by commas"),
    (("scale", "--mass", "0.3"), "at least 1/2"), (("scale", "--margin", "0"), "finite margin"),
    (("scale", "--rho", "0.2", "--beta", "0.9"), "derived for these only"),
    (("scale", "--tolerance", "2"), "0 < tolerance < 1"),
    (("phase", "--x", "T", "--y", "T"), "two different axes"), (("phase", "--x-range", "9,3"), "smaller end first"),
    (("phase", "--x-range", "a"), "two numbers"),
    (("phase", "--x", "p", "--rho", "2", "--y", "sigma"), "expected rho between"),
    (("phase", "--y-range", "0,2"), "expected rho between"),
    (("phase", "--x", "T", "--y", "p", "--beta", "3"), "tokens that exist somewhere"),
    (("phase", "--x", "fraction", "--y", "eps"), "no exact cost in mass form"),
    (("phase", "--fraction", "2"), "expected fraction between"),
    (("phase", "--x", "fraction", "-p", "inf"), "finite exponent beside a fraction"),
    (("phase", "--x", "fraction", "--y", "T", "--points", "2", "--y-range", "3,6"),
     "settings at which the costs differ"),
    (("phase", "--weight", "-1"), "finite weight above 0"),
    (("scale", "--tokens", "x.npy"), "expected --cloud real"),
    (("scale", "--cloud", "real", "--sink", "0"), "expected --tokens beside"),
    (("scale", "--cloud", "real", "--tokens", "x.npy"), "expected a sink for these tokens"),
    (("scale", "--cloud", "real", "--tokens", "x.npy", "--sink", "0"), "found no file"),
    (("scale", "--cloud", "real", "--sizes", "8,16,32,4096"), "up to the 1500 tokens given"),
    (("scale", "--decay", "0"), "a decay above 0"), (("scale", "--decay", "x"), "a decay above 0"),
    (("scale", "--decay", "0.001"), "a denominator up to 100")])
def test_bad_input_is_one_sentence_and_leaves_nothing(tmp_path, arguments, words):
    command, *rest = arguments
    with pytest.raises((BadInput, click.UsageError), match=words) as caught:
        run({"scale": scale, "phase": phase}[command], *rest, out=tmp_path / "out")
    assert "\n" not in str(caught.value) and not (tmp_path / "out").exists()


def test_bad_input_ends_with_exit_code_two(tmp_path):
    result = sinkproof("scale", "--sizes", "8,16", "--out", tmp_path / "out")
    assert result.returncode == 2 and one_sentence(result) and "at least four different sizes" in result.stderr


def test_orders_in_the_table_are_theorys(swept):
    rows = [row for row in swept[1][1]["exponents"] if row["cloud"] == "orthonormal" and row["combination"] == "QK"]
    for row in rows:
        cell = next(item for item in table(geometries=("orthonormal",), combinations=("qk",)) if all(
            scaling.describe(item)[key] == row[key] for key in ("r", "kappa", "p", "form")))
        assert row["symbolic"] == str(total_order(cell, row["pattern"]))
