# cython: boundscheck=False, wraparound=False, cdivision=True
"""Exponential weights: an expert's share falls exponentially with what it has lost.

Setting     N experts, a convex loss in [0, 1] (or another range, declared); forecast the mean of the advice by p_t.
Update      p_{t,i} proportional to exp(-eta_t L_{t-1,i}), where L_{t,i} is the loss of expert i up to round t. The
            rate:
            fixed        rate, or sqrt(8 ln N / T) for a horizon of T rounds
            doubling     fixed for 1, 2, 4, 8, ... rounds, starting anew each time
            decreasing   eta_t = sqrt(8 ln N / t), where nothing else is said
Guarantee   on any sequence, the regret to the best expert is at most
            ln N / eta + eta T / 8                                       fixed rate
            sqrt((T/2) ln N)                                             fixed rate for horizon T, after T rounds
            sqrt(2)/(sqrt(2) - 1) sqrt((T/2) ln N) + sqrt(ln N / 2)      doubling
            2 sqrt((T/2) ln N) + sqrt(ln N / 8)                          decreasing
            ln N / eta                                                   log loss with eta <= 1, square loss with
                                                                         eta <= 1/2: these are exp-concave; if
                                                                         nobody sleeps
Source      Mohri, Rostamizadeh & Talwalkar 2018, Figure 8.5 and Theorems 8.6, 8.7; Cesa-Bianchi & Lugosi 2006,
            Theorem 2.3 and Proposition 3.1.

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

from afterwit.core.certificate import Assumption, Basis
from afterwit.data.checks import positive_number
from afterwit.data.values import signature
from afterwit.errors import invalid
from afterwit.experts._engine import a_number, at_least, numbers, plain, view
from afterwit.experts._regret import RegretTheorem, Run, log_n

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import INFINITY, sqrt
else:
    from math import inf as INFINITY
    from math import sqrt

    from afterwit.experts._engine import ExpertLearner

SCHEDULES = ("fixed", "decreasing", "doubling")


class FixedRateBound(RegretTheorem):
    name = "fixed rate bound"
    statement = "regret <= ln N / rate + rate T / 8"
    citation = "Mohri, Rostamizadeh & Talwalkar 2018, Theorem 8.6"
    by_rounds = True

    def regret_bound(self, run: Run) -> tuple[float, dict[str, float | str]] | None:
        if run.kept["schedule"] != "fixed" or not run.ranged:
            return None
        rate = run.kept["rate"]
        bound = (log_n(run) / rate if rate else 0.0) + rate * run.rounds / 8
        return run.width * bound, {"N": run.n, "rate": rate, "T": run.rounds, "range": run.width}


class DoublingBound(RegretTheorem):
    name = "doubling bound"
    statement = "regret <= sqrt(2)/(sqrt(2) - 1) sqrt((T/2) ln N) + sqrt(ln N / 2)"
    citation = "Mohri, Rostamizadeh & Talwalkar 2018, Theorem 8.7"
    by_rounds = True

    def regret_bound(self, run: Run) -> tuple[float, dict[str, float | str]] | None:
        if run.kept["schedule"] != "doubling":
            return None
        root = math.sqrt(2)
        bound = root / (root - 1) * math.sqrt(run.rounds / 2 * log_n(run)) + math.sqrt(log_n(run) / 2)
        return run.width * bound, {"N": run.n, "T": run.rounds, "range": run.width}


class DecreasingRateBound(RegretTheorem):
    name = "decreasing rate bound"
    statement = "regret <= 2 sqrt((T/2) ln N) + sqrt(ln N / 8)"
    citation = "Cesa-Bianchi & Lugosi 2006, Theorem 2.3"
    by_rounds = True

    def regret_bound(self, run: Run) -> tuple[float, dict[str, float | str]] | None:
        if run.kept["schedule"] != "decreasing":
            return None
        bound = 2 * math.sqrt(run.rounds / 2 * log_n(run)) + math.sqrt(log_n(run) / 8)
        return run.width * bound, {"N": run.n, "T": run.rounds, "range": run.width}


class ExpConcaveBound(RegretTheorem):
    name = "exp-concave bound"
    statement = "regret <= ln N / rate, where exp(-rate * loss) is concave in the forecast"
    citation = "Cesa-Bianchi & Lugosi 2006, Proposition 3.1"
    by_rounds = True

    def regret_bound(self, run: Run) -> tuple[float, dict[str, float | str]] | None:
        if (
            run.kept["schedule"] != "fixed"
            or run.linear
            or (run.unforecast and run.ranged)
            or run.loss_function.kind not in ("log", "square")
        ):
            return None
        rate = run.kept["rate"] / run.width
        return (log_n(run) / rate if rate else 0.0), {"N": run.n, "rate": rate}

    def further(self, run: Run) -> tuple[Assumption, ...]:
        rate = run.kept["rate"] / run.width
        if run.loss_function.kind == "log":
            most, words = 1.0, "rate <= 1 for the log loss"
        else:
            most = 1 / (2 * max(run.low + run.width, 0.0)) if run.low + run.width > 0 else math.inf
            words = "rate <= 1/(2 high) for the square loss of at most high"
        holds = rate <= most * (1 + 1e-12)
        detail = "some did, and what they were shown is more than the loss of the forecast" if run.slept else ""
        return (
            Assumption(words, Basis.ENFORCED, holds, f"rate {rate:.4g}, at most {most:.4g}"),
            Assumption("a forecast was made in every round", Basis.OBSERVED, run.unforecast == 0),
            Assumption("no expert slept", Basis.OBSERVED, not run.slept, detail),
        )


@cython.cclass
class ExponentialWeights(ExpertLearner):
    """Exponential weights.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    rate        a fixed rate, for losses scaled to [0, 1]
    horizon     the number of rounds for which to choose the best fixed rate
    schedule    "doubling", or "decreasing", which is the default if there is neither rate nor horizon
    gradient    whether to learn from slopes, so as to compete with every fixed mixture of the experts
    loss_range  the least and the greatest loss (of the slopes, if it learns from these), (0, 1) if nothing is said.
                The log loss needs none: without one the rate is 1
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    """

    _rate: cython.double
    _rate_given: object
    _eight_log_n: cython.double
    _schedule: cython.int
    _cumulative: cython.double[::1]
    _least: cython.double
    _horizon: object

    theorems = (ExpConcaveBound(), FixedRateBound(), DecreasingRateBound(), DoublingBound())

    __signature__ = signature(
        n_experts=None,
        loss="square",
        rate=None,
        horizon=None,
        schedule=None,
        gradient=False,
        loss_range=None,
        seed=0,
    )

    def __init__(
        self,
        n_experts: Any,
        loss: Any = "square",
        rate: Any = None,
        horizon: Any = None,
        schedule: Any = None,
        gradient: Any = False,
        loss_range: Any = None,
        seed: Any = 0,
    ) -> None:
        if sum(option is not None for option in (rate, horizon, schedule)) > 1:
            raise invalid("rate, horizon and schedule", "at most one of them given", (rate, horizon, schedule))
        unbounded = getattr(loss, "kind", loss) == "log" and loss_range is None and not gradient
        if unbounded and (horizon is not None or schedule is not None):
            raise invalid("loss_range", "declared for the log loss with a horizon or a schedule", loss_range)
        ExpertLearner.__init__(
            self, n_experts, loss, gradient, (0.0, 1.0) if loss_range is None and not unbounded else loss_range, seed
        )
        self._horizon = None if horizon is None else at_least("horizon", horizon, 1)
        if schedule is not None and schedule not in SCHEDULES[1:]:
            raise invalid("schedule", "'doubling' or 'decreasing'", schedule)
        self._rate_given = None if rate is None else positive_number("rate", rate)
        self._eight_log_n = 8 * math.log(self._n)
        self._schedule = 0
        if rate is not None or unbounded:
            self._rate = self._rate_given or 1.0
        elif horizon is not None:
            self._rate = math.sqrt(self._eight_log_n / self._horizon)
        else:
            self._schedule = 2 if schedule == "doubling" else 1
            self._rate = math.sqrt(self._eight_log_n)
        self._cumulative = view(np.zeros(self._n))
        self._least = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        if self._many and not self._some_sleep:
            return self.exponentiate_many(self._cumulative, -self._rate, -self._rate * self._least)
        return self.exponentiate(self._cumulative, -self._rate)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        cumulative: cython.double[::1] = self._cumulative
        seen: cython.double[::1] = self._seen
        if self._many:
            self.add_and_compare()
        else:
            for i in range(self._n):
                cumulative[i] += seen[i]
        if self._schedule == 1:
            self._rate = sqrt(self._eight_log_n / (self._rounds + 2))
        # With doubling, a power of two begins a period of as many rounds.
        if self._schedule == 2 and (self._rounds + 2) & (self._rounds + 1) == 0:
            self._rate = sqrt(self._eight_log_n / (self._rounds + 2))
            for i in range(self._n):
                self._cumulative[i] = 0.0
            self._least = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_and_compare(self) -> cython.void:
        """Add what is seen, and find the least sum in the same pass; four at a time, so that comparisons overlap."""
        i: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = self._n
        cumulative: cython.double[::1] = self._cumulative
        seen: cython.double[::1] = self._seen
        l0: cython.double = INFINITY
        l1: cython.double = INFINITY
        l2: cython.double = INFINITY
        l3: cython.double = INFINITY
        while i + 3 < n:
            cumulative[i] += seen[i]
            cumulative[i + 1] += seen[i + 1]
            cumulative[i + 2] += seen[i + 2]
            cumulative[i + 3] += seen[i + 3]
            l0 = cumulative[i] if cumulative[i] < l0 else l0
            l1 = cumulative[i + 1] if cumulative[i + 1] < l1 else l1
            l2 = cumulative[i + 2] if cumulative[i + 2] < l2 else l2
            l3 = cumulative[i + 3] if cumulative[i + 3] < l3 else l3
            i += 4
        while i < n:
            cumulative[i] += seen[i]
            l0 = cumulative[i] if cumulative[i] < l0 else l0
            i += 1
        l0 = l1 if l1 < l0 else l0
        l2 = l3 if l3 < l2 else l2
        self._least = l2 if l2 < l0 else l0

    def _kept(self) -> dict[str, Any]:
        return {"schedule": SCHEDULES[self._schedule], "rate": self._rate}

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "n_experts": self._given_experts,
            "loss": self._loss_given,
            "rate": self._rate_given,
            "horizon": self._horizon,
            "schedule": None if self._schedule == 0 else SCHEDULES[self._schedule],
            "gradient": self._linear,
            "loss_range": self._range,
            "seed": self._seed,
        }

    def _state(self) -> dict[str, Any]:
        return {**ExpertLearner._state(self), "cumulative": plain(self._cumulative), "rate": self._rate}

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        numbers(state, "cumulative", self._n)
        a_number(state, "rate")

    def _become(self, state: Any) -> None:
        ExpertLearner._become(self, state)
        self._cumulative = numbers(state, "cumulative", self._n)
        self._least = float(np.min(plain(self._cumulative)))
        self._rate = state["rate"]
