"""The progress table and the progress bar."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import click
import numpy.typing as npt

from afterwit.errors import invalid
from afterwit.protocol import Point

HEADER = f"{'rounds':>12} {'mistakes':>12} {'error so far':>13} {'since last row':>15} {'features':>10}"


def table_row(point: Point) -> str:
    """A point of the learning curve as a row under HEADER."""
    features = "" if point.features is None else f"{point.features:,}"
    return f"{point.rounds:>12,} {point.mistakes:>12,} {point.error:>13.2%} {point.recent_error:>15.2%} {features:>10}"


def write_labels(file: BinaryIO, labels: npt.NDArray[Any]) -> None:
    """Labels to a predictions file, one a line."""
    file.write("".join(f"{label}\n" for label in labels.tolist()).encode())


def distinct_files(**paths: str | None) -> None:
    """Refuse to write over what is read, or two results into one file."""
    seen: dict[Path, str] = {}
    for name, path in paths.items():
        if path is None or path == "-":
            continue
        shown = name if name.isupper() else f"--{name}"
        if path == "":
            raise invalid(shown, "the name of a file", path)
        place = Path(path).resolve()
        if place in seen and not name.isupper():
            raise invalid(shown, f"another file than {seen[place]}", path)
        seen[place] = shown


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
    """A display for the length of a run; the bar is drawn only where someone can see it, and leaves no trace."""
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
