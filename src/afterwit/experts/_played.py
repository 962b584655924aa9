"""What a record of expert advice was made from: enough to look back at every moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from afterwit.core.certificate import Certificate
from afterwit.core.moments import Past, certified
from afterwit.data.advice import Experts
from afterwit.data.losses import Loss
from afterwit.errors import InputError
from afterwit.experts._regret import Floats, Way

#: Between the powers of two, moments are so far apart that there are about so many; fewer for very many experts.
MOST_MOMENTS = 400
FEWEST_MOMENTS = 32
EXPERTS_AT_MOMENTS = 20_000
#: An algorithm made of others, one for each expert, certifies all of them at a moment: up to so many.
MOST_COPIES = 100
#: Rounds are played again as long as they have so many values; with intervals, which take longer, so many rounds.
MOST_VALUES = 4_000_000
MOST_INTERVALS = 100_000
#: The best mixture is looked for up to so many rounds times pairs of experts: by some losses it is found sooner.
MOST_MIXED = {"square": 50_000_000, "brier": 50_000_000, "function": 200_000}
MOST_MIXED_OTHERWISE = 5_000_000


@dataclass(frozen=True, eq=False)
class Played:
    """The rounds that were played, by reference, and who played them."""

    #: The learner as it was before the first round, with its intervals if it makes any; None if it had learned before.
    before: Any
    loss: Loss
    #: How the learner comes to its forecast.
    way: Way
    experts: Experts
    #: The advice; or the losses, where there are no outcomes.
    values: Floats
    outcomes: Floats | None

    @property
    def advice(self) -> Floats | None:
        return None if self.outcomes is None else self.values

    @cached_property
    def moments(self) -> list[Certificate]:
        """The certificates of the expert algorithm."""
        if self.before is None:
            return []
        algorithm = getattr(self.before, "point_forecaster", None) or self.before.copy()
        if _has_copies(algorithm) and self.experts.count > MOST_COPIES:
            return []
        return certified(_Advice(algorithm, self), None, MOST_VALUES)

    @cached_property
    def coverage_moments(self) -> list[Certificate]:
        """The certificates of the intervals."""
        if self.before is None:
            return []
        return certified(_Intervals(self.before.copy(), self), None, MOST_INTERVALS * self.values.shape[1])

    @cached_property
    def uniform_losses(self) -> Floats | None:
        """What the plain mean of those awake loses in each round; of a loss that is not convex, the mean of theirs."""
        if self.outcomes is None or not self.loss.convex:
            return None
        awake = ~np.isnan(self.values)
        means = np.where(awake, self.values, 0.0).sum(axis=1) / awake.sum(axis=1)
        return self._losses_of(means)

    @cached_property
    def mixture(self) -> Any:
        """The best fixed mixture of the experts in hindsight; None where there is none, or too much to look through."""
        from afterwit.hindsight import best_convex_combination

        most = MOST_MIXED.get(self.loss.kind, MOST_MIXED_OTHERWISE)
        if self.outcomes is None or self.values.size * self.experts.count > most or np.isnan(self.values).any():
            return None
        try:
            places = self.outcomes.astype(np.int64) if self.loss.kinds else self.outcomes
            return best_convex_combination(self.values, places, self.loss)
        except InputError:
            # The loss is not convex, or has no slope; or everybody's is infinite.
            return None

    @cached_property
    def mixture_losses(self) -> Floats | None:
        """What that mixture loses in each round."""
        if self.mixture is None:
            return None
        return self._losses_of(np.tensordot(self.values, self.mixture.vector, axes=(1, 0)))

    def _losses_of(self, forecasts: Floats) -> Floats:
        # A mean of probabilities is none above 1 but for rounding.
        bounded = self.loss.of_vectors or self.loss.kind == "log"
        return self.loss.values(np.minimum(forecasts, 1.0) if bounded else forecasts, self.outcomes)


def _has_copies(learner: Any) -> bool:
    """Whether an algorithm is made of others, as `SwapRegret` is."""
    return "base" in learner.parameters


class _Advice(Past):
    """Rounds of advice, which are at hand: certificates are read off the state, so that there can be many."""

    def __init__(self, learner: Any, played: Played) -> None:
        super().__init__(learner)
        self.played = played
        most = max(FEWEST_MOMENTS, min(MOST_MOMENTS, EXPERTS_AT_MOMENTS // played.experts.count))
        self.apart = len(played.values) if _has_copies(learner) else -(-len(played.values) // most)

    def next_moment(self) -> int:
        """The next power of two, or the next in a row of moments at equal distances."""
        power: int = 1 << self.wanted.bit_length()
        return min(power, (self.wanted // self.apart + 1) * self.apart)

    def parts(self, stream: Any) -> Iterator[tuple[Any, Any]]:
        del stream
        values, outcomes = self.played.values, self.played.outcomes
        while self.rounds < len(values):
            part = slice(self.rounds, self.wanted)
            yield values[part], None if outcomes is None else outcomes[part]

    def learn(self, X: Any, y: Any) -> None:
        self._learn(X, y)
        self.rounds += len(X)
        self.values += X.size

    def _learn(self, values: Floats, outcomes: Floats | None) -> None:
        self.learner._learn(values, outcomes, self.played.experts)


class _Intervals(_Advice):
    """The same with intervals."""

    def _learn(self, values: Floats, outcomes: Floats | None) -> None:
        self.learner.learn_many(values, outcomes)
