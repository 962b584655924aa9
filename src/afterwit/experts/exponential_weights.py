# cython: boundscheck=False, wraparound=False, cdivision=True
"""Exponential weights: an expert's share falls exponentially with what it has lost.

Setting     N experts and a convex loss; forecast the mean of the advice by p_t.
Update      p_{t,i} proportional to exp(-eta_t L_{t-1,i}), where L_{t,i} is the loss of expert i up to round t. The
            rate, where nothing is said:
            fixed        1 for the log loss
            adaptive     for others: as large as the losses allow, 1/(2H) for squares of which none is above H so far,
                         and never above ln N / C_{t-1}, C the cost so far (see `AdaptiveRateBound`). No range of the
                         losses is needed; where one is declared, for squares alone
            decreasing   eta_t = sqrt(8 ln N / t), for losses in another declared range, and for labels
            and on demand, for losses in [0, 1] or another range:
            fixed        rate, or sqrt(8 ln N / T) for a horizon of T rounds
            doubling     fixed for 1, 2, 4, 8, ... rounds, starting anew each time
Guarantee   on any sequence, the regret to the best expert is at most
            2 H ln N + 17/16 H                                           adaptive, forecasts under the square loss;
                                                                         without 17/16 H in a declared range to H;
                                                                         4 ln N for Brier, where H = 2 is known
            sqrt(ln N sum s_t^2) + 2 S                                   adaptive, s_t the ranges of the losses, S the
                                                                         largest
            ln N / eta + eta T / 8                                       fixed rate
            sqrt((T/2) ln N)                                             fixed rate for horizon T, after T rounds
            sqrt(2)/(sqrt(2) - 1) sqrt((T/2) ln N) + sqrt(ln N / 2)      doubling
            2 sqrt((T/2) ln N) + sqrt(ln N / 8)                          decreasing
            ln N / eta                                                   log loss with eta <= 1, square loss with
                                                                         eta <= 1/2, Brier loss with eta <= 1/4:
                                                                         these are exp-concave
            and to every expert that sleeps, on the rounds in which it is awake, the same. Where outcomes come late, d_t
            further rounds after the forecast, eta/4 sum d_t more at a fixed rate.
Certainty   Forecasts of 0 and 1 under the log loss, at a rate up to 1 and without a range: an expert that gave no
            chance to what happened has an infinite loss and no share from then on. A round in which the learner's own
            loss would be infinite is refused. Where all who are awake have infinite losses, they count alike.
Source      Mohri, Rostamizadeh & Talwalkar 2018, Figure 8.5 and Theorems 8.6, 8.7; Cesa-Bianchi & Lugosi 2006,
            Theorem 2.3 and Proposition 3.1; sleepers: Freund, Schapire, Singer & Warmuth 1997, Chernov & Vovk 2009;
            the adaptive rate: `_adaptive_rate.py` has the proof.

>>> learner = ExponentialWeights(2, horizon=2)
>>> learner.learn_one([0.0, 1.0], 1.0)  # nothing is known yet: the plain mean
0.5
>>> learner.weights.round(3).tolist(), learner.loss, learner.regret
([0.159, 0.841], 0.25, 0.25)
>>> round(learner.certificate().bound, 3)
0.624
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core.declared import Numbers, Option, not_negative
from afterwit.core.learner import view
from afterwit.data import losses as losses_module
from afterwit.data.checks import one_of, optional
from afterwit.errors import invalid
from afterwit.experts import _adaptive_rate as adaptive_rate
from afterwit.experts._declared import (
    COUNTED,
    GRADIENT,
    HORIZON,
    INFINITE_SUMS,
    LEAST_GAIN,
    LOSS_RANGE,
    N_EXPERTS,
    NOT_KEPT,
    OUTCOMES,
    RATE,
    SEED,
    SQUARE_LOSS,
    InfiniteLosses,
    each_expert,
    natural_range,
)
from afterwit.experts._exp_concave import ExpConcaveBound
from afterwit.experts._late_bounds import LateBound, LateExpConcaveBound, LateFixedRateBound
from afterwit.experts._scheduled_rates import DecreasingRateBound, DoublingBound, FixedRateBound

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import INFINITY, sqrt
else:
    from math import inf as INFINITY
    from math import sqrt

    from afterwit.experts._engine import ExpertLearner

#: How the rate goes on, by which compiled code knows it.
FIXED = cython.declare(cython.int, 0)
DECREASING = cython.declare(cython.int, 1)
DOUBLING = cython.declare(cython.int, 2)
ADAPTIVE = cython.declare(cython.int, 3)
SCHEDULES = ("", "decreasing", "doubling", adaptive_rate.ADAPTIVE)
LOG = cython.declare(cython.int, losses_module.NAMES.index("log"))
#: Losses that differ by less count as equal: their squares would not be numbers.
LEAST = cython.declare(cython.double, LEAST_GAIN)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add(
    seen: cython.double[::1], low: cython.double, n: cython.Py_ssize_t, cumulative: cython.double[::1]
) -> cython.void:
    """Add what was seen above the low end to the sums. Arrays that are arguments are borrowed: that costs nothing."""
    i: cython.Py_ssize_t
    for i in range(n):
        cumulative[i] += seen[i] - low


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def find_ends(seen: cython.double[::1], n: cython.Py_ssize_t, ends: cython.double[::1]) -> cython.void:
    """The least and the largest, where nobody sleeps. Two at a time, so that the comparisons overlap."""
    i: cython.Py_ssize_t = n & 1
    low: cython.double = seen[0]
    high: cython.double = low
    other_low: cython.double = low
    other_high: cython.double = low
    while i < n:
        low = seen[i] if seen[i] < low else low
        high = seen[i] if seen[i] > high else high
        other_low = seen[i + 1] if seen[i + 1] < other_low else other_low
        other_high = seen[i + 1] if seen[i + 1] > other_high else other_high
        i += 2
    ends[0] = other_low if other_low < low else low
    ends[1] = other_high if other_high > high else high


@cython.cclass
class ExponentialWeights(ExpertLearner):
    """Exponential weights.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    rate        a fixed rate, for losses scaled to [0, 1]
    horizon     the number of rounds for which to choose the best fixed rate
    schedule    "adaptive", "decreasing" or "doubling". If there is neither rate nor horizon nor schedule, the rate is 1
                for the log loss; it is decreasing for labels, and for losses in a declared range that are not squares;
                in all other cases it is adaptive
    gradient    whether to learn from slopes, so as to compete with every fixed mixture of the experts
    loss_range  the least and the greatest loss (of the slopes, if it learns from these). Neither the adaptive schedule
                nor the log loss at rate 1 needs one; for the rest it is (0, 1) if nothing is said, (0, 2) for the Brier
                loss
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
    """

    _rate = cython.declare(cython.double, visibility="public")
    _eight_log_n: cython.double
    _schedule: cython.int
    # Whether the loss is a square, of a number or of a vector.
    _squares: cython.bint
    _cumulative = cython.declare(cython.double[::1], visibility="public")
    # Of the adaptive rate: the largest square that was forecast, and the cost so far.
    _largest = cython.declare(cython.double, visibility="public")
    _cost = cython.declare(cython.double, visibility="public")
    # In how many rounds an expert gave no chance to what happened, if the log loss may be infinite.
    _infinite = cython.declare(cython.longlong[::1], visibility="public")
    # The least and the largest of what is seen in a round.
    _ends: cython.double[::1]

    theorems = (
        ExpConcaveBound(),
        adaptive_rate.AdaptiveRateBound(),
        FixedRateBound(),
        DecreasingRateBound(),
        DoublingBound(),
        LateFixedRateBound(),
        LateExpConcaveBound(),
        LateBound(),
    )
    needs_range = False
    _without_range = "leave out loss_range, rate, horizon and schedule, and it needs no range"
    options = (
        N_EXPERTS,
        SQUARE_LOSS,
        RATE,
        HORIZON,
        Option("schedule", None, optional(one_of(("adaptive", "decreasing", "doubling")))),
        GRADIENT,
        LOSS_RANGE,
        SEED,
        OUTCOMES,
    )
    kept = (
        *COUNTED,
        not_negative("largest", before=0.0),
        not_negative("cost", before=0.0),
        InfiniteLosses("infinite", before=NOT_KEPT),
        Numbers("cumulative", each_expert),
        not_negative("rate"),
    )

    def _begin(self) -> None:
        options = self._options
        rate, horizon, schedule = options["rate"], options["horizon"], options["schedule"]
        if sum(option is not None for option in (rate, horizon, schedule)) > 1:
            raise invalid("at most one of rate, horizon and schedule", "given", (rate, horizon, schedule))
        unbounded = options["loss"] == "log" and options["loss_range"] is None and not options["gradient"]
        if unbounded and (horizon is not None or schedule is not None):
            raise invalid("loss_range", "declared for the log loss with a horizon or a schedule", None)
        if (
            options["loss"] == "brier"
            and schedule is None
            and not options["gradient"]
            and options["loss_range"] is None
        ):
            options["loss_range"] = natural_range("brier")
        if rate is None and horizon is None and not unbounded:
            options["schedule"] = schedule = schedule or self._natural_schedule()
        if not unbounded and schedule != adaptive_rate.ADAPTIVE and options["loss_range"] is None:
            options["loss_range"] = natural_range(options["loss"])
        ExpertLearner._begin(self)
        self._eight_log_n = 8 * math.log(self._n)
        self._schedule = SCHEDULES.index(schedule or "")
        self._squares = self._loss_function.kind in ("square", "brier")
        self._cumulative = view(np.zeros(self._n))
        self._infinite = view(np.zeros(0, dtype=np.int64))
        self._ends = view(np.zeros(2))
        self._cost = 0.0
        self._largest = 0.0
        if self._schedule == ADAPTIVE:
            if self._ranged and self._squares and not self._linear:
                self._largest = max(self._low + self._width, 0.0)
            self._shows_own = (self._squares or self._loss_kind == LOG) and not self._linear
            self._rate = self.adapted(self._largest, self._cost)
            return
        if self._schedule == FIXED:
            self._rate = math.sqrt(self._eight_log_n / horizon) if horizon is not None else rate or 1.0
        else:
            self._rate = math.sqrt(self._eight_log_n)
        most = ExpConcaveBound.largest_rate(self._loss_function.kind, self._low + self._width)
        exp_concave = ExpConcaveBound.allows(self._rate / self._width, most)
        self._shows_own = self._schedule == FIXED and not self._linear and exp_concave
        self._takes_certainty = self._shows_own and self._loss_kind == LOG and not self._ranged
        if self._takes_certainty:
            self._infinite = view(np.zeros(self._n, dtype=np.int64))

    def _natural_schedule(self) -> str:
        """That of a learner of which neither a rate nor a horizon nor a schedule was asked for."""
        options = self._options
        kind = losses_module.get(options["loss"]).kind
        if options["loss_range"] is None:
            return "decreasing" if kind == "zero-one" else adaptive_rate.ADAPTIVE
        exp_concave = kind in ExpConcaveBound.exp_concave and not options["gradient"]
        return adaptive_rate.ADAPTIVE if exp_concave else "decreasing"

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        return self.exponentiate(self._cumulative, -self._rate)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        if self._schedule == ADAPTIVE:
            self.adapt()
            return
        add(self._seen, 0.0, self._n, self._cumulative)
        if self._some_infinite:
            for i in range(self._n):
                self._infinite[i] += 1 if self._seen[i] == INFINITY else 0
        if self._schedule == DECREASING:
            self._rate = sqrt(self._eight_log_n / (self._rounds + 2))
        # With doubling, a power of two begins a period of as many rounds.
        if self._schedule == DOUBLING and (self._rounds + 2) & (self._rounds + 1) == 0:
            self._rate = sqrt(self._eight_log_n / (self._rounds + 2))
            for i in range(self._n):
                self._cumulative[i] = 0.0

    # ------------------------------------------------------------------ the adaptive rate

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def concave_up_to(self, largest: cython.double) -> cython.double:
        """Up to which rate the loss, as it is shown, is exp-concave where none is larger; no limit if it is not."""
        if self._linear:
            return INFINITY
        if self._loss_kind == LOG:
            return self._width
        return self._width / (2 * largest) if self._squares and largest > 0 else INFINITY

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def adapted(self, largest: cython.double, cost: cython.double) -> cython.double:
        """The rate that follows from the largest square and the cost so far; 0 as long as all losses were equal."""
        rate: cython.double = self.concave_up_to(largest)
        if cost > 0 and self._eight_log_n / 8 / cost < rate:
            rate = self._eight_log_n / 8 / cost
        return rate if rate < INFINITY else 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def adapt(self) -> cython.void:
        """Learn, count what the round may have cost at this rate, and lower the rate as far as that asks for."""
        i: cython.Py_ssize_t
        low: cython.double = INFINITY
        high: cython.double = -INFINITY
        spread: cython.double
        mixed: cython.double = 0.0
        concave: cython.double = 0.0
        by_forecast: cython.bint = self._shows_own and self._has_forecast
        if self._some_sleep:
            for i in range(self._n):
                if self._awake[i]:
                    low = self._seen[i] if self._seen[i] < low else low
                    high = self._seen[i] if self._seen[i] > high else high
        else:
            find_ends(self._seen, self._n, self._ends)
            low, high = self._ends[0], self._ends[1]
        spread = high - low
        if by_forecast and self._squares and not self._ranged:
            if high < LEAST:
                return
            self._largest = high if high > self._largest else self._largest
            concave = self.concave_up_to(high)
        elif by_forecast:
            concave = self.concave_up_to(self._largest)
        elif spread < LEAST:
            # Nobody has lost more than another. What rounding makes of a sleeper's loss is no difference.
            return
        # Only differences matter; without their least part the sums stay small.
        if self._some_sleep and not by_forecast and not self._linear:
            for i in range(self._n):
                mixed += self._shares[i] * (self._seen[i] - low) if self._awake[i] else 0.0
            for i in range(self._n):
                self._cumulative[i] += self._seen[i] - low if self._awake[i] else mixed / self._total
        else:
            add(self._seen, low, self._n, self._cumulative)
        if spread >= LEAST:
            self._cost += self.cost_of(spread, concave)
        self._rate = self.adapted(self._largest, self._cost)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cost_of(self, spread: cython.double, concave: cython.double) -> cython.double:
        """What a round may have cost at the current rate, beyond the rate up to which its losses are exp-concave."""
        part: cython.double
        if self._rate == 0:
            # The first losses that differ: at any rate the shares were equal.
            part = sqrt(self._eight_log_n / 64) if concave == 0 else 0.0
        else:
            part = (self._rate - concave) * spread / 8 if self._rate > concave else 0.0
        return spread * part if part < 1 else spread

    @property
    def late(self) -> str:
        """What an outcome that comes late finds: the forecast that was served.

        But what the adaptive rate costs is counted from forecasts at arrival, and who draws one expert has no forecast
        to be judged by. What lateness costs is measured of forecasts that are numbers.
        """
        return "arrival" if self._drawing or self._schedule == ADAPTIVE or self._kinds else "served"

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        if self._schedule == FIXED and not abs(state["rate"] - self._rate) <= 1e-9 * self._rate:
            raise invalid("rate", f"{self._rate}, as the options say", state["rate"])
        if self._schedule != ADAPTIVE:
            for name in ("largest", "cost"):
                if state.get(name):
                    raise invalid(name, "0, because the schedule is not adaptive", state[name])
            return
        largest, cost = state["largest"], state["cost"]
        if self._ranged and largest != self._largest:
            raise invalid("largest", f"{self._largest}, the end of loss_range", largest)
        rate = self.adapted(largest, cost)
        if not abs(state["rate"] - rate) <= 1e-9 * rate:
            raise invalid("rate", f"{rate}, as the largest loss and the cost say", state["rate"])

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = ExpertLearner._state(self)
        # What is infinite is counted; the sums of a state are finite.
        gone = np.flatnonzero(state["infinite"])
        for name in INFINITE_SUMS:
            state[name][gone] = 0.0
        return state

    def _become(self, state: Any) -> None:
        ExpertLearner._become(self, state)
        gone = np.flatnonzero(np.array(self._infinite))
        for name, value in INFINITE_SUMS.items():
            np.asarray(getattr(self, f"_{name}"))[gone] = value

    def _facts(self) -> dict[str, Any]:
        # In a declared range an adaptive rate stays where it began as long as no round has cost anything.
        stayed = self._schedule == ADAPTIVE and self._ranged and self._cost == 0 and self._rate > 0
        return {"fixed_rate": self._rate if self._schedule == FIXED or stayed else None}
