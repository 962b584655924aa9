"""d"""
from __future__ import annotations

from afterwit.core.declared import Option, not_negative
from afterwit.data.checks import one_of, optional, positive_number, zero_or_positive
from afterwit.linear._regressor import INTERCEPT, LOSS, LinearRegressor, with_labels
from afterwit.linear.scale_free import ScaleFree

OPTIONS = (
        Option("epsilon", 1.0, positive_number),
        LOSS,
        INTERCEPT,
)

class _Bets(ScaleFree):
    _called = "ScaleFreeRegressor"
    options = with_labels(OPTIONS)
    kept = (not_negative("steepest"), not_negative("unit"))

class ScaleFreeRegressor(LinearRegressor):
    """d"""
    options = OPTIONS
    _learns_by = _Bets
