"""The learning curve as it is printed: a row at every power of two, and on a terminal a line of what came between."""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.cli._said import Voice
from afterwit.core import record, regression_record
from afterwit.core.aligned import in_columns
from afterwit.core.certificate import shown_number
from afterwit.core.envelope import Envelope, Floats

#: The columns of a terminal that has room for a million times a million rounds, and of a narrow one.
WIDE = (17, 17, 13, 15, 10)
NARROW = (17, 17, 11, 11)
NARROW_HEADS = ("rounds", "", "so far", "lately")
#: In how many parts a run is shown, at most and at least, and the rounds that these need.
MOST_PARTS, FEWEST_PARTS = 48, 8
MARKS = "▁▂▃▄▅▆▇█"


class CurveTable:
    """Prints the points of a learning curve as they come."""

    def __init__(self, voice: Voice, regression: bool) -> None:
        self._voice = voice
        self._regression = regression
        kind = regression_record if regression else record
        self._heads: tuple[str, ...] = kind.HEADS
        self._widths: tuple[int, ...] = kind.WIDTHS
        width = voice.width
        if width is not None and width > sum(WIDE) + len(WIDE):
            self._widths = WIDE
        elif width is not None and width <= sum(kind.WIDTHS) + len(kind.WIDTHS):
            self._heads = (NARROW_HEADS[0], self._heads[1], *NARROW_HEADS[2:])
            self._widths = NARROW

    def head(self) -> None:
        """The line above the rows."""
        self._voice.say(in_columns(self._heads, self._widths), "bold")

    def point(self, point: Any) -> None:
        """A row."""
        self._voice.say(in_columns(point.cells(), self._widths))

    def end(self, played: Any) -> None:
        """What comes after the rows."""
        width = self._voice.width
        if width is not None and self._voice.draws:
            line = self._over_time(played.trace, width)
            if line:
                self._voice.say(line)
        for line in played.last_lines():
            self._voice.say(line)

    def _over_time(self, trace: Envelope, width: int) -> str:
        """The error in equal parts of the run, as marks; empty if the run was too short for that."""
        what = "RMSE over time" if self._regression else "error over time"
        parts = min(MOST_PARTS, width - 40, trace.rounds)
        if parts < FEWEST_PARTS:
            return ""
        values = over_time(trace, parts, self._regression)
        low, high = (shown_number(each) if self._regression else f"{each:.2%}" for each in (values.min(), values.max()))
        return f"{what}  {sparkline(values)}  {low} to {high}"


def over_time(trace: Envelope, parts: int, regression: bool) -> Floats:
    """The error, or the RMSE, in so many equal parts of a run."""
    so_far = trace.last**2 if regression else trace.last
    ends = np.concatenate([[0.0], trace.ends])
    totals = np.concatenate([[0.0], trace.ends * so_far])
    borders = np.linspace(0.0, trace.rounds, parts + 1)
    means: Floats = np.maximum(0.0, np.diff(np.interp(borders, ends, totals))) * parts / trace.rounds
    return np.sqrt(means) if regression else means


def sparkline(values: Floats) -> str:
    """Numbers as marks of different heights, the lowest for the least; one that is no number is a space.

    >>> sparkline(np.array([0.0, 0.5, 1.0, np.nan]))
    '▁▅█ '
    """
    there = np.isfinite(values)
    halves = np.where(there, values, 0.0) / 2
    low, high = halves[there].min(initial=np.inf), halves[there].max(initial=-np.inf)
    places = (halves - low) / (high - low) * (len(MARKS) - 1) if high > low else np.zeros(len(values))
    return "".join(MARKS[round(place)] if known else " " for place, known in zip(places, there, strict=True))
