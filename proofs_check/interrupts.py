"""An interrupt is obeyed wherever it arrives, and so is a request to terminate."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable

PAUSE = 0.5  # seconds; by then the code that swallowed the interrupt has ended, or has been left after all


class Terminated(KeyboardInterrupt):
    """SIGTERM, as `timeout` and batch systems send it: like an interrupt it leaves nothing half-written or running."""


def obey_everywhere() -> Callable[[], None]:
    """Make SIGTERM an exception, and send an interrupt again that Python swallowed; what is returned undoes the second.

    A KeyboardInterrupt raised inside a finaliser or a callback of the garbage collector cannot leave it: Python reports
    it as ignored, and the run goes on as if nobody had asked it to stop.
    """
    ordinary, sent = sys.unraisablehook, []

    def again(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            ordinary(unraisable)
            return
        later = threading.Timer(PAUSE, os.kill, (os.getpid(), signal.SIGINT))
        later.daemon = True
        sent.append(later)
        later.start()

    def done() -> None:
        """Where one is both reported and obeyed, a second must not kill the process on its way out."""
        sys.unraisablehook = ordinary
        for later in sent:
            later.cancel()
        # An interrupt inside exec of a text leaves a mark by which `python -m` dies of SIGINT instead of returning its
        # exit code, although the interrupt was handled; the next exec of a text clears it.
        exec("")

    sys.unraisablehook = again
    signal.signal(signal.SIGTERM, _terminate)
    return done


def _terminate(_number: int, _frame: object) -> None:
    raise Terminated
