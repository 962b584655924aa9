"""NormalizedAdaGrad for real targets: features and targets may be in any units.

Setting     x_t in R^n, a real target y_t; predict p_t = w_t . x_t; a convex loss l(p, y): square, absolute, pinball(q)
            or huber(d), as in `SGDRegressor`.
Update      that of `NormalizedAdaGrad`, with steps measured in Y, the size of the largest target so far (this one
            included): w_i <- w_i - rate Y sqrt(t / N) g_{t,i} / (s_i sqrt(G_i)).
            To multiply a feature by any number changes no prediction. To multiply all targets by a number multiplies
            all predictions by it, but for the Huber loss, whose d is in the units of the targets.
Guarantee   none that we know of.
Assumes     nothing about where the examples come from.
Defaults    rate = 0.25: rates from 0.15 to 0.5 do about as well. Y is the largest target, not the largest error: where
            steps are measured in errors, too long a step makes the next one longer.
Source      Ross, Mineiro & Langford 2013, algorithm NAG, for the features; the unit of the targets is ours.

>>> learner, other = NormalizedAdaGradRegressor(), NormalizedAdaGradRegressor()
>>> for metres, kilograms in ((1.0, 20.0), (3.0, 31.0), (2.0, 26.0), (0.5, 17.0)):
...     same = learner.learn_one([metres], kilograms), other.learn_one([1024 * metres], 0.5 * kilograms)
>>> learner.predict_one([2.5]) == 2 * other.predict_one([1024 * 2.5]), round(learner.rmse, 2)
(True, 16.99)
"""

from __future__ import annotations

from typing import Any

from afterwit.core.declared import Option, not_negative
from afterwit.data.checks import positive_number
from afterwit.linear._regressor import INTERCEPT, LOSS, LinearRegressor, with_labels
from afterwit.linear.normalized_adagrad import NormalizedAdaGrad

OPTIONS = (Option("rate", 0.25, positive_number), LOSS, INTERCEPT)


class _Weights(NormalizedAdaGrad):
    """The weights and the update of `NormalizedAdaGrad`, and the unit Y of the targets."""

    _called = "NormalizedAdaGradRegressor"
    options = with_labels(OPTIONS)
    kept: Any = (*NormalizedAdaGrad.kept, not_negative("unit"))


class NormalizedAdaGradRegressor(LinearRegressor):
    """AdaGrad for features and real targets in any units.

    rate       the length of a first step, for features and targets that are divided by their largest value
    loss       "square", "absolute", "pinball(q)" with a quantile q, or "huber(d)"
    intercept  whether every example has a further feature of value 1
    """

    no_theorem_because = (
        "no bound on its loss is known to us. ScaleFreeRegressor, for features and targets in any units too, has one"
    )
    options = OPTIONS
    _learns_by = _Weights
