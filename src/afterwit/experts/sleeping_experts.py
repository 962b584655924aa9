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

from afterwit.core.certificate import Certificate
from afterwit.core.theorem import Theorem
from afterwit.data.checks import positive_number
from afterwit.data.values import signature
from afterwit.experts._engine import numbers, plain, view
from afterwit.experts._regret import Run, log_n

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
else:
    from afterwit.experts._engine import ExpertLearner


class SleepingBound(Theorem):
    name = "sleeping experts bound"
    statement = (
        "for every i, on the rounds in which i was awake: L <= (1 + epsilon) L_i + (1 + epsilon) ln n / ln(1 + epsilon)"
    )
    citation = "Blum, Hopcroft & Kannan, Foundations of Data Science, Theorem 6.18"
    quantity = "loss"

    def certify(self, evidence: Run) -> Certificate:
        epsilon = evidence.kept["epsilon"]
        own = evidence.expert_losses + evidence.regrets
        lowest = evidence.low * evidence.awake_rounds
        least = (evidence.expert_losses - lowest) / evidence.width
        promised = (1 + epsilon) * least + (1 + epsilon) * log_n(evidence) / math.log1p(epsilon)
        bounds = lowest + evidence.width * promised
        # Of those that have ever been awake, the one that comes closest to breaking the bound.
        closest = int(np.argmax(np.where(evidence.awake_rounds > 0, own - bounds, -np.inf)))
        return Certificate(
            theorem=self,
            subject=evidence.subject,
            rounds=evidence.rounds,
            observed=float(own[closest]),
            bound=float(bounds[closest]),
            assumptions=evidence.given,
            hindsight=evidence.hindsight(closest) if evidence.rounds else None,
            inputs={"n": evidence.n, "epsilon": epsilon, "L_i": float(evidence.expert_losses[closest])},
        )


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
    _exponents: cython.double[::1]

    theorems = (SleepingBound(),)

    __signature__ = signature(n_experts=None, epsilon=0.1, loss="zero-one", loss_range=(0.0, 1.0), seed=0)

    def __init__(
        self,
        n_experts: Any,
        epsilon: Any = 0.1,
        loss: Any = "zero-one",
        loss_range: Any = (0.0, 1.0),
        seed: Any = 0,
    ) -> None:
        given = (0.0, 1.0) if loss_range is None else loss_range
        ExpertLearner.__init__(self, n_experts, loss, False, given, seed, True)
        self._epsilon = positive_number("epsilon", epsilon)
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

    def _kept(self) -> dict[str, Any]:
        return {"epsilon": self._epsilon, "exponents": plain(self._exponents)}

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "n_experts": self._given_experts,
            "epsilon": self._epsilon,
            "loss": self._loss_given,
            "loss_range": self._range,
            "seed": self._seed,
        }

    def _state(self) -> dict[str, Any]:
        return {**ExpertLearner._state(self), "exponents": plain(self._exponents)}

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        numbers(state, "exponents", self._n)

    def _become(self, state: Any) -> None:
        ExpertLearner._become(self, state)
        self._exponents = numbers(state, "exponents", self._n)
