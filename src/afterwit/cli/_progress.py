"""A progress bar below the text: what was read, how fast, the error so far and the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from afterwit.cli._terminal import STYLES, above_the_bar, harmless, is_terminal
from afterwit.core.aligned import cut
from afterwit.core.turns import Rounds

#: How often the bar is drawn in a second. In between, nothing is done for it.
DRAWN = 8
#: How wide the bar itself is.
NARROWEST, WIDEST = 8, 40
#: For so many seconds nothing is said of the time that is left.
FIRST_GUESS = 1.0
#: What the options are called that may write results to standard output.
RESULTS = ("predictions", "scores", "probabilities")


class Display:
    """How far a run has come. What it is told is shown a few times a second, if there is a bar at all."""

    def __init__(self, description: str, total: int | None, steps: bool) -> None:
        self._steps = steps
        self._description = " ".join(harmless(description).split())
        self._total = total or None
        self._position = 0
        self._rows: Callable[[], int] | None = None
        self._error: Callable[[], str] | None = None
        self._begun = time.monotonic()

    def advance_to(self, position: int) -> None:
        """So many bytes have been read, or so many steps have been done."""
        self._position = position

    def steps_of(self, total: int) -> None:
        """So many steps there are to do, now that it is known."""
        self._total = total

    def watch(self, rows: Callable[[], int] | None = None, error: Callable[[], str] | None = None) -> None:
        """What to ask, whenever the bar is drawn, for the rows and the error so far."""
        self._rows, self._error = rows, error

    def line(self, width: int) -> Any:
        """The bar and what is beside it, on one line of that width."""
        from rich.cells import cell_len
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        name = cut(self._description, max(NARROWEST, width // 4))
        said = self._said(time.monotonic() - self._begun)
        # What matters least is left out first.
        for least in ("speed", "rows", "time", "error", ""):
            room = width - cell_len(name) - cell_len("  ".join(said.values())) - 5
            if room >= NARROWEST:
                break
            said.pop(least, None)
        grid = Table.grid(padding=(0, 2, 0, 0))
        bar = ProgressBar(
            total=self._total,
            completed=min(self._position, self._total or 0),
            width=max(1, min(WIDEST, room)),
            pulse=self._total is None,
            style="dim",
            complete_style=STYLES["happened"],
            finished_style=STYLES["happened"],
            pulse_style=STYLES["happened"],
        )
        grid.add_row(Text(name, no_wrap=True), bar, Text("  ".join(said.values()), no_wrap=True))
        return grid

    def _said(self, elapsed: float) -> dict[str, str]:
        """What is known, by what it is."""
        said = {}
        rows = 0 if self._rows is None else self._rows()
        if rows:
            said["rows"] = f"{rows:,} {'row' if rows == 1 else 'rows'}"
        if self._steps:
            said["speed"] = f"{self._position} of {self._total}"
        elif self._position and elapsed:
            said["speed"] = f"{self._position / elapsed / 1e6:,.1f} MB/s"
        if self._error is not None and (error := self._error()):
            said["error"] = error
        if self._total is None:
            said["time"] = _clock(elapsed)
        elif self._position and elapsed > FIRST_GUESS:
            left = elapsed * (self._total - self._position) / self._position
            said["time"] = f"{_clock(max(0.0, left))} left"
        return said


def _clock(seconds: float) -> str:
    """0:07, 12:34, 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def error_so_far(learner: Any) -> Callable[[], str]:
    """The error of a learner since now, by its own counters; those of others are not known."""
    regression = getattr(learner, "role", "") == "regressor"
    name = "squared_errors" if regression else "mistakes"
    start = (getattr(learner, "rounds", 0), getattr(learner, name, 0))

    def said() -> str:
        rounds, total = getattr(learner, "rounds", 0) - start[0], getattr(learner, name, None)
        if total is None or rounds <= 0:
            return ""
        mean = max(0.0, total - start[1]) / rounds
        return f"RMSE {mean**0.5:.4g}" if regression else f"error {mean:.2%}"

    return said


@contextmanager
def display(description: str, total: int | None = None, steps: bool = False) -> Iterator[Display]:
    """A display for the duration of a run; the bar is drawn only on a terminal and is removed at the end.

    total  how many bytes there are to read, or steps to do; None if that is not known
    """
    shown = Display(description, total, steps)
    if not _is_wanted():
        yield shown
        return
    from rich.console import Console
    from rich.live import Live

    # One console for text and bar where both are on the terminal, or they would overwrite each other.
    both = is_terminal(sys.stdout)
    console = Console(stderr=not both, highlight=False, markup=False, emoji=False)
    live = Live(
        console=console,
        get_renderable=lambda: shown.line(console.width),
        refresh_per_second=DRAWN,
        transient=True,
        redirect_stdout=both,
    )
    # Ctrl-C waits until the bar is there, or gone: no half of it is left.
    try:
        above_the_bar.append(console)
        with Rounds():
            live.start()
        yield shown
    finally:
        with Rounds():
            above_the_bar.remove(console)
            live.stop()


def _is_wanted() -> bool:
    """Whether someone sees it, has not asked for silence, and reads no results at the same place."""
    if not is_terminal(sys.stderr):
        return False
    context = click.get_current_context(silent=True)
    asked = {} if context is None else context.params
    results = "-" in [asked.get(name) for name in RESULTS]
    return not asked.get("quiet") and not (results and is_terminal(sys.stdout))
