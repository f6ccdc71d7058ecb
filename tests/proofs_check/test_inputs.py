"""Every way in which a user's file can be wrong gets one sentence, exit code 2, and leaves nothing behind."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from safetensors.numpy import save_file

from proofs_check.inputs import BadInput, read_tokens, read_values

CLOUD = np.array([[1.0, 0.0, 0.5], [1.0, 1.0, 0.25], [2.0, -1.0, 0.0], [1.5, 0.5, 1.0]])


def saved(tmp_path: Path, array: object, name: str = "x.npy") -> str:
    np.save(tmp_path / name, array, allow_pickle=True)
    return str(tmp_path / name)


def archive(tmp_path: Path, **arrays: object) -> str:
    np.savez(tmp_path / "x.npz", **arrays)
    return str(tmp_path / "x.npz")


def with_entry(value: float) -> np.ndarray:
    array = CLOUD.copy()
    array[1, 2] = value
    return array


def truncated(tmp_path: Path) -> str:
    path = Path(saved(tmp_path, CLOUD))
    path.write_bytes(path.read_bytes()[:-20])
    return str(path)


def broken_zip(tmp_path: Path) -> str:
    path = Path(archive(tmp_path, x=CLOUD))
    path.write_bytes(path.read_bytes()[:-40])
    return str(path)


def damaged_member(tmp_path: Path) -> str:
    path = Path(archive(tmp_path, x=CLOUD))
    raw = bytearray(path.read_bytes())
    raw[150] ^= 0xFF
    path.write_bytes(bytes(raw))
    return str(path)


def enormous(tmp_path: Path) -> str:
    path = tmp_path / "x.npz"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 100000), }"
    header += b" " * (117 - len(header)) + b"\n"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    return str(path)


def broken_safetensors(tmp_path: Path) -> str:
    save_file({"x": CLOUD}, tmp_path / "x.safetensors")
    raw = (tmp_path / "x.safetensors").read_bytes()
    (tmp_path / "x.safetensors").write_bytes(raw[:-16])
    return str(tmp_path / "x.safetensors")


TOKENS = {
    "missing file": (lambda p: str(p / "none.npy"), None, "no file"),
    "unknown ending": (lambda p: str(p / "x.txt"), None, "ending in"),
    "missing key": (lambda p: archive(p, x=CLOUD) + ":y", None, "an array 'y'"),
    "several matrices": (lambda p: archive(p, x=CLOUD, y=CLOUD), None, "name one"),
    "no matrix": (lambda p: archive(p, x=np.ones(3), y=np.ones(2)), None, "found none"),
    "vector": (lambda p: saved(p, np.ones(5)), None, "1 axis;"),
    "cube": (lambda p: saved(p, np.ones((2, 3, 4))), None, "3 axes"),
    "dimension zero": (lambda p: saved(p, np.ones((4, 0))), None, "dimension at least 1"),
    "no tokens": (lambda p: saved(p, np.ones((0, 3))), None, "the file has no rows"),
    "one token": (lambda p: saved(p, CLOUD[:1]), None, "at least two"),
    "one token beside the sink": (lambda p: saved(p, CLOUD[:2]), "0", "the sink's row is not counted"),
    "nan": (lambda p: saved(p, with_entry(np.nan)), None, "row 1, column 2 of the file"),
    "inf": (lambda p: saved(p, with_entry(np.inf)), None, "finite"),
    "complex": (lambda p: saved(p, CLOUD.astype(complex)), None, "complex128"),
    "integers beyond 2^53": (lambda p: saved(p, np.array([[1, 2], [2**53 + 1, 0]])), None, "at most 2^53"),
    "integers below -2^53": (lambda p: saved(p, np.array([[1, 2], [-2**63, 0]])), None, "at most 2^53"),
    "truth values": (lambda p: saved(p, CLOUD > 0), None, "got bool"),
    "integers without a name": (lambda p: archive(p, x=CLOUD.astype(int)), None, "name an array of integers"),
    "text": (lambda p: saved(p, np.array([["a", "b"]])), None, "float16, float32, float64 or integers"),
    "object array": (lambda p: saved(p, np.array([[1, None]], dtype=object)), None, "never unpickled"),
    "duplicates": (lambda p: saved(p, np.vstack([CLOUD, CLOUD[1]])), None,
                   "1 repeated row (row 4 of the file equals row 1, counting from 0); pass --deduplicate"),
    "duplicates after the sink's row": (lambda p: saved(p, np.vstack([CLOUD, CLOUD[2], CLOUD[3]])), "0",
                                        "2 repeated rows (row 4 of the file equals row 2, counting from 0)"),
    "sink is a key": (lambda p: saved(p, np.vstack([CLOUD[2], CLOUD])), "0",
                      "got row 0 equal to row 3 of the file"),
    "sink row outside": (lambda p: saved(p, CLOUD), "9", "between 0 and 3"),
    "sink row negative": (lambda p: saved(p, CLOUD), "-1", "between 0 and 3"),
    "sink in another script's digits": (lambda p: archive(p, x=CLOUD) + ":x", "²", "an array '²'"),
    "sink with two signs": (lambda p: archive(p, x=CLOUD) + ":x", "--1", "an array '--1'"),
    "sink key missing": (lambda p: archive(p, x=CLOUD) + ":x", "s", "an array 's'"),
    "sink of another size": (lambda p: archive(p, x=CLOUD, s=np.ones(2)) + ":x", "s", "shape (3,)"),
    "sink with nan": (lambda p: archive(p, x=CLOUD, s=np.full(3, np.nan)) + ":x", "s", "finite"),
    "truncated": (truncated, None, "unreadable or truncated"),
    "not numpy at all": (lambda p: (p.joinpath("x.npy").write_text("hello"), str(p / "x.npy"))[1], None, "unreadable"),
    "empty file": (lambda p: (p.joinpath("x.npy").write_text(""), str(p / "x.npy"))[1], None, "unreadable"),
    "broken zip": (broken_zip, None, "unreadable"),
    "damaged member": (damaged_member, None, "unreadable"),
    "enormous": (enormous, None, "entries"),
    "broken safetensors": (broken_safetensors, None, "safetensors"),
}


@pytest.mark.parametrize("case", TOKENS)
def test_bad_tokens_get_one_sentence(tmp_path: Path, case: str) -> None:
    make, sink, said = TOKENS[case]
    with pytest.raises(BadInput) as caught:
        read_tokens(make(tmp_path), sink)
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("case", ["nan", "one token", "object array", "truncated", "sink is a key"])
def test_the_command_exits_with_2_and_leaves_nothing(tmp_path: Path, case: str) -> None:
    from proofs_check.cli import sinkproof

    make, sink, _ = TOKENS[case]
    out = tmp_path / "out"
    arguments = ["inspect", "--tokens", make(tmp_path), "--out", str(out)] + (["--sink", sink] if sink else [])
    result = CliRunner().invoke(sinkproof, arguments)
    assert isinstance(result.exception, BadInput) and not out.exists()


def test_good_files_of_every_kind_are_read(tmp_path: Path) -> None:
    save_file({"x": CLOUD.astype(np.float32)}, tmp_path / "x.safetensors")
    for name in (saved(tmp_path, CLOUD), archive(tmp_path, x=CLOUD), str(tmp_path / "x.safetensors"),
                 archive(tmp_path, x=CLOUD, label=np.array("text"), ids=np.arange(3))):
        tokens = read_tokens(name, "0")
        assert tokens.content.shape == (3, 3) and np.array_equal(tokens.sink, CLOUD[0])


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint16, np.uint64])
def test_integers_are_read_exactly(tmp_path: Path, dtype: type) -> None:
    array = np.array([[1, 2], [3, 100], [4, 0]], dtype=dtype)
    if dtype == np.int64:
        array[0] = 2**53, -2**53
    for name in (saved(tmp_path, array), archive(tmp_path, ids=array) + ":ids"):
        content = read_tokens(name, None).content
        assert content.dtype == np.float64 and content.astype(object).tolist() == array.astype(object).tolist()


def test_after_repeats_are_dropped_rows_are_still_the_files(tmp_path: Path) -> None:
    array = np.vstack([CLOUD[2], CLOUD[0], CLOUD[0], CLOUD[1:3]])
    with pytest.raises(BadInput, match="got row 0 equal to row 4 of the file"):
        read_tokens(saved(tmp_path, array), "0", deduplicate=True)


def test_values_of_another_length_are_refused(tmp_path: Path) -> None:
    tokens = read_tokens(saved(tmp_path, CLOUD), "0")
    with pytest.raises(BadInput, match="expected 4 rows of values"):
        read_values(saved(tmp_path, CLOUD[:2], "v.npy"), tokens, 4)
    content, sink = read_values(saved(tmp_path, CLOUD[:, :2], "w.npy"), tokens, 4)
    assert content.shape == (3, 2) and sink.shape == (2,)


def test_deduplicate_keeps_one_of_each_in_order(tmp_path: Path) -> None:
    tokens = read_tokens(saved(tmp_path, np.vstack([CLOUD[2], CLOUD])), None, deduplicate=True)
    assert np.array_equal(tokens.content, CLOUD[[2, 0, 1, 3]])


def test_inspect_writes_certificates_that_replay(tmp_path: Path) -> None:
    from proofs_check.cli import sinkproof
    from proofs_check.kernel.command import check

    out = tmp_path / "out"
    result = CliRunner().invoke(sinkproof, ["inspect", "--tokens", saved(tmp_path, CLOUD), "--sink", "0", "--values",
                                            saved(tmp_path, CLOUD, "v.npy"), "--out", str(out), "--json"],
                                standalone_mode=False)
    assert result.return_value == 0
    checks = {row["key"]: row for row in json.loads(result.stdout)["checks"]}
    assert checks["G1 queries"]["holds"] is True and checks["E1 independence"]["holds"] is True
    assert all((out / row["certificate"]).is_file() for row in checks.values())
    rows, malformed, _ = check(out)
    assert not malformed and len(rows) == len(checks) and all(row["accepted"] for row in rows)
