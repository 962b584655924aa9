"""Bounds of perceptrons whose labels come late.

The learner decides by the score that it served, w_s . x, and adds the example, if it does, to the weights w_t that it
has when the label comes. Between lie d_t updates, each of which added an example of length R at most:

    y_t w_t . x_t  <=  y_t w_s . x_t + R^2 d_t,

since no scalar product of two examples exceeds R^2. In an update of the perceptron the first term on the right is not
positive, so with w = sum y_t x_t over the M updates, from 0 (the rate divides out),

    |w|^2  =  sum 2 y_t w_t . x_t + |x_t|^2  <=  R^2 (M + 2 D),      D = sum of d_t over the updates.

With a unit v of margin gamma, M gamma <= v . w, and with any u of total hinge loss L, M - L <= u . w, so

    M gamma <= R sqrt(M + 2 D),          M - L <= R |u| sqrt(M + 2 D).

Solved for M as they stand these are the bounds with the measured D. At most d rounds between service and label mean
D <= d M, and then M <= (1 + 2d) (R/gamma)^2, and the sharper hinge bound with sqrt(1 + 2d) R in the place of R.

The margin perceptron updates where w_t = 0 or y_t w_s . x_t < rho/2 |w_t|, so that, with D = 1 + 2d, |w_{t+1}|^2 <=
|w_t|^2 + rho |w_t| + D R^2 <= (|w_t| + rho/2)^2 + D R^2. Where the new length is at least K = 4 D R^2/rho this makes w
longer by at most rho/2 + D R^2/K = 3 rho/4. So after M updates |w| <= K + 3 rho M/4; but |w| >= rho M: M <= 16 D
(R/rho)^2.

With no delay all of them are the bounds of the perceptrons themselves.
"""

from __future__ import annotations

import math
from typing import Any

from afterwit.core.certificate import Assumption, Basis
from afterwit.core.inputs import HINGE_LOSS, MARGIN, NORM, RADIUS, SEPARABLE, length, margin_within_radius
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import COUNT_OR_NONE, NOT_NEGATIVE

DELAY = Input("delay", "d", "the most rounds learned between the service of an example and its label", COUNT_OR_NONE)
DELAYS = Input(
    "delays", "sum d_t", "the sum over the update rounds of the updates between service and label", NOT_NEGATIVE
)
PROOF = "with R^2 d_t more for what was learned in between"


def largest_root(a: float, c: float) -> float:
    """The largest z with z^2 <= a z + c."""
    return (a + math.sqrt(a * a + 4 * c)) / 2


class LatePerceptronBound(Theorem):
    """A bound on the mistakes of a perceptron whose labels came late; not about any other run."""

    quantity = "mistakes"
    late = True

    def certify(self, evidence: Any) -> Any:
        return None if evidence.delays is None else self.with_delays(evidence, evidence.delays)

    def with_delays(self, evidence: Any, delays: Any) -> Any:
        """The theorem applied to a run in which labels came as late as this."""
        raise NotImplementedError


class LateMarginBound(LatePerceptronBound):
    """Separable data: the squared ratio of radius to margin, as many times more as labels are late."""

    id = "perceptron-late"
    name = "margin bound with late labels"
    formula = "(1 + 2 {delay}) ({radius} / {margin})^2"
    inputs = (RADIUS, MARGIN, DELAY)
    needs = SEPARABLE
    citation = f"Novikoff 1962, {PROOF}"

    @staticmethod
    def check(radius: Any, margin: Any, **_: Any) -> None:
        margin_within_radius(radius, margin)

    @staticmethod
    def bound(radius: Any, margin: Any, delay: Any) -> Any:
        return (1 + 2 * delay) * (radius / margin) * (radius / margin)

    def with_delays(self, evidence: Any, delays: Any) -> Any:
        separable, widest = evidence.separability()
        if widest is None:
            return evidence.certificate(self, None, {}, separable)
        return self.separated(evidence, delays, separable, widest)

    def separated(self, evidence: Any, delays: Any, separable: Assumption, widest: Any) -> Any:
        unit, delay = evidence.unit, self.delay_of(delays)
        inputs = {"R": unit * evidence.radius, "gamma": unit * widest.margin, self.inputs[-1].symbol: delay}
        bound = self.bound(evidence.radius, widest.margin, delay)
        return evidence.certificate(self, bound, {**inputs, "comparator": widest.source}, separable)

    @staticmethod
    def delay_of(delays: Any) -> int:
        """The delay that the bound speaks of."""
        return int(delays.largest)


class MeasuredMarginBound(LateMarginBound):
    """The same with the delays that there were, counted in updates."""

    id = "perceptron-late-measured"
    name = "margin bound with the delays that were"
    formula = "{radius} / {margin} ({radius} / {margin} + sqrt(({radius} / {margin})^2 + 8 {delays})) / 2"
    inputs = (RADIUS, MARGIN, DELAYS)
    foreseeable = False

    @staticmethod
    def bound(radius: Any, margin: Any, delays: Any) -> Any:
        # z^2 - 2 D for the largest z with z^2 <= a z + 2 D.
        return radius / margin * largest_root(radius / margin, 2 * delays)

    @staticmethod
    def delay_of(delays: Any) -> int:
        return int(delays.between_updates)


class LateHingeBound(LatePerceptronBound):
    """Any sequence: the sharper hinge bound, for a radius that is as much longer as labels are late."""

    id = "perceptron-late-hinge"
    name = "hinge bound with late labels"
    formula = (
        "(({radius} {norm} sqrt(1 + 2 {delay}) + sqrt(({radius} {norm})^2 (1 + 2 {delay}) + 4 {hinge_loss})) / 2)^2"
    )
    inputs = (RADIUS, NORM, HINGE_LOSS, DELAY)
    needs = "w starts at 0"
    citation = f"Mohri et al. 2018, Theorem 8.11, {PROOF}"

    @staticmethod
    def bound(radius: Any, norm: Any, hinge_loss: Any, delay: Any) -> Any:
        root = largest_root(radius * norm * math.sqrt(1 + 2 * delay), hinge_loss)
        return root * root

    def with_delays(self, evidence: Any, delays: Any) -> Any:
        delay, unit, norm = self.delay_of(delays), evidence.unit, self.inputs[1].symbol
        best = evidence.best(lambda u: self.bound(evidence.radius, u.norm, u.hinge, delay))
        inputs = {"R": unit * evidence.radius, norm: best.norm / unit, "L": best.hinge}
        inputs |= {self.inputs[-1].symbol: delay, "comparator": best.source}
        return evidence.certificate(self, self.bound(evidence.radius, best.norm, best.hinge, delay), inputs)

    @staticmethod
    def delay_of(delays: Any) -> int:
        """The delay that the bound speaks of."""
        return int(delays.largest)


class MeasuredHingeBound(LateHingeBound):
    """The same with the delays that there were, counted in updates."""

    id = "perceptron-late-hinge-measured"
    name = "hinge bound with the delays that were"
    formula = (
        "{hinge_loss} + {radius} {norm} "
        "({radius} {norm} + sqrt(({radius} {norm})^2 + 4 ({hinge_loss} + 2 {delays}))) / 2"
    )
    inputs = (RADIUS, NORM, HINGE_LOSS, DELAYS)
    foreseeable = False

    @staticmethod
    def bound(radius: Any, norm: Any, hinge_loss: Any, delays: Any) -> Any:
        return hinge_loss + radius * norm * largest_root(radius * norm, hinge_loss + 2 * delays)

    @staticmethod
    def delay_of(delays: Any) -> int:
        return int(delays.between_updates)


class LateMarginUpdateBound(LateMarginBound):
    """The margin perceptron on data that are separable with the margin of which half is aimed at."""

    id = "margin-perceptron-late"
    name = "margin perceptron bound with late labels"
    quantity = "updates"
    formula = "16 (1 + 2 {delay}) ({radius} / {margin})^2"
    inputs = (RADIUS, length("margin", "rho", "the margin, of which half is aimed at"), DELAY)
    citation = f"Mohri et al. 2018, Exercise 8.6, {PROOF}"

    @staticmethod
    def bound(radius: Any, margin: Any, delay: Any) -> Any:
        return 16 * LateMarginBound.bound(radius, margin, delay)

    def separated(self, evidence: Any, delays: Any, separable: Assumption, widest: Any) -> Any:
        unit, rho, delay = evidence.unit, evidence.margin, self.delay_of(delays)
        inputs = {"R": unit * evidence.radius, "rho": rho, "d": delay, "comparator": widest.source}
        bound = self.bound(unit * evidence.radius, rho, delay)
        return evidence.certificate(self, bound, inputs, separable, wide_enough(evidence, widest))


def wide_enough(evidence: Any, widest: Any) -> Assumption:
    """Whether the data are separable with the margin that the learner was made with."""
    margin, rho = evidence.unit * widest.margin, evidence.margin
    return Assumption(
        "gamma >= rho, the margin the learner was made with",
        Basis.OBSERVED,
        bool(margin >= rho * (1 - 1e-9)),
        f"gamma = {margin:.4g}, rho = {rho:.4g}",
    )
