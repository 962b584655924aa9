# cython: cdivision=True
"""The slopes of convex losses of a score, compiled, for learners. `afterwit.data.margin_losses` defines the losses.

Invariant steps are those of Karampatziakis & Langford 2011: as far as many small steps would go, with the slope taken
anew before each. The score s follows s' = -l'(s) from time 0 to h, which has a closed form for the hinge and the
squared loss; for the logistic loss the margin m becomes m + d, where d + exp(m) (exp(d) - 1) = h.
"""

from __future__ import annotations

import cython

from afterwit.data.margin_losses import LOSSES

if cython.compiled:
    from cython.cimports.libc.math import exp, expm1, log1p
else:
    from math import exp, expm1, log1p

#: The places of the losses in `LOSSES`, by which compiled code knows them.
PERCEPTRON = cython.declare(cython.int, LOSSES.index("perceptron"))
HINGE = cython.declare(cython.int, LOSSES.index("hinge"))
LOGISTIC = cython.declare(cython.int, LOSSES.index("logistic"))
#: Beyond this margin the exponential is no number, and the logistic loss no step.
FARTHEST = cython.declare(cython.double, 700.0)
#: How many of Newton's steps are enough for all digits.
STEPS = cython.declare(cython.int, 50)


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


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def invariant_share(
    loss: cython.int, y: cython.int, score: cython.double, derivative: cython.double, length: cython.double
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
