# cython: cdivision=True
"""The slopes of convex losses of a score, compiled, for learners. `afterwit.data.margin_losses` defines the losses."""

from __future__ import annotations

import cython

from afterwit.data.margin_losses import LOSSES

if cython.compiled:
    from cython.cimports.libc.math import exp
else:
    from math import exp

#: The places of the losses in `LOSSES`, by which compiled code knows them.
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
