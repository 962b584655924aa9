"""d"""
from __future__ import annotations

from typing import Any

from afterwit.core.declared import Option
from afterwit.data.checks import one_of, optional, positive_number
from afterwit.linear._regressor import INTERCEPT, LOSS, LinearRegressor, with_labels
from afterwit.linear.sgd import SCHEDULES, SGD

OPTIONS = (
        LOSS,
        Option("rate", 0.01, positive_number),
        Option("schedule", "constant", one_of(SCHEDULES)),
        Option("ball", None, optional(positive_number)),
        INTERCEPT,
)

class _Weights(SGD):
    _called = "SGDRegressor"
    options = with_labels(OPTIONS)

class SGDRegressor(LinearRegressor):
    """d"""
    options = OPTIONS
    _learns_by = _Weights
