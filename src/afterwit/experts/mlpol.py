# cython: boundscheck=False, wraparound=False, cdivision=True
"""ML-Poly: an expert's share is its regret, if positive, times a rate of its own. No range, no horizon, no tuning.

Setting     N experts and any convex loss, of any size; forecast the mean of the advice by p_t.
Update      r_{t,i} is what following expert i would have saved in round t, R_{t,i} their sum; p_{t,i} proportional to
            eta_{t-1,i} max(R_{t-1,i}, 0), uniform if none is positive; 1/eta_{t,i} = B_t + sum_{s<=t} r_{s,i}^2,
            where B_t is the largest r_{s,j}^2 so far, or the square of the declared range.
Guarantee   on any sequence and for every expert i
            R_i <= sqrt((B + sum_t r_{t,i}^2) N (1 + ln(1 + T)))    if a range is declared
            R_i <= sqrt((B + sum_t r_{t,i}^2) sum_j G_j)            in any case, where G_j sums r_{t,j}^2 times
            the rate in force: with eta_{t,i} max(R_{t,i}, 0)^2 as the potential, each round adds at most that. With
            the gradient trick, on by default, R_i bounds the regret to every mixture of the experts as well.
Source      Gaillard, Stoltz & van Erven 2014, Figure 3 and Theorem 5; without a range, as in the R package opera.

>>> learner = MLpol(2)
>>> learner.learn_many([[10.0, 14.0], [10.0, 14.0], [10.0, 14.0]], [13.0, 13.0, 13.0]).round(3).tolist()
[12.0, 14.0, 12.571]
>>> learner.weights.round(3).tolist()
[0.158, 0.842]
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core.declared import none_negative, not_negative
from afterwit.core.learner import view
from afterwit.experts._declared import (
    COUNTED,
    GRADIENT_IF_ANY,
    LOSS_RANGE,
    N_EXPERTS,
    OUTCOMES,
    SEED,
    SQUARE_LOSS,
    each_expert,
)
from afterwit.experts._regret import RegretTheorem

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
else:
    from afterwit.experts._engine import ExpertLearner


class PolynomialPotentialBound(RegretTheorem):
    name = "polynomial potential bound"
    statement = "regret to i <= sqrt((B + sum_t r_{t,i}^2) sum_j sum_t eta_{t-1,j} r_{t,j}^2)"
    citation = "Gaillard, Stoltz & van Erven 2014, proof of Theorem 5"
    foreseeable = False

    @staticmethod
    def bound(largest_square: Any, squares: Any, growth: Any) -> Any:
        return np.sqrt((largest_square + squares) * growth)

    def regret_bound(self, evidence: Any) -> Any:
        growth = float(evidence.state["growth"].sum())
        bounds = self.bound(evidence.state["largest_square"], evidence.state["squares"], growth)
        return bounds, {"N": evidence.n, "T": evidence.rounds, "potential": growth}


class RangedPolynomialBound(RegretTheorem):
    name = "ML-Poly bound"
    statement = "regret to i <= sqrt((M^2 + sum_t r_{t,i}^2) N (1 + ln(1 + T))) <= M sqrt((1 + T) N (1 + ln(1 + T)))"
    citation = "Gaillard, Stoltz & van Erven 2014, Theorem 5"
    beforehand = True

    @staticmethod
    def bound(experts: Any, rounds: Any) -> Any:
        return math.sqrt((1 + rounds) * experts * (1 + math.log1p(rounds)))

    def regret_bound(self, evidence: Any) -> Any:
        if not evidence.setting.ranged:
            return None
        bound = evidence.width * self.bound(evidence.n, evidence.rounds)
        return bound, {"M": evidence.width, "N": evidence.n, "T": evidence.rounds}


@cython.cclass
class MLpol(ExpertLearner):
    """ML-Poly: what to use when nothing is known beforehand.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    gradient    whether to learn from slopes, so as to compete with every fixed mixture of the experts; None: if the
                loss has slopes
    loss_range  the least and the greatest loss (of the slopes, if it learns from these), where they are known
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
    """

    _squares = cython.declare(cython.double[::1], visibility="public")
    _growth = cython.declare(cython.double[::1], visibility="public")
    _largest_square = cython.declare(cython.double, visibility="public")

    theorems = (RangedPolynomialBound(), PolynomialPotentialBound())
    own_in_range = True
    needs_range = False
    options = (N_EXPERTS, SQUARE_LOSS, GRADIENT_IF_ANY, LOSS_RANGE, SEED, OUTCOMES)
    kept = (
        *COUNTED,
        none_negative("growth", each_expert),
        none_negative("squares", each_expert),
        not_negative("largest_square"),
    )

    def _begin(self) -> None:
        ExpertLearner._begin(self)
        self._squares = view(np.zeros(self._n))
        self._growth = view(np.zeros(self._n))
        self._largest_square = self._width * self._width if self._ranged else 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        i: cython.Py_ssize_t
        share: cython.double
        inverse: cython.double
        total: cython.double = 0.0
        for i in range(self._n):
            share = self.regret_to(i) if self._awake[i] else 0.0
            inverse = self._largest_square + self._squares[i]
            # Gains whose squares are too small for a number have left nothing to divide by.
            share = share / inverse if share > 0 and inverse > 0 else 0.0
            self._shares[i] = share
            total += share
        if not total > 0:
            for i in range(self._n):
                self._shares[i] = self._awake[i]
                total += self._shares[i]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        gain: cython.double
        inverse: cython.double
        largest: cython.double = self._largest_square
        for i in range(self._n):
            gain = self.gain(i)
            if gain * gain > largest:
                largest = gain * gain
        for i in range(self._n):
            gain = self.gain(i)
            # The rate before this round, or after it for an expert that had no share to be held to.
            inverse = self._largest_square + self._squares[i]
            self._squares[i] += gain * gain
            if self.regret_to(i) - gain <= 0 or inverse == 0:
                inverse = largest + self._squares[i]
            if gain * gain > 0:
                self._growth[i] += gain * gain / inverse
        self._largest_square = largest
