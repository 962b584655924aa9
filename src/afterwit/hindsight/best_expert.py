"""The best expert, found afterwards.

Problem     minimise sum_t l_{t,i} over the experts i.
Sleepers    An expert that sleeps has a smaller sum only because it has fewer terms: sums are not comparable then.
            Where someone sleeps, experts are compared by their mean loss over the rounds in which they were awake; one
            that was never awake is not compared. A mean says nothing about how hard those rounds were: an expert that
            wakes in the easy ones looks better than it is. `awake_rounds` shows on how many rounds each mean rests.
Use         the comparator of the regret.

>>> found = best_expert([[1.0, 3.0], [2.0, 2.0], [4.0, 1.0]], [1.0, 1.0, 2.0])
>>> found.expert, found.loss, found.losses.tolist()
(0, 5.0, [5.0, 6.0])
>>> print(best_expert(losses=[{"sun": 1.0, "rain": 4.0}, {"rain": 0.0}, {"rain": 0.5}]))
best expert: 'sun', mean loss 1 over the 1 of 3 rounds in which it was awake
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import counted, invalid
from afterwit.hindsight._rounds import Floats, frozen, read_losses


@dataclass(frozen=True, eq=False)
class BestExpert:
    """The best expert, and everyone's loss."""

    #: Its name, or its position.
    expert: Any
    position: int
    #: Its cumulative loss, over the rounds in which it was awake.
    loss: float
    #: Everyone's cumulative loss, over the rounds in which each was awake.
    losses: Floats = field(repr=False)
    awake_rounds: npt.NDArray[np.int64] = field(repr=False)
    rounds: int
    names: tuple[Any, ...] | None = field(default=None, repr=False)

    @property
    def mean_losses(self) -> Floats:
        """Everyone's loss per round awake; not a number for those who were never awake."""
        counts = np.where(self.awake_rounds == 0, 1, self.awake_rounds)
        return np.where(self.awake_rounds == 0, np.nan, self.losses / counts)

    @property
    def mean_loss(self) -> float:
        return float(self.mean_losses[self.position])

    def __str__(self) -> str:
        awake = int(self.awake_rounds[self.position])
        if (self.awake_rounds == self.rounds).all():
            return f"best expert: {self.expert!r}, loss {self.loss:.6g} over {counted(self.rounds, 'round')}"
        where = f"over the {awake:,} of {self.rounds:,} rounds in which it was awake"
        return f"best expert: {self.expert!r}, mean loss {self.mean_loss:.6g} {where}"


def best_expert(
    advice: Any = None, outcomes: Any = None, loss: Any = "square", *, losses: Any = None, kinds: Any = None
) -> BestExpert:
    """The expert with the least loss: by its sum or, where someone sleeps, by its mean. Of equals, the first.

    advice    a 2-D array, a DataFrame or a sequence of dicts, an expert in each column; NaN where one sleeps
    outcomes  one number for each round
    loss      "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`; "brier"
              or "log" for probability vectors: advice is then an array (rounds, experts, kinds), or has vectors
    losses    instead of advice and outcomes: everyone's loss in every round
    kinds     of probability vectors, the names of the kinds of outcomes, where they are not 0, 1, 2, ...
    """
    values, experts = read_losses(advice, outcomes, loss, losses, kinds, infinite=True)
    if not len(values):
        raise invalid("rounds", "at least one", 0)
    awake = np.count_nonzero(~np.isnan(values), axis=0)
    slept = bool((awake < len(values)).any())
    sums = np.nansum(values, axis=0) if slept else values.sum(axis=0)
    compared = np.where(awake == 0, np.inf, sums / np.maximum(awake, 1)) if slept else sums
    best = int(np.argmin(compared))
    return BestExpert(
        expert=experts.name(best),
        position=best,
        loss=float(sums[best]),
        losses=frozen(sums),
        awake_rounds=frozen(awake.astype(np.int64)),
        rounds=len(values),
        names=experts.names or None,
    )
