"""The averaged multiclass perceptron: learn like the multiclass perceptron, predict by the average of all it ever was.

Setting     x_t in R^n, y_t in {1..K}, or in no set that is known beforehand; after T rounds predict the k with the
            largest a_k . x, of several the class that came first, where a_k is the mean of w_k after rounds 1, ..., T.
Update      the multiclass perceptron's, by its own prediction: with k the class of the largest w_k . x_t, unless it is
            y_t, w_y <- w_y + x_t and w_k <- w_k - x_t. The average costs nothing extra: with u_k the sum of t times
            what was added to w_k in round t, T a_k = (T + 1) w_k - u_k.
Guarantee   its updates are the multiclass perceptron's, so that every bound on these bounds its updates: at most
            2 (R/gamma)^2, and so on. How often the average itself errs is no part of these theorems.
Assumes     nothing about where the examples come from.
Source      Freund & Schapire 1999, for two labels; Collins 2002, for many.

>>> learner = AveragedMulticlassPerceptron(labels=("a", "b", "c"))
>>> for x, y in [([1.0, 0.0], "b"), ([0.0, 1.0], "c"), ([1.0, 1.0], "c")]:
...     _ = learner.learn_one(x, y)
>>> learner.updates, learner.last_weights["b"].tolist()  # it was (1, 0), (1, 0), and in the tie b is before c
(3, [0.0, -1.0])
>>> learner.weights["b"].tolist()
[0.6666666666666666, -0.3333333333333333]
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.linear._multiclass import MulticlassLearner
from afterwit.linear.multiclass_perceptron import multiclass_bounds

if cython.compiled:
    from cython.cimports.afterwit.linear._class_weights import ClassWeights
else:
    from afterwit.linear._class_weights import ClassWeights


@cython.cclass
class _AveragedClassPerceptrons(ClassWeights):
    """The weights and the sums u_k, the update, and the scores by the average."""

    # What the perceptron's own weights score.
    _last: cython.double[::1]

    _called = "AveragedMulticlassPerceptron"
    _stored = ("weights", "moments")

    def _take_class_room(self, room: int) -> None:
        last = view(np.zeros(room))
        ClassWeights._take_class_room(self, room)
        self._last = last

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score_classes(self, at: cython.Py_ssize_t) -> cython.void:
        c: cython.Py_ssize_t
        rounds: cython.double = self._rounds
        self.products(0, self._last, 0)
        self._leader = self.leader(self._last, 0)
        self.products(1, self._totals, at)
        for c in range(self._n_classes):
            if self._rounds > 0:
                self._totals[at + c] = ((rounds + 1) * self._last[c] - self._totals[at + c]) / rounds

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        when: cython.double = self._rounds
        if self._leader == y or self._leader < 0:
            return False
        self.add_to(0, y, 1.0)
        self.add_to(0, self._leader, -1.0)
        self.add_to(1, y, when)
        self.add_to(1, self._leader, -when)
        return True

    def vectors(self) -> Any:
        last = ClassWeights.vectors(self)
        return ((self._rounds + 1) * last - self._column(1)) / self._rounds if self._rounds else last


class AveragedMulticlassPerceptron(MulticlassLearner):
    """The multiclass perceptron that predicts by the average of its hypotheses.

    intercept  whether every example has a further feature of value 1
    labels     the labels that may come, two or more; any may come if not given

    ``mistakes`` counts those of the average, ``updates`` those of the perceptron inside.
    """

    theorems = multiclass_bounds("updates")
    _weights_of_classes = _AveragedClassPerceptrons

    @property
    def last_weights(self) -> dict[Any, Any]:
        """The perceptron's weights after the last round, which decide about the next update."""
        with self._lock:
            return self._by_class(self._engine._column(0))
