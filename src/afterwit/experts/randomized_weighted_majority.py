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

from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.core.theorem import Theorem
from afterwit.data.values import signature
from afterwit.experts._engine import numbers, plain, view
from afterwit.experts._regret import Run, log_n
from afterwit.experts.second_order_weights import HorizonBound, beta_for

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
else:
    from afterwit.experts._engine import ExpertLearner


class ExpectedLossBound(Theorem):
    name = "expected loss bound"
    statement = "L <= ln N / (1 - beta) + (2 - beta) L_min"
    citation = "Mohri, Rostamizadeh & Talwalkar 2018, Theorem 8.4"
    quantity = "loss"

    def certify(self, evidence: Run) -> Certificate:
        beta, rounds = evidence.kept["beta"], evidence.rounds
        least = (float(evidence.expert_losses.min()) - evidence.low * rounds) / evidence.width
        bound = log_n(evidence) / (1 - beta) + (2 - beta) * least
        allowed = Assumption("1/2 <= beta < 1", Basis.ENFORCED, beta >= 0.5, f"beta is {beta:g}")
        return Certificate(
            theorem=self,
            subject=evidence.subject,
            rounds=rounds,
            observed=evidence.loss,
            bound=evidence.low * rounds + evidence.width * bound,
            assumptions=(*evidence.given, allowed),
            hindsight=evidence.hindsight() if rounds else None,
            inputs={"N": evidence.n, "beta": beta, "L_min": float(evidence.expert_losses.min())},
        )


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
    _horizon: object
    _factor: cython.double
    _cumulative: cython.double[::1]

    theorems = (ExpectedLossBound(), HorizonBound())
    sleeping = False

    __signature__ = signature(n_experts=None, beta=None, horizon=None, seed=0, loss="zero-one", loss_range=(0.0, 1.0))

    def __init__(
        self,
        n_experts: Any,
        beta: Any = None,
        horizon: Any = None,
        seed: Any = 0,
        loss: Any = "zero-one",
        loss_range: Any = (0.0, 1.0),
    ) -> None:
        given = (0.0, 1.0) if loss_range is None else loss_range
        ExpertLearner.__init__(self, n_experts, loss, False, given, seed, True)
        self._beta, self._horizon = beta_for(beta, horizon, self._n)
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

    def _kept(self) -> dict[str, Any]:
        return {"beta": self._beta}

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "n_experts": self._given_experts,
            "beta": self._beta if self._horizon is None else None,
            "horizon": self._horizon,
            "seed": self._seed,
            "loss": self._loss_given,
            "loss_range": self._range,
        }

    def _state(self) -> dict[str, Any]:
        return {**ExpertLearner._state(self), "cumulative": plain(self._cumulative)}

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        numbers(state, "cumulative", self._n)

    def _become(self, state: Any) -> None:
        ExpertLearner._become(self, state)
        self._cumulative = numbers(state, "cumulative", self._n)
