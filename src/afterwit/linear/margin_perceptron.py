# cython: boundscheck=False, wraparound=False, cdivision=True
"""The margin perceptron: also learn from examples that were right, but not by enough.

Setting     x_t in R^n, y_t in {-1, +1}; predict sgn(w_t . x_t), sgn(0) = +1.
Update      if w_t = 0 or y_t (w_t . x_t) / |w_t| < rho/2:  w_{t+1} = w_t + y_t x_t.   From w_1 = 0.
Guarantee   if a unit v has y_t (v . x_t) >= rho and |x_t| <= R for all t: at most 16 (R/rho)^2 updates; and once a
            whole pass over a sample makes none, the margin of w on that sample is at least rho/2. With labels that come
            after at most d further rounds, at most 16 (1 + 2d) (R/rho)^2 updates (`_late_bounds`).
Assumes     data separable with margin rho, which has to be known.
Source      Mohri, Rostamizadeh & Talwalkar 2018, Figure 8.12 and Exercise 8.6.

>>> learner = MarginPerceptron(margin=1.0)
>>> learner.fit([[1.0, 0.5], [-1.0, 0.5]], [1, -1]).converged
True
>>> learner.weights.tolist(), learner.updates
([1.0, 0.5], 1)
"""

from __future__ import annotations

from typing import Any

import cython

from afterwit.core.declared import Option, not_negative
from afterwit.core.inputs import RADIUS, SEPARABLE, length, margin_within_radius
from afterwit.core.theorem import Theorem
from afterwit.data.checks import positive_number
from afterwit.linear._engine import SHARED
from afterwit.linear._late_bounds import LateMarginUpdateBound, wide_enough
from afterwit.linear._mixed_bounds import mixed_margin_bounds
from afterwit.linear._stops import Stop
from afterwit.linear._weights import check_square

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from afterwit.linear._engine import LinearLearner

DIVERGED = cython.declare(cython.int, Stop.DIVERGED)


class MarginUpdateBound(Theorem):
    """Data separable with the margin that is aimed at half of: a bound on the number of updates."""

    id = "margin-perceptron"
    name = "margin perceptron bound"
    quantity = "updates"
    formula = "16 ({radius} / {margin})^2"
    inputs = (RADIUS, length("margin", "rho", "the margin, of which half is aimed at"))
    needs = SEPARABLE
    citation = "Mohri et al. 2018, Exercise 8.6"
    check = staticmethod(margin_within_radius)

    @staticmethod
    def bound(radius: Any, margin: Any) -> Any:
        return 16 * (radius / margin) * (radius / margin)

    def certify(self, evidence: Any) -> Any:
        separable, widest = evidence.separability()
        if widest is None:
            return evidence.certificate(self, None, {}, separable)
        unit, rho = evidence.unit, evidence.margin
        inputs = {"R": unit * evidence.radius, "rho": rho, "comparator": widest.source}
        bound = self.bound(unit * evidence.radius, rho)
        return evidence.certificate(self, bound, inputs, separable, wide_enough(evidence, widest))


@cython.cclass
class MarginPerceptron(LinearLearner):
    """The margin perceptron of Figure 8.12.

    margin     rho: the data should be separable with this margin, in the units of the data; half of it is reached
    intercept  whether every example has a further feature of value 1
    labels     the negative and the positive label

    ``updates`` counts the updates, more than ``mistakes``, which counts wrong predictions.
    """

    _margin: cython.double
    _square = cython.declare(cython.double, visibility="public")
    # The largest |w|^2 since it was last measured.
    _peak = cython.declare(cython.double, visibility="public")

    theorems = (MarginUpdateBound(), LateMarginUpdateBound())
    mixed_theorems = mixed_margin_bounds()
    late = "served"

    options = (Option("margin", 0.1, positive_number), *SHARED)
    kept = (not_negative("square"), not_negative("peak"))

    def _begin(self) -> None:
        self._margin = self._options["margin"]
        self._square = 0.0
        self._peak = 0.0
        LinearLearner._begin(self)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        if self._square > 0 and y * score >= self._margin / 2 * sqrt(self._square):
            return False
        return self.add_and_measure(y)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_and_measure(self, y: cython.double) -> cython.bint:
        """Add y x to the weights and follow |w|^2; not if it would overflow."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        before: cython.double
        after: cython.double
        change: cython.double = 0.0
        for k in range(self._length):
            column = self._columns[self._offset + k]
            before = self._weights[column]
            after = before + y * self._values[self._first + k]
            self._overwritten[k] = before
            self._weights[column] = after
            change += (after - before) * (after + before)
        change += self._square
        if change - change != 0:  # infinite or not a number, as it is if a weight is
            for k in range(self._length - 1, -1, -1):
                self._weights[self._columns[self._offset + k]] = self._overwritten[k]
            self._stopped = DIVERGED
            return False
        self._square = change
        self._peak = max(self._peak, self._square)
        if self._square < 1e-6 * self._peak:
            # So much was taken away again that rounding may have left anything: measure w itself.
            self._square = 0.0
            for k in range(self._features):
                self._square += self._weights[k] * self._weights[k]
            self._peak = self._square
        return True

    def _check_state(self, state: Any) -> None:
        LinearLearner._check_state(self, state)
        check_square(state["square"], state["weights"], state["peak"])

    @property
    def margin(self) -> float:
        """The margin rho, half of which every example should have."""
        return self._margin
