# cython: boundscheck=False, wraparound=False, cdivision=True
"""Randomized weighted majority: follow an expert by chance, the more likely the less it has lost.

Setting     N experts, losses in [0, 1] (zero-one in the source); follow expert i with probability p_{t,i}. What is
            counted is the expected loss p_t . l_t; the draw itself depends on the seed and the round alone.
Update      w_{t+1,i} = w_{t,i} beta^{l_{t,i}} from w_1 = 1; p_t = w_t / sum w_t. For a horizon of T rounds beta =
            max(1/2, 1 - sqrt(ln N / T)).
Guarantee   on any sequence: L <= ln N / (1 - beta) + (2 - beta) L_min for 1/2 <= beta < 1, where L_min is the loss of
            the best expert; for a horizon T, after at most T rounds: regret <= 2 sqrt(T ln N). No algorithm does much
            better: on two random experts the expected regret of every one is at least sqrt(T/8).
Source      Mohri, Rostamizadeh & Talwalkar 2018, Figure 8.4 and Theorems 8.4, 8.5; Littlestone & Warmuth 1994.

>>> learner = RandomizedWeightedMajority(3, beta=0.5, seed=1)
>>> learner.learn_one([1, 0, 0], 1)  # the advice of one of them
0.0
>>> learner.loss, learner.weights.tolist()  # two of three were wrong: the expected loss
(0.6666666666666666, [0.5, 0.25, 0.25])
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Assumption, Basis
from afterwit.core.declared import none_negative
from afterwit.core.inputs import EXPERTS, ROUNDS
from afterwit.core.learner import view
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import NOT_NEGATIVE
from afterwit.experts._declared import COUNTED, HORIZON, N_EXPERTS, SEED, UNIT_RANGE, ZERO_ONE_LOSS, each_expert
from afterwit.experts._regret import BETA, MOHRI, OnAverage, Way
from afterwit.experts.second_order_weights import BETA_OPTION, HorizonBound, beta_for

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
else:
    from afterwit.experts._engine import ExpertLearner


class ExpectedLossBound(OnAverage):
    id = "randomized-weighted-majority"
    name = "expected loss bound"
    quantity = "loss"
    formula = "{log_experts} / (1 - {beta}) + (2 - {beta}) {best_loss}"
    inputs = (EXPERTS, BETA, Input("best_loss", "L_min", "the total loss of the best expert", NOT_NEGATIVE))
    needs = "losses are 0 or 1"
    citation = f"{MOHRI}, Theorem 8.4"

    @staticmethod
    def bound(log_experts: Any, beta: Any, best_loss: Any) -> Any:
        return log_experts / (1 - beta) + (2 - beta) * best_loss

    def certify(self, evidence: Any) -> Any:
        beta, lowest, width = evidence.facts["beta"], evidence.setting.low * evidence.rounds, evidence.width
        least = float(evidence.expert_losses.min())
        bound = lowest + width * self.bound(evidence.log_n, beta, (least - lowest) / width)
        allowed = Assumption("1/2 <= beta < 1", Basis.ENFORCED, beta >= 0.5, f"beta is {beta:g}")
        return evidence.certificate(self, bound, {"N": evidence.n, "beta": beta, "L_min": least}, allowed)


class RandomizedHorizonBound(OnAverage, HorizonBound):
    id = "randomized-weighted-majority-tuned"
    needs = "losses are 0 or 1 and beta = max(1/2, 1 - sqrt(ln N / T))"
    citation = f"{MOHRI}, Theorem 8.4"


class TwoRandomExperts(Theorem):
    """What no algorithm avoids."""

    id = "two-random-experts"
    name = "lower bound of two random experts"
    quantity = "regret"
    formula = "sqrt({rounds} / 8)"
    inputs = (ROUNDS,)
    needs = "one of two experts, drawn at random in every round, has loss 1 and the other 0, whatever the algorithm"
    citation = f"{MOHRI}, Theorem 8.5"
    sense = ">="
    chance = "on average over the sequence"

    @staticmethod
    def bound(rounds: Any) -> Any:
        return np.sqrt(rounds / 8)


@cython.cclass
class RandomizedWeightedMajority(ExpertLearner):
    """Randomized weighted majority. Experts do not sleep here: see `SleepingExperts`.

    n_experts   how many experts, or their names
    beta        the factor for a loss of 1, between 0 and 1; or
    horizon     the number of rounds for which to choose it
    seed        what the draws depend on
    loss        "zero-one", or another of `afterwit.losses` with its range
    loss_range  the least and the greatest loss
    """

    _beta: cython.double
    _factor: cython.double
    _cumulative = cython.declare(cython.double[::1], visibility="public")

    theorems = (ExpectedLossBound(expected_is_counted=True), RandomizedHorizonBound(expected_is_counted=True))
    sleeping = False
    way = Way.EXPECTED
    options = (N_EXPERTS, BETA_OPTION, HORIZON, SEED, ZERO_ONE_LOSS, UNIT_RANGE)
    kept = (*COUNTED, none_negative("cumulative", each_expert))

    def _begin(self) -> None:
        ExpertLearner._begin(self)
        self._beta = beta_for(self._options["beta"], self._options["horizon"], self._n)
        self._factor = math.log(self._beta)
        self._cumulative = view(np.zeros(self._n))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        return self.exponentiate(self._cumulative, self._factor)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        for i in range(self._n):
            self._cumulative[i] += self._seen[i]

    def _facts(self) -> dict[str, Any]:
        return {"beta": self._beta}
