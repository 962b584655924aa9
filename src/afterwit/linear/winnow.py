"""Winnow: multiply the weights of the features that were present when it was wrong.

Setting     x_t in R^N, y_t in {-1, +1}; predict sgn(w_t . x_t), sgn(0) = +1; weights not negative, summing to 1.
Update      on a mistake only: w_{t+1,i} = w_{t,i} exp(eta y_t x_{t,i}) / Z_t, from w_1 = (1/N, ..., 1/N), where Z_t
            makes the sum 1.
Guarantee   if some v >= 0 has y_t (v . x_t) / |v|_1 >= rho and |x_t|_inf <= r for all t, and eta < 2 rho / r^2: at most
            ln N / (eta rho - eta^2 r^2 / 2) mistakes; for eta = rho / r^2 that is 2 (r/rho)^2 ln N. The number of
            features counts only by its logarithm. On any sequence, the same with the hinge losses of v.
Assumes     a comparator without negative weights (BalancedWinnow has no such need).
Cost        O(non-zeros): the normaliser is kept up to date, never taken over all features. Features need not be known
            beforehand: N is the number met in the end.
Source      Littlestone 1988; Mohri, Rostamizadeh & Talwalkar 2018, Figure 8.10 and Theorem 8.13.

>>> learner = Winnow(rate=0.5)
>>> for x, y in [([1, 1, 0], 1), ([0, 1, 1], -1), ([1, 0, 1], 1)]:
...     _ = learner.learn_one(x, y)
>>> learner.mistakes, learner.weights.round(3).tolist()
(1, [0.452, 0.274, 0.274])
"""

from __future__ import annotations

import math
from typing import Any

import cython

from afterwit.core.certificate import Assumption, Basis
from afterwit.core.inputs import FEATURES, HINGE_LOSS, LARGEST_ENTRY, ONE_NORM_MARGIN, RATE, margin_within_radius
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import NOT_NEGATIVE
from afterwit.errors import invalid

if cython.compiled:
    from cython.cimports.afterwit.linear._multiplicative import MultiplicativeLearner
else:
    from afterwit.linear._multiplicative import MultiplicativeLearner


class WinnowBound(Theorem):
    """Data separable by a comparator of 1-norm 1 (without negative weights, for Winnow itself)."""

    id = "winnow-rate"
    name = "Winnow's margin bound"
    quantity = "mistakes"
    formula = "ln({features}) / ({rate} {margin} - {rate}^2 {radius}^2 / 2)"
    inputs = (FEATURES, LARGEST_ENTRY, ONE_NORM_MARGIN, RATE)
    needs = "a v without negative weights separates the examples with that margin, and eta < 2 rho / r^2"
    citation = "Mohri et al. 2018, Theorem 8.13"

    @staticmethod
    def bound(features: Any, radius: Any, margin: Any, rate: Any) -> Any:
        return math.log(features) / (rate * margin - (rate * radius) ** 2 / 2)

    @staticmethod
    def check(radius: Any, margin: Any, rate: Any, **_: Any) -> None:
        margin_within_radius(radius, margin)
        if not rate * radius * radius < 2 * margin:
            raise invalid("rate", f"below 2 rho / r^2 = {2 * margin / radius / radius:.6g}", rate)

    def certify(self, evidence: Any) -> Any:
        separable, widest = evidence.separability()
        if widest is None or not evidence.complete:
            return evidence.certificate(self, None, {}, separable)
        margin = widest.margin
        # Before the first round there is no example, and nothing is too fast.
        fastest = 2 * margin / evidence.radius**2 if evidence.radius else math.inf
        slow_enough = Assumption(
            "eta < 2 rho / r^2",
            Basis.OBSERVED,
            bool(evidence.rate * evidence.radius**2 < 2 * margin),
            f"eta = {evidence.rate:.4g}, 2 rho / r^2 = {fastest:.4g}",
        )
        if not slow_enough.holds:
            return evidence.certificate(self, None, {}, separable, slow_enough)
        inputs = {
            "N": evidence.features,
            "r": evidence.radius,
            "rho": margin,
            "eta": evidence.rate,
            "comparator": widest.source,
        }
        bound = self.bound(evidence.features, evidence.radius, margin, evidence.rate)
        return evidence.certificate(self, bound, inputs, separable, slow_enough)


class TunedWinnowBound(Theorem):
    """Winnow at the best rate for a margin that is known."""

    id = "winnow"
    name = "Winnow's margin bound at the best rate"
    quantity = "mistakes"
    formula = "2 ({radius} / {margin})^2 ln({features})"
    inputs = (FEATURES, LARGEST_ENTRY, ONE_NORM_MARGIN)
    needs = "the rate is rho / r^2, and a v without negative weights separates the examples with that margin"
    citation = WinnowBound.citation

    @staticmethod
    def bound(features: Any, radius: Any, margin: Any) -> Any:
        # In the unit in which r is 1, so that no square overflows.
        return WinnowBound.bound(features, 1.0, margin / radius, margin / radius)

    @staticmethod
    def check(radius: Any, margin: Any, **_: Any) -> None:
        margin_within_radius(radius, margin)


class WinnowHingeBound(Theorem):
    """Any sequence: 1-norm and hinge loss of a comparator u whose norm is below 2/(eta r^2).

    The proof of Theorem 8.13, with u/|u|_1 for v and y_t (u . x_t) >= 1 - l_t in place of the margin: summed over the
    M updates it reads -ln N <= M eta^2 r^2 / 2 - eta (M - L) / |u|_1, with L the hinge losses of all rounds.
    """

    id = "winnow-hinge"
    name = "Winnow's hinge bound"
    quantity = "mistakes"
    formula = "({norm} ln({features}) / {rate} + {hinge_loss}) / (1 - {rate} {radius}^2 {norm} / 2)"
    inputs = (
        FEATURES,
        LARGEST_ENTRY,
        Input("norm", "|u|_1", "the 1-norm of the comparator u, which has no negative weight", NOT_NEGATIVE),
        HINGE_LOSS,
        RATE,
    )
    needs = "eta < 2 / (r^2 |u|_1)"
    citation = "by the proof of Theorem 8.13 of Mohri et al. 2018, with the hinge losses of all rounds"

    @staticmethod
    def bound(features: Any, radius: Any, norm: Any, hinge_loss: Any, rate: Any) -> Any:
        left = 1 - rate * radius**2 * norm / 2
        return (norm * math.log(features) / rate + hinge_loss) / left if left > 0 else math.inf

    @staticmethod
    def check(radius: Any, norm: Any, rate: Any, **_: Any) -> None:
        if not rate * radius * radius * norm < 2:
            raise invalid("rate", f"below 2 / (r^2 |u|_1) = {2 / radius / radius / norm:.6g}", rate)

    def certify(self, evidence: Any) -> Any:
        if not evidence.complete:
            return evidence.certificate(self, None, {})

        def value(u: Any) -> float:
            return float(self.bound(evidence.features, evidence.radius, u.norm, u.hinge, evidence.rate))

        best = evidence.best(value)
        inputs = {
            "N": evidence.features,
            "r": evidence.radius,
            "|u|_1": best.norm,
            "L": best.hinge,
            "eta": evidence.rate,
            "comparator": best.source,
        }
        return evidence.certificate(self, value(best), inputs)


@cython.cclass
class Winnow(MultiplicativeLearner):
    """The Winnow algorithm of Figure 8.10.

    rate       eta, how fast weights grow and shrink; rho / r^2 is best for data separable with margin rho
    intercept  whether every example has a further feature of value 1
    labels     the negative and the positive label
    """

    theorems = (WinnowBound(), WinnowHingeBound())

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        prediction: cython.int = 1 if score >= 0 else -1
        if prediction != y:
            self.multiply(self._rate * y)
            return True
        return False
