"""Lines of output, and a progress bar below them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click


class Display:
    """Prints lines to standard output and, on a terminal, keeps a progress bar below them."""

    def __init__(self, bar: Any = None, task: Any = None) -> None:
        self._bar = bar
        self._task = task

    def line(self, text: str) -> None:
        if self._bar is not None and sys.stdout.isatty():
            self._bar.console.print(text, markup=False, highlight=False, emoji=False, soft_wrap=True)
        else:
            click.echo(text)

    def advance_to(self, position: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=position)


@contextmanager
def display(description: str, total: int | None) -> Iterator[Display]:
    """A display for the duration of a run; the bar is drawn only on a terminal and is removed at the end."""
    if not sys.stderr.isatty():
        yield Display()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    # One console for table and bar where both are on the terminal, or they would overwrite each other.
    console = Console(stderr=not sys.stdout.isatty())
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield Display(bar, bar.add_task(description, total=total))
