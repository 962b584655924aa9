"""Searches that count their steps, stop at a limit and show a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from afterwit.data.checks import count_of
from afterwit.errors import counted, invalid

#: How many steps a search may take by default: a minute or two, where the hypotheses are few.
LIMIT = 50_000_000
#: How many steps pass between two looks at the bar.
STEPS_BETWEEN_LOOKS = 4096


class Search:
    """Counts the steps of a search, stops it at a limit, and shows how far it is."""

    def __init__(self, what: str, limit: int, bar: Any = None, task: Any = None) -> None:
        self._what = what
        self._limit = limit
        self._bar = bar
        self._task = task
        self._next_look = 0
        self.steps = 0
        #: What is known so far, for the message and the bar.
        self.known = ""

    def step(self, count: int = 1) -> None:
        """Count some steps; refuse to go on beyond the limit."""
        self.steps += count
        if self.steps > self._limit:
            so_far = f", by then {self.known}" if self.known else ""
            raise invalid(
                "limit", f"larger: {self._what} takes more than {self._limit:,} steps here{so_far}", self._limit
            )
        if self._bar is not None and self.steps >= self._next_look:
            self._next_look = self.steps + STEPS_BETWEEN_LOOKS
            known = self.known or "searching"
            self._bar.update(self._task, description=f"{self._what}: {known}, {counted(self.steps, 'step')}")


@contextmanager
def search(what: str, limit: Any, progress: Any) -> Iterator[Search]:
    """A search of at most ``limit`` steps; ``progress`` None shows a bar on a terminal, True in a notebook as well."""
    most = count_of("steps")("limit", limit)
    if progress is not None and not isinstance(progress, bool):
        raise invalid("progress", "True, False or None", progress)
    if not (sys.stderr.isatty() if progress is None else progress):
        yield Search(what, most)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        yield Search(what, most)
        return
    # Nobody knows beforehand how many steps it takes: the bar only moves.
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        yield Search(what, most, bar, bar.add_task(what, total=None))
