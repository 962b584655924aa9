# cython: cdivision=True
"""Convex losses of a score and their slopes, compiled, for learners.

Those of a sign are defined in `afterwit.data.margin_losses`, those of a real target in `afterwit.data.losses`.

Invariant steps are those of Karampatziakis & Langford 2011: as far as many small steps would go, with the slope taken
anew before each. The score s follows s' = -l'(s) from time 0 to h, which has a closed form for the hinge and the
squared loss; for the logistic loss the margin m becomes m + d, where d + exp(m) (exp(d) - 1) = h.
"""

from __future__ import annotations

import cython

from afterwit.data import losses
from afterwit.data.margin_losses import LOSSES

if cython.compiled:
    from cython.cimports.libc.math import exp, expm1, fabs, log1p
else:
    from math import exp, expm1, fabs, log1p

#: What compiled code knows the losses by: their places in `LOSSES`, and after them those of real targets.
PERCEPTRON = cython.declare(cython.int, LOSSES.index("perceptron"))
HINGE = cython.declare(cython.int, LOSSES.index("hinge"))
LOGISTIC = cython.declare(cython.int, LOSSES.index("logistic"))
SQUARED = cython.declare(cython.int, LOSSES.index("squared"))
SQUARE = cython.declare(cython.int, len(LOSSES) + losses.OF_TARGETS.index("square"))
ABSOLUTE = cython.declare(cython.int, len(LOSSES) + losses.OF_TARGETS.index("absolute"))
PINBALL = cython.declare(cython.int, len(LOSSES) + losses.OF_TARGETS.index("pinball"))
#: Beyond this margin the exponential is no number, and the logistic loss no step.
FARTHEST = cython.declare(cython.double, 700.0)
#: How many of Newton's steps are enough for all digits.
STEPS = cython.declare(cython.int, 50)


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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def invariant_share(
    loss: cython.int, y: cython.double, score: cython.double, derivative: cython.double, length: cython.double
) -> cython.double:
    """Which share of a whole step, which changes the score by -derivative * length, an invariant step takes."""
    margin: cython.double = y * score
    if not length > 0:
        return 1.0
    if loss == HINGE:
        return min(1.0, (1.0 - margin) / length)
    if loss == LOGISTIC:
        return min(1.0, advance(margin, length) / (length * -y * derivative))
    return -expm1(-length) / length


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def advance(margin: cython.double, length: cython.double) -> cython.double:
    """The d >= 0 with d + exp(margin) (exp(d) - 1) = length, by Newton's method from above, where it only falls."""
    base: cython.double = exp(min(margin, FARTHEST))
    d: cython.double = min(length, log1p(length / base)) if base > 0 else length
    change: cython.double
    k: cython.int
    for k in range(STEPS):  # noqa: B007 - a loop without its number is none in C
        change = (d + base * expm1(d) - length) / (1.0 + base * exp(d))
        if not change > 0:
            break
        d -= change
    return d
