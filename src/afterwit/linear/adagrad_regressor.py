"""d"""
from __future__ import annotations

from afterwit.core.declared import Option
from afterwit.data.checks import one_of, optional, positive_number, zero_or_positive
from afterwit.linear._regressor import INTERCEPT, LOSS, LinearRegressor, with_labels
from afterwit.linear.adagrad import AdaGrad

OPTIONS = (
        LOSS,
        Option("rate", 0.15, positive_number),
        Option("delta", 1e-6, zero_or_positive),
        Option("box", None, optional(positive_number)),
        INTERCEPT,
)

class _Weights(AdaGrad):
    _called = "AdaGradRegressor"
    options = with_labels(OPTIONS)

class AdaGradRegressor(LinearRegressor):
    """d"""
    options = OPTIONS
    _learns_by = _Weights
