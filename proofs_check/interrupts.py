"""An interrupt is obeyed wherever it arrives."""

from __future__ import annotations

import os
import signal
import sys
import threading

PAUSE = 0.05  # seconds; the code that swallowed the interrupt has ended by then


def obey_everywhere() -> None:
    """Send an interrupt again that Python swallowed.

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
