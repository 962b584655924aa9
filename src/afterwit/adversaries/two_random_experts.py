"""Two experts, one of which is wrong in every round by the toss of a fair coin: every algorithm has regret.

The advice is the same in every round: expert 1 says 0, expert 2 says 1. The outcome is a fair coin, so that the
losses are (0, 1) or (1, 0). Whatever an algorithm does, it loses T/2 on average, while the better of the experts,
chosen afterwards, is ahead of T/2 by the distance of the number of heads from T/2. So for every algorithm the
expected regret is the mean of that distance, which is at least sqrt(T/8).

Source      Mohri, Rostamizadeh & Talwalkar 2018, Theorem 8.5 (whose last line means sqrt(T/8)).

>>> stream = two_random_experts(100, seed=0)
>>> stream.losses[:3].tolist()
[[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
>>> round(stream.expected_regret, 4), round(stream.least_regret, 4)
(3.9795, 3.5355)
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from afterwit.data import checks


class TwoRandomExperts:
    """The rounds: ``advice`` and ``losses``, a row for each, and ``outcomes``. Iterating gives (advice, outcome)."""

    def __init__(self, outcomes: npt.NDArray[np.int64]) -> None:
        self.outcomes = outcomes
        self.advice = np.tile([0.0, 1.0], (len(outcomes), 1))
        self.losses = np.abs(self.advice - outcomes[:, None])

    def __len__(self) -> int:
        return len(self.outcomes)

    def __iter__(self) -> Iterator[tuple[npt.NDArray[np.float64], int]]:
        return zip(self.advice, self.outcomes.tolist(), strict=True)

    @property
    def least_regret(self) -> float:
        """sqrt(T/8): no algorithm has a smaller expected regret."""
        return math.sqrt(len(self) / 8)

    @property
    def expected_regret(self) -> float:
        """That of every algorithm: the mean of |heads - T/2|, which is T/2 C(T - 1, (T - 1) // 2) / 2^(T - 1)."""
        rounds = len(self)
        middle = (rounds - 1) // 2
        ways = math.lgamma(rounds) - math.lgamma(middle + 1) - math.lgamma(rounds - middle)
        return rounds / 2 * math.exp(ways - (rounds - 1) * math.log(2))


def two_random_experts(rounds: int, *, seed: int) -> TwoRandomExperts:
    """Toss the coins."""
    rounds = checks.count("rounds", rounds)
    random = np.random.default_rng(checks.seed("seed", seed))
    return TwoRandomExperts(random.integers(0, 2, size=rounds))
