# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The running mean and spread of every feature, and rows standardized by them, in one compiled pass.

In round t the mean and the sum of squared differences from it are over rounds 1 to t, this one included; a feature that
is absent counts as 0 there. Rounds in which it was absent are caught up with when it comes again: that k zeros follow
n values of mean m and spread s makes the mean m n/(n + k) and the spread s + m^2 n k/(n + k). All terms of a spread are
positive, so that nothing is lost by cancellation, however far the values are from 0.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.errors import DivergenceError
from afterwit.linear._engine import SHARED
from afterwit.linear._stops import Stop

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from afterwit.linear._engine import LinearLearner


DIVERGED = cython.declare(cython.int, Stop.DIVERGED)
#: A smaller spread has lost its digits: squares of values below 1e-154 are no longer numbers with all of theirs.
SMALLEST = cython.declare(cython.double, 1e-290)


@cython.cclass
class Moments(LinearLearner):
    """What a linear learner does with rows, but for labels: the "score" of a row lays out its standardized values."""

    # Of the rows that are read, beside each value: what it becomes, and what was known of the feature before.
    _out: cython.double[::1]
    _past: cython.double[::1]
    # The mean and the spread that the current entry leads to.
    _mean: cython.double
    _spread: cython.double
    # 0, or not a number if the current row leads to a spread that is infinite.
    _excess: cython.double
    # What was known before the last rows were learned.
    _before: cython.object

    _stored = ("seen", "means", "spreads")
    options = SHARED

    def _begin(self) -> None:
        LinearLearner._begin(self)
        # A row without a score does not show that a value in it is none.
        self._bad_values_show = False
        self._out = view(np.zeros(0))
        self._past = view(np.zeros(0))
        self._before = (0, False)
        self._excess = 0.0

    # ------------------------------------------------------------------ rows

    def standardized(self, rows: Any) -> Any:
        """The values of the rows, each row as if it came next. Nothing changes."""
        out = np.empty(len(rows.values))
        self._out = view(out)
        try:
            self.score_many(rows)
        finally:
            self._out = view(np.zeros(0))
        return out

    def learn_and_standardize(self, rows: Any, out: Any = None) -> Any:
        """The same in order, each row after those before it; into ``out``, also if it stops before the last row."""
        out = np.empty(len(rows.values)) if out is None else out
        self._out = view(out)
        self._past = view(np.empty(3 * len(rows.values)))
        self._before = (self._features, self._named)
        try:
            self._learn(rows, np.ones(rows.count, dtype=np.int8))
        finally:
            self._out = view(np.zeros(0))
        return out

    def rewind(self, rows: Any, done: int) -> None:
        """Forget the rows that were learned last, but for the first ``done``."""
        features, named = self._before
        self._enter(rows, True)
        try:
            self._put_back(rows, done)
            self._rounds -= rows.count - done
        finally:
            self._rest()
        self._forget_unlearned(rows, done, features, named)

    def _put_back(self, rows: Any, done: cython.Py_ssize_t) -> None:
        starts = np.arange(rows.count + 1) * rows.width if rows.starts is None else rows.starts
        k: cython.Py_ssize_t
        first: cython.Py_ssize_t
        place: cython.Py_ssize_t
        for i in range(rows.count - 1, done - 1, -1):
            first = starts[i]
            if rows.starts is None:
                self._take(first, 0, rows.width)
            else:
                self._take(first, first, starts[i + 1] - first)
            for k in range(self._length - 1, -1, -1):
                place = 3 * self._columns[self._offset + k]
                self._weights[place] = self._past[3 * (first + k)]
                self._weights[place + 1] = self._past[3 * (first + k) + 1]
                self._weights[place + 2] = self._past[3 * (first + k) + 2]

    # ------------------------------------------------------------------ the figure

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        """Lay out the current row, standardized by what will be known after it."""
        k: cython.Py_ssize_t
        rounds: cython.double = self._rounds + 1
        value: cython.double
        self._excess = 0.0
        for k in range(self._length):
            value = self._values[self._first + k]
            self.look_at(k, rounds)
            self._excess += self._spread - self._spread
            self._out[self._first + k] = (
                (value - self._mean) / sqrt(self._spread / rounds) if self._spread > SMALLEST else 0.0
            )
        return 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        place: cython.Py_ssize_t
        rounds: cython.double = self._rounds
        if self._excess != 0:
            self._stopped = DIVERGED
            return False
        for k in range(self._length):
            place = 3 * self._columns[self._offset + k]
            at = 3 * (self._first + k)
            self._past[at] = self._weights[place]
            self._past[at + 1] = self._weights[place + 1]
            self._past[at + 2] = self._weights[place + 2]
            self.look_at(k, rounds)
            self._weights[place] = rounds
            self._weights[place + 1] = self._mean
            self._weights[place + 2] = self._spread
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def look_at(self, k: cython.Py_ssize_t, rounds: cython.double) -> cython.void:
        """The mean and the spread over so many rounds, of which entry k of the current row is the last."""
        column: cython.Py_ssize_t = self._columns[self._offset + k]
        value: cython.double = self._values[self._first + k]
        seen: cython.double = 0.0
        mean: cython.double = 0.0
        spread: cython.double = 0.0
        difference: cython.double
        if self._known or 0 <= column < self._features:
            seen = self._weights[3 * column]
            mean = self._weights[3 * column + 1]
            spread = self._weights[3 * column + 2]
        if rounds - 1 > seen:
            spread += mean * mean * (seen * (rounds - 1 - seen) / (rounds - 1))
            mean *= seen / (rounds - 1)
        difference = value - mean
        mean += difference / rounds
        spread += difference * (value - mean)
        self._mean = mean
        self._spread = spread

    # ------------------------------------------------------------------ what it knows

    def means_and_deviations(self) -> tuple[Any, Any]:
        """Of every feature over all rounds, absent ones as 0."""
        seen, means, spreads = (self._column(place) for place in range(3))
        rounds = max(1, self._rounds)
        spreads = spreads + means * means * (seen * (rounds - seen) / rounds)
        return self._by_feature(means * (seen / rounds)), self._by_feature(np.sqrt(spreads / rounds))

    def _divergence(self) -> DivergenceError:
        return DivergenceError(
            f"round {self._rounds + 1:,} has a value whose square Standardize cannot compute; scale the features"
        )
