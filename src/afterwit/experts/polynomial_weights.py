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
import numpy as np

from afterwit.core.certificate import Assumption, Basis
from afterwit.core.declared import Option, not_negative
from afterwit.core.inputs import EXPERTS, ROUNDS
from afterwit.core.inputs import LOSS_RANGE as LARGEST
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import between, is_number, optional
from afterwit.data.quantities import Range
from afterwit.errors import invalid
from afterwit.experts._declared import COUNTED, GRADIENT, LOSS_RANGE, N_EXPERTS, OUTCOMES, SEED, SQUARE_LOSS
from afterwit.experts._regret import MOHRI, RegretTheorem

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
    formula = "sqrt((alpha - 1) sum_t |r_t|_alpha^2)"
    citation = f"{MOHRI}, Exercise 8.8"
    foreseeable = False

    @staticmethod
    def bound(power: Any, squared_norms: Any) -> Any:
        return math.sqrt((power - 1) * squared_norms)

    def regret_bound(self, evidence: Any) -> Any:
        power, squares = evidence.parameters["power"], evidence.state["squared_norms"]
        return self.bound(power, squares), {"alpha": power, "sum |r_t|^2": squares}


class PolynomialBound(RegretTheorem):
    id = "polynomial"
    name = "polynomial bound"
    formula = "{loss_range} sqrt(({power} - 1) {rounds} exp(2 {log_experts} / {power}))"
    inputs = (
        EXPERTS,
        ROUNDS,
        Input(
            "power",
            "alpha",
            "the power of the weights, plus 1",
            Range("a finite number, at least 2", lambda x: x >= 2),
        ),
        LARGEST,
    )
    needs = "the loss is convex in the prediction, and between 0 and M"
    citation = f"{MOHRI}, Exercise 8.8"

    @staticmethod
    def bound(log_experts: Any, rounds: Any, power: Any, loss_range: Any) -> Any:
        with np.errstate(over="ignore"):
            return PolynomialBound.of_root(np.exp(log_experts / power), rounds, power, loss_range)

    @staticmethod
    def of_root(root: Any, rounds: Any, power: Any, loss_range: Any) -> Any:
        """The formula by N^(1/alpha), which is exact where N is known and not only its logarithm."""
        return loss_range * np.sqrt((power - 1) * rounds) * root

    def in_run(self, evidence: Any) -> Theorem:
        # Without a range, M is the largest regret the learner had in a round.
        return self.as_known(beforehand=True) if evidence.setting.ranged else self.as_known(foreseeable=False)

    def regret_bound(self, evidence: Any) -> Any:
        power, rounds = evidence.parameters["power"], evidence.rounds
        largest = evidence.width if evidence.setting.ranged else evidence.state["largest_regret"]
        bound = self.of_root(evidence.n ** (1 / power), rounds, power, largest)
        return float(bound), {"M": largest, "alpha": power, "T": rounds, "N": evidence.n}

    def further(self, evidence: Any) -> tuple[Assumption, ...]:
        if evidence.setting.ranged:
            return ()
        return (Assumption("no regret in a round is larger than M", Basis.OBSERVED, True, "M is the largest seen"),)


class TunedPolynomialBound(Theorem):
    """The same at a power that is good for the number of experts."""

    id = "polynomial-tuned"
    name = "polynomial bound at the best power"
    quantity = "regret"
    formula = "{loss_range} sqrt(e (2 {log_experts} - 1) {rounds})"
    inputs = (EXPERTS, ROUNDS, LARGEST)
    needs = f"{PolynomialBound.needs}; the power is 2 ln N"
    citation = PolynomialBound.citation

    @staticmethod
    def bound(log_experts: Any, rounds: Any, loss_range: Any) -> Any:
        return loss_range * np.sqrt(math.e * (2 * log_experts - 1) * rounds)

    @staticmethod
    def check(log_experts: Any, **_: Any) -> None:
        if np.any(log_experts < 1):
            received = float(np.min(np.exp(log_experts)))
            raise invalid("experts", "at least 3, so that alpha = 2 ln N is at least 2", received)


def power_given(parameter: str, value: Any) -> float:
    """A number from 2 on."""
    if is_number(value) and value == 2:
        return 2.0
    return between(parameter, value, 2, 1e6, "a number from 2 to a million")


@cython.cclass
class PolynomialWeights(ExpertLearner):
    """Polynomial weights.

    n_experts   how many experts, or their names
    power       alpha, at least 2; None for 2 ln N, or 2 if that is less
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    gradient    whether to learn from slopes, so as to compete with every fixed mixture of the experts
    loss_range  the least and the greatest loss (of the slopes, if it learns from these), where they are known
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
    """

    _power: cython.double
    _squared_norms = cython.declare(cython.double, visibility="public")
    _largest_regret = cython.declare(cython.double, visibility="public")

    theorems = (PolynomialBound(), RegretNormBound())
    own_in_range = True
    needs_range = False
    options = (
        N_EXPERTS,
        Option("power", None, optional(power_given)),
        SQUARE_LOSS,
        GRADIENT,
        LOSS_RANGE,
        SEED,
        OUTCOMES,
    )
    kept = (*COUNTED, not_negative("squared_norms"), not_negative("largest_regret"))

    def _begin(self) -> None:
        ExpertLearner._begin(self)
        if self._options["power"] is None:
            self._options["power"] = max(2.0, 2 * math.log(self._n))
        self._power = self._options["power"]
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
