"""The theorem of a rate that falls no further than the losses ask for: no range, no horizon, and no unit.

Setting     N experts, a loss that is convex in the forecast. In round t the losses of those awake are in an interval
            of width s_t; in rounds where the loss is exp-concave, k_t is a rate at which it is: 1/(2 h_t) for the
            square or Brier loss of at most h_t in this round, 1 for the log loss. In all other rounds k_t = 0.
Rate        eta_t = min(k, ln N / C_{t-1}), where k is the least k_t so far of the exp-concave rounds, and C the cost so
            far: C_t = C_{t-1} + c_t with c_t = min(s_t, max(eta_t - k_t, 0) s_t^2 / 8).
Guarantee   the regret to every expert, in the rounds in which it is awake, is at most

            ln N / eta + C,                                 eta and C after the last round;
            2 H ln N + 17/16 H                              for forecasts under the square loss, none above H;
            sqrt(ln N sum s_t^2) + 2 S                      in any case with all k_t = 0, S the largest s_t.

Proof. A sleeper is shown the learner's own loss a_t: that of the forecast in exp-concave rounds, the mixture's
p_t . l_t in others. Let L be the sums of what is shown, F(eta, L) = -1/eta ln((1/N) sum_i exp(-eta L_i)), and m_t =
F(eta_t, L_t) - F(eta_t, L_{t-1}), the mix loss. F falls with eta and eta never grows, so that sum m_t <= F(eta_T, L_T)
<= L_{T,i} + ln N / eta_T for every i. What is left to show is that a_t - m_t <= c_t; then the sum of a_t - l_{t,i} over
the rounds in which i is awake, which is that of a_t less what i is shown, is at most ln N / eta_T + C_T.

Those asleep pull m_t only towards a_t, so let m(eta) = -1/eta ln sum_i q_i exp(-eta l_{t,i}), with q the shares of
those awake. It falls with eta from m(0) = q . l_t, by at most s_t^2 / 8 for each unit of eta: -m'(eta) is 1/eta^2 times
the relative entropy of the weights after the round to those before, which is the integral of u Var_u over u from 0 to
eta, and no variance of losses in an interval of width s_t is above s_t^2 / 4. Now a_t <= m(k_t): by the exp-concavity,
or by convexity where k_t = 0. So a_t - m(eta_t) <= (eta_t - k_t) s_t^2 / 8 where eta_t > k_t, and not above 0
elsewhere; and a_t - m(eta_t) <= s_t, as a_t is at most the largest loss and m(eta_t) at least the least.

As long as all that is shown is equal, so are the shares at any rate, and eta_t may be any that is not below the later
ones. If the first round in which losses differ is exp-concave, take k_t, for no cost. If not, take the rate that
follows from its own cost: c = (ln N / c) s^2 / 8 gives c = s sqrt(ln N / 8), or s if that is less.

Square loss. A round costs only where its largest loss h is above that of all rounds before, H. Then s <= h, eta is at
most 1/(2H), and c <= h min(1, (h/H - 1)/16) <= 17/16 (h - H): for h <= 17 H because (h/H - 1)/16 = (1 - H/h) (h/H)/16,
beyond that because 1 - H/h >= 16/17. These differences add up to at most 17/16 H_T, so that C_T <= 17/16 H_T < 2 H_T
ln N for N > 1, and ln N / eta_T is at most the larger of 2 H_T ln N and C_T.

Ranges. 2 C_{t-1} c_t <= 2 C_{t-1} (ln N / C_{t-1}) s_t^2 / 8 and c_t^2 <= S c_t. So C_T^2, the sum of 2 C_{t-1} c_t +
c_t^2, is at most ln N sum s_t^2 / 4 + S C_T, and C_T <= sqrt(ln N sum s_t^2) / 2 + S; ln N / eta_T <= C_T.

All of it is in the unit of the losses, and stays as it is when a common number is added to the losses of a round.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.core.inputs import EXPERTS
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import NOT_NEGATIVE
from afterwit.experts._regret import RegretTheorem, ratio

#: The name of this schedule of rates.
ADAPTIVE = "adaptive"
PROVED_HERE = "proved in afterwit.experts._adaptive_rate"


class AdaptiveRateBound(RegretTheorem):
    name = "adaptive rate bound"
    formula = "ln N / eta + C, eta the last rate, C = sum of min(s_t, max(eta_t - k_t, 0) s_t^2 / 8)"
    citation = f"{PROVED_HERE}, after Cesa-Bianchi, Mansour & Stoltz 2007 and de Rooij et al. 2014"

    @staticmethod
    def bound(log_experts: Any, rate: Any, cost: Any) -> Any:
        return ratio(log_experts, rate) + cost

    def in_run(self, evidence: Any) -> Theorem:
        # Slopes are those at the learner's own forecasts.
        by_slopes = evidence.setting.gradient and evidence.unforecast < evidence.rounds
        return self.as_known(foreseeable=False) if by_slopes else self

    def regret_bound(self, evidence: Any) -> Any:
        if evidence.parameters["schedule"] != ADAPTIVE:
            return None
        rate, cost = evidence.state["rate"], evidence.state["cost"]
        inputs = {"N": evidence.n, "eta": rate, "C": cost, "range": evidence.width}
        return evidence.width * self.bound(evidence.log_n, rate, cost), inputs


class RangesBound(Theorem):
    """What the adaptive rate bound comes to at most, for any convex loss."""

    id = "exponential-weights-adaptive"
    name = "adaptive rate bound by ranges"
    quantity = "regret"
    formula = "sqrt({log_experts} {squared_ranges}) + 2 {largest_range}"
    inputs = (
        EXPERTS,
        Input("squared_ranges", "sum s_t^2", "the sum of the squares of the ranges of the losses", NOT_NEGATIVE),
        Input("largest_range", "S", "the largest range of the losses in a round", NOT_NEGATIVE),
    )
    needs = "the loss is convex in the prediction; no range, rate, horizon or schedule was given"
    citation = PROVED_HERE

    @staticmethod
    def bound(log_experts: Any, squared_ranges: Any, largest_range: Any) -> Any:
        return np.sqrt(log_experts * squared_ranges) + 2 * largest_range


class SquareLossBound(Theorem):
    """What it comes to at most for forecasts under the square loss: it does not grow with the rounds."""

    id = "exponential-weights-square"
    name = "adaptive rate bound for the square loss"
    quantity = "regret"
    formula = "2 {largest_loss} {log_experts} + 17/16 {largest_loss}"
    inputs = (EXPERTS, Input("largest_loss", "H", "the largest loss of an expert in a round", NOT_NEGATIVE))
    needs = "square loss, a forecast in every round; no range, rate, horizon or schedule was given"
    citation = PROVED_HERE

    @staticmethod
    def bound(log_experts: Any, largest_loss: Any) -> Any:
        return (2 * log_experts + 17 / 16) * largest_loss
