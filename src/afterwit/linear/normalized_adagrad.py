# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""NormalizedAdaGrad: AdaGrad on features that are divided by their largest value so far.

Setting     x_t in R^n, y_t in {-1, +1}; predict sgn(w_t . x_t), sgn(0) = +1; a convex loss l(p, y) of the score p.
Update      from w = s = G = 0 and N = 0, for every feature i that is not 0 in round t:
            before the prediction  if |x_{t,i}| > s_i:  w_i <- w_i s_i / |x_{t,i}|,  s_i <- |x_{t,i}|
            in every round         N <- N + sum_i x_{t,i}^2 / s_i^2
            after the label        g_{t,i} = l'(w . x_t, y_t) x_{t,i},  G_i <- G_i + g_{t,i}^2,
                                   w_i <- w_i - rate sqrt(t / N) g_{t,i} / (s_i sqrt(G_i)), none if G_i is 0
            To multiply a feature by any number changes no prediction. N / t is the mean square of a row whose features
            are divided by s: rows with many features take shorter steps.
            With ``invariant`` a step goes only as far as many small ones in its direction would, with the slope taken
            anew before each. It changes the score by d in place of -g h, where h = rate sqrt(t / N) sum_i x_{t,i}^2 /
            (s_i sqrt(G_i)) and m = y_t w . x_t:
            hinge      y_t min(h, 1 - m)
            squared    (y_t - w . x_t) (1 - exp(-h))
            logistic   y_t d', where d' + exp(m) (exp(d') - 1) = h
            So no step passes the label, and a row that comes with twice the weight is as two rows.
Numbers     kept are v_i = w_i s_i, s_i and H_i = G_i / s_i^2. The score is the sum of v_i z_i with z_i = x_i / s_i,
            where s_i is at least |x_i|: the division shrinks the weight of a value that is larger than all before it,
            also where it only predicts. No value is squared before it is divided: its square cannot overflow.
Guarantee   none that we know of: the regret theorem of the source could not be checked to the letter.
Assumes     nothing about where the examples come from.
Defaults    rate = 0.5, as in Vowpal Wabbit, which by default takes this update too, but predicts before it shrinks the
            weights, leaves rounds without loss out of N and t, and has invariant steps, as here with ``invariant``.
Source      Ross, Mineiro & Langford 2013, algorithm NAG; the invariant steps: Karampatziakis & Langford 2011.

>>> learner, other = NormalizedAdaGrad(), NormalizedAdaGrad()
>>> for metres, label in ((1.0, 1), (3.0, -1), (2.0, -1), (0.5, 1)):
...     scores = learner.score_one([metres]), other.score_one([1024 * metres])
...     same = learner.learn_one([metres], label), other.learn_one([1024 * metres], label)
>>> scores[0] == scores[1], learner.mistakes
(True, 3)
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.declared import Option, not_negative
from afterwit.core.learner import view
from afterwit.data.checks import FLOAT_MAX, flag, one_of, positive_number
from afterwit.data.margin_losses import LOSSES
from afterwit.errors import Words, invalid
from afterwit.linear._engine import PRACTICAL
from afterwit.linear._stops import MODERATE

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
    from cython.cimports.afterwit.linear._losses import invariant_share, slope
    from cython.cimports.afterwit.linear._products import product
    from cython.cimports.libc.math import fabs, sqrt
else:
    from math import fabs, sqrt

    from afterwit.linear._engine import LinearLearner
    from afterwit.linear._losses import invariant_share, slope
    from afterwit.linear._products import product

#: How many entries of a row are laid out at once, where the compiler handles several of them in one step.
PART = cython.declare(cython.Py_ssize_t, 32)


@cython.cclass
class NormalizedAdaGrad(LinearLearner):
    """AdaGrad for features in any units.

    rate       the length of a first step, for features that are divided by their largest value
    loss       "perceptron", "hinge", "logistic" or "squared"
    intercept  whether every example has a further feature of value 1
    invariant  whether steps are invariant, so that none passes the label; for long rows, such as texts. Not with the
               perceptron loss, which has nothing to go on towards where the score is 0
    labels     the negative and the positive label
    """

    _rate: cython.double
    _invariant: cython.bint
    # N: the sum over all rounds and features of z^2.
    _norms = cython.declare(cython.double, visibility="public")
    # What steps are measured in: 1, but for real targets.
    _unit = cython.declare(cython.double, visibility="public")
    # For the current row, entry after entry: v and z.
    _held: cython.double[::1]
    _shares: cython.double[::1]
    # How many of its values are larger than all before them.
    _grown: cython.Py_ssize_t
    # For a part of the row: what z is divided by, then sums of squares; and the steps.
    _totals: cython.double[::1]
    _amounts: cython.double[::1]

    no_theorem_because = (
        "no bound on its loss is known to us, because the regret theorem of its source could not be checked to the "
        "letter. hindsight.least_loss finds what fixed weights would have lost"
    )
    converges_without = "mistakes"
    # The largest values and N are noted in every round.
    _rests = False
    _stored = ("normalized", "squares", "largest")
    kept = (not_negative("norms"),)

    options = (
        Option("rate", 0.5, positive_number),
        Option("loss", "logistic", one_of(LOSSES, "to predict numbers, use NormalizedAdaGradRegressor")),
        Option("invariant", False, flag),
        *PRACTICAL,
    )

    def _begin(self) -> None:
        self._rate = self._options["rate"]
        self._invariant = self._options.get("invariant", False)
        if self._invariant and self._options["loss"] == "perceptron":
            raise invalid("invariant", "False for the perceptron loss", Words("True"))
        self._norms = 0.0
        self._unit = 1.0
        self._grown = 0
        self._held = view(np.zeros(64))
        self._shares = view(np.zeros(64))
        self._totals = view(np.zeros(PART))
        self._amounts = view(np.zeros(PART))
        LinearLearner._begin(self)
        if self._real:
            self._unit = 0.0

    # ------------------------------------------------------------------ the figure

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        """The sum of v z over the current row, by the s that this row would make; v and z are left in place."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        count: cython.Py_ssize_t
        begin: cython.Py_ssize_t = 0
        value: cython.double
        largest: cython.double
        self._grown = 0
        while begin < self._length:
            count = min(self._length - begin, PART)
            for k in range(count):
                column = self._columns[self._offset + begin + k]
                value = fabs(self._values[self._first + begin + k])
                largest = 0.0
                self._held[begin + k] = 0.0
                if self._known or 0 <= column < self._features:
                    largest = self._weights[3 * column + 2]
                    self._held[begin + k] = self._weights[3 * column]
                self._grown += value > largest
                largest = largest if largest > value else value
                self._totals[k] = largest if largest > 0 else 1.0
            for k in range(count):
                # Alone in a loop without a branch, several quotients are taken in one step.
                self._shares[begin + k] = self._values[self._first + begin + k] / self._totals[k]
            begin += count
        return product(self._held, self._shares, 0, self._length)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        k: cython.Py_ssize_t
        place: cython.Py_ssize_t
        count: cython.Py_ssize_t
        begin: cython.Py_ssize_t = 0
        amount: cython.double
        rate: cython.double
        moves: cython.bint
        derivative: cython.double = slope(self._loss, self._parameter, y, score)
        if self._grown:
            self.note_largest()
        self._norms += product(self._shares, self._shares, 0, self._length)
        # The first value of a feature that is not 0 adds 1 to N: before that there is nothing to learn from.
        rate = self._rate * sqrt(self._rounds / self._norms) if self._norms > 0 else 0.0
        if self._real:
            self._unit = max(self._unit, fabs(y))
            rate *= self._unit
        if derivative == 0:
            return False
        while begin < self._length:
            count = min(self._length - begin, PART)
            for k in range(count):
                place = 3 * self._columns[self._offset + begin + k] + 1
                amount = derivative * self._shares[begin + k]
                self._weights[place] += amount * amount
                self._amounts[k] = amount
                self._totals[k] = self._weights[place]
            for k in range(count):
                # Every root and quotient is taken, and none is of 0: so the loop has no branch.
                moves = self._totals[k] > 0
                amount = self._amounts[k] if moves else 0.0
                self._amounts[k] = rate * amount / sqrt(self._totals[k] if moves else 1.0)
            if self._invariant:
                for k in range(count):
                    self._held[begin + k] = self._amounts[k]
            else:
                for k in range(count):
                    self._weights[3 * self._columns[self._offset + begin + k]] -= self._amounts[k]
            begin += count
        if self._invariant:
            self.step(y, score, derivative)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def step(self, y: cython.double, score: cython.double, derivative: cython.double) -> cython.void:
        """Take the part of the step that is laid out in ``_held`` which many small ones would come to."""
        k: cython.Py_ssize_t
        # By what the whole step would change the score, for a slope of 1.
        length: cython.double = product(self._held, self._shares, 0, self._length) / derivative
        share: cython.double = invariant_share(self._loss, y, score, derivative, length)
        for k in range(self._length):
            self._weights[3 * self._columns[self._offset + k]] -= share * self._held[k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note_largest(self) -> cython.void:
        """For the current row: s <- max(s, |x|), and H in the new units. v does not change: w shrinks as s grows."""
        k: cython.Py_ssize_t
        place: cython.Py_ssize_t
        value: cython.double
        ratio: cython.double
        for k in range(self._length):
            place = 3 * self._columns[self._offset + k]
            value = fabs(self._values[self._first + k])
            if value > self._weights[place + 2]:
                ratio = self._weights[place + 2] / value
                self._weights[place + 1] *= ratio * ratio
                self._weights[place + 2] = value

    # ------------------------------------------------------------------ what it knows

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _need_scratch(self, entries: cython.Py_ssize_t) -> cython.int:
        if entries > self._held.shape[0]:
            held, shares = np.zeros(entries), np.zeros(entries)
            self._held = view(held)
            self._shares = view(shares)
        return LinearLearner._need_scratch(self, entries)

    def _vector(self) -> Any:
        """The weights of values that are no larger than those that have been; finite, however small these are."""
        normalized, largest = self._column(0), self._column(2)
        largest[largest == 0] = 1.0
        with np.errstate(over="ignore"):
            return np.clip(normalized / largest, -FLOAT_MAX, FLOAT_MAX)

    def _is_steady(self) -> bool:
        # A step is at most rate sqrt(t), as |g| <= sqrt(G). So from weights that are not huge no score becomes so large
        # that its square is no number, and even the slope of the squared loss is harmless.
        return self._proven > 0 and float(np.abs(self._column(0)).max(initial=0.0)) <= MODERATE

    def _check_state(self, state: Any) -> None:
        LinearLearner._check_state(self, state)
        for name in ("squares", "largest"):
            if state[name].min(initial=0.0) < 0:
                raise invalid(name, "numbers that are not negative", state[name])
        if state["norms"] < 1 if state["largest"].any() else state["norms"] != 0:
            raise invalid("norms", "at least 1 once there was a value other than 0, and 0 before", state["norms"])
