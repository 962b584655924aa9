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
from afterwit.core.declared import Number, Numbers, Option
from afterwit.core.inputs import EXPERTS, ROUNDS
from afterwit.core.inputs import RATE as RATE_INPUT
from afterwit.core.learner import view
from afterwit.core.theorem import Theorem
from afterwit.data.checks import one_of, optional
from afterwit.errors import invalid
from afterwit.experts._declared import (
    COUNTED,
    GRADIENT,
    HORIZON,
    LOSS_RANGE,
    N_EXPERTS,
    RATE,
    SEED,
    SQUARE_LOSS,
    each_expert,
)
from afterwit.experts._regret import CONVEX, MOHRI, RegretTheorem, ratio

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

    from afterwit.experts._engine import ExpertLearner

#: How the rate goes on, by which compiled code knows it.
FIXED = cython.declare(cython.int, 0)
DECREASING = cython.declare(cython.int, 1)
DOUBLING = cython.declare(cython.int, 2)


class FixedRateBound(RegretTheorem):
    id = "exponential-weights"
    name = "fixed rate bound"
    formula = "{log_experts} / {rate} + {rate} {rounds} / 8"
    inputs = (EXPERTS, ROUNDS, RATE_INPUT)
    needs = CONVEX
    citation = f"{MOHRI}, Theorem 8.6"
    beforehand = True

    @staticmethod
    def bound(log_experts: Any, rounds: Any, rate: Any) -> Any:
        return ratio(log_experts, rate) + rate * rounds / 8

    def regret_bound(self, evidence: Any) -> Any:
        rate, rounds, width = evidence.facts["fixed_rate"], evidence.rounds, evidence.width
        if rate is None or not evidence.setting.ranged:
            return None
        bound = width * self.bound(evidence.log_n, rounds, rate)
        return bound, {"N": evidence.n, "rate": rate, "T": rounds, "range": width}


class TunedRateBound(Theorem):
    """The fixed rate bound where it is least."""

    id = "exponential-weights-tuned"
    name = "fixed rate bound at the best rate"
    quantity = "regret"
    formula = "sqrt(({rounds} / 2) {log_experts})"
    inputs = (EXPERTS, ROUNDS)
    needs = f"{CONVEX}; the rate is sqrt(8 ln N / T)"
    citation = f"{MOHRI}, Theorem 8.6"

    @staticmethod
    def bound(log_experts: Any, rounds: Any) -> Any:
        return np.sqrt(rounds / 2 * log_experts)


class DoublingBound(RegretTheorem):
    id = "exponential-weights-doubling"
    name = "doubling bound"
    formula = "sqrt(2) / (sqrt(2) - 1) sqrt(({rounds} / 2) {log_experts}) + sqrt({log_experts} / 2)"
    inputs = (EXPERTS, ROUNDS)
    needs = f"{CONVEX}; the learner starts again, tuned, at every power of two"
    citation = f"{MOHRI}, Theorem 8.7"
    beforehand = True
    schedule = "doubling"

    @staticmethod
    def bound(log_experts: Any, rounds: Any) -> Any:
        root = math.sqrt(2)
        return root / (root - 1) * TunedRateBound.bound(log_experts, rounds) + np.sqrt(log_experts / 2)

    def regret_bound(self, evidence: Any) -> Any:
        if evidence.parameters["schedule"] != self.schedule:
            return None
        bound = evidence.width * self.bound(evidence.log_n, evidence.rounds)
        return bound, {"N": evidence.n, "T": evidence.rounds, "range": evidence.width}


class DecreasingRateBound(DoublingBound):
    id = "exponential-weights-decreasing"
    name = "decreasing rate bound"
    formula = "2 sqrt(({rounds} / 2) {log_experts}) + sqrt({log_experts} / 8)"
    needs = f"{CONVEX}; the rate of round t is sqrt(8 ln N / t)"
    citation = "Cesa-Bianchi & Lugosi 2006, Theorem 2.3"
    schedule = "decreasing"

    @staticmethod
    def bound(log_experts: Any, rounds: Any) -> Any:
        return 2 * TunedRateBound.bound(log_experts, rounds) + np.sqrt(log_experts / 8)


class ExpConcaveBound(RegretTheorem):
    name = "exp-concave bound"
    formula = "ln N / rate, where exp(-rate * loss) is concave in the forecast"
    citation = "Cesa-Bianchi & Lugosi 2006, Proposition 3.1"
    beforehand = True

    @staticmethod
    def bound(log_experts: Any, rate: Any) -> Any:
        return ratio(log_experts, rate)

    def regret_bound(self, evidence: Any) -> Any:
        setting = evidence.setting
        rate = evidence.facts["fixed_rate"]
        if (
            rate is None
            or setting.gradient
            or (evidence.unforecast and setting.ranged)
            or setting.loss.kind not in ("log", "square")
        ):
            return None
        rate = rate / setting.width
        return self.bound(evidence.log_n, rate), {"N": evidence.n, "rate": rate}

    def further(self, evidence: Any) -> tuple[Assumption, ...]:
        setting = evidence.setting
        rate = evidence.facts["fixed_rate"] / setting.width
        if setting.loss.kind == "log":
            most, words = 1.0, "rate <= 1 for the log loss"
        else:
            high = setting.low + setting.width
            most = 1 / (2 * high) if high > 0 else math.inf
            words = "rate <= 1/(2 high) for the square loss of at most high"
        holds = rate <= most * (1 + 1e-12)
        too_fast = "" if holds else "it is too large: "
        slept = "an expert slept, and was shown more than the loss of the forecast" if evidence.slept else ""
        unmade = "" if not evidence.unforecast else f"in {evidence.unforecast:,} rounds only losses were known"
        return (
            Assumption(words, Basis.ENFORCED, holds, f"{too_fast}rate {rate:.4g}, at most {most:.4g}"),
            Assumption("a forecast was made in every round", Basis.OBSERVED, evidence.unforecast == 0, unmade),
            Assumption("no expert slept", Basis.OBSERVED, not evidence.slept, slept),
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

    _rate = cython.declare(cython.double, visibility="public")
    _eight_log_n: cython.double
    _schedule: cython.int
    _cumulative = cython.declare(cython.double[::1], visibility="public")

    theorems = (ExpConcaveBound(), FixedRateBound(), DecreasingRateBound(), DoublingBound())
    options = (
        N_EXPERTS,
        SQUARE_LOSS,
        RATE,
        HORIZON,
        Option("schedule", None, optional(one_of(("doubling", "decreasing")))),
        GRADIENT,
        LOSS_RANGE,
        SEED,
    )
    kept = (*COUNTED, Numbers("cumulative", each_expert), Number("rate"))

    def _begin(self) -> None:
        options = self._options
        rate, horizon, schedule = options["rate"], options["horizon"], options["schedule"]
        if sum(option is not None for option in (rate, horizon, schedule)) > 1:
            raise invalid("at most one of rate, horizon and schedule", "given", (rate, horizon, schedule))
        unbounded = options["loss"] == "log" and options["loss_range"] is None and not options["gradient"]
        if unbounded and (horizon is not None or schedule is not None):
            raise invalid("loss_range", "declared for the log loss with a horizon or a schedule", None)
        if not unbounded and options["loss_range"] is None:
            options["loss_range"] = (0.0, 1.0)
        ExpertLearner._begin(self)
        self._eight_log_n = 8 * math.log(self._n)
        self._schedule = FIXED
        if rate is not None or unbounded:
            self._rate = rate or 1.0
        elif horizon is not None:
            self._rate = math.sqrt(self._eight_log_n / horizon)
        else:
            self._schedule = DOUBLING if schedule == "doubling" else DECREASING
            options["schedule"] = schedule or "decreasing"
            self._rate = math.sqrt(self._eight_log_n)
        self._cumulative = view(np.zeros(self._n))

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
        cumulative: cython.double[::1] = self._cumulative
        seen: cython.double[::1] = self._seen
        for i in range(self._n):
            cumulative[i] += seen[i]
        if self._schedule == DECREASING:
            self._rate = sqrt(self._eight_log_n / (self._rounds + 2))
        # With doubling, a power of two begins a period of as many rounds.
        if self._schedule == DOUBLING and (self._rounds + 2) & (self._rounds + 1) == 0:
            self._rate = sqrt(self._eight_log_n / (self._rounds + 2))
            for i in range(self._n):
                cumulative[i] = 0.0

    def _facts(self) -> dict[str, Any]:
        return {"fixed_rate": self._rate if self._schedule == FIXED else None}
