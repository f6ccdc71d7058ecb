"""CSV and Parquet hold one table."""

from __future__ import annotations

import csv
import io

import pytest
from pyarrow import parquet

from proofs_check.tables import csv_text, parquet_bytes, write_table

COLUMNS = ("T", "norm", "upper", "local", "exponent")
RECORDS = [{"T": 8, "norm": "nuclear, p = 1", "upper": 0.1, "local": [0.5, 1.0], "exponent": None, "other": 1},
           {"T": 16, "norm": "√d", "upper": 1e-300, "local": [], "exponent": 1.5}]


def test_parquet_gives_back_every_record_with_its_types():
    table = parquet.read_table(io.BytesIO(parquet_bytes(COLUMNS, RECORDS)))
    assert table.to_pylist() == [{name: record[name] for name in COLUMNS} for record in RECORDS]


def test_csv_and_parquet_have_the_same_columns_and_rows(tmp_path):
    assert write_table(tmp_path / "points", COLUMNS, RECORDS) == ["points.csv", "points.parquet"]
    with (tmp_path / "points.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    table = parquet.read_table(tmp_path / "points.parquet")
    assert table.column_names == list(rows[0]) == list(COLUMNS)
    assert [float(row["upper"]) for row in rows] == table["upper"].to_pylist()
    assert [row["local"] for row in rows] == ["0.5 1", ""] and rows[0]["norm"] == "nuclear, p = 1"
    assert {path.name for path in tmp_path.iterdir()} == {"points.csv", "points.parquet"}


def test_a_column_of_mixed_types_is_refused_not_written(tmp_path):
    with pytest.raises((TypeError, ValueError)):
        write_table(tmp_path / "mixed", ("a",), [{"a": 1}, {"a": "one"}])
    assert list(tmp_path.iterdir()) == []


def test_csv_of_no_records_is_a_header():
    assert csv_text(COLUMNS, []) == "T,norm,upper,local,exponent\n"
