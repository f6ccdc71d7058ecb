"""Strict mode (SINKPROOF_STRICT=1): a skipped or expected-to-fail test fails the run."""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Callable
from pathlib import Path

import pytest

# The workers of pytest-xdist share the cores; see proofs_check/__main__.py.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

_SKIPPED: list[str] = []


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The directory of a tiny random checkpoint of a family (tests/numerics/checkpoint_models.py), written once."""
    if any(importlib.util.find_spec(name) is None for name in ("torch", "transformers")):
        pytest.skip("the extra 'models' (torch, transformers) is not installed; run: make models")
    import checkpoint_models

    folder = tmp_path_factory.mktemp("checkpoints")
    return functools.cache(lambda family: checkpoint_models.save(family, folder / family))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else "expected failure"
        _SKIPPED.append(f"{report.nodeid}: {reason}")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _SKIPPED.append(f"{report.nodeid}: skipped at collection")


def pytest_sessionfinish(session: pytest.Session) -> None:
    controller = not hasattr(session.config, "workerinput")
    if os.environ.get("SINKPROOF_STRICT") and controller and _SKIPPED:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter) -> None:
    if os.environ.get("SINKPROOF_STRICT") and _SKIPPED:
        terminalreporter.section("strict mode: nothing may be skipped")
        for line in _SKIPPED:
            terminalreporter.write_line(line)
