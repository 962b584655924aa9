# cython: boundscheck=False, wraparound=False, cdivision=True
"""Weighted majority: predict what most of the weight says; on a mistake, those who were wrong lose some of theirs.

Setting     N experts, each predicting a label; predict the label with the largest weight behind it, of equals the
            larger.
Update      on a mistake only: w_{t+1,i} = beta w_{t,i} for the experts that were wrong, from w_1 = 1, 0 <= beta < 1.
Guarantee   on any sequence: mistakes <= (ln N + m* ln(1/beta)) / ln(2/(1 + beta)), where m* is the best expert's
            number of mistakes. With beta = 0, which is halving: at most log2 N if some expert makes none. The source
            has two labels; with more, a mistake still means that at most half of the weight was right, which is all
            that is used.
Source      Mohri, Rostamizadeh & Talwalkar 2018, Figure 8.3 and Theorem 8.3; Littlestone & Warmuth 1994.

With beta = 0 and no expert left without a mistake, those with the fewest count: the limit of small beta.

>>> learner = WeightedMajority(3, beta=0.5)
>>> learner.learn_one([0, 1, 1], 0)
1.0
>>> learner.mistakes, learner.weights.tolist()
(1, [0.5, 0.25, 0.25])
>>> learner.learn_one([0, 1, 1], 0)  # half against half: the larger label
1.0
>>> learner.learn_one([0, 1, 1], 0)
0.0
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import Assumption, Basis
from afterwit.core.declared import Numbers, Option
from afterwit.core.inputs import EXPERTS
from afterwit.core.learner import view
from afterwit.core.theorem import Input, Theorem
from afterwit.data.checks import between, is_number
from afterwit.data.quantities import COUNT_OR_NONE, ZERO_TO_ONE
from afterwit.errors import InputError
from afterwit.experts._declared import COUNTED, N_EXPERTS, each_expert
from afterwit.experts._regret import MOHRI, Way, ln

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import INFINITY
    from cython.cimports.libc.math import pow as power_of
else:
    from math import inf as INFINITY
    from math import pow as power_of

    from afterwit.experts._engine import ExpertLearner


class WeightedMajorityBound(Theorem):
    id = "weighted-majority"
    name = "weighted majority bound"
    quantity = "mistakes"
    formula = "({log_experts} + {best_mistakes} ln(1/{beta})) / ln(2 / (1 + {beta}))"
    inputs = (
        EXPERTS,
        Input("best_mistakes", "m*", "the mistakes of the best expert", COUNT_OR_NONE),
        Input("beta", "beta", "the factor by which a wrong expert's weight shrinks", ZERO_TO_ONE),
    )
    needs = "predictions and outcomes are two labels"
    citation = f"{MOHRI}, Theorem 8.3"

    @staticmethod
    def bound(log_experts: Any, best_mistakes: Any, beta: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            lost = np.where(best_mistakes > 0, best_mistakes * ln(np.divide(1.0, beta)), 0.0)
        return (log_experts + lost) / ln(2 / (1 + beta))

    def certify(self, evidence: Any) -> Any:
        beta, least = evidence.parameters["beta"], float(evidence.expert_losses.min())
        inputs = {"N": evidence.n, "beta": beta, "m*": least}
        if beta:
            return evidence.certificate(self, float(self.bound(evidence.log_n, least, beta)), inputs)
        detail = f"the best makes {least:.0f} mistakes" if least else ""
        perfect = Assumption("some expert makes no mistake", Basis.OBSERVED, least == 0, detail)
        # ln N / ln 2, exactly where N is a power of two.
        return evidence.certificate(self, math.log2(evidence.n), inputs, perfect)


def beta_given(parameter: str, value: Any) -> float:
    """0, or a factor below 1."""
    if is_number(value) and value == 0:
        return 0.0
    return between(parameter, value, 0, 1, "a number from 0 up to less than 1")


@cython.cclass
class WeightedMajority(ExpertLearner):
    """Weighted majority. Experts do not sleep here: see `SleepingExperts`.

    n_experts  how many experts, or their names
    beta       what the weight of a wrong expert is multiplied by, from 0 up to less than 1
    """

    _beta: cython.double
    _wrong = cython.declare(cython.double[::1], visibility="public")
    _labels: cython.double[::1]
    _votes: cython.double[::1]

    theorems = (WeightedMajorityBound(),)
    sleeping = False
    way = Way.VOTE
    options = (N_EXPERTS, Option("beta", 0.5, beta_given))
    settled = {**ExpertLearner.settled, "loss": "zero-one", "loss_range": (0.0, 1.0)}  # noqa: RUF012
    kept = (*COUNTED, Numbers("wrong", each_expert, lambda wrong: wrong >= 0, "counts of mistakes"))

    def _begin(self) -> None:
        ExpertLearner._begin(self)
        self._beta = self._options["beta"]
        self._wrong = view(np.zeros(self._n))
        self._labels = view(np.zeros(self._n))
        self._votes = view(np.zeros(self._n))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        i: cython.Py_ssize_t
        least: cython.double = INFINITY
        total: cython.double = 0.0
        for i in range(self._n):
            if self._wrong[i] < least:
                least = self._wrong[i]
        for i in range(self._n):
            # Powers, not exponentials: half against half must be a tie to the last bit. 0 to the power of 0 is 1.
            self._shares[i] = power_of(self._beta, self._wrong[i] - least)
            total += self._shares[i]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def predict(self) -> cython.double:
        i: cython.Py_ssize_t
        k: cython.Py_ssize_t
        label: cython.double
        count: cython.Py_ssize_t = 0
        best: cython.Py_ssize_t = 0
        for i in range(self._n):
            label = self._values[self._first + i]
            k = 0
            while k < count and self._labels[k] != label:
                k += 1
            if k == count:
                self._labels[k] = label
                self._votes[k] = 0.0
                count += 1
            self._votes[k] += self._shares[i]
        for k in range(1, count):
            if self._votes[k] > self._votes[best] or (
                self._votes[k] == self._votes[best] and self._labels[k] > self._labels[best]
            ):
                best = k
        return self._labels[best]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        if self._own > 0:
            for i in range(self._n):
                self._wrong[i] += self._seen[i]

    def observe(self, losses: Any) -> float:
        raise _needs_advice()

    def observe_many(self, losses: Any) -> Any:
        raise _needs_advice()

    @property
    def takes_losses(self) -> bool:
        return False

    @property
    def mistakes(self) -> int:
        return int(self._loss)


def _needs_advice() -> InputError:
    return InputError("WeightedMajority votes on labels: losses alone are not enough; use learn_one(advice, outcome)")
