"""An interrupt is obeyed wherever it arrives, and so is a request to terminate."""

from __future__ import annotations

import os
import signal
import sys
import threading

PAUSE = 0.05  # seconds; the code that swallowed the interrupt has ended by then


class Terminated(KeyboardInterrupt):
    """SIGTERM, as `timeout` and batch systems send it: like an interrupt it leaves nothing half-written or running."""


def obey_everywhere() -> None:
    """Make SIGTERM an exception, and send an interrupt again that Python swallowed.

    A KeyboardInterrupt raised inside a finaliser or a callback of the garbage collector cannot leave it: Python reports
    it as ignored, and the run goes on as if nobody had asked it to stop.
    """
    ordinary = sys.unraisablehook

    def again(unraisable: sys.UnraisableHookArgs) -> None:
        if not issubclass(unraisable.exc_type, KeyboardInterrupt):
            ordinary(unraisable)
            return
        later = threading.Timer(PAUSE, os.kill, (os.getpid(), signal.SIGINT))
        later.daemon = True
        later.start()

    sys.unraisablehook = again
    signal.signal(signal.SIGTERM, _terminate)


def _terminate(_number: int, _frame: object) -> None:
    raise Terminated
