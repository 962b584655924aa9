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
                                                                         eta <= 1/2, Brier loss with eta <= 1/4:
                                                                         these are exp-concave
            and to every expert that sleeps, on the rounds in which it is awake, the same.
Source      Mohri, Rostamizadeh & Talwalkar 2018, Figure 8.5 and Theorems 8.6, 8.7; Cesa-Bianchi & Lugosi 2006,
            Theorem 2.3 and Proposition 3.1; sleepers: Freund, Schapire, Singer & Warmuth 1997, Chernov & Vovk 2009.

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
from afterwit.core.declared import Numbers, Option, not_negative
from afterwit.core.inputs import EXPERTS, ROUNDS
from afterwit.core.inputs import RATE as RATE_INPUT
from afterwit.core.learner import view
from afterwit.core.theorem import Theorem
from afterwit.data.checks import one_of, optional
from afterwit.errors import counted, invalid
from afterwit.experts._declared import (
    COUNTED,
    GRADIENT,
    HORIZON,
    LOSS_RANGE,
    N_EXPERTS,
    OUTCOMES,
    RANGE_SLACK,
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
    """At a rate at which the loss l is exp-concave, with sleepers.

    Let f be the mean of the advice f_i of those awake by their weights w_i, so that exp(-eta l(f)) is at least the mean
    of the exp(-eta l(f_i)). A sleeper is shown the loss of the forecast, l(f). Then the sum of the weights, W, falls at
    least as fast as those that are asleep, W_{t+1} <= W_t exp(-eta l(f_t)); and w_i, at most W, falls as fast as that
    in the rounds in which i sleeps. Divided, only the rounds remain in which i is awake:

        exp(eta sum of l(f_t) - l(f_{t,i}) over these rounds) <= N.

    Shown the mixture's loss, which is larger, a sleeper would fall behind by the difference, and this proof fails. The
    fixed rate bound needs no more than that what a sleeper is shown, s, is the loss of the forecast or the mixture's:
    by Hoeffding's lemma those awake weigh exp(-eta h + eta^2/8) times what they did, at most, where h >= l(f) is the
    mixture's loss; so for s = l(f), as for s = h, W falls by exp(-eta s + eta^2/8) at least, and the same division
    leaves s - l(f_i) >= l(f) - l(f_i) in the rounds awake, and ln N / eta + eta T / 8.

    Of probability vectors f the Brier loss is |f - e|^2 with e = 1 for what happened. Of exp(-eta |z|^2) the second
    derivatives are exp(-eta |z|^2) (4 eta^2 z z' - 2 eta I), none positive as long as 2 eta |z|^2 <= 1: as for the
    square loss, eta <= 1/(2 high) for losses of at most high, and no mixture loses more than that. The log loss of the
    mean is -ln of the mean of the probabilities of what happened, for vectors as for numbers.

    So the rule is: the loss of the forecast where this bound applies (a fixed rate, small enough for the loss, and no
    slopes), the mixture's everywhere else. Where only losses are known the two are the same.
    """

    name = "exp-concave bound"
    formula = "ln N / rate, where exp(-rate * loss) is concave in the forecast"
    citation = "Cesa-Bianchi & Lugosi 2006, Proposition 3.1; Freund, Schapire, Singer & Warmuth 1997"
    beforehand = True

    #: The losses that are exp-concave at some rate.
    exp_concave = ("log", "square", "brier")

    @classmethod
    def largest_rate(cls, loss: str, high: float) -> float:
        """Up to which rate, for losses as they are, a loss of at most ``high`` is exp-concave; 0 if at none."""
        if loss not in cls.exp_concave:
            return 0.0
        if loss == "log":
            return 1.0
        return 1 / (2 * high) if high > 0 else math.inf

    @staticmethod
    def allows(rate: float, most: float) -> bool:
        return rate <= most * (1 + 1e-12)

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
            or setting.loss.kind not in self.exp_concave
        ):
            return None
        rate = rate / setting.width
        return self.bound(evidence.log_n, rate), {"N": evidence.n, "rate": rate}

    def further(self, evidence: Any) -> tuple[Assumption, ...]:
        setting = evidence.setting
        rate = evidence.facts["fixed_rate"] / setting.width
        most = self.largest_rate(setting.loss.kind, setting.low + setting.width)
        words = f"rate <= 1/(2 high) for the {setting.loss} loss of at most high"
        if setting.loss.kind == "log":
            words = "rate <= 1 for the log loss"
        holds = self.allows(rate, most)
        too_fast = "" if holds else "it is too large: "
        shown = shown_the_forecast(evidence)
        more = "" if shown else "in some rounds, learned by an earlier version, sleepers were shown the mixture's loss"
        unmade = "" if not evidence.unforecast else f"in {counted(evidence.unforecast, 'round')} only losses were known"
        return (
            Assumption(words, Basis.ENFORCED, holds, f"{too_fast}rate {rate:.4g}, at most {most:.4g}"),
            Assumption("a forecast was made in every round", Basis.OBSERVED, evidence.unforecast == 0, unmade),
            Assumption("an expert that sleeps is shown the loss of the forecast", Basis.OBSERVED, shown, more),
        )


def shown_the_forecast(evidence: Any) -> bool:
    """Whether every expert was shown the loss of the forecast while it slept, as far as rounding lets one tell.

    What expert i was shown in all adds up to its own loss while awake and the learner's while asleep, which is the
    learner's loss less the regret to i.
    """
    if not evidence.slept:
        return True
    setting, rounds = evidence.setting, evidence.rounds
    shown = setting.width * evidence.state["cumulative"] + setting.low * rounds
    size = np.abs(evidence.loss) + np.abs(evidence.regrets) + np.abs(evidence.expert_losses)
    size += (abs(setting.low) + setting.width * setting.ranged) * rounds
    return bool(np.all(np.abs(evidence.loss - evidence.regrets - shown) <= RANGE_SLACK * size))


@cython.cclass
class ExponentialWeights(ExpertLearner):
    """Exponential weights.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    rate        a fixed rate, for losses scaled to [0, 1]
    horizon     the number of rounds for which to choose the best fixed rate
    schedule    "doubling", or "decreasing", which is the default if there is neither rate nor horizon
    gradient    whether to learn from slopes, so as to compete with every fixed mixture of the experts
    loss_range  the least and the greatest loss (of the slopes, if it learns from these), (0, 1) if nothing is said,
                (0, 2) for the Brier loss. The log loss needs none: without one the rate is 1
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
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
        OUTCOMES,
    )
    kept = (*COUNTED, Numbers("cumulative", each_expert), not_negative("rate"))

    def _begin(self) -> None:
        options = self._options
        rate, horizon, schedule = options["rate"], options["horizon"], options["schedule"]
        if sum(option is not None for option in (rate, horizon, schedule)) > 1:
            raise invalid("at most one of rate, horizon and schedule", "given", (rate, horizon, schedule))
        unbounded = options["loss"] == "log" and options["loss_range"] is None and not options["gradient"]
        if unbounded and (horizon is not None or schedule is not None):
            raise invalid("loss_range", "declared for the log loss with a horizon or a schedule", None)
        if not unbounded and options["loss_range"] is None:
            options["loss_range"] = (0.0, 2.0) if options["loss"] == "brier" else (0.0, 1.0)
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
        most = ExpConcaveBound.largest_rate(self._loss_function.kind, self._low + self._width)
        exp_concave = ExpConcaveBound.allows(self._rate / self._width, most)
        self._shows_own = self._schedule == FIXED and not self._linear and exp_concave

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

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        if self._schedule == FIXED and not abs(state["rate"] - self._rate) <= 1e-9 * self._rate:
            raise invalid("rate", f"{self._rate}, as the options say", state["rate"])

    def _facts(self) -> dict[str, Any]:
        return {"fixed_rate": self._rate if self._schedule == FIXED else None}
