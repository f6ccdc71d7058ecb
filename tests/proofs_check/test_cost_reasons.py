"""Why a cost is not bounded: the sentence in the record and on the screen; exact arithmetic has the last word."""

import math

import numpy as np
import pytest
from click.testing import CliRunner

from proofs_check.commands.cost import cost
from proofs_check.commands.inspect import inspect
from proofs_check.cost import Request, costs
from proofs_check.inputs import Tokens

RING = np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
# The third coordinate separates, by a margin that rounding in the first two hides.
NEAR = np.array([[1.0, 1.0, 1e-17], [-1.0, -0.1, 1e-17], [-1.0, -1.9, 1e-17], [0.3, 0.7, 1e-17]])
LEVELS = [{"margin": 1.0, "mass": None}, {"margin": None, "mass": 0.9}]


def one_cost(tokens, sink, pattern, out, **request):
    return costs(Tokens(tokens, sink, "mine"), [Request(pattern, "nuclear", **request)], out)[0]


@pytest.mark.parametrize("level", LEVELS, ids=["margin", "mass"])
@pytest.mark.parametrize(("tokens", "sink", "words"), [
    (RING, [9.0, 9.0], "0 lies in the convex hull of the queries"),
    (RING + 10.0, [10.0, 10.0], "the sink lies in the convex hull of the keys"),
    (np.array([[1.0, 0.0], [-1.0, 0.0]]), [9.0, 9.0], "0 lies in the convex hull of the queries"),  # on a lower face
])
def test_an_impossible_sink_says_which_hull_it_fails_on_with_a_certificate(tmp_path, tokens, sink, words, level):
    found = one_cost(tokens, np.array(sink), "sink", tmp_path, **level)
    assert found.status == "infeasible" and found.lower == math.inf and found.certificate
    assert found.reason.startswith(f"no W exists: {words}") and found.reason.endswith("(G1)")
    assert found.row()["reason"] == found.reason


def test_an_impossible_diagonal_names_the_tokens(tmp_path):
    found = one_cost(np.array([[1.0, 2.0], [0.0, 0.0]]), None, "diagonal", tmp_path, **LEVELS[0])
    assert found.status == "infeasible" and found.certificate
    assert found.reason == ("no W exists: row 1 must prefer row 1 to row 0, but that query is zero (G2)"
                            " (rows of the file, counting from 0)")


@pytest.mark.parametrize("level", LEVELS, ids=["margin", "mass"])
def test_what_exact_arithmetic_separates_is_not_called_impossible(tmp_path, level):
    found = one_cost(NEAR, np.array([9.0, 9.0, 9.0]), "sink", tmp_path, **level)
    assert found.status == "undecided" and found.lower == 0.0 and not found.certificate
    assert "some W exists" in found.reason and "no W exists" not in found.reason


def test_a_bounded_cost_has_no_reason_and_the_command_prints_the_others(tmp_path):
    np.savez(tmp_path / "mine.npz", x=RING, s=np.array([9.0, 9.0]))
    arguments = ["--tokens", f"{tmp_path}/mine.npz:x", "--sink", "s", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(cost, arguments, standalone_mode=False)
    assert done.exception is None and done.return_value == 0
    assert "sink, nuclear norm: no W exists: 0 lies in the convex hull of the queries" in done.output
    assert "diagonal, nuclear norm:" not in done.output


def run(command, *arguments):
    done = CliRunner().invoke(command, [*map(str, arguments)], standalone_mode=False)
    assert done.exception is None, done.exception
    return done


def test_a_sink_that_is_the_mean_up_to_rounding_is_unknown_and_not_impossible(tmp_path):
    np.savez(tmp_path / "near.npz", x=NEAR, s=np.array([9.0, 9.0, 9.0]))
    given = ("--tokens", f"{tmp_path}/near.npz:x", "--sink", "s", "--out", tmp_path / "out")
    done = run(cost, *given, "--pattern", "sink")
    assert done.return_value == 1 and "unknown" in done.output and "impossible" not in done.output
    shown = run(inspect, *given).output
    assert "below float64's rounding" in " ".join(shown.split())


def test_what_is_proved_impossible_is_called_so(tmp_path):
    np.savez(tmp_path / "ring.npz", x=RING, s=np.array([9.0, 9.0]))
    done = run(cost, "--tokens", f"{tmp_path}/ring.npz:x", "--sink", "s", "--pattern", "sink", "--out", tmp_path)
    assert done.return_value == 0 and "impossible" in done.output and "unknown" not in done.output


def test_rows_in_a_reason_are_the_files(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[5.0, 5.0], [1.0, 2.0], [0.0, 0.0]]))
    done = run(cost, "--tokens", tmp_path / "x.npy", "--sink", "0", "--pattern", "diagonal", "--out", tmp_path / "out")
    assert "row 2 must prefer row 2 to row 1, but that query is zero (G2) (rows of the file" in done.output


def test_pictures_of_an_earlier_run_do_not_stay(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    np.save(tmp_path / "zero.npy", np.array([[1.0, 2.0], [0.0, 0.0]]))
    rest = ("--pattern", "diagonal", "--out", tmp_path / "out")
    run(cost, "--tokens", tmp_path / "x.npy", *rest)
    (tmp_path / "out" / "mine.png").write_bytes(b"mine")
    assert (tmp_path / "out" / "cost-diagonal-nuclear.png").is_file()
    run(cost, "--tokens", tmp_path / "zero.npy", *rest)
    assert [path.name for path in (tmp_path / "out").glob("*.png")] == ["mine.png"]


def test_inspect_says_what_it_did_not_check_and_notes_only_what_ran(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1.0, 0.5, 0.0], [1.0, -0.5, 0.0], [2.0, 0.0, 1.0]]))
    given = ("--tokens", tmp_path / "x.npy", "--out", tmp_path / "out")
    alone = run(inspect, *given).output
    assert "Not checked: the sink" in alone and "--sink KEY" in alone and "--values FILE" in alone
    assert "RoPE" not in alone and "query bias" not in alone and "head dimension" not in alone
    full = run(inspect, *given, "--sink", 0, "--values", tmp_path / "x.npy").output
    assert "Not checked" not in full and "head dimension" in full and "query bias" not in full
    np.save(tmp_path / "x.npy", RING)
    assert "RoPE" in run(inspect, *given).output
