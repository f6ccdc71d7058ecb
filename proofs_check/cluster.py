"""The points of a sweep on an existing Dask cluster (extra `cluster`): jobs go out, the client stores what comes back.

The scheduler hands the work of a lost worker to another one, so that nothing is lost; a job's key is its digest and the
client takes each job's result once, so that nothing is there twice.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from numerics.scaling import Point, measure
from numerics.sweep import Execute, Task, job_digest
from proofs_check.inputs import BadInput

ROOMS = ("numerics",)  # what decides a point's value
CONNECT_SECONDS, WORKER_SECONDS = 10, 30


class MissingCluster(ModuleNotFoundError):
    """The extra `cluster` is not installed.  The command line exits with 3."""


def measure_there(job, cloud, code: str) -> Point:
    """Runs on a worker: refuses to measure with other sources than the client's, then measures."""
    from proofs_check.verify import code_digest

    if code_digest(ROOMS) != code:
        raise ValueError("expected the client's version of sinkproof on every worker, got another one; install the "
                         "same version there and restart the workers")
    return measure(job, cloud)


@contextmanager
def dask_cluster(address: str) -> Iterator[Execute]:
    """What computes a sweep's points at ``address``; the client lives as long as the context.

    MissingCluster where the package is not installed; BadInput where no scheduler with a worker answers.
    """
    try:
        import distributed
    except ModuleNotFoundError as missing:
        raise MissingCluster(f"expected the package {missing.name} for --scheduler, found none; install it with: "
                             "pip install 'sinkproof[cluster]'") from None
    for name in [name for name in logging.root.manager.loggerDict if name.split(".")[0] in ("distributed", "tornado")]:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)  # what goes wrong is said here, in one sentence
    client = _connect(distributed, address)
    try:
        yield lambda tasks: _measure_all(distributed, client, address, tasks)
    finally:
        client.close(timeout=5)


def _measure_all(distributed, client, address: str, tasks: Sequence[Task]) -> Iterator[Point]:
    from proofs_check.verify import code_digest

    done, code = 0, code_digest(ROOMS)
    try:
        futures = [client.submit(measure_there, job, cloud, code, key=f"sinkproof-{code[:8]}-{job_digest(job)}")
                   for job, cloud in tasks]
        for future in distributed.as_completed(futures, loop=client.loop):
            yield future.result()
            done += 1
    except distributed.scheduler.KilledWorker as lost:
        raise BadInput(f"expected workers that survive their jobs, got a job beside which {lost.allowed_failures + 1} "
                       "died; give them more memory, then run the same command again") from None
    except (distributed.CancelledError, distributed.comm.CommClosedError):
        raise BadInput(f"expected the scheduler at {address} to stay, lost it after {done} of {len(tasks)} points, "
                       "which are stored; run the same command again") from None
    except ModuleNotFoundError as missing:
        raise BadInput(f"expected sinkproof on every worker, got one without the package {missing.name}; install the "
                       "client's version there") from None


def _connect(distributed, address: str):
    """A client of a scheduler that answers and has a worker; one sentence otherwise."""
    answer: list = []
    thread = threading.Thread(target=_ask, args=(distributed, address, answer), daemon=True)
    thread.start()
    thread.join(2 * CONNECT_SECONDS)  # a port that listens and says nothing holds the client for ever
    client = answer[0] if answer else TimeoutError()
    if isinstance(client, Exception):
        raise BadInput(f"expected a Dask scheduler at '{address}', got no answer ({type(client).__name__}); give its "
                       "address, as in tcp://127.0.0.1:8786") from None
    try:
        client.wait_for_workers(1, timeout=WORKER_SECONDS)
    except TimeoutError:
        client.close(timeout=5)
        raise BadInput(f"expected workers at {address}, found none within {WORKER_SECONDS} s; start one with: "
                       f"dask worker {address}") from None
    return client


def _ask(distributed, address: str, answer: list) -> None:
    try:
        answer.append(distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False))
    except Exception as error:  # whatever an address can be wrong about; its name is passed on
        answer.append(error)
