"""Convex losses of a score s = w . x under a label y, and their slopes, over arrays.

    perceptron   max(0, -y s)            slope -y where y s <= 0: at 0 the sign counts as wrong, just barely
    hinge        max(0, 1 - y s)         slope -y where y s < 1
    logistic     ln(1 + exp(-y s))       slope -y / (1 + exp(y s))
    squared      (s - y)^2 / 2           slope s - y

The gradient by w is the slope times x. Learners have a compiled slope of their own, in `afterwit.linear`; these
functions are written apart from it, for the code that checks learners.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

LOSSES = ("perceptron", "hinge", "logistic", "squared")
#: Those whose slopes are from -1 to 1.
SLOPES_UP_TO_1 = ("perceptron", "hinge", "logistic")
#: The least that a wrong sign costs, where it is more than 0: that of a score of 0.
COST_OF_A_WRONG_SIGN = {"hinge": 1.0, "logistic": math.log(2), "squared": 0.5}


def losses(loss: str, signs: Any, scores: Any) -> Any:
    """The losses of many scores."""
    margins = signs * scores
    if loss == "perceptron":
        return np.maximum(0.0, -margins)
    if loss == "hinge":
        return np.maximum(0.0, 1.0 - margins)
    if loss == "logistic":
        return np.logaddexp(0.0, -margins)
    return (scores - signs) ** 2 / 2


def slopes(loss: str, signs: Any, scores: Any) -> Any:
    """The derivatives of many losses by their scores."""
    from scipy.special import expit

    margins = signs * scores
    if loss == "perceptron":
        return np.where(margins <= 0, -signs, 0.0)
    if loss == "hinge":
        return np.where(margins < 1, -signs, 0.0)
    if loss == "logistic":
        return -signs * expit(-margins)
    return scores - signs
