"""Intervals: how often they hold the outcome beside what was promised, and what the last ones looked like."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from afterwit.core.certificate import Certificate, Verdict
from afterwit.core.envelope import Floats
from afterwit.errors import counted
from afterwit.pictures._axes import marked, plain, rounds_along, shown
from afterwit.pictures._expert_run import Run
from afterwit.pictures._labels import label_ends
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._pieces import ENOUGH, lately, powers, sparse, spread
from afterwit.pictures._style import BESIDE, BOUND, HAPPENED, INK, LINES, MUTED

#: So many intervals are drawn: the last ones.
LAST = 120
#: The quantities of the theorems about intervals: `afterwit.reductions.conformal_intervals`.
UNCOVERED, DISTANCE = "uncovered rounds", "distance from the coverage"


class Coverage(Picture):
    """The share of the outcomes inside their intervals so far, and where the theorem says it has to be."""

    kind = "coverage"

    def __init__(self, run: Run) -> None:
        self.run = run
        self.title = f"Coverage over time, {run.learner}"

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        run = self.run
        said = (
            f"The share of the outcomes inside their intervals; after {counted(run.rounds, 'round')} it is "
            f"{run.record.coverage:.2%}."
        )
        if self._promised is not None:
            said += f" The promise is {100 * self._promised:.6g}%"
            if self._bands and self._bands[-1][0] == run.rounds:
                _, low, high = self._bands[-1]
                said += f", and by the theorem it is between {low:.2%} and {high:.2%}"
            said += "."
        if run.record.earlier:
            before = counted(run.record.earlier, "round")
            said += f" The learner had learned {before} before, which the theorem is about as well: it is not drawn."
        return said

    @cached_property
    def _covered(self) -> Floats:
        """Whether each outcome was inside, as 1 and 0."""
        low, high = self.run.record.intervals.T
        outcomes = self.run.record.outcomes
        return np.asarray((low <= outcomes) & (outcomes <= high), dtype=np.float64)

    @cached_property
    def _so_far(self) -> Floats:
        return np.asarray(np.cumsum(self._covered) / np.arange(1, self.run.rounds + 1))

    @property
    def _promised(self) -> float | None:
        """The coverage that is wanted."""
        made = self.run.record.interval_certificate
        found = [each.inputs["alpha"] for each in (made, *made.others) if "alpha" in each.inputs]
        return 1 - float(found[0]) if found else None

    @cached_property
    def _bands(self) -> list[tuple[int, float, float]]:
        """At each moment, between what the theorems say the coverage so far is."""
        record = self.run.record
        if record.earlier:
            return []
        made = record.coverage_moments()
        if not made or made[-1].rounds < record.rounds:
            made = [*made, record.interval_certificate]
        return [(each.rounds, *_band(each)) for each in made]

    def draw(self, ax: Any) -> None:
        run, at = self.run, spread(self.run.rounds)
        line = self._so_far[at - 1]
        ends = []
        if self._bands:
            rounds, low, high = (np.array(each) for each in zip(*self._bands, strict=True))
            kept = sparse(rounds)
            rounds, low, high = rounds[kept], low[kept], high[kept]
            ax.fill_between(rounds, low, high, color=BOUND, alpha=0.12, linewidth=0)
            for edge in (low, high):
                ax.plot(rounds, edge, **{**marked(LINES["bound"], len(rounds)), "linewidth": 1.2})
            ends += [(float(low[-1]), "at least", BOUND), (float(high[-1]), "at most", BOUND)]
        if self._promised is not None:
            ax.plot([1, max(2, run.rounds)], [self._promised] * 2, color=INK, linewidth=0.9)
            ends.append((self._promised, f"promise {100 * self._promised:.6g}%", INK))
        ax.plot(at, line, **marked(LINES["happened"], len(at)))
        ends.append((float(line[-1]), f"so far {line[-1]:.2%}", HAPPENED))
        recent = at[at >= ENOUGH]
        seen = [*line[len(line) // 4 :], *(end[0] for end in ends)]
        if len(recent):
            values = lately(self._covered, recent)
            ax.plot(recent, values, **BESIDE["lately"])
            ends.append((float(values[-1]), "lately", MUTED))
            seen += values[len(values) // 4 :].tolist()
        rounds_along(ax, run.rounds, log=True)
        low_end = max(0.0, min(seen) - 0.05)
        ax.set_ylim(low_end, 1 + 0.04 * (1 - low_end))
        ax.set_ylabel("outcomes inside")
        ax.yaxis.set_major_formatter(lambda value, _: "" if value > 1 + 1e-9 else f"{100 * value:.6g}%")
        label_ends(ax, ends)

    def table(self) -> Table:
        bands = {t: (low, high) for t, low, high in self._bands}
        at = powers(self.run.rounds)
        rows = []
        for t, now in zip(at.tolist(), lately(self._covered, at), strict=True):
            ends = [f"{end:.2%}" for end in bands[t]] if t in bands else ["", ""]
            rows.append((f"{t:,}", f"{self._so_far[t - 1]:.2%}", f"{now:.2%}", *ends))
        return Table(("rounds", "coverage so far", "in the last eighth", "at least", "at most"), tuple(rows))


def _band(made: Certificate) -> tuple[float, float]:
    """Between what the coverage so far is, by all theorems that apply."""
    low, high = 0.0, 1.0
    for each in (made, *made.others):
        if each.verdict is Verdict.NOT_APPLICABLE or each.bound is None:
            continue
        if each.quantity == UNCOVERED:
            low = max(low, 1 - each.bound / each.rounds)
        elif each.quantity == DISTANCE:
            promised = 1 - float(each.inputs["alpha"])
            low, high = max(low, promised - each.bound), min(high, promised + each.bound)
    return low, high


class Intervals(Picture):
    """The last intervals as a band, with the outcomes; those that were missed are marked."""

    kind = "intervals"

    def __init__(self, run: Run) -> None:
        self.run = run
        self._first = max(0, run.rounds - LAST)
        which = f"last {LAST} rounds" if self._first else counted(run.rounds, "round")
        self.title = f"Intervals and outcomes, {which}"

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        missed = int((~self._inside).sum())
        where = f"In the last {LAST} rounds" if self._first else f"In {counted(self.run.rounds, 'round')}"
        infinite = int(np.isinf(self._ends).any(axis=1).sum())
        said = (
            f"{where}, {counted(missed, 'outcome')} of {len(self._inside):,} {'is' if missed == 1 else 'are'} outside"
        )
        return f"{said}; {counted(infinite, 'interval')} had no end." if infinite else f"{said}."

    @property
    def _ends(self) -> Floats:
        return np.asarray(self.run.record.intervals[self._first :])

    @property
    def _outcomes(self) -> Floats:
        return np.asarray(self.run.record.outcomes[self._first :])

    @cached_property
    def _inside(self) -> Any:
        low, high = self._ends.T
        return (low <= self._outcomes) & (self._outcomes <= high)

    def draw(self, ax: Any) -> None:
        rounds = np.arange(self._first + 1, self.run.rounds + 1)
        ends = self._ends
        known = np.concatenate([self._outcomes, ends[np.isfinite(ends)]])
        room = 0.06 * (float(np.ptp(known)) or abs(float(known[0])) or 1.0)
        low, high = float(known.min()) - room, float(known.max()) + room
        # A band of steps: each interval is as wide as its round.
        x = np.repeat(np.append(rounds - 0.5, rounds[-1] + 0.5), 2)[1:-1]
        lower, upper = (np.repeat(np.clip(ends[:, side], low, high), 2) for side in (0, 1))
        ax.fill_between(x, lower, upper, color=HAPPENED, alpha=0.22, linewidth=0)
        inside = self._inside
        ax.plot(rounds[inside], self._outcomes[inside], "o", color=INK, markersize=2.4, markeredgewidth=0)
        ax.plot(rounds[~inside], self._outcomes[~inside], "X", color=BOUND, markersize=7, markeredgewidth=0)
        rounds_along(ax, self.run.rounds, first=self._first)
        ax.set_xlim(self._first + 0.4, self.run.rounds + 0.6)
        ax.set_ylim(low, high)
        ax.set_ylabel("outcome")
        ax.yaxis.set_major_formatter(plain)
        marks = [
            (float(self._outcomes[-1]), "• outcome", INK),
            (float(np.clip(ends[-1], low, high).mean()), "interval", HAPPENED),
        ]
        if not inside.all():
            marks.append((float(self._outcomes[~inside][-1]), "× outside", BOUND))
        label_ends(ax, marks)

    def table(self) -> Table:
        rows = []
        record = self.run.record
        for t in range(max(0, record.rounds - 20), record.rounds):
            low, high = record.intervals[t]
            inside = "inside" if low <= record.outcomes[t] <= high else "outside"
            rows.append((f"{t + 1:,}", shown(low), shown(high), shown(record.outcomes[t]), inside))
        return Table(("round", "from", "to", "outcome", ""), tuple(rows))
