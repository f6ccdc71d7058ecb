"""Running Rocq: find it, compile sources outside the package, keep finished results in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .vernacular import imports

LIBRARY = "sinkproof"
"""Logical name of our library: `From sinkproof Require Import Geometry.`"""

MATHCOMP = ("ssreflect/all_ssreflect.vo", "algebra/all_algebra.vo", "algebra_tactics/ring.vo", "zify/zify.vo")
PACKAGES = "libcoq-mathcomp-algebra libcoq-mathcomp-algebra-tactics libcoq-mathcomp-zify coq"
# A compiled library begins by requiring MathComp, whose own warnings say nothing about our sources.
COQC = ("coqc", "-q", "-w", "none")
TIMEOUT = 900


class RocqMissing(RuntimeError):
    """Rocq or one of the libraries the proofs use is not installed; the message says what to install."""


class BuildFailed(RuntimeError):
    """coqc refused a source; `output` is what it said."""

    def __init__(self, file: str, output: str) -> None:
        super().__init__(f"{file} does not build: {' '.join(output.split())[:400]}")
        self.file = file
        self.output = output


@dataclass(frozen=True)
class Toolchain:
    """Versions of what judged the proofs, as (name, version) pairs, and one digest of them."""

    versions: tuple[tuple[str, str], ...]
    digest: str


def sha256(data: bytes | str) -> str:
    """Hexadecimal SHA-256 of bytes or of a text's UTF-8 encoding."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def run(command: list[str], cwd: Path, timeout: int = TIMEOUT) -> subprocess.CompletedProcess[str]:
    """Run a Rocq program, its messages in English and without a user's start-up file."""
    try:
        return subprocess.run(
            command,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, "LC_ALL": "C.UTF-8"},
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"no answer within {timeout} seconds")


def find_toolchain() -> Toolchain:
    """Find coqc and the libraries.  Raises RocqMissing, with one sentence that says what to install."""
    if shutil.which("coqc") is None:
        raise RocqMissing(f"Rocq is not installed: coqc was not found; on Debian 12 install {PACKAGES}.")
    where = Path(run(["coqc", "-where"], Path.cwd()).stdout.strip())
    lines = run(["coqc", "--version"], Path.cwd()).stdout.split()
    coq = next((word for word in lines if word[:1].isdigit()), "unknown")
    versions = [("coq", coq)]
    for name in MATHCOMP:
        path = where / "user-contrib" / "mathcomp" / name
        if not path.is_file():
            raise RocqMissing(f"a Rocq library is missing: mathcomp/{name} was not found; "
                              f"on Debian 12 install {PACKAGES}.")
        # MathComp carries no version of its own: the digest of a compiled module, which fixes all it was
        # built on.
        versions.append((f"mathcomp/{name}", "sha256:" + sha256(path.read_bytes())))
    return Toolchain(tuple(versions), sha256(repr(versions)))


def default_cache() -> Path:
    """Where finished builds are kept: `$XDG_CACHE_HOME/sinkproof/formal`, or `~/.cache/sinkproof/formal`."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    root = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    return root / "sinkproof" / "formal"


@contextmanager
def cache_or_temporary(cache: Path | None) -> Iterator[Path]:
    """The cache directory, made if need be; a directory that vanishes afterwards when `cache` is None."""
    if cache is None:
        with tempfile.TemporaryDirectory(prefix="sinkproof-") as name:
            yield Path(name)
    else:
        cache.mkdir(parents=True, exist_ok=True)
        yield cache


@contextmanager
def _alone(cache: Path, name: str) -> Iterator[None]:
    """One builder of a module at a time, over processes and threads; the others then find it finished.

    Where the system has no flock a module may be built twice, which costs time and nothing else.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (cache / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _publish(work: Path, final: Path) -> None:
    """Move a finished directory into the cache in one step; when somebody was faster, theirs stands."""
    try:
        os.rename(work, final)
    except OSError:
        if not final.is_dir():
            raise
        shutil.rmtree(work, ignore_errors=True)


def build_order(sources: Mapping[str, str]) -> tuple[str, ...]:
    """Modules so that each comes after the ones it requires.  Raises ValueError on an unknown module or a cycle."""
    order: list[str] = []
    open_: list[str] = []

    def visit(name: str) -> None:
        if name in order:
            return
        if name in open_:
            raise ValueError("expected sources that can be put in an order, got some that require each other in a "
                             f"circle: {' -> '.join([*open_, name])}; break it")
        if name not in sources:
            raise ValueError(f"expected {name}.v among the listed sources, since {open_[-1]}.v requires it, got none; "
                             "list it")
        open_.append(name)
        for dependency in imports(sources[name], LIBRARY):
            visit(dependency)
        open_.pop()
        order.append(name)

    for name in sources:
        visit(name)
    return tuple(order)


def all_dependencies(name: str, sources: Mapping[str, str]) -> tuple[str, ...]:
    """The modules that `name` needs, directly or not, each after the ones it needs itself."""
    needed = {name}
    order = build_order(sources)
    for module in reversed(order):
        if module in needed:
            needed.update(imports(sources[module], LIBRARY))
    return tuple(m for m in order if m in needed and m != name)


def compile_module(
    name: str, source: str, libraries: Mapping[str, Path], toolchain: Toolchain, cache: Path
) -> tuple[Path, str]:
    """Compile one source against already compiled modules.

    Arguments: the module's name and text; `libraries`, the compiled file (.vo) of each module it needs; the
    toolchain; the cache directory, which gets a directory named by the digest of all these, moved there only
    when finished. Returns the compiled file and what coqc printed. Raises BuildFailed with coqc's message.
    """
    bytes_of = {module: path.read_bytes() for module, path in libraries.items()}
    key = sha256(repr((toolchain.digest, name, source, sorted((m, sha256(b)) for m, b in bytes_of.items()))))
    final = cache / key[:40]
    compiled, printed = final / f"{name}.vo", final / "stdout.txt"
    if not (compiled.is_file() and printed.is_file()):
        with _alone(cache, name):
            if not (compiled.is_file() and printed.is_file()):
                _compile(name, source, bytes_of, final)
    return compiled, printed.read_text(encoding="utf-8")


def _compile(name: str, source: str, libraries: Mapping[str, bytes], final: Path) -> None:
    """Run coqc in a directory of its own and move what it made to `final` in one step."""
    with tempfile.TemporaryDirectory(prefix="build-", dir=final.parent) as directory:
        work = Path(directory) / "lib"
        work.mkdir()
        for module, content in libraries.items():
            (work / f"{module}.vo").write_bytes(content)
        (work / f"{name}.v").write_text(source, encoding="utf-8")
        done = run([*COQC, "-Q", ".", LIBRARY, f"{name}.v"], work)
        if done.returncode != 0 or not (work / f"{name}.vo").is_file():
            raise BuildFailed(f"{name}.v", done.stderr or done.stdout)
        result = Path(directory) / "finished"
        result.mkdir()
        shutil.copy(work / f"{name}.vo", result / f"{name}.vo")
        (result / "stdout.txt").write_text(done.stdout, encoding="utf-8")
        _publish(result, final)


def build(sources: Mapping[str, str], toolchain: Toolchain, cache: Path) -> dict[str, Path | BuildFailed]:
    """Compile every module, each after those it needs, independent ones side by side.

    Returns for each module its compiled file, or the reason why there is none (its own failure, or that of a
    module it needs).
    """

    def outcome(name: str) -> Path | BuildFailed:
        libraries: dict[str, Path] = {}
        for dependency in all_dependencies(name, sources):
            needed = pending[dependency].result()
            if isinstance(needed, BuildFailed):
                return BuildFailed(f"{name}.v", f"it needs {dependency}.v, which does not build")
            libraries[dependency] = needed
        try:
            return compile_module(name, sources[name], libraries, toolchain, cache)[0]
        except BuildFailed as failure:
            return failure

    # Submitted in build order, so whatever a thread waits for has been taken up by another one before it.
    pending: dict[str, Future[Path | BuildFailed]] = {}
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for name in build_order(sources):
            pending[name] = pool.submit(outcome, name)
    return {name: done.result() for name, done in pending.items()}
