# cython: boundscheck=False, wraparound=False, cdivision=True
"""Bernstein online aggregation: exponential weights that also punish how much an expert's regret moves.

Setting     N experts and any convex loss, of any size; forecast the mean of the advice by p_t.
Update      r_{t,i} is what following expert i would have saved in round t, scaled down by B_{t-1}/B_t where it is
            larger than any before, B_t the largest |r_{s,j}| so far, or the declared range; V_{t,i} sums r_{t,i}^2.
            Rates eta_{t,i} = min(1/(2 B_t), sqrt(ln N / V_{t,i})); S_{t,i} sums r_{t,i} - eta_{t-1,i} r_{t,i}^2;
            p_{t+1,i} proportional to eta_{t,i} exp(eta_{t,i} S_{t,i}).
Guarantee   on any sequence and for every expert i R_i <= C + sum_t eta_{t-1,i} r_{t,i}^2 + (ln N + ln W) / eta_{T,i},
            W = 1 + mean_j sum_t (eta_{t-1,j}/eta_{t,j} - 1) / e, C what was scaled away, at most B_T; and if a range
            M is declared R_i <= 2 sqrt(V_i ln N) + M/2 + (ln N + ln W) (2M + sqrt(V_i / ln N)), W <= 1 + (1 + 1/(4 ln
            N)) (1 + ln(1 + T)) / (2e). With the gradient trick, on by default, R_i bounds the regret to every mixture
            of the experts as well.
Source      Wintenberger 2017, section 3; rates for each expert as in Gaillard, Stoltz & van Erven 2014, whose proof
            of Theorem 3 carries over with exp(x - x^2) <= 1 + x for x >= -1/2; scaling down as in Mhammedi, Koolen &
            van Erven 2019.

>>> learner = BOA(2)
>>> learner.learn_many([[10.0, 14.0], [10.0, 14.0], [10.0, 14.0]], [13.0, 13.0, 13.0]).round(3).tolist()
[12.0, 12.0, 12.924]
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core.declared import Numbers, none_negative, not_negative
from afterwit.core.learner import view
from afterwit.experts._declared import (
    COUNTED,
    GRADIENT_IF_ANY,
    LEAST_GAIN,
    LOSS_RANGE,
    N_EXPERTS,
    OUTCOMES,
    SEED,
    SQUARE_LOSS,
    each_expert,
)
from afterwit.experts._regret import Floats, RegretTheorem

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import INFINITY, exp, fabs, sqrt
else:
    from math import exp, fabs, sqrt
    from math import inf as INFINITY

    from afterwit.experts._engine import ExpertLearner


LEAST = cython.declare(cython.double, LEAST_GAIN)


class BernsteinBound(RegretTheorem):
    name = "Bernstein bound"
    statement = "regret to i <= C + sum_t eta_{t-1,i} r_{t,i}^2 + (ln N + ln W) / eta_{T,i}"
    citation = "Wintenberger 2017; Gaillard, Stoltz & van Erven 2014, proof of Theorem 3"
    foreseeable = False

    @staticmethod
    def bound(log_experts: Any, rates: Any, penalties: Any, clipped: Any, growth: Any) -> Any:
        return clipped + penalties + (log_experts + math.log(growth)) / rates

    def regret_bound(self, evidence: Any) -> Any:
        state = evidence.state
        growth = 1 + float(state["growth"].mean()) / math.e
        rates = rates_of(state["largest"], state["squares"], evidence.log_n)
        bounds = self.bound(evidence.log_n, rates, state["penalties"], state["clipped"], growth)
        return bounds, {"N": evidence.n, "T": evidence.rounds, "W": growth, "C": state["clipped"]}


class RangedBernsteinBound(RegretTheorem):
    name = "ranged Bernstein bound"
    formula = "2 M sqrt(T ln N) + M/2 + (ln N + ln W) (2M + M sqrt(T / ln N))"
    citation = "Wintenberger 2017; Gaillard, Stoltz & van Erven 2014, Theorem 3"
    beforehand = True

    @staticmethod
    def bound(log_experts: Any, rounds: Any, growth: Any) -> Any:
        root = math.sqrt(rounds * log_experts)
        last = (log_experts + math.log(growth)) * (2 + math.sqrt(rounds / log_experts))
        return 2 * root + 0.5 + last

    def regret_bound(self, evidence: Any) -> Any:
        log_n, rounds, width = evidence.log_n, evidence.rounds, evidence.width
        if not evidence.setting.ranged:
            return None
        if evidence.n == 1:
            return 0.0, {"M": width, "N": 1, "T": rounds}
        growth = 1 + (1 + 1 / (4 * log_n)) * (1 + math.log1p(rounds)) / (2 * math.e)
        return width * self.bound(log_n, rounds, growth), {"M": width, "N": evidence.n, "T": rounds, "W": growth}


def rates_of(largest: float, squares: Floats, log_n: float) -> Floats:
    """The rates that belong to the largest gain and the sums of squares; infinite where there is nothing yet."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return np.minimum(1 / (2 * np.float64(largest)), np.where(squares > 0, np.sqrt(log_n / squares), np.inf))


@cython.cclass
class BOA(ExpertLearner):
    """Bernstein online aggregation with a rate for each expert.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    gradient    whether to learn from slopes, so as to compete with every fixed mixture of the experts; None: if the
                loss has slopes
    loss_range  the least and the greatest loss (of the slopes, if it learns from these), where they are known
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
    """

    _sums = cython.declare(cython.double[::1], visibility="public")
    _squares = cython.declare(cython.double[::1], visibility="public")
    _penalties = cython.declare(cython.double[::1], visibility="public")
    _growth = cython.declare(cython.double[::1], visibility="public")
    _log_n: cython.double
    _largest = cython.declare(cython.double, visibility="public")
    _clipped = cython.declare(cython.double, visibility="public")

    theorems = (RangedBernsteinBound(), BernsteinBound())
    own_in_range = True
    needs_range = False
    options = (N_EXPERTS, SQUARE_LOSS, GRADIENT_IF_ANY, LOSS_RANGE, SEED, OUTCOMES)
    kept = (
        *COUNTED,
        Numbers("sums", each_expert),
        Numbers("growth", each_expert, lambda growth: growth > -1, "numbers above -1"),
        none_negative("squares", each_expert),
        none_negative("penalties", each_expert),
        not_negative("largest"),
        not_negative("clipped"),
    )

    def _begin(self) -> None:
        ExpertLearner._begin(self)
        self._sums = view(np.zeros(self._n))
        self._squares = view(np.zeros(self._n))
        self._penalties = view(np.zeros(self._n))
        self._growth = view(np.zeros(self._n))
        self._log_n = math.log(self._n)
        self._largest = self._width if self._ranged else 0.0
        self._clipped = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def rate(self, largest: cython.double, square: cython.double) -> cython.double:
        """min(1/(2 B), sqrt(ln N / V)) for a positive B."""
        if 4 * largest * largest * self._log_n < square:
            return sqrt(self._log_n / square)
        return 1 / (2 * largest)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        i: cython.Py_ssize_t
        rate: cython.double
        best: cython.double = -INFINITY
        total: cython.double = 0.0
        if self._largest == 0 or self._n == 1:
            for i in range(self._n):
                self._shares[i] = self._awake[i]
                total += self._shares[i]
            return total
        for i in range(self._n):
            self._shares[i] = self.rate(self._largest, self._squares[i]) * self._sums[i]
            if self._awake[i] and self._shares[i] > best:
                best = self._shares[i]
        for i in range(self._n):
            # Twice the largest gain makes the rates numbers up to 1, whatever the losses' unit.
            rate = self.rate(self._largest, self._squares[i]) * 2 * self._largest
            self._shares[i] = rate * exp(self._shares[i] - best) if self._awake[i] else 0.0
            total += self._shares[i]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        gain: cython.double
        rate: cython.double
        largest: cython.double = self._largest
        if self._n == 1:
            return
        for i in range(self._n):
            gain = fabs(self.gain(i))
            if gain > largest:
                largest = gain
        if largest < LEAST:
            return
        self._clipped += largest - self._largest
        if self._largest == 0:
            self._largest = largest
            return
        scale: cython.double = self._largest / largest
        for i in range(self._n):
            gain = scale * self.gain(i)
            rate = self.rate(self._largest, self._squares[i])
            self._sums[i] += gain - rate * gain * gain
            self._penalties[i] += rate * gain * gain
            self._squares[i] += gain * gain
            self._growth[i] += rate / self.rate(largest, self._squares[i]) - 1
        self._largest = largest
