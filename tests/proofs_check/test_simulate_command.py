"""`sinkproof simulate`: what it writes, that the seed fixes it, and one sentence for every bad input."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner
from test_cli import one_sentence, sinkproof

from numerics.moments import depth_curve, mix_curve
from proofs_check import simulation
from proofs_check.commands.simulate import simulate

SMALL = ("-T", "6", "-d", "24", "--draws", "64")


def simulated(*arguments: object, out: Path) -> dict:
    result = CliRunner().invoke(simulate, [*map(str, arguments), "--out", str(out), "--json"], standalone_mode=False,
                                catch_exceptions=False)
    return json.loads(result.stdout)


def settings(**changes) -> simulation.Settings:
    value, dim = simulation.read_value(changes.pop("value", "random:0,0.25"), changes.pop("dim", 24))
    return simulation.Settings(**({"num_tokens": 6, "dim": dim, "rho": 0.3, "value": value, "norm": "rms", "draws": 64,
                                   "seed": 0, "confidence": 0.99, "memory": 2**26} | changes))


def test_mix_writes_theory_mean_and_interval_for_every_t(tmp_path):
    document = simulated("mix", *SMALL, "--value", "random:-0.3,0.5", "--t", "0,0.4,1", out=tmp_path)
    assert document["t_star"] == pytest.approx(0.4)
    assert [row["setting"]["t"] for row in document["results"]] == [0, 0.4, 1]
    theory = [row["theory"] for row in document["results"]]
    assert theory[1] == max(theory) > theory[0] > theory[2]
    for row in document["results"]:
        assert row["interval"][0] < row["mean"] < row["interval"][1]
        assert abs(row["mean"] - row["theory"]) < 0.1
    with (tmp_path / "simulate-mix.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert [float(row["theory"]) for row in rows] == pytest.approx(theory)
    assert json.loads((tmp_path / "simulate-mix.json").read_text()) == document
    assert (tmp_path / "simulate-mix.png").read_bytes().startswith(b"\x89PNG")


def test_the_seed_fixes_every_number_and_another_seed_changes_them(tmp_path):
    first, again, other = (simulated("mix", *SMALL, "--t", "1", "--seed", seed, out=tmp_path)["results"][0]["mean"]
                           for seed in (3, 3, 4))
    assert first == again != other


def test_depth_of_a_null_sink_keeps_the_cosine_in_theory_and_simulation(tmp_path):
    document = simulated("depth", *SMALL, "--attention", "sink", "--null-sink", "--layers", 3, "--rho", 0.2,
                         out=tmp_path)
    assert [row["theory"] for row in document["results"]] == pytest.approx([0.2] * 4)
    assert all(abs(row["mean"] - 0.2) < 0.08 for row in document["results"])


def test_the_histogram_counts_every_draw_and_predicts_the_deviation(tmp_path):
    document = simulated("histogram", *SMALL[:4], "--draws", 600, "--attention", "mix:0.5", out=tmp_path)
    with (tmp_path / "simulate-histogram.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert sum(int(row["count"]) for row in rows) == 600
    (row,) = document["results"]
    assert row["deviation"]["measured"] == pytest.approx(row["deviation"]["theory"], rel=0.25)


@pytest.mark.parametrize("drift, tau", [(0.3, 0.0), (0.2, -0.1)])
def test_the_recursion_for_any_attention_is_the_odds_recursion_for_uniform(drift, tau):
    attention = simulation.read_attention("uniform", 5)
    curve = simulation.depth_recursion(attention, tau, drift - 2 * tau, 0.25, 6)
    assert curve == pytest.approx(depth_curve(0.25, drift, 6, 5))


def test_the_recursion_with_a_null_token_matches_the_simulation_where_the_token_is_attended_with_others():
    attention = simulation.read_attention("causal", 4)
    given = settings(num_tokens=4, dim=400, draws=200)
    outcome = simulation.simulate_layers(given, attention, 2, True, lambda text: None)
    for _, theory, mean, *_ in outcome.rows:
        assert mean == pytest.approx(theory, abs=0.02)


@pytest.mark.parametrize("norm", ["rms", "layer"])
def test_statistics_of_a_fresh_v_are_the_means_over_drawn_matrices(norm):
    from numerics.moments import drift_statistics

    given = settings(value="random:-0.2,0.5", dim=5, norm=norm)
    rng = np.random.default_rng(0)
    drawn = [drift_statistics(-0.2 * np.eye(5) + np.sqrt(0.46 / 5) * rng.standard_normal((5, 5)),
                              direction=np.eye(5)[0],
                              norm=norm) for _ in range(4000)]
    expected = simulation.statistics_of(given)
    for name in ("t0", "g0", "g", "tau", "phi", "drift"):
        assert np.mean([getattr(s, name) for s in drawn]) == pytest.approx(getattr(expected, name), abs=0.03)


def test_a_given_drift_is_the_drift():
    s = simulation.statistics_of(settings(value="drift:-0.4"))
    assert s.drift == pytest.approx(-0.4)
    assert mix_curve(np.array([0.0, 1.0]), 6, 0.3, s)[0] > mix_curve(np.array([0.0, 1.0]), 6, 0.3, s)[1]


@pytest.mark.parametrize("text, rows", [("block:2", [2, 2, 1]), ("block:5", [5]), ("block:1", [1] * 5)])
def test_blocks_of_one_size_end_in_a_shorter_one(text, rows):
    attention = simulation.read_attention(text, 5)
    assert [int(round(1 / entry)) for entry in np.diag(attention)] == [size for size in rows for _ in range(size)]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("arrays")
    weights = np.full((4, 4), 0.25)
    weights[0, 0] = 0.5
    arrays = {"rows": weights, "tall": np.ones((3, 2)), "five": np.eye(5), "truth": np.eye(4, dtype=bool),
              "nan": np.full((4, 4), np.nan)}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return {name: str(folder / f"{name}.npy") for name in arrays}


BAD = [
    ("histogram --attention {rows}", "row sum"), ("depth --attention {rows}", "row sum"),
    ("mix --rho 1", "rho in [0, 1)"),
    ("mix --rho -0.1", "rho in [0, 1)"), ("mix --rho nan", "rho in [0, 1)"), ("mix --value {tall}", "V of shape"),
    ("mix --value {five} -d 8", "V of shape (8, 8)"), ("mix --value {nan}", "finite V"),
    ("mix --t 0,1.5", "every t in [0, 1]"),
    ("mix --t 0,x", "numbers"), ("mix --t nan", "finite"), ("mix --draws 0", "draws of at least 2"),
    ("histogram --attention mix:2", "t in [0, 1]"), ("mix -T 1", "at least two tokens"), ("mix -d 0", "dimension"),
    ("depth --layers 0", "at least one layer"), ("mix --value drift:-2", "at least -1"),
    ("mix --value scaled:1e308 -d 2", "finite mean square"),
    ("mix --value structured:1e200,0 -d 2", "finite mean square"),
    ("mix --value random:1,0.5", "phi"),
    ("mix --value other", "expected V as"), ("depth --value structured:1,1 -d 8", "isotropic V"),
    ("histogram --pair 0,0", "two different tokens"), ("histogram --pair 0,9 -T 4", "between 0 and 3"),
    ("histogram --attention block:1.5", "whole number"), ("histogram --attention {truth}", "float"),
    ("histogram --attention {five} -T 4", "(4, 4)"), ("mix --attention sink", "no meaning"),
    ("mix --null-sink", "no meaning"),
    ("mix --rho 0 --value scaled:-1 -T 4 -d 8", "degenerate"), ("mix --confidence 1", "confidence"),
    ("mix --memory 1 -T 512 -d 512 --value structured:1,1 --norm layer", "memory cap"),
    ("depth --value scaled:-1 -T 4 -d 8 --attention diagonal", "not 0"), ("mix --value missing.npy", "no file"),
    ("mix -d 99999", "dimensions"), ("mix -T 99999", "tokens"), ("depth -T 99999", "tokens"),
]


@pytest.mark.parametrize("arguments, said", BAD, ids=[text for text, _ in BAD])
def test_bad_input_is_refused_before_anything_is_written(files, tmp_path, arguments, said):
    result = CliRunner().invoke(simulate, [*arguments.format(**files).split(), "--out", str(tmp_path / "out")],
                                standalone_mode=False)
    message = getattr(result.exception, "message", str(result.exception))
    assert result.exception is not None and said in message and "\n" not in message
    assert isinstance(result.exception, (ValueError, click.UsageError)) and not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [["mix", "--draws", "0"], ["mix", "--rho", "1"], ["mix", "--attention", "sink"]])
def test_bad_input_exits_with_two_and_one_sentence(tmp_path, arguments):
    result = sinkproof("simulate", *arguments, "--out", tmp_path / "out")
    assert result.returncode == 2 and one_sentence(result) and not (tmp_path / "out").exists()
