"""The same table as CSV text and as Parquet bytes: a column per name, a row per record."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from proofs_check.certificates import write_whole

Records = Sequence[Mapping[str, object]]


def csv_text(columns: Sequence[str], records: Records) -> str:
    """Rows with a header; a list becomes numbers separated by blanks, a missing entry an empty cell."""
    stream = io.StringIO()
    writer = csv.DictWriter(stream, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow({key: " ".join(f"{item:.6g}" for item in value) if isinstance(value, list) else value
                         for key, value in record.items()})
    return stream.getvalue()


def parquet_bytes(columns: Sequence[str], records: Records) -> bytes:
    """The same columns in the same order, typed: lists stay lists, a missing entry is null."""
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({name: pyarrow.array([record.get(name) for record in records]) for name in columns})
    stream = io.BytesIO()
    parquet.write_table(table, stream)
    return stream.getvalue()


def write_table(stem: Path, columns: Sequence[str], records: Records) -> list[str]:
    """Write ``stem.csv`` and ``stem.parquet``, each whole or not at all; returns their names."""
    files = {f"{stem.name}.csv": csv_text(columns, records).encode(),
             f"{stem.name}.parquet": parquet_bytes(columns, records)}
    for name, content in files.items():
        write_whole(stem.parent / name, content)
    return list(files)
