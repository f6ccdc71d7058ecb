"""Entry point: `check` goes straight to the kernel, so that it runs where nothing but python-flint is installed."""

from __future__ import annotations

import codecs
import os
import sys


def escaped(error: UnicodeError) -> tuple[str, int]:
    """What an encoding lacks, in the escapes of JSON: UTF-16 units."""
    raw = error.object[error.start:error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{raw[i]:02x}{raw[i + 1]:02x}" for i in range(0, len(raw), 2)), error.end


def main() -> int:
    # A terminal without ‖, or a file name that is no text, must not end a run; \uXXXX keeps JSON valid.
    codecs.register_error("sinkproof", escaped)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="sinkproof")
    if sys.argv[1:2] == ["check"]:
        from proofs_check.kernel.command import main as check
        return check(sys.argv[2:])
    # Two BLAS threads that wait for each other on a busy machine are ten times slower than one; a user's own
    # setting wins.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    try:
        from proofs_check.cli import main as command_line
    except ModuleNotFoundError as missing:
        print(f"sinkproof: expected the package {missing.name}, found none; only 'sinkproof check' runs without it; "
              "install the pinned packages with: make install", file=sys.stderr)
        return 3
    except KeyboardInterrupt:  # the packages take seconds to load
        print("sinkproof: interrupted; nothing was begun", file=sys.stderr)
        return 130
    return command_line()


if __name__ == "__main__":
    sys.exit(main())
