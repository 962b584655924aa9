# cython: boundscheck=False, wraparound=False, cdivision=True
"""Fixed share: exponential weights in which everyone keeps a small share, so that the best may change.

Setting     N experts, a convex loss in [0, 1] (or another range, declared); forecast the mean of the advice by p_t.
            The comparator is a sequence of experts that shifts from one to another at most m times.
Update      v_i = p_{t,i} exp(-eta l_{t,i}) / sum_j p_{t,j} exp(-eta l_{t,j}); p_{t+1,i} = (1 - alpha) v_i + alpha /
            N, from p_1 uniform. For a horizon of T rounds with m shifts: alpha = m/(T - 1), eta = sqrt(8/T ((m + 1)
            ln N + (T - 1) H(alpha))), with H(a) = -a ln a - (1 - a) ln(1 - a).
Guarantee   on any sequence and for every m, the regret to the best sequence of experts with at most m shifts is at
            most C / eta + eta T / 8, with C = (m + 1) ln N + m ln(1/alpha) + (T - m - 1) ln(1/(1 - alpha)). If that
            sequence loses L, it is also at most (eta L + C) / (1 - exp(-eta)) - L, which is less where L is small.
Source      Herbster & Warmuth 1998; Cesa-Bianchi & Lugosi 2006, Theorem 5.2.

>>> learner = FixedShare(2, share=0.1, rate=2.0)
>>> learner.learn_many([[0.0, 1.0]] * 4, [1.0, 1.0, 0.0, 0.0]).round(3).tolist()
[0.5, 0.843, 0.928, 0.622]
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Hindsight
from afterwit.core.declared import Numbers, Option
from afterwit.core.inputs import EXPERTS, ROUNDS
from afterwit.core.inputs import RATE as RATE_INPUT
from afterwit.core.learner import view
from afterwit.core.theorem import Input
from afterwit.data.checks import between, optional, whole_number
from afterwit.data.quantities import COUNT_OR_NONE, SHARE
from afterwit.data.room import require_room
from afterwit.errors import invalid
from afterwit.experts._declared import (
    COUNTED,
    GRADIENT,
    N_EXPERTS,
    OUTCOMES,
    RATE,
    SEED,
    SQUARE_LOSS,
    UNIT_RANGE,
    each_expert,
)
from afterwit.experts._regret import CONVEX, RegretTheorem, ln

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import INFINITY, exp
else:
    from math import exp
    from math import inf as INFINITY

    from afterwit.experts._engine import ExpertLearner


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
        Input("switches", "m", "how often the sequence of experts compared with changes", COUNT_OR_NONE),
        Input("share", "alpha", "the share of the weights that is mixed in every round", SHARE),
        RATE_INPUT,
    )
    needs = CONVEX
    citation = "Herbster & Warmuth 1998; Cesa-Bianchi & Lugosi 2006, Theorem 5.2"
    beforehand = True

    @staticmethod
    def bound(log_experts: Any, rounds: Any, switches: Any, share: Any, rate: Any) -> Any:
        stays = np.maximum(rounds - switches - 1, 0)
        with np.errstate(invalid="ignore"):
            switching = np.where(switches > 0, switches * ln(share), 0.0)
            staying = np.where(stays > 0, stays * ln_of_the_rest(share), 0.0)
        return ((switches + 1) * log_experts - switching - staying) / rate + rate * rounds / 8

    @staticmethod
    def check(rounds: Any, switches: Any, **_: Any) -> None:
        if np.any(switches > rounds - 1):
            raise invalid("switches", "fewer than the rounds", switches)

    def regret_bound(self, evidence: Any) -> Any:
        facts, rounds, width = evidence.facts, evidence.rounds, evidence.width
        rate, share, shifts = facts["rate"], facts["share"], facts["shifts"]
        bound = self.bound(evidence.log_n, rounds, shifts, share, rate)
        inputs = {"N": evidence.n, "m": shifts, "alpha": share, "eta": rate, "T": rounds, "range": width}
        return width * bound, inputs


class SmallLossTrackingBound(RegretTheorem):
    """Little regret where what it is compared with loses little, at any rate.

    Proof. Let m_t = -ln sum_i p_{t,i} exp(-eta l_{t,i}). A sequence with m shifts has at least the weight
    (1/N) (alpha/N)^m (1 - alpha)^(T - m - 1) exp(-eta L), L its loss, so that sum_t m_t <= eta L + C. On the other
    side, exp(-eta l) <= 1 - (1 - exp(-eta)) l for l in [0, 1], so that m_t >= (1 - exp(-eta)) p_t . l_t.
    """

    name = "tracking bound, small losses"
    formula = "(eta L + C) / (1 - exp(-eta)) - L, C = (m + 1) ln N + m ln(1/alpha) + (T - m - 1) ln(1/(1 - alpha))"
    citation = "by the proof of Herbster & Warmuth 1998, at a fixed rate"

    @staticmethod
    def bound(log_experts: Any, rounds: Any, switches: Any, share: Any, rate: Any, loss: Any) -> Any:
        # C, the cost of the tracking bound at a rate of 1, which has 1/8 of the rounds beside it.
        cost = TrackingBound.bound(log_experts, rounds, switches, share, 1.0) - rounds / 8
        left = -math.expm1(-rate)
        return (rate - left) / left * loss + cost / left

    def regret_bound(self, evidence: Any) -> Any:
        setting, facts, width = evidence.setting, evidence.facts, evidence.width
        if not setting.bounded or evidence.slept:
            return None
        losses = evidence.expert_losses if evidence.rival is None else evidence.rival.value
        above = np.maximum(losses - setting.low * evidence.rounds, 0.0) / width
        rate, share, shifts = facts["rate"], facts["share"], facts["shifts"]
        inputs = {"N": evidence.n, "m": shifts, "alpha": share, "eta": rate, "T": evidence.rounds, "range": width}
        return width * self.bound(evidence.log_n, evidence.rounds, shifts, share, rate, above), inputs


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
    """Fixed share. Give the share and the rate, or the horizon and the number of shifts to choose them for.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    share       alpha, what is shared out in each round, between 0 and 1
    rate        eta, for losses scaled to [0, 1]
    horizon     the number of rounds
    shifts      how often the best expert may change; the learner follows the best such sequence for its certificate
    gradient    whether to learn from slopes
    loss_range  the least and the greatest loss (of the slopes, if it learns from these)
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
    """

    _share: cython.double
    _rate: cython.double
    _levels = cython.declare(cython.Py_ssize_t, visibility="readonly")
    _probabilities = cython.declare(cython.double[::1], visibility="public")
    _paths = cython.declare(cython.double[::1], visibility="public")

    theorems = (TrackingBound(), SmallLossTrackingBound())
    options = (
        N_EXPERTS,
        SQUARE_LOSS,
        Option("share", None, optional(share_given)),
        RATE,
        Option("horizon", None, optional(horizon_given)),
        Option("shifts", None, optional(whole_number)),
        GRADIENT,
        UNIT_RANGE,
        SEED,
        OUTCOMES,
    )
    kept = (
        *COUNTED,
        Numbers("probabilities", each_expert, are_shares, "positive numbers that sum to 1"),
        Numbers("paths", lambda learner: (learner._levels, learner._n)),
    )

    def _begin(self) -> None:
        ExpertLearner._begin(self)
        asked = tuple(self._options[name] for name in ("share", "rate", "horizon", "shifts"))
        share, rate, horizon, shifts = asked
        given = tuple(option is not None for option in asked)
        if given not in ((True, True, False, False), (False, False, True, True), (True, True, False, True)):
            raise invalid("share, rate, horizon, shifts", "share and rate, or horizon and shifts", asked)
        if horizon is None:
            self._share = share
            self._rate = rate
        else:
            if not 1 <= shifts < horizon - 1:
                raise invalid("shifts", f"from 1 to {horizon - 2}, for a horizon of {horizon}", shifts)
            self._share = shifts / (horizon - 1)
            entropy = -self._share * math.log(self._share) - (1 - self._share) * math.log1p(-self._share)
            cost = (shifts + 1) * math.log(self._n) + (horizon - 1) * entropy
            self._rate = math.sqrt(8 * cost / horizon)
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
        for i in range(self._n):
            if self._seen[i] < low:
                low = self._seen[i]
        for i in range(self._n):
            self._probabilities[i] *= exp(-self._rate * (self._seen[i] - low))
            total += self._probabilities[i]
        for i in range(self._n):
            self._probabilities[i] = (1 - self._share) * self._probabilities[i] / total + self._share / self._n
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
        return {"rate": self._rate, "share": self._share, "shifts": shifts, "rival": rival}
