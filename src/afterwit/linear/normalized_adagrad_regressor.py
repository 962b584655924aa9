"""d"""
from __future__ import annotations

from afterwit.core.declared import Option, not_negative
from afterwit.data.checks import one_of, optional, positive_number, zero_or_positive
from afterwit.linear._regressor import INTERCEPT, LOSS, LinearRegressor, with_labels
from afterwit.linear.normalized_adagrad import NormalizedAdaGrad

OPTIONS = (
        Option("rate", 0.5, positive_number),
        LOSS,
        INTERCEPT,
)

class _Weights(NormalizedAdaGrad):
    _called = "NormalizedAdaGradRegressor"
    options = with_labels(OPTIONS)
    kept = (*NormalizedAdaGrad.kept, not_negative("unit"))

class NormalizedAdaGradRegressor(LinearRegressor):
    """d"""
    options = OPTIONS
    no_theorem_because = "none"
    _learns_by = _Weights
