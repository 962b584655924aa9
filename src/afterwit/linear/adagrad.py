# cython: boundscheck=False, wraparound=False, cdivision=True
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

>>> learner = AdaGrad(loss="hinge", rate=0.5, delta=0)
>>> learner.learn_one({"often": 1.0}, 1), learner.weights
(1, {'often': 0.5})
>>> learner.learn_one({"often": 1.0, "rare": 0.1}, 1), learner.weights  # the first step of a feature has length rate
(1, {'often': 0.8535533905932737, 'rare': 0.5})
"""

from __future__ import annotations

from typing import Any

import cython

from afterwit.data.values import signature
from afterwit.errors import positive_number
from afterwit.linear._losses import LOSSES, loss_number
from afterwit.linear._regret import AdaptiveBound, BoxBound, Descent

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

    _loss: cython.int
    _rate: cython.double
    _delta: cython.double
    _box: cython.double

    theorems = (BoxBound(), AdaptiveBound())
    converges_without = "mistakes"
    _companion_name = "squares"
    _checker = "descent"

    __signature__ = signature(loss="logistic", rate=0.15, delta=1e-6, box=None, intercept=False, labels=(-1, 1))

    def __init__(
        self,
        loss: Any = "logistic",
        rate: Any = 0.15,
        delta: Any = 1e-6,
        box: Any = None,
        intercept: Any = False,
        labels: Any = (-1, 1),
    ) -> None:
        self._loss = loss_number(loss)
        self._rate = positive_number("rate", rate)
        self._delta = 0.0 if type(delta) in (int, float) and delta == 0 else positive_number("delta", delta)
        self._box = 0.0 if box is None else positive_number("box", box)
        PairedLearner.__init__(self, labels, intercept)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.int, score: cython.double) -> cython.bint:
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        gradient: cython.double
        total: cython.double
        weight: cython.double
        derivative: cython.double = slope(self._loss, y, score)
        if derivative == 0:
            return False
        for k in range(self._length):
            column = k if self._dense else self._columns[self._offset + k]
            gradient = derivative * self._values[self._first + k]
            total = self._weights[2 * column + 1] + gradient * gradient
            self._weights[2 * column + 1] = total
            total += self._delta
            if total > 0:
                weight = self._weights[2 * column] - self._rate * gradient / sqrt(total)
                if self._box > 0:
                    weight = min(max(weight, -self._box), self._box)
                self._weights[2 * column] = weight
        return True

    def _descent(self) -> Descent:
        return Descent(
            loss=LOSSES[self._loss],
            rate=self._rate,
            adaptive=True,
            delta=self._delta,
            box=self._box if self._box > 0 else None,
        )

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "loss": LOSSES[self._loss],
            "rate": self._rate,
            "delta": self._delta,
            "box": self._box if self._box > 0 else None,
            **PairedLearner.parameters.__get__(self),
        }
