# cython: boundscheck=False, wraparound=False, cdivision=True
"""Second-order weights: multiply an expert's weight by 1 - (1 - beta) times its loss.

Setting     N experts, losses in [0, 1] (or another range, declared); with a convex loss forecast the mean of the
            advice by p_t, with another follow expert i with probability p_{t,i}, and count the expected loss p_t .
            l_t.
Update      w_{t+1,i} = (1 - (1 - beta) l_{t,i}) w_{t,i} from w_1 = 1; p_t = w_t / sum w_t; 1/2 <= beta < 1. For a
            horizon of T rounds beta = max(1/2, 1 - sqrt(ln N / T)).
Guarantee   on any sequence and for every expert i: regret <= ln N / (1 - beta) + (1 - beta) sum_t l_{t,i}^2; for a
            horizon T, after at most T rounds: regret <= 2 sqrt(T ln N). With log(1 - x) >= -x - x^2/alpha, valid to x
            = 1 - alpha/2: ln N / (1 - beta) + (1 - beta) T / alpha for every alpha up to 2 beta; the largest is the
            best, and is what is certified.
Source      Mohri, Rostamizadeh & Talwalkar 2018, exercises 8.7 and 8.9.

>>> learner = SecondOrderWeights(2, beta=0.5)
>>> learner.observe([0.0, 1.0])
0.5
>>> learner.weights.round(3).tolist(), learner.regret
([0.667, 0.333], 0.5)
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core.declared import Numbers, Option, none_negative
from afterwit.core.inputs import EXPERTS, ROUNDS
from afterwit.core.learner import view
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import optional, share
from afterwit.data.quantities import NOT_NEGATIVE, ZERO_TO_ONE, Range
from afterwit.errors import invalid
from afterwit.experts._declared import (
    COUNTED,
    HORIZON,
    LOSS_RANGE,
    N_EXPERTS,
    OUTCOMES,
    SEED,
    ZERO_ONE_LOSS,
    each_expert,
    natural_range,
)
from afterwit.experts._regret import BETA, MOHRI, UNIT, RegretTheorem

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import log1p
else:
    from math import log1p

    from afterwit.experts._engine import ExpertLearner


class SecondOrderBound(RegretTheorem):
    id = "second-order"
    name = "second-order bound"
    formula = "{log_experts} / (1 - {beta}) + (1 - {beta}) {squared_losses}"
    inputs = (
        EXPERTS,
        BETA,
        Input("squared_losses", "S", "the sum of the squared losses of the expert compared with", NOT_NEGATIVE),
    )
    needs = UNIT
    citation = f"{MOHRI}, Exercise 8.7"

    @staticmethod
    def bound(log_experts: Any, beta: Any, squared_losses: Any) -> Any:
        return log_experts / (1 - beta) + (1 - beta) * squared_losses

    def in_run(self, evidence: Any) -> Theorem:
        # A sleeper is shown the mixture's losses, and their squares count.
        return self.as_known(foreseeable=False) if evidence.slept else self

    def regret_bound(self, evidence: Any) -> Any:
        beta = evidence.facts["beta"]
        bounds = evidence.width * self.bound(evidence.log_n, beta, evidence.state["squares"])
        return bounds, {"N": evidence.n, "beta": beta, "range": evidence.width}


class GeneralSecondOrderBound(RegretTheorem):
    """With ln(1 - x) >= -x - x^2 / alpha, which holds up to x = 1 - alpha/2. The largest alpha is the best."""

    id = "second-order-alpha"
    name = "general second-order bound"
    formula = "{log_experts} / (1 - {beta}) + (1 - {beta}) {rounds} / {alpha}"
    inputs = (
        EXPERTS,
        ROUNDS,
        Input("beta", "beta", "the factor by which a weight shrinks at loss 1, at least alpha / 2", ZERO_TO_ONE),
        Input(
            "alpha",
            "alpha",
            "of the inequality ln(1 - x) >= -x - x^2 / alpha",
            Range("a number above 0 and below 2", lambda x: (x > 0) & (x < 2)),
        ),
    )
    needs = f"{UNIT} and beta >= alpha / 2"
    citation = f"{MOHRI}, Exercise 8.9"
    beforehand = True

    @staticmethod
    def bound(log_experts: Any, rounds: Any, beta: Any, alpha: Any) -> Any:
        return log_experts / (1 - beta) + (1 - beta) * rounds / alpha

    @staticmethod
    def check(beta: Any, alpha: Any, **_: Any) -> None:
        if np.any(beta < alpha / 2):
            raise invalid("beta", "at least alpha / 2", beta)

    def regret_bound(self, evidence: Any) -> Any:
        beta, rounds = evidence.facts["beta"], evidence.rounds
        bound = self.bound(evidence.log_n, rounds, beta, 2 * beta)
        inputs = {"N": evidence.n, "T": rounds, "beta": beta, "range": evidence.width}
        return evidence.width * bound, inputs


class HorizonBound(RegretTheorem):
    """The bound at the best beta, which holds after at most as many rounds as it was chosen for."""

    id = "second-order-tuned"
    name = "horizon bound"
    formula = "2 sqrt({rounds} {log_experts})"
    inputs = (EXPERTS, ROUNDS)
    needs = f"{UNIT} and beta = max(1/2, 1 - sqrt(ln N / T))"
    citation = f"{MOHRI}, Exercise 8.7"
    beforehand = True

    @staticmethod
    def bound(log_experts: Any, rounds: Any) -> Any:
        return 2 * np.sqrt(rounds * log_experts)

    def regret_bound(self, evidence: Any) -> Any:
        horizon = evidence.parameters["horizon"]
        if horizon is None or evidence.rounds > horizon:
            return None
        bound = evidence.width * self.bound(evidence.log_n, horizon)
        return bound, {"N": evidence.n, "T": horizon, "range": evidence.width}


BETA_OPTION = Option("beta", None, optional(share))


def beta_for(beta: Any, horizon: Any, n_experts: int) -> float:
    """The factor that was given, or the one for the horizon that was given."""
    if (beta is None) == (horizon is None):
        raise invalid("beta or horizon", "given, but not both", (beta, horizon))
    if horizon is None:
        return float(beta)
    return max(0.5, 1 - math.sqrt(math.log(n_experts) / horizon)) if n_experts > 1 else 0.5


@cython.cclass
class SecondOrderWeights(ExpertLearner):
    """Second-order weights.

    n_experts   how many experts, or their names
    beta        the factor for a loss of 1, from 1/2 up to less than 1; or
    horizon     the number of rounds for which to choose it
    loss        "zero-one", "square", "absolute", "percentage", "pinball(q)", "log" or one of `afterwit.losses`
    loss_range  the least and the greatest loss, (0, 1) if nothing is said, (0, 2) for the Brier loss
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
    """

    _beta: cython.double
    _logarithms = cython.declare(cython.double[::1], visibility="public")
    _squares = cython.declare(cython.double[::1], visibility="public")

    theorems = (HorizonBound(), SecondOrderBound(), GeneralSecondOrderBound())
    options = (N_EXPERTS, BETA_OPTION, HORIZON, ZERO_ONE_LOSS, LOSS_RANGE, SEED, OUTCOMES)
    kept = (*COUNTED, Numbers("logarithms", each_expert), none_negative("squares", each_expert))

    def _begin(self) -> None:
        self._options["loss_range"] = self._options["loss_range"] or natural_range(self._options["loss"])
        ExpertLearner._begin(self)
        self._beta = beta_for(self._options["beta"], self._options["horizon"], self._n)
        if self._beta < 0.5:
            raise invalid("beta", "a number from 1/2 up to less than 1", self._beta)
        self._logarithms = view(np.zeros(self._n))
        self._squares = view(np.zeros(self._n))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        return self.exponentiate(self._logarithms, 1.0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        step: cython.double = 1 - self._beta
        for i in range(self._n):
            self._logarithms[i] += log1p(-step * self._seen[i])
            self._squares[i] += self._seen[i] * self._seen[i]

    def _facts(self) -> dict[str, Any]:
        return {"beta": self._beta}
