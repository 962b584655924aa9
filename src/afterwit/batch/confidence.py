"""A confidence sequence for the error of a learner: an interval that may be looked at in every round.

Setting     examples drawn independently from one distribution; h_t is the hypothesis before round t, which may depend
            on all rounds before, R_t = R(h_t) its expected loss on a new example, l_t in [0, 1] its loss in round t
            (0 or 1 for mistakes). The learner changes, and so does R_t. What is covered is the running mean
            R_1 + ... + R_t over t, the mean error of the hypotheses so far.
Interval    with S_t = l_1 + ... + l_t, lambda_k = 4 / 2^k for k = 0..19, and b = ln(2 * 20 / delta):
            upper_t = min_k (1 - exp(-(lambda_k S_t + b) / t)) / (1 - exp(-lambda_k))
            lower_t = max_k (exp((lambda_k S_t - b) / t) - 1) / (exp(lambda_k) - 1)
Guarantee   with probability at least 1 - delta, for all t at once: lower_t <= (R_1 + ... + R_t) / t <= upper_t. So
            you may look at it in any round, and stop because of what you see.
Proof       exp is convex, so that E[exp(a l_t) | before] <= 1 + R_t (e^a - 1) for every a, and the product over the
            rounds of exp(a l_s) / (1 + R_s (e^a - 1)) is a supermartingale that starts at 1. It ever exceeds 1/c with
            probability at most c (Ville). The logarithm is concave, so that the sum of ln(1 + R_s (e^a - 1)) is at most
            t ln(1 + mean (e^a - 1)). Solved for the mean with a = -lambda_k and a = +lambda_k, and c = delta / 40 for
            each of the forty, the interval above.
Assumes     each example is new when it is predicted (one pass). No intersection of the intervals over time: the mean
            that they cover moves. The interval depends on t and S_t alone: O(1) memory.
Source      Ville 1939; the construction is that of Howard, Ramdas, McAuliffe & Sekhon 2021 (a grid of lambdas), and
            Waudby-Smith & Ramdas 2024 (bounded losses), for means that change.

>>> band = confidence_sequence([1, 0, 1] + 997 * [0])
>>> round(float(band.lower[-1]), 5), round(float(band.upper[-1]), 5)
(2e-05, 0.01229)
>>> sequence = ConfidenceSequence()
>>> sequence.observe_many([1, 0, 1] + 997 * [0])
>>> sequence.interval == (band.lower[-1], band.upper[-1])
True
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.checks import share
from afterwit.errors import Words, counted, invalid

#: The slopes of the exponents: one suits every length of the sequence up to some 10^11 rounds.
LAMBDAS = 4.0 / 2.0 ** np.arange(20)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ConfidenceBand:
    """The interval after every round, as two arrays, and ``mean``, the mean loss so far."""

    lower: Floats
    mean: Floats
    upper: Floats
    delta: float


def confidence_sequence(losses: Any, delta: Any = 0.05) -> ConfidenceBand:
    """The interval after every round.

    losses  the loss of each round in order, from 0 to 1: mistakes as 0 and 1 or as False and True
    delta   how likely it may be that some interval, in whatever round, misses
    """
    delta = share("delta", delta)
    values = _checked(losses)
    rounds, totals = np.arange(1, len(values) + 1), np.cumsum(values)
    lower, upper = interval_after(rounds, totals, delta)
    return ConfidenceBand(lower, totals / rounds, upper, delta)


class ConfidenceSequence:
    """The same, round by round: it remembers the number of rounds and the total loss, and nothing else."""

    def __init__(self, delta: Any = 0.05) -> None:
        self.delta = share("delta", delta)
        self.rounds = 0
        self.total = 0.0

    def observe(self, loss: Any) -> None:
        """One round's loss, from 0 to 1."""
        self.observe_many([loss])

    def observe_many(self, losses: Any) -> None:
        """The losses of some rounds, in order."""
        values = _checked(losses)
        # Added one after the other, so that it does not matter in which portions they come.
        self.total = float(np.cumsum(np.concatenate([[self.total], values]))[-1])
        self.rounds += len(values)

    @property
    def mean(self) -> float:
        """The mean loss so far; 0 before the first round."""
        return self.total / self.rounds if self.rounds else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """Where the mean error of the hypotheses so far lies; from 0 to 1 before the first round."""
        if self.rounds == 0:
            return 0.0, 1.0
        lower, upper = interval_after(np.array([self.rounds]), np.array([self.total]), self.delta)
        return float(lower[0]), float(upper[0])

    @property
    def lower(self) -> float:
        """The lower end of the interval."""
        return self.interval[0]

    @property
    def upper(self) -> float:
        """The upper end of the interval."""
        return self.interval[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConfidenceSequence) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        lower, upper = self.interval
        rounds = counted(self.rounds, "round")
        return f"ConfidenceSequence({self.delta:g}): {rounds}, mean error {lower:.4f} to {upper:.4f}"


def interval_after(rounds: Any, totals: Any, delta: float) -> tuple[Floats, Floats]:
    """The lower and the upper ends after so many rounds with so large total losses."""
    b = np.log(2 * len(LAMBDAS) / delta)
    upper, lower = np.ones(len(rounds)), np.zeros(len(rounds))
    with np.errstate(over="ignore"):
        for slope in LAMBDAS:
            np.minimum(upper, np.expm1(-(slope * totals + b) / rounds) / np.expm1(-slope), out=upper)
            np.maximum(lower, np.expm1((slope * totals - b) / rounds) / np.expm1(slope), out=lower)
    return lower, upper


def _checked(losses: Any) -> Floats:
    array = np.asarray(losses)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "biuf"):
        what = f"an array of shape {array.shape} and dtype {array.dtype}"
        raise invalid("losses", "a sequence of numbers from 0 to 1, one for each round", Words(what))
    values = array.astype(np.float64)
    bad = ~((values >= 0) & (values <= 1))
    if bad.any():
        at = int(np.argmax(bad))
        raise invalid(f"losses[{at}]", "a number from 0 to 1", array[at].item())
    return values
