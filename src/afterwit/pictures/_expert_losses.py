"""What everybody lost: the mean losses as bars, over time, and the residuals of the forecasts."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from afterwit.core.certificate import shown_number
from afterwit.core.envelope import Floats
from afterwit.errors import counted
from afterwit.pictures._axes import brief, marked, plain, rounds_along, shown
from afterwit.pictures._expert_run import Run
from afterwit.pictures._labels import label_ends, rows_down
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._pieces import ENOUGH, curve, lately, powers, sparse, spread
from afterwit.pictures._style import BESIDE, BOUND, HAPPENED, HINDSIGHT, INK, LETTERS, LINES, MUTED, STROKES, series

#: Of more experts than this, the best and the worst have bars.
BARS = 20
BEST, WORST = 10, 4
#: A bar this many times as long as that of the middle one is cut off; a bound this far above all lines, too.
LONG = 4.0
#: The lines of experts beside the best one.
RUNNERS_UP = 2
UNIFORM, MIXTURE = "mean of the experts", "best mixture"

Bar = tuple[str, str, float, str]


class MeanLosses(Picture):
    """The mean loss of each expert as a bar, beside the learner, the plain mean and the best mixture."""

    kind = "losses"

    def __init__(self, run: Run) -> None:
        self.run = run
        self.title = f"{run.rate_in_short} of each expert, {run.learner}"

    @property
    def size(self) -> tuple[float, float]:  # type: ignore[override]
        return 7.2, 1.1 + 0.25 * len(self._shown)

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        own = next(value for _, _, value, colour in self._bars if colour == HAPPENED)
        experts = [value for _, _, value, colour in self._bars if colour == MUTED]
        better = sum(value < own for value in experts)
        return (
            f"The {self.run.rate} over {counted(self.run.rounds, 'round')}: {shown_number(own)} for the learner, "
            f"and less for {better:,} of {counted(len(experts), 'expert')}.{self.run.said_of_experts()}"
        )

    @cached_property
    def _bars(self) -> list[Bar]:
        """All there are, the least first: name, name where there is little room, how long the bar is, colour."""
        record, run = self.run.record, self.run
        awake = ~np.isnan(record.expert_losses)
        sums, counts = np.where(awake, record.expert_losses, 0.0).sum(axis=0), awake.sum(axis=0)
        found = [(run.names[i], run.short[i], sums[i] / counts[i], MUTED) for i in range(run.count) if counts[i]]
        found.append((record.learner, run.learner, record.losses.mean(), HAPPENED))
        for name, losses, colour in (
            (UNIFORM, record.uniform_losses, INK),
            (MIXTURE, record.mixture_losses, HINDSIGHT),
        ):
            if losses is not None:
                found.append((name, name, losses.mean(), colour))
        rated = [(name, short, float(run.rated(mean)), colour) for name, short, mean, colour in found]
        return sorted(rated, key=lambda bar: bar[2])

    @cached_property
    def _shown(self) -> list[Bar | int]:
        """The bars there is room for, and in place of the others how many these are."""
        places = [place for place, bar in enumerate(self._bars) if bar[3] == MUTED]
        left_out = set(places[BEST:-WORST]) if len(places) > BARS else set()
        found: list[Bar | int] = []
        for place, bar in enumerate(self._bars):
            before = found[-1] if found else None
            if place not in left_out:
                found.append(bar)
            elif isinstance(before, int):
                found[-1] = before + 1
            else:
                found.append(1)
        return found

    def draw(self, ax: Any) -> None:
        values = [bar[2] for bar in self._shown if not isinstance(bar, int) and math.isfinite(bar[2])]
        low, high = min(0.0, *values), max(0.0, *values)
        usual = float(np.median(np.abs(values)))
        if usual and high > LONG * usual:
            high = LONG * usual
        high = high if high > low else 1.0
        for row, bar in enumerate(self._shown):
            if isinstance(bar, int):
                continue
            _, _, value, colour = bar
            length = min(value, high)
            ax.barh(row, length, height=0.72, color=colour, linewidth=0, alpha=0.45 if colour == MUTED else 1.0)
            ax.annotate(
                f"{brief(value)} →" if value > high else brief(value),
                (max(length, 0.0), row),
                (4, 0),
                textcoords="offset points",
                va="center",
                fontsize=LETTERS - 1,
                color=INK,
                annotation_clip=False,
            )
        names = [f"… {counted(bar, 'expert')} between" if isinstance(bar, int) else bar[1] for bar in self._shown]
        rows_down(ax, names)
        for label, bar in zip(ax.get_yticklabels(), self._shown, strict=True):
            if isinstance(bar, int):
                label.set_color(MUTED)
            elif bar[3] != MUTED:
                label.set(color=bar[3], weight="bold")
        ax.set_xlim(low, low + 1.02 * (high - low))
        ax.set_xlabel(self.run.rate)
        ax.xaxis.set_major_formatter(plain)

    def table(self) -> Table:
        rows = (
            (f"{counted(bar, 'expert')} between", "") if isinstance(bar, int) else (bar[0], shown(bar[2]))
            for bar in self._shown
        )
        return Table(("", self.run.rate), tuple(rows))


class LossOverTime(Picture):
    """The mean loss so far of the learner, of the plain mean and of the best in hindsight; and what was promised."""

    kind = "loss"

    def __init__(self, run: Run) -> None:
        self.run = run
        self.title = f"{run.rate_in_short} over time, {run.learner}"

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        own, best = (shown_number(float(self._so_far[name][-1])) for name in ("learner", "best expert"))
        name = self.run.names[self.run.best]
        said = f"The {self.run.rate} so far; at the end {own}, and {best} for {name}, the best expert"
        if self._promised and self._promised[-1][0] == self.run.rounds:
            said += f". By the bound it is at most {shown_number(self._promised[-1][1])}"
        return f"{said}.{self.run.said_of_experts()}"

    @cached_property
    def _so_far(self) -> dict[str, Floats]:
        """The mean loss so far of everyone that has a line, after each round."""
        record, run = self.run.record, self.run
        rounds = np.arange(1, run.rounds + 1)
        losses = record.expert_losses[:, run.best]
        awake = ~np.isnan(losses)
        with np.errstate(invalid="ignore"):
            found = {"best expert": np.cumsum(np.where(awake, losses, 0.0)) / np.cumsum(awake)}
        for name, each in ((MIXTURE, record.mixture_losses), (UNIFORM, record.uniform_losses)):
            if each is not None:
                found[name] = np.cumsum(each) / rounds
        found["learner"] = np.cumsum(record.losses) / rounds
        return {name: run.rated(means) for name, means in found.items()}

    @cached_property
    def _promised(self) -> list[tuple[int, float]]:
        """At each moment, the mean loss that the bound on the regret leaves room for."""
        run, promises = self.run, self.run.promises
        total = np.cumsum(run.record.losses) - run.regret_curve
        means = [(total[each.rounds - 1] + each.bound) / each.rounds for each in promises]
        return [(each.rounds, float(run.rated(mean))) for each, mean in zip(promises, means, strict=True)]

    def draw(self, ax: Any) -> None:
        run, at = self.run, spread(self.run.rounds)
        styles = {"best expert": LINES["hindsight"], MIXTURE: BESIDE["mixture"], UNIFORM: BESIDE["uniform"]}
        ends: list[tuple[float, str, str]] = []
        settled: list[float] = []
        for name, line in self._so_far.items():
            style = styles.get(name, LINES["happened"])
            there = np.where(np.isfinite(line[at - 1]), line[at - 1], np.nan)
            ax.plot(at, there, **marked(style, len(at)))
            ends.append((float(line[-1]), name, style["color"]))
            settled += there[len(there) // 4 :].tolist()
        recent = at[at >= ENOUGH]
        if len(recent):
            values = run.rated(lately(run.record.losses, recent))
            ax.plot(recent, values, **BESIDE["lately"])
            ends.append((float(values[-1]), "learner lately", MUTED))
        settled = [value for value in [*settled, *(value for value, _, _ in ends)] if math.isfinite(value)]
        low, high = min(settled), max(settled)
        if self._promised:
            moments, bounds = (np.array(each) for each in zip(*self._promised, strict=True))
            kept = sparse(moments)
            ax.plot(moments[kept], bounds[kept], **marked(LINES["bound"], len(kept)))
            ends.append((float(bounds[-1]), "bound", BOUND))
            if high == low or bounds[-1] < low + LONG * (high - low):
                high = max(high, float(bounds[-1]))
        room = 0.06 * (high - low or abs(high) or 1.0)
        rounds_along(ax, run.rounds, log=True)
        ax.set_ylim(0.0 if 0 <= low < 4 * room else low - room, high + room)
        top = ax.get_ylim()[1]
        # What is above the picture says where; an infinite mean loss has no other place either.
        ends = [(min(end, 2 * abs(top)), f"{text} {brief(end)} ↑" if end > top else text, c) for end, text, c in ends]
        ax.set_ylabel(run.rate)
        ax.yaxis.set_major_formatter(plain)
        label_ends(ax, ends)

    def table(self) -> Table:
        promised = dict(self._promised)
        at = powers(self.run.rounds)
        columns = [line[at - 1] for line in self._so_far.values()]
        recent = self.run.rated(lately(self.run.record.losses, at))
        rows = [
            (f"{t:,}", *map(shown, row), shown(now), shown(promised.get(t, math.nan)))
            for t, now, *row in zip(at.tolist(), recent, *columns, strict=True)
        ]
        return Table(("rounds", *self._so_far, "learner, last eighth", "bound"), tuple(rows))


class Residuals(Picture):
    """The sums of forecast less outcome: of a forecast that is neither too high nor too low they stay near zero."""

    kind = "residuals"

    def __init__(self, run: Run) -> None:
        self.run = run
        self.title = f"Cumulative residuals, {run.learner}"

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        end = float(self._sums[0][2][-1])
        return (
            f"The sum of forecast less outcome so far, over {counted(self.run.rounds, 'round')}; at the end it is "
            f"{shown_number(end)} for the learner. A line that stays near zero is that of forecasts without bias."
        )

    @cached_property
    def _sums(self) -> list[tuple[str, str, Floats, dict[str, Any]]]:
        """The lines: name, name where there is little room, the sums after each round, and how it is drawn."""
        record, run = self.run.record, self.run
        found = [("learner", "learner", np.cumsum(record.forecasts - record.outcomes), LINES["happened"])]
        if record.advice is None:
            return found
        residuals = record.advice - record.outcomes[:, np.newaxis]
        awake = ~np.isnan(residuals)
        residuals[~awake] = 0.0
        found.append((UNIFORM, UNIFORM, np.cumsum(residuals.sum(axis=1) / awake.sum(axis=1)), BESIDE["uniform"]))
        for place, i in enumerate(run.by_regret[: 1 + RUNNERS_UP]):
            beside = {**series(2 * place), "linestyle": STROKES[2 - place], "linewidth": 1.2}
            style = beside if place else LINES["hindsight"]
            found.append((run.names[i], run.short[i], np.cumsum(residuals[:, i]), style))
        return found

    def draw(self, ax: Any) -> None:
        ax.plot([0, self.run.rounds], [0, 0], color=MUTED, linewidth=0.8)
        ends = []
        # The learner is drawn last, above all others.
        for _, short, line, style in reversed(self._sums):
            drawn = curve(line)
            ax.plot(np.append(0, drawn.ends), np.append(0.0, drawn.last), **style)
            ends.append((float(line[-1]), short, style["color"]))
        rounds_along(ax, self.run.rounds)
        ax.set_ylabel("sum of forecast − outcome")
        ax.yaxis.set_major_formatter(plain)
        label_ends(ax, ends)

    def table(self) -> Table:
        at = powers(self.run.rounds)
        columns = [line[at - 1] for _, _, line, _ in self._sums]
        rows = [(f"{t:,}", *map(shown, row)) for t, *row in zip(at.tolist(), *columns, strict=True)]
        return Table(("rounds", *(name for name, *_ in self._sums)), tuple(rows))
