"""Observed against bound: over the rounds or over a parameter, for one run or a cloud of them.

>>> import afterwit as aw
>>> sizes = [4, 16, 64]
>>> mistakes = [aw.play(aw.Perceptron(), aw.adversaries.unit_vectors(n)).mistakes for n in sizes]
>>> shown = Comparison(sizes, mistakes, sizes, of="mistakes", over="unit vectors", tight=True)
>>> shown.holds, shown.closest
(True, 1.0)
>>> print(shown.caption)
Mistakes beside the bound, over unit vectors. The bound is attained.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Certificate, Verdict, shown_number
from afterwit.errors import InputError, Words, invalid
from afterwit.pictures._labels import label_ends
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import HAPPENED, LINES, STROKES

Floats = npt.NDArray[np.float64]

#: By how much, as a part of the bound, rounding may have moved what was observed.
ROUNDING = 1e-9
#: By how much a bound may be off that is attained: margins are found by a solver.
EQUAL = 1e-6
#: Up to so many points are marked; and a table has so many rows at the most.
FEW = 12
#: A bound so many times as large as all that was observed would press it to the ground: then heights are logarithms.
FAR = 30.0
#: Labels have so many letters in a line, or they would leave no room for the lines that they label.
WIDE = 28
#: Beyond so many dots a cloud becomes a band, with this part of the runs in it.
DOTS = 1500
BAND = 0.9


class Comparison(Picture):
    """What was observed, and what theory says it can be at the most, or on average, or at the least.

    x         rounds, or another number that was varied
    observed  a value for each x; or a row of them for each of several runs, which are shown as a cloud with their mean
    bounds    a value for each x; several bounds by their names
    of, over  what was observed, and what was varied
    floors    the same for bounds from below
    average   whether the bound is on the average, so that single runs may be above it
    delta     which part of the runs may be above the bound, where it holds with probability 1 - delta
    tight     whether all is meant to be equal to the first bound
    """

    kind = "comparison"
    #: The certificates whose bounds are shown, those of the last point, if it was made of certificates.
    certificates: tuple[Certificate, ...] = ()

    def __init__(
        self,
        x: Any,
        observed: Any,
        bounds: Any = None,
        *,
        of: str,
        over: str = "rounds",
        floors: Any = None,
        hindsight: Any = None,
        average: bool = False,
        delta: float = 0.0,
        tight: bool = False,
        title: str = "",
    ) -> None:
        self.x = _numbers("x", x)
        self.runs = np.atleast_2d(np.asarray(observed, dtype=np.float64))
        if self.runs.shape[1] != len(self.x):
            raise invalid("observed", f"one number for each of the {len(self.x)} x", Words(str(self.runs.shape)))
        self.bounds = self._lines("bounds", "bound", bounds)
        self.floors = self._lines("floors", "bound from below", floors)
        self.hindsight = self._lines("hindsight", "hindsight", hindsight)
        self.of, self.over = of, over
        self.average, self.delta, self.tight = average, delta, tight
        self.title = title or f"{_begun(of)} over {over}"
        self.caption = self._said()

    @classmethod
    def certified(
        cls, certificates: Iterable[Certificate], *names: str, x: Any = None, runs: Any = None, **said: Any
    ) -> Comparison:
        """The bounds of certificates and what was observed: over the rounds of a run, or over what was varied.

        certificates  at moments of a run, as ``record.moments()`` returns them, or of several runs
        names         of the theorems; that of the first certificate if there are none. They are all about one quantity
        x             what was varied, for each certificate; the rounds, if not given
        runs          what was observed in each of several runs, where the certificates are those of one of them
        """
        found = list(certificates)
        names = names or tuple(made.theorem.name for made in found[:1])
        places = [made.rounds for made in found] if x is None else list(x)
        rows = [(place, [_named(made, name) for name in names]) for place, made in zip(places, found, strict=True)]
        kept = [(place, [each for each in row if each is not None]) for place, row in rows]
        kept = [(place, row) for place, row in kept if row and len(row) == len(names)]
        if not kept:
            raise InputError(f"none of the {len(found)} certificates applies {' and '.join(map(repr, names))}")
        last = kept[-1][1]
        if len({each.observed for each in last}) > 1:
            raise invalid("names", "theorems about one quantity", Words(" and ".join(names)))
        hindsight = [_hindsight(row[0]) for _, row in kept]
        lines = {name: [row[place].bound for _, row in kept] for place, name in enumerate(names)}
        quantity = last[0].quantity
        over_time = {"title": f"{_begun(quantity)} over time, {last[0].subject}"} if x is None else {}
        told = {"of": quantity, "hindsight": None if None in hindsight else hindsight, **over_time}
        made = cls(
            [place for place, _ in kept],
            [row[0].observed for _, row in kept] if runs is None else runs,
            lines if len(names) > 1 else lines[names[0]],
            **(told | said),
        )
        made.certificates = tuple(last)
        return made

    @property
    def observed(self) -> Floats:
        """That of the run, or the mean over the runs."""
        return np.asarray(self.runs.mean(axis=0))

    @property
    def closest(self) -> float:
        """The largest part of a bound that was observed: of one run, or of the mean."""
        parts = [self._judged / np.where(bound > 0, bound, np.nan) for bound in self.bounds.values()]
        return float(np.nanmax(parts)) if parts and not np.isnan(parts).all() else float("nan")

    @property
    def holds(self) -> bool:
        """Whether what was observed is within all bounds, as often as they promise; and equal where it must be."""
        judged = self.observed if self.average else self.runs
        above = [self._above(judged, bound) for bound in self.bounds.values()]
        below = [self._above(floor, judged) for floor in self.floors.values()]
        within = all(_most_often(beyond) <= self.delta for beyond in map(np.atleast_2d, above + below))
        return within and (not self.tight or self._coincides)

    @property
    def _coincides(self) -> bool:
        first = next(iter(self.bounds.values()))
        return bool(np.allclose(self.runs, first, rtol=EQUAL, atol=EQUAL))

    @property
    def _judged(self) -> Floats:
        """What the bound is compared with at each x: the mean, or the run that went furthest."""
        return self.observed if self.average else np.asarray(self.runs.max(axis=0))

    def _above(self, upper: Floats, lower: Floats) -> Any:
        # What is no number is not within a bound.
        return ~(upper <= lower + ROUNDING * np.maximum(1.0, np.abs(lower)))

    def _lines(self, name: str, label: str, given: Any) -> dict[str, Floats]:
        if given is None:
            return {}
        read: dict[str, Floats] = {}
        for each, values in (given if isinstance(given, Mapping) else {label: given}).items():
            numbers = _numbers(name, values)
            if len(numbers) not in (1, len(self.x)):
                raise invalid(name, f"one number for each of the {len(self.x)} x", Words(f"{len(numbers)} for {each}"))
            read[each] = np.broadcast_to(numbers, self.x.shape)
        return read

    def _said(self) -> str:
        many = f" in each of {len(self.runs):,} runs" if len(self.runs) > 1 else ""
        said = f"{_begun(self.of)}{many} beside the bound, over {self.over}."
        if many and self._banded:
            said = f"{said} The band has {BAND:.0%} of the runs."
        if self.delta:
            most = max(map(_most_often, (self._above(self.runs, each) for each in self.bounds.values())), default=0.0)
            above = f"at most {most:.3g} of the runs are" if most else "none of the runs is"
            return f"{said} At any point {above} above it; a part of {self.delta:.3g} may be."
        if not np.isfinite(self.closest):
            return said
        if self.tight and self.holds:
            return f"{said} The bound is attained."
        what = "the mean of the runs" if self.average else "what was observed"
        return f"{said} At the closest, {what} is {self.closest:.1%} of the bound."

    def draw(self, ax: Any) -> None:
        marked = {"marker": "o", "markersize": 3} if len(self.x) <= FEW else {}
        lines: list[tuple[str, Floats, dict[str, Any]]] = []
        if len(self.runs) > 1:
            lines.append((f"mean of {len(self.runs):,} runs", self.observed, LINES["happened"] | marked))
            self._cloud(ax)
        else:
            lines.append(("observed", self.observed, LINES["happened"] | marked))
        for place, (name, values) in enumerate([*self.bounds.items(), *self.floors.items()]):
            stroke = {"linestyle": STROKES[(place + 1) % len(STROKES)]} if place else {}
            lines.append((name, values, LINES["bound"] | marked | stroke))
        lines += [(name, values, LINES["hindsight"] | marked) for name, values in self.hindsight.items()]
        for _, values, look in lines:
            ax.plot(self.x, values, **look)
        self._scale(ax)
        ends = [(name, values[np.isfinite(values)], look["color"]) for name, values, look in lines]
        told = [(float(values[-1]), textwrap.fill(name, WIDE), colour) for name, values, colour in ends if len(values)]
        label_ends(ax, told)

    def _cloud(self, ax: Any) -> None:
        """Every run a dot, or where they are too many, a band."""
        if self._banded:
            low, high = np.quantile(self.runs, [(1 - BAND) / 2, (1 + BAND) / 2], axis=0)
            ax.fill_between(self.x, low, high, color=HAPPENED, alpha=0.18, linewidth=0)
            return
        across = np.broadcast_to(self.x, self.runs.shape)
        ax.plot(across.T, self.runs.T, "o", color=HAPPENED, markersize=3, alpha=0.3, markeredgewidth=0)

    @property
    def _banded(self) -> bool:
        return self.runs.size > DOTS

    def _scale(self, ax: Any) -> None:
        """Logarithms where numbers are far apart, and both axes say so."""
        over, of = self.over, self.of
        x = self.x[np.isfinite(self.x)]
        if len(x) > 2 and x.min() > 0 and 4 * np.median(x) < x.max():
            ax.set_xscale("log")
            over = f"{over} (log scale)"
        shown = [*self.bounds.values(), *self.floors.values(), *self.hindsight.values(), *self.runs]
        heights = np.concatenate([each[np.isfinite(each)] for each in shown])
        if self._far():
            ax.set_yscale("log")
            of = f"{of} (log scale)"
        elif len(heights):
            low, high = min(0.0, float(heights.min())), float(heights.max())
            room = (high - low) or 1.0
            # A line at 0 is not hidden by the axis.
            ax.set_ylim(low - 0.03 * room, high + 0.08 * room)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:,.0f}" if 1e5 <= abs(value) < 1e9 else f"{value:,.6g}")
            axis.set_minor_formatter(lambda *_: "")
        ax.set_xlabel(over)
        ax.set_ylabel(of)

    def _far(self) -> bool:
        """Whether a bound is so far above that nothing else could be seen; 0 and less have no logarithm."""
        highest = [float(np.nanmax(each)) for each in self.bounds.values() if np.isfinite(each).any()]
        others = [*self.runs, *self.bounds.values(), *self.floors.values(), *self.hindsight.values()]
        positive = all((each[np.isfinite(each)] > 0).all() for each in others)
        mine = self.runs[np.isfinite(self.runs)]
        return bool(highest and len(mine) and positive and max(highest) > FAR * mine.max())

    def table(self) -> Table:
        several = len(self.runs) > 1
        named = {"mean": self.observed, "largest": self.runs.max(axis=0)} if several else {"observed": self.observed}
        columns = {self.over: self.x, **named, **self.bounds, **self.floors, **self.hindsight}
        places = np.unique(np.linspace(0, len(self.x) - 1, min(FEW, len(self.x))).round().astype(int))
        rows = tuple(tuple(shown_number(float(values[i])) for values in columns.values()) for i in places)
        return Table(tuple(columns), rows)


def _numbers(name: str, values: Any) -> Floats:
    """Numbers in one dimension; a single one stands for all."""
    read = np.asarray(values, dtype=np.float64)
    if read.ndim > 1:
        raise invalid(name, "numbers in one dimension", Words(f"an array of shape {read.shape}"))
    return np.atleast_1d(read)


def _begun(quantity: str) -> str:
    """A quantity as a sentence begins with it; symbols stay as they are."""
    first = quantity.split()[0]
    return f"{quantity[0].upper()}{quantity[1:]}" if first.isalpha() and len(first) > 2 else quantity


def _most_often(beyond: Any) -> float:
    """In which part of the runs it is so, at the point where it is so most often."""
    return float(np.mean(beyond, axis=0).max(initial=0.0))


def _named(made: Certificate, name: str) -> Certificate | None:
    """The certificate by the theorem of that name, where it applies."""
    for each in (made, *made.others):
        if each.theorem.name == name and each.subject == made.subject and each.verdict is not Verdict.NOT_APPLICABLE:
            return each
    return None


def _hindsight(made: Certificate) -> float | None:
    found = made.hindsight
    return found.value if found is not None and found.quantity in ("", made.quantity) else None
