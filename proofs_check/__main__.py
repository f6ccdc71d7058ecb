"""Entry point: `check` goes straight to the kernel, so that it runs where nothing but python-flint is installed."""

from __future__ import annotations

import sys


def main() -> int:
    if sys.argv[1:2] == ["check"]:
        from proofs_check.kernel.command import main as check
        return check(sys.argv[2:])
    from proofs_check.cli import main as command_line
    return command_line()


if __name__ == "__main__":
    sys.exit(main())
