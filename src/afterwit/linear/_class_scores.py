# cython: boundscheck=False, wraparound=False, cdivision=True
"""A score for every class: the loops of `LinearLearner`, with the number of a class for the sign.

Classes are numbered in the order in which they come. ``score`` gives the number of the class that leads, -1 if none is
known, and leaves what each class scores in ``_totals``. A label that is new has the next number: its class is known
from its first round on.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.data.checks import FLOAT_MAX
from afterwit.errors import invalid
from afterwit.linear._stops import Stop

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
else:
    from afterwit.linear._engine import LinearLearner


BEYOND_LIMIT = cython.declare(cython.int, Stop.BEYOND_LIMIT)
LARGEST = cython.declare(cython.double, FLOAT_MAX)
INFINITE = cython.declare(cython.double, float("inf"))
#: For how many classes there is room at first.
FEWEST = 4


@cython.cclass
class ClassScores(LinearLearner):
    """A learner that scores every class. Those that derive from it define ``score_classes`` and ``update``.

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

    # ------------------------------------------------------------------ what an algorithm defines or may use

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score_classes(self, at: cython.Py_ssize_t) -> cython.void:
        """Leave the score of each class in ``_totals``, from there on, and in ``_leader`` the class to learn by."""

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

    # ------------------------------------------------------------------ one round

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
        if self._stopped:
            self._rounds -= 1
            self._mistakes -= predicted != y
        elif y >= self._n_classes:
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
            self._widen(room)
        except MemoryError:
            raise invalid("the number of classes", "what fits into memory", count) from None

    def _widen(self, room: int) -> None:
        """Have room for exactly so many classes, which are more than before."""
        self._take_class_room(room)
        self._class_room = room

    def _take_class_room(self, room: int) -> None:
        """Make room for the scores of so many classes."""
        self._totals = view(np.zeros(room))

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

    def by_feature(self, vector: Any) -> Any:
        """Numbers for each feature, without the intercept's: a dict by name if it learned names, otherwise an array."""
        return self._by_feature(vector)

    @property
    def reserved(self) -> int:
        """1 if the first feature is the intercept's, otherwise 0."""
        return self._reserved
