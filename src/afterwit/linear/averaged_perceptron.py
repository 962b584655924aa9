# cython: boundscheck=False, wraparound=False, cdivision=True
"""The averaged perceptron: learn like the perceptron, predict by the average of all it ever was.

Setting     x_t in R^n, y_t in {-1, +1}; after T rounds predict sgn(a . x), a = (w_2 + ... + w_{T+1}) / T, where w_{t+1}
            is the perceptron after round t: every hypothesis counts as often as it has survived.
Update      the perceptron's, by its own prediction: if sgn(w_t . x_t) is not y_t, w_{t+1} = w_t + y_t x_t, w_1 = 0.
            The average costs nothing extra: with u the sum of t y_t x_t over the updates, T a = (T + 1) w_{T+1} - u.
Guarantee   its updates are the perceptron's, so that every bound on the perceptron's mistakes bounds its updates: at
            most (R/gamma)^2, and so on. How often the average itself errs is no part of these theorems.
Assumes     nothing about where the examples come from.
Source      Freund & Schapire 1999; Mohri, Rostamizadeh & Talwalkar 2018, section 8.3.1 (whose "voted perceptron"
            this is: it predicts by the weighted sum).

>>> learner = AveragedPerceptron()
>>> for x, y in [([1.0, 0.0], -1), ([0.0, 1.0], -1), ([1.0, -1.0], 1)]:
...     _ = learner.learn_one(x, y)
>>> learner.weights.tolist(), learner.last_weights.tolist()  # the hypotheses were (-1, 0), (-1, -1) and (-1, -1)
([-1.0, -0.6666666666666666], [-1.0, -1.0])
"""

from __future__ import annotations

from typing import Any

import cython

from afterwit.linear._mixed_bounds import mixed_bounds
from afterwit.linear.perceptron import perceptron_bounds

if cython.compiled:
    from cython.cimports.afterwit.linear._paired import PairedLearner
else:
    from afterwit.linear._paired import PairedLearner


@cython.cclass
class AveragedPerceptron(PairedLearner):
    """The perceptron that predicts by the average of its hypotheses.

    intercept  whether every example has a further feature of value 1
    labels     the negative and the positive label

    ``mistakes`` counts those of the average, ``updates`` those of the perceptron inside.
    """

    _last: cython.double

    theorems = perceptron_bounds("updates")
    mixed_theorems = mixed_bounds("updates")
    _stored = ("weights", "moments")
    _rests = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        # The perceptron's own score is kept for the update that may follow.
        self._last = self.dots()
        if self._rounds == 0:
            return 0.0 * self._last
        rounds: cython.double = self._rounds
        return ((rounds + 1) * self._last - self._second) / rounds

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        change: cython.double
        when: cython.double = self._rounds
        prediction: cython.int = 1 if self._last >= 0 else -1
        if prediction == y:
            return False
        for k in range(self._length):
            column = self._columns[self._offset + k]
            change = y * self._values[self._first + k]
            self._weights[2 * column] += change
            self._weights[2 * column + 1] += when * change
        return True

    def _vector(self) -> Any:
        last = PairedLearner._vector(self)
        return ((self._rounds + 1) * last - self._companions()) / self._rounds if self._rounds else last

    @property
    def last_weights(self) -> Any:
        """The perceptron's weights after the last round, which decide about the next update."""
        with self._lock:
            return self._by_feature(PairedLearner._vector(self))
