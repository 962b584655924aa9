# cython: boundscheck=False, wraparound=False, cdivision=True
"""One round after its outcome: everyone's loss, and what the algorithm is shown of it.

What the algorithm is shown of a loss l is (l - low)/(high - low) if a range is declared, else l. With the gradient
trick it is shown slope * (advice - forecast) instead: a convex loss lies above its tangent, so the regret to *every
mixture* of experts is at most the largest regret in these.

The log loss of a forecast f near 1 depends on 1 - f, of which f, rounded, keeps few digits or none. So for this loss
the mean of 1 - advice goes along with the mean of the advice, and the smaller of the two is what is computed with.

A sleeping expert is shown the loss of the mixture itself. Then its regret does not change, the mixture over all is
the mixture over those awake, and every theorem about the regret to expert i speaks of the rounds in which i was awake.
One theorem is about the loss of the forecast and not of the mixture, and there a sleeper is shown that (``_shows_own``;
see `ExpConcaveBound`, whose docstring has the rule and the proofs).
"""

from __future__ import annotations

from typing import Any, cast

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.core.registry import classes
from afterwit.data import losses as losses_module
from afterwit.errors import Words, invalid, shorten
from afterwit.experts._declared import LARGEST_LOSS, RANGE_SLACK

if cython.compiled:
    from cython.cimports.afterwit.experts._weighed import WeighedRound
    from cython.cimports.libc.math import INFINITY, NAN, fabs, log, log1p
else:
    from math import fabs, log, log1p
    from math import inf as INFINITY
    from math import nan as NAN

    from afterwit.experts._weighed import WeighedRound

LARGEST = cython.declare(cython.double, LARGEST_LOSS)
SLACK = cython.declare(cython.double, RANGE_SLACK)

#: The losses by their places in ``losses.NAMES``, by which compiled code knows them.
SQUARE = cython.declare(cython.int, losses_module.NAMES.index("square"))
ABSOLUTE = cython.declare(cython.int, losses_module.NAMES.index("absolute"))
PERCENTAGE = cython.declare(cython.int, losses_module.NAMES.index("percentage"))
PINBALL = cython.declare(cython.int, losses_module.NAMES.index("pinball"))
LOG = cython.declare(cython.int, losses_module.NAMES.index("log"))
ZERO_ONE = cython.declare(cython.int, losses_module.NAMES.index("zero-one"))
FUNCTION = cython.declare(cython.int, losses_module.NAMES.index("function"))

#: What can be wrong with a round.
NOTHING_BAD = cython.declare(cython.int, 0)
BAD_NUMBER = cython.declare(cython.int, 1)
BAD_LOSS = cython.declare(cython.int, 2)
BAD_SLOPE = cython.declare(cython.int, 3)


# Arrays that are arguments are borrowed. One in a variable is counted as in use, which costs as much as a short loop.
@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def scale(
    losses: cython.double[::1], low: cython.double, width: cython.double, n: cython.Py_ssize_t, seen: cython.double[::1]
) -> cython.void:
    """Losses as parts of their range."""
    i: cython.Py_ssize_t
    for i in range(n):
        seen[i] = (losses[i] - low) / width


@cython.cclass
class JudgedRound(WeighedRound):
    """A round whose forecast and experts are judged by a loss."""

    #: Whether the loss of the forecast, too, has to be in the declared range.
    own_in_range = False
    #: Whether it has to know a range of the losses.
    needs_range = True
    #: What to do without a range, for an algorithm that needs none and was made with one.
    _without_range = "leave out loss_range, and it needs none"

    def _begin_judging(self, loss: Any, gradient: Any, loss_range: Any) -> None:
        self._loss_function = loss
        self._loss_kind = losses_module.NAMES.index(loss.kind)
        self._quantile = loss.quantile
        self._linear = gradient
        self._ranged = loss_range is not None
        self._own_in_range = self.own_in_range
        self._shows_own = False
        self._takes_certainty = False
        self._has_forecast = False
        self._some_infinite = False
        low, high = loss_range or (0.0, 1.0)
        self._low = low
        self._width = high - low
        self._forecast = 0.0
        self._complement = 1.0
        self._scratch = view(np.zeros(self._n))
        self._losses = self._scratch
        self._seen_scratch = view(np.zeros(self._n))
        self._seen = self._seen_scratch
        self._mixed = 0.0
        self._farthest = 0.0
        self._own = 0.0
        self._moved = 0.0
        self._beyond = 0.0
        self._bad_expert = 0
        self._bad_value = 0.0
        self._raised = cast(Any, None)

    # ------------------------------------------------------------------ losses and slopes

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def loss_of(self, forecast: cython.double, outcome: cython.double) -> cython.double:
        """The loss of a forecast."""
        difference: cython.double = forecast - outcome
        if self._loss_kind == SQUARE:
            return difference * difference
        if self._loss_kind == ABSOLUTE:
            return fabs(difference)
        if self._loss_kind == PERCENTAGE:
            return fabs(difference) / fabs(outcome)
        if self._loss_kind == PINBALL:
            return -self._quantile * difference if difference < 0 else (1 - self._quantile) * difference
        if self._loss_kind == LOG:
            if forecast == (0 if outcome == 1 else 1):
                return INFINITY
            return -log(forecast) if outcome == 1 else -log1p(-forecast)
        if self._loss_kind == ZERO_ONE:
            return 0.0 if forecast == outcome else 1.0
        return self._called(False, forecast, outcome)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def own_loss(self, outcome: cython.double) -> cython.double:
        """The loss of the learner's own forecast."""
        if self._loss_kind == LOG:
            if outcome == 1:
                return self.minus_log(self._forecast, self._complement)
            return self.minus_log(self._complement, self._forecast)
        return self.loss_of(self._forecast, outcome)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def minus_log(self, chance: cython.double, rest: cython.double) -> cython.double:
        """-ln of a probability, by the smaller of it and the rest to 1."""
        if chance == 0:
            return INFINITY
        return -log(chance) if chance <= 0.5 else -log1p(-rest)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def own_slope(self, outcome: cython.double) -> cython.double:
        """The derivative of the loss by the forecast, at the learner's own."""
        forecast: cython.double = self._forecast
        difference: cython.double = forecast - outcome
        sign: cython.double = -1.0 if difference < 0 else 1.0 if difference > 0 else 0.0
        if self._loss_kind == SQUARE:
            return 2 * difference
        if self._loss_kind == ABSOLUTE:
            return sign
        if self._loss_kind == PERCENTAGE:
            return sign / fabs(outcome)
        if self._loss_kind == PINBALL:
            return -self._quantile if sign < 0 else (1 - self._quantile) * sign
        if self._loss_kind == LOG:
            return -1 / forecast if outcome == 1 else 1 / self._complement
        return self._called(True, forecast, outcome)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def steepest_secant(self) -> cython.double:
        """By how much the loss changes with the forecast, judged by the experts' losses where no slope is known."""
        i: cython.Py_ssize_t
        distance: cython.double
        slope: cython.double
        steepest: cython.double = 0.0
        for i in range(self._n):
            distance = fabs(self._values[self._first + i] - self._forecast)
            if distance > 0 and (not self._some_sleep or self._awake[i]):
                slope = fabs(self._losses[i] - self._own) / distance
                steepest = slope if slope > steepest else steepest
        return steepest

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _called(self, slope: cython.bint, forecast: cython.double, outcome: cython.double) -> cython.double:
        """What the user's function gives; what it raises is kept for later, and the loss is then not a number."""
        result: cython.double = NAN
        with cython.gil:
            try:
                call: Any = self._loss_function.gradient if slope else self._loss_function.call
                result = float(call(forecast, outcome))
            except BaseException as error:
                # Kept, also if somebody wants to stop, until there is an exception to be raised from.
                self._raised = error
        return result

    # ------------------------------------------------------------------ judging a round

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def judge(self, outcome: cython.double) -> cython.int:
        """Everyone's loss in the current round. Says what is bad, if anything; nothing learned has changed yet."""
        i: cython.Py_ssize_t
        bad: cython.int
        slope: cython.double = 0.0
        first: cython.Py_ssize_t = self._first
        some_sleep: cython.bint = self._some_sleep
        values: cython.double[::1] = self._values
        losses: cython.double[::1] = self._losses
        self._has_forecast = True
        if self._loss_kind == SQUARE:
            for i in range(self._n):
                losses[i] = (values[first + i] - outcome) * (values[first + i] - outcome)
        elif self._loss_kind == ABSOLUTE:
            for i in range(self._n):
                losses[i] = fabs(values[first + i] - outcome)
        else:
            for i in range(self._n):
                if not some_sleep or self._awake[i]:
                    losses[i] = self.loss_of(values[first + i], outcome)
        bad = self.show()
        if bad != NOTHING_BAD:
            return bad
        if self._loss_kind == LOG and not self._drawing:
            self._complement = self.mean_complement()
        self._own = self._low + self._width * self._mixed if self._drawing else self.own_loss(outcome)
        bad = self.show_own()
        if bad != NOTHING_BAD:
            return bad
        # A user's slope is asked for only where it is learned from.
        if self._linear or (self._loss_kind != FUNCTION and self._loss_kind != ZERO_ONE):
            slope = self.own_slope(outcome)
        elif self._loss_kind == FUNCTION and not self._drawing:
            slope = self.steepest_secant()
        # The log loss is as exact as its own size: it is computed from the smaller of f and 1 - f.
        self._moved = fabs(slope) * self._reach if self._loss_kind != LOG else 0.0
        if self._linear:
            bad = self.show_tangent(slope, self._forecast, False)
        self._moved = self._moved if self._moved < LARGEST else LARGEST
        return bad

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def show_own(self) -> cython.int:
        """Check the loss of the forecast; show it to those asleep where that is the rule."""
        scaled: cython.double
        if not fabs(self._own) < LARGEST:
            self._bad_expert = -1
            self._bad_value = self._own
            return BAD_NUMBER
        if self._own_in_range and self._ranged and not self._linear:
            scaled = (self._own - self._low) / self._width
            if not -SLACK <= scaled <= 1 + SLACK:
                self._bad_expert = -1
                self._bad_value = self._own
                return BAD_LOSS
        if self._shows_own and self._some_sleep:
            self.show_sleepers((self._own - self._low) / self._width)
        return NOTHING_BAD

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def judge_losses(self) -> cython.int:
        """The same where the losses themselves are what came."""
        first: cython.Py_ssize_t = self._first
        values: cython.double[::1] = self._values
        self._moved = 0.0
        # The row itself, for as long as the round lasts.
        self._losses = values[first : first + self._n]
        return self.show_losses()

    # ------------------------------------------------------------------ what the algorithm is shown

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def show_losses(self) -> cython.int:
        """What the algorithm sees where ``_losses`` is all that is known."""
        self._has_forecast = False
        bad: cython.int = self.show()
        self._own = self._low + self._width * self._mixed
        if self._linear and bad == NOTHING_BAD:
            return self.show_tangent(1.0, self._own, True)
        return bad

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def show(self) -> cython.int:
        """What the algorithm sees of the losses: scaled to [0, 1] where there is a range."""
        i: cython.Py_ssize_t
        low: cython.double = self._low
        width: cython.double = self._width
        checked: cython.bint = self._ranged and not self._linear
        middle: cython.double = 0.5 if checked else 0.0
        if not self._some_sleep and low == 0 and width == 1:
            # The losses as they are, for as long as the round lasts: among very many experts a copy costs.
            self._seen = self._losses
        else:
            scale(self._losses, low, width, self._n, self._seen_scratch)
            self._seen = self._seen_scratch
            if self._some_sleep:
                # For now a sleeper has the middle loss, and no share.
                self.show_sleepers(middle)
        self.mix(self._seen, self._shares, middle)
        self._beyond = 0.0
        if checked and self._farthest > 0.5:
            if self._farthest > 0.5 + SLACK:
                return self._find_bad(BAD_LOSS)
            self._beyond = (self._farthest - 0.5) * width
            for i in range(self._n):
                self._seen_scratch[i] = 0.0 if self._seen[i] < 0 else 1.0 if self._seen[i] > 1 else self._seen[i]
            self._seen = self._seen_scratch
            self.mix(self._seen, self._shares, middle)
        # A loss that is not a number makes the mixture none, even with no share.
        self._some_infinite = False
        if not fabs(self._mixed) < LARGEST or (not checked and self._farthest * width >= LARGEST + fabs(low)):
            # A logarithm is finite and small, or infinite.
            self._some_infinite = self._takes_certainty and self._has_forecast
            if not self._some_infinite:
                return self._find_bad(BAD_NUMBER)
            self.mix_finite()
        if self._some_sleep:
            self.show_sleepers(self._mixed)
        return NOTHING_BAD

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def show_sleepers(self, loss: cython.double) -> cython.void:
        """Show this loss to everyone who sleeps."""
        i: cython.Py_ssize_t
        for i in range(self._n):
            if not self._awake[i]:
                self._seen_scratch[i] = loss

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mix(self, seen: cython.double[::1], shares: cython.double[::1], middle: cython.double) -> cython.void:
        """The mixture's loss, and how far from the middle a loss gets. Four running sums let the additions overlap."""
        i: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = self._n
        m0: cython.double = 0.0
        m1: cython.double = 0.0
        m2: cython.double = 0.0
        m3: cython.double = 0.0
        f0: cython.double = 0.0
        f1: cython.double = 0.0
        f2: cython.double = 0.0
        f3: cython.double = 0.0
        while i + 3 < n:
            m0 += shares[i] * seen[i]
            m1 += shares[i + 1] * seen[i + 1]
            m2 += shares[i + 2] * seen[i + 2]
            m3 += shares[i + 3] * seen[i + 3]
            f0 = fabs(seen[i] - middle) if fabs(seen[i] - middle) > f0 else f0
            f1 = fabs(seen[i + 1] - middle) if fabs(seen[i + 1] - middle) > f1 else f1
            f2 = fabs(seen[i + 2] - middle) if fabs(seen[i + 2] - middle) > f2 else f2
            f3 = fabs(seen[i + 3] - middle) if fabs(seen[i + 3] - middle) > f3 else f3
            i += 4
        while i < n:
            m0 += shares[i] * seen[i]
            f0 = fabs(seen[i] - middle) if fabs(seen[i] - middle) > f0 else f0
            i += 1
        f0 = f1 if f1 > f0 else f0
        f2 = f3 if f3 > f2 else f2
        self._farthest = f2 if f2 > f0 else f0
        self._mixed = ((m0 + m1) + (m2 + m3)) / self._total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mix_finite(self) -> cython.void:
        """The same of the losses that are finite."""
        i: cython.Py_ssize_t
        self._mixed = 0.0
        self._farthest = 0.0
        for i in range(self._n):
            if self._awake[i] and self._seen[i] < INFINITY:
                self._mixed += self._shares[i] * self._seen[i] / self._total
                self._farthest = self._seen[i] if self._seen[i] > self._farthest else self._farthest

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def show_tangent(self, slope: cython.double, forecast: cython.double, of_losses: cython.bint) -> cython.int:
        """What it sees with the gradient trick: the tangent at the forecast, which is 0 there.

        Where only losses are known they are their own tangent, and the mixture's loss is the forecast.
        """
        i: cython.Py_ssize_t
        seen: cython.double
        largest: cython.double = 0.0
        outside: cython.double
        by_complements: cython.bint = self._loss_kind == LOG and not of_losses and forecast > 0.5
        self._seen = self._seen_scratch
        for i in range(self._n):
            if self._some_sleep and not self._awake[i]:
                self._seen[i] = -self._low / self._width
                continue
            if by_complements:
                seen = slope * (self._complement - (1 - self._values[self._first + i]))
            else:
                seen = slope * ((self._losses[i] if of_losses else self._values[self._first + i]) - forecast)
            if not fabs(seen) < LARGEST:
                self._bad_expert = i
                self._bad_value = seen
                return BAD_NUMBER
            largest = fabs(seen) if fabs(seen) > largest else largest
            if self._ranged:
                self._bad_value = seen
                seen = (seen - self._low) / self._width
                if not -SLACK <= seen <= 1 + SLACK:
                    self._bad_expert = i
                    return BAD_SLOPE
                outside = -seen if seen < 0 else seen - 1 if seen > 1 else 0.0
                self._beyond = outside * self._width if outside * self._width > self._beyond else self._beyond
                seen = 0.0 if seen < 0 else 1.0 if seen > 1 else seen
            self._seen[i] = seen
        self._mixed = -self._low / self._width
        if self._loss_kind == LOG and not of_losses:
            # Of other losses the tangents are no larger than three losses, and are rounded as these are.
            self._moved += largest
        return NOTHING_BAD

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def gain(self, i: cython.Py_ssize_t) -> cython.double:
        """What following expert i would have saved in this round, or its tangent with the gradient trick."""
        if self._some_sleep and not self._awake[i]:
            return 0.0
        if self._linear:
            return self._width * (self._mixed - self._seen[i])
        return self._own - self._losses[i]

    # ------------------------------------------------------------------ afterwards

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _let_go(self) -> cython.int:
        """Keep nothing of the caller's arrays."""
        self._values = self._scratch
        self._losses = self._scratch
        self._seen = self._seen_scratch
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _find_bad(self, bad: cython.int) -> cython.int:
        """Remember the first loss that is out of bounds: not a number that can be squared, or outside its range."""
        i: cython.Py_ssize_t = 0
        scaled: cython.double
        for i in range(self._n):
            if self._some_sleep and not self._awake[i]:
                continue
            scaled = (self._losses[i] - self._low) / self._width
            if not fabs(self._losses[i]) < LARGEST or (bad == BAD_LOSS and not -SLACK <= scaled <= 1 + SLACK):
                break
        self._bad_expert = i
        self._bad_value = self._losses[i]
        return bad if fabs(self._losses[i]) < LARGEST else BAD_NUMBER

    def _refusal(self, bad: int, t: int, rounds: int, experts: Any) -> Any:
        """The error for a round in which something is bad."""
        raised, self._raised = self._raised, None
        if raised is not None:
            return raised
        who = "the forecast" if self._bad_expert < 0 else f"expert {experts.name(self._bad_expert)!r}"
        place = f"{who} in row {t}" if rounds > 1 else who
        if bad == BAD_NUMBER and self._takes_certainty and self._bad_expert < 0:
            wrong = [repr(experts.name(i)) for i in range(self._n) if self._awake[i] and self._shares[i] > 0]
            why = f"all whose weight is not 0 gave no chance to what happened: {shorten(Words(', '.join(wrong)), 200)}"
            return invalid(f"the loss of {place}", "finite", Words(f"infinity: {why}"))
        if bad == BAD_NUMBER:
            return invalid(f"the loss of {place}", f"a finite number below {LARGEST:g} in size", self._bad_value)
        what = "the loss" if bad == BAD_LOSS else "slope * (advice - forecast)"
        allowed = f"within loss_range ({self._low:g}, {self._low + self._width:g})"
        if self.needs_range:
            *others, last = (name for name, kind in classes("experts").items() if not kind.needs_range)
            allowed += f"; {', '.join(others)} and {last} need no range"
        else:
            allowed += f"; {self._without_range}"
        return invalid(f"{what} of {place}", allowed, self._bad_value)
