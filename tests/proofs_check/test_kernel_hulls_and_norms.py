"""Hull and norm predicates: accepted with a true witness, rejected when the witness is moved by a hair."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest
from flint import fmpq

from proofs_check.certificates import write_cloud
from proofs_check.kernel.encoding import Cloud, Malformed, Rejected
from proofs_check.kernel.formula import decide

TRIANGLE = "[[1, 0], [-1, 1], [0, -1]]"
THIRDS = {"k": {"weights": [["0", ["1", "3"]], ["1", ["1", "3"]], ["2", ["1", "3"]]]}}


def truth(text: str, witnesses: dict, **values: object) -> bool:
    return decide(values, [], [], [text], witnesses)[1]


def changed(witnesses: dict, change) -> dict:
    result = copy.deepcopy(witnesses)
    change(result)
    return result


def test_weights_and_a_basis_show_zero_in_the_hull() -> None:
    assert truth(f"not separable({TRIANGLE}, 'k')", THIRDS)
    assert truth(f"not separable({TRIANGLE}, 'k')", {"k": {"basis": ["0", "1", "2"]}})
    assert truth("separable([[1, 0], [1, 1]], 'k')", {"k": {"normal": ["1", ["1", "3"]]}})
    assert truth("not separable([[0, 0]], 'k')", {"k": {"weights": [["0", "1"]]}})


TINY = ["1", str(10**30)]
BROKEN = {
    "moved weight": lambda w: w["k"]["weights"][0].__setitem__(1, ["333333333333333333333333333333", str(10**30)]),
    "negative weight": lambda w: w["k"]["weights"].append(["0", ["-1", "3"]]),
    "repeated index": lambda w: w["k"]["weights"].append(["0", ["1", "3"]]),
    "index out of range": lambda w: w["k"]["weights"][0].__setitem__(0, "3"),
    "negative index": lambda w: w["k"]["weights"][0].__setitem__(0, "-1"),
    "no weights": lambda w: w["k"].update(weights=[]),
    "two alternatives": lambda w: w["k"].update(normal=["1", "1"]),
    "another key": lambda w: w.update(j=w.pop("k")),
    "normal on a hull with zero": lambda w: w.update(k={"normal": ["1", "1"]}),
    "basis too short": lambda w: w.update(k={"basis": ["0", "1"]}),
    "basis repeated": lambda w: w.update(k={"basis": ["0", "1", "1"]}),
    "unreduced": lambda w: w["k"]["weights"][0].__setitem__(1, ["2", "6"]),
    "zero denominator": lambda w: w["k"]["weights"][0].__setitem__(1, ["1", "0"]),
    "number": lambda w: w["k"]["weights"][0].__setitem__(1, 1),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_witness_is_rejected(name: str) -> None:
    with pytest.raises(Rejected):
        truth(f"separable({TRIANGLE}, 'k')", changed(THIRDS, BROKEN[name]))


@pytest.mark.parametrize(("rows", "normal"), [
    ("[[1, 0], [0, 1]]", ["1", "0"]), ("[[1, 0], [0, 1]]", ["1", "-1"]), ("[[1], [2]]", ["1", "1"]), ("[[1], [2]]", []),
    ("[[1], [2]]", [["-1", str(10**30)]]),
])
def test_a_normal_must_be_strictly_positive_on_every_row(rows: str, normal: list) -> None:
    with pytest.raises(Rejected):
        truth(f"separable({rows}, 'k')", {"k": {"normal": normal}})


def test_a_basis_whose_weights_are_not_all_positive_is_rejected() -> None:
    with pytest.raises(Rejected):
        truth("separable([[1, 0], [-1, 0], [5, 1]], 'k')", {"k": {"basis": ["0", "1", "2"]}})
    with pytest.raises(Rejected):
        truth("separable([[1, 0], [-1, 0], [2, 0]], 'k')", {"k": {"basis": ["0", "1", "2"]}})


def test_distances_are_shown_from_both_sides_and_not_beyond() -> None:
    rows = "[[3, 4], [3, 5]]"
    assert truth(f"hull_distance_at_least({rows}, 5, 'u')", {"u": {"normal": ["3", "4"]}})
    assert truth(f"hull_distance_at_most({rows}, 5, 'w')", {"w": {"weights": [["0", "7"]]}})
    with pytest.raises(Rejected):
        truth(f"hull_distance_at_least({rows}, 5 + 1/10**30, 'u')", {"u": {"normal": ["3", "4"]}})
    with pytest.raises(Rejected):
        truth(f"hull_distance_at_most({rows}, 5 - 1/10**30, 'w')", {"w": {"weights": [["0", "7"]]}})
    with pytest.raises(Rejected):
        truth("hull_distance_at_least([[0-3, 0]], 3, 'u')", {"u": {"normal": ["1", "0"]}})
    with pytest.raises(Rejected):
        truth(f"hull_distance_at_least({rows}, 0-1, 'u')", {"u": {"normal": ["-3", "-4"]}})
    with pytest.raises(Rejected):
        truth(f"hull_distance_at_least({rows}, 100, 'u')", {"u": {"normal": ["0", "0"]}})


def cloud(tmp_path: Path, array: np.ndarray) -> Cloud:
    return Cloud(write_cloud(tmp_path, array), tmp_path, "cloud")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_cloud_gives_the_same_answers_as_its_rows(tmp_path: Path, dtype: type) -> None:
    rng = np.random.default_rng(3)
    array = (rng.standard_normal((40, 3)) + [3, 0, 0]).astype(dtype)
    rows = [[fmpq(*float(entry).as_integer_ratio()) for entry in row] for row in array]
    normal = {"k": {"normal": [float(x).hex() for x in (1.0, 0.125, -0.0625)]}}
    for bound in ("1/100", "2"):
        answers = []
        for value in (rows, cloud(tmp_path, array)):
            try:
                answers.append(truth(f"hull_distance_at_least(x, {bound}, 'k')", normal, x=value))
            except Rejected:
                answers.append(None)
        assert answers[0] == answers[1]
    shift = [fmpq(1, 3), fmpq(0), fmpq(0)]
    assert truth("separable(x - s, 'k')", normal, x=cloud(tmp_path, array), s=shift) \
        is truth("separable([row - s for row in x], 'k')", normal, x=rows, s=shift)
    assert truth("x[3] == row", {}, x=cloud(tmp_path, array), row=rows[3])


def test_one_row_of_a_cloud_on_the_wrong_side_rejects(tmp_path: Path) -> None:
    array = np.ones((3000, 2))
    array[2900] = [1.0, -1.0]
    with pytest.raises(Rejected):
        truth("separable(x, 'k')", {"k": {"normal": ["1", "1"]}}, x=cloud(tmp_path, array))


def test_a_sidecar_is_checked_by_content_and_length(tmp_path: Path) -> None:
    table = write_cloud(tmp_path, np.ones((2, 2)))
    path = tmp_path / f"{table['sidecar']}.bin"
    for change in ({"shape": ["2", "3"]}, {"dtype": "int64"}, {"sidecar": "0" * 64}, {"sidecar": "../x"},
                   {"shape": ["0", "2"]}, {"shape": ["4"]}, {"dtype": "float32"}):
        with pytest.raises(Malformed):
            Cloud(table | change, tmp_path, "x")
    path.write_bytes(path.read_bytes()[:-1] + b"\x00")
    with pytest.raises(Malformed):
        Cloud(table, tmp_path, "x")


def test_nan_in_a_sidecar_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Rejected):
        truth("separable(x, 'k')", {"k": {"normal": ["1"]}}, x=cloud(tmp_path, np.array([[np.nan], [1.0]])))


def test_independence_of_a_cloud_is_proved_or_undecided(tmp_path: Path) -> None:
    assert truth("independent(x)", {}, x=cloud(tmp_path, np.eye(4)))
    assert truth("not independent(x)", {}, x=cloud(tmp_path, np.ones((3, 2))))
    with pytest.raises(Rejected):
        truth("independent(x)", {}, x=cloud(tmp_path, np.ones((2, 2))))


def svd_witness(matrix: np.ndarray) -> dict:
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return {"s": {"left": [[float(x).hex() for x in row] for row in left], "values": [float(x).hex() for x in values],
                  "right": [[float(x).hex() for x in row] for row in right.T]}}


@pytest.mark.parametrize("p", ["1", "3/2", "2", "3", "'inf'"])
def test_a_norm_bound_is_accepted_just_above_and_rejected_just_below(p: str) -> None:
    rng = np.random.default_rng(1)
    matrix = rng.standard_normal((4, 6))
    values = np.linalg.svd(matrix, compute_uv=False)
    exponent = {"'inf'": np.inf}.get(p) or float(eval(p))  # noqa: S307
    norm = float(np.linalg.norm(values, exponent))
    exact = [[fmpq(*float(x).as_integer_ratio()) for x in row] for row in matrix]

    def shown(bound: float) -> bool:
        return truth(f"norm_at_most(m, {p}, b, 's')", svd_witness(matrix), m=exact, b=fmpq(*bound.as_integer_ratio()))

    assert shown(norm * (1 + 1e-12))
    with pytest.raises(Rejected):
        shown(norm * (1 - 1e-12))


@pytest.mark.parametrize("change", [
    lambda w: w["s"]["values"].__setitem__(0, "0x0p+0"), lambda w: w["s"]["values"].__setitem__(0, "-0x1p+0"),
    lambda w: w["s"].pop("left"), lambda w: w["s"]["left"].pop(), lambda w: w["s"]["right"][0].pop(),
    lambda w: w["s"].update(right=[[["0", "1"]] * 3] * 3), lambda w: w["s"].update(values=[]), lambda w: w.clear(),
])
def test_a_wrong_decomposition_shows_no_bound(change) -> None:
    matrix = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    exact = [[fmpq(int(x)) for x in row] for row in matrix]
    bound = fmpq(*(float(np.linalg.norm(matrix, 2)) + 1e-9).as_integer_ratio())
    assert truth("norm_at_most(m, 'inf', b, 's')", svd_witness(matrix), m=exact, b=bound)
    with pytest.raises(Rejected):
        truth("norm_at_most(m, 'inf', b, 's')", changed(svd_witness(matrix), change), m=exact, b=bound)


@pytest.mark.parametrize("p", ["1/2", "0", "'two'", "0-1"])
def test_an_exponent_below_one_is_refused(p: str) -> None:
    with pytest.raises(Rejected):
        truth(f"norm_at_most([[1]], {p}, 2, 's')", svd_witness(np.eye(1)))
