"""Regret of gradient learners whose labels come late.

The learner serves w_s . x_t and, when the label comes, steps from w_t, the weights that it has then, by the gradient
g_t = l'(w_s . x_t) x_t of the loss at what it served. With a rate eta, and P the nearest point of a convex set,

    |w_{t+1} - u|^2  <=  |w_t - u|^2 - 2 eta g_t . (w_t - u) + eta^2 |g_t|^2      for every u in the set,
    l_t(w_s) - l_t(u)  <=  g_t . (w_s - u)  =  g_t . (w_t - u) + g_t . (w_s - w_t)        since the loss is convex.

Summed up, with the losses of what was served, from w_1 = 0:

    regret  <=  |u|^2 / (2 eta) + eta/2 sum |g_t|^2 + sum g_t . (w_s - w_t).

The last sum is what lateness costs, and it is measured: g_t . (w_s - w_t) is the slope times the served score less the
score at arrival. No step is longer than eta G, so it is at most eta G^2 times the sum of the delays d_t, the numbers of
rounds learned between service and label. At rates that fall, on a ball of diameter D, the first two terms are those of
Zinkevich.

The on-line SVM steps by g_t = w_t - C y_t x_t or w_t. Its loss is here C times the hinge loss of what was served, and
half the squared length of the weights at arrival, of which |w_t|^2/2 - |u|^2/2 <= w_t . (w_t - u). Only the hinge loss
was served, so the last sum has C y_t x_t . (w_t - w_s) where the served margin is below 1; and |C y_t x_t| <= C R <= G.

With no delay these are the bounds without. See Quanrud & Khashabi 2015 and Zinkevich, Langford & Smola 2009 for the
subject.
"""

from __future__ import annotations

from typing import Any

from afterwit.core.inputs import NORM, RATE, ROUNDS
from afterwit.core.theorem import Input
from afterwit.data.quantities import NOT_NEGATIVE
from afterwit.linear._regret import (
    GRADIENT,
    LargestGradientBound,
    ObservedBallBound,
    ObservedGradientsBound,
    RegretBound,
    constant_rate,
    gradients_are_bounded,
    in_a_ball,
    largest_gradient,
)

DELAYS = Input(
    "delays", "sum d_t", "the sum over the rounds of how many were learned between service and label", NOT_NEGATIVE
)
PROOF = "the loss is convex, so what was learned in between costs at most g_t . (w_s - w_t)"


class LateRegretBound(RegretBound):
    """A bound on the loss of what was served, where labels came late; not about any other run."""

    late = True

    def certify(self, evidence: Any) -> Any:
        return None if evidence.delays is None else self.with_delays(evidence, evidence.delays)

    def with_delays(self, evidence: Any, delays: Any) -> Any:
        """The theorem applied to a run in which labels came as late as this."""
        raise NotImplementedError


class LateGradientBound(LateRegretBound):
    """Descent at a constant rate, from 0, with labels that come late."""

    id = "gradient-descent-late"
    name = "regret at a constant rate with late labels"
    formula = "{norm}^2 / (2 {rate}) + {rate} {gradient}^2 ({rounds} / 2 + {delays})"
    inputs = (NORM, RATE, ROUNDS, GRADIENT, DELAYS)
    needs = LargestGradientBound.needs
    citation = f"{LargestGradientBound.citation}; {PROOF}"

    @staticmethod
    def bound(norm: Any, rate: Any, rounds: Any, gradient: Any, delays: Any) -> Any:
        return LargestGradientBound.bound(norm, rate, rounds + 2 * delays, gradient)

    def with_delays(self, evidence: Any, delays: Any) -> Any:
        descent, largest = evidence.descent, largest_gradient(evidence)
        return self.applied(
            evidence,
            lambda u: self.bound(u.norm, descent.rate, evidence.rounds, largest, delays.total),
            {"eta": descent.rate, "G": largest, "sum d_t": delays.total},
            constant_rate(descent),
            gradients_are_bounded(descent, largest),
        )


class LateObservedBound(LateRegretBound):
    """The same with the gradients there were, and what lateness has cost."""

    name = "regret at a constant rate with late labels, gradients as they were"
    formula = "|u|^2 / (2 eta) + eta/2 sum |g_t|^2 + sum g_t . (w_s - w_t)"
    citation = LateGradientBound.citation
    foreseeable = False

    @staticmethod
    def bound(norm: Any, rate: Any, squares: Any, drift: Any) -> Any:
        return ObservedGradientsBound.bound(norm, rate, squares) + drift

    def with_delays(self, evidence: Any, delays: Any) -> Any:
        descent, squares, drift = evidence.descent, evidence.squared_gradients, evidence.drift
        return self.applied(
            evidence,
            lambda u: self.bound(u.norm, descent.rate, squares, drift),
            {"eta": descent.rate, "sum |g|^2": squares, "sum g (w_s - w_t)": drift},
            constant_rate(descent),
        )


class LateBallBound(LateRegretBound):
    """The same on a ball of diameter D, at rates that never increase, against every u in the ball."""

    name = "regret on a ball with late labels, gradients as they were"
    formula = "D^2 / (2 eta_T) + 1/2 sum eta_t |g_t|^2 + sum g_t . (w_s - w_t)"
    citation = f"{ObservedBallBound.citation}; {PROOF}"
    foreseeable = False

    @staticmethod
    def bound(diameter: Any, last_rate: Any, weighted_squares: Any, drift: Any) -> Any:
        return ObservedBallBound.bound(diameter, last_rate, weighted_squares) + drift

    def with_delays(self, evidence: Any, delays: Any) -> Any:
        ball, squares, drift = evidence.descent.ball or 0.0, evidence.weighted_squares, evidence.drift
        return self.applied(
            evidence,
            lambda _: self.bound(2 * ball, evidence.last_rate, squares, drift),
            {"D": 2 * ball, "eta_T": evidence.last_rate, "sum eta |g|^2": squares, "sum g (w_s - w_t)": drift},
            in_a_ball(evidence.descent),
        )
