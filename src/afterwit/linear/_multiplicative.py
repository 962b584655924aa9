# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Weights that are multiplied: for every feature an exponent a_i, and exp(a_i) at hand for the products.

Only the exponents are the state; an update adds to those of the row's features and takes their exponentials anew, so
that nothing is rounded twice. All exponentials carry a common factor exp(-shift), with a shift that is raised, and all
of them taken anew, when one comes near overflow: once in very many updates. Their sum Z is kept up to date by what each
change adds to it, with the digits the addition loses, and taken anew once in a million changes, and when it has fallen
so far below its peak that the digits are used up. So an update costs O(non-zeros), as everywhere.

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

from afterwit.core.declared import Count, Number, Option, not_negative
from afterwit.data.checks import positive_number
from afterwit.errors import invalid
from afterwit.linear._engine import SHARED

if cython.compiled:
    from cython.cimports.afterwit.linear._paired import PairedLearner
    from cython.cimports.libc.math import exp, sqrt
else:
    from math import exp, sqrt

    from afterwit.linear._paired import PairedLearner


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def exponential(power: cython.double) -> cython.double:
    """The exponential, but 0 where it would be of no more use; numbers near the smallest are slow."""
    return exp(power) if power > -700.0 else 0.0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def both(difference: cython.double, unit: cython.double) -> cython.double:
    """The sum exp(a) + exp(-a) from its difference, as exp(a) exp(-a) = 1; squares of large ones would overflow."""
    size: cython.double = abs(difference)
    return size if size > 1e9 * unit else sqrt(size * size + 4 * unit * unit)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def rounded_off(total: cython.double, change: cython.double) -> cython.double:
    """What the sum of the two loses to rounding, exactly (Knuth)."""
    after: cython.double = total + change
    rest: cython.double = after - total
    return (total - (after - rest)) + (change - rest)


@cython.cclass
class MultiplicativeLearner(PairedLearner):
    """A linear learner whose updates multiply the weights of the row's features."""

    _stored = ("weights", "exponents")
    checker = "multiplicative"
    options = (Option("rate", 0.1, positive_number), *SHARED)
    kept = (
        not_negative("shift"),
        Number("total"),
        Number("lost"),
        Number("peak"),
        Count("moved"),
        Count("changes"),
    )
    #: Whether weights may be negative: two-sided.
    _signed = False

    def _begin(self) -> None:
        self._rate = self._options["rate"]
        self._two_sided = self._signed
        self._shift = 0.0
        self._unit = 1.0
        self._total = 0.0
        self._lost = 0.0
        self._peak = 0.0
        self._moved = 0
        self._changes = 0
        PairedLearner._begin(self)
        self._fresh = 0.0 if self._two_sided else 1.0
        np.asarray(self._weights)[::2] = self._fresh

    # ------------------------------------------------------------------ scores

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        product: cython.double = self.dot()
        if -1e-280 < product < 1e-280:
            return self.faint_score()
        scaled: cython.double = 0.0
        total: cython.double = self.sum_of_all()
        if total > 0:
            scaled = product / total
        return scaled if scaled != 0 else self.faint_score()

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
        highest: cython.double = self._shift
        rest: cython.double = self.sum_of_all()
        if rest < 1e-200 and not self._two_sided:
            # All weights are faint, none of them fresh: their sum, in the unit of the largest.
            highest, rest = self.highest(), 0.0
            for k in range(self._features):
                rest += exp(max(-740.0, self._weights[1 + 2 * k] - highest))
            rest = max(rest, 1.0)
        scaled: cython.double = total / rest * exp(max(-740.0, largest - highest))
        if scaled == 0:
            return 2.3e-308 if total > 0 else -2.3e-308
        return scaled

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def highest(self) -> cython.double:
        """The largest exponent, by its size where both signs count; 0 if there is none."""
        k: cython.Py_ssize_t
        power: cython.double
        found: cython.double = -1e308 if self._features > 0 else 0.0
        for k in range(self._features):
            power = self._weights[1 + 2 * k]
            found = max(found, abs(power) if self._two_sided else power)
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def exponent(self, k: cython.Py_ssize_t) -> cython.double:
        """The exponent of entry k of the current row."""
        column: cython.Py_ssize_t = self._columns[self._offset + k]
        return self._weights[1 + 2 * column] if 0 <= column < self._features else 0.0

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
        down: cython.double
        gone: cython.double
        come: cython.double
        # Copies, which the compiler need not read again after every weight that is written.
        first: cython.Py_ssize_t = self._first
        offset: cython.Py_ssize_t = self._offset
        two_sided: cython.bint = self._two_sided
        shift: cython.double = self._shift
        unit: cython.double = self._unit
        total: cython.double = self._total
        lost: cython.double = self._lost
        peak: cython.double = self._peak
        moved: cython.Py_ssize_t = self._moved
        for k in range(self._length):
            column = self._columns[offset + k]
            old = self._weights[1 + 2 * column]
            new = old + amount * self._values[first + k]
            self._weights[1 + 2 * column] = new
            if new - shift > 500.0 or (two_sided and -new - shift > 500.0) or new < -1e300:
                # Held within bounds beyond any use, so that no exponent is infinite.
                new = min(max(new, -1e300), 1e300)
                self._weights[1 + 2 * column] = new
                self.renew(max(shift, abs(new) if two_sided else new))
                shift, unit, peak = self._shift, self._unit, self._peak
                total, lost, moved = self._total, self._lost, self._moved
                continue
            gone = self._weights[2 * column]
            if two_sided:
                up = exponential(abs(new) - shift)
                down = 1.0 / up if shift == 0 else exponential(-abs(new) - shift)
                come = down - up if new < 0 else up - down
                self._weights[2 * column] = come
                gone = both(gone, unit)
                come = both(come, unit)
            else:
                come = exponential(new - shift)
                self._weights[2 * column] = come
            # A feature whose exponent is 0 is counted, not summed.
            if old == 0:
                gone = 0.0
                moved += 1
            if new == 0:
                come = 0.0
                moved -= 1
            # What goes is what once came, to the bit; the sum, and the digits that each addition loses.
            lost += rounded_off(total, -gone)
            total -= gone
            lost += rounded_off(total, come)
            total += come
            peak = max(peak, total)
        self._total, self._lost, self._peak, self._moved = total, lost, peak, moved
        self._changes += self._length
        if total + lost < 1e-20 * peak:
            self.renew(max(0.0, self.highest()))
        elif self._changes >= 1048576:
            self.sum_up()

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
        power: cython.double
        up: cython.double
        down: cython.double
        self._shift = shift
        self._unit = exp(max(-740.0, -shift))
        if not self._two_sided:
            self._fresh = self._unit
        for k in range(self._weights.shape[0] // 2):
            if k < self._features:
                power = self._weights[1 + 2 * k]
                if self._two_sided:
                    up = exponential(abs(power) - shift)
                    down = exponential(-abs(power) - shift)
                    self._weights[2 * k] = down - up if power < 0 else up - down
                else:
                    self._weights[2 * k] = exponential(power - shift)
            else:
                self._weights[2 * k] = self._fresh
        self.sum_up()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sum_up(self) -> cython.void:
        """Take the sum Z anew."""
        k: cython.Py_ssize_t
        change: cython.double
        self._total = 0.0
        self._lost = 0.0
        self._moved = 0
        self._changes = 0
        for k in range(self._features):
            if self._weights[1 + 2 * k] != 0:
                change = self._weights[2 * k]
                if self._two_sided:
                    change = both(change, self._unit)
                self._lost += rounded_off(self._total, change)
                self._total += change
                self._moved += 1
        self._peak = self._total

    # ------------------------------------------------------------------ what it knows

    @property
    def rate(self) -> float:
        """The rate eta."""
        return self._rate

    def _vector(self) -> Any:
        powers = self._companions()
        if not len(powers):
            return powers
        largest = np.abs(powers).max() if self._two_sided else powers.max()
        up = np.exp(powers - largest)
        if not self._two_sided:
            return up / up.sum()
        down = np.exp(-powers - largest)
        return (up - down) / (up + down).sum()

    def _check_state(self, state: Any) -> None:
        PairedLearner._check_state(self, state)
        weights, exponents, shift = state["weights"], state["exponents"], state["shift"]
        if state["moved"] != np.count_nonzero(exponents):
            raise invalid("moved", "the number of exponents other than 0", state["moved"])
        if np.abs(exponents).max(initial=0.0) > 1e300:
            raise invalid("exponents", "numbers from -1e300 to 1e300", exponents)
        sizes = np.abs(exponents) if self._two_sided else exponents
        up = np.exp(np.clip(sizes - shift, -740.0, 709.0))
        expected = np.sign(exponents) * (up - np.exp(np.clip(-sizes - shift, -740.0, 709.0))) if self._two_sided else up
        if not (np.abs(weights - expected) <= 1e-6 * up + 1e-290).all():
            raise invalid("weights", "the exponentials of the exponents less the shift", weights)

    def _become(self, state: Any) -> None:
        self._unit = exp(max(-740.0, -state["shift"]))
        self._fresh = 0.0 if self._two_sided else self._unit
        PairedLearner._become(self, state)
