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
                                                                         eta <= 1/2: these are exp-concave
            and to every expert that sleeps, on the rounds in which it is awake, the same. Where outcomes come late, d_t
            further rounds after the forecast, eta/4 sum d_t more at a fixed rate.
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
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import one_of, optional
from afterwit.data.quantities import NOT_NEGATIVE
from afterwit.errors import counted, invalid
from afterwit.experts._declared import (
    COUNTED,
    GRADIENT,
    HORIZON,
    LOSS_RANGE,
    N_EXPERTS,
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

DELAYS = Input(
    "delays", "sum d_t", "the sum over the rounds of how many were learned between forecast and outcome", NOT_NEGATIVE
)
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


class LateFixedRateBound(RegretTheorem):
    """The fixed rate with outcomes that come late: the loss of the forecasts that were served.

    Let p_s be the shares of those awake when round t was served, p_t those when its outcome comes, l the losses. For
    the mixture at arrival, h_t = p_t . l, the proof of the fixed rate bound holds as it stands, with the rounds in the
    order of arrival. The forecast served costs at most p_s . l, since the loss is convex; with slopes, whose tangent is
    linear, it is that. Between lie d_t rounds, and along each of them, with l' its losses,

        d/dx (p . l)  =  -eta Cov_p(l, l'),      p proportional to exp(-eta (L + x l')), x from 0 to 1,

    where L are the cumulative losses before. l and l' lie in [0, 1], so no covariance exceeds 1/4: a round moves the
    mixture's loss by eta/4 at most, and the forecast served costs at most h_t + eta d_t / 4. Those asleep have no share
    in p; while they sleep they are shown h_t or the loss of the forecast, s. If s is above h_t, then by no more than
    that, and in the proof the sum of the weights falls by exp(-eta h_t + eta^2/8) where it would by exp(-eta s +
    eta^2/8): so the excess of all rounds counts once, for whichever rounds an expert is awake.
    """

    id = "exponential-weights-late"
    name = "fixed rate bound with late outcomes"
    formula = "{log_experts} / {rate} + {rate} ({rounds} / 8 + {delays} / 4)"
    inputs = (EXPERTS, ROUNDS, RATE_INPUT, DELAYS)
    needs = CONVEX
    citation = f"{FixedRateBound.citation}, with eta d_t / 4 for what was learned in between"
    late = True

    @staticmethod
    def bound(log_experts: Any, rounds: Any, rate: Any, delays: Any) -> Any:
        return FixedRateBound.bound(log_experts, rounds + 2 * delays, rate)

    def regret_bound(self, evidence: Any) -> Any:
        rate, delays = evidence.facts["fixed_rate"], evidence.delays
        if delays is None or rate is None or not evidence.setting.ranged:
            return None
        bound = evidence.width * self.bound(evidence.log_n, evidence.rounds, rate, delays.total)
        shown = {"N": evidence.n, "rate": rate, "T": evidence.rounds, "sum d_t": delays.total}
        return bound, {**shown, "range": evidence.width}


class LateBound(RegretTheorem):
    """Any schedule: its bound at arrival, and what lateness has cost.

    The bounds of all three schedules are proved for the mixture's loss h_t, at arrival. The forecast that was served
    loses l(f); the sum of l(f) - h_t where that is above 0 is what the learner counts, and at least as much as the
    difference over the rounds in which an expert is awake.
    """

    name = "bound of the schedule with late outcomes, by what lateness cost"
    formula = "the bound without + sum of what the forecasts served lost more than the mixture at arrival"
    citation = "the losses of the mixture, as in the theorems without late outcomes"
    late = True
    foreseeable = False

    def regret_bound(self, evidence: Any) -> Any:
        if evidence.delays is None:
            return None
        bounds = (
            theorem.regret_bound(evidence) for theorem in (FixedRateBound(), DecreasingRateBound(), DoublingBound())
        )
        found = next((found for found in bounds if found is not None), None)
        drift = float(evidence.state["late_drift"])
        return None if found is None else (found[0] + drift, {**found[1], "lateness": drift})


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

    So the rule is: the loss of the forecast where this bound applies (a fixed rate, small enough for the loss, and no
    slopes), the mixture's everywhere else. Where only losses are known the two are the same.
    """

    name = "exp-concave bound"
    formula = "ln N / rate, where exp(-rate * loss) is concave in the forecast"
    citation = "Cesa-Bianchi & Lugosi 2006, Proposition 3.1; Freund, Schapire, Singer & Warmuth 1997"
    beforehand = True

    #: The losses that are exp-concave at some rate.
    exp_concave = ("log", "square")

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
        words = "rate <= 1/(2 high) for the square loss of at most high"
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


class LateExpConcaveBound(ExpConcaveBound):
    """The same where outcomes come late, with what the forecasts that were served lost more than those at arrival.

    Let f be the forecast that there would be at arrival, and s the loss of the one that was served, which sleepers are
    shown. Those awake weigh exp(-eta l(f)) times what they did, at most; so W falls by exp(-eta (s - e)) at least, with
    e = s - l(f) where that is above 0. Divided as before, over the rounds in which i is awake,

        exp(eta (sum of s - l(f_i) over these rounds - sum of e over all)) <= N.
    """

    name = "exp-concave bound with late outcomes, by what lateness cost"
    formula = "ln N / rate + sum of what the forecasts served lost more than those at arrival"
    citation = f"{ExpConcaveBound.citation}, with what lateness cost"
    beforehand = False
    foreseeable = False
    late = True

    def regret_bound(self, evidence: Any) -> Any:
        found = None if evidence.delays is None else super().regret_bound(evidence)
        excess = float(evidence.state.get("late_excess", 0.0))
        return None if found is None else (found[0] + excess, {**found[1], "lateness": excess})


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
    loss_range  the least and the greatest loss (of the slopes, if it learns from these), (0, 1) if nothing is said.
                The log loss needs none: without one the rate is 1
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    """

    _rate = cython.declare(cython.double, visibility="public")
    _eight_log_n: cython.double
    _schedule: cython.int
    _cumulative = cython.declare(cython.double[::1], visibility="public")

    theorems = (
        ExpConcaveBound(),
        FixedRateBound(),
        DecreasingRateBound(),
        DoublingBound(),
        LateFixedRateBound(),
        LateExpConcaveBound(),
        LateBound(),
    )
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

    @property
    def late(self) -> str:
        """What an outcome that comes late finds: the forecast that was served, unless one expert is drawn."""
        return "arrival" if self._drawing else "served"

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        if self._schedule == FIXED and not abs(state["rate"] - self._rate) <= 1e-9 * self._rate:
            raise invalid("rate", f"{self._rate}, as the options say", state["rate"])

    def _facts(self) -> dict[str, Any]:
        return {"fixed_rate": self._rate if self._schedule == FIXED else None}
