"""Fuzz the command line and the readers of files for as long as you like.

    python tests/proofs_check/fuzzing.py commands --seconds 300 --seed 1     command lines from click's parameters
    python tests/proofs_check/fuzzing.py check --seconds 300                 certificates for the kernel
    python tests/proofs_check/fuzzing.py bytes --seconds 300 --target npz    bytes for one reader, guided by coverage

Exit 0 when nothing was found, 1 with the finding and what repeats it.  hypothesis draws the first two, atheris the
third, which alone needs it.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

MEMORY = 6 * 2**30


def fuzz_commands(seconds: float, seed: int, commands: tuple[str, ...] | None, shrink: bool, most: int) -> int:
    """Draw and run command lines until the time is over; the number of findings."""
    from collections import Counter

    import hypothesis
    from fuzz_commands import Plan, broken_promises, emptied, plans
    from hypothesis import HealthCheck, Phase, settings

    from proofs_check.claims import all_claims

    all_claims()  # once, so that the first command is not the slow one

    end, runs, seen, per = time.monotonic() + seconds, 0, Counter(), Counter()
    with tempfile.TemporaryDirectory() as scratch:
        # a short path: long ones would be all that messages say
        folder, journal = Path(scratch) / "f", Path(scratch) / "last"

        phases = (Phase.generate, Phase.shrink) if shrink else (Phase.generate,)

        @settings(max_examples=200, deadline=None, database=None, phases=phases,
                  suppress_health_check=list(HealthCheck))
        @hypothesis.given(plans(commands))
        def probe(plan: Plan) -> None:
            nonlocal runs
            if time.monotonic() > end:
                return
            journal.write_text(repr(plan))
            runs += 1
            per[plan.command] += 1
            found, story = broken_promises(plan, emptied(folder))
            for item in found:
                if seen[kind_of(item, plan.command)] == 0:
                    print(f"FINDING: {item}\n{story}\n", flush=True)
                seen[kind_of(item, plan.command)] += 1
            if found and shrink:
                raise AssertionError(found[0])

        while time.monotonic() < end and len(seen) < most:
            try:
                hypothesis.seed(seed)(probe)()
            except AssertionError:
                break
            seed += 1
    print(f"{runs} command lines, last seed {seed - 1}: {dict(per)}; "
          f"{sum(seen.values())} findings of {len(seen)} kinds", flush=True)
    return len(seen)


def kind_of(finding: str, command: str) -> str:
    return f"{command}: {finding[:60]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("commands", "check", "bytes"))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="commands to draw from")
    parser.add_argument("--target", choices=("npy", "npz", "safetensors", "json", "formula", "replay"), default="npz")
    parser.add_argument("--shrink", action="store_true", help="shrink the first finding and stop")
    parser.add_argument("--most", type=int, default=20, help="stop after so many kinds of findings")
    options = parser.parse_args()
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.path.insert(0, str(Path(__file__).parent))
    if options.what == "bytes":
        from fuzz_bytes import fuzz_bytes
        return fuzz_bytes(options.target, options.seconds, options.seed)
    commands = ("check",) if options.what == "check" else tuple(options.only) if options.only else None
    return 1 if fuzz_commands(options.seconds, options.seed, commands, options.shrink, options.most) else 0


if __name__ == "__main__":
    sys.exit(main())
