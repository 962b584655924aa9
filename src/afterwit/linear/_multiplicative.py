# cython: boundscheck=False, wraparound=False, cdivision=True
"""Weights that are multiplied: for every feature an exponent a_i, and exp(a_i) at hand for the products.

Only the exponents are the state; an update adds to those of the row's features and takes their exponentials anew, so
that nothing is rounded twice. All exponentials carry a common factor exp(-shift), with a shift that is raised, and all
of them taken anew, when one comes near overflow: once in very many updates. Their sum Z is kept up to date by what each
change adds to it, with the digits the addition loses, and taken anew once in a million changes. So an update costs
O(non-zeros), as everywhere.

A feature that was never seen has the exponent 0, like all in the beginning: the learner is the one that had known all
features from the start. Features whose exponent is 0 are counted in Z, not summed, so that it is the same in whatever
order they come.

    one-sided   w_i = exp(a_i) / Z,                  Z = sum_i exp(a_i)
    two-sided   w_i = (exp(a_i) - exp(-a_i)) / Z,    Z = sum_i exp(a_i) + exp(-a_i): one-sided on (x, -x)
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.errors import invalid

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
    from cython.cimports.libc.math import exp, sqrt
else:
    from math import exp, sqrt

    from afterwit.linear._engine import LinearLearner


@cython.cclass
class MultiplicativeLearner(LinearLearner):
    """A linear learner whose updates multiply the weights of the row's features."""

    _companion_name = "exponents"

    def __init__(self, labels: Any = (-1, 1), intercept: Any = False, two_sided: bool = False) -> None:
        self._two_sided = two_sided
        self._shift = 0.0
        self._unit = 1.0
        self._total = 0.0
        self._lost = 0.0
        self._moved = 0
        self._changes = 0
        LinearLearner.__init__(self, labels, intercept)
        self._fresh = 0.0 if two_sided else 1.0
        np.asarray(self._weights)[:] = self._fresh

    # ------------------------------------------------------------------ scores

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        product: cython.double = self.dot()
        if -1e-280 < product < 1e-280:
            return self.faint_score()
        total: cython.double = self.sum_of_all()
        return product / total if total > 0 else product

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def faint_score(self) -> cython.double:
        """A score that is 0 or lost below the smallest numbers, taken anew from the row's own largest exponent."""
        k: cython.Py_ssize_t
        power: cython.double
        largest: cython.double = -1e308
        total: cython.double = 0.0
        for k in range(self._length):
            if self._values[self._first + k] != 0:
                power = self.exponent(k)
                largest = max(largest, abs(power) if self._two_sided else power)
        for k in range(self._length):
            if self._values[self._first + k] != 0:
                power = self.exponent(k)
                total += exp(power - largest) * self._values[self._first + k]
                if self._two_sided:
                    total -= exp(-power - largest) * self._values[self._first + k]
        if total == 0:
            return 0.0 * total
        scaled: cython.double = total * exp(max(-740.0, largest - self._shift)) / max(1.0, self.sum_of_all())
        if scaled == 0:
            return 2.3e-308 if total > 0 else -2.3e-308
        return scaled

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def exponent(self, k: cython.Py_ssize_t) -> cython.double:
        """The exponent of entry k of the current row."""
        column: cython.Py_ssize_t = k if self._dense else self._columns[self._offset + k]
        return self._companion[column] if 0 <= column < self._features else 0.0

    # ------------------------------------------------------------------ updates

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def multiply(self, amount: cython.double) -> cython.void:
        """Multiply: w_i <- w_i exp(amount x_i) for the current row, then normalise."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        old: cython.double
        new: cython.double
        up: cython.double
        down: cython.double = 0.0
        change: cython.double
        for k in range(self._length):
            column = k if self._dense else self._columns[self._offset + k]
            old = self._companion[column]
            # Held within bounds beyond any use, so that no exponent is infinite.
            new = min(max(old + amount * self._values[self._first + k], -1e300), 1e300)
            self._companion[column] = new
            if new - self._shift > 500.0 or (self._two_sided and -new - self._shift > 500.0):
                self.renew(abs(new))
                continue
            change = 0.0
            if old != 0:
                change -= self.mass(self._weights[column])
                self._moved -= 1
            up = exp(new - self._shift)
            if self._two_sided:
                down = exp(-new - self._shift)
            self._weights[column] = up - down
            if new != 0:
                change += up + down
                self._moved += 1
            self.accumulate(change)
        self._changes += self._length
        if self._changes >= 1048576:
            self.sum_up()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mass(self, weight: cython.double) -> cython.double:
        """What a weight, as it is stored, adds to the sum Z."""
        if not self._two_sided:
            return weight
        # exp(a) exp(-a) = 1 gives the sum of the two from their difference.
        return sqrt(weight * weight + 4 * self._unit * self._unit)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def accumulate(self, change: cython.double) -> cython.void:
        """Add to the sum Z, keeping the digits that the addition loses."""
        total: cython.double = self._total + change
        if abs(self._total) >= abs(change):
            self._lost += (self._total - total) + change
        else:
            self._lost += (change - total) + self._total
        self._total = total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sum_of_all(self) -> cython.double:
        """The sum Z, as it is stored."""
        resting: cython.double = (self._features - self._moved) * self._unit
        return self._total + self._lost + (2 * resting if self._two_sided else resting)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def renew(self, shift: cython.double) -> cython.void:
        """Take every weight anew, with another shift."""
        k: cython.Py_ssize_t
        self._shift = shift
        self._unit = exp(max(-740.0, -shift))
        if not self._two_sided:
            self._fresh = self._unit
        for k in range(self._weights.shape[0]):
            if k < self._features:
                self._weights[k] = exp(self._companion[k] - shift)
                if self._two_sided:
                    self._weights[k] -= exp(-self._companion[k] - shift)
            else:
                self._weights[k] = self._fresh
        self.sum_up()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sum_up(self) -> cython.void:
        """Take the sum Z anew."""
        k: cython.Py_ssize_t
        self._total = 0.0
        self._lost = 0.0
        self._moved = 0
        self._changes = 0
        for k in range(self._features):
            if self._companion[k] != 0:
                self.accumulate(self.mass(self._weights[k]))
                self._moved += 1

    # ------------------------------------------------------------------ what it knows

    def _vector(self) -> Any:
        powers = np.array(self._companion[: self._features])
        if not len(powers):
            return powers
        largest = np.abs(powers).max() if self._two_sided else powers.max()
        up = np.exp(powers - largest)
        if not self._two_sided:
            return up / up.sum()
        down = np.exp(-powers - largest)
        return (up - down) / (up + down).sum()

    def _state(self) -> dict[str, Any]:
        state = LinearLearner._state(self)
        state.update(shift=self._shift, total=self._total, lost=self._lost, moved=self._moved, changes=self._changes)
        return state

    def _check_state(self, state: Any) -> None:
        LinearLearner._check_state(self, state)
        numbers = [state["shift"], state["total"], state["lost"]]
        if any(type(number) is not float for number in numbers) or not state["shift"] >= 0:
            raise invalid("shift, total and lost", "numbers, the first not negative", numbers)
        counts = [state["moved"], state["changes"]]
        if any(type(count) is not int or not 0 <= count < 2**62 for count in counts):
            raise invalid("moved and changes", "counts", counts)

    def _become(self, state: Any) -> None:
        self._shift = state["shift"]
        self._unit = exp(max(-740.0, -self._shift))
        self._fresh = 0.0 if self._two_sided else self._unit
        LinearLearner._become(self, state)
        self._total = state["total"]
        self._lost = state["lost"]
        self._moved = state["moved"]
        self._changes = state["changes"]
