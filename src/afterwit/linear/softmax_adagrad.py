# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Softmax AdaGrad: probabilities of many classes, learned with a rate of its own for every feature and class.

Setting     x_t in R^n, y_t in {1..K}, or in no set that is known beforehand; the probability of class k is
            p_k = exp(w_k . x_t) / sum_j exp(w_j . x_t) over the classes known; predict the largest, of several the
            class that came first. The loss is the log loss -ln p_y.
Update      the gradient by w_k is (p_k - [k = y_t]) x_t. For every feature i and class k, with G_{i,k} the sum of the
            squared gradients (this round included),
            w_{i,k} <- w_{i,k} - rate g_{i,k} / sqrt(delta + G_{i,k}). From w = 0.
Guarantee   against every U with rows U_1..U_K and on any sequence: the total log loss is at most that of U plus
            sum_{i,k} D_{i,k}^2 sqrt(delta + G_{i,k}) / (2 rate) + rate sum_{i,k} sqrt(G_{i,k}), where D_{i,k} is the
            largest |w_{i,k} - U_{i,k}| there was. A wrong prediction has p_y <= 1/2: the mistakes are at most the total
            loss divided by ln 2.
New classes a class that was not named beforehand cannot be predicted in the round that brings it. The loss of that
            round counts it as a class with weights 0. For the learner and for U alike, only the classes that have come
            by then count. So every round has a convex loss, whose gradient by the weights of a class still to come is
            0, and the theorem holds as it stands. The round that brings a class may be a mistake that costs less than
            ln 2: the bound on mistakes adds 1 for each.
Assumes     nothing about where the examples come from.
Defaults    rate = 0.15 and delta = 1e-6, as for `AdaGrad`.
Source      Duchi, Hazan & Singer 2011, Theorem 5 (the composite mirror descent update, diagonal matrices), on the
            multinomial logistic loss.

>>> learner = SoftmaxAdaGrad(labels=("cat", "dog", "bird"))
>>> for x, y in 4 * [({"woof": 1}, "dog"), ({"purr": 1}, "cat"), ({"tweet": 1}, "bird")]:
...     _ = learner.learn_one(x, y)
>>> learner.predict_one({"purr": 1}), learner.mistakes
('cat', 3)
>>> {label: round(p, 3) for label, p in learner.predict_proba_one({"tweet": 1}).items()}
{'cat': 0.239, 'dog': 0.256, 'bird': 0.505}
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np
import numpy.typing as npt

from afterwit.core.declared import Option
from afterwit.core.learner import view
from afterwit.core.many_labels import MANY_LABELS
from afterwit.core.probabilities import softmax
from afterwit.data.checks import flag, positive_number, zero_or_positive
from afterwit.errors import invalid
from afterwit.linear._multiclass import MulticlassLearner
from afterwit.linear._regret import AdaptiveBound, Descent, DescentKind, MistakesFromLoss

if cython.compiled:
    from cython.cimports.afterwit.linear._class_weights import ClassWeights
    from cython.cimports.libc.math import exp, sqrt
else:
    from math import exp, sqrt

    from afterwit.linear._class_weights import ClassWeights


class SoftmaxBound(AdaptiveBound):
    """Adaptive descent on the log loss of the softmax, over all pairs of a feature and a class."""

    name = "adaptive regret over features and classes, gradients as they were"
    formula = "sum_ik D_ik^2 sqrt(delta + G_ik) / (2 eta) + eta sum_ik sqrt(G_ik)"

    @property
    def statement(self) -> str:
        return f"loss <= L(U) + {self.in_symbols}"


class SoftmaxMistakes(MistakesFromLoss):
    """The same, divided by ln 2: in a wrong prediction the right class has at most half of the probability.

    In the round that brings a class this is not so, if all others score below 0: it could not be predicted, and yet
    has more than half.
    """

    name = "mistakes, from the bound on the log loss"
    formula = "(L(U) + regret) / ln 2, + 1 for each class not named beforehand"
    citation = "a wrong prediction has p_y <= 1/2, and so a log loss of at least ln 2"


RATE = Option("rate", 0.15, positive_number)
DELTA = Option("delta", 1e-6, zero_or_positive)
INTERCEPT = Option("intercept", True, flag)


@cython.cclass
class _SoftmaxWeights(ClassWeights):
    """The weights, the sums of squared gradients, and the update."""

    _rate: cython.double
    _delta: cython.double
    # For every class: its slope; and for one feature, its gradients and sums of squares.
    _slopes: cython.double[::1]
    _amounts: cython.double[::1]
    _sums: cython.double[::1]

    _called = "SoftmaxAdaGrad"
    _stored = ("weights", "squares")
    options = (RATE, DELTA, *ClassWeights.options)

    def _begin(self) -> None:
        self._rate = self._options["rate"]
        self._delta = self._options["delta"]
        ClassWeights._begin(self)

    def _take_class_room(self, room: int) -> None:
        slopes, amounts, sums = (view(np.zeros(room)) for _ in range(3))
        ClassWeights._take_class_room(self, room)
        self._slopes = slopes
        self._amounts = amounts
        self._sums = sums

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        k: cython.Py_ssize_t
        c: cython.Py_ssize_t
        at: cython.Py_ssize_t
        squares: cython.Py_ssize_t
        code: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, y)
        count: cython.Py_ssize_t = self._n_classes
        value: cython.double
        total: cython.double
        if code >= count:
            # A class that begins has the score 0.
            self._totals[code] = 0.0
            count = code + 1
        if not self.slopes(code, count):
            return False
        for k in range(self._length):
            value = self._values[self._first + k]
            at = self._columns[self._offset + k] * self._stride
            squares = at + self._class_room
            for c in range(count):
                total = self._slopes[c] * value
                self._amounts[c] = total
                self._weights[squares + c] += total * total
                self._sums[c] = self._delta + self._weights[squares + c]
            for c in range(count):
                # Every root and quotient is taken, and none is of 0: so the loop has no branch.
                total = self._sums[c]
                self._amounts[c] = self._rate * self._amounts[c] / sqrt(total if total > 0 else 1.0)
            for c in range(count):
                self._weights[at + c] -= self._amounts[c]
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def slopes(self, y: cython.Py_ssize_t, count: cython.Py_ssize_t) -> cython.bint:
        """The derivatives of the log loss by the scores of so many classes; whether one of them is not 0."""
        c: cython.Py_ssize_t
        largest: cython.double = self._totals[0]
        others: cython.double = 0.0
        total: cython.double
        for c in range(1, count):
            largest = max(largest, self._totals[c])
        for c in range(count):
            self._slopes[c] = exp(self._totals[c] - largest)
            if c != y:
                others += self._slopes[c]
        total = others + self._slopes[y]
        for c in range(count):
            self._slopes[c] /= total
        # 1 - p_y as the sum of the others: no digits are lost where p_y is nearly 1.
        self._slopes[y] = -(others / total)
        return others > 0

    def _check_state(self, state: Any) -> None:
        ClassWeights._check_state(self, state)
        if state["squares"].min(initial=0.0) < 0:
            raise invalid("squares", "sums of squares, none below 0", state["squares"])


class SoftmaxAdaGrad(MulticlassLearner):
    """Softmax regression with adaptive rates: a learner of many labels that gives probabilities.

    rate       the length of the first step of a feature and class
    delta      what the sums of squared gradients start at
    intercept  whether every example has a further feature of value 1
    labels     the labels that may come, two or more; each has its probability from the start. If not given, any label
               may come, and a class begins with its first example, in which it cannot be predicted. Before the first,
               None is predicted.
    """

    theorems = (SoftmaxBound(), SoftmaxMistakes(SoftmaxBound()))
    checker = "softmax"
    options: tuple[Option, ...] = (RATE, DELTA, INTERCEPT, MANY_LABELS)
    _kind_of_engine = _SoftmaxWeights

    @property
    def gives_probabilities(self) -> bool:
        """Always."""
        return True

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of every class. Nothing changes."""
        scores = self.score_one(x)
        return dict(zip(scores, softmax(np.array([list(scores.values())]))[0].tolist(), strict=True))

    def predict_proba_many(self, X: Any) -> npt.NDArray[np.float64]:
        """``predict_proba_one`` for every row of X: an array with a column for each of ``classes``."""
        found: npt.NDArray[np.float64] = softmax(self.score_many(X))
        return found

    @property
    def _converges_without(self) -> str:
        return "mistakes"

    def _descent(self) -> Descent:
        return Descent(DescentKind.ADAPTIVE, "logistic", self._options["rate"], delta=self._options["delta"])
