"""A sweep on a real Dask scheduler and two workers on loopback: one killed mid-sweep, bad addresses, no package."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import distributed
import pytest
from click.testing import CliRunner

from numerics.scaling import sweep_jobs
from numerics.scaling_clouds import Geometry
from numerics.sweep import load_point, run_sweep
from proofs_check import cli, cluster
from proofs_check.certificates import write_whole
from proofs_check.cluster import MissingCluster, dask_cluster
from proofs_check.commands.scale import scale
from proofs_check.inputs import BadInput

ROOT = Path(__file__).resolve().parents[2]
DASK = "from distributed.cli.dask_{0} import main; import sys; sys.exit(main())"
JOBS = sweep_jobs([Geometry("orthonormal"), Geometry("independent"), Geometry("common", 0.3)], (6, 9, 12, 16),
                  ("nuclear",), {"margin": 1.0}, draws=2)


def start(part: str, *arguments: object, folder: Path) -> subprocess.Popen:
    """A scheduler or a worker in a session of its own; what it says goes to a file."""
    with (folder / f"{part}-{arguments[-1]}.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-c", DASK.format(part), *map(str, arguments)], stdout=log, stderr=log, cwd=folder,
            start_new_session=True, env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"})


def worker(address: str, folder: Path, name: str) -> subprocess.Popen:
    return start("worker", address, "--no-nanny", "--no-dashboard", "--nthreads", 1, "--memory-limit", 0,
                 "--host", "127.0.0.1", "--local-directory", folder, "--name", name, folder=folder)


@contextmanager
def running(folder: Path, workers: int):
    """A scheduler on a free port of loopback with so many workers: (address, scheduler, workers)."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    started = [start("scheduler", "--host", "127.0.0.1", "--no-dashboard", "--port", port, folder=folder)]
    try:
        until_answering(port, started[0])
        started += [worker(address, folder, f"w{number}") for number in range(workers)]
        yield address, started[0], started[1:]
    finally:
        for process in started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def until_answering(port: int, process: subprocess.Popen) -> None:
    while process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the scheduler ended before it answered")


def essence(points) -> list:
    return sorted((point.job, point.lower, point.upper, point.status) for point in points)


def command(*arguments: object) -> dict:
    """What `sinkproof scale` prints for tokens made by the worker and for real ones sent to it."""
    given = ["--cloud", "independent", "--cloud", "real", "--sizes", "5,6,7,8", "--norm", "frobenius",
             "--form", "margin", "--draws", 1, *arguments, "--json"]
    result = CliRunner().invoke(scale, list(map(str, given)), standalone_mode=False, catch_exceptions=False)
    assert result.return_value == 0
    return json.loads(result.stdout)


def bounds(document: dict) -> list:
    return [[point[key] for key in ("T", "cloud", "pattern", "side", "lower", "upper")] for point in document["points"]]


@pytest.mark.slow
def test_a_worker_killed_mid_sweep_loses_nothing_and_nothing_is_there_twice(tmp_path, capfd):
    """The command gives the same there and here.

    Then the scheduler itself goes: what was finished stays, one sentence says so, and a last run without it goes on.
    """
    here, there = tmp_path / "here", tmp_path / "there"
    expected = essence(run_sweep(JOBS, here, write_whole))
    with running(tmp_path, 2) as (address, scheduler, (first, second)):
        found = []
        with dask_cluster(address) as execute:
            for point in run_sweep(JOBS, there, write_whole, execute):
                assert load_point(there, point.job) == point
                found.append(point)
                if len(found) == len(JOBS) // 3:
                    os.killpg(first.pid, signal.SIGKILL)
                    first.wait()
        assert first.returncode == -signal.SIGKILL and second.poll() is None
        assert len(found) == len(JOBS) and essence(found) == expected
        assert len(list(there.iterdir())) == len(JOBS)

        documents = [command("--scheduler", address, "--out", tmp_path / "cluster"),
                     command("--out", tmp_path / "alone")]
        assert len({json.dumps(bounds(document)) for document in documents}) == 1 and len(bounds(documents[0])) == 24

        stamps = {path: path.stat().st_mtime_ns for path in there.iterdir()}
        more = sweep_jobs([Geometry("orthonormal")], (6, 7, 24, 32, 40), ("nuclear",), {"margin": 1.0}, draws=1)
        with dask_cluster(address) as execute:
            again = run_sweep([*JOBS, *more], there, write_whole, execute)
            assert essence(next(again) for _ in JOBS) == expected
            next(again)
            os.killpg(scheduler.pid, signal.SIGKILL)
            with pytest.raises(BadInput, match="lost it after .* points, which are stored; run the same command again"):
                list(again)
        assert stamps.items() <= {path: path.stat().st_mtime_ns for path in there.iterdir()}.items()
    assert "Traceback" not in capfd.readouterr().err
    rest = essence(run_sweep([*JOBS, *more], there, write_whole))
    assert len(rest) == len(set(JOBS + more)) and set(expected) <= set(rest)


@pytest.mark.slow
def test_a_worker_with_other_sources_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("proofs_check.verify.code_digest", lambda rooms: "0" * 64)
    with running(tmp_path, 1) as (address, _, _), dask_cluster(address) as execute:
        with pytest.raises(ValueError, match="the client's version of sinkproof on every worker"):
            list(run_sweep(JOBS[:2], tmp_path / "points", write_whole, execute))
    assert list((tmp_path / "points").iterdir()) == []


@pytest.mark.slow
def test_a_scheduler_without_workers_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "WORKER_SECONDS", 1)
    with running(tmp_path, 0) as (address, _, _):
        with pytest.raises(BadInput, match="found none within 1 s; start one with: dask worker"), dask_cluster(address):
            pass


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "tcp://[", "ftp://127.0.0.1:2", ""])
def test_an_address_without_a_scheduler_is_one_sentence(tmp_path, monkeypatch, address):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    arguments = ["--scheduler", address, "--sizes", "5,6,7,8", "--out", str(tmp_path / "out")]
    said = "expected a Dask scheduler at '.*', got no answer .*; give its address"
    with pytest.raises(BadInput, match=said) as caught:
        CliRunner().invoke(scale, arguments, standalone_mode=False, catch_exceptions=False)
    assert "\n" not in str(caught.value) and not list(tmp_path.iterdir())


def test_a_port_that_speaks_something_else_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        with pytest.raises(BadInput, match="got no answer"), dask_cluster(f"tcp://127.0.0.1:{silent.getsockname()[1]}"):
            pass


def test_without_the_package_the_command_says_what_to_install_and_ends_with_three(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = "the package distributed .*; install it with: pip install 'sinkproof\\[cluster\\]'"
    with pytest.raises(MissingCluster, match=said):
        with dask_cluster("tcp://127.0.0.1:8786"):
            pass
    arguments = ["--scheduler", "tcp://127.0.0.1:8786", "--out", str(tmp_path / "out")]
    monkeypatch.setattr("sys.argv", ["sinkproof", "scale", *arguments])
    assert cli.main() == 3 and not list(tmp_path.iterdir())
    error = capsys.readouterr().err
    assert "pip install" in error and error.count("\n") == 1


@pytest.mark.parametrize("error, words", [
    (distributed.scheduler.KilledWorker("job", None, 3), "a job beside which 4 died; give them more memory"),
    (ModuleNotFoundError("No module named 'numerics'", name="numerics"),
     "one without the package numerics; install the"),
    (distributed.CancelledError("job"), "lost it after 0 of 1 points, which are stored"),
    (distributed.comm.CommClosedError("job"), "lost it after 0 of 1 points, which are stored")])
def test_what_a_cluster_can_do_to_a_job_is_one_sentence(monkeypatch, error, words):
    def result():
        raise error

    monkeypatch.setattr(distributed, "as_completed", lambda futures, loop: futures)
    client = SimpleNamespace(loop=None, submit=lambda *given, key: SimpleNamespace(result=result))
    with pytest.raises(BadInput, match=words):
        list(cluster._measure_all(distributed, client, "tcp://127.0.0.1:8786", [(JOBS[0], None)]))
