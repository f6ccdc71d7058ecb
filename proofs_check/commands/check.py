"""`sinkproof check`: listed here for --help; the kernel's own command does the work."""

from __future__ import annotations

import click

from proofs_check.kernel.command import main as kernel_main


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []}, add_help_option=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def check(arguments: tuple[str, ...]) -> int:
    """Replay certificates with the kernel alone (needs python-flint only)."""
    return kernel_main(list(arguments))
