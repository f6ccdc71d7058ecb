"""An interrupt that arrives inside a finaliser still stops the run, and one while packages load is one sentence."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from proofs_check.interrupts import obey_everywhere
{obey}

class Dying:
    def __del__(self):
        {fault}

try:
    Dying()
    {after}
    time.sleep(2)
    print("went on")
except KeyboardInterrupt:
    print("stopped")
"""
INTERRUPT = "signal.raise_signal(signal.SIGINT)"


def run(obey: str, fault: str = INTERRUPT, after: str = "") -> subprocess.CompletedProcess:
    script = SCRIPT.format(obey=obey, fault=fault, after=after)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          check=True)


def test_python_alone_swallows_it():
    assert run("").stdout == "went on\n"


def test_it_is_sent_again():
    result = run("obey_everywhere()")
    assert (result.stdout, result.stderr) == ("stopped\n", "")


def test_it_is_not_sent_again_once_the_run_has_ended():
    result = run("done = obey_everywhere()", after="done()")
    assert result.stdout == "went on\n"


def test_another_error_in_a_finaliser_is_reported_as_ever():
    result = run("obey_everywhere()", "1 / 0")
    assert result.stdout == "went on\n" and "ZeroDivisionError" in result.stderr


LOADING = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "proofs_check.cli":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Slow())
sys.argv = ["sinkproof", "claims"]
from proofs_check.__main__ import main
sys.exit(main())
"""


def test_an_interrupt_while_packages_load_is_one_sentence():
    result = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (130, "sinkproof: interrupted; nothing was begun\n")


EXECUTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from proofs_check.interrupts import obey_everywhere
done = obey_everywhere()
try:
    exec("signal.raise_signal(signal.SIGINT)")
except KeyboardInterrupt:
    pass
{after}
sys.exit(130)
"""


def test_an_interrupt_inside_an_executed_text_keeps_the_exit_code(tmp_path):
    for after, code in (("", -2), ("done()", 130)):
        (tmp_path / "stopped.py").write_text(EXECUTED.format(after=after))
        result = subprocess.run([sys.executable, "-m", "stopped"], cwd=tmp_path, check=False)
        assert result.returncode == code
