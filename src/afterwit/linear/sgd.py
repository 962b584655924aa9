# cython: boundscheck=False, wraparound=False, cdivision=True
"""Stochastic gradient descent: step against the gradient of the loss on the example at hand.

Setting     x_t in R^n, y_t in {-1, +1}; predict sgn(w_t . x_t), sgn(0) = +1; a convex loss l(s, y) of the score s.
Update      w_{t+1} = P(w_t - lambda_t l'(w_t . x_t, y_t) x_t), from w_1 = 0, with lambda_t = rate or rate/sqrt(t), and
            P the nearest point of the ball |w| <= ball, if there is one. Losses:
            perceptron  max(0, -y s)     with rate 1 the perceptron, but that at s = 0 it always updates
            hinge       max(0, 1 - y s)  the "margin perceptron" of Blum et al.
            logistic    ln(1 + exp(-y s))
            squared     (s - y)^2 / 2
Guarantee   against every u (in the ball) and on any sequence: the total loss is at most that of u plus
            |u|^2/(2 rate) + rate/2 sum |g_t|^2             at a constant rate,
            D^2/(2 lambda_T) + 1/2 sum lambda_t |g_t|^2      on a ball of diameter D, where g_t are the gradients.
            With labels that come late, what was learned in between costs more (`_late_regret`).
Assumes     nothing about where the examples come from.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.3.2; Zinkevich 2003, Theorem 1.

>>> learner = SGD(loss="hinge", rate=0.5, intercept=False)
>>> learner.learn_one([1.0, 2.0], 1), learner.weights.tolist()
(1, [0.5, 1.0])
>>> learner.learn_one([1.0, 1.0], 1), learner.updates  # the margin is 1.5: no loss, no step
(1, 1)
"""

from __future__ import annotations

from typing import Any

import cython

from afterwit.core.declared import Number, Option
from afterwit.data.checks import one_of, optional, positive_number
from afterwit.data.margin_losses import LOSSES
from afterwit.linear._engine import PRACTICAL
from afterwit.linear._late_regret import LateBallBound, LateGradientBound, LateObservedBound
from afterwit.linear._regret import (
    BallBound,
    Descent,
    DescentKind,
    LargestGradientBound,
    ObservedBallBound,
    ObservedGradientsBound,
    with_mistakes,
)
from afterwit.linear._stops import Stop
from afterwit.linear._weights import check_square

if cython.compiled:
    from cython.cimports.afterwit.linear._losses import slope
    from cython.cimports.afterwit.linear._scaled import ScaledLearner
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from afterwit.linear._losses import slope
    from afterwit.linear._scaled import ScaledLearner

DIVERGED = cython.declare(cython.int, Stop.DIVERGED)
SCHEDULES = ("constant", "1/sqrt(t)")


@cython.cclass
class SGD(ScaledLearner):
    """Stochastic gradient descent with a loss, a rate and, if wanted, a ball that the weights do not leave.

    loss       "perceptron", "hinge", "logistic" or "squared"
    rate       the length of a step for a gradient of length 1
    schedule   "constant", or "1/sqrt(t)" for steps that become shorter
    ball       the largest length of the weights; None for no limit
    intercept  whether every example has a further feature of value 1
    labels     the negative and the positive label
    """

    _rate: cython.double
    _decreasing: cython.bint
    _ball: cython.double
    _square = cython.declare(cython.double, visibility="public")

    theorems = with_mistakes(
        LargestGradientBound(),
        BallBound(),
        ObservedGradientsBound(),
        ObservedBallBound(),
        LateGradientBound(),
        LateObservedBound(),
        LateBallBound(),
    )
    converges_without = "mistakes"
    late = "served"
    checker = "descent"

    options = (
        Option("loss", "logistic", one_of(LOSSES, "to predict numbers, use SGDRegressor")),
        Option("rate", 0.03, positive_number),
        Option("schedule", "constant", one_of(SCHEDULES)),
        Option("ball", None, optional(positive_number)),
        *PRACTICAL,
    )
    kept = (*ScaledLearner.kept, Number("square"))

    def _begin(self) -> None:
        self._rate = self._options["rate"]
        self._decreasing = self._options["schedule"] != "constant"
        self._ball = self._options["ball"] or 0.0
        self._square = 0.0
        ScaledLearner._begin(self)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        derivative: cython.double = slope(self._loss, self._parameter, y, score)
        if derivative == 0:
            return False
        rate: cython.double = self._rate / sqrt(self._rounds) if self._decreasing else self._rate
        if self._ball == 0:
            self.add(-rate * derivative)
            return True
        self.step(-rate * derivative)
        if self._stopped:
            return False
        self.project()
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def step(self, amount: cython.double) -> cython.void:
        """Add to the weights and follow their squared length; not if it would overflow."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        before: cython.double
        after: cython.double
        total: cython.double = 0.0
        for k in range(self._length):
            column = self._columns[self._offset + k]
            before = self._weights[column]
            after = before + amount / self._scale * self._values[self._first + k]
            self._overwritten[k] = before
            self._weights[column] = after
            total += (after - before) * (after + before)
        total = self._square + self._scale * self._scale * total
        if total - total != 0:  # infinite or not a number, as it is if a weight is
            for k in range(self._length - 1, -1, -1):
                self._weights[self._columns[self._offset + k]] = self._overwritten[k]
            self._stopped = DIVERGED
            return
        self._square = total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def project(self) -> cython.void:
        """Go to the nearest point of the ball."""
        factor: cython.double
        if self._square > self._ball * self._ball:
            factor = self._ball / sqrt(self._square)
            self._square = self._ball * self._ball
            self.shrink(factor)

    def _check_state(self, state: Any) -> None:
        ScaledLearner._check_state(self, state)
        if self._ball:
            check_square(state["square"], state["scale"] * state["weights"], self._ball * self._ball)

    def _descent(self) -> Descent:
        return Descent(
            DescentKind.PLAIN if self._options["ball"] is None else DescentKind.PROJECTED,
            self._options["loss"],
            self._rate,
            decreasing=self._decreasing,
            ball=self._options["ball"],
        )
