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

from afterwit.data.values import signature
from afterwit.errors import invalid
from afterwit.experts._engine import at_least, between, numbers, plain, view
from afterwit.experts._regret import Floats, RegretTheorem, Run, log_n

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import log1p
else:
    from math import log1p

    from afterwit.experts._engine import ExpertLearner


class SecondOrderBound(RegretTheorem):
    name = "second-order bound"
    statement = "regret to i <= ln N / (1 - beta) + (1 - beta) sum_t l_{t,i}^2"
    citation = "Mohri, Rostamizadeh & Talwalkar 2018, exercise 8.7"

    def regret_bound(self, run: Run) -> tuple[Floats, dict[str, float | str]]:
        step = 1 - run.kept["beta"]
        bounds = run.width * (log_n(run) / step + step * run.kept["squares"])
        return bounds, {"N": run.n, "beta": run.kept["beta"], "range": run.width}


class GeneralSecondOrderBound(RegretTheorem):
    name = "general second-order bound"
    statement = "regret <= ln N / (1 - beta) + (1 - beta) T / alpha, alpha = 2 beta"
    citation = "Mohri, Rostamizadeh & Talwalkar 2018, exercise 8.9"
    by_rounds = True

    def regret_bound(self, run: Run) -> tuple[float, dict[str, float | str]]:
        beta = run.kept["beta"]
        bound = log_n(run) / (1 - beta) + (1 - beta) * run.rounds / (2 * beta)
        return run.width * bound, {"N": run.n, "T": run.rounds, "beta": beta, "range": run.width}


class HorizonBound(RegretTheorem):
    name = "horizon bound"
    statement = "regret <= 2 sqrt(T ln N) after at most T rounds, the horizon"
    citation = "Mohri, Rostamizadeh & Talwalkar 2018, Theorem 8.4 and exercise 8.7"
    by_rounds = True

    def regret_bound(self, run: Run) -> tuple[float, dict[str, float | str]] | None:
        horizon = run.parameters["horizon"]
        if horizon is None or run.rounds > horizon:
            return None
        return run.width * 2 * math.sqrt(horizon * log_n(run)), {"N": run.n, "T": horizon, "range": run.width}


def beta_for(beta: Any, horizon: Any, n_experts: int) -> tuple[float, Any]:
    """The factor that was given, or the one for the horizon that was given."""
    if (beta is None) == (horizon is None):
        raise invalid("beta and horizon", "one of them given, not both", (beta, horizon))
    if beta is not None:
        return between("beta", beta, 0, 1, "a number between 0 and 1"), None
    rounds = at_least("horizon", horizon, 1)
    return max(0.5, 1 - math.sqrt(math.log(n_experts) / rounds)) if n_experts > 1 else 0.5, rounds


@cython.cclass
class SecondOrderWeights(ExpertLearner):
    """Second-order weights.

    n_experts   how many experts, or their names
    beta        the factor for a loss of 1, from 1/2 up to less than 1; or
    horizon     the number of rounds for which to choose it
    loss        "zero-one", "square", "absolute", "percentage", "pinball(q)", "log" or one of `afterwit.losses`
    loss_range  the least and the greatest loss
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    """

    _beta: cython.double
    _horizon: object
    _logarithms: cython.double[::1]
    _squares: cython.double[::1]

    theorems = (HorizonBound(), SecondOrderBound(), GeneralSecondOrderBound())

    __signature__ = signature(n_experts=None, beta=None, horizon=None, loss="zero-one", loss_range=(0.0, 1.0), seed=0)

    def __init__(
        self,
        n_experts: Any,
        beta: Any = None,
        horizon: Any = None,
        loss: Any = "zero-one",
        loss_range: Any = (0.0, 1.0),
        seed: Any = 0,
    ) -> None:
        ExpertLearner.__init__(self, n_experts, loss, False, loss_range if loss_range is not None else (0.0, 1.0), seed)
        self._beta, self._horizon = beta_for(beta, horizon, self._n)
        if self._beta < 0.5:
            raise invalid("beta", "a number from 1/2 up to less than 1", beta)
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

    def _kept(self) -> dict[str, Any]:
        return {"beta": self._beta, "squares": plain(self._squares)}

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "n_experts": self._given_experts,
            "beta": self._beta if self._horizon is None else None,
            "horizon": self._horizon,
            "loss": self._loss_given,
            "loss_range": self._range,
            "seed": self._seed,
        }

    def _state(self) -> dict[str, Any]:
        own = {"logarithms": plain(self._logarithms), "squares": plain(self._squares)}
        return {**ExpertLearner._state(self), **own}

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        numbers(state, "logarithms", self._n)
        numbers(state, "squares", self._n)

    def _become(self, state: Any) -> None:
        ExpertLearner._become(self, state)
        self._logarithms = numbers(state, "logarithms", self._n)
        self._squares = numbers(state, "squares", self._n)
