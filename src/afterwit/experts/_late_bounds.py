"""The bounds of exponential weights with outcomes that come late."""

from __future__ import annotations

from typing import Any

from afterwit.core.inputs import EXPERTS, ROUNDS
from afterwit.core.inputs import RATE as RATE_INPUT
from afterwit.core.theorem import Input
from afterwit.data.quantities import NOT_NEGATIVE
from afterwit.experts._exp_concave import ExpConcaveBound
from afterwit.experts._regret import CONVEX, RegretTheorem
from afterwit.experts._scheduled_rates import DecreasingRateBound, DoublingBound, FixedRateBound

DELAYS = Input(
    "delays", "sum d_t", "the sum over the rounds of how many were learned between forecast and outcome", NOT_NEGATIVE
)


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
