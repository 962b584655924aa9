# cython: boundscheck=False, wraparound=False, cdivision=True
"""One round in which forecasts may be probability vectors: a probability for each kind of outcome.

What is different from rounds of numbers: how the mean is made, what a forecast loses, and the tangents. With the
gradient g of the loss at the forecast f, the algorithm is shown g . (x - f) for the vector x of an expert.

The log loss of a probability near 1 depends on the rest to 1, as in `JudgedRound`.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.core.registry import classes, options_of
from afterwit.data import advice as _advice
from afterwit.data import losses as losses_module
from afterwit.data import vectors as _vectors
from afterwit.data.checks import FLOAT_MAX
from afterwit.data.room import require_room
from afterwit.errors import invalid

if cython.compiled:
    from cython.cimports.afterwit.experts._judged import JudgedRound
    from cython.cimports.libc.math import INFINITY, fabs
else:
    from math import fabs
    from math import inf as INFINITY

    from afterwit.experts._judged import JudgedRound


LOG = cython.declare(cython.int, losses_module.NAMES.index("log"))


@cython.cclass
class VectorRound(JudgedRound):
    """A round whose forecast and advice may be probability vectors."""

    def _begin_vectors(self, kinds: Any) -> None:
        self._kinds_known = kinds
        self._kinds = 0 if kinds is None else kinds.count
        self._vector = view(np.zeros(self._kinds))
        self._least = view(np.zeros(self._kinds))
        self._most = view(np.zeros(self._kinds))
        self._tangents = view(np.zeros(self._n if self._kinds and self._linear else 0))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def forecast_vector(self) -> cython.void:
        """The mean of the advice by the shares; no probability leaves the range of the advice by rounding."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        value: cython.double
        kinds: cython.Py_ssize_t = self._kinds
        values: cython.double[::1] = self._values
        vector: cython.double[::1] = self._vector
        least: cython.double[::1] = self._least
        most: cython.double[::1] = self._most
        for k in range(kinds):
            vector[k] = 0.0
            least[k] = INFINITY
            most[k] = -INFINITY
        for i in range(self._n):
            if self._some_sleep and not self._awake[i]:
                continue
            at = self._first + i * kinds
            for k in range(kinds):
                value = values[at + k]
                vector[k] += self._shares[i] * value
                least[k] = value if value < least[k] else least[k]
                most[k] = value if value > most[k] else most[k]
        for k in range(kinds):
            value = vector[k] / self._total
            vector[k] = least[k] if value < least[k] else most[k] if value > most[k] else value

    # ------------------------------------------------------------------ losses

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def loss_of_vector(
        self, values: cython.double[::1], first: cython.Py_ssize_t, outcome: cython.Py_ssize_t
    ) -> cython.double:
        """The loss of the vector that begins there."""
        k: cython.Py_ssize_t
        chance: cython.double
        difference: cython.double
        total: cython.double = 0.0
        if self._loss_kind == LOG:
            chance = values[first + outcome]
            return self.minus_log(chance, 1 - chance) if chance > 0 else INFINITY
        for k in range(self._kinds):
            difference = values[first + k] - 1 if k == outcome else values[first + k]
            total += difference * difference
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def own_loss_of_vector(self, outcome: cython.Py_ssize_t) -> cython.double:
        """The loss of the forecast."""
        if self._loss_kind != LOG:
            return self.loss_of_vector(self._vector, 0, outcome)
        self._complement = self.complement_of(outcome)
        if self._vector[outcome] > 0:
            return self.minus_log(self._vector[outcome], self._complement)
        return INFINITY

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def complement_of(self, kind: cython.Py_ssize_t) -> cython.double:
        """1 - the mean of the probabilities of a kind, to its own last digits."""
        i: cython.Py_ssize_t
        rest: cython.double
        low: cython.double = INFINITY
        high: cython.double = -INFINITY
        total: cython.double = 0.0
        for i in range(self._n):
            if self._awake[i]:
                rest = 1 - self._values[self._first + i * self._kinds + kind]
                total += self._shares[i] * rest
                low = rest if rest < low else low
                high = rest if rest > high else high
        total = total / self._total
        return low if total < low else high if total > high else total

    # ------------------------------------------------------------------ judging a round

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def judge_vector(self, outcome: cython.Py_ssize_t) -> cython.int:
        """Everyone's loss in the current round. Says what is bad, if anything; nothing learned has changed yet."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        bad: cython.int
        self._has_forecast = True
        for i in range(self._n):
            if not self._some_sleep or self._awake[i]:
                self._losses[i] = self.loss_of_vector(self._values, self._first + i * self._kinds, outcome)
        bad = self.show()
        if bad:
            return bad
        self._own = self.own_loss_of_vector(outcome)
        bad = self.show_own()
        if bad:
            return bad
        self._moved = 0.0
        if self._loss_kind != LOG:
            for k in range(self._kinds):
                self._moved += 2 * fabs(self._vector[k] - (k == outcome)) * self._vector[k]
        return self.show_tangents(outcome) if self._linear else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def show_tangents(self, outcome: cython.Py_ssize_t) -> cython.int:
        """What the algorithm sees with the gradient trick: of each expert g . (x - f), which is 0 at the forecast."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        bad: cython.int
        tangent: cython.double
        largest: cython.double = 0.0
        chance: cython.double = self._vector[outcome]
        for i in range(self._n):
            if self._some_sleep and not self._awake[i]:
                continue
            at = self._first + i * self._kinds
            tangent = 0.0
            if self._loss_kind != LOG:
                for k in range(self._kinds):
                    tangent += 2 * (self._vector[k] - (k == outcome)) * (self._values[at + k] - self._vector[k])
            elif chance > 0.5:
                tangent = ((1 - self._values[at + outcome]) - self._complement) / chance
            else:
                tangent = (chance - self._values[at + outcome]) / chance
            self._tangents[i] = tangent
            largest = fabs(tangent) if fabs(tangent) > largest else largest
        # The tangents are shown as losses of which only these are known; the losses themselves are counted.
        self._losses = self._tangents
        bad = self.show_tangent(1.0, 0.0, True)
        self._losses = self._scratch
        if self._loss_kind == LOG:
            self._moved += largest
        return bad

    # ------------------------------------------------------------------ reading rounds

    def _read_kinds(self, loss: Any) -> Any:
        """The kinds of outcomes, where forecasts are probability vectors; None where they are numbers."""
        outcomes = self._options.get("outcomes")
        if loss.kind == "brier" and "outcomes" not in self._options:
            able = [name for name, kind in classes("experts").items() if "outcomes" in options_of(kind)]
            allowed = f"one of numbers for {type(self).__name__}; {', '.join(able)} take probability vectors"
            raise invalid("loss", allowed, loss)
        if loss.kind == "brier" and outcomes is None:
            raise invalid("outcomes", "given for the loss 'brier': how many kinds, at least 2, or their names", None)
        if outcomes is not None and loss.kind not in ("brier", "log"):
            raise invalid("outcomes", f"None for the loss {loss.name!r}, of which forecasts are numbers", outcomes)
        if outcomes is None:
            return None
        # A name, its place, and a few numbers for each.
        require_room("outcomes", 256 * (outcomes if isinstance(outcomes, int) else len(outcomes)))
        return _vectors.Kinds(outcomes)

    def _read_round(self, advice: Any, experts: Any, fresh: bool) -> Any:
        """The advice of one round as an array, and who gave it."""
        if self._kinds:
            return _vectors.read_round(advice, experts, self._kinds_known, fresh)
        return _advice.read_round(advice, experts, fresh)

    def _read_rounds(self, advice: Any, experts: Any, fresh: bool) -> Any:
        """The same for many rounds."""
        if self._kinds:
            return _vectors.read_rounds(advice, experts, self._kinds_known, fresh)
        return _advice.read_rounds(advice, experts, fresh)

    def _read_outcome(self, outcome: Any) -> Any:
        """What happened, as an array of one number: the outcome itself, or the position of its kind."""
        if self._kinds:
            return self._kinds_known.read_one(outcome)
        outcome = outcome.item() if isinstance(outcome, np.generic) else outcome
        is_number = isinstance(outcome, Real)
        if not is_number or not -FLOAT_MAX <= outcome <= FLOAT_MAX:
            raise invalid("outcome", "a finite number", outcome)
        outcomes = np.full(1, float(outcome))
        self._loss_function.check_outcomes(outcomes, "outcome")
        return outcomes

    def _read_outcomes(self, outcomes: Any, rounds: int) -> Any:
        """The same for many rounds."""
        if self._kinds:
            return self._kinds_known.read(outcomes, rounds)
        read = _advice.read_outcomes(outcomes, rounds)
        self._loss_function.check_outcomes(read)
        return read

    def _single(self, forecasts: Any) -> Any:
        """The forecast of the only round: a number, or an array with a probability for each kind."""
        return forecasts[0] if self._kinds else forecasts.item()
