"""Rounds of expert advice whose outcomes came late, played again: each is forecast when it was served."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._late import blocks
from afterwit.certify.expert_rounds import Floats, chances, in_range
from afterwit.core.delays import Delays, Moments, counts_in
from afterwit.data.advice import Experts
from afterwit.experts._regret import Setting


def delays_in(state: Mapping[str, Any]) -> Delays | None:
    """How late outcomes came, as the learner counts it; None if none did."""
    counts = counts_in(state)
    return Delays(state["rounds"], *counts) if any(counts) else None


def play_late(
    fresh: Any, values: Floats, outcomes: Any, experts: Experts, served: Moments, shares: Floats, shares_then: Floats
) -> Floats:
    """Let a fresh learner serve and learn these rounds: the forecasts, and all shares at arrival and at service."""
    forecasts, complements = np.zeros(len(values)), np.zeros(len(values))
    for due, done, end in blocks(served):
        if len(due):
            then, rest = np.empty((len(due), values.shape[1])), np.zeros(len(due))
            forecasts[due] = fresh._predictions(values[due], experts, then, rest)
            shares_then[due], complements[due] = then, rest
        span = slice(done, end)
        late = served[done] < done
        told = (forecasts[span].copy(), complements[span].copy(), served[span].copy()) if late else None
        forecasts[span] = fresh._learn(values[span], outcomes[span], experts, shares[span], told)[0]
        if not late:
            shares_then[span] = shares[span]
    return forecasts


def excesses(
    setting: Setting,
    values: Floats,
    outcomes: Any,
    shares: Floats,
    own: Floats,
    awake: npt.NDArray[np.bool_],
    served: Moments,
) -> tuple[Floats, Floats]:
    """What each forecast served lost more than that at arrival, 0 where less, and the sizes behind it."""
    late = served < np.arange(len(served))
    if setting.loss.kind == "log":
        chance = (shares * chances(values, outcomes, awake)).sum(axis=1)
        rest = (shares * chances(values, 1 - outcomes, awake)).sum(axis=1)
        there = np.where(chance <= 0.5, -np.log(chance), -np.log1p(-np.minimum(rest, 0.5)))
        sizes = np.abs(own) + np.abs(there)
    else:
        terms = shares * np.where(awake, values, 0.0)
        forecasts = terms.sum(axis=1)
        there = setting.loss.values(forecasts, outcomes)
        slopes = np.abs(setting.loss.slopes(forecasts, outcomes))
        sizes = np.abs(own) + np.abs(there) + slopes * np.abs(terms).sum(axis=1)
    return np.where(late, np.maximum(0.0, own - there), 0.0), np.where(late, sizes, 0.0)


def drifts(
    setting: Setting,
    values: Floats,
    outcomes: Any,
    forecasts: Floats,
    shares: Floats,
    own: Floats,
    lost: Floats,
    awake: npt.NDArray[np.bool_],
    served: Moments,
) -> tuple[Floats, Floats]:
    """What each forecast served lost more than the mixture at arrival, 0 where less, and the sizes behind it."""
    late = served < np.arange(len(served))
    if setting.gradient:
        slopes = setting.loss.slopes(forecasts, outcomes)
        terms = shares * np.where(awake, values, 0.0)
        more = slopes * (forecasts - terms.sum(axis=1))
        sizes = np.abs(slopes) * (np.abs(forecasts) + np.abs(terms).sum(axis=1))
    else:
        terms = shares * in_range(setting, lost)
        more, sizes = own - terms.sum(axis=1), np.abs(own) + np.abs(terms).sum(axis=1)
        sizes += abs(setting.low) + setting.width
    return np.where(late, np.maximum(0.0, more), 0.0), np.where(late, sizes, 0.0)
