"""The on-line support vector machine: shrink in every round, add the example where its margin is below 1.

Setting     x_t in R^n, y_t in {-1, +1}; predict sgn(w_t . x_t), sgn(0) = +1.
Update      if y_t (w_t . x_t) < 1:  w_{t+1} = w_t - eta (w_t - C y_t x_t)
            if y_t (w_t . x_t) > 1:  w_{t+1} = w_t - eta w_t;   if it is 1: w_{t+1} = w_t.   From w_1 = 0.
            These are stochastic subgradient steps on F_t(w) = |w|^2/2 + C max(0, 1 - y_t (w . x_t)).
Guarantee   for every u, the sum of F_t(w_t) is at most the sum of F_t(u) + |u|^2/(2 eta) + eta/2 times the sum of the
            squared lengths of the subgradients, each of which is at most 2 C R.
Assumes     |x_t| <= R. Nothing about where the examples come from.
Cost        O(non-zeros): the weights are kept as a scale times a vector, and only the scale shrinks.
Source      Mohri, Rostamizadeh & Talwalkar 2018, Figure 8.11 and Exercise 8.5; Zinkevich 2003.

>>> learner = OnlineSVM(C=1.0, rate=0.5)
>>> learner.learn_one([2.0, 0.0], 1), learner.weights.tolist()
(1, [1.0, 0.0])
>>> learner.learn_one([1.0, 1.0], 1), learner.weights.tolist()  # its margin is exactly 1: nothing changes
(1, [1.0, 0.0])
>>> learner.learn_one([2.0, 4.0], 1), learner.weights.tolist()  # above 1: shrink
(1, [0.5, 0.0])
"""

from __future__ import annotations

from typing import Any

import cython

from afterwit.core.declared import Option
from afterwit.data.checks import positive_number, share
from afterwit.linear._engine import SHARED
from afterwit.linear._late_regret import LateGradientBound, LateObservedBound
from afterwit.linear._regret import Descent, DescentKind, LargestGradientBound, ObservedGradientsBound, with_mistakes

if cython.compiled:
    from cython.cimports.afterwit.linear._scaled import ScaledLearner
else:
    from afterwit.linear._scaled import ScaledLearner


def _checked_rate(parameter: str, value: Any) -> float:
    positive_number(parameter, value)
    return share(parameter, value)


@cython.cclass
class OnlineSVM(ScaledLearner):
    """The on-line support vector machine of Figure 8.11.

    C          how much a margin below 1 costs, against the length of the weights
    rate       eta, the share of the weights that is lost in every round; below 1
    intercept  whether every example has a further feature of value 1
    labels     the negative and the positive label
    """

    _C: cython.double
    _rate: cython.double

    theorems = with_mistakes(LargestGradientBound(), ObservedGradientsBound(), LateGradientBound(), LateObservedBound())
    converges_without = "mistakes"
    late = "served"
    checker = "descent"

    options = (Option("C", 100.0, positive_number), Option("rate", 1e-4, _checked_rate), *SHARED)

    def _begin(self) -> None:
        self._C = self._options["C"]
        self._rate = self._options["rate"]
        ScaledLearner._begin(self)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        if y * score == 1:
            return False
        self.shrink(1.0 - self._rate)
        if y * score < 1:
            self.step(self._rate * self._C * y)
        return True

    def _descent(self) -> Descent:
        return Descent(DescentKind.RIDGE, "hinge", self._rate, factor=self._C)
