# cython: boundscheck=False, wraparound=False, cdivision=True
"""Fixed share: exponential weights in which everyone keeps a small share, so that the best may change.

Setting     N experts, a convex loss in [0, 1] (or another range, declared); forecast the mean of the advice by p_t.
            The comparator is a sequence of experts that shifts from one to another at most m times.
Update      v_i = p_{t,i} exp(-eta l_{t,i}) / sum_j p_{t,j} exp(-eta l_{t,j}); p_{t+1,i} = (1 - alpha) v_i + alpha /
            N, from p_1 uniform. For a horizon of T rounds with m shifts: alpha = m/(T - 1), eta = sqrt(8/T ((m + 1)
            ln N + (T - 1) H(alpha))), with H(a) = -a ln a - (1 - a) ln(1 - a).
            Without a share it decreases: round t >= 2 begins with alpha_t = 1/t. Without a rate, this is the largest
            at which the loss is exp-concave (1 for the log loss, 1/(2 high) for a square loss up to high); for other
            losses it decreases: eta_t = 2 sqrt((k + 2) (1 + ln(N t)) / t), with k the shifts, or 1 if none are given.
Guarantee   on any sequence and for every m, the regret to the best sequence of experts with at most m shifts is at
            most C / eta + eta T / 8, with C = (m + 1) ln N + m ln(1/alpha) + (T - m - 1) ln(1/(1 - alpha)), or
            (m + 1) ln(N T) for the decreasing share. If that sequence loses L, it is also at most (eta L + C) /
            (1 - exp(-eta)) - L, which is less where L is small; and it is at most C / eta where the loss is
            exp-concave at the rate. With the decreasing rate it is at most (C + ln T) / eta_T + sqrt((k + 2) T (1 +
            ln(N T))) / 2. These bounds hold for every m and T at once.
Source      Herbster & Warmuth 1998; Cesa-Bianchi & Lugosi 2006, Theorem 5.2; the decreasing share: Mourtada &
            Maillard 2017. What is proved here is proved beside the theorems.

>>> learner = FixedShare(2, share=0.1, rate=2.0)
>>> learner.learn_many([[0.0, 1.0]] * 4, [1.0, 1.0, 0.0, 0.0]).round(3).tolist()
[0.5, 0.843, 0.928, 0.622]
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Assumption, Basis, Hindsight
from afterwit.core.declared import Numbers, Option
from afterwit.core.inputs import EXPERTS, ROUNDS
from afterwit.core.inputs import RATE as RATE_INPUT
from afterwit.core.learner import view
from afterwit.core.theorem import Input
from afterwit.data.checks import between, optional, whole_number
from afterwit.data.quantities import COUNT_OR_NONE, SHARE
from afterwit.data.room import require_room
from afterwit.errors import counted, invalid
from afterwit.experts._declared import (
    COUNTED,
    GRADIENT,
    LOSS_RANGE,
    N_EXPERTS,
    OUTCOMES,
    RATE,
    SEED,
    SQUARE_LOSS,
    each_expert,
    natural_range,
)
from afterwit.experts._exp_concave import ExpConcaveBound
from afterwit.experts._regret import CONVEX, RegretTheorem, ln

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import INFINITY, exp, log, sqrt
else:
    from math import exp, log, sqrt
    from math import inf as INFINITY

    from afterwit.experts._engine import ExpertLearner


SWITCHES = Input("switches", "m", "how often the sequence of experts compared with changes", COUNT_OR_NONE)


class TrackingBound(RegretTheorem):
    id = "fixed-share"
    name = "tracking bound"
    formula = (
        "(({switches} + 1) {log_experts} + {switches} ln(1/{share}) + ({rounds} - {switches} - 1) "
        "ln(1/(1 - {share}))) / {rate} + {rate} {rounds} / 8"
    )
    inputs = (
        EXPERTS,
        ROUNDS,
        SWITCHES,
        Input("share", "alpha", "the share of the weights that is mixed in every round", SHARE),
        RATE_INPUT,
    )
    needs = CONVEX
    citation = "Herbster & Warmuth 1998; Cesa-Bianchi & Lugosi 2006, Theorem 5.2"
    beforehand = True

    @staticmethod
    def cost(log_experts: Any, rounds: Any, switches: Any, share: Any) -> Any:
        """C, at most minus the logarithm of the weight that a sequence of experts begins with."""
        stays = np.maximum(rounds - switches - 1, 0)
        with np.errstate(invalid="ignore"):
            switching = np.where(switches > 0, switches * ln(share), 0.0)
            staying = np.where(stays > 0, stays * ln_of_the_rest(share), 0.0)
        return (switches + 1) * log_experts - switching - staying

    @classmethod
    def bound(cls, log_experts: Any, rounds: Any, switches: Any, share: Any, rate: Any) -> Any:
        return cls.cost(log_experts, rounds, switches, share) / rate + rate * rounds / 8

    @staticmethod
    def check(rounds: Any, switches: Any, **_: Any) -> None:
        if np.any(switches > rounds - 1):
            raise invalid("switches", "fewer than the rounds", switches)

    def regret_bound(self, evidence: Any) -> Any:
        rate, share = evidence.facts["rate"], evidence.facts["share"]
        if share is None:
            return None
        shifts, rounds, width = evidence.facts["shifts"], evidence.rounds, evidence.width
        bound = self.bound(evidence.log_n, rounds, shifts, share, rate)
        inputs = {"N": evidence.n, "m": shifts, "alpha": share, "eta": rate, "T": rounds, "range": width}
        return width * bound, inputs


class DecreasingShareBound(RegretTheorem):
    """A fixed rate, and a share of 1/t that is mixed in before round t.

    Proof. Exponential weights over all sequences of experts, with the prior weight of a sequence that of a walk which
    begins anywhere and before round t stays with probability 1 - 1/t and goes anywhere with probability 1/t, are
    this algorithm: so far nothing depends on the shares being equal (Herbster & Warmuth 1998). A sequence with m
    shifts has at least the weight (1/N)^(m + 1) times the product of 1/t over its shifts and (t - 1)/t over the other
    rounds from 2 on. The product of all (t - 1)/t is 1/T, and a shift has 1/t in place of (t - 1)/t, which is smaller
    by t - 1 <= T: minus the logarithm of the weight is at most C = (m + 1) ln(N T). The rest is as with a fixed share.
    """

    id = "fixed-share-decreasing"
    name = "tracking bound, decreasing share"
    formula = "({switches} + 1) ({log_experts} + ln({rounds})) / {rate} + {rate} {rounds} / 8"
    inputs = (EXPERTS, ROUNDS, SWITCHES, RATE_INPUT)
    needs = f"{CONVEX}; the share of round t is 1/t"
    citation = "by the proof of Herbster & Warmuth 1998; Mourtada & Maillard 2017"
    beforehand = True
    check = staticmethod(TrackingBound.check)

    @staticmethod
    def cost(log_experts: Any, rounds: Any, switches: Any) -> Any:
        return (switches + 1) * (log_experts + ln(np.maximum(rounds, 1.0)))

    @classmethod
    def bound(cls, log_experts: Any, rounds: Any, switches: Any, rate: Any) -> Any:
        return cls.cost(log_experts, rounds, switches) / rate + rate * rounds / 8

    def regret_bound(self, evidence: Any) -> Any:
        facts, width, rounds = evidence.facts, evidence.width, evidence.rounds
        if facts["share"] is not None or facts["rate"] is None or not evidence.setting.ranged:
            return None
        bound = self.bound(evidence.log_n, rounds, facts["shifts"], facts["rate"])
        inputs = {"N": evidence.n, "m": facts["shifts"], "eta": facts["rate"], "T": rounds, "range": width}
        return width * bound, inputs


class AnytimeTrackingBound(RegretTheorem):
    """A decreasing share and a decreasing rate: every number of shifts and every length at once.

    Proof. Let v_t be the weights after round t - 1 and before its share is mixed in, so that v_{t+1,i} = p_{t,i}
    exp(-eta_t l_{t,i}) / sum_j p_{t,j} exp(-eta_t l_{t,j}). By Hoeffding's lemma p_t . l_t - l_{t,i} <= (1/eta_t)
    ln(v_{t+1,i} / p_{t,i}) + eta_t / 8. Sum this along a sequence i_1, ..., i_T, and collect for each t >= 2 what
    belongs to p_t:

        (1/eta_{t-1}) ln v_{t,i_{t-1}} - (1/eta_t) ln p_{t,i_t},    and ln N / eta_1 for t = 1.

    As p_{t,i} >= 1/(N t), this is at most (1/eta_{t-1}) ln(v_{t,i_{t-1}} / p_{t,i_t}) + (1/eta_t - 1/eta_{t-1})
    ln(N t). The second parts and ln N / eta_1 are at most ln(N T) / eta_T in all. The logarithm in the first is at
    most ln(t / (t - 1)) where the sequence stays, because p_{t,i} >= (1 - 1/t) v_{t,i}, and at most ln(N t) where it
    shifts; these are ln T + m ln(N T) in all, at most. So the regret is at most (C + ln T) / eta_T + sum eta_t / 8.
    The rates do decrease, and their sum is at most 4 sqrt((k + 2) T (1 + ln(N T))).
    """

    id = "fixed-share-anytime"
    name = "tracking bound at any time"
    formula = (
        "(({switches} + 1) ({log_experts} + ln({rounds})) + ln({rounds})) / 2 sqrt({rounds} / (({tuned} + 2) "
        "(1 + {log_experts} + ln({rounds})))) + sqrt(({tuned} + 2) {rounds} (1 + {log_experts} + ln({rounds}))) / 2"
    )
    inputs = (
        EXPERTS,
        ROUNDS,
        SWITCHES,
        Input("tuned", "k", "the shifts that the rate is chosen for", COUNT_OR_NONE, default=1.0),
    )
    needs = f"{CONVEX}; the share of round t is 1/t and its rate 2 sqrt((k + 2) (1 + ln(N t)) / t)"
    citation = "by the proofs of Herbster & Warmuth 1998 and Cesa-Bianchi et al. 2012"
    beforehand = True
    check = staticmethod(TrackingBound.check)

    @staticmethod
    def bound(log_experts: Any, rounds: Any, switches: Any, tuned: Any) -> Any:
        rounds = np.maximum(rounds, 1.0)
        cost = DecreasingShareBound.cost(log_experts, rounds, switches) + ln(rounds)
        steep = (tuned + 2) * (1 + log_experts + ln(rounds))
        return cost / 2 * np.sqrt(rounds / steep) + np.sqrt(rounds * steep) / 2

    def regret_bound(self, evidence: Any) -> Any:
        facts, width, rounds = evidence.facts, evidence.width, evidence.rounds
        if facts["rate"] is not None:
            return None
        inputs = {"N": evidence.n, "m": facts["shifts"], "k": facts["tuned"], "T": rounds, "range": width}
        return width * self.bound(evidence.log_n, rounds, facts["shifts"], facts["tuned"]), inputs


class SmallLossTrackingBound(RegretTheorem):
    """Little regret where what it is compared with loses little, at any fixed rate.

    Proof. Let m_t = -ln sum_i p_{t,i} exp(-eta l_{t,i}). A sequence with m shifts has at least the weight
    exp(-C) exp(-eta L), L its loss and C as in the tracking bounds, so that sum_t m_t <= eta L + C. On the other
    side, exp(-eta l) <= 1 - (1 - exp(-eta)) l for l in [0, 1], so that m_t >= (1 - exp(-eta)) p_t . l_t.
    """

    name = "tracking bound, small losses"
    formula = (
        "(eta L + C) / (1 - exp(-eta)) - L, C = (m + 1) ln N + m ln(1/alpha) + (T - m - 1) ln(1/(1 - alpha)), or "
        "(m + 1) ln(N T) where the share decreases"
    )
    citation = "by the proof of Herbster & Warmuth 1998, at a fixed rate"

    @staticmethod
    def bound(cost: Any, rate: Any, loss: Any) -> Any:
        left = -math.expm1(-rate)
        return (rate - left) / left * loss + cost / left

    def regret_bound(self, evidence: Any) -> Any:
        setting, facts, width = evidence.setting, evidence.facts, evidence.width
        if not setting.bounded or evidence.slept or facts["rate"] is None:
            return None
        losses = evidence.expert_losses if evidence.rival is None else evidence.rival.value
        above = np.maximum(losses - setting.low * evidence.rounds, 0.0) / width
        bound = self.bound(cost_of(evidence), facts["rate"], above)
        return width * bound, {**inputs_of(evidence), "eta": facts["rate"], "range": width}


class ExpConcaveTrackingBound(RegretTheorem):
    """At a rate at which the loss is exp-concave.

    Proof. With m_t as in the bound for small losses, sum_t m_t <= eta L + C, and m_t is at least eta times the loss of
    the forecast. A sleeper is shown the loss of the forecast: those awake weigh at most exp(-eta l(f_t)) times what
    they did, and so do all; a sequence loses l(f_t) where its expert sleeps.
    """

    name = "exp-concave tracking bound"
    formula = (
        "C / rate, C = (m + 1) ln N + m ln(1/alpha) + (T - m - 1) ln(1/(1 - alpha)), or (m + 1) ln(N T) where the "
        "share decreases"
    )
    citation = "Herbster & Warmuth 1998; Mourtada & Maillard 2017"
    beforehand = True

    def regret_bound(self, evidence: Any) -> Any:
        facts, setting = evidence.facts, evidence.setting
        # Where losses are in a range, other theorems are about a rate that is too large.
        too_fast = not facts["exp_concave"] and setting.ranged
        if too_fast or (evidence.unforecast and setting.ranged) or (evidence.slept and facts["share"] is not None):
            return None
        rate = facts["rate"] / evidence.width
        return cost_of(evidence) / rate, {**inputs_of(evidence), "rate": rate}

    def further(self, evidence: Any) -> tuple[Assumption, ...]:
        rate = evidence.facts["rate"] / evidence.width
        forecast = "a forecast was made in every round"
        unmade = "" if not evidence.unforecast else f"in {counted(evidence.unforecast, 'round')} only losses were known"
        return (
            Assumption("the loss is exp-concave", Basis.ENFORCED, evidence.facts["exp_concave"], f"at rate {rate:.4g}"),
            Assumption(forecast, Basis.OBSERVED, evidence.unforecast == 0, unmade),
        )


def cost_of(evidence: Any) -> Any:
    """C, for the share of this run."""
    share, shifts = evidence.facts["share"], evidence.facts["shifts"]
    if share is None:
        return DecreasingShareBound.cost(evidence.log_n, evidence.rounds, shifts)
    return TrackingBound.cost(evidence.log_n, evidence.rounds, shifts, share)


def inputs_of(evidence: Any) -> dict[str, Any]:
    """What C was computed from."""
    share, shifts = evidence.facts["share"], evidence.facts["shifts"]
    inputs = {"N": evidence.n, "m": shifts, "T": evidence.rounds}
    return inputs if share is None else {**inputs, "alpha": share}


def ln_of_the_rest(share: Any) -> Any:
    """ln(1 - alpha), as exact for a small alpha as for any; of a single number with Python's rounding."""
    if np.ndim(share) == 0:
        return math.log1p(-share) if share < 1 else -math.inf
    with np.errstate(divide="ignore"):
        return np.log1p(-share)


def share_given(parameter: str, value: Any) -> float:
    return between(parameter, value, 1e-300, 1, "a number between 0 and 1, above 1e-300")


def are_shares(shares: Any) -> bool:
    """Whether these are positive and sum to 1, but for rounding."""
    return bool((shares > 0).all() and abs(shares.sum() - 1) < 1e-6)


def horizon_given(parameter: str, value: Any) -> int:
    """So many rounds that there is room for a shift, and for rounds without one."""
    return whole_number(parameter, value, 3)


@cython.cclass
class FixedShare(ExpertLearner):
    """Fixed share. It needs no option; what is given is what it plays with.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    share       alpha, what is shared out in each round, between 0 and 1; if there is none, 1/t in round t
    rate        eta, for losses scaled to [0, 1]
    horizon     the number of rounds for which to choose share and rate, with the number of shifts
    shifts      how often the best expert may change; the learner follows the best such sequence for its certificate
    gradient    whether to learn from slopes
    loss_range  the least and the greatest loss (of the slopes, if it learns from these), (0, 1) if nothing is said,
                (0, 2) for the Brier loss. The log loss needs none where the share decreases
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
    """

    _share: cython.double
    _rate: cython.double
    _share_decreases: cython.bint
    _rate_decreases: cython.bint
    _tuned: cython.Py_ssize_t
    _exp_concave: cython.bint
    _levels = cython.declare(cython.Py_ssize_t, visibility="readonly")
    _probabilities = cython.declare(cython.double[::1], visibility="public")
    _paths = cython.declare(cython.double[::1], visibility="public")

    theorems = (
        TrackingBound(),
        SmallLossTrackingBound(),
        DecreasingShareBound(),
        ExpConcaveTrackingBound(),
        AnytimeTrackingBound(),
    )
    options = (
        N_EXPERTS,
        SQUARE_LOSS,
        Option("share", None, optional(share_given)),
        RATE,
        Option("horizon", None, optional(horizon_given)),
        Option("shifts", None, optional(whole_number)),
        GRADIENT,
        LOSS_RANGE,
        SEED,
        OUTCOMES,
    )
    kept = (
        *COUNTED,
        Numbers("probabilities", each_expert, are_shares, "positive numbers that sum to 1"),
        Numbers("paths", lambda learner: (learner._levels, learner._n)),
    )

    def _begin(self) -> None:
        options = self._options
        asked = tuple(options[name] for name in ("share", "rate", "horizon", "shifts"))
        share, rate, horizon, shifts = asked
        if (horizon is not None and (share is not None or rate is not None or shifts is None)) or (
            share is not None and rate is None
        ):
            allowed = "share and rate, horizon and shifts, a rate alone, or none of the first three"
            raise invalid("share, rate, horizon, shifts", allowed, asked)
        self._share_decreases = share is None and horizon is None
        unbounded = self._share_decreases and options["loss"] == "log" and not options["gradient"]
        if options["loss_range"] is None and not unbounded:
            options["loss_range"] = natural_range(options["loss"])
        ExpertLearner._begin(self)
        most = ExpConcaveBound.largest_rate(self._loss_function.kind, self._low + self._width) * self._width
        most = most if math.isfinite(most) and not self._linear else 0.0
        self._rate_decreases = self._share_decreases and rate is None and most == 0
        self._tuned = 1 if shifts is None else shifts
        if horizon is None:
            self._share = 0.0 if share is None else share
            self._rate = most if rate is None else rate
        else:
            if not 1 <= shifts < horizon - 1:
                raise invalid("shifts", f"from 1 to {horizon - 2}, for a horizon of {horizon}", shifts)
            self._share = shifts / (horizon - 1)
            entropy = -self._share * math.log(self._share) - (1 - self._share) * math.log1p(-self._share)
            cost = (shifts + 1) * math.log(self._n) + (horizon - 1) * entropy
            self._rate = math.sqrt(8 * cost / horizon)
        self._exp_concave = most > 0 and ExpConcaveBound.allows(self._rate, most)
        self._shows_own = self._share_decreases and self._exp_concave
        self._levels = 1 + (shifts or 0)
        require_room("shifts", 8 * self._levels * self._n)
        self._probabilities = view(np.full(self._n, 1.0 / self._n))
        self._paths = view(np.zeros(self._levels * self._n))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        i: cython.Py_ssize_t
        total: cython.double = 0.0
        for i in range(self._n):
            self._shares[i] = self._probabilities[i] if self._awake[i] else 0.0
            total += self._shares[i]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        total: cython.double = 0.0
        low: cython.double = INFINITY
        t: cython.double = self._rounds + 1
        share: cython.double = 1 / (t + 1) if self._share_decreases else self._share
        rate: cython.double = self._rate
        if self._rate_decreases:
            rate = 2 * sqrt((self._tuned + 2) * (1 + log(self._n * t)) / t)
        for i in range(self._n):
            if self._seen[i] < low:
                low = self._seen[i]
        for i in range(self._n):
            self._probabilities[i] *= exp(-rate * (self._seen[i] - low))
            total += self._probabilities[i]
        for i in range(self._n):
            self._probabilities[i] = (1 - share) * self._probabilities[i] / total + share / self._n
        self.follow_paths()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def follow_paths(self) -> cython.void:
        """The least loss of a sequence of experts with at most k shifts that is now at i; a sleeper's is our own."""
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        best: cython.double
        loss: cython.double
        for k in range(self._levels - 1, -1, -1):
            best = INFINITY
            if k > 0:
                for i in range(self._n):
                    if self._paths[(k - 1) * self._n + i] < best:
                        best = self._paths[(k - 1) * self._n + i]
            for i in range(self._n):
                loss = self._losses[i] if self._awake[i] else self._own
                if best < self._paths[k * self._n + i]:
                    self._paths[k * self._n + i] = best
                self._paths[k * self._n + i] += loss

    def _facts(self) -> dict[str, Any]:
        shifts = self._levels - 1
        rival = None
        if shifts and self._rounds:
            words = f"of the best sequence of experts with at most {shifts} shifts"
            rival = Hindsight(float(np.min(self._paths)), words, "loss")
        return {
            "rate": None if self._rate_decreases else self._rate,
            "share": None if self._share_decreases else self._share,
            "tuned": self._tuned,
            "exp_concave": bool(self._exp_concave),
            "shifts": shifts,
            "rival": rival,
        }
