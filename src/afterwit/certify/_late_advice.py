"""Rounds of expert advice whose outcomes came late, played again: each is forecast when it was served."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._late import blocks
from afterwit.certify.expert_rounds import Floats, Rounds, in_range, not_these
from afterwit.core.delays import Delays, Moments, counts_in
from afterwit.data.advice import Experts
from afterwit.errors import InputError


def delays_in(state: Mapping[str, Any]) -> Delays | None:
    """How late outcomes came, as the learner counts it; None if none did."""
    counts = counts_in(state)
    return Delays(state["rounds"], *counts) if any(counts) else None


class PlayedLate:
    """The rounds of a fresh learner that served them at these moments: forecasts, and everyone's shares."""

    def __init__(self, fresh: Any, values: Floats, outcomes: Any, experts: Experts, served: Moments) -> None:
        self.late = served < np.arange(len(served))
        self.forecasts = np.zeros(len(values))
        #: At arrival, and when the rounds were served.
        self.shares, self.then = np.empty(values.shape), np.empty(values.shape)
        try:
            self._play(fresh, values, outcomes, experts, served)
        except InputError as error:
            raise not_these(f"played again they fail: {error}") from None

    def _play(self, fresh: Any, values: Floats, outcomes: Any, experts: Experts, served: Moments) -> None:
        complements = np.zeros(len(values))
        for due, done, end in blocks(served):
            if len(due):
                then, rest = np.empty((len(due), values.shape[1])), np.zeros(len(due))
                self.forecasts[due] = fresh._predictions(values[due], experts, then, rest)
                self.then[due], complements[due] = then, rest
            span = slice(done, end)
            told = None
            if self.late[done]:
                told = (self.forecasts[span].copy(), complements[span].copy(), served[span].copy())
            self.forecasts[span] = fresh._learn(values[span], outcomes[span], experts, self.shares[span], told)[0]
            if told is None:
                self.then[span] = self.shares[span]


def excesses(rounds: Rounds, shares: Floats, own: Floats, late: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """What each forecast served lost more than that at arrival, 0 where less, and the sizes behind it."""
    loss = rounds.setting.loss
    if loss.kind == "log":
        chance, rest = ((shares * each).sum(axis=1) for each in rounds.chances())
        there = np.where(chance <= 0.5, -np.log(chance), -np.log1p(-np.minimum(rest, 0.5)))
        sizes = np.abs(own) + np.abs(there)
    else:
        terms = shares * np.where(rounds.awake, rounds.values, 0.0)
        forecasts = terms.sum(axis=1)
        there = loss.values(forecasts, rounds.outcomes)
        slopes = np.abs(loss.slopes(forecasts, rounds.outcomes))
        sizes = np.abs(own) + np.abs(there) + slopes * np.abs(terms).sum(axis=1)
    return np.where(late, np.maximum(0.0, own - there), 0.0), np.where(late, sizes, 0.0)


def drifts(rounds: Rounds, shares: Floats, own: Floats, late: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """What each forecast served lost more than the mixture at arrival, 0 where less, and the sizes behind it."""
    setting = rounds.setting
    if setting.gradient:
        slopes = setting.loss.slopes(rounds.forecasts, rounds.outcomes)
        terms = shares * np.where(rounds.awake, rounds.values, 0.0)
        more = slopes * (rounds.forecasts - terms.sum(axis=1))
        sizes = np.abs(slopes) * (np.abs(rounds.forecasts) + np.abs(terms).sum(axis=1))
    else:
        # Who has no share may have an infinite loss.
        terms = shares * np.where(shares > 0, in_range(setting, rounds.lost), 0.0)
        more, sizes = own - terms.sum(axis=1), np.abs(own) + np.abs(terms).sum(axis=1)
        sizes += abs(setting.low) + setting.width
    return np.where(late, np.maximum(0.0, more), 0.0), np.where(late, sizes, 0.0)
