"""The learning curve: the error so far and lately, the bound at moments of the run, and hindsight."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Certificate, Verdict, shown_number, whole_part
from afterwit.core.envelope import Floats
from afterwit.pictures import confidence, confusion, features, plane, replays
from afterwit.pictures._curve import so_far
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
        wanted = ("loss",) if self.regression else ("mistakes",)
        certified = record.moments() if moments is None else moments
        self.moments = [each for each in (_about(made, wanted) for made in certified) if each is not None]
        what = "RMSE" if self.regression else "Error"
        self.title = f"{what} over time, {record.learner}"
        self.caption = self._said(what)

    def _said(self, what: str) -> str:
        record = self.record
        now = shown_number(record.rmse) if self.regression else f"{record.error:.2%}"
        said = f"{what} so far after each of {record.rounds:,} rounds; at the end it is {now}."
        bounds = [self._rate(made, whole_part(made)) for made in self.moments if made.bound is not None]
        return f"{said} The bound at the end is {self._shown(bounds[-1])}." if bounds else said

    def draw(self, ax: Any) -> None:
        rounds, low, high, error = so_far(self.record)
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
        if len(rounds):
            ax.set_xscale("log")
        ax.set_xlabel("rounds")
        ax.set_ylabel("root mean squared error" if self.regression else "mistakes per round")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        if len(rounds):
            # A little room at the right, so that no marker is cut.
            ax.set_xlim(1, max(2.0, float(rounds[-1]) ** 1.012))
            ax.set_ylim(0, self._top(rounds, error, ends))
            ends = [self._with_value(end, ax.get_ylim()[1]) for end in ends]
        if not self.regression:
            ax.yaxis.set_major_formatter(
                lambda value, _: f"{value:.4g}" if value < 0.0005 else f"{value:.3%}".replace(".000%", "%")
            )
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
            bound = "" if made is None or made.bound is None else self._shown(self._rate(made, whole_part(made)))
            value = None if made is None else _hindsight(made)
            hindsight = "" if made is None or value is None else self._shown(self._rate(made, value))
            rows.append((f"{point.rounds:,}", *map(self._shown, values), bound, hindsight))
        return Table(("rounds", *names, "bound", "hindsight"), tuple(rows))

    def _shown(self, value: float) -> str:
        return shown_number(value) if self.regression else f"{value:.2%}"

    def _lately(self) -> tuple[npt.NDArray[np.int64], Floats]:
        """The same over the last eighth of the rounds until each moment."""
        rounds, _, _, error = so_far(self.record)
        totals = rounds * (error**2 if self.regression else error)
        before = np.maximum(0, rounds - np.maximum(1, rounds // LATELY))
        earlier = np.interp(before, np.append(0, rounds), np.append(0.0, totals))
        lately = np.maximum(0.0, totals - earlier) / (rounds - before)
        enough = rounds >= ENOUGH
        return rounds[enough], (np.sqrt(lately) if self.regression else np.minimum(1.0, lately))[enough]

    def _certified(self, name: str) -> tuple[list[int], list[float]]:
        """Where there is a bound, or hindsight, and its value for each round."""
        found = [(made.rounds, made, _bound(made) if name == "bound" else _hindsight(made)) for made in self.moments]
        rated = [(at, self._rate(made, value)) for at, made, value in found if value is not None]
        kept = [(at, value) for at, value in rated if math.isfinite(value)]
        return [at for at, _ in kept], [value for _, value in kept]

    def _rate(self, made: Certificate, total: float) -> float:
        mean = total / max(1, made.rounds)
        return math.sqrt(max(0.0, mean)) if self.regression else mean

    def _with_value(self, end: tuple[float, str, str], top: float) -> tuple[float, str, str]:
        """Where a line ends above the picture, its label says where."""
        value, text, colour = end
        return (value, f"{text} {self._shown(value)} ↑" if value > top else text, colour)

    def _top(self, rounds: npt.NDArray[np.int64], error: Floats, ends: list[tuple[float, str, str]]) -> float:
        """How high the picture is: what happened in its right half, and all lines at the end."""
        settled = error[rounds >= math.sqrt(rounds[-1])]
        top = max([float(settled.max()), *(value for value, _, _ in ends)])
        return (1.08 * top or 1.0) if self.regression else min(1.05, 1.25 * top or 1.05)


def _about(made: Certificate, wanted: tuple[str, ...]) -> Certificate | None:
    """The certificate among this and those beside it that is about the quantity of the curve."""
    for each in (made, *made.others):
        fits = each.quantity in wanted and each.subject == made.subject and (each.quantity != "loss" or each.squares)
        if fits and each.verdict is not Verdict.NOT_APPLICABLE:
            return each
    return None


def _bound(made: Certificate) -> float | None:
    return None if made.bound is None else whole_part(made)


def _hindsight(made: Certificate) -> float | None:
    found = made.hindsight
    return found.value if found is not None and found.quantity in ("", made.quantity) else None
