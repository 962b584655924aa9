# cython: boundscheck=False, wraparound=False, cdivision=True
"""One round before its outcome: who is awake, what share each expert has, and the forecast that follows.

An algorithm defines ``weigh``: it fills ``_shares`` with the weight of each awake expert, in any unit, and returns
their sum. ``exponentiate`` is there for the many algorithms whose weights are exponentials. The forecast is the mean
of the advice by these shares, or the advice of one expert drawn by them.

This is the first of three classes, each derived from the one before: `WeighedRound`, `JudgedRound` (the losses of a
round) and `ExpertLearner` (many rounds, and what is counted of them).
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view

if cython.compiled:
    from cython.cimports.afterwit.core.learner import Storable
    from cython.cimports.libc.math import INFINITY, exp, fabs
else:
    from math import exp, fabs
    from math import inf as INFINITY

    from afterwit.core.learner import Storable

#: From this many experts on, numpy's loops are worth the calls.
MANY = cython.declare(cython.Py_ssize_t, 2048)
#: The constants of splitmix64, and an odd factor that keeps the streams of different seeds apart.
MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
GOLDEN = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
FIRST_MIX = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
SECOND_MIX = cython.declare(cython.ulonglong, 0x94D049BB133111EB)
STREAM = cython.declare(cython.ulonglong, 0xD1342543DE82EF95)


@cython.cclass
class WeighedRound(Storable):
    """A round whose experts are weighed. Algorithms define ``weigh``."""

    def _begin_weighing(self, experts: Any, drawing: Any, seed: Any) -> None:
        self._n = experts
        self._many = self._n >= MANY
        self._drawing = drawing
        self._seed = seed
        self._rounds = 0
        self._values = view(np.zeros(self._n))
        self._first = 0
        self._look_for_sleepers = False
        self._some_sleep = False
        self._awake = view(np.ones(self._n, dtype=np.int8))
        self._shares = view(np.zeros(self._n))
        self._total = 0.0
        self._reach = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        """Fill the shares of those awake, 0 for those asleep; return their sum, which is positive."""
        return 1.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def predict(self) -> cython.double:
        """The forecast for the current round, whose experts have been weighed."""
        if self._drawing:
            return self._values[self._first + self.drawn()]
        return self.mean()

    # ------------------------------------------------------------------ shares that are exponentials

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def exponentiate(self, scores: cython.double[::1], factor: cython.double) -> cython.double:
        """Shares proportional to exp(factor * score), the largest of them 1."""
        return self.fill(scores, factor, self._shares, self._awake)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fill(
        self,
        scores: cython.double[::1],
        factor: cython.double,
        shares: cython.double[::1],
        awake: cython.schar[::1],
    ) -> cython.double:
        """The same. Arrays that are arguments are borrowed; one in a variable costs as much as a short loop."""
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = self._n
        total: cython.double = 0.0
        best: cython.double = -INFINITY
        if self._some_sleep:
            for i in range(n):
                if awake[i] and factor * scores[i] > best:
                    best = factor * scores[i]
            if best == -INFINITY:
                # Nobody who is awake has any weight: they count alike.
                for i in range(n):
                    shares[i] = awake[i]
                    total += shares[i]
                return total
            for i in range(n):
                shares[i] = exp(factor * scores[i] - best) if awake[i] else 0.0
                total += shares[i]
            return total
        best = self.largest(scores, factor)
        if self._many:
            for i in range(n):
                shares[i] = factor * scores[i] - best
            return self.exponentials()
        for i in range(n):
            shares[i] = exp(factor * scores[i] - best)
            total += shares[i]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def largest(self, scores: cython.double[::1], factor: cython.double) -> cython.double:
        """The largest of factor * score. Four at a time, so that the comparisons overlap."""
        i: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = self._n
        b0: cython.double = -INFINITY
        b1: cython.double = -INFINITY
        b2: cython.double = -INFINITY
        b3: cython.double = -INFINITY
        while i + 3 < n:
            b0 = factor * scores[i] if factor * scores[i] > b0 else b0
            b1 = factor * scores[i + 1] if factor * scores[i + 1] > b1 else b1
            b2 = factor * scores[i + 2] if factor * scores[i + 2] > b2 else b2
            b3 = factor * scores[i + 3] if factor * scores[i + 3] > b3 else b3
            i += 4
        while i < n:
            b0 = factor * scores[i] if factor * scores[i] > b0 else b0
            i += 1
        b0 = b1 if b1 > b0 else b0
        b2 = b3 if b3 > b2 else b2
        return b2 if b2 > b0 else b0

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(check=False)
    def exponentials(self) -> cython.double:
        """Replace the shares by their exponentials, with numpy, whose exp takes several at once; their sum."""
        i: cython.Py_ssize_t
        done: cython.bint = False
        total: cython.double = 0.0
        try:
            shares = np.asarray(self._shares)
            np.exp(shares, out=shares)
            done = True
            # Not the method: it is Python, where Ctrl-C would come, and be lost.
            return float(np.add.reduce(shares))
        except MemoryError:
            # The few bytes these calls need; nothing can be raised from here.
            for i in range(self._n):
                self._shares[i] = self._shares[i] if done else exp(self._shares[i])
                total += self._shares[i]
        return total

    # ------------------------------------------------------------------ forecasts from shares

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mean(self) -> cython.double:
        """The mean of the advice by the shares; it does not leave their hull, however it is rounded."""
        i: cython.Py_ssize_t
        value: cython.double
        low: cython.double = INFINITY
        high: cython.double = -INFINITY
        total: cython.double = 0.0
        first: cython.Py_ssize_t = self._first
        some_sleep: cython.bint = self._some_sleep
        values: cython.double[::1] = self._values
        shares: cython.double[::1] = self._shares
        awake: cython.schar[::1] = self._awake
        for i in range(self._n):
            if some_sleep and not awake[i]:
                continue
            value = values[first + i]
            total += shares[i] * value
            low = value if value < low else low
            high = value if value > high else high
        total = total / self._total
        total = low if total < low else high if total > high else total
        # Advice of one sign adds up to the mean itself; of both signs, to no more than the farther end.
        self._reach = fabs(total) if low >= 0 or high <= 0 else high if high > -low else -low
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mean_complement(self) -> cython.double:
        """The mean of 1 - advice by the shares: 1 - the mean of the advice, but exact to its own last digits.

        Near 1 the mean of the advice, as a number, no longer says how far from 1 it is.
        """
        i: cython.Py_ssize_t
        rest: cython.double
        low: cython.double = INFINITY
        high: cython.double = -INFINITY
        total: cython.double = 0.0
        for i in range(self._n):
            if self._awake[i]:
                rest = 1 - self._values[self._first + i]
                total += self._shares[i] * rest
                low = rest if rest < low else low
                high = rest if rest > high else high
        total = total / self._total
        return low if total < low else high if total > high else total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def uniform(self, number: cython.longlong) -> cython.double:
        """A number in [0, 1) from the seed and the round's number alone (splitmix64, Steele et al. 2014)."""
        z: cython.ulonglong = (self._seed * STREAM + (number + 1) * GOLDEN) & MASK
        z = ((z ^ (z >> 30)) * FIRST_MIX) & MASK
        z = ((z ^ (z >> 27)) * SECOND_MIX) & MASK
        z = z ^ (z >> 31)
        return (z >> 11) * 1.1102230246251565e-16

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def drawn(self) -> cython.Py_ssize_t:
        """The expert drawn for the current round."""
        i: cython.Py_ssize_t
        last: cython.Py_ssize_t = 0
        left: cython.double = self.uniform(self._rounds) * self._total
        for i in range(self._n):
            if self._shares[i] > 0:
                last = i
                left -= self._shares[i]
                if left < 0:
                    break
        return last

    # ------------------------------------------------------------------ who is awake

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def wake(self, first: cython.Py_ssize_t) -> cython.void:
        """Make this row the current round, and weigh those who are awake in it."""
        i: cython.Py_ssize_t
        asleep: cython.Py_ssize_t = 0
        self._first = first
        # Where nobody sleeps in the whole block, all have been woken before it.
        if self._look_for_sleepers:
            for i in range(self._n):
                self._awake[i] = self._values[first + i] == self._values[first + i]
                if not self._awake[i]:
                    asleep += 1
            self._some_sleep = asleep > 0
        self._total = self.weigh()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def wake_all(self) -> cython.void:
        i: cython.Py_ssize_t
        if self._some_sleep:
            for i in range(self._n):
                self._awake[i] = 1
            self._some_sleep = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def everyone(self) -> cython.void:
        """Weigh the experts as if all were awake."""
        self.wake_all()
        self._total = self.weigh()
