"""`sinkproof`: the command line.  Errors are one sentence on standard error; exit codes are what --help says."""

from __future__ import annotations

import os
import sys

import click

from proofs_check import __version__
from proofs_check.commands.audit import audit
from proofs_check.commands.bench import bench
from proofs_check.commands.check import check
from proofs_check.commands.claims import claims, show
from proofs_check.commands.cost import cost
from proofs_check.commands.doctor import doctor
from proofs_check.commands.falsify import falsify
from proofs_check.commands.inspect import inspect
from proofs_check.commands.phase import phase
from proofs_check.commands.scale import scale
from proofs_check.commands.simulate import simulate
from proofs_check.commands.verify import verify
from proofs_check.exits import (EXIT_BAD_INPUT, EXIT_BROKEN, EXIT_INTERRUPTED, EXIT_LIMIT, EXIT_MISSING,
                                EXIT_TERMINATED)
from proofs_check.interrupts import Terminated, obey_everywhere
from proofs_check.kernel import Rejected
from proofs_check.kernel.command import one_line


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="sinkproof")
def sinkproof() -> None:
    """Verify a theory of attention sinks: evidence, exact certificates, verdicts.

    \b
    Exit codes: 0 every claim reached its required headline, 1 some fell short or was refuted, 2 bad usage or input,
    3 a required engine is missing, 4 engines disagree or something broke, 5 time or memory limit.
    """


# a sentence for the list of commands, which fits 80 columns; their own --help says more
SHORT = {
    verify: "Gather evidence for claims, replay it, print the verdicts.",
    claims: "List the claims.",
    show: "Show one claim with its ledger, variants and evidence.",
    check: "Replay certificates with the kernel alone.",
    falsify: "Search for a counterexample to a claim.",
    inspect: "Check the hypotheses of G, E and M on your embeddings.",
    cost: "Find the cheapest W_QK for a sink or a diagonal.",
    scale: "Sweep T, fit exponents, compare them with the derived ones.",
    phase: "Draw the exact boundary of C5 or C10 and check it.",
    simulate: "Simulate oversmoothing and draw it against theory.",
    audit: "Measure hypotheses, drifts and costs on a model.",
    bench: "Time our engine and cvxpy's solvers to equal gaps.",
    doctor: "Say what is installed and what a missing piece costs.",
}
for command, sentence in SHORT.items():
    command.short_help = sentence
    sinkproof.add_command(command)


def main() -> int:
    """Run the command line; no traceback reaches the user unless SINKPROOF_DEBUG is set."""
    done = obey_everywhere()
    try:
        return _exit_code()
    finally:
        done()


def _exit_code() -> int:
    try:
        result = sinkproof.main(standalone_mode=False)
        return result if isinstance(result, int) else 0
    except (click.exceptions.Abort, KeyboardInterrupt) as stopped:
        cause = stopped.__cause__ if isinstance(stopped, click.exceptions.Abort) else stopped
        left = str(cause or "") or "run the same command again to go on"  # a command may say what it kept
        if isinstance(cause, Terminated):
            return _stop(f"terminated; {left}", EXIT_TERMINATED)
        return _stop(f"interrupted; {left}", EXIT_INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as bare:
        print(bare.format_message(), file=sys.stderr)
        return EXIT_BAD_INPUT
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        return _stop(error.format_message(), EXIT_BAD_INPUT)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except ModuleNotFoundError as missing:  # an extra's own error says which; any other package is a part of ours
        own = type(missing) is not ModuleNotFoundError
        return _stop(str(missing) if own else f"expected the package {missing.name}, found none; install the pinned "
                     "packages with: make install", EXIT_MISSING)
    except MemoryError as error:
        return _stop(str(error) or "out of memory; give fewer tokens or use a machine with more memory", EXIT_LIMIT)
    except TimeoutError as error:
        return _stop(str(error), EXIT_LIMIT)
    except OSError as error:
        if os.environ.get("SINKPROOF_DEBUG"):
            raise
        return _stop(f"expected to read or write {error.filename or 'a file'}, got: {error.strerror or error}; "
                     "check the path and its permissions", EXIT_BAD_INPUT)
    except Rejected as error:
        if os.environ.get("SINKPROOF_DEBUG"):
            raise
        return _stop(f"expected values and formulas that the kernel can evaluate, got: {error}; correct the claim",
                     EXIT_BAD_INPUT)
    except ValueError as error:
        if os.environ.get("SINKPROOF_DEBUG"):
            raise
        return _stop(str(error), EXIT_BAD_INPUT)
    except Exception as error:
        if os.environ.get("SINKPROOF_DEBUG"):
            raise
        return _stop(f"internal error, {type(error).__name__}: {error}; set SINKPROOF_DEBUG=1 to see where",
                     EXIT_BROKEN)


def _stop(message: str, code: int) -> int:
    print(f"sinkproof: {one_line(message)}", file=sys.stderr)
    return code
