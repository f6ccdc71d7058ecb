"""Work shared out to processes of this machine, which end without a word when whoever asked is interrupted or killed.

The pools at hand share locks between their processes: a killed parent leaves these to a tracker that prints a warning,
its workers go on or write into a broken pipe with a traceback, and a worker killed for its memory can leave its parent
waiting for ever.  Here every worker has a pipe of its own and nothing is shared.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from typing import TypeVar

__all__ = ["threads_of_children", "unordered"]

Item, Result = TypeVar("Item"), TypeVar("Result")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def unordered(function: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[Result]:
    """Yield ``function(item)`` for every item as they finish, computed by at most ``workers`` processes.

    One worker, or one item, is this process itself.  Otherwise each worker is a fresh process with one linear-algebra
    thread; function, items and results are pickled.  An exception of the function is raised here; leaving the iterator,
    by an exception or by closing it, terminates the workers at once.  MemoryError where a worker died.
    """
    if workers < 2 or len(items) < 2:
        yield from map(function, items)
        return
    waiting = list(reversed(items))
    busy: dict[Connection, object] = {}
    context = get_context("spawn")
    try:
        with _quiet_start():
            for _ in range(min(workers, len(items))):
                ours, theirs = context.Pipe()
                process = context.Process(target=_serve, args=(function, theirs), daemon=True)
                process.start()
                theirs.close()
                busy[ours] = process
                ours.send(waiting.pop())
        while busy:
            for pipe in wait(list(busy)):
                try:
                    result, error = pipe.recv()
                except (EOFError, OSError):
                    raise MemoryError(
                        "expected every worker process to finish its work, got one that died, most likely for want of "
                        "memory; run it again with fewer processes") from None
                if error is not None:
                    raise error
                if waiting:
                    pipe.send(waiting.pop())
                else:
                    pipe.close()  # which ends the worker
                    del busy[pipe]
                yield result
    finally:
        for process in busy.values():
            process.terminate()
        for process in busy.values():
            process.join()


@contextmanager
def _quiet_start() -> Iterator[None]:
    """Processes started here inherit an ignored SIGINT (an interrupt is for their parent) and one thread each."""
    main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN) if main else None
    try:
        # Two linear-algebra threads that wait for each other on a busy machine are ten times slower than one.
        with threads_of_children(1):
            yield
    finally:
        if main:
            signal.signal(signal.SIGINT, handler)


@contextmanager
def threads_of_children(count: int) -> Iterator[None]:
    """Processes started here have so many linear-algebra threads each."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, str(count)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _serve(function: Callable[[Item], Result], pipe: Connection) -> None:
    """Answer what comes through the pipe until it is closed; end at once, and silently, with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            item = pipe.recv()
        except EOFError:
            return
        try:
            answer = function(item), None
        except Exception as error:
            answer = None, _portable(error)
        try:
            pipe.send(answer)
        except OSError:  # the parent has gone
            return


def _end_with_parent() -> None:
    parent_process().join()
    os._exit(1)


def _portable(error: Exception) -> Exception:
    """The exception, or its words where it cannot be pickled and read again."""
    try:
        return pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
