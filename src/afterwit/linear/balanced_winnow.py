"""Balanced Winnow: Winnow on (x, -x), so that a feature may count for either label.

Setting     x_t in R^N, y_t in {-1, +1}; predict sgn(w_t . x_t), sgn(0) = +1, with w = p - q for weights p, q that are
            not negative and whose 2N entries sum to 1.
Update      on a mistake only: p_i <- p_i exp(eta y_t x_{t,i}) / Z_t, q_i <- q_i exp(-eta y_t x_{t,i}) / Z_t, from
            1/(2N) each.
Guarantee   Winnow's on 2N features, for comparators of any sign: if y_t (v . x_t) / |v|_1 >= rho and |x_t|_inf <= r for
            all t, and eta = rho / r^2: at most 2 (r/rho)^2 ln(2N) mistakes; and the same hinge bound on any sequence.
Assumes     nothing about where the examples come from.
Cost        O(non-zeros), as Winnow: p_i q_i is the same for all i, so that one exponent stands for both.
Source      Littlestone 1988; Kivinen & Warmuth 1997 (EG with positive and negative weights); Mohri, Rostamizadeh &
            Talwalkar 2018, Figure 8.10 and Theorem 8.13.

>>> learner = BalancedWinnow(rate=0.5)
>>> for x, y in [([1, 1, 0], 1), ([0, 1, 1], -1), ([1, 0, 1], 1)]:
...     _ = learner.learn_one(x, y)
>>> learner.mistakes, learner.weights.round(3).tolist()
(2, [0.16, -0.16, 0.0])
"""

from __future__ import annotations

from typing import Any

import cython

from afterwit.linear.winnow import TunedWinnowBound, WinnowBound, WinnowHingeBound

if cython.compiled:
    from cython.cimports.afterwit.linear._multiplicative import MultiplicativeLearner
else:
    from afterwit.linear._multiplicative import MultiplicativeLearner


class TunedBalancedWinnowBound(TunedWinnowBound):
    """Winnow's bound for twice as many features, as it works on (x, -x)."""

    id = "balanced-winnow"
    name = "balanced Winnow's margin bound at the best rate"
    formula = "2 ({radius} / {margin})^2 ln(2 {features})"
    needs = "the rate is rho / r^2, and some v separates the examples with that margin"

    @staticmethod
    def bound(features: Any, radius: Any, margin: Any) -> Any:
        return TunedWinnowBound.bound(2 * features, radius, margin)


@cython.cclass
class BalancedWinnow(MultiplicativeLearner):
    """Winnow with positive and negative weights.

    rate       eta, how fast weights grow and shrink; rho / r^2 is best for data separable with margin rho
    intercept  whether every example has a further feature of value 1
    labels     the negative and the positive label
    """

    theorems = (WinnowBound(), WinnowHingeBound())
    _signed = True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        prediction: cython.int = 1 if score >= 0 else -1
        if prediction != y:
            self.multiply(self._rate * y)
            return True
        return False
