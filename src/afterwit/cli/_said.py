"""What a command prints: text, nothing, or one JSON object; to standard error if results go to standard output."""

from __future__ import annotations

import json
import math
from typing import Any

import click
import numpy as np

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

    @property
    def speaks(self) -> bool:
        """Whether text is printed at all."""
        return not self._silent

    @property
    def answers(self) -> bool:
        """Whether anything is printed if all goes well."""
        return self._as_json or not self._silent

    def say(self, text: str = "") -> None:
        """Print a line of text, unless there is to be none."""
        if not self._silent:
            click.echo(text, err=self.to_stderr)

    def warn(self, text: str) -> None:
        """Print what must not be missed, to standard error."""
        click.echo(f"afterwit: warning: {text}", err=True)

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


def _plain(value: Any) -> Any:
    """numpy's numbers as Python's, and None for what JSON has no number for."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
