# cython: boundscheck=False, wraparound=False, cdivision=True
"""Rounds of expert advice whose outcomes come late: the forecast that was served is judged, and learned from.

An algorithm whose ``late`` is "served" counts the loss of the forecast that the ticket has; everyone's losses are
learned when the outcome comes. What lateness costs beyond the algorithm's own regret is measured: the loss of the
forecast served less that of the mixture at arrival, where it is above 0 (with slopes, the tangent's). An outcome that
comes at once teaches the same, bit for bit. All other algorithms learn as ``learn_one`` does when the outcome comes.
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core import late
from afterwit.core.declared import is_not_negative
from afterwit.core.delays import COUNTS, counts_in
from afterwit.core.learner import view
from afterwit.data.losses import NAMES
from afterwit.errors import invalid

if cython.compiled:
    from cython.cimports.afterwit.experts._judged import JudgedRound
    from cython.cimports.afterwit.experts._vectors import VectorRound
    from cython.cimports.libc.math import fabs
else:
    from math import fabs

    from afterwit.experts._judged import JudgedRound
    from afterwit.experts._vectors import VectorRound

LOG = cython.declare(cython.int, NAMES.index("log"))
#: What a ticket has of a forecast.
FORECAST = ("forecast", "complement")


@cython.cclass
class LateRound(VectorRound):
    """A round that may have been served before."""

    #: What an outcome that comes late finds, see `afterwit.core.late`.
    late = "arrival"

    def _begin_late(self) -> None:
        self._told_at = 0
        self._forecast_now = 0.0
        self._take_late_counts([0] * len(COUNTS), 0.0, 0.0)
        self._recall_from((np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64)))
        self._recalling = False

    def _take_late_counts(self, counts: Any, drift: float, excess: float) -> None:
        self._late, self._late_total, self._late_largest = counts[:3]
        self._late_drift, self._late_excess = drift, excess

    def _recall_from(self, served: Any) -> None:
        """The rounds to be learned were served with these forecasts, after so many rounds; None: they were not."""
        self._recalling = served is not None
        if served is not None:
            forecasts, complements, rounds = served
            self._told_forecasts = view(forecasts)
            self._told_complements = view(complements)
            self._told_rounds = view(rounds)

    # ------------------------------------------------------------------ what the loop uses

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def recall(self, t: cython.Py_ssize_t) -> cython.void:
        """Put the forecast that was served in the place of the one there would be now."""
        self._told_at = t
        self._forecast_now = self._forecast  # type: ignore[has-type]
        self._forecast = self._told_forecasts[t]
        self._reach = max(self._reach, fabs(self._forecast))  # type: ignore[has-type]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mean_complement(self) -> cython.double:
        return self._told_complements[self._told_at] if self._recalling else JudgedRound.mean_complement(self)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_delay(self, outcome: cython.double) -> cython.void:
        """Count how late the outcome of the current round is, and what that costs. The round is not yet counted."""
        since: cython.longlong = self._rounds - self._told_rounds[self._told_at]
        drift: cython.double
        if since <= 0:
            return
        self._late += 1
        self._late_total += since
        self._late_largest = max(self._late_largest, since)
        if self._linear:
            drift = self.own_slope(outcome) * (self._forecast - self._forecast_now)
        else:
            drift = self._own - (self._low + self._width * self._mixed)
        if drift > 0:
            self._late_drift += drift
        if self._shows_own:
            drift = self._own - self.loss_now(outcome)
            if drift > 0:
                self._late_excess += drift

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def loss_now(self, outcome: cython.double) -> cython.double:
        """The loss of the forecast that there would be now; of the log loss to its own last digits."""
        rest: cython.double
        if self._loss_kind != LOG:
            return self.loss_of(self._forecast_now, outcome)
        rest = JudgedRound.mean_complement(self)
        return self.minus_log(self._forecast_now, rest) if outcome == 1 else self.minus_log(rest, self._forecast_now)

    # ------------------------------------------------------------------ serving, and learning late

    def serve_one(self, advice: Any) -> Any:
        """The forecast, and a ticket for ``learn_late``, which is plain data. Nothing changes."""
        values, experts = self._read_round(advice, self._experts, self._rounds == 0)
        forecasts, tickets = self._serve(values, experts)
        return self._single(forecasts), tickets[0]

    def serve_many(self, advice: Any) -> Any:
        """``serve_one`` for every row, each as if it came next: the forecasts as an array, and a list of tickets."""
        values, experts = self._read_rounds(advice, self._experts, self._rounds == 0)
        return self._serve(values, experts)

    def _require_finite_losses(self, values: Any, experts: Any) -> None:
        """Refuse forecasts of 0 and 1 under the log loss: those with a share may have none when the outcome comes."""
        if self.late == "served":
            remedy = "learn_one takes 0 and 1"
            self._loss_function.check_forecasts(values, experts.name, remedy=remedy)

    def _serve(self, values: Any, experts: Any) -> Any:
        self._require_finite_losses(values, experts)
        complements = np.zeros(len(values))
        while True:
            moment = (self._rounds, self._rounds)
            forecasts = self._predictions(values, experts, None, complements)
            if moment[0] == self._rounds:
                break
        names = (
            {"names": [late.plain(name, "the name of an expert") for name in experts.names]} if experts.names else {}
        )
        tickets = []
        for row, forecast, rest in zip(values.tolist(), forecasts.tolist(), complements.tolist(), strict=True):
            advised = [None if _is_missing(value) else value for value in row]
            kept = advised[: len(experts.names)] if names else advised
            served = {"forecast": forecast, "complement": rest}
            tickets.append(late.new_ticket(self, moment, {"values": kept, **names}, served))
        return forecasts, tickets

    def learn_late(self, ticket: Any, outcome: Any) -> Any:
        """Learn the round of a ticket, whose outcome has come. Returns the forecast that was served."""
        advice, served = self._tickets([ticket], ["ticket"])
        if self.late == "arrival":
            self.learn_one(advice[0], outcome)
            return self._single(served[0])
        values, experts = self._read_round(advice[0], self._experts, self._rounds == 0)
        self._require_finite_losses(values, experts)
        return self._learn(values, self._read_outcome(outcome), experts, None, served)[0].item()

    def learn_late_many(self, tickets: Any, outcomes: Any) -> Any:
        """``learn_late`` for every ticket in order. Returns the forecasts that were served."""
        tickets, outcomes = list(tickets), outcomes if hasattr(outcomes, "__len__") else list(outcomes)
        advice, served = self._tickets(tickets, late.places(tickets))
        read = self._read_outcomes(outcomes, len(tickets))
        if not tickets:
            return served[0]
        if self.late == "arrival":
            # Outcomes of vectors have been read as the positions of their kinds.
            self.learn_many(advice, outcomes if self._kinds else read)
            return served[0]
        values, experts = self._read_rounds(advice, self._experts, self._rounds == 0)
        self._require_finite_losses(values, experts)
        return self._learn(values, read, experts, None, served)[0]

    def _tickets(self, tickets: Any, where: Any) -> Any:
        """The advice of tickets, and how they were served; refused if one is not a ticket of this algorithm."""
        advice = []
        for each, place in zip(tickets, where, strict=True):
            late.require_ticket(self, each, FORECAST, place)
            forecast, rest = each["forecast"], each["complement"]
            numbers = forecast if self._kinds and type(forecast) is list else [forecast]
            if len(numbers) != (self._kinds or 1) or not _are_numbers([*numbers, rest]):
                allowed = f"{self._kinds} finite numbers" if self._kinds else "a finite number, and the rest to 1"
                raise invalid(f"forecast of the {place}", allowed, (forecast, rest))
            try:
                advice.append(_advised(each["x"], self._kinds))
            except (ValueError, TypeError, KeyError):
                raise late.unreadable(place, self, each["x"]) from None
        forecasts, complements = (np.array([each[name] for each in tickets], dtype=np.float64) for name in FORECAST)
        forecasts = forecasts.reshape([len(tickets), self._kinds] if self._kinds else -1)
        return advice, (forecasts, complements, np.array([each["rounds"] for each in tickets], dtype=np.int64))

    @property
    def delays(self) -> Any:
        """How late outcomes were, as counts by name; None if none was, or if it does not learn by what it served."""
        if not self._late:
            return None
        # Every round is an update.
        between = (self._late_total, self._late_largest)
        return dict(zip(COUNTS, (self._late, *between, *between), strict=True))

    # ------------------------------------------------------------------ copying, comparing, saving

    def _state(self) -> dict[str, Any]:
        state = JudgedRound._state(self)
        if not self._late:
            return state
        costs = {"late_drift": self._late_drift, "late_excess": self._late_excess}
        return {**state, "late_labels": self.delays, **costs}

    def _check_counts(self, state: Any) -> None:
        if "late_labels" not in state:
            return
        if type(state["rounds"]) is not int or self.late == "arrival":
            raise invalid("late_labels", f"left out for {type(self).__name__}", state["late_labels"])
        counts_in(state)
        for name in ("late_drift", "late_excess"):
            if type(state[name]) is not float or not is_not_negative(state[name]):
                raise invalid(name, "a finite number, at least 0", state[name])

    def _become(self, state: Any) -> None:
        JudgedRound._become(self, state)
        self._take_late_counts(counts_in(state), state.get("late_drift", 0.0), state.get("late_excess", 0.0))


def _is_missing(value: Any) -> bool:
    """Whether this is the number, or the probabilities, of an expert that sleeps."""
    first = value[0] if type(value) is list else value
    return bool(first != first)


def _are_numbers(values: Any) -> bool:
    return all(type(value) is float and math.isfinite(value) for value in values)


def _advised(x: Any, kinds: int) -> Any:
    """The advice that was written down: a list, or a dict by name; of probability vectors where there are kinds."""
    values = x["values"]
    if type(values) is not list:
        raise ValueError
    for value in values:
        vector = value if kinds and type(value) is list else [value]
        if value is not None and (len(vector) != (kinds or 1) or not _are_numbers(vector)):
            raise ValueError
    if set(x) == {"values"}:
        return values
    names = [late.from_plain(name) for name in x["names"]]
    if set(x) != {"values", "names"} or len(names) != len(values) or len(set(names)) != len(names):
        raise ValueError
    return dict(zip(names, values, strict=True))
