# cython: boundscheck=False, wraparound=False, cdivision=True
"""Sleeping experts: rules that sometimes fire, combined nearly as well as each does where it fires.

Setting     n if-then rules; those that fire (are awake) predict, a missing forecast means asleep. Follow awake expert
            i with probability p_{t,i}; losses m in [0, 1], zero-one in the source; the expected loss is what is
            counted.
Update      p_{t,i} proportional to w_i over those awake; w_i <- w_i (1 + epsilon)^(sum_j p_{t,j} m_{t,j} / (1 +
            epsilon) - m_{t,i}) for those awake, from w = 1; sleepers keep their weight.
Guarantee   on any sequence and for every i: the expected loss on the rounds in which i was awake is at most (1 +
            epsilon) L_i + (1 + epsilon) ln n / ln(1 + epsilon). The total weight never grows.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.8 and Theorem 6.18 (its constant, from the
            proof); Blum & Mansour 2007.

>>> learner = SleepingExperts(3, epsilon=0.5)
>>> learner.learn_one({"rain": 1, "wind": 0}, 1) in (0.0, 1.0)
True
>>> learner.learn_one({"sun": 0, "wind": 0}, 1)
0.0
>>> learner.experts, learner.awake_rounds.tolist(), learner.loss
(('rain', 'wind', 'sun'), [1, 2, 1], 1.5)
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core.declared import Numbers, Option
from afterwit.core.inputs import EXPERTS
from afterwit.core.learner import view
from afterwit.core.theorem import Input
from afterwit.data.checks import positive_number
from afterwit.data.quantities import ERROR, NOT_NEGATIVE
from afterwit.experts._declared import COUNTED, N_EXPERTS, SEED, UNIT_RANGE, ZERO_ONE_LOSS, each_expert
from afterwit.experts._regret import OnAverage, Way

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
else:
    from afterwit.experts._engine import ExpertLearner


class SleepingBound(OnAverage):
    id = "sleeping"
    name = "sleeping experts bound"
    quantity = "loss"
    formula_quantity = "mistakes"
    formula = "(1 + {epsilon}) {expert_mistakes} + (1 + {epsilon}) {log_experts} / ln(1 + {epsilon})"
    inputs = (
        EXPERTS,
        Input("expert_mistakes", "m_i", "the mistakes of expert i", NOT_NEGATIVE),
        Input("epsilon", "eps", "how fast weights change", ERROR),
    )
    needs = "both count the rounds in which expert i is awake"
    citation = "Blum et al., Foundations of Data Science, Theorem 6.18"

    @property
    def statement(self) -> str:
        return f"for every i, on the rounds in which i was awake: {super().statement}"

    @staticmethod
    def bound(log_experts: Any, expert_mistakes: Any, epsilon: Any) -> Any:
        log = math.log1p(epsilon) if np.ndim(epsilon) == 0 else np.log1p(epsilon)
        return (1 + epsilon) * expert_mistakes + (1 + epsilon) * log_experts / log

    def certify(self, evidence: Any) -> Any:
        epsilon, width = evidence.parameters["epsilon"], evidence.width
        lowest = evidence.setting.low * evidence.awake_rounds
        least = (evidence.expert_losses - lowest) / width
        bounds = lowest + width * self.bound(evidence.log_n, least, epsilon)
        evidence = evidence.against_one(self, evidence.expert_losses + evidence.regrets, bounds)
        i = evidence.expert
        inputs = {"n": evidence.n, "epsilon": epsilon, "L_i": float(evidence.expert_losses[i])}
        return evidence.certificate(self, float(bounds[i]), inputs)


@cython.cclass
class SleepingExperts(ExpertLearner):
    """Sleeping experts.

    n_experts   how many experts, or their names
    epsilon     how much a wrong expert loses: its weight is divided by 1 + epsilon, and more
    loss        "zero-one", or another of `afterwit.losses` with its range
    loss_range  the least and the greatest loss
    seed        what the draws depend on
    """

    _epsilon: cython.double
    _factor: cython.double
    _exponents = cython.declare(cython.double[::1], visibility="public")

    theorems = (SleepingBound(expected_is_counted=True),)
    way = Way.EXPECTED
    options = (N_EXPERTS, Option("epsilon", 0.1, positive_number), ZERO_ONE_LOSS, UNIT_RANGE, SEED)
    kept = (*COUNTED, Numbers("exponents", each_expert))

    def _begin(self) -> None:
        ExpertLearner._begin(self)
        self._epsilon = self._options["epsilon"]
        self._factor = math.log1p(self._epsilon)
        self._exponents = view(np.zeros(self._n))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        return self.exponentiate(self._exponents, self._factor)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        for i in range(self._n):
            if self._awake[i]:
                self._exponents[i] += self._mixed / (1 + self._epsilon) - self._seen[i]
