"""The bound of exponential weights at a rate at which the loss is exp-concave: it does not grow with the rounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from afterwit.core.certificate import Assumption, Basis
from afterwit.core.inputs import EXPERTS
from afterwit.core.inputs import RATE as RATE_INPUT
from afterwit.errors import counted
from afterwit.experts._adaptive_rate import ADAPTIVE
from afterwit.experts._declared import RANGE_SLACK
from afterwit.experts._regret import RegretTheorem, ratio


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

    id = "exp-concave"
    name = "exp-concave bound"
    formula = "{log_experts} / {rate}"
    inputs = (EXPERTS, RATE_INPUT)
    needs = "exp(-rate * loss) is concave in the forecast: rate <= 1 for the log loss, 1/(2 high) for the square loss"
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


def shown_the_forecast(evidence: Any) -> bool:
    """Whether every expert was shown the loss of the forecast while it slept, as far as rounding lets one tell.

    What expert i was shown in all adds up to its own loss while awake and the learner's while asleep, which is the
    learner's loss less the regret to i.
    """
    if not evidence.slept or evidence.parameters["schedule"] == ADAPTIVE:
        return True
    setting, rounds = evidence.setting, evidence.rounds
    finite = np.isfinite(evidence.expert_losses)
    regrets = evidence.regrets[finite]
    shown = setting.width * evidence.state["cumulative"][finite] + setting.low * rounds
    size = np.abs(evidence.loss) + np.abs(regrets) + np.abs(evidence.expert_losses[finite])
    size += (abs(setting.low) + setting.width * setting.ranged) * rounds
    return bool(np.all(np.abs(evidence.loss - regrets - shown) <= RANGE_SLACK * size))
