"""What a command prints: text, nothing, or one JSON object; to standard error if results go to standard output.

On a terminal text fits the width and has a few colours. In a pipe or a file it is always the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from afterwit.cli._terminal import terminal
from afterwit.core.aligned import aligned
from afterwit.streams.batch import Skipped

#: The options of every command that prints more than results.
SAYING_OPTIONS = (
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object in place of text."),
    click.option("--quiet", is_flag=True, help="Print nothing but warnings and errors."),
)
json_option = SAYING_OPTIONS[0]


class Voice:
    """What a command says."""

    def __init__(self, as_json: bool = False, quiet: bool = False, results_on_stdout: bool = False) -> None:
        self.to_stderr = results_on_stdout
        self._silent = quiet or as_json
        self._as_json = as_json
        self._terminal = None if self._silent else terminal(self.to_stderr)

    @property
    def speaks(self) -> bool:
        """Whether text is printed at all."""
        return not self._silent

    @property
    def answers(self) -> bool:
        """Whether anything is printed if all goes well."""
        return self._as_json or not self._silent

    @property
    def width(self) -> int | None:
        """How wide the terminal is; None where text goes to a pipe or a file, or where there is none."""
        return None if self._terminal is None else self._terminal.width

    @property
    def draws(self) -> bool:
        """Whether there is a terminal that can show more than letters."""
        return self._terminal is not None and self._terminal.draws

    def say(self, text: str = "", style: str = "") -> None:
        """Print a line of text, unless there is to be none; the style is for terminals."""
        if self._terminal is not None:
            self._terminal.text(text, style)
        elif not self._silent:
            click.echo(text, err=self.to_stderr)

    def say_section(self, text: str) -> None:
        """Print a headline and what belongs to it, such as a certificate."""
        if self._terminal is not None:
            self._terminal.section(text)
        else:
            self.say(text)

    def say_table(self, rows: Sequence[Sequence[str]], narrowest: int = 0, styles: Sequence[str] = ()) -> None:
        """Print rows of cells below their heads; the styles of the rows are for terminals.

        narrowest  how wide the columns after the first are at least, if there is room
        """
        if self._terminal is not None:
            self._terminal.table(rows, narrowest, styles)
            return
        for line in aligned(rows, narrowest):
            self.say(line)

    def warn(self, text: str) -> None:
        """Print what must not be missed, to standard error."""
        warn(text)

    def warn_of(self, skipped: Skipped) -> None:
        """Say what was left out, with the first reasons."""
        if skipped.count:
            rows = "row was left out because it" if skipped.count == 1 else "rows were left out because they"
            more = skipped.count - len(skipped.first)
            lines = [f"{skipped.count:,} {rows} could not be read:", *skipped.first]
            self.warn("\n  ".join([*lines, f"... and {more:,} more"] if more else lines))

    def finish(self, found: dict[str, Any]) -> None:
        """Print the JSON object, if it is wanted."""
        if self._as_json:
            click.echo(json.dumps(_plain(found), allow_nan=False, default=str), err=self.to_stderr)


def warn(text: str) -> None:
    """A warning, on standard error."""
    say_to_stderr(f"afterwit: warning: {text}", "afterwit: warning:", "yellow")


def say_to_stderr(text: str, mark: str, style: str) -> None:
    """Print a message that begins with a mark; on a terminal the mark has a colour."""
    where = terminal(err=True)
    if where is not None:
        where.error(text, mark, style)
    else:
        click.echo(text, err=True)


def _plain(value: Any) -> Any:
    """numpy's numbers as Python's, and None for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
