"""Who is followed: weights over time, who leads, and what each contributes to the forecast."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from afterwit.core.envelope import Floats
from afterwit.errors import counted
from afterwit.pictures._axes import brief, plain, rounds_along, shown
from afterwit.pictures._expert_run import NAMED, Run
from afterwit.pictures._labels import columns_beside, label_areas, rows_down
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._pieces import AREA, Ints, area, means, most_frequent, powers, starts
from afterwit.pictures._style import HAPPENED, HINDSIGHT, INK, MUTED, SERIES

#: What is left of the colour of all others.
PALE = 0.3
#: Less than this part of the rounds cannot be seen.
SEEN = 0.005


class _Stacked(Picture):
    """Areas on top of each other: the largest have names, all others are one."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def _parts(self) -> Floats:
        """The part of each expert in each round, 0 where it slept."""
        raise NotImplementedError

    @cached_property
    def _chosen(self) -> tuple[list[int], list[int]]:
        return self.run.largest(np.abs(self._parts).mean(axis=0))

    @property
    def _labels(self) -> list[tuple[str, str, float]]:
        """The name of each area, its colour and how much of that is left, from below."""
        named, others = self._chosen
        found = [(self.run.short[i], SERIES[place % len(SERIES)][0], 1.0) for place, i in enumerate(named)]
        return [*found, (f"others ({len(others):,})", MUTED, PALE)] if others else found

    def _bands(self, rows: Floats) -> Floats:
        """The parts of the named experts, and of all others together."""
        named, others = self._chosen
        found = rows[..., named]
        return np.concatenate([found, rows[..., others].sum(axis=-1, keepdims=True)], axis=-1) if others else found

    def _draw_areas(self, ax: Any) -> tuple[Floats, Floats, Floats]:
        """Draw them; the rounds, and what is below and above each area. What is negative is stacked below zero."""
        first = starts(self.run.rounds, AREA)
        bands = self._bands(means(self._parts, first))
        middles = (first + np.append(first[1:], self.run.rounds)) / 2
        x = np.concatenate([[0.0], middles, [float(self.run.rounds)]])
        bands = np.concatenate([bands[:1], bands, bands[-1:]])
        above, below = (np.cumsum(part, axis=1) for part in (np.maximum(bands, 0.0), np.minimum(bands, 0.0)))
        for place in reversed(range(bands.shape[1])):
            _, colour, left = self._labels[place]
            for edge in (above, below):
                if edge[:, place].any():
                    area(ax, x, edge[:, place], colour, alpha=left)
        return x, bands, np.where(bands[-1] < 0, below[-1], above[-1]) - bands[-1] / 2


class Weights(_Stacked):
    """Everyone's share in the forecast, over the rounds."""

    kind = "weights"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.title = f"Weights over time, {run.learner}"

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        run = self.run
        last = run.record.shares[-1]
        most = int(np.argmax(last))
        width = int(starts(run.rounds, AREA)[1:2].sum())
        averaged = f", averaged over {counted(width, 'round')}" if width > 1 else ""
        largest = f"In the last round {run.names[most]} has the largest, {last[most]:.1%}"
        return f"Everyone's share in each of {counted(run.rounds, 'round')}{averaged}. {largest}."

    @cached_property
    def _parts(self) -> Floats:
        return np.asarray(self.run.record.shares)

    def draw(self, ax: Any) -> None:
        _, bands, middles = self._draw_areas(ax)
        rounds_along(ax, self.run.rounds)
        ax.set_ylim(0, 1)
        ax.set_ylabel("share")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        ax.grid(visible=False)
        ends = zip(middles.tolist(), self._labels, bands[-1], strict=True)
        label_areas(ax, [(middle, f"{name} {part:.0%}", *how) for middle, (name, *how), part in ends])

    def table(self) -> Table:
        heads = ("rounds", *(self.run.names[i] for i in self._chosen[0]))
        heads += tuple(name for name, *_ in self._labels[len(self._chosen[0]) :])
        at = powers(self.run.rounds)
        rows = self._bands(self._parts[at - 1])
        return Table(heads, tuple((f"{t:,}", *(f"{p:.1%}" for p in row)) for t, row in zip(at, rows, strict=True)))


class Contributions(_Stacked):
    """Share times advice: what each expert adds to the forecast, beside the outcome."""

    kind = "contributions"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.title = f"Contributions to the forecast, {run.learner}"

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        return (
            "The share of each expert times its advice; they add up to the forecast. The line is the outcome, over "
            f"{counted(self.run.rounds, 'round')}."
        )

    @cached_property
    def _parts(self) -> Floats:
        return np.asarray(np.nan_to_num(self.run.record.shares * self.run.record.advice, nan=0.0))

    def draw(self, ax: Any) -> None:
        x, bands, middles = self._draw_areas(ax)
        outcomes = means(self.run.record.outcomes, starts(self.run.rounds, AREA))
        outcomes = np.concatenate([outcomes[:1], outcomes, outcomes[-1:]])
        if (bands < 0).any():
            ax.plot(x, bands.sum(axis=1), color=HAPPENED, linewidth=1.6)
        ax.plot(x, outcomes, color=INK, linewidth=1.4, linestyle=(0, (4, 1.6)))
        rounds_along(ax, self.run.rounds)
        if not (bands < 0).any():
            ax.set_ylim(bottom=0)
        ax.set_ylabel("share × advice")
        ax.yaxis.set_major_formatter(plain)
        ax.grid(visible=False)
        ends = [(middle, *label) for middle, label in zip(middles.tolist(), self._labels, strict=True)]
        label_areas(ax, [*ends, (float(outcomes[-1]), f"outcome {brief(outcomes[-1])}", INK, 1.0)])

    def table(self) -> Table:
        record, at = self.run.record, powers(self.run.rounds)
        named = len(self._chosen[0])
        others = tuple(name for name, *_ in self._labels[named:])
        heads = ("rounds", *(self.run.names[i] for i in self._chosen[0]), *others, "forecast", "outcome")
        rows = self._bands(self._parts[at - 1])
        made = zip(at, rows, record.forecasts[at - 1], record.outcomes[at - 1], strict=True)
        return Table(heads, tuple((f"{t:,}", *map(shown, (*row, own, outcome))) for t, row, own, outcome in made))


class Leaders(Picture):
    """Who has the largest share in each stretch of rounds, and who was the best so far."""

    kind = "leaders"

    def __init__(self, run: Run) -> None:
        self.run = run
        self.title = f"Who leads, {run.learner}"

    @property
    def size(self) -> tuple[float, float]:  # type: ignore[override]
        return 7.2, 1.2 + 0.34 * (1 + len(self._rows))

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        run = self.run
        place = int(self._times[0][: run.count].argmax())
        leads = f"{run.names[place]} had the largest share in {self._times[0][place]:.0%} of the rounds"
        best = f"{run.names[run.best]} is the best expert at the end"
        return f"Thick: who has the largest share. Thin: who was the best expert so far. {leads}; {best}."

    @cached_property
    def _leaders(self) -> tuple[Ints, Ints]:
        """In each round, the expert with the largest share, and the one that is the best after it. The number after
        the last expert stands for several that are equal.
        """
        record = self.run.record
        return _alone(record.shares), _alone(self.run.regrets)

    @cached_property
    def _times(self) -> tuple[Floats, Floats]:
        """In which part of the rounds each leads."""
        shares, best = (np.bincount(each, minlength=self.run.count + 1) for each in self._leaders)
        return shares / self.run.rounds, best / self.run.rounds

    @cached_property
    def _rows(self) -> list[tuple[str, list[int]]]:
        """The rows of the picture: the name of each and who is in it."""
        run = self.run
        total = np.maximum(*self._times)[: run.count]
        leading = [i for i in np.argsort(-total, kind="stable").tolist() if total[i] > 0]
        named = [i for i in leading[:NAMED] if total[i] >= SEEN]
        others = leading[len(named) :]
        rows = [(run.short[i], [i]) for i in named]
        if max(times[others].sum() for times in self._times) >= SEEN:
            rows.append((f"others ({len(others):,})", others))
        if max(times[run.count] for times in self._times) >= SEEN:
            rows.append(("several alike", [run.count]))
        return rows

    def draw(self, ax: Any) -> None:
        run = self.run
        first = starts(run.rounds, AREA)
        # What has no row of its own goes to one that is not drawn.
        row_of = np.full(run.count + 1, len(self._rows))
        for row, (_, places) in enumerate(self._rows):
            row_of[places] = row
        for leaders, colour, top, height in zip(
            self._leaders, (HAPPENED, HINDSIGHT), (0.36, -0.2), (0.5, 0.16), strict=True
        ):
            rows = most_frequent(row_of[leaders], first, len(self._rows) + 1)
            for row in range(len(self._rows)):
                spans = _spans(rows == row, first, run.rounds)
                ax.broken_barh(spans, (row - top, height), color=colour, linewidth=0)
        rounds_along(ax, run.rounds)
        rows_down(ax, [name for name, _ in self._rows], heads=True)
        leads, best = ([f"{times[places].sum():.0%}" for _, places in self._rows] for times in self._times)
        columns_beside(ax, ("leads", HAPPENED, 38, leads), ("best", HINDSIGHT, 76, best))

    def table(self) -> Table:
        run = self.run
        names = [
            run.names[places[0]] if len(places) == 1 and places[0] < run.count else name for name, places in self._rows
        ]
        leads, best = self._times
        rows = [
            (name, f"{leads[places].sum():.1%}", f"{best[places].sum():.1%}")
            for name, (_, places) in zip(names, self._rows, strict=True)
        ]
        return Table(("expert", "rounds with the largest share", "rounds as the best so far"), tuple(rows))


def _alone(numbers: Floats) -> Ints:
    """In each row the place of the largest, or their number if several are the largest."""
    largest = numbers.max(axis=1, keepdims=True)
    alone = (numbers == largest).sum(axis=1) == 1
    return np.asarray(np.where(alone, numbers.argmax(axis=1), numbers.shape[1]), dtype=np.int64)


def _spans(there: Any, first: Ints, rounds: int) -> list[tuple[int, int]]:
    """The stretches of rounds in which something is, as begin and length."""
    changes = np.flatnonzero(np.diff(there.astype(np.int8), prepend=0, append=0))
    edges = np.append(first, rounds)[changes].reshape(-1, 2)
    return [(int(begin), int(end - begin)) for begin, end in edges]
