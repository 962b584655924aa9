"""AdaGrad for real targets: gradient descent with a rate of its own for every feature.

Setting     x_t in R^n, a real target y_t; predict p_t = w_t . x_t; a convex loss l(p, y): square, absolute, pinball(q)
            or huber(d), as in `SGDRegressor`.
Update      that of `AdaGrad`: g_t = l'(p_t, y_t) x_t, G_i = sum_t g_{t,i}^2 (this round included),
            w_i <- w_i - rate g_{t,i} / sqrt(delta + G_i), then into [-box, box] if there is a box. From w_1 = 0.
Guarantee   against every u (in the box) and on any sequence: the total loss is at most that of u plus
            sum_i D_i^2 sqrt(delta + G_i) / (2 rate) + rate sum_i sqrt(G_i), where D_i = max_t |w_{t,i} - u_i|, which is
            at most 2 box.
Assumes     nothing about where the examples come from. The first step of a weight has length ``rate``, whatever the
            target: the rate should be about as large as a good weight. For features and targets in any units there are
            `NormalizedAdaGradRegressor` and `ScaleFreeRegressor`.
Source      Duchi, Hazan & Singer 2011, Theorem 5; it needs nothing of the loss but that it is convex.

>>> learner = AdaGradRegressor(rate=0.5, delta=0, intercept=False)
>>> learner.learn_one({"often": 1.0}, 2.0), learner.weights
(0.0, {'often': 0.5})
>>> learner.learn_one({"often": 1.0, "rare": 0.1}, 2.0), learner.weights  # the first step of a feature has length rate
(0.5, {'often': 0.8, 'rare': 0.5})
"""

from __future__ import annotations

from afterwit.core.declared import Option
from afterwit.data.checks import optional, positive_number, zero_or_positive
from afterwit.linear._regressor import INTERCEPT, LOSS, LinearRegressor, with_labels
from afterwit.linear._regret import AdaptiveBound, BoxBound
from afterwit.linear.adagrad import AdaGrad

OPTIONS = (
    LOSS,
    Option("rate", 0.15, positive_number),
    Option("delta", 1e-6, zero_or_positive),
    Option("box", None, optional(positive_number)),
    INTERCEPT,
)


class _Weights(AdaGrad):
    """The weights and the update of `AdaGrad`."""

    _called = "AdaGradRegressor"
    options = with_labels(OPTIONS)


class AdaGradRegressor(LinearRegressor):
    """Gradient descent with adaptive rates, diagonal, for real targets.

    loss       "square", "absolute", "pinball(q)" with a quantile q, or "huber(d)"
    rate       the length of a feature's first step
    delta      what the sums of squared gradients start at
    box        the largest size of a weight; None for no limit
    intercept  whether every example has a further feature of value 1
    """

    theorems = (BoxBound(), AdaptiveBound())
    options = OPTIONS
    _learns_by = _Weights
