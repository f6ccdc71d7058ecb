"""Sweeps that last: every point is a small file named by its job's digest, written whole, and never computed twice.

An interrupted sweep goes on where it stopped: what has a valid file is read, what has none (or half of one) is
computed.  Who computes is a function: this process, several of this machine, or a cluster.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

import numpy as np
from jaxtyping import Float

from numerics.scaling import Job, Point, measure
from numerics.workers import unordered

__all__ = ["Clouds", "Execute", "Task", "job_digest", "load_point", "local_processes", "point_path", "run_sweep",
           "store_point"]

SCHEMA = "sinkproof/point/2"
Write = Callable[[Path, bytes], None]
Cloud = tuple[Float[np.ndarray, "token dim"], Float[np.ndarray, " dim"]]
Clouds = Callable[[Job], Cloud | None]  # the rows of a real cloud; None for one that the job's geometry makes
Task = tuple[Job, Cloud | None]
Execute = Callable[[Sequence[Task]], Iterator[Point]]  # yields every task's point, in any order, each once


def job_digest(job: Job) -> str:
    """sha256 of the job's canonical JSON: equal jobs have one file, a changed setting another."""
    text = json.dumps({"schema": SCHEMA, **asdict(job)}, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def point_path(directory: Path, job: Job) -> Path:
    """The file of a job's point."""
    return directory / f"{job_digest(job)}.json"


def load_point(directory: Path, job: Job) -> Point | None:
    """The stored point of a job; None when there is none or the file is not a whole record of this very job."""
    try:
        record = json.loads(point_path(directory, job).read_text())
        point = Point.from_record(record)
        return point if point.job == job and record["schema"] == SCHEMA else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def store_point(directory: Path, point: Point, write: Write) -> None:
    """Put a point's record in place with ``write``, as in `run_sweep`."""
    content = json.dumps({"schema": SCHEMA, **point.record()}, sort_keys=True) + "\n"
    write(point_path(directory, point.job), content.encode())


def run_sweep(
    jobs: Sequence[Job], directory: Path, write: Write, execute: Execute | None = None, *,
    clouds: Clouds = lambda job: None,
) -> Iterator[Point]:
    """Yield every job's point: stored ones first, the others as they finish, each written before it is yielded.

    ``write(path, content)`` must put a file in place whole or not at all.  ``execute`` computes what is missing
    (default: this process).  Files that a killed writer left half finished are removed.  An exception of a job ends
    the sweep; what was finished stays.
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
    for point in (execute or local_processes(1, directory, write))([(job, clouds(job)) for job in pending]):
        if load_point(directory, point.job) is None:  # a local process has written its own
            store_point(directory, point, write)
        yield point


def local_processes(workers: int, directory: Path, write: Write) -> Execute:
    """This process, or several of this machine: who computes a point writes it, so it survives whoever asked for it."""

    def execute(tasks: Sequence[Task]) -> Iterator[Point]:
        return unordered(partial(_measure_and_store, directory=directory, write=write), tasks, workers)

    return execute


def _measure_and_store(task: Task, directory: Path, write: Write) -> Point:
    point = measure(*task)
    store_point(directory, point, write)
    return point
