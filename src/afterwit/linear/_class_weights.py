# cython: boundscheck=False, wraparound=False, cdivision=True
"""One weight for every feature and class: the loops of `LinearLearner`, with the number of a class for the sign.

Classes are numbered in the order in which they come. ``score`` gives the number of the class that leads, -1 if none is
known, and leaves what each class scores in ``_totals``. A label that is new has the next number: its class is known
from its first round on, and has no weights before.

The weights of a feature lie side by side, one for each class, with room for classes to come; room that is not used is
0 and no part of what is learned. A product is summed up in the order of the entries, so that zeros that are left out
and features without a weight change no sum.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.data.checks import FLOAT_MAX
from afterwit.data.room import require_room
from afterwit.errors import invalid
from afterwit.linear._stops import Stop

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
    from cython.cimports.afterwit.linear._row import RowLearner
else:
    from afterwit.linear._engine import LinearLearner
    from afterwit.linear._row import RowLearner


BEYOND_LIMIT = cython.declare(cython.int, Stop.BEYOND_LIMIT)
LARGEST = cython.declare(cython.double, FLOAT_MAX)
INFINITE = cython.declare(cython.double, float("inf"))
#: For how many classes there is room at first.
FEWEST = 4


@cython.cclass
class ClassWeights(LinearLearner):
    """The weights of a learner of many labels. Algorithms derive from it and define ``update``.

    What it has of `LinearLearner` besides the loops, two labels among it, nobody uses: whoever has it knows the labels.
    """

    def _begin(self) -> None:
        self._n_classes = 0
        self._class_room = FEWEST
        self._take_class_room(FEWEST)
        self._at = 0
        self._step = 0
        self._largest = 0.0
        self._leader = -1
        LinearLearner._begin(self)
        # In a round without a class there is no score to show them.
        self._bad_values_show = False

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
    def leader(self, totals: cython.double[::1], at: cython.Py_ssize_t) -> cython.int:
        """The class of the largest of these scores, the first of several; their size is left in ``_largest``."""
        c: cython.Py_ssize_t
        first: cython.int = -1
        total: cython.double
        unsound: cython.double = 0.0
        self._largest = 0.0
        for c in range(self._n_classes):
            total = totals[at + c]
            # Not a number, once one of them is infinite or none.
            unsound += total - total
            self._largest = max(self._largest, abs(total))
            if first < 0 or total > totals[at + first]:
                first = c
        if unsound != 0:
            self._largest = INFINITE
        return first

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_to(self, place: cython.int, code: cython.double, scale: cython.double) -> cython.void:
        """Add scale x, for the current row, to the weights of a class, or to what else is stored at that place."""
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t = place * self._class_room + cython.cast(cython.Py_ssize_t, code)
        for k in range(self._length):
            self._weights[self._columns[self._offset + k] * self._stride + at] += scale * self._values[self._first + k]

    # ------------------------------------------------------------------ one round

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score_classes(self, at: cython.Py_ssize_t) -> cython.void:
        """Leave the score of each class in ``_totals``, from there on, and in ``_leader`` the class to learn by."""
        self.products(0, self._totals, at)
        self._leader = self.leader(self._totals, at)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        """The class that leads in the current row; not a number if a score is none."""
        at: cython.Py_ssize_t = self._at
        self._at += self._step
        self.score_classes(at)
        predicted: cython.int = self.leader(self._totals, at)
        return predicted if self._largest <= LARGEST else INFINITE - INFINITE

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def learn_row(self, y: cython.double) -> cython.double:
        """Predict the current row, count the round and the mistake, update; the class that was predicted.

        Where it has to stop, ``_stopped`` says why, and nothing has changed.
        """
        predicted: cython.double = self.score()
        if not self._largest <= self._limit:
            self._stopped = BEYOND_LIMIT
            return predicted
        self._rounds += 1
        self._mistakes += predicted != y
        if self.update(y, predicted):
            self._updates += 1
        if y >= self._n_classes:
            self._n_classes = cython.cast(cython.int, y) + 1
        return predicted

    def learn_class(self, x: Any, code: int) -> int:
        """Learn one example of a class for which there is room; the class that was predicted."""
        return int(self._learn_example(x, code))

    # ------------------------------------------------------------------ classes and scores

    @property
    def count(self) -> int:
        """How many classes are known."""
        return self._n_classes

    def make_class_room(self, count: int) -> None:
        """Have room for so many classes. Nothing else changes."""
        with self._lock:
            self._have_class_room(count)

    def _have_class_room(self, count: int) -> None:
        if count <= self._class_room:
            return
        room = max(count, 2 * self._class_room)
        try:
            numbers = self._padded([self._column(place) for place in range(len(self._stored))], room)
            self._take_class_room(room)
        except MemoryError:
            raise invalid("the number of classes", "what fits into memory", count) from None
        self._class_room = room
        self._stride = len(self._stored) * room
        self._weights = view(numbers.reshape(-1))

    def _take_class_room(self, room: int) -> None:
        """Make room for the scores of so many classes."""
        self._totals = view(np.zeros(room))

    def _padded(self, stored: Any, room: int) -> Any:
        """Numbers by feature and class, side by side, with room for so many classes and for 16 features at least."""
        features = len(stored[0])
        require_room("the number of classes", 8 * max(16, features) * len(stored) * room)
        padded = np.zeros((max(16, features), len(stored), room))
        for place, numbers in enumerate(stored):
            padded[:features, place, : numbers.shape[1]] = numbers
        return padded.reshape(len(padded), -1)

    def know_classes(self, count: int) -> None:
        """Know so many classes from the start."""
        self.make_class_room(count)
        self._n_classes = count

    def latest_scores(self) -> list[float]:
        """What every class scored in the last row."""
        return [float(self._totals[code]) for code in range(self._n_classes)]

    def scores_of_classes(self, rows: Any) -> Any:
        """The scores of every row: an array with a column for each class."""
        scratch, every = self._totals, np.zeros(rows.count * self._n_classes)
        self._totals = view(every)
        self._step = self._n_classes
        try:
            self.score_many(rows)
        finally:
            self._at = 0
            self._step = 0
            self._totals = scratch
        return every.reshape(rows.count, self._n_classes)

    # ------------------------------------------------------------------ what it knows, copying, saving

    def _column(self, place: int) -> Any:
        """A copy of one of the things that are stored, with a row for each feature and a column for each class."""
        numbers = np.asarray(self._weights)[: self._features * self._stride].reshape(self._features, self._stride)
        begin = place * self._class_room
        return np.array(numbers[:, begin : begin + self._n_classes])

    def vectors(self) -> Any:
        """What it predicts by, with a row for each feature, the intercept's first, and a column for each class."""
        return self._column(0)

    def by_feature(self, vector: Any) -> Any:
        """Numbers for each feature, without the intercept's: a dict by name if it learned names, otherwise an array."""
        return self._by_feature(vector)

    @property
    def reserved(self) -> int:
        """1 if the first feature is the intercept's, otherwise 0."""
        return self._reserved

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
        LinearLearner._become(self, state)
        self._n_classes = count
