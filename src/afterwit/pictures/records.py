"""The learning curve: the error so far and lately, the bound at moments of the run, and hindsight."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Certificate, shown_number
from afterwit.core.envelope import Floats
from afterwit.core.rates import about_errors, bound_rate, hindsight_rate
from afterwit.pictures import confidence, confusion, features, plane, replays
from afterwit.pictures._curve import axes_of_rounds, curve_of
from afterwit.pictures._labels import label_ends
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import HAPPENED, LINES, MUTED

#: "Lately" is the last eighth of the rounds; before so many rounds that is too few to say anything.
LATELY = 8
ENOUGH = 256


def pictures(record: Any) -> list[Picture]:
    """The pictures of a record of `play`."""
    others = (replays, plane, confidence, features, confusion)
    return [LearningCurve(record), *(picture for each in others for picture in each.pictures(record))]


class LearningCurve(Picture):
    """Error (or RMSE) so far over the rounds, with the bound and hindsight where they were certified.

    moments  certificates of the beginnings of the run; without them, those of ``record.moments()``
    """

    kind = "error"

    def __init__(self, record: Any, moments: list[Certificate] | None = None) -> None:
        self.record = record
        self.regression = hasattr(record, "rmse")
        self._given = moments
        self.title = f"{self._what} over time, {record.learner}"

    @property
    def _what(self) -> str:
        return "RMSE" if self.regression else "Error"

    @cached_property
    def moments(self) -> list[Certificate]:
        """Those about the errors. They take time, and are not needed until this picture is drawn."""
        certified = self.record.moments() if self._given is None else self._given
        about = (about_errors(made, self.regression) for made in certified)
        return [made for made in about if made is not None]

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        record, what = self.record, self._what
        now = shown_number(record.rmse) if self.regression else f"{record.error:.2%}"
        said = f"{what} so far after each of {record.rounds:,} rounds; at the end it is {now}."
        bounds = [bound for made in self.moments if (bound := bound_rate(made)) is not None]
        return f"{said} The bound at the end is {self._shown(bounds[-1])}." if bounds else said

    def draw(self, ax: Any) -> None:
        rounds, low, high, error = curve_of(self.record)
        ends = []
        if len(rounds):
            # The first piece of the trace is as long as all before it: there the points say more than its extremes.
            whole = rounds > self.record.trace.width
            ax.fill_between(rounds[whole], low[whole], high[whole], color=HAPPENED, alpha=0.18, linewidth=0)
            ax.plot(rounds, error, **LINES["happened"])
            ends = [(float(error[-1]), "so far", HAPPENED)]
            at, lately = self._lately()
            if len(at):
                ax.plot(at, lately, color=MUTED, linewidth=1.0, alpha=0.7)
                ends.append((float(lately[-1]), "lately", MUTED))
        for name in ("bound", "hindsight"):
            moments, values = self._certified(name)
            if moments:
                ax.plot(moments, values, marker="o", markersize=3, **LINES[name])
                ends.append((values[-1], name, LINES[name]["color"]))
        axes_of_rounds(ax, int(rounds[-1]) if len(rounds) else 0, self.regression)
        if len(rounds):
            ax.set_ylim(0, self._top(rounds, error, ends))
            ends = [self._with_value(end, ax.get_ylim()[1]) for end in ends]
        label_ends(ax, ends)

    def table(self) -> Table:
        names = (
            ("RMSE so far", "RMSE since the row before")
            if self.regression
            else ("error so far", "since the row before")
        )
        certified = {made.rounds: made for made in self.moments}
        rows = []
        for point in self.record.curve:
            values = (point.rmse, point.recent_rmse) if self.regression else (point.error, point.recent_error)
            made = certified.get(point.rounds)
            rates = (None, None) if made is None else (bound_rate(made), hindsight_rate(made))
            certificate = ("" if rate is None else self._shown(rate) for rate in rates)
            rows.append((f"{point.rounds:,}", *map(self._shown, values), *certificate))
        return Table(("rounds", *names, "bound", "hindsight"), tuple(rows))

    def _shown(self, value: float) -> str:
        return shown_number(value) if self.regression else f"{value:.2%}"

    def _lately(self) -> tuple[npt.NDArray[np.int64], Floats]:
        """The same over the last eighth of the rounds until each moment."""
        rounds, _, _, error = curve_of(self.record)
        totals = rounds * (error**2 if self.regression else error)
        before = np.maximum(0, rounds - np.maximum(1, rounds // LATELY))
        earlier = np.interp(before, np.append(0, rounds), np.append(0.0, totals))
        lately = np.maximum(0.0, totals - earlier) / (rounds - before)
        enough = rounds >= ENOUGH
        return rounds[enough], (np.sqrt(lately) if self.regression else np.minimum(1.0, lately))[enough]

    def _certified(self, name: str) -> tuple[list[int], list[float]]:
        """Where there is a bound, or hindsight, and its value for each round."""
        rate = bound_rate if name == "bound" else hindsight_rate
        found = [(made.rounds, rate(made)) for made in self.moments]
        kept = [(at, value) for at, value in found if value is not None and math.isfinite(value)]
        return [at for at, _ in kept], [value for _, value in kept]

    def _with_value(self, end: tuple[float, str, str], top: float) -> tuple[float, str, str]:
        """Where a line ends above the picture, its label says where."""
        value, text, colour = end
        return (value, f"{text} {self._shown(value)} ↑" if value > top else text, colour)

    def _top(self, rounds: npt.NDArray[np.int64], error: Floats, ends: list[tuple[float, str, str]]) -> float:
        """How high the picture is: what happened in its right half, and all lines at the end."""
        settled = error[rounds >= math.sqrt(rounds[-1])]
        top = max([float(settled.max()), *(value for value, _, _ in ends)])
        return (1.08 * top or 1.0) if self.regression else min(1.05, 1.25 * top or 1.05)
