# cython: boundscheck=False, wraparound=False, cdivision=True
"""A strongly adaptive algorithm: little regret on every interval of rounds at once, whoever is best in it.

Setting     N experts, a convex loss in [0, 1] (or another range, declared); forecast the mean of the advice by p_t.
            Rounds are numbered from 1. The blocks are the intervals J = [j 2^k, (j + 1) 2^k - 1], j >= 1, k >= 0: in
            round t there is one of each length 2^k <= t.
Update      every expert has a weight in every block that is going on, w_{J,i} = 2^k exp(sum over the rounds of J so
            far of x_t - x_t^2), x_t = eta_J r_{t,i}, where r_{t,i} is what following expert i would have saved; p_{t,i}
            is proportional to the sum over the blocks of eta_J w_{J,i}. The rate of a block is eta_J = min(1/2,
            sqrt(c_J / 2^k)), c_J = ln(N (j + 1) (1 + floor(log2(j 2^k)))).
Guarantee   on any sequence and for every expert, the regret on a block is at most min(2^k, 2 sqrt(2^k c_J)), and that
            on any interval at most the sum over the blocks that it is made of, of each length two at most: at most
            2 (2 + sqrt(2)) sqrt(n ln(N (T + 1) (1 + log2 T))) for an interval of n rounds that ends in round T.
            An interval is made of about 2 log2 n blocks, and a round takes time N log2 T.
Source      Daniely, Gonen & Shalev-Shwartz 2015, with the experts themselves in the blocks and with prior weights 2^k;
            the proof is beside the theorem.

>>> learner = StronglyAdaptive(2)
>>> losses = [[0.0, 1.0]] * 500 + [[1.0, 0.0]] * 100
>>> learner.observe_many(losses)[500:].sum().round(1).item()  # what the change cost
16.4
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Ceiling, Hindsight
from afterwit.core.declared import Numbers
from afterwit.core.inputs import EXPERTS, ROUNDS
from afterwit.core.learner import view
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import COUNT
from afterwit.data.room import require_room
from afterwit.errors import invalid
from afterwit.experts._declared import (
    COUNTED,
    GRADIENT,
    LOSS_RANGE,
    N_EXPERTS,
    OUTCOMES,
    SEED,
    SQUARE_LOSS,
    natural_range,
)
from afterwit.experts._regret import CONVEX, Floats, RegretTheorem, ln

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import exp, log, sqrt
else:
    from math import exp, log, sqrt

    from afterwit.experts._engine import ExpertLearner

#: Blocks are at most 2^47 rounds long.
LEVELS = cython.declare(cython.Py_ssize_t, 48)
#: What is noted of an interval: regret, first round, length, expert, our loss, bound.
NOTED = cython.declare(cython.Py_ssize_t, 6)
#: Up to so many rounds every interval is looked at.
FEW_ROUNDS = 1000


@dataclass(frozen=True)
class Interval:
    """An interval of rounds, the regret on it to one expert, and the bound on that, both in the unit of the losses."""

    first: int
    length: int
    expert: int
    regret: float
    loss: float
    bound: float


def block_bound(log_n: float, first: int, level: int) -> float:
    """The bound on the regret on a block, for losses in [0, 1]."""
    cost = log_n + math.log(((first >> level) + 1) * first.bit_length())
    return float(min(2.0**level, 2 * math.sqrt(cost * 2.0**level)))


def blocks(first: int, last: int) -> Iterator[tuple[int, int]]:
    """(first round, level) of the blocks that an interval is made of."""
    while first <= last:
        level = min((first & -first).bit_length(), (last - first + 1).bit_length()) - 1
        yield first, level
        first += 1 << level


def interval_bound(log_n: float, first: int, last: int) -> float:
    return sum(block_bound(log_n, start, level) for start, level in blocks(first, last))


class StronglyAdaptiveBound(Theorem):
    """The bound for an interval in one formula.

    Proof. An interval is made of at most two blocks of each length. If it has n rounds, the square roots of their
    lengths sum to at most (2 + sqrt(2)) sqrt(n): take away the c <= 2 longest ones, of length l. What is left has
    x l < 2 l rounds, and c sqrt(l) <= (2 + sqrt(2)) (sqrt((x + c) l) - sqrt(x l)), because the right side falls with x
    and the claim is true for x = 2, with equality for c = 2. In a block of the interval, j + 1 <= T + 1.
    """

    id = "strongly-adaptive"
    name = "bound on every interval"
    quantity = "interval regret"
    formula = "2 (2 + sqrt(2)) sqrt({length} ({log_experts} + ln(({rounds} + 1) (1 + ln({rounds}) / ln(2)))))"
    inputs = (EXPERTS, ROUNDS, Input("length", "n", "how many rounds the interval has that ends in round T", COUNT))
    needs = CONVEX
    citation = "after Daniely, Gonen & Shalev-Shwartz 2015, Theorem 1"

    @staticmethod
    def bound(log_experts: Any, rounds: Any, length: Any) -> Any:
        cost = log_experts + ln((rounds + 1) * (1 + ln(rounds) / math.log(2)))
        return 2 * (2 + math.sqrt(2)) * np.sqrt(length * cost)

    @staticmethod
    def check(rounds: Any, length: Any, **_: Any) -> None:
        if np.any(length > rounds):
            raise invalid("length", "at most the rounds", length)


class IntervalBound(Theorem):
    """The regret on every interval; the certificate shows the one on which it is largest.

    Proof. Let W be the sum of all weights, those of blocks that are over included, where a block begins with 2^k / N
    for each expert. As exp(x - x^2) <= 1 + x for x >= -1/2, a round adds at most the sum of eta_J w_{J,i} r_{t,i} to W,
    which is at most 0: p_{t,i} is proportional to the sum of eta_J w_{J,i}, and the loss is convex. So W is at most the
    sum of the weights that blocks began with. At the end e of a block J of length 2^k there have been at most e / 2^m
    blocks of each length 2^m <= e, so W <= e (1 + floor(log2 e)) <= 2^k exp(c_J) / N. The weight of expert i in J is
    at most W: the sum of x_t - x_t^2 over the block is at most c_J, and its regret at most c_J / eta_J + eta_J 2^k.
    That is 2 sqrt(2^k c_J) where the rate is below 1/2; elsewhere that is more than 2^k, which no regret exceeds.
    Expert i saves nothing while it sleeps.
    """

    name = "bound on every interval"
    quantity = "interval regret"
    looks_at_rounds = True
    statement = (
        "the regret on an interval <= the sum over its blocks [j 2^k, (j + 1) 2^k - 1] of "
        "min(2^k, 2 sqrt(2^k ln(N (j + 1) (1 + floor(log2(j 2^k))))))"
    )
    citation = "after Daniely, Gonen & Shalev-Shwartz 2015, Theorem 1"

    def certify(self, evidence: Any) -> Any:
        if evidence.played is None:
            intervals, looked_at = noted(evidence), "blocks"
        else:
            own, gains = evidence.played
            few = len(own) <= FEW_ROUNDS
            intervals = list((of_all if few else of_blocks)(own, gains, evidence.log_n, evidence.width))
            looked_at = "intervals" if few else "blocks"
        if not intervals:
            return evidence.certificate(self, 0.0, {"N": evidence.n}, observed=0.0)
        worst = max(intervals, key=lambda interval: interval.regret)
        closest = max(intervals, key=lambda interval: interval.regret - interval.bound)
        if closest.regret - closest.bound > evidence.rounding(self, closest.bound):
            worst = closest
        last = worst.first + worst.length - 1
        words = (
            f"of expert {evidence.names[worst.expert]!r} in rounds {worst.first:,} to {last:,}, of all {looked_at} the "
            f"one with the largest regret"
        )
        made = evidence.certificate(
            self,
            worst.bound,
            {"N": evidence.n, "first": worst.first, "last": last, "range": evidence.width},
            observed=worst.regret,
            hindsight=Hindsight(worst.loss - worst.regret, words, "loss"),
        )
        most = Ceiling(evidence.width * worst.length, f"no round adds more than {evidence.width:g} to it")
        return replace(made, ceiling=most, counted=worst.length)


class WholeRunBound(RegretTheorem):
    name = "bound on the whole run"
    statement = "regret <= the sum over the blocks of 1, ..., T of min(2^k, 2 sqrt(2^k c))"
    citation = IntervalBound.citation
    beforehand = True

    def regret_bound(self, evidence: Any) -> Any:
        bound = evidence.width * interval_bound(evidence.log_n, 1, evidence.rounds)
        return bound, {"N": evidence.n, "T": evidence.rounds, "range": evidence.width}


# ---------------------------------------------------------------------- intervals, looked at afterwards


def noted(evidence: Any) -> list[Interval]:
    """From the state: the block with the largest regret, the one closest to its bound, and those that go on."""
    rounds, width, state = evidence.rounds, evidence.width, evidence.state
    found = [
        Interval(int(first), int(length), int(expert), regret, loss, bound)
        for regret, first, length, expert, loss, bound in state["noted"].tolist()
        if length
    ]
    for level in range(rounds.bit_length()):
        length = (rounds + 1) % 2**level
        if length:
            first, expert = rounds + 1 - length, int(np.argmax(state["block_regrets"][level]))
            bound = width * min(float(length), block_bound(evidence.log_n, first, level))
            regret = float(state["block_regrets"][level, expert])
            found.append(Interval(first, length, expert, regret, float(state["block_losses"][level]), bound))
    return found


def of_blocks(own: Floats, gains: Floats, log_n: float, width: float) -> Iterator[Interval]:
    """Of every block that is over, the expert to whom the regret is largest."""
    sums, losses = summed(gains), summed(own)
    for level in range(len(own).bit_length()):
        ends = np.arange(2 << level, len(own) + 2, 1 << level) - 1
        if not len(ends):
            continue
        regrets = sums[ends] - sums[ends - (1 << level)]
        for end, of_each in zip(ends.tolist(), regrets, strict=True):
            first, expert = end + 1 - (1 << level), int(np.argmax(of_each))
            bound = width * block_bound(log_n, first, level)
            loss = float(losses[end] - losses[first - 1])
            yield Interval(first, 1 << level, expert, float(of_each[expert]), loss, bound)


def of_all(own: Floats, gains: Floats, log_n: float, width: float) -> Iterator[Interval]:
    """For every first round, of all intervals, the one with the largest regret and the one closest to its bound."""
    rounds, sums, losses = len(own), summed(gains), summed(own)
    bounds = np.zeros((rounds + 2, rounds + 2))
    for first in range(rounds, 0, -1):
        # An interval is a first block, the longest that fits, and the interval after it.
        for level in range((first & -first).bit_length()):
            after = first + (1 << level)
            if after <= rounds + 1:
                bounds[first, after - 1 :] = width * block_bound(log_n, first, level) + bounds[after, after - 1 :]
        regrets = sums[first:] - sums[first - 1]
        experts = np.argmax(regrets, axis=1)
        largest = regrets[np.arange(len(regrets)), experts]
        for at in {int(np.argmax(largest)), int(np.argmax(largest - bounds[first, first : rounds + 1]))}:
            last = first + at
            loss = float(losses[last] - losses[first - 1])
            yield Interval(first, at + 1, int(experts[at]), float(largest[at]), loss, float(bounds[first, last]))


def summed(terms: Floats) -> Floats:
    """The sums up to each round, and 0 before the first."""
    return np.concatenate([np.zeros((1, *terms.shape[1:])), np.cumsum(terms, axis=0)])


@cython.cclass
class StronglyAdaptive(ExpertLearner):
    """A strongly adaptive algorithm. It needs no horizon, no rate and no number of shifts.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    gradient    whether to learn from slopes, so as to compete with every fixed mixture of the experts on every interval
    loss_range  the least and the greatest loss (of the slopes, if it learns from these), (0, 1) if nothing is said,
                (0, 2) for the Brier loss
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
    """

    _exponents = cython.declare(cython.double[::1], visibility="public")
    _block_regrets = cython.declare(cython.double[::1], visibility="public")
    _block_losses = cython.declare(cython.double[::1], visibility="public")
    _noted = cython.declare(cython.double[::1], visibility="public")

    theorems = (IntervalBound(), WholeRunBound())
    own_in_range = True
    options = (N_EXPERTS, SQUARE_LOSS, GRADIENT, LOSS_RANGE, SEED, OUTCOMES)
    kept = (
        *COUNTED,
        Numbers("exponents", lambda learner: (LEVELS, learner._n)),
        Numbers("block_regrets", lambda learner: (LEVELS, learner._n)),
        Numbers("block_losses", lambda _: (LEVELS,)),
        Numbers("noted", lambda _: (2, NOTED)),
    )

    def _begin(self) -> None:
        self._options["loss_range"] = self._options["loss_range"] or natural_range(self._options["loss"])
        ExpertLearner._begin(self)
        require_room("n_experts", 24 * LEVELS * self._n)
        self._cost_of_round = 4 + 20 * self._n
        self._exponents = view(np.zeros(LEVELS * self._n))
        self._block_regrets = view(np.zeros(LEVELS * self._n))
        self._block_losses = view(np.zeros(LEVELS))
        self._noted = view(np.zeros(2 * NOTED))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def levels(self, t: cython.longlong) -> cython.Py_ssize_t:
        """How many blocks are going on in round t: 1 + floor(log2 t)."""
        found: cython.Py_ssize_t = 0
        while t > 0 and found < LEVELS:
            found += 1
            t >>= 1
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cost(self, level: cython.Py_ssize_t, t: cython.longlong) -> cython.double:
        """c of the block of this level that round t is in."""
        places: cython.double = (t >> level) + 1
        return log(self._n * places * self.levels(t))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def rate(self, level: cython.Py_ssize_t, t: cython.longlong) -> cython.double:
        length: cython.double = cython.cast(cython.longlong, 1) << level
        rate: cython.double = sqrt(self.cost(level, t) / length)
        return rate if rate < 0.5 else 0.5

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        i: cython.Py_ssize_t
        level: cython.Py_ssize_t
        factor: cython.double
        total: cython.double = 0.0
        n: cython.Py_ssize_t = self._n
        t: cython.longlong = self._rounds + 1
        for i in range(n):
            self._shares[i] = 0.0
        for level in range(self.levels(t)):
            factor = self.rate(level, t) * (cython.cast(cython.longlong, 1) << level)
            for i in range(n):
                if self._awake[i]:
                    self._shares[i] += factor * exp(self._exponents[level * n + i])
        for i in range(n):
            total += self._shares[i]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        level: cython.Py_ssize_t
        rate: cython.double
        step: cython.double
        n: cython.Py_ssize_t = self._n
        t: cython.longlong = self._rounds + 1
        for level in range(self.levels(t)):
            rate = self.rate(level, t) / self._width
            self._block_losses[level] += self._own
            for i in range(n):
                step = rate * self.gain(i)
                self._exponents[level * n + i] += step - step * step
                if not self._some_sleep or self._awake[i]:
                    self._block_regrets[level * n + i] += self._own - self._losses[i]
            if (t + 1) % (cython.cast(cython.longlong, 1) << level) == 0:
                self.end_block(level, t)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def end_block(self, level: cython.Py_ssize_t, t: cython.longlong) -> cython.void:
        """Note the block if its regret is the largest, or closest to its bound; the next one begins with nothing."""
        i: cython.Py_ssize_t
        best: cython.Py_ssize_t = 0
        row: cython.Py_ssize_t
        n: cython.Py_ssize_t = self._n
        length: cython.double = cython.cast(cython.longlong, 1) << level
        bound: cython.double = 2 * sqrt(self.cost(level, t) * length)
        bound = self._width * (bound if bound < length else length)
        regrets: cython.double[::1] = self._block_regrets
        for i in range(n):
            if regrets[level * n + i] > regrets[level * n + best]:
                best = i
        regret: cython.double = regrets[level * n + best]
        for row in range(2):
            i = row * NOTED
            if self._noted[i + 2] == 0 or regret - row * bound > self._noted[i] - row * self._noted[i + 5]:
                self._noted[i] = regret
                self._noted[i + 1] = t + 1 - length
                self._noted[i + 2] = length
                self._noted[i + 3] = best
                self._noted[i + 4] = self._block_losses[level]
                self._noted[i + 5] = bound
        for i in range(n):
            self._exponents[level * n + i] = 0.0
            regrets[level * n + i] = 0.0
        self._block_losses[level] = 0.0
