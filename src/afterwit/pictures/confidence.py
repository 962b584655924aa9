"""Where the true error lies: the confidence sequence over the rounds, with the error so far inside."""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.batch.confidence import interval_after
from afterwit.core.envelope import Floats
from afterwit.data.checks import share
from afterwit.pictures._axes import rounds_along
from afterwit.pictures._curve import curve_of
from afterwit.pictures._labels import label_ends
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import HAPPENED, LINES, MUTED

#: How many moments are drawn.
MOST_PLACES = 200


def pictures(record: Any) -> list[Picture]:
    """The picture of a record of mistakes in which every example was new when it was predicted."""
    counts_mistakes = hasattr(record, "mistakes") and record.rounds > 0
    late = record._played is not None and record._played.arrivals is not None
    return [ConfidenceBand(record)] if counts_mistakes and record.passes == 1 and not late else []


class ConfidenceBand(Picture):
    """The confidence sequence of the mean error of the hypotheses so far.

    delta  how likely it may be that the band misses it in any round
    """

    kind = "confidence"

    def __init__(self, record: Any, delta: Any = 0.05) -> None:
        self.record = record
        self.delta = share("delta", delta)
        rounds, _, _, error = curve_of(record)
        # Of moments that are drawn at one place on a logarithmic scale, one is enough: the curve has no spikes.
        kept = np.unique(np.searchsorted(rounds, np.geomspace(rounds[0], rounds[-1], MOST_PLACES).round()))
        self.rounds, self.error = rounds[kept], error[kept]
        self.lower, self.upper = self._interval(self.rounds, self.error)
        self.title = f"Where the true error lies, {record.learner}"
        self.caption = (
            f"With probability {1 - self.delta:.6g} the band holds, in all rounds at once, the mean error that the "
            f"hypotheses so far have on new examples, if the examples are drawn independently. At the end it is from "
            f"{self.lower[-1]:.2%} to {self.upper[-1]:.2%}; {record.error:.2%} happened."
        )

    def _interval(self, rounds: Any, error: Any) -> tuple[Floats, Floats]:
        return interval_after(rounds, np.rint(error * rounds), self.delta)

    def draw(self, ax: Any) -> None:
        ax.fill_between(self.rounds, self.lower, self.upper, color=HAPPENED, alpha=0.18, linewidth=0)
        for edge in (self.lower, self.upper):
            ax.plot(self.rounds, edge, color=MUTED, linewidth=1.0)
        single = len(self.rounds) == 1
        if single:
            ax.vlines(self.rounds, self.lower, self.upper, color=HAPPENED, alpha=0.18, linewidth=8)
        ax.plot(self.rounds, self.error, marker="o" if single else "", markersize=5, **LINES["happened"])
        rounds_along(ax, int(self.rounds[-1]), log=True)
        ax.set_xlim(left=0.5 if single else 1)
        ax.set_ylim(0, min(1.0, 1.25 * float(self.upper[len(self.upper) // 4 :].max())))
        ax.set_ylabel("error")
        ax.yaxis.set_major_formatter(_percent)
        ends = [(float(self.error[-1]), f"so far {self.record.error:.2%}", HAPPENED)]
        for name, edge in (("up to", self.upper), ("from", self.lower)):
            ends.append((float(edge[-1]), f"{name} {edge[-1]:.2%}", MUTED))
        label_ends(ax, ends)

    def table(self) -> Table:
        points = self.record.curve
        rounds, error = (np.array([getattr(point, name) for point in points]) for name in ("rounds", "error"))
        columns = (self._interval(rounds, error)[0], error, self._interval(rounds, error)[1])
        rows = [
            (f"{at:,}", *(f"{value:.2%}" for value in values))
            for at, *values in zip(rounds.tolist(), *columns, strict=True)
        ]
        return Table(("rounds", "from", "error so far", "up to"), tuple(rows))


def _percent(value: float, _: Any) -> str:
    return f"{100 * value:.4g}%"
