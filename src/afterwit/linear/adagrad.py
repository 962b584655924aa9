# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""AdaGrad: gradient descent with a rate of its own for every feature, the slower the more it has moved.

Setting     x_t in R^n, y_t in {-1, +1}; predict sgn(w_t . x_t), sgn(0) = +1; a convex loss l(s, y) of the score s.
Update      g_t = l'(w_t . x_t, y_t) x_t, G_i = sum_t g_{t,i}^2 (this round included),
            w_i <- w_i - rate g_{t,i} / sqrt(delta + G_i), then into [-box, box] if there is a box. From w_1 = 0.
            Rare features take long steps, frequent ones short steps; nothing needs tuning by hand.
Guarantee   against every u (in the box) and on any sequence: the total loss is at most that of u plus
            sum_i D_i^2 sqrt(delta + G_i) / (2 rate) + rate sum_i sqrt(G_i), where D_i = max_t |w_{t,i} - u_i|, which is
            at most 2 box.
Assumes     nothing about where the examples come from.
Defaults    rate = 0.15: rates from 0.07 to 0.38 do about as well. delta = 1e-6 keeps an example that is right beyond
            doubt, whose gradient is next to nothing, from moving new features by a whole step.
Source      Duchi, Hazan & Singer 2011, Theorem 5 (the composite mirror descent update, diagonal matrices).

>>> learner = AdaGrad(loss="hinge", rate=0.5, delta=0, intercept=False)
>>> learner.learn_one({"often": 1.0}, 1), learner.weights
(1, {'often': 0.5})
>>> learner.learn_one({"often": 1.0, "rare": 0.1}, 1), learner.weights  # the first step of a feature has length rate
(1, {'often': 0.8535533905932737, 'rare': 0.5})
"""

from __future__ import annotations

from typing import Any

import cython

from afterwit.core.declared import Option
from afterwit.data.checks import one_of, optional, positive_number, zero_or_positive
from afterwit.data.margin_losses import LOSSES
from afterwit.errors import invalid
from afterwit.linear._engine import PRACTICAL
from afterwit.linear._regret import AdaptiveBound, BoxBound, Descent, DescentKind, with_mistakes

if cython.compiled:
    from cython.cimports.afterwit.linear._losses import slope
    from cython.cimports.afterwit.linear._paired import PairedLearner
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from afterwit.linear._losses import slope
    from afterwit.linear._paired import PairedLearner


@cython.cclass
class AdaGrad(PairedLearner):
    """Gradient descent with adaptive rates, diagonal.

    loss       "perceptron", "hinge", "logistic" or "squared"
    rate       the length of a feature's first step
    delta      what the sums of squared gradients start at
    box        the largest size of a weight; None for no limit
    intercept  whether every example has a further feature of value 1
    labels     the negative and the positive label
    """

    _rate: cython.double
    _delta: cython.double
    _box: cython.double

    theorems = with_mistakes(BoxBound(), AdaptiveBound())
    converges_without = "mistakes"
    _stored = ("weights", "squares")
    checker = "descent"

    options = (
        Option("loss", "logistic", one_of(LOSSES, "to predict numbers, use AdaGradRegressor")),
        Option("rate", 0.15, positive_number),
        Option("delta", 1e-6, zero_or_positive),
        Option("box", None, optional(positive_number)),
        *PRACTICAL,
    )

    def _begin(self) -> None:
        self._rate = self._options["rate"]
        self._delta = self._options["delta"]
        self._box = self._options["box"] or 0.0
        PairedLearner._begin(self)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        k: cython.Py_ssize_t
        count: cython.Py_ssize_t
        begin: cython.Py_ssize_t = 0
        total: cython.double
        gradient: cython.double
        moves: cython.bint
        derivative: cython.double = slope(self._loss, self._parameter, y, score)
        if derivative == 0:
            return False
        while begin < self._length:
            count = self.add_squares(derivative, begin)
            for k in range(count):
                # Every root and quotient is taken, and none is of 0: so the loop has no branch.
                total = self._delta + self._totals[k]
                moves = total > 0
                gradient = self._amounts[k] if moves else 0.0
                self._amounts[k] = self._rate * gradient / sqrt(total if moves else 1.0)
            self.subtract_amounts(begin, count, self._box)
            begin += count
        return True

    def _check_state(self, state: Any) -> None:
        PairedLearner._check_state(self, state)
        if state["squares"].min(initial=0.0) < 0:
            raise invalid("squares", "sums of squares, none below 0", state["squares"])

    def _descent(self) -> Descent:
        return Descent(
            DescentKind.ADAPTIVE,
            self._options["loss"],
            self._rate,
            delta=self._delta,
            box=self._options["box"],
        )
