"""Sweeps that last: every point is a small file named by its job's digest, written whole, and never computed twice.

An interrupted sweep goes on where it stopped: what has a valid file is read, what has none (or half of one) is
computed.  Work is spread over processes with one linear-algebra thread each, which for these sizes is the fastest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict
from pathlib import Path

from numerics.scaling import Job, Point, measure

__all__ = ["job_digest", "load_point", "point_path", "run_sweep"]

SCHEMA = "sinkproof/point/1"
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
Write = Callable[[Path, bytes], None]


def job_digest(job: Job) -> str:
    """sha256 of the job's canonical JSON: equal jobs have one file, a changed setting another."""
    text = json.dumps({"schema": SCHEMA, **asdict(job)}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def point_path(directory: Path, job: Job) -> Path:
    return directory / f"{job_digest(job)}.json"


def load_point(directory: Path, job: Job) -> Point | None:
    """The stored point of a job; None when there is none or the file is not a whole record of this very job."""
    try:
        record = json.loads(point_path(directory, job).read_text())
        point = Point.from_record(record)
        return point if point.job == job and record["schema"] == SCHEMA else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def run_sweep(
    jobs: Sequence[Job], directory: Path, write: Write, *, workers: int = 1,
    progress: Callable[[Point], None] = lambda point: None,
) -> Iterator[Point]:
    """Yield every job's point: stored ones first, the others as they finish, each written before it is yielded.

    ``write(path, content)`` must put a file in place whole or not at all.  Files that a killed writer left half
    finished are removed.  An exception of a job ends the sweep; what was finished stays.
    """
    directory.mkdir(parents=True, exist_ok=True)
    for leftover in directory.glob(".writing-*"):
        leftover.unlink(missing_ok=True)
    pending = []
    for job in dict.fromkeys(jobs):
        point = load_point(directory, job)
        if point is None:
            pending.append(job)
        else:
            yield point
    if not pending:
        return
    # Importing joblib's executor costs a noticeable part of a second, which a finished sweep need not pay.
    from joblib.externals.loky import get_reusable_executor

    executor = get_reusable_executor(max_workers=min(workers, len(pending)), env=ONE_THREAD, timeout=20)
    futures = [executor.submit(_measure_and_store, job, directory, write) for job in pending]
    try:
        for future in as_completed(futures):
            point = future.result()
            progress(point)
            yield point
    finally:
        for future in futures:
            future.cancel()


def _measure_and_store(job: Job, directory: Path, write: Write) -> Point:
    """Runs in a worker, which writes its own file: a point survives the death of whoever asked for it."""
    point = measure(job)
    write(point_path(directory, job), (json.dumps({"schema": SCHEMA, **point.record()}, sort_keys=True) + "\n").encode())
    return point
