"""Output for people: rich tables on a terminal, aligned plain text when piped, progress on standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import accumulate

from rich.console import Console
from rich.markup import escape
from rich.table import Table

STYLES = {"PROVED": "bold green", "PROVED ON": "green", "SUPPORTED": "yellow", "REFUTED": "bold red", "SUSPECT": "red",
          "OPEN": "magenta", "VACUOUS": "magenta", "ERROR": "bold red"}


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], styled: int | None = None) -> None:
    """Print a table; `styled` is the column whose text is a headline and coloured as such."""
    console = Console()
    if not console.is_terminal:
        widths = [max(len(str(row[i])) for row in (columns, *rows)) for i in range(len(columns))]
        for row in (columns, *rows):
            print("  ".join(str(cell).ljust(width) for cell, width in zip(row, widths)).rstrip())
        return
    table = Table(title=escape(title), title_justify="left")
    for column in columns:
        table.add_column(column)
    for row in rows:
        cells = [escape(str(cell)) for cell in row]
        if styled is not None:
            word = str(row[styled])
            style = next((style for key, style in sorted(STYLES.items(), reverse=True) if word.startswith(key)), "")
            cells[styled] = f"[{style}]{cells[styled]}[/]" if style else cells[styled]
        table.add_row(*cells)
    console.print(table)


def brief(values: object) -> str:
    """An instance's values on one line, as in ``a=1/2, b=[1, 0]``."""
    if isinstance(values, Mapping):
        return ", ".join(f"{name}={brief(value)}" for name, value in values.items())
    if isinstance(values, (list, tuple)):
        return "[" + ", ".join(brief(item) for item in values) + "]"
    return str(values)


def shortened(text: str, room: int) -> str:
    """The text, its end replaced by dots where it takes more than `room` characters."""
    return text if len(text) <= room else f"{text[:room - 3]}..."


def each_of(cases: Sequence[str], room: int = 360) -> str:
    """An `exists` part's cases on one line, as in ``for each of: T == 1; T == 2``; of the rest (the first is always
    there) only the number, once they take more than `room` characters.
    """
    most = max(1, sum(length <= room for length in accumulate(len(text) for text in cases)))
    more = [f"and {len(cases) - most} more, all in claim.json"] if len(cases) > most else []
    return "for each of: " + "; ".join([*cases[:most], *more])


class Steps:
    """A progress bar on a terminal, a line per step elsewhere; always on standard error, silent when asked."""

    def __init__(self, total: int | None, quiet: bool):
        self.console, self.total, self.quiet, self.done = Console(stderr=True), total, quiet, 0
        self.bar, self.stage = None, ""

    def __enter__(self) -> Steps:
        if self.console.is_terminal and not self.quiet:
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            words = TextColumn("{task.fields[stage]}{task.completed} of {task.total}  {task.description}")
            self.bar = Progress(SpinnerColumn(), words, TimeElapsedColumn(), console=self.console, transient=True)
            self.bar.start()
            self.task = self.bar.add_task("", total=self.total, stage=self.stage)
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def count_anew(self, stage: str) -> None:
        """From here on steps are counted from one and named, as in ``replay 1 of 43: G2``."""
        self.done, self.stage = 0, f"{stage} "

    def step(self, text: str) -> None:
        self.done += 1
        if self.bar is not None:
            self.bar.update(self.task, completed=self.done, description=escape(text), stage=self.stage)
        elif not self.quiet:
            count = f"{self.done} of {self.total}" if self.total else str(self.done)
            print(f"{self.stage}{count}: {text}", file=sys.stderr, flush=True)
