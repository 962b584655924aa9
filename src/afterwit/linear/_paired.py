# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Two numbers for every feature, side by side: a weight, and what the algorithm remembers about it.

Weight i is at 2 i and its companion at 2 i + 1, so that whoever reads the one has the other at hand.

Roots, quotients and exponentials cost far more than the rest of a round. An algorithm that needs them takes the current
row part by part: it lays out what it needs of a part in ``_amounts`` and ``_totals``, entry after entry, where the
compiler makes such loops handle several numbers at once, to the same bits. Parts and entries are in the row's order, so
that entries of one feature follow each other as if there were no parts.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
else:
    from afterwit.linear._engine import LinearLearner


#: How many entries a part has at most.
PART = 32


@cython.cclass
class PairedLearner(LinearLearner):
    """A linear learner with a second number for every feature."""

    def _begin(self) -> None:
        self._second = 0.0
        self._amounts = view(np.zeros(PART))
        self._totals = view(np.zeros(PART))
        LinearLearner._begin(self)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def dot(self) -> cython.double:
        first: cython.Py_ssize_t = self._first
        offset: cython.Py_ssize_t = self._offset
        length: cython.Py_ssize_t = self._length
        k: cython.Py_ssize_t = 0
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        c: cython.Py_ssize_t
        d: cython.Py_ssize_t
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        s2: cython.double = 0.0
        s3: cython.double = 0.0
        if not self._known:
            return self._dot_of_known()
        while k + 3 < length:
            a = self._columns[offset + k]
            b = self._columns[offset + k + 1]
            c = self._columns[offset + k + 2]
            d = self._columns[offset + k + 3]
            s0 += self._weights[2 * a] * self._values[first + k]
            s1 += self._weights[2 * b] * self._values[first + k + 1]
            s2 += self._weights[2 * c] * self._values[first + k + 2]
            s3 += self._weights[2 * d] * self._values[first + k + 3]
            k += 4
        if k < length:
            a = self._columns[offset + k]
            s0 += self._weights[2 * a] * self._values[first + k]
        if k + 1 < length:
            b = self._columns[offset + k + 1]
            s1 += self._weights[2 * b] * self._values[first + k + 1]
        if k + 2 < length:
            c = self._columns[offset + k + 2]
            s2 += self._weights[2 * c] * self._values[first + k + 2]
        return (s0 + s1) + (s2 + s3)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def dots(self) -> cython.double:
        """The product of the weights with the current row; that of the companions is left in ``_second``.

        Entry k goes to running sum k mod 2. Features without a weight yet have none, nor a companion.
        """
        first: cython.Py_ssize_t = self._first
        offset: cython.Py_ssize_t = self._offset
        length: cython.Py_ssize_t = self._length
        k: cython.Py_ssize_t = 0
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        t0: cython.double = 0.0
        t1: cython.double = 0.0
        if self._known:
            while k + 1 < length:
                a = self._columns[offset + k]
                b = self._columns[offset + k + 1]
                s0 += self._weights[2 * a] * self._values[first + k]
                s1 += self._weights[2 * b] * self._values[first + k + 1]
                t0 += self._weights[2 * a + 1] * self._values[first + k]
                t1 += self._weights[2 * b + 1] * self._values[first + k + 1]
                k += 2
        while k < length:
            a = self._columns[offset + k]
            if 0 <= a < self._features:
                if k & 1:
                    s1 += self._weights[2 * a] * self._values[first + k]
                    t1 += self._weights[2 * a + 1] * self._values[first + k]
                else:
                    s0 += self._weights[2 * a] * self._values[first + k]
                    t0 += self._weights[2 * a + 1] * self._values[first + k]
            k += 1
        self._second = t0 + t1
        return s0 + s1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_squares(self, scale: cython.double, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """For the part of the current row that begins there, companion <- companion + (scale x)^2; its length.

        Leaves scale x in ``_amounts`` and the companion, this entry included, in ``_totals``.
        """
        k: cython.Py_ssize_t
        count: cython.Py_ssize_t = min(self._length - begin, self._amounts.shape[0])
        column: cython.Py_ssize_t
        amount: cython.double
        total: cython.double
        for k in range(count):
            column = self._columns[self._offset + begin + k]
            amount = scale * self._values[self._first + begin + k]
            total = self._weights[2 * column + 1] + amount * amount
            self._weights[2 * column + 1] = total
            self._amounts[k] = amount
            self._totals[k] = total
        return count

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def subtract_amounts(self, begin: cython.Py_ssize_t, count: cython.Py_ssize_t, box: cython.double) -> cython.void:
        """For a part of the current row: weight <- weight - amount, then into [-box, box] if the box is above 0."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        weight: cython.double
        for k in range(count):
            column = self._columns[self._offset + begin + k]
            weight = self._weights[2 * column] - self._amounts[k]
            self._weights[2 * column] = min(max(weight, -box), box) if box > 0 else weight

    def _with_room(self, weights: Any, features: int) -> Any:
        longer = LinearLearner._with_room(self, weights, features)
        if self._fresh != 0:
            longer[len(weights) + 1 :: 2] = 0.0
        return longer

    def _companions(self) -> Any:
        """A copy of the second numbers."""
        return self._column(1)
