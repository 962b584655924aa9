"""Boosting: the training mistakes of the vote over the rounds beside the theorem, and the errors of the hypotheses."""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.boosting._bounds import TrainingMistakesBound
from afterwit.core.certificate import shown_number
from afterwit.core.envelope import Envelope
from afterwit.errors import counted
from afterwit.pictures._labels import label_ends
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import BOUND, HAPPENED, LINES

#: How many pieces the curves have at most.
MOST = 400


def pictures(record: Any) -> list[Picture]:
    """The pictures of a training."""
    return [*([TrainingMistakes(record)] if record.curve else []), WeightedErrors(record)]


class TrainingMistakes(Picture):
    """How many rows the vote predicts wrongly after every round, and what the theorem allows."""

    kind = "training"

    def __init__(self, record: Any) -> None:
        self.record = record
        self.title = f"Training mistakes over the rounds, {counted(record.rows, 'row')}"
        bound = shown_number(self._bound(record.rounds))
        self.caption = (
            f"Rows that the vote predicts wrongly after each of {counted(record.rounds, 'round')}; at the end "
            f"{record.mistakes:,}. The theorem, n exp(-2 T gamma^2), allows {bound}."
        )

    def _bound(self, rounds: Any) -> Any:
        return TrainingMistakesBound.bound(self.record.rows, rounds, 0.5 - self.record.allowed)

    def draw(self, ax: Any) -> None:
        curve = _enveloped(self.record.curve)
        bounds = np.asarray(self._bound(curve.ends.astype(np.float64)))
        ax.fill_between(curve.ends, curve.low, curve.high, color=HAPPENED, alpha=0.18, linewidth=0)
        ax.plot(curve.ends, curve.last, marker=_marker(curve), markersize=3, **LINES["happened"])
        ax.plot(curve.ends, bounds, marker=_marker(curve), markersize=3, **LINES["bound"])
        ax.set_xlim(0, max(2, self.record.rounds))
        ax.set_ylim(0, 1.05 * max(float(curve.high.max()), float(bounds[0])))
        ax.set_xlabel("rounds")
        ax.set_ylabel("training mistakes")
        ax.yaxis.set_major_formatter(lambda value, _: shown_number(value))
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        ends = [(float(curve.last[-1]), f"mistakes: {self.record.mistakes:,}", HAPPENED)]
        label_ends(ax, [*ends, (float(bounds[-1]), f"bound {shown_number(float(bounds[-1]))}", BOUND)])

    def table(self) -> Table:
        curve = self.record.curve
        rows = [(f"{t:,}", f"{curve[t - 1]:,}", shown_number(float(self._bound(t)))) for t in _doubling(len(curve))]
        return Table(("rounds", "training mistakes", "bound"), tuple(rows))


class WeightedErrors(Picture):
    """The weighted error of every hypothesis beside what a weak learner may have."""

    kind = "weak"

    def __init__(self, record: Any) -> None:
        self.record = record
        self.title = "Weighted errors of the weak hypotheses"
        largest = shown_number(max(record.errors))
        self.caption = (
            f"The weighted error of each hypothesis. A weak learner's is at most 1/2 - gamma = "
            f"{shown_number(record.allowed)}; the largest here is {largest}."
        )

    def draw(self, ax: Any) -> None:
        curve = _enveloped(self.record.errors)
        ax.fill_between(curve.ends, curve.low, curve.high, color=HAPPENED, alpha=0.18, linewidth=0)
        ax.plot(curve.ends, curve.last, marker=_marker(curve), markersize=3, **LINES["happened"])
        ax.axhline(self.record.allowed, **LINES["bound"])
        ax.set_xlim(0, max(2, len(self.record.errors)))
        ax.set_ylim(0, 1.1 * max(self.record.allowed, float(curve.high.max())))
        ax.set_xlabel("rounds")
        ax.set_ylabel("weighted error")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        label_ends(ax, [(float(curve.last[-1]), "error", HAPPENED), (self.record.allowed, "allowed", BOUND)])

    def table(self) -> Table:
        errors = self.record.errors
        rows = [(f"{t:,}", shown_number(errors[t - 1])) for t in _doubling(len(errors))]
        return Table(("round", "weighted error"), tuple(rows))


def _enveloped(numbers: Any) -> Envelope:
    curve = Envelope(MOST)
    curve.extend(np.asarray(numbers, dtype=np.float64))
    return curve


def _marker(curve: Envelope) -> str:
    return "o" if len(curve) <= 30 else ""


def _doubling(count: int) -> list[int]:
    """1, 2, 4, 8, ... and the last."""
    moments = [2**k for k in range(count.bit_length())]
    return moments if moments[-1] == count else [*moments, count]
