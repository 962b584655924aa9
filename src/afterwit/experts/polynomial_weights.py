# cython: boundscheck=False, wraparound=False, cdivision=True
"""Polynomial weights: an expert's weight is a power of the regret to it, if that is positive.

Setting     N experts and a convex loss of any size; forecast the mean of the advice by p_t.
Update      R_{t,i} is the regret to expert i after round t; w_{t+1,i} = max(R_{t,i}, 0)^(alpha - 1), p = w / sum w,
            uniform when none is positive.
Guarantee   on any sequence, with r_t the vector of regrets in round t and alpha >= 2: regret <= sqrt((alpha - 1)
            sum_t |r_t|_alpha^2) <= M sqrt((alpha - 1) T N^(2/alpha)), |r_{t,i}| <= M; for alpha = 2 ln N the last is
            M sqrt(e (2 ln N - 1) T).
Source      Mohri, Rostamizadeh & Talwalkar 2018, exercise 8.8; Cesa-Bianchi & Lugosi 2006, section 2.1.

>>> learner = PolynomialWeights(2, power=2)
>>> learner.learn_many([[10.0, 14.0], [10.0, 14.0]], [13.0, 13.0]).tolist()
[12.0, 12.0]
>>> learner.learn_many([[10.0, 12.5], [10.0, 14.0]], [13.0, 13.0]).tolist()
[11.25, 14.0]
"""

from __future__ import annotations

import math
from typing import Any

import cython

from afterwit.core.certificate import Assumption, Basis
from afterwit.data.values import signature
from afterwit.errors import invalid
from afterwit.experts._engine import a_number, between
from afterwit.experts._regret import RegretTheorem, Run

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import fabs
    from cython.cimports.libc.math import pow as power_of
else:
    from math import fabs
    from math import pow as power_of

    from afterwit.experts._engine import ExpertLearner


class RegretNormBound(RegretTheorem):
    name = "regret norm bound"
    statement = "regret <= sqrt((alpha - 1) sum_t |r_t|_alpha^2)"
    citation = "Mohri, Rostamizadeh & Talwalkar 2018, exercise 8.8"
    foreseeable = False

    def regret_bound(self, run: Run) -> tuple[float, dict[str, float | str]]:
        power, squares = run.kept["power"], run.kept["squared_norms"]
        return math.sqrt((power - 1) * squares), {"alpha": power, "sum |r_t|^2": squares}


class PolynomialBound(RegretTheorem):
    name = "polynomial bound"
    statement = "regret <= M sqrt((alpha - 1) T N^(2/alpha))"
    citation = "Mohri, Rostamizadeh & Talwalkar 2018, exercise 8.8"

    def regret_bound(self, run: Run) -> tuple[float, dict[str, float | str]]:
        power, largest = run.kept["power"], run.width if run.ranged else run.kept["largest_regret"]
        bound = largest * math.sqrt((power - 1) * run.rounds) * run.n ** (1 / power)
        return bound, {"M": largest, "alpha": power, "T": run.rounds, "N": run.n}

    def further(self, run: Run) -> tuple[Assumption, ...]:
        if run.ranged:
            return ()
        return (Assumption("no regret in a round is larger than M", Basis.OBSERVED, True, "M is the largest seen"),)


@cython.cclass
class PolynomialWeights(ExpertLearner):
    """Polynomial weights.

    n_experts   how many experts, or their names
    power       alpha, at least 2; None for 2 ln N, or 2 if that is less
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    gradient    whether to learn from slopes, so as to compete with every fixed mixture of the experts
    loss_range  the least and the greatest loss (of the slopes, if it learns from these), where they are known
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    """

    _power: cython.double
    _squared_norms: cython.double
    _largest_regret: cython.double

    theorems = (PolynomialBound(), RegretNormBound())

    __signature__ = signature(n_experts=None, power=None, loss="square", gradient=False, loss_range=None, seed=0)

    def __init__(
        self,
        n_experts: Any,
        power: Any = None,
        loss: Any = "square",
        gradient: Any = False,
        loss_range: Any = None,
        seed: Any = 0,
    ) -> None:
        ExpertLearner.__init__(self, n_experts, loss, gradient, loss_range, seed)
        self._own_in_range = True
        if power is None:
            self._power = max(2.0, 2 * math.log(self._n))
        elif isinstance(power, (int, float)) and power == 2:
            self._power = 2.0
        else:
            self._power = between("power", power, 2, 1e6, "a number from 2 to a million")
        if self._power < 2:
            raise invalid("power", "at least 2", power)
        self._squared_norms = 0.0
        self._largest_regret = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        i: cython.Py_ssize_t
        share: cython.double
        largest: cython.double = 0.0
        total: cython.double = 0.0
        for i in range(self._n):
            if self._awake[i] and self.regret_to(i) > largest:
                largest = self.regret_to(i)
        for i in range(self._n):
            share = 0.0
            if self._awake[i]:
                if largest == 0:
                    share = 1.0
                elif self.regret_to(i) > 0:
                    # Only ratios matter, and those to the largest neither overflow nor all vanish.
                    share = power_of(self.regret_to(i) / largest, self._power - 1)
            self._shares[i] = share
            total += share
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        largest: cython.double = 0.0
        total: cython.double = 0.0
        norm: cython.double
        for i in range(self._n):
            if fabs(self.gain(i)) > largest:
                largest = fabs(self.gain(i))
        if largest == 0:
            return
        for i in range(self._n):
            total += power_of(fabs(self.gain(i)) / largest, self._power)
        norm = largest * power_of(total, 1 / self._power)
        self._squared_norms += norm * norm
        if largest > self._largest_regret:
            self._largest_regret = largest

    def _kept(self) -> dict[str, Any]:
        return {
            "power": self._power,
            "squared_norms": self._squared_norms,
            "largest_regret": self._largest_regret,
        }

    @property
    def parameters(self) -> dict[str, Any]:
        return {
            "n_experts": self._given_experts,
            "power": self._power,
            "loss": self._loss_given,
            "gradient": bool(self._linear),
            "loss_range": self._range,
            "seed": self._seed,
        }

    def _state(self) -> dict[str, Any]:
        own = {"squared_norms": self._squared_norms, "largest_regret": self._largest_regret}
        return {**ExpertLearner._state(self), **own}

    def _check_state(self, state: Any) -> None:
        ExpertLearner._check_state(self, state)
        a_number(state, "squared_norms")
        a_number(state, "largest_regret")

    def _become(self, state: Any) -> None:
        ExpertLearner._become(self, state)
        self._squared_norms = state["squared_norms"]
        self._largest_regret = state["largest_regret"]
