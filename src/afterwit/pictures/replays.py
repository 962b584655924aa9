"""What is seen by playing the rounds again: the hypotheses that are left, and the labels that were asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from afterwit.concepts.halving import Halving
from afterwit.core.moments import replayed
from afterwit.errors import counted
from afterwit.pictures._axes import rounds_along
from afterwit.pictures._labels import label_ends
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import BOUND, HAPPENED, INK, LINES

#: At most so many moments are looked at.
MOST_MOMENTS = 400
#: In longer runs the rounds are on a logarithmic scale.
SHORT = 60


def pictures(record: Any) -> list[Picture]:
    """The pictures of learners over a finite class, and of those that ask for labels."""
    played = record._played
    if played is None or not played.can_be_replayed or record.passes > 1 or not record.rounds:
        return []
    if hasattr(played.before, "hypotheses") and hasattr(played.before, "remaining"):
        return [VersionSpace(record)]
    return [LabelsAsked(record)] if getattr(record, "asked", None) else []


class VersionSpace(Picture):
    """How many hypotheses are left after each round, and where the mistakes were."""

    kind = "versions"

    def __init__(self, record: Any) -> None:
        played = record._played
        self.halving = isinstance(played.before, Halving)
        self.hypotheses = len(played.before.hypotheses)
        step = math.ceil(record.rounds / MOST_MOMENTS)
        #: Rounds, hypotheses left and mistakes so far.
        self.moments = [(0, self.hypotheses, 0)]
        for past in replayed(played.before, played.as_played, lambda rounds: rounds + step):
            self.moments.append((past.rounds, past.learner.remaining, past.learner.mistakes))
            line = past.learner.certificate().line()
        self.title = f"Hypotheses that are left, {record.learner}"
        rounds, left, mistakes = self.moments[-1]
        of = f"{self.hypotheses:,} {'hypothesis' if self.hypotheses == 1 else 'hypotheses'}"
        self.caption = (
            f"{left:,} of {of} {'is' if left == 1 else 'are'} left after {counted(rounds, 'round')} with "
            f"{counted(mistakes, 'mistake')}. {line}."
        )

    def draw(self, ax: Any) -> None:
        rounds, left, mistakes = (list(column) for column in zip(*self.moments, strict=True))
        long = rounds[-1] > SHORT
        places = [max(at, 0.5) for at in rounds] if long else rounds
        heights = [_height(each) for each in left]
        ax.step(places, heights, where="post", **LINES["happened"])
        ends = [(heights[-1], f"{left[-1]:,} left", HAPPENED)]
        if self.halving:
            most = [max(-1.0, math.log2(self.hypotheses) - each) for each in mistakes]
            ax.step(places, most, where="post", **LINES["bound"])
            ends.append((most[-1], "|H| / 2^mistakes", BOUND))
        # Once none is left, mistakes tell nothing more.
        wrong = [i for i in range(1, len(mistakes)) if mistakes[i] > mistakes[i - 1] and left[i - 1]]
        ax.plot([places[i] for i in wrong], [heights[i] for i in wrong], "X", color=INK, markersize=7)
        if long:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else "")
            ax.xaxis.set_minor_formatter(lambda *_: "")
        else:
            ax.locator_params(axis="x", integer=True)
        ax.set_xlim(places[0], max(1, places[-1]))
        lowest = min([0.0, *heights, *(value for value, _, _ in ends)])
        ax.set_ylim(lowest - 0.3, 1.05 * math.log2(self.hypotheses) + 0.3)
        ax.locator_params(axis="y", integer=True)
        ax.yaxis.set_major_formatter(lambda value, _: _hypotheses_at(value))
        ax.set_xlabel("rounds (x: mistakes)")
        ax.set_ylabel("hypotheses left")
        label_ends(ax, ends)

    def table(self) -> Table:
        heads = ("rounds", "hypotheses left", "mistakes", *(["|H| / 2^mistakes"] if self.halving else []))
        rows = []
        for at, (rounds, left, mistakes) in enumerate(self.moments):
            # Where hypotheses were dropped, and the end.
            if at in (0, len(self.moments) - 1) or self.moments[at - 1][1] != left:
                promised = [f"{math.ldexp(self.hypotheses, -mistakes):,.4g}"] if self.halving else []
                rows.append((f"{rounds:,}", f"{left:,}", f"{mistakes:,}", *promised))
        return Table(heads, tuple(rows))


class LabelsAsked(Picture):
    """Which part of the labels a learner has asked for so far, and its error."""

    kind = "asked"

    def __init__(self, record: Any) -> None:
        self.record = record
        grow: Callable[[int], int] = lambda rounds: rounds + 1 + rounds // 4  # noqa: E731
        #: Rounds, labels asked for and mistakes so far.
        self.moments = [
            (past.rounds, past.learner.asked, past.learner.mistakes)
            for past in replayed(record._played.before, record._played.as_played, grow)
        ]
        if self.moments[-1][0] < record.rounds:
            self.moments.append((record.rounds, record.asked, record.mistakes))
        self.title = f"Labels asked for, {record.learner}"
        self.caption = (
            f"The part of the labels that the learner has asked for so far: at the end {record.asked:,} of "
            f"{record.rounds:,}, with an error of {record.error:.2%} over all rounds."
        )

    def draw(self, ax: Any) -> None:
        rounds = [at for at, _, _ in self.moments]
        asked, wrong = ([moment[i] / moment[0] for moment in self.moments] for i in (1, 2))
        ax.plot(rounds, asked, marker="o", markersize=3, **LINES["bound"] | {"color": INK})
        ax.plot(rounds, wrong, marker="o", markersize=3, **LINES["happened"])
        rounds_along(ax, rounds[-1], log=True)
        ax.set_ylim(0, 1.05)
        ax.set_ylabel("part of the rounds so far")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        label_ends(ax, [(asked[-1], f"asked {asked[-1]:.1%}", INK), (wrong[-1], f"error {wrong[-1]:.1%}", HAPPENED)])

    def table(self) -> Table:
        rows = [
            (f"{rounds:,}", f"{asked:,}", f"{asked / rounds:.2%}", f"{wrong / rounds:.2%}")
            for rounds, asked, wrong in self.moments
        ]
        return Table(("rounds", "labels asked for", "part of the rounds", "error so far"), tuple(rows))


def _height(left: int) -> float:
    """The logarithm to the base 2; of none, one step below that of one."""
    return math.log2(left) if left else -1.0


def _hypotheses_at(height: float) -> str:
    """A number of hypotheses on the scale of ``_height``."""
    if not height.is_integer():
        return ""
    if height < 0:
        return "0" if height == -1 else ""
    return f"{2**height:,.0f}" if height < 24 else f"2^{height:g}"
