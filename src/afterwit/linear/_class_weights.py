# cython: boundscheck=False, wraparound=False, cdivision=True
"""One weight for every feature and class.

The weights of a feature lie side by side, one for each class, with room for classes to come; room that is not used is
0 and no part of what is learned. A class has no weights before its first round. A product is summed up in the order of
the entries, so that zeros that are left out and features without a weight change no sum.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.data.room import require_room
from afterwit.errors import invalid

if cython.compiled:
    from cython.cimports.afterwit.linear._class_scores import ClassScores
    from cython.cimports.afterwit.linear._row import RowLearner
else:
    from afterwit.linear._class_scores import ClassScores
    from afterwit.linear._row import RowLearner


@cython.cclass
class ClassWeights(ClassScores):
    """The weights of a learner of many labels. Algorithms derive from it and define ``update``."""

    @property
    def _numbers_of_each(self) -> int:
        return self._class_room

    # ------------------------------------------------------------------ what an algorithm may use

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def products(self, place: cython.int, into: cython.double[::1], at: cython.Py_ssize_t) -> cython.void:
        """The product of the current row with the weights of every class, or what else is stored at that place."""
        c: cython.Py_ssize_t
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        value: cython.double
        count: cython.Py_ssize_t = self._n_classes
        for c in range(count):
            into[at + c] = 0.0
        for k in range(self._length):
            column = self._columns[self._offset + k]
            if 0 <= column < self._features:
                begin = column * self._stride + place * self._class_room
                value = self._values[self._first + k]
                for c in range(count):
                    into[at + c] += self._weights[begin + c] * value

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_to(self, place: cython.int, code: cython.double, scale: cython.double) -> cython.void:
        """Add scale x, for the current row, to the weights of a class, or to what else is stored at that place."""
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t = place * self._class_room + cython.cast(cython.Py_ssize_t, code)
        for k in range(self._length):
            self._weights[self._columns[self._offset + k] * self._stride + at] += scale * self._values[self._first + k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score_classes(self, at: cython.Py_ssize_t) -> cython.void:
        """The product of the row with the weights of each class; it learns by the one that leads."""
        self.products(0, self._totals, at)
        self._leader = self.leader(self._totals, at)

    # ------------------------------------------------------------------ room

    def _widen(self, room: int) -> None:
        numbers = self._padded([self._column(place) for place in range(len(self._stored))], room)
        ClassScores._widen(self, room)
        self._stride = len(self._stored) * room
        self._weights = view(numbers.reshape(-1))

    def _padded(self, stored: Any, room: int) -> Any:
        """Numbers by feature and class, side by side, with room for so many classes and for 16 features at least."""
        features = len(stored[0])
        require_room("the number of classes", 8 * max(16, features) * len(stored) * room)
        padded = np.zeros((max(16, features), len(stored), room))
        for place, numbers in enumerate(stored):
            padded[:features, place, : numbers.shape[1]] = numbers
        return padded.reshape(len(padded), -1)

    # ------------------------------------------------------------------ what it knows, copying, saving

    def _column(self, place: int) -> Any:
        """A copy of one of the things that are stored, with a row for each feature and a column for each class."""
        numbers = np.asarray(self._weights)[: self._features * self._stride].reshape(self._features, self._stride)
        begin = place * self._class_room
        return np.array(numbers[:, begin : begin + self._n_classes])

    def vectors(self) -> Any:
        """What it predicts by, with a row for each feature, the intercept's first, and a column for each class."""
        return self._column(0)

    def _check_state(self, state: Any) -> None:
        RowLearner._check_state(self, state)
        shape: Any = None
        for name in self._stored:
            numbers = state[name]
            if not isinstance(numbers, np.ndarray) or numbers.dtype != np.float64 or numbers.ndim != 2:
                raise invalid(name, "a 2-D array of float64", numbers)
            shape = shape or numbers.shape
            if numbers.shape != shape or shape[0] < self._reserved:
                raise invalid(name, "as many numbers for every feature and class", numbers)
        self._check_features(shape[0] - self._reserved, state["names"])

    def _numbers_in(self, state: Any) -> Any:
        stored = [state[name] for name in self._stored]
        return self._padded(stored, self._class_room)[: len(stored[0])]

    def _become(self, state: Any) -> None:
        count = state[self._stored[0]].shape[1]
        self._have_class_room(count)
        ClassScores._become(self, state)
        self._n_classes = count
