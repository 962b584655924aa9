# cython: cdivision=True
"""Convex losses of a score s = w . x under a label y, and their slopes.

    perceptron   max(0, -y s)            slope -y where y s <= 0: at 0 the sign counts as wrong, just barely
    hinge        max(0, 1 - y s)         slope -y where y s < 1
    logistic     ln(1 + exp(-y s))       slope -y / (1 + exp(y s))
    squared      (s - y)^2 / 2           slope s - y

The gradient by w is the slope times x. The compiled ``slope`` is for learners; ``losses`` and ``slopes``, over arrays,
are written apart from it, for those who check them.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.libc.math import exp
else:
    from math import exp

LOSSES = ("perceptron", "hinge", "logistic", "squared")
#: Their places there, by which compiled code knows them.
PERCEPTRON = cython.declare(cython.int, LOSSES.index("perceptron"))
HINGE = cython.declare(cython.int, LOSSES.index("hinge"))
LOGISTIC = cython.declare(cython.int, LOSSES.index("logistic"))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def slope(loss: cython.int, y: cython.int, score: cython.double) -> cython.double:
    """The derivative of the loss by the score."""
    margin: cython.double = y * score
    small: cython.double
    if loss == PERCEPTRON:
        return -y if margin <= 0 else 0.0
    if loss == HINGE:
        return -y if margin < 1 else 0.0
    if loss == LOGISTIC:
        if margin < 0:
            return -y / (1.0 + exp(margin))
        small = exp(-margin)
        return -y * small / (1.0 + small)
    return score - y


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
