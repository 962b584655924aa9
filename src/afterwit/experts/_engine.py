# cython: boundscheck=False, wraparound=False, cdivision=True
"""The loop every expert algorithm shares: weigh the experts, forecast, see the outcome, count, update.

An algorithm's file holds its idea and nothing else: ``weigh`` fills ``_shares`` with what each awake expert weighs (in
any unit; it gives back the sum), and ``update`` learns from ``_seen``, everyone's loss in this round.

A sleeping expert is shown the loss of the mixture itself. Then its regret does not change, the mixture over all is
the mixture over those awake, and every theorem about the regret to expert i speaks of the rounds in which i was awake.

What the algorithm is shown of a loss l is (l - low)/(high - low) if a range is declared, else l. With the gradient
trick it is shown slope * (advice - forecast) instead: a convex loss lies above its tangent, so the regret to *every
mixture* of experts is at most the largest regret in these.

Each round is judged before anything changes, and a block in which a round fails is taken back as a whole.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, cast

import cython
import numpy as np

from afterwit.data import advice as _advice
from afterwit.data import losses as losses_module
from afterwit.errors import invalid, shorten
from afterwit.experts._regret import Run, best_mixture, certificate

if cython.compiled:
    from cython.cimports.afterwit.core.learner import Storable
    from cython.cimports.libc.math import INFINITY, NAN, exp, fabs, log, log1p
else:
    from math import exp, fabs, log, log1p
    from math import inf as INFINITY
    from math import nan as NAN

    from afterwit.core.learner import Storable

#: A loss beyond this is refused: its square would not be a number.
LARGEST = cython.declare(cython.double, 1e150)
#: From this many experts on, numpy's loops are worth the calls.
MANY = cython.declare(cython.Py_ssize_t, 2048)
#: Beyond this a whole number has no float.
FLOAT_MAX = float(np.finfo(np.float64).max)
#: How far a loss may be outside its range, as a part of it, to count as rounding.
SLACK = cython.declare(cython.double, 1e-9)
#: The constants of splitmix64, and an odd factor that keeps the streams of different seeds apart.
MASK = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
GOLDEN = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
FIRST_MIX = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
SECOND_MIX = cython.declare(cython.ulonglong, 0x94D049BB133111EB)
STREAM = cython.declare(cython.ulonglong, 0xD1342543DE82EF95)


def view(array: Any) -> Any:
    """An array as the loops want it: interpreted, a memoryview, whose items are plain Python numbers."""
    return array if cython.compiled else memoryview(array)


def numbers(state: Any, name: str, *shape: int) -> Any:
    """An array of a saved state, checked and copied, flat."""
    array = state[name]
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.shape != shape:
        raise invalid(name, f"an array of {' x '.join(map(str, shape))} numbers", array)
    if not np.isfinite(array).all():
        raise invalid(name, "finite numbers", array)
    return view(array.reshape(-1).copy())


def plain(array: Any, *shape: int) -> Any:
    """A copy of one of the learner's arrays, as numpy has it."""
    copied = np.array(array)
    return copied.reshape(shape) if shape else copied


def a_number(state: Any, name: str) -> float:
    """A number of a saved state."""
    value = state[name]
    if type(value) is not float or not -FLOAT_MAX <= value <= FLOAT_MAX:
        raise invalid(name, "a finite number", value)
    return value


def read_range(loss_range: Any) -> tuple[float, float]:
    """The least and the greatest loss."""
    try:
        low, high = (float(end) for end in loss_range)
        if -LARGEST < low < high < LARGEST:
            return low, high
    except (TypeError, ValueError, OverflowError):
        pass
    raise invalid("loss_range", "a pair (low, high) of finite numbers with low < high", loss_range)


def at_least(parameter: str, value: Any, least: int) -> int:
    """A whole number that is not too small."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) < 2**62:
        raise invalid(parameter, f"a whole number, at least {least}", value)
    return int(value)


def between(parameter: str, value: Any, low: float, high: float, words: str) -> float:
    """A number strictly between two others."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not low < value < high:
        raise invalid(parameter, words, value)
    return float(value)


@cython.cclass
class ExpertLearner(Storable):
    """A learner that follows expert advice. Algorithms derive from it and define ``weigh`` and ``update``."""

    role = "experts"
    #: The bounds that hold for the algorithm, as `Theorem` objects.
    theorems = ()
    #: Why there are none, where there are none.
    no_theorem_because = ""
    #: Whether an expert may sleep: a forecast that is NaN, None or absent.
    sleeping = True
    #: Whether it learns from all losses, not only from that of the one it follows.
    sees_all = True

    def __init__(
        self,
        n_experts: Any,
        loss: Any = "square",
        gradient: Any = False,
        loss_range: Any = None,
        seed: Any = 0,
        drawing: bool = False,
    ) -> None:
        self._experts = _advice.read_experts(n_experts)
        self._given_experts = self._experts.names or self._experts.count
        self._n = self._experts.count
        self._many = self._n >= MANY
        self._loss = losses_module.get(loss)
        self._loss_kind = losses_module.NAMES.index(self._loss.kind)
        self._quantile = self._loss.quantile
        if gradient is None:
            gradient = self._loss.has_slope and self._loss.convex
        if not isinstance(gradient, (bool, np.bool_)):
            raise invalid("gradient", "True or False", gradient)
        if gradient and not (self._loss.has_slope and self._loss.convex):
            allowed = "False for a loss that has no gradient or is not convex"
            raise invalid("gradient", allowed, gradient)
        self._linear = bool(gradient)
        self._drawing = drawing or not self._loss.convex
        self._ranged = loss_range is not None
        self._own_in_range = False
        self._low = 0.0
        self._width = 1.0
        if loss_range is not None:
            low, high = read_range(loss_range)
            if self._linear and not low <= 0 <= high:
                raise invalid("loss_range", "a range around 0, because it is that of slopes", loss_range)
            self._low = low
            self._width = high - low
        self._seed = at_least("seed", seed, 0)
        if not cython.compiled:
            self._lock = cython.pymutex()
        self._some_sleep = False
        self._awake = view(np.ones(self._n, dtype=np.int8))
        self._shares = view(np.zeros(self._n))
        self._scratch = view(np.zeros(self._n))
        self._losses = self._scratch
        self._seen_scratch = view(np.zeros(self._n))
        self._seen = self._seen_scratch
        self._values = self._scratch
        self._first = 0
        self._total = 0.0
        self._forecast = 0.0
        self._mixed = 0.0
        self._farthest = 0.0
        self._own = 0.0
        self._rounds = 0
        self._unforecast = 0
        self._total_loss = 0.0
        self._expert_losses = view(np.zeros(self._n))
        self._regrets = view(np.zeros(self._n))
        self._slope_regrets = view(np.zeros(self._n if self._linear else 0))
        self._asleep_rounds = view(np.zeros(self._n, dtype=np.int64))
        self._look_for_sleepers = False
        self._bad_expert = 0
        self._bad_value = 0.0
        self._raised = cast(Any, None)

    # ------------------------------------------------------------------ the idea, and what it may use

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        """Fill the shares of those awake, 0 for those asleep; give back their sum, which is positive."""
        return 1.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        """Learn from ``_seen``, everyone's loss, or from everyone's ``gain``. The round is not yet counted."""

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def predict(self) -> cython.double:
        """The forecast for the current round, whose experts have been weighed."""
        if self._drawing:
            return self._values[self._first + self.drawn()]
        return self.mean()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def exponentiate(self, scores: cython.double[::1], factor: cython.double) -> cython.double:
        """Shares proportional to exp(factor * score), the largest of them 1."""
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = self._n
        shares: cython.double[::1] = self._shares
        awake: cython.schar[::1] = self._awake
        total: cython.double = 0.0
        best: cython.double = -INFINITY
        if self._some_sleep:
            for i in range(n):
                if awake[i] and factor * scores[i] > best:
                    best = factor * scores[i]
            for i in range(n):
                shares[i] = exp(factor * scores[i] - best) if awake[i] else 0.0
                total += shares[i]
            return total
        best = self.largest(scores, factor)
        if self._many:
            return self.exponentiate_many(scores, factor, best)
        for i in range(n):
            shares[i] = exp(factor * scores[i] - best)
            total += shares[i]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def largest(self, scores: cython.double[::1], factor: cython.double) -> cython.double:
        """The largest of factor * score. Four at a time, so that the comparisons overlap."""
        i: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = self._n
        b0: cython.double = -INFINITY
        b1: cython.double = -INFINITY
        b2: cython.double = -INFINITY
        b3: cython.double = -INFINITY
        while i + 3 < n:
            b0 = factor * scores[i] if factor * scores[i] > b0 else b0
            b1 = factor * scores[i + 1] if factor * scores[i + 1] > b1 else b1
            b2 = factor * scores[i + 2] if factor * scores[i + 2] > b2 else b2
            b3 = factor * scores[i + 3] if factor * scores[i + 3] > b3 else b3
            i += 4
        while i < n:
            b0 = factor * scores[i] if factor * scores[i] > b0 else b0
            i += 1
        b0 = b1 if b1 > b0 else b0
        b2 = b3 if b3 > b2 else b2
        return b2 if b2 > b0 else b0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def exponentiate_many(
        self, scores: cython.double[::1], factor: cython.double, best: cython.double
    ) -> cython.double:
        """The same for very many experts who are all awake, where the largest of factor * score is known."""
        i: cython.Py_ssize_t
        shares: cython.double[::1] = self._shares
        for i in range(self._n):
            shares[i] = factor * scores[i] - best
        return self.exponentials()

    @cython.cfunc
    @cython.with_gil
    @cython.exceptval(check=False)
    def exponentials(self) -> cython.double:
        """Replace the shares by their exponentials, with numpy, whose exp takes several at once; their sum."""
        shares = np.asarray(self._shares)
        np.exp(shares, out=shares)
        return float(shares.sum())

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

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def regret_to(self, i: cython.Py_ssize_t) -> cython.double:
        """The sum of the gains."""
        return self._slope_regrets[i] if self._linear else self._regrets[i]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def uniform(self, number: cython.longlong) -> cython.double:
        """A number in [0, 1) from the seed and the round's number alone (splitmix64, Steele et al. 2014)."""
        z: cython.ulonglong = (self._seed * STREAM + (number + 1) * GOLDEN) & MASK
        z = ((z ^ (z >> 30)) * FIRST_MIX) & MASK
        z = ((z ^ (z >> 27)) * SECOND_MIX) & MASK
        z = z ^ (z >> 31)
        return (z >> 11) * 1.1102230246251565e-16

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def drawn(self) -> cython.Py_ssize_t:
        """The expert drawn for the current round."""
        i: cython.Py_ssize_t
        last: cython.Py_ssize_t = 0
        left: cython.double = self.uniform(self._rounds) * self._total
        for i in range(self._n):
            if self._shares[i] > 0:
                last = i
                left -= self._shares[i]
                if left < 0:
                    break
        return last

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mean(self) -> cython.double:
        """The mean of the advice by the shares; it does not leave their hull, however it is rounded."""
        i: cython.Py_ssize_t
        value: cython.double
        low: cython.double = INFINITY
        high: cython.double = -INFINITY
        total: cython.double = 0.0
        first: cython.Py_ssize_t = self._first
        some_sleep: cython.bint = self._some_sleep
        values: cython.double[::1] = self._values
        shares: cython.double[::1] = self._shares
        awake: cython.schar[::1] = self._awake
        for i in range(self._n):
            if some_sleep and not awake[i]:
                continue
            value = values[first + i]
            total += shares[i] * value
            low = value if value < low else low
            high = value if value > high else high
        total = total / self._total
        return low if total < low else high if total > high else total

    # ------------------------------------------------------------------ one round

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def wake(self, first: cython.Py_ssize_t) -> cython.void:
        """Make this row the current round, and weigh those who are awake in it."""
        i: cython.Py_ssize_t
        asleep: cython.Py_ssize_t = 0
        self._first = first
        # Where nobody sleeps in the whole block, all have been woken before it.
        if self._look_for_sleepers:
            for i in range(self._n):
                self._awake[i] = self._values[first + i] == self._values[first + i]
                if not self._awake[i]:
                    asleep += 1
            self._some_sleep = asleep > 0
        self._total = self.weigh()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def everyone(self) -> cython.void:
        """Weigh the experts as if all were awake."""
        self.wake_all()
        self._total = self.weigh()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def wake_all(self) -> cython.void:
        i: cython.Py_ssize_t
        if self._some_sleep:
            for i in range(self._n):
                self._awake[i] = 1
            self._some_sleep = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def loss_of(self, forecast: cython.double, outcome: cython.double) -> cython.double:
        """The loss, by its place in ``losses.NAMES``."""
        difference: cython.double = forecast - outcome
        if self._loss_kind == 0:
            return difference * difference
        if self._loss_kind == 1:
            return fabs(difference)
        if self._loss_kind == 2:
            return fabs(difference) / fabs(outcome)
        if self._loss_kind == 3:
            return -self._quantile * difference if difference < 0 else (1 - self._quantile) * difference
        if self._loss_kind == 4:
            return -log(forecast) if outcome == 1 else -log1p(-forecast)
        if self._loss_kind == 5:
            return 0.0 if forecast == outcome else 1.0
        return self._called(False, forecast, outcome)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def slope_of(self, forecast: cython.double, outcome: cython.double) -> cython.double:
        """The derivative of the loss by the forecast."""
        difference: cython.double = forecast - outcome
        sign: cython.double = -1.0 if difference < 0 else 1.0 if difference > 0 else 0.0
        if self._loss_kind == 0:
            return 2 * difference
        if self._loss_kind == 1:
            return sign
        if self._loss_kind == 2:
            return sign / fabs(outcome)
        if self._loss_kind == 3:
            return -self._quantile if sign < 0 else (1 - self._quantile) * sign
        if self._loss_kind == 4:
            return -1 / forecast if outcome == 1 else 1 / (1 - forecast)
        return self._called(True, forecast, outcome)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _called(self, slope: cython.bint, forecast: cython.double, outcome: cython.double) -> cython.double:
        """What the user's function gives; what it raises is kept for later, and the loss is then not a number."""
        result: cython.double = NAN
        with cython.gil:
            try:
                call: Any = self._loss.gradient if slope else self._loss.call
                result = float(call(forecast, outcome))
            except BaseException as error:
                # Kept, also if somebody wants to stop, until there is an exception to be raised from.
                self._raised = error
        return result

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def judge(self, outcome: cython.double) -> cython.int:
        """Everyone's loss in the current round. Not 0 if one is out of bounds; nothing learned has changed yet."""
        i: cython.Py_ssize_t
        bad: cython.int
        first: cython.Py_ssize_t = self._first
        some_sleep: cython.bint = self._some_sleep
        values: cython.double[::1] = self._values
        losses: cython.double[::1] = self._losses
        if self._loss_kind == 0:
            for i in range(self._n):
                losses[i] = (values[first + i] - outcome) * (values[first + i] - outcome)
        elif self._loss_kind == 1:
            for i in range(self._n):
                losses[i] = fabs(values[first + i] - outcome)
        else:
            for i in range(self._n):
                if not some_sleep or self._awake[i]:
                    losses[i] = self.loss_of(values[first + i], outcome)
        bad = self.show()
        if bad:
            return bad
        self._own = self._low + self._width * self._mixed if self._drawing else self.loss_of(self._forecast, outcome)
        if not fabs(self._own) < LARGEST:
            self._bad_expert = -1
            self._bad_value = self._own
            return 1
        if self._own_in_range and self._ranged and not self._linear:
            scaled: cython.double = (self._own - self._low) / self._width
            if not -SLACK <= scaled <= 1 + SLACK:
                self._bad_expert = -1
                self._bad_value = self._own
                return 2
        if self._linear:
            return self.show_tangent(self.slope_of(self._forecast, outcome), self._forecast, False)
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def judge_losses(self) -> cython.int:
        """The same where the losses themselves are what came."""
        first: cython.Py_ssize_t = self._first
        values: cython.double[::1] = self._values
        # The row itself, for as long as the round lasts.
        self._losses = values[first : first + self._n]
        return self.show_losses()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def show_losses(self) -> cython.int:
        """What the algorithm sees where ``_losses`` is all that is known."""
        bad: cython.int = self.show()
        self._own = self._low + self._width * self._mixed
        if self._linear and not bad:
            return self.show_tangent(1.0, self._own, True)
        return bad

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def show(self) -> cython.int:
        """What the algorithm sees of the losses: scaled to [0, 1] where there is a range."""
        i: cython.Py_ssize_t
        n: cython.Py_ssize_t = self._n
        low: cython.double = self._low
        width: cython.double = self._width
        checked: cython.bint = self._ranged and not self._linear
        middle: cython.double = 0.5 if checked else 0.0
        awake: cython.schar[::1] = self._awake
        losses: cython.double[::1] = self._losses
        seen: cython.double[::1] = self._seen_scratch
        if self._some_sleep:
            # For now a sleeper has the middle loss, and no share.
            for i in range(n):
                seen[i] = (losses[i] - low) / width if awake[i] else middle
            self._seen = seen
        elif low == 0 and width == 1:
            # The losses as they are, for as long as the round lasts: among very many experts a copy costs.
            self._seen = losses
        else:
            for i in range(n):
                seen[i] = (losses[i] - low) / width
            self._seen = seen
        self.mix(middle)
        if checked and self._farthest > 0.5:
            if self._farthest > 0.5 + SLACK:
                return self._find_bad(2)
            for i in range(n):
                seen[i] = 0.0 if self._seen[i] < 0 else 1.0 if self._seen[i] > 1 else self._seen[i]
            self._seen = seen
            self.mix(middle)
        # A loss that is not a number makes the mixture none, even with no share.
        if not fabs(self._mixed) < LARGEST or (not checked and self._farthest * width >= LARGEST):
            return self._find_bad(1)
        if self._some_sleep:
            for i in range(n):
                if not awake[i]:
                    seen[i] = self._mixed
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mix(self, middle: cython.double) -> cython.void:
        """The mixture's loss, and how far from the middle a loss gets. Four running sums let the additions overlap."""
        i: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = self._n
        seen: cython.double[::1] = self._seen
        shares: cython.double[::1] = self._shares
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
    def _find_bad(self, bad: cython.int) -> cython.int:
        """Remember the first loss that is out of bounds: not a number that can be squared, or outside its range."""
        i: cython.Py_ssize_t
        scaled: cython.double
        for i in range(self._n):
            if self._some_sleep and not self._awake[i]:
                continue
            scaled = (self._losses[i] - self._low) / self._width
            if not fabs(self._losses[i]) < LARGEST or (bad == 2 and not -SLACK <= scaled <= 1 + SLACK):
                break
        self._bad_expert = i
        self._bad_value = self._losses[i]
        return bad if fabs(self._losses[i]) < LARGEST else 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def show_tangent(self, slope: cython.double, forecast: cython.double, of_losses: cython.bint) -> cython.int:
        """What it sees with the gradient trick: the tangent at the forecast, which is 0 there.

        Where only losses are known they are their own tangent, and the mixture's loss is the forecast.
        """
        i: cython.Py_ssize_t
        seen: cython.double
        self._seen = self._seen_scratch
        for i in range(self._n):
            if self._some_sleep and not self._awake[i]:
                self._seen[i] = -self._low / self._width
                continue
            seen = slope * ((self._losses[i] if of_losses else self._values[self._first + i]) - forecast)
            if not fabs(seen) < LARGEST:
                self._bad_expert = i
                self._bad_value = seen
                return 1
            if self._ranged:
                self._bad_value = seen
                seen = (seen - self._low) / self._width
                if not -SLACK <= seen <= 1 + SLACK:
                    self._bad_expert = i
                    return 3
                seen = 0.0 if seen < 0 else 1.0 if seen > 1 else seen
            self._seen[i] = seen
        self._mixed = -self._low / self._width
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def commit(self) -> cython.void:
        """Count the round and learn from it."""
        i: cython.Py_ssize_t
        own: cython.double = self._own
        some_sleep: cython.bint = self._some_sleep
        awake: cython.schar[::1] = self._awake
        losses: cython.double[::1] = self._losses
        expert_losses: cython.double[::1] = self._expert_losses
        regrets: cython.double[::1] = self._regrets
        if not some_sleep:
            for i in range(self._n):
                expert_losses[i] += losses[i]
                regrets[i] += own - losses[i]
        else:
            for i in range(self._n):
                if awake[i]:
                    expert_losses[i] += losses[i]
                    regrets[i] += own - losses[i]
                else:
                    self._asleep_rounds[i] += 1
        if self._linear:
            for i in range(self._n):
                self._slope_regrets[i] += self.gain(i)
        self._total_loss += own
        self.update()
        self._rounds += 1

    # ------------------------------------------------------------------ rounds as the user has them

    def predict_one(self, advice: Any) -> float:
        """The forecast for a round with this advice. Nothing changes."""
        values, experts = _advice.read_round(advice, self._experts, self._rounds == 0)
        return self._predictions(values, experts).item()

    def predict_many(self, advice: Any) -> Any:
        """``predict_one`` for every row, each as if it came next."""
        values, experts = _advice.read_rounds(advice, self._experts, self._rounds == 0)
        return self._predictions(values, experts)

    def learn_one(self, advice: Any, outcome: Any) -> float:
        """Forecast, see the outcome, count the losses, learn. Returns the forecast."""
        values, experts = _advice.read_round(advice, self._experts, self._rounds == 0)
        outcome = outcome.item() if isinstance(outcome, np.generic) else outcome
        is_number = isinstance(outcome, Real)
        if not is_number or not -FLOAT_MAX <= outcome <= FLOAT_MAX:
            raise invalid("outcome", "a finite number", outcome)
        outcomes = np.full(1, float(outcome))
        self._loss.check_outcomes(outcomes, "outcome")
        return self._learn(values, outcomes, experts)[0].item()

    def learn_many(self, advice: Any, outcomes: Any) -> Any:
        """``learn_one`` for every row in order. Returns the forecasts made before each outcome was seen."""
        values, experts = _advice.read_rounds(advice, self._experts, self._rounds == 0)
        read = _advice.read_outcomes(outcomes, len(values))
        self._loss.check_outcomes(read)
        return self._learn(values, read, experts)[0]

    def observe(self, losses: Any) -> float:
        """A round of which only the losses are known, one for each expert. Returns the loss of the mixture."""
        values, experts = _advice.read_round(losses, self._experts, self._rounds == 0, "losses")
        return self._learn(values, None, experts)[1].item()

    def observe_many(self, losses: Any) -> Any:
        """``observe`` for every row in order."""
        values, experts = _advice.read_rounds(losses, self._experts, self._rounds == 0, "losses")
        return self._learn(values, None, experts)[1]

    def _scaled(self, loss: Any) -> float:
        """One loss, as the algorithm sees it."""
        scaled = (float(loss) - self._low) / self._width if isinstance(loss, Real) else NAN
        if not -SLACK <= scaled <= 1 + SLACK:
            raise invalid("loss", f"a number within loss_range {self._range}", loss)
        return min(max(scaled, 0.0), 1.0)

    def _present(self, values: Any, experts: Any, parameter: str = "advice") -> bool:
        """Refuse rounds that cannot be; whether somebody sleeps in one of them."""
        refusal = f"{type(self).__name__} does not support sleeping experts"
        return _advice.check_presence(values, experts, self.sleeping, refusal, parameter)

    def _predictions(self, values: Any, experts: Any) -> Any:
        t: cython.Py_ssize_t
        rounds: cython.Py_ssize_t = len(values)
        n: cython.Py_ssize_t = self._n
        sleepers: cython.bint = self._present(values, experts)
        self._loss.check_forecasts(values)
        forecasts = np.empty(rounds)
        made: cython.double[::1] = view(forecasts)
        with self._lock:
            self._values = view(values.reshape(-1))
            self.wake_all()
            self._look_for_sleepers = sleepers
            with cython.nogil:
                for t in range(rounds):
                    self.wake(t * n)
                    made[t] = self.predict()
            self._let_go()
        return forecasts

    def _learn(self, values: Any, outcomes: Any, experts: Any, shares: Any = None) -> Any:
        """Learn checked rows in order: the forecasts, and the losses, made before each outcome was used.

        ``shares`` may be an array to be filled with everyone's share in each round.
        """
        t: cython.Py_ssize_t
        i: cython.Py_ssize_t
        rounds: cython.Py_ssize_t = len(values)
        n: cython.Py_ssize_t = self._n
        bad: cython.int = 0
        forecasting: cython.bint = outcomes is not None
        keeping: cython.bint = shares is not None
        sleepers: cython.bint = self._present(values, experts, "advice" if forecasting else "losses")
        if forecasting:
            self._loss.check_forecasts(values)
        forecasts = np.empty(rounds)
        suffered = np.empty(rounds)
        made: cython.double[::1] = view(forecasts)
        own: cython.double[::1] = view(suffered)
        targets: cython.double[::1] = view(outcomes if forecasting else np.zeros(1))
        kept: cython.double[::1] = view(shares.reshape(-1) if keeping else np.zeros(1))
        with self._lock:
            before = self._state() if rounds > 1 else None
            self._values = view(values.reshape(-1))
            self.wake_all()
            self._look_for_sleepers = sleepers
            with cython.nogil:
                for t in range(rounds):
                    self.wake(t * n)
                    if keeping:
                        for i in range(n):
                            kept[t * n + i] = self._shares[i] / self._total
                    if forecasting:
                        self._forecast = self.predict()
                        made[t] = self._forecast
                        bad = self.judge(targets[t])
                    else:
                        bad = self.judge_losses()
                    if bad:
                        break
                    own[t] = self._own
                    self.commit()
                    if not forecasting:
                        self._unforecast += 1
            if bad:
                refusal = self._refusal(bad, t, rounds, experts)
                self._let_go()
                if before is not None:
                    self._become(before)
                raise refusal
            if rounds:
                self._experts = experts
            self._let_go()
        return forecasts, suffered

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _let_go(self) -> cython.int:
        """Keep nothing of the caller's arrays."""
        self._values = self._scratch
        self._losses = self._scratch
        self._seen = self._seen_scratch
        return 0

    def _refusal(self, bad: int, t: int, rounds: int, experts: Any) -> Any:
        raised, self._raised = self._raised, None
        if raised is not None:
            return raised
        who = "the forecast" if self._bad_expert < 0 else f"expert {experts.name(self._bad_expert)!r}"
        place = f"{who} in row {t}" if rounds > 1 else who
        if bad == 1:
            return invalid(f"the loss of {place}", f"a finite number below {LARGEST:g} in size", self._bad_value)
        what = "the loss" if bad == 2 else "slope * (advice - forecast)"
        allowed = f"within loss_range ({self._low:g}, {self._low + self._width:g})"
        hint = "" if type(self).__name__ in ("BOA", "MLpol") else "; AdaHedge, BOA and MLpol need no range"
        return invalid(f"{what} of {place}", allowed + hint, self._bad_value)

    # ------------------------------------------------------------------ what it knows

    @property
    def rounds(self) -> int:
        return self._rounds

    @property
    def experts(self) -> tuple[Any, ...]:
        """The experts' names, or their positions."""
        return tuple(self._experts.name(i) for i in range(self._n))

    @property
    def weights(self) -> Any:
        """The share each expert would have in the next round, if all were awake; they sum to 1."""
        with self._lock:
            with cython.nogil:
                self.everyone()
            return plain(self._shares) / self._total

    @property
    def loss(self) -> float:
        """The learner's cumulative loss; where it follows one expert by chance, the expected loss."""
        return self._total_loss

    @property
    def expert_losses(self) -> Any:
        """Each expert's cumulative loss, over the rounds in which it was awake."""
        return plain(self._expert_losses)

    @property
    def regrets(self) -> Any:
        """To each expert: the learner's loss less the expert's, over the rounds in which the expert was awake."""
        return plain(self._regrets)

    @property
    def regret(self) -> float:
        """The largest regret to any expert."""
        return self._of_the_awake().max().item() if self._rounds else 0.0

    def _of_the_awake(self) -> Any:
        """The regrets; that to an expert who has never been awake is less than any."""
        if self._rounds == 0:
            return plain(self._regrets)
        return np.where(plain(self._asleep_rounds) < self._rounds, plain(self._regrets), -np.inf)

    @property
    def awake_rounds(self) -> Any:
        """In how many rounds each expert was awake."""
        return self._rounds - plain(self._asleep_rounds)

    @property
    def takes_losses(self) -> bool:
        """Whether losses alone are enough for it: not where it votes on labels."""
        return True

    @property
    def best_expert(self) -> Any:
        """The expert to whom the regret is largest: with nobody asleep, the one with the least loss."""
        return self._experts.name(int(np.argmax(self._of_the_awake())))

    def certificate(self, advice: Any = None, outcomes: Any = None) -> Any:
        """What theory promised, what happened, what hindsight would have given; from the learner's state alone.

        With the advice and outcomes it learned from, hindsight is the best mixture, for algorithms that follow a
        gradient, or the best sequence of experts, for those that track.
        """
        return certificate(self, advice, outcomes)

    def _evidence(self) -> Run:
        """What the theorems are applied to."""
        with self._lock:
            return Run(
                subject=type(self).__name__,
                names=self.experts,
                rounds=self._rounds,
                unforecast=self._unforecast,
                loss=self._total_loss,
                expert_losses=plain(self._expert_losses),
                regrets=plain(self._regrets),
                slope_regrets=plain(self._slope_regrets),
                awake_rounds=self._rounds - plain(self._asleep_rounds),
                loss_function=self._loss,
                linear=bool(self._linear),
                drawing=bool(self._drawing),
                low=self._low,
                width=self._width,
                ranged=bool(self._ranged),
                parameters=self.parameters,
                kept=self._kept(),
            )

    def _comparator(self, run: Run, values: Any, outcomes: Any) -> Any:
        """What hindsight can find when it has the rounds themselves."""
        return best_mixture(run, values, outcomes)

    def _kept(self) -> dict[str, Any]:
        """What the theorems need to know of the algorithm's own state."""
        return {}

    @property
    def parameters(self) -> dict[str, Any]:
        raise NotImplementedError

    @property
    def _range(self) -> Any:
        return (self._low, self._low + self._width) if self._ranged else None

    @property
    def _loss_given(self) -> Any:
        return self._loss if self._loss.kind == "function" else self._loss.name

    def state(self) -> dict[str, Any]:
        with self._lock:
            return self._state()

    def restore(self, state: Any) -> None:
        self._check_state(state)
        with self._lock:
            self._become(state)

    def _state(self) -> dict[str, Any]:
        return {
            "rounds": self._rounds,
            "unforecast": self._unforecast,
            "names": list(self._experts.names),
            "loss": self._total_loss,
            "expert_losses": plain(self._expert_losses),
            "regrets": plain(self._regrets),
            "slope_regrets": plain(self._slope_regrets),
            "asleep_rounds": plain(self._asleep_rounds),
        }

    def _check_state(self, state: Any) -> None:
        """Refuse a state that is not one of this learner's."""
        if at_least("unforecast", state["unforecast"], 0) > at_least("rounds", state["rounds"], 0):
            raise invalid("unforecast", "at most rounds", state["unforecast"])
        a_number(state, "loss")
        for name in ("expert_losses", "regrets"):
            numbers(state, name, self._n)
        numbers(state, "slope_regrets", self._n if self._linear else 0)
        counts = state["asleep_rounds"]
        if not isinstance(counts, np.ndarray) or counts.dtype != np.int64 or counts.shape != (self._n,):
            raise invalid("asleep_rounds", f"an array of {self._n} whole numbers", counts)
        if self._n and not 0 <= counts.min() <= counts.max() <= state["rounds"]:
            raise invalid("asleep_rounds", "counts, none above rounds", counts)
        if not isinstance(state["names"], list) or len(state["names"]) > self._n:
            raise invalid("names", f"at most {self._n} names", state["names"])

    def _become(self, state: Any) -> None:
        self._rounds = state["rounds"]
        self._unforecast = state["unforecast"]
        self._experts = _advice.Experts(self._n, state["names"])
        self._total_loss = state["loss"]
        self._expert_losses = numbers(state, "expert_losses", self._n)
        self._regrets = numbers(state, "regrets", self._n)
        self._slope_regrets = numbers(state, "slope_regrets", self._n if self._linear else 0)
        self._asleep_rounds = view(state["asleep_rounds"].copy())

    def __repr__(self) -> str:
        shown = {name: value for name, value in self.parameters.items() if value is not None and value is not False}
        given = ", ".join(f"{name}={shorten(value, 40)}" for name, value in shown.items())
        happened = f"{self._rounds:,} rounds, loss {self._total_loss:.6g}, regret {self.regret:.4g}"
        return f"{type(self).__name__}({given}): {happened}"
