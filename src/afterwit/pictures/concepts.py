"""A finite class: how many labellings it gives to m points, and the class itself as a grid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from afterwit.concepts.shattering import growth_function, vc_dimension
from afterwit.core.certificate import shown_number
from afterwit.data.checks import count_of
from afterwit.errors import InputError, counted
from afterwit.pictures._cells import name_sides, shade
from afterwit.pictures._labels import label_ends
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import HAPPENED, LINES, MUTED
from afterwit.sampling.vc import log_growth_bound

#: Growth functions are drawn of classes with at most so many bits.
MOST_BITS = 2**22
#: A search takes at most so many steps, divided by the number of hypotheses: a second or so.
EFFORT = 10_000_000
FEWEST_STEPS, MOST_STEPS = 200, 200_000
#: Labellings of at most so many points are counted.
MOST_POINTS = 32
#: How many hypotheses and points a grid has room for.
MOST_ROWS = MOST_COLUMNS = 28


def pictures(hypotheses: Any) -> list[Picture]:
    """The pictures of a finite class of hypotheses."""
    small = len(hypotheses) * len(hypotheses.points) <= MOST_BITS
    return [*([GrowthFunction(hypotheses)] if small else []), ClassGrid(hypotheses)]


class GrowthFunction(Picture):
    """The growth function beside Sauer's bound and 2^m.

    limit  the most steps that each search may take; by default so many that it takes about a second
    """

    kind = "growth"

    def __init__(self, hypotheses: Any, limit: int | None = None) -> None:
        fair = max(FEWEST_STEPS, min(MOST_STEPS, EFFORT // len(hypotheses)))
        self.limit = fair if limit is None else count_of("steps")("limit", limit)
        self.hypotheses = hypotheses
        self.dimension = self._searched(vc_dimension)
        most = min(len(hypotheses.points), MOST_POINTS)
        self.growth: list[int] = []
        for m in range(most + 1):
            found = self._searched(growth_function, m)
            if found is None:
                break
            self.growth.append(found)
        # Somewhat beyond what could be counted, to show where the bound goes, if there is one.
        beyond = 0 if self.dimension is None else max(12, 2 * len(self.growth))
        self.most = min(most, max(len(self.growth) - 1, beyond))
        self.title = f"Growth function, {counted_class(hypotheses)}"
        self.caption = self._said(most)

    def _searched(self, what: Any, *given: int) -> int | None:
        """What the search finds; None if it takes too many steps."""
        try:
            found: int = what(self.hypotheses, *given, limit=self.limit, progress=False)
        except InputError:
            return None
        return found

    def _said(self, most: int) -> str:
        known = len(self.growth) - 1
        said = (
            f"The largest number of labellings that the class gives to any m points, counted exactly up to m = {known}"
        )
        said += "" if known == most else "; more takes too long here"
        if self.dimension is None:
            return f"{said}. The VC dimension takes too long to find, so there is no bound."
        return f"{said}. The VC dimension is {self.dimension}, from which Sauer's lemma gives the bound."

    def _sauer(self) -> list[float]:
        """Sauer's bound for each m, as a logarithm to the base 2."""
        assert self.dimension is not None
        found = log_growth_bound(np.arange(self.most + 1), self.dimension) / math.log(2)
        return [float(value) for value in found]

    def draw(self, ax: Any) -> None:
        points = list(range(self.most + 1))
        counted_points = points[: len(self.growth)]
        exact = [math.log2(value) for value in self.growth]
        highest = max(exact[-1], *(self._sauer() if self.dimension is not None else exact))
        # 2^m leaves at the top.
        ax.set_ylim(0, 1.15 * highest or 1.0)
        ax.set_xlim(0, max(1, self.most))
        ax.plot(points, points, color=MUTED, linewidth=1.0, linestyle=(0, (1, 2)))
        top = ax.get_ylim()[1]
        ends = [(float(min(self.most, top)), "2^m" if self.most <= top else "2^m ↑", MUTED)]
        if self.dimension is not None:
            sauer = self._sauer()
            ax.plot(points, sauer, marker="o", markersize=3, **LINES["bound"])
            ends.append((sauer[-1], "Sauer", LINES["bound"]["color"]))
        ax.plot(counted_points, exact, marker="o", markersize=4, **LINES["happened"])
        if len(counted_points) == len(points):
            ends.append((exact[-1], "exact", HAPPENED))
        else:
            here = {"xytext": (6, -10), "textcoords": "offset points", "color": HAPPENED}
            ax.annotate("exact", (counted_points[-1], exact[-1]), **here)
        ax.set_xlabel("points m")
        ax.set_ylabel("labellings")
        ax.locator_params(integer=True)
        ax.yaxis.set_major_formatter(lambda value, _: shown_number(2.0**value) if value < 20 else f"2^{value:g}")
        label_ends(ax, ends)

    def table(self) -> Table:
        rows = []
        sauer = self._sauer() if self.dimension is not None else []
        for m in range(self.most + 1):
            exact = shown_number(self.growth[m]) if m < len(self.growth) else ""
            bound = shown_number(round(2.0 ** sauer[m])) if sauer else ""
            rows.append((str(m), exact, bound, shown_number(2**m)))
        return Table(("points", "labellings", "Sauer's bound", "2^m"), tuple(rows))


class ClassGrid(Picture):
    """What the hypotheses say of the points: a cell is filled where it is 1."""

    kind = "class"

    def __init__(self, hypotheses: Any) -> None:
        self.hypotheses = hypotheses
        all_rows, all_columns = len(hypotheses), len(hypotheses.points)
        shown, points = _spread(all_rows, MOST_ROWS), _spread(all_columns, MOST_COLUMNS)
        rows, columns = len(shown), len(points)
        self.names = [hypotheses.name(i) for i in shown]
        self.points = [hypotheses.points[j] for j in points]
        self.cells = np.stack([hypotheses(point)[shown] for point in self.points], axis=1)
        self.title = f"The class: {counted_class(hypotheses)}"
        cut = (rows, columns) != (all_rows, all_columns)
        sample = f" These are {rows} of {all_rows:,} hypotheses and {columns} of {all_columns:,} points, evenly spaced."
        self.caption = "A row for each hypothesis, a column for each point; filled is where it says 1."
        self.caption += sample if cut else ""
        self.size = (7.2, 1.4 + 0.2 * rows)

    def draw(self, ax: Any) -> None:
        shade(ax, self.cells.astype(np.float64), HAPPENED, strongest=1.0)
        name_sides(ax, self.names, [_short_point(point) for point in self.points])
        ax.set_xlabel("points")
        rows, columns = self.cells.shape
        ax.hlines(range(rows + 1), 0, columns, color=MUTED, linewidth=0.3)
        ax.vlines(range(columns + 1), 0, rows, color=MUTED, linewidth=0.3)

    def table(self) -> Table:
        heads = ("hypothesis", *map(str, self.points))
        lines = zip(self.names, self.cells.astype(int).tolist(), strict=True)
        return Table(heads, tuple((name, *map(str, said)) for name, said in lines))


def _spread(count: int, most: int) -> list[int]:
    """At most so many positions, evenly spaced from the first to the last."""
    return [round(place) for place in np.linspace(0, count - 1, min(count, most)).tolist()]


def counted_class(hypotheses: Any) -> str:
    """1 hypothesis, 3 points."""
    number = len(hypotheses)
    return f"{number:,} {'hypothesis' if number == 1 else 'hypotheses'}, {counted(len(hypotheses.points), 'point')}"


def _short_point(point: Any) -> str:
    """A point; of zeros and ones, the digits."""
    if isinstance(point, tuple) and all(each in (0, 1) for each in point):
        return "".join(str(int(each)) for each in point)
    return str(point)
