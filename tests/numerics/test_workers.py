"""Workers give every result once, pass errors on, and leave nothing behind, whatever ends their parent."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time

import pytest

from numerics.workers import unordered

PARENT = """
import time
from proofs_check.interrupts import Terminated, obey_everywhere
from numerics.workers import unordered

if __name__ == "__main__":
    obey_everywhere()
    try:
        for _ in unordered(time.sleep, [0.0, 0.0, 600.0, 600.0], 2):
            print("one", flush=True)
    except KeyboardInterrupt as stopped:
        print("terminated" if isinstance(stopped, Terminated) else "interrupted", flush=True)
"""


def test_one_worker_is_this_process():
    assert list(unordered(lambda item: (item, os.getpid()), [3, 4], 1)) == [(3, os.getpid()), (4, os.getpid())]
    assert list(unordered(lambda item: item, [], 4)) == []


def test_every_result_comes_once_and_an_error_is_raised_here():
    assert sorted(unordered(math.factorial, [3, 4, 5], 2)) == [6, 24, 120]
    with pytest.raises(ValueError, match="not defined for negative"):
        list(unordered(math.factorial, [3, -1, 5], 2))


def test_a_worker_that_dies_is_said_and_not_waited_for():
    with pytest.raises(MemoryError, match="expected every worker process to finish"):
        list(unordered(os._exit, [7, 7], 2))


@pytest.mark.parametrize(("kind", "said"), [
    (signal.SIGINT, "interrupted\n"), (signal.SIGTERM, "terminated\n"), (signal.SIGKILL, "")])
def test_the_end_of_the_parent_is_the_end_of_the_workers_and_nothing_else_is_printed(tmp_path, kind, said):
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    run = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           start_new_session=True)
    assert [run.stdout.readline(), run.stdout.readline()] == ["one\n", "one\n"]
    if kind == signal.SIGINT:
        os.killpg(run.pid, kind)  # as a terminal does: the workers get it too
    else:
        run.send_signal(kind)
    assert run.communicate() == (said, "")  # ends only when every process has closed these pipes: the workers too
    for _ in range(200):
        try:
            os.killpg(run.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("a process of the group still runs")
