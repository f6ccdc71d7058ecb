"""An interrupted run goes on and comes to the same report; `interrupting.py` does it for all claims."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from interrupting import differences, without_times

SCRIPT = Path(__file__).with_name("interrupting.py")


@pytest.mark.slow
def test_verify_interrupted_at_six_random_points_says_what_it_says_when_left_alone():
    run = subprocess.run([sys.executable, str(SCRIPT), "--forked", "--interrupts", "6", "--seed", "1",
                          "C7", "C13", "C11", "C12"],
                         capture_output=True, text=True, check=False, env={**os.environ, "JAX_PLATFORMS": "cpu"})
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("SIGINT") == 3 and run.stdout.count("SIGKILL") == 3


def test_a_difference_is_seen():
    left = {"report": {"claims": []}, "files": {"a": b"1"}}
    assert differences(left, left) == []
    assert differences(left, {**left, "files": {"a": b"2"}}) == ["a differs"]
    assert differences(left, {**left, "files": {}}) == ["a differs"]
    assert differences(left, {**left, "report": {"claims": [1]}}) == ["report.json says something else"]
    assert without_times({"seconds": 1, "claims": [{"seconds": 2, "id": "x"}]}) == {"claims": [{"id": "x"}]}
