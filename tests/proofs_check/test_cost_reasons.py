"""Why a cost is not bounded: the sentence in the record and on the screen; exact arithmetic has the last word."""

import math

import numpy as np
import pytest
from click.testing import CliRunner

from proofs_check.commands.cost import cost
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
    assert found.reason == "no W exists: query 1 must prefer key 1 to key 0, but that query is zero (G2)"


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
