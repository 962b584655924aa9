"""Half the width of the next interval, and what it learns from a round: by a level and past errors, or by itself.

An interval is the forecast, less and plus the radius. Where the theory says that even the forecast alone is too much,
the radius is below 0. What is shown is the forecast alone then, and the round counts as missed for the radius, even if
the outcome is exactly the forecast: `Radius.exact` counts these rounds.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from typing import Any

import numpy as np

from afterwit.data.checks import FLOAT_MAX
from afterwit.errors import invalid

COUNTERS = ("covered", "exact", "infinite")
#: No error is larger: its square would be no number.
LARGEST = 1e160


class Radius:
    """What both kinds count. A kind says what the radius is (``now``), and what it learns from an error (``learn``)."""

    def __init__(self, miss: float, rate: float) -> None:
        self.miss = miss
        self.rate = rate
        self.rounds = 0
        #: The rounds whose outcome was in the interval; of these, those that count as missed for the radius, and those
        #: whose interval was infinite.
        self.covered = 0
        self.exact = 0
        self.infinite = 0
        #: The sum of the radii that were shown and finite.
        self.radii = 0.0

    def now(self) -> float:
        """The radius of the next interval: infinite, or below 0 where even the forecast alone would be too much."""
        raise NotImplementedError

    def learn(self, error: float, missed: bool) -> None:
        """Learn from the size of an error, and whether the round counts as missed."""
        raise NotImplementedError

    @property
    def missed(self) -> int:
        """How many rounds count as missed."""
        return self.rounds - self.covered + self.exact

    def shown(self) -> float:
        """The radius as it is shown: never below 0."""
        return max(0.0, self.now())

    def see(self, forecast: float, outcome: float) -> float:
        """One round, by the ends of the interval as they are shown; returns the radius that it had."""
        radius = self.now()
        shown = max(0.0, radius)
        covered = forecast - shown <= outcome <= forecast + shown
        nothing = radius < 0
        self.learn(abs(outcome - forecast), nothing or not covered)
        self.rounds += 1
        self.covered += covered
        self.exact += covered and (nothing or self.blind())
        if shown <= FLOAT_MAX:
            self.radii += shown
        else:
            self.infinite += 1
        return shown

    def blind(self) -> bool:
        """Whether there has been no error from which a radius can be learned."""
        return False

    # ------------------------------------------------------------------ saving

    def state(self) -> dict[str, Any]:
        """What is saved besides the number of rounds."""
        return {**{name: getattr(self, name) for name in COUNTERS}, "radii": self.radii}

    def check(self, state: Any, rounds: int) -> None:
        """Refuse what no radius can have after so many rounds."""
        counts = [state[name] for name in COUNTERS]
        most = (rounds, state["covered"], state["covered"])
        if any(type(each) is not int or not 0 <= each <= limit for each, limit in zip(counts, most, strict=True)):
            raise invalid("covered, exact and infinite", "counts, none above covered, nor covered above rounds", counts)
        if type(state["radii"]) is not float or not 0 <= state["radii"] <= LARGEST * max(1, rounds):
            raise invalid("radii", "a sum of radii of so many rounds, none below 0", state["radii"])

    def become(self, state: Any, rounds: int) -> None:
        """Take a state that has been checked."""
        self.rounds = rounds
        self.radii = state["radii"]
        for name in COUNTERS:
            setattr(self, name, state[name])


class AdaptiveRadius(Radius):
    """A quantile of the last errors, whose level follows the misses."""

    def __init__(self, miss: float, rate: float, window: int) -> None:
        super().__init__(miss, rate)
        #: The last errors in their order, and the same by size.
        self._errors: deque[float] = deque(maxlen=window)
        self._by_size: list[float] = []

    @property
    def level(self) -> float:
        """The share of the rounds that the next interval is made to miss. Of counts, so that nothing adds up."""
        return self.miss + self.rate * (self.miss * self.rounds - self.missed)

    def now(self) -> float:
        level, held = self.level, len(self._by_size)
        if level >= 1:
            return -math.inf
        if level <= 0 or not held:
            return math.inf
        return self._by_size[min(held, max(1, math.ceil((held + 1) * (1 - level)))) - 1]

    def learn(self, error: float, missed: bool) -> None:
        del missed
        if len(self._errors) == self._errors.maxlen:
            del self._by_size[bisect_left(self._by_size, self._errors[0])]
        self._errors.append(error)
        insort(self._by_size, error)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "errors": np.array(self._errors, dtype=np.float64)}

    def check(self, state: Any, rounds: int) -> None:
        super().check(state, rounds)
        errors, held = state["errors"], min(rounds, self._errors.maxlen or 0)
        if not isinstance(errors, np.ndarray) or errors.dtype != np.float64 or errors.shape != (held,):
            raise invalid("errors", f"an array of {held:,} numbers, the last errors", errors)
        if not ((errors >= 0) & (errors <= LARGEST)).all():
            raise invalid("errors", f"numbers from 0 to {LARGEST:g}", errors)

    def become(self, state: Any, rounds: int) -> None:
        super().become(state, rounds)
        self._errors.clear()
        self._errors.extend(state["errors"].tolist())
        self._by_size = sorted(self._errors)


class TrackedRadius(Radius):
    """A radius that grows with every miss and shrinks otherwise, by steps in units of the largest error so far."""

    def __init__(self, miss: float, rate: float, promised: float | None) -> None:
        super().__init__(miss, rate)
        self._promised = promised
        self._radius = promised or 0.0
        self.largest = promised or 0.0
        #: The sum of 1 - b / b' over the rounds in which the largest error rose from b to b'; not the error that is the
        #: first radius.
        self.growth = 0.0

    def now(self) -> float:
        return math.inf if self.rounds == 0 and self._promised is None else self._radius

    def learn(self, error: float, missed: bool) -> None:
        if self.rounds == 0 and self._promised is None:
            self._radius = self.largest = error
            return
        if error > self.largest:
            self.growth += 1 - self.largest / error
            self.largest = error
        self._radius += self.rate * self.largest * (missed - self.miss)

    def blind(self) -> bool:
        return self.largest == 0

    def state(self) -> dict[str, Any]:
        return {**super().state(), "radius": self._radius, "largest_error": self.largest, "growth": self.growth}

    def check(self, state: Any, rounds: int) -> None:
        super().check(state, rounds)
        numbers = [state[name] for name in ("radius", "largest_error", "growth")]
        floats = all(type(each) is float for each in numbers)
        most = max(LARGEST, self._promised or 0.0)
        least = (-most, self._promised or 0.0, 0.0)
        if not floats or not all(low <= each <= 2 * most for low, each in zip(least, numbers, strict=True)):
            allowed = "finite numbers, the largest error not below the promised one and growth not below 0"
            raise invalid("radius, largest_error and growth", allowed, numbers)

    def become(self, state: Any, rounds: int) -> None:
        super().become(state, rounds)
        self._radius, self.largest, self.growth = state["radius"], state["largest_error"], state["growth"]
