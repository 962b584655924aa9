# cython: boundscheck=False, wraparound=False, cdivision=True
"""Passive-aggressive: leave the weights alone if the margin is 1, else change them no more than is needed for it.

Setting     x_t in R^n, y_t in {-1, +1}; predict sgn(w_t . x_t), sgn(0) = +1. The hinge loss of round t is
            l_t = max(0, 1 - y_t (w_t . x_t)).
Update      w_{t+1} = w_t + tau_t y_t x_t with tau_t = min(C, l_t / |x_t|^2), from w_1 = 0: the nearest weights whose
            loss is 0, unless these are too far. It is gradient descent on the hinge loss with invariant steps at the
            rate C.
Guarantee   on any sequence with |x_t| <= R, for every u with total hinge loss L: at most
            max(R^2, 1/C) (|u|^2 + 2 C L) mistakes.
Assumes     nothing about where the examples come from.
Use         behind `Standardize` where the best weights keep changing: its steps never become shorter.
Source      Crammer, Dekel, Keshet, Shalev-Shwartz & Singer 2006, PA-I and Theorem 4.

>>> learner = PassiveAggressive()
>>> learner.learn_one([1.0, 2.0], 1), learner.weights.tolist()  # right, but its margin is 0: to 1 in one step
(1, [0.2, 0.4])
>>> learner.learn_one([1.0, 2.0], 1), learner.updates  # the margin is 1: passive
(1, 1)
"""

from __future__ import annotations

from typing import Any

import cython

from afterwit.core.declared import Option
from afterwit.core.inputs import HINGE_LOSS, NORM, RADIUS
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import positive_number
from afterwit.data.quantities import POSITIVE
from afterwit.linear._engine import SHARED

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
else:
    from afterwit.linear._engine import LinearLearner


class PassiveAggressiveBound(Theorem):
    """Any sequence: the squared length of a comparator and its hinge loss.

    Proof. |w_t - u|^2 - |w_{t+1} - u|^2 = 2 tau_t y_t x_t . (u - w_t) - tau_t^2 |x_t|^2. Where tau_t > 0,
    y_t (w_t . x_t) = 1 - l_t, and y_t (u . x_t) >= 1 - l*_t with l*_t the loss of u; so this is at least
    tau_t (2 l_t - 2 l*_t - tau_t |x_t|^2) >= tau_t (l_t - 2 l*_t), as tau_t |x_t|^2 <= l_t. The sum over all rounds is
    at most |u|^2, and tau_t <= C: sum_t tau_t l_t <= |u|^2 + 2 C L. In a mistake l_t >= 1: tau_t l_t >= min(C, 1/R^2).
    """

    id = "passive-aggressive"
    name = "passive-aggressive bound"
    quantity = "mistakes"
    formula = "max({radius}^2, 1/{longest_step}) ({norm}^2 + 2 {longest_step} {hinge_loss})"
    inputs = (RADIUS, Input("longest_step", "C", "the longest step, in examples", POSITIVE), NORM, HINGE_LOSS)
    needs = "w starts at 0"
    citation = "Crammer et al. 2006, Theorem 4"

    @staticmethod
    def bound(radius: Any, longest_step: Any, norm: Any, hinge_loss: Any) -> Any:
        return max(radius * radius, 1 / longest_step) * (norm * norm + 2 * longest_step * hinge_loss)

    def certify(self, evidence: Any) -> Any:
        unit = evidence.unit
        # In the unit of the evidence lengths are divided by it, and C, whose unit is that of 1/|x|^2, is multiplied.
        longest = evidence.step * unit * unit
        best = evidence.best(lambda u: self.bound(evidence.radius, longest, u.norm, u.hinge))
        inputs = {"R": unit * evidence.radius, "C": evidence.step, NORM.symbol: best.norm / unit, "L": best.hinge}
        bound = self.bound(evidence.radius, longest, best.norm, best.hinge)
        return evidence.certificate(self, bound, {**inputs, "comparator": best.source})


@cython.cclass
class PassiveAggressive(LinearLearner):
    """The passive-aggressive learner PA-I.

    C          the longest step: an example is added to the weights at most C times
    intercept  whether every example has a further feature of value 1
    labels     the negative and the positive label

    ``updates`` counts the rounds with a loss, more than ``mistakes``, which counts wrong predictions.
    """

    _longest: cython.double

    theorems = (PassiveAggressiveBound(),)
    checker = "passive_aggressive"

    options = (Option("C", 1.0, positive_number), *SHARED)

    def _begin(self) -> None:
        LinearLearner._begin(self)
        self._longest = self._options["C"]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        loss: cython.double = 1.0 - y * score
        square: cython.double
        if loss <= 0:
            return False
        square = self.square()
        self.add(y * (loss / square if loss < self._longest * square else self._longest))
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def square(self) -> cython.double:
        """|x|^2 of the current row."""
        k: cython.Py_ssize_t
        total: cython.double = 0.0
        for k in range(self._length):
            total += self._values[self._first + k] * self._values[self._first + k]
        return total
