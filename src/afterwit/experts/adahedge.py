# cython: boundscheck=False, wraparound=False, cdivision=True
"""AdaHedge: exponential weights whose rate follows from what the rates before have cost. No range, no horizon.

Setting     N experts and any convex loss, of any size; forecast the mean of the advice by p_t.
Update      p_{t,i} proportional to exp(-eta_t L_{t-1,i}) with eta_t = ln N / Delta_{t-1}, the leaders alone while
            Delta is 0; Delta_t = Delta_{t-1} + h_t - m_t: the mixture's loss h_t = p_t . l_t less the mix loss m_t =
            -1/eta_t ln sum_i p_{t,i} exp(-eta_t l_{t,i}), what a single expert with these weights would have lost.
Guarantee   on any sequence, where s_t is the range of the losses in round t and S the largest of these, the regret is
            at most sqrt(ln N sum s_t^2) + S (4/3 ln N + 2). It does not change when losses are scaled or shifted.
Rounding    h_t and m_t are both taken less the least loss of the round where the losses are so much larger than their
            differences that h_t, rounded, hides these. Equal losses cost nothing: Delta stays as it is to the last
            bit, and equal experts keep equal shares.
Source      de Rooij, van Erven, Grünwald & Koolen 2014, Figure 1 and Corollary 7.

>>> learner = AdaHedge(2, gradient=False)
>>> learner.learn_many([[10.0, 14.0], [10.0, 14.0], [10.0, 14.0]], [13.0, 13.0, 13.0]).round(3).tolist()
[12.0, 13.2, 13.661]
>>> learner.best_expert, round(learner.regret, 3)  # mixing did better than either
(1, -1.523)
"""

from __future__ import annotations

import math
from typing import Any

import cython
import numpy as np

from afterwit.core.declared import none_negative, not_negative
from afterwit.core.learner import view
from afterwit.core.theorem import Theorem
from afterwit.experts._declared import COUNTED, GRADIENT_IF_ANY, N_EXPERTS, OUTCOMES, SEED, SQUARE_LOSS, each_expert
from afterwit.experts._regret import RegretTheorem

if cython.compiled:
    from cython.cimports.afterwit.experts._engine import ExpertLearner
    from cython.cimports.libc.math import INFINITY, exp, fabs, log
else:
    from math import exp, fabs, log
    from math import inf as INFINITY

    from afterwit.experts._engine import ExpertLearner


#: How far, as a part of the range of the losses in a round, rounding may move the mixture's loss.
SPOILT = cython.declare(cython.double, 1e-9)
#: By how much, as a part of it, one number may be rounded.
EPSILON = cython.declare(cython.double, 2.0**-52)


class AdaHedgeBound(RegretTheorem):
    name = "AdaHedge bound"
    formula = "sqrt(ln N sum s_t^2) + S (4/3 ln N + 2), s_t the range of the losses in round t"
    citation = "de Rooij, van Erven, Grünwald & Koolen 2014, Corollary 7"

    @staticmethod
    def bound(log_experts: Any, squared_ranges: Any, largest_range: Any) -> Any:
        return math.sqrt(log_experts * squared_ranges) + largest_range * (4.0 / 3.0 * log_experts + 2)

    def in_run(self, evidence: Any) -> Theorem:
        # Slopes are those at the learner's own forecasts.
        by_slopes = evidence.setting.gradient and evidence.unforecast < evidence.rounds
        return self.as_known(foreseeable=False) if by_slopes else self

    def regret_bound(self, evidence: Any) -> Any:
        squares, largest = evidence.state["squared_ranges"], evidence.state["largest_range"]
        inputs = {"N": evidence.n, "sum s_t^2": squares, "S": largest}
        return self.bound(evidence.log_n, squares, largest), inputs


@cython.cclass
class AdaHedge(ExpertLearner):
    """AdaHedge.

    n_experts   how many experts, or their names
    loss        "square", "absolute", "percentage", "pinball(q)", "log", "zero-one" or one of `afterwit.losses`
    gradient    whether to learn from slopes, so as to compete with every fixed mixture of the experts; None: if the
                loss has slopes
    seed        what the draws depend on, if the loss is not convex and one expert is followed by chance
    outcomes    how many kinds of outcomes there are, or their names, for forecasts that are probability vectors under
                the loss "brier" or "log"; None for forecasts that are numbers
    """

    _cumulative = cython.declare(cython.double[::1], visibility="public")
    _above: cython.double[::1]
    _log_n: cython.double
    _delta = cython.declare(cython.double, visibility="public")
    _squared_ranges = cython.declare(cython.double, visibility="public")
    _largest_range = cython.declare(cython.double, visibility="public")

    theorems = (AdaHedgeBound(),)
    needs_range = False
    options = (N_EXPERTS, SQUARE_LOSS, GRADIENT_IF_ANY, SEED, OUTCOMES)
    kept = (
        *COUNTED,
        none_negative("cumulative", each_expert),
        not_negative("delta"),
        not_negative("squared_ranges"),
        not_negative("largest_range"),
    )

    def _begin(self) -> None:
        ExpertLearner._begin(self)
        self._cumulative = view(np.zeros(self._n))
        self._above = view(np.zeros(self._n))
        self._log_n = math.log(self._n)
        self._delta = 0.0
        self._squared_ranges = 0.0
        self._largest_range = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def weigh(self) -> cython.double:
        if self._delta > 0:
            return self.exponentiate(self._cumulative, -self._log_n / self._delta)
        i: cython.Py_ssize_t
        least: cython.double = INFINITY
        total: cython.double = 0.0
        for i in range(self._n):
            if self._awake[i] and self._cumulative[i] < least:
                least = self._cumulative[i]
        for i in range(self._n):
            self._shares[i] = 1.0 if self._awake[i] and self._cumulative[i] == least else 0.0
            total += self._shares[i]
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self) -> cython.void:
        i: cython.Py_ssize_t
        gap: cython.double
        allowed: cython.double
        mixed: cython.double = 0.0
        low: cython.double = INFINITY
        high: cython.double = -INFINITY
        # A sleeper is shown the mixture's loss, which is between those of the others.
        for i in range(self._n):
            if self._awake[i] and self._seen[i] < low:
                low = self._seen[i]
            if self._awake[i] and self._seen[i] > high:
                high = self._seen[i]
        if high == low:
            # Nobody has lost more than another. What rounding makes of the mixture's loss is no cost.
            return
        for i in range(self._n):
            self._above[i] = self._seen[i] - low
            mixed += self._shares[i] * self._above[i] if self._awake[i] else 0.0
        mixed = mixed / self._total
        allowed = SPOILT * (high - low)
        if EPSILON * fabs(low) > allowed or fabs(mixed - (self._mixed - low)) > allowed:
            # Large losses with small differences: the mixture's own loss is rounded too coarsely to tell them apart.
            for i in range(self._n):
                if not self._awake[i]:
                    self._above[i] = mixed
            gap = mixed - self.mix_loss()
        else:
            gap = self._mixed - (low + self.mix_loss())
        for i in range(self._n):
            # Only differences matter; without their least part the sums stay small.
            self._cumulative[i] += self._above[i]
        # A cost so small that its inverse overflows is ignored: the rate must stay a number.
        if gap > 1e-300:
            self._delta += gap
        self._squared_ranges += (high - low) * (high - low)
        if high - low > self._largest_range:
            self._largest_range = high - low

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mix_loss(self) -> cython.double:
        """The loss of the mixture as one expert, less the least; over all experts: a sleeper's is the mixture's own."""
        i: cython.Py_ssize_t
        rate: cython.double
        before: cython.double = INFINITY
        after: cython.double = INFINITY
        total: cython.double = 0.0
        if self._delta > 0:
            rate = self._log_n / self._delta
            if self._some_sleep:
                self.everyone()
            for i in range(self._n):
                total += self._shares[i] * exp(-rate * self._above[i])
            total = total / self._total
            if total > 1e-250:
                return -log(total) / rate
        for i in range(self._n):
            if self._cumulative[i] < before:
                before = self._cumulative[i]
            if self._cumulative[i] + self._above[i] < after:
                after = self._cumulative[i] + self._above[i]
        if self._delta == 0:
            return after - before
        # Those with a share lose so much that only sums of shares and losses, as exponents, tell what is left.
        total = 0.0
        for i in range(self._n):
            total += exp(-rate * (self._cumulative[i] + self._above[i] - after))
        return after - before - (log(total) - log(self._total)) / rate
