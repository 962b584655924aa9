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
Discount    with a discount beta, R, the sums of squares and B (where no range is declared) are multiplied by beta
            before a round is added: the round s rounds ago counts beta^s, so that a leader of long ago does not hold
            back today's. The bounds are then on the discounted regret, the sum of beta^(T-t) r_{t,i}; no bound is known
            on the plain regret. They are proved beside the theorems.
Source      Gaillard, Stoltz & van Erven 2014, Figure 3 and Theorem 5; without a range, as in the R package opera.
            Discounted regret: Cesa-Bianchi & Lugosi 2006, section 2.11; Chernov & Zhdanov 2010.

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

from afterwit.core.declared import Number, Numbers, Option, none_negative, not_negative
from afterwit.core.learner import view
from afterwit.data.checks import between, optional
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
        if not self.covers(evidence):
            return None
        growth = float(evidence.state["growth"].sum())
        bounds = self.bound(evidence.state["largest_square"], evidence.state["squares"], growth)
        return bounds, {"N": evidence.n, "T": evidence.rounds, "potential": growth}

    def covers(self, evidence: Any) -> bool:
        return evidence.parameters["discount"] is None


class DiscountedPotentialBound(PolynomialPotentialBound):
    """The same of discounted sums.

    Proof. Let Phi_t = sum_i eta_{t,i} max(R_{t,i}, 0)^2 with R_t = beta R_{t-1} + r_t. As 1/eta_t >= beta / eta_{t-1},
    an expert with R_{t-1,i} > 0 adds at most (eta_{t-1,i} / beta) (beta R_{t-1,i} + r_{t,i})^2 to it, which is

        beta eta_{t-1,i} R_{t-1,i}^2 + 2 eta_{t-1,i} R_{t-1,i} r_{t,i} + eta_{t-1,i} r_{t,i}^2 / beta,

    and any other at most eta_{t,i} r_{t,i}^2. The middle terms sum to at most 0, because shares are proportional to
    eta_{t-1,i} R_{t-1,i} and the loss is convex. So Phi_t <= beta Phi_{t-1} + the last terms, which the potential sums
    up, and R_{T,i}^2 <= Phi_T / eta_{T,i}.
    """

    name = "discounted polynomial potential bound"
    quantity = "discounted regret"
    statement = "discounted regret to i <= sqrt((B + V_i) G), V_i = sum_t beta^(T-t) r_{t,i}^2, G the potential"
    citation = "by the proof of Gaillard, Stoltz & van Erven 2014, Theorem 5"

    def covers(self, evidence: Any) -> bool:
        return not super().covers(evidence)

    def certify(self, evidence: Any) -> Any:
        return super().certify(evidence.discounted()) if self.covers(evidence) else None


class RangedPolynomialBound(RegretTheorem):
    name = "ML-Poly bound"
    statement = "regret to i <= sqrt((M^2 + sum_t r_{t,i}^2) N (1 + ln(1 + T))) <= M sqrt((1 + T) N (1 + ln(1 + T)))"
    citation = "Gaillard, Stoltz & van Erven 2014, Theorem 5"
    beforehand = True

    @staticmethod
    def bound(experts: Any, rounds: Any) -> Any:
        return math.sqrt((1 + rounds) * experts * (1 + math.log1p(rounds)))

    def regret_bound(self, evidence: Any) -> Any:
        if not evidence.setting.ranged or evidence.parameters["discount"] is not None:
            return None
        bound = evidence.width * self.bound(evidence.n, evidence.rounds)
        return bound, {"M": evidence.width, "N": evidence.n, "T": evidence.rounds}


class DiscountedRangedBound(RegretTheorem):
    """The potential bound where a range M is declared.

    Proof. Let U_t = 1/eta_{t,i} = M^2 + V_t. What round t adds to the potential is at most x / beta with x = r_t^2 /
    U_{t-1} <= 1, so that x <= log2(1 + x); and U_{t-1} + r_t^2 <= U_t / beta. So x <= log2(U_t) - log2(U_{t-1}) +
    log2(1/beta), and summed with the weights beta^(T-t) that is at most log2(U_T / M^2) + S log2(1/beta), because U
    is never below U_0 = M^2. Last, V_T <= S M^2.
    """

    name = "discounted ML-Poly bound"
    quantity = "discounted regret"
    statement = (
        "discounted regret to i <= M sqrt((1 + S) N (log2(1 + S) + S log2(1/beta)) / beta), "
        "S = (1 - beta^T) / (1 - beta)"
    )
    citation = "by the proof of Gaillard, Stoltz & van Erven 2014, Theorem 5"
    beforehand = True

    @staticmethod
    def bound(experts: Any, rounds: Any, discount: Any) -> Any:
        counted = -math.expm1(rounds * math.log(discount)) / (1 - discount)
        growth = experts * (math.log2(1 + counted) - counted * math.log2(discount)) / discount
        return math.sqrt((1 + counted) * growth)

    def regret_bound(self, evidence: Any) -> Any:
        discount, width = evidence.parameters["discount"], evidence.width
        bound = width * self.bound(evidence.n, evidence.rounds, discount)
        return bound, {"M": width, "N": evidence.n, "T": evidence.rounds, "beta": discount}

    def certify(self, evidence: Any) -> Any:
        if not evidence.setting.ranged or evidence.parameters["discount"] is None:
            return None
        return super().certify(evidence.discounted())


def discount_given(parameter: str, value: Any) -> float:
    return between(parameter, value, 0, 1, "a number between 0 and 1")


def each_discounted(learner: Any) -> tuple[int]:
    """The shape of an array with a number for each expert where sums are discounted; otherwise nothing is kept."""
    return (learner._n if learner._discounting else 0,)


def each_discounted_slope(learner: Any) -> tuple[int]:
    return (learner._n if learner._discounting and learner._linear else 0,)


NONE_BEFORE = np.zeros(0)


@cython.cclass
class MLpol(ExpertLearner):
    """ML-Poly: what to use when nothing is known beforehand.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    gradient    whether to learn from slopes, so as to compete with every fixed mixture of the experts; None: if the
                loss has slopes
    loss_range  the least and the greatest loss (of the slopes, if it learns from these), where they are known
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    discount    beta between 0 and 1, if what happened s rounds ago is to count beta^s
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
    """

    _discount: cython.double
    _discounting = cython.declare(cython.bint, visibility="readonly")
    _discounted_loss = cython.declare(cython.double, visibility="public")
    _discounted_losses = cython.declare(cython.double[::1], visibility="public")
    _discounted_regrets = cython.declare(cython.double[::1], visibility="public")
    _discounted_slopes = cython.declare(cython.double[::1], visibility="public")
    _squares = cython.declare(cython.double[::1], visibility="public")
    _growth = cython.declare(cython.double[::1], visibility="public")
    _largest_square = cython.declare(cython.double, visibility="public")

    theorems = (
        RangedPolynomialBound(),
        PolynomialPotentialBound(),
        DiscountedRangedBound(),
        DiscountedPotentialBound(),
    )
    own_in_range = True
    needs_range = False
    options = (
        N_EXPERTS,
        SQUARE_LOSS,
        GRADIENT_IF_ANY,
        LOSS_RANGE,
        SEED,
        Option("discount", None, optional(discount_given)),
        OUTCOMES,
    )
    kept = (
        *COUNTED,
        Number("discounted_loss", before=0.0),
        Numbers("discounted_losses", each_discounted, before=NONE_BEFORE),
        Numbers("discounted_regrets", each_discounted, before=NONE_BEFORE),
        Numbers("discounted_slopes", each_discounted_slope, before=NONE_BEFORE),
        none_negative("growth", each_expert),
        none_negative("squares", each_expert),
        not_negative("largest_square"),
    )

    def _begin(self) -> None:
        ExpertLearner._begin(self)
        self._squares = view(np.zeros(self._n))
        self._growth = view(np.zeros(self._n))
        self._largest_square = self._width * self._width if self._ranged else 0.0
        discount = self._options["discount"]
        self._discounting = discount is not None
        self._discount = discount or 1.0
        self._discounted_loss = 0.0
        self._discounted_losses = view(np.zeros(each_discounted(self)))
        self._discounted_regrets = view(np.zeros(each_discounted(self)))
        self._discounted_slopes = view(np.zeros(each_discounted_slope(self)))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def steering(self, i: cython.Py_ssize_t) -> cython.double:
        """The regret by which expert i has its share."""
        if not self._discounting:
            return self.regret_to(i)
        return self._discounted_slopes[i] if self._linear else self._discounted_regrets[i]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        i: cython.Py_ssize_t
        share: cython.double
        inverse: cython.double
        total: cython.double = 0.0
        for i in range(self._n):
            share = self.steering(i) if self._awake[i] else 0.0
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
        before: cython.double
        beta: cython.double = self._discount
        # A declared range does not fade; without a discount, beta is 1 and changes nothing.
        largest: cython.double = self._largest_square if self._ranged else beta * self._largest_square
        for i in range(self._n):
            gain = self.gain(i)
            if gain * gain > largest:
                largest = gain * gain
        for i in range(self._n):
            gain = self.gain(i)
            # The rate before this round, or after it for an expert that had no share to be held to.
            inverse = self._largest_square + self._squares[i]
            self._squares[i] = beta * self._squares[i] + gain * gain
            # The plain regret has been counted by now, and the discounted one has not.
            before = self.steering(i) if self._discounting else self.regret_to(i) - gain
            inverse = beta * inverse
            if before <= 0 or inverse == 0:
                inverse = largest + self._squares[i]
            self._growth[i] = beta * self._growth[i]
            if gain * gain > 0:
                self._growth[i] += gain * gain / inverse
        self._largest_square = largest
        if self._discounting:
            self.count_discounted()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_discounted(self) -> cython.void:
        i: cython.Py_ssize_t
        beta: cython.double = self._discount
        self._discounted_loss = beta * self._discounted_loss + self._own
        for i in range(self._n):
            self._discounted_losses[i] *= beta
            self._discounted_regrets[i] *= beta
            if not self._some_sleep or self._awake[i]:
                self._discounted_losses[i] += self._losses[i]
                self._discounted_regrets[i] += self._own - self._losses[i]
            if self._linear:
                self._discounted_slopes[i] = beta * self._discounted_slopes[i] + self.gain(i)

    @property
    def discounted_regrets(self) -> Any:
        """To each expert: the sum of beta^s times what following it would have saved s rounds ago; None if plain."""
        return np.array(self._discounted_regrets) if self._discounting else None
