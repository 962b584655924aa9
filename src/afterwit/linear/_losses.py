# cython: cdivision=True
"""Convex losses of a score and their slopes, compiled, for learners.

Those of a sign are defined in `afterwit.data.margin_losses`, those of a real target in `afterwit.data.losses`.
"""

from __future__ import annotations

import cython

from afterwit.data import losses
from afterwit.data.margin_losses import LOSSES

if cython.compiled:
    from cython.cimports.libc.math import exp, fabs
else:
    from math import exp, fabs

#: What compiled code knows the losses by: their places in `LOSSES`, and after them those of real targets.
PERCEPTRON = cython.declare(cython.int, LOSSES.index("perceptron"))
HINGE = cython.declare(cython.int, LOSSES.index("hinge"))
LOGISTIC = cython.declare(cython.int, LOSSES.index("logistic"))
SQUARED = cython.declare(cython.int, LOSSES.index("squared"))
SQUARE = cython.declare(cython.int, len(LOSSES) + losses.OF_TARGETS.index("square"))
ABSOLUTE = cython.declare(cython.int, len(LOSSES) + losses.OF_TARGETS.index("absolute"))
PINBALL = cython.declare(cython.int, len(LOSSES) + losses.OF_TARGETS.index("pinball"))


def code_of(name: str) -> tuple[int, float]:
    """What compiled code knows a loss by: its number, and the quantile or delta that it may have."""
    if name in LOSSES:
        return LOSSES.index(name), 0.0
    loss = losses.get(name)
    return len(LOSSES) + losses.OF_TARGETS.index(loss.kind), loss.delta if loss.kind == "huber" else loss.quantile


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def slope(loss: cython.int, parameter: cython.double, y: cython.double, score: cython.double) -> cython.double:
    """The derivative of the loss by the score."""
    margin: cython.double = y * score
    small: cython.double
    error: cython.double = score - y
    if loss == PERCEPTRON:
        return -y if margin <= 0 else 0.0
    if loss == HINGE:
        return -y if margin < 1 else 0.0
    if loss == LOGISTIC:
        if margin < 0:
            return -y / (1.0 + exp(margin))
        small = exp(-margin)
        return -y * small / (1.0 + small)
    if loss == SQUARED:
        return error
    if loss == SQUARE:
        return 2.0 * error
    if loss == ABSOLUTE:
        return -1.0 if error < 0 else 1.0 if error > 0 else 0.0
    if loss == PINBALL:
        return -parameter if error < 0 else 1.0 - parameter if error > 0 else 0.0
    return min(max(error, -parameter), parameter)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def loss_of_error(loss: cython.int, parameter: cython.double, error: cython.double) -> cython.double:
    """The loss of a prediction, which is its target plus the error."""
    size: cython.double = fabs(error)
    if loss == SQUARE:
        return error * error
    if loss == ABSOLUTE:
        return size
    if loss == PINBALL:
        return parameter * size if error < 0 else (1.0 - parameter) * size
    return size * size / 2.0 if size <= parameter else parameter * (size - parameter / 2.0)
