"""Stochastic gradient descent for real targets: step against the gradient of the loss on the example at hand.

Setting     x_t in R^n, a real target y_t; predict p_t = w_t . x_t; a convex loss l(p, y).
Update      w_{t+1} = P(w_t - lambda_t l'(p_t, y_t) x_t), from w_1 = 0, as in `SGD`. Losses:
            square      (p - y)^2                         slope 2 (p - y)
            absolute    |p - y|                           slope -1, 0 or 1
            pinball(q)  q (y - p) if p < y, else (1 - q) (p - y): predicts the q-quantile
            huber(d)    (p - y)^2 / 2 if |p - y| <= d, else d (|p - y| - d/2): large errors pull no more than d
Guarantee   against every u (in the ball) and on any sequence: the total loss is at most that of u plus
            |u|^2/(2 rate) + rate/2 sum |g_t|^2             at a constant rate,
            D^2/(2 lambda_T) + 1/2 sum lambda_t |g_t|^2      on a ball of diameter D, where g_t are the gradients.
Assumes     nothing about where the examples come from. With the square loss a rate above 1/|x|^2 diverges: features
            should have values around 1. For features and targets in any units there are `NormalizedAdaGradRegressor`
            and `ScaleFreeRegressor`.
Source      Zinkevich 2003, Theorem 1; it needs nothing of the loss but that it is convex.

>>> learner = SGDRegressor(rate=0.25, intercept=False)
>>> learner.learn_one([1.0, 2.0], 3.0), learner.weights.tolist()  # slope 2 (0 - 3)
(0.0, [1.5, 3.0])
>>> learner.predict_one([1.0, 0.0]), learner.loss, learner.rmse
(1.5, 9.0, 3.0)
"""

from __future__ import annotations

from afterwit.core.declared import Option
from afterwit.data.checks import one_of, optional, positive_number
from afterwit.linear._late_regret import LateBallBound, LateGradientBound, LateObservedBound
from afterwit.linear._regressor import INTERCEPT, LOSS, LinearRegressor, with_labels
from afterwit.linear._regret import BallBound, LargestGradientBound, ObservedBallBound, ObservedGradientsBound
from afterwit.linear.sgd import SCHEDULES, SGD

OPTIONS = (
    LOSS,
    Option("rate", 0.01, positive_number),
    Option("schedule", "constant", one_of(SCHEDULES)),
    Option("ball", None, optional(positive_number)),
    INTERCEPT,
)


class _Weights(SGD):
    """The weights and the update of `SGD`."""

    _called = "SGDRegressor"
    options = with_labels(OPTIONS)


class SGDRegressor(LinearRegressor):
    """Stochastic gradient descent for real targets.

    loss       "square", "absolute", "pinball(q)" with a quantile q, or "huber(d)"
    rate       the length of a step for a gradient of length 1
    schedule   "constant", or "1/sqrt(t)" for steps that become shorter
    ball       the largest length of the weights; None for no limit
    intercept  whether every example has a further feature of value 1
    """

    theorems = (
        LargestGradientBound(),
        BallBound(),
        ObservedGradientsBound(),
        ObservedBallBound(),
        LateGradientBound(),
        LateObservedBound(),
        LateBallBound(),
    )
    late = "served"
    options = OPTIONS
    _learns_by = _Weights
