"""The pictures of a race: the errors over the rounds, the final ones beside what was certified, and the time taken."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from afterwit.core.certificate import shown_number
from afterwit.pictures._axes import brief
from afterwit.pictures._bars import short
from afterwit.pictures._curve import axes_of_rounds, curve_of, percent
from afterwit.pictures._labels import label_ends
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import BOUND, HAPPENED, HINDSIGHT, INK, LETTERS, MUTED, series

#: How many of the best are drawn in colour, and how many have a label or a bar.
COLOURED = 5
MOST_LABELS = 14
MOST_BARS = 30
#: How many points the others have, about.
MOST_POINTS = 100
#: Of bounds on errors that are larger than this, only that is said.
FAR = 10.0
#: How many characters of a name are shown at a line.
WIDEST = 24


def pictures(race: Any) -> list[Picture]:
    """The pictures of a race."""
    return [Lines(race), Board(race), Speed(race)]


class _OfRace(Picture):
    """What the pictures of a race share."""

    def __init__(self, race: Any) -> None:
        self.race = race
        self.regression = race.task == "regression"
        self.what = "RMSE" if self.regression else "Error"
        self.running = [entry for entry in race.entries if not entry.stopped]
        self.result = race.result()

    def _colour(self, place: int) -> Any:
        return series(place)["color"] if place < COLOURED else MUTED

    def _rate(self, value: float | None) -> str:
        """An error as a table shows it."""
        if value is None:
            return ""
        return shown_number(value) if self.regression else f"{value:,.2%}"

    def _others(self, shown: int) -> str:
        """What the caption says of those that are not drawn."""
        left = len(self.race.entries) - shown
        return f" The best {shown:,} are shown." if left > 0 else ""


class Lines(_OfRace):
    """The error so far of every learner over the rounds; the best ones in colour."""

    kind = "race"

    def __init__(self, race: Any) -> None:
        super().__init__(race)
        self.title = f"{self.what} so far, {short(os.path.basename(race.source))}"
        self.caption = f"{self.what} so far after each round. {self.result}"

    def draw(self, ax: Any) -> None:
        curves = [curve_of(entry.record) for entry in self.race.entries]
        axes_of_rounds(ax, self.race.rounds, self.regression)
        drawn = [place for place, curve in enumerate(curves) if len(curve[0])]
        # The best are drawn last, above the others.
        for place in reversed(drawn):
            rounds, low, high, so_far = curves[place]
            colour = self._colour(place)
            if place < COLOURED:
                # The first piece of a trace has all that happened at the beginning, where the points are already.
                later = rounds > self.race.entries[place].record.trace.width
                ax.fill_between(rounds[later], low[later], high[later], color=colour, alpha=0.15, linewidth=0)
                ax.plot(rounds, so_far, **series(place), linewidth=1.8)
            else:
                some = _some(len(rounds))
                ax.plot(rounds[some], so_far[some], color=colour, linewidth=0.9, alpha=0.6)
            if self.race.entries[place].stopped:
                ax.plot(rounds[-1], so_far[-1], marker="x", color=colour)
        if drawn:
            ax.set_ylim(0, self._top([curves[place] for place in drawn]))
        top = ax.get_ylim()[1]
        labelled = drawn[:MOST_LABELS]
        ends = [(float(curves[place][3][-1]), self._label(place, top), self._colour(place)) for place in labelled]
        if len(drawn) > MOST_LABELS:
            ends[-1] = (ends[-1][0], f"and {len(drawn) - MOST_LABELS + 1:,} more", MUTED)
        label_ends(ax, ends)

    def _label(self, place: int, top: float) -> str:
        entry = self.race.entries[place]
        above = " ↑" if not entry.stopped and entry.error > top else ""
        return f"{short(entry.name, WIDEST)} {self.race.shown(entry)}{above}"

    def _top(self, curves: Sequence[Any]) -> float:
        """How high the picture is: the best ones after the first rounds, and of the others what is not far above."""
        best = [float(so_far[len(so_far) // 4 :].max()) for _, _, _, so_far in curves[:COLOURED]]
        finite = [value for value in best if math.isfinite(value)] or [1.0]
        top = 1.1 * max(finite)
        near = [float(so_far[-1]) for _, _, _, so_far in curves if so_far[-1] <= 2 * top]
        top = 1.05 * max([top / 1.05, *near])
        return (top or 1.0) if self.regression else min(1.05, top or 1.05)

    def table(self) -> Table:
        entries = self.race.entries[:MOST_LABELS]
        errors = [
            {point.rounds: point.rmse if self.regression else point.error for point in entry.record.curve}
            for entry in entries
        ]
        moments = sorted({at for each in errors for at in each})
        rows = tuple((f"{at:,}", *(self._rate(each.get(at)) for each in errors)) for at in moments)
        return Table(("rounds", *(entry.name for entry in entries)), rows)


def _some(count: int) -> Any:
    """The places of at most so many points of a line in the background, with the last one: pages stay small."""
    return np.unique(np.append(np.arange(0, count, max(1, count // MOST_POINTS)), count - 1))


class Board(_OfRace):
    """The final errors, with the bound and hindsight of each where they were certified."""

    kind = "board"

    def __init__(self, race: Any) -> None:
        super().__init__(race)
        self.rows = [row for row in race.leaderboard()[:MOST_BARS] if row["stopped"] is None]
        self.size = (7.2, 1.3 + 0.27 * max(3, len(self.rows)))
        self.title = f"{self.what} at the end, {short(os.path.basename(race.source))}"
        marked = " The marks are the bound and hindsight, where they were certified." if self._marks("bound") else ""
        self.caption = f"{self.what} of each learner. {self.result}{marked}{self._others(len(self.rows))}"

    def _value(self, row: dict[str, Any]) -> float:
        return float(row["rmse" if self.regression else "error"])

    def _marks(self, name: str) -> list[tuple[int, float]]:
        return [(place, row[name]) for place, row in enumerate(self.rows) if row[name] is not None]

    def _brief(self, value: float) -> str:
        """A bound that is far away."""
        return brief(value) if self.regression else self._rate(value) if value <= FAR else f"over {FAR:,.0%}"

    def _room(self, ax: Any) -> float:
        """How much longer than a bar the axis is where words about a bound end at its right."""
        names = max(len(short(row["learner"], WIDEST)) for row in self.rows)
        wide = 72 * float(ax.figure.get_size_inches()[0]) - 0.6 * LETTERS * names - 45
        return 1 / (1 - min(0.6, 110 / wide))

    def draw(self, ax: Any) -> None:
        errors = [self._value(row) for row in self.rows]
        high = max([error for error in errors if math.isfinite(error)], default=0.0) or 1.0
        known = [value for name in ("bound", "hindsight") for _, value in self._marks(name)]
        # Bounds may be many times what happened: those that are would leave no room for the bars, and are words.
        right = 1.04 * max([high, *(value for value in known if value <= 3 * high)])
        right = max(
            [
                right,
                *(
                    self._value(self.rows[place]) * self._room(ax)
                    for place, value in self._marks("bound")
                    if value > right
                ),
            ]
        )
        colours = [HAPPENED if not place else MUTED for place in range(len(errors))]
        ax.barh(range(len(errors)), np.minimum(errors, right), height=0.62, color=colours, linewidth=0, alpha=0.9)
        across = ax.get_yaxis_transform()
        for place, error in enumerate(errors):
            ink = {"color": INK if not place else MUTED, "fontsize": LETTERS, "va": "center"}
            ax.text(1.01, place, self._rate(error), transform=across, **ink)
        for name, colour, stroke in (("bound", BOUND, "-"), ("hindsight", HINDSIGHT, (0, (1, 0.6)))):
            for place, value in self._marks(name):
                if value <= right:
                    ax.plot([value, value], [place - 0.42, place + 0.42], color=colour, linewidth=2.6, linestyle=stroke)
                else:
                    beyond = f"{name} {self._brief(value)} →"
                    ax.text(
                        0.99,
                        place,
                        beyond,
                        transform=across,
                        color=colour,
                        fontsize=LETTERS - 2,
                        ha="right",
                        va="center",
                    )
        self._name_marks(ax)
        ax.set_yticks(range(len(errors)), [short(row["learner"], WIDEST) for row in self.rows], color=INK)
        ax.set_ylim(len(errors) - 0.4, -0.6)
        ax.set_xlim(0, right)
        ax.tick_params(axis="y", length=0)
        ax.locator_params(axis="x", nbins=6)
        ax.xaxis.set_major_formatter((lambda value, _: shown_number(value)) if self.regression else percent)
        ax.set_xlabel("root mean squared error" if self.regression else "mistakes per round", loc="right")
        ax.spines["left"].set_visible(False)
        ax.grid(visible=False, axis="y")

    def _name_marks(self, ax: Any) -> None:
        """Say what the marks are, below the axis: beside them there is no room."""
        named = [("bound", BOUND), ("hindsight", HINDSIGHT)]
        named = [(name, colour) for name, colour in named if self._marks(name)]
        # Where the picture is narrow, what the axis measures takes the line below it.
        line = -24 if ax.figure.get_size_inches()[0] >= self.size[0] else -38
        for i, (name, colour) in enumerate(named):
            below = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top"}
            ax.annotate(f"| {name}", (0, 0), xytext=(70 * i, line), color=colour, fontsize=LETTERS, **below)

    def table(self) -> Table:
        rows = [
            (row["learner"], self._rate(self._value(row)), self._rate(row["bound"]), self._rate(row["hindsight"]))
            for row in self.rows
        ]
        return Table(("learner", self.what, "bound", "hindsight"), tuple(rows))


class Speed(_OfRace):
    """The final error against the processor time for each example."""

    kind = "speed"

    def __init__(self, race: Any) -> None:
        super().__init__(race)
        self.points = [
            (1e6 * entry.seconds_per_example, entry.error, entry.name)
            for entry in self.running
            if entry.seconds_per_example and math.isfinite(entry.error)
        ]
        self.title = f"{self.what} and time, {short(os.path.basename(race.source))}"
        against = f"{self.what} at the end against the processor time for each example."
        self.caption = f"{against} No other learner beats those in colour in both."

    def _is_beaten(self, point: tuple[float, float, str]) -> bool:
        return any(
            took <= point[0] and error <= point[1] and (took, error) != point[:2] for took, error, _ in self.points
        )

    def draw(self, ax: Any) -> None:
        for point in self.points:
            ax.plot(
                *point[:2], marker="o", markersize=6, color=MUTED if self._is_beaten(point) else HAPPENED, linewidth=0
            )
        ax.set_xscale("log")
        ax.set_xlabel("microseconds for each example")
        ax.set_ylabel("root mean squared error" if self.regression else "mistakes per round")
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
        ax.xaxis.set_minor_formatter(lambda *_: "")
        if self.points:
            took, errors, _ = zip(*self.points, strict=True)
            ax.set_xlim(min(took) / 4, 4 * max(took))
            ax.set_ylim(0, 1.12 * max(errors) or 1.0)
        if not self.regression:
            ax.yaxis.set_major_formatter(percent)
        self._name_points(ax)

    def _name_points(self, ax: Any) -> None:
        """A name beside each point where there is room; those that are beaten by none come first."""
        # Axes are a little smaller than the picture.
        width, height = ax.figure.get_size_inches()
        wide, high = 72 * width - 93, 0.75 * 72 * height
        to_axes = (ax.transScale + ax.transLimits).transform
        taken: list[tuple[float, float, float, float]] = []
        places = {}
        for point in self.points:
            x, y = to_axes(point[:2])
            places[point] = (x * wide, y * high)
            taken.append((x * wide - 5, y * high - 5, x * wide + 5, y * high + 5))
        for point in sorted(self.points, key=lambda point: (self._is_beaten(point), point[1])):
            x, y = places[point]
            name = short(point[2], WIDEST)
            long = 0.62 * (LETTERS - 1) * len(name)
            for (dx, dy), ha in (((7, 0), "left"), ((-7, 0), "right"), ((0, 12), "center"), ((0, -12), "center")):
                left = x + dx - {"left": 0.0, "right": long, "center": long / 2}[ha]
                box = (left, y + dy - 6, left + long, y + dy + 6)
                inside = box[0] > 0 and box[2] < wide and box[1] > 0
                if inside and not any(_touch(box, other) for other in taken):
                    taken.append(box)
                    colour = MUTED if self._is_beaten(point) else HAPPENED
                    how = {"textcoords": "offset points", "ha": ha, "va": "center", "fontsize": LETTERS - 1}
                    ax.annotate(name, point[:2], xytext=(dx, dy), color=colour, **how)
                    break

    def table(self) -> Table:
        rows = [(name, self._rate(error), f"{took:,.2f}") for took, error, name in self.points]
        return Table(("learner", self.what, "microseconds per example"), tuple(rows))


def _touch(box: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
