"""Bounds on the total loss of gradient learners, against every fixed comparator: what regret theorems say.

A regret theorem bounds the learner's loss less the comparator's. Here it is stated as a bound on the learner's loss:
the comparator's loss, plus the regret. So promise, happening and hindsight are in one unit, and for any comparator, not
only the best, the statement is true.

Two kinds: from the largest gradient there can be, which could have been promised; and from the gradients there were.
Both bound the mistakes as well, where every wrong sign has a cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from afterwit.core.certificate import Assumption, Basis, Verdict
from afterwit.core.inputs import NORM, RATE, ROUNDS, length
from afterwit.core.theorem import Input, Theorem
from afterwit.data.losses import get
from afterwit.data.margin_losses import COST_OF_A_WRONG_SIGN, LOSSES, SLOPES_UP_TO_1

GRADIENT = length("gradient", "G", "the longest a gradient can be")


class DescentKind(StrEnum):
    """How a gradient learner steps."""

    #: w <- w - rate g
    PLAIN = "plain"
    #: The same, then to the nearest point of a ball.
    PROJECTED = "projected"
    #: The same as plain on an objective that has |w|^2/2 in every round.
    RIDGE = "ridge"
    #: A rate of its own for every feature; into a box, if there is one.
    ADAPTIVE = "adaptive"
    #: Bets with the money that a feature has; the rate is what each begins with.
    SCALE_FREE = "scale-free"
    #: The same for real targets: with slopes that are cut off, and money counted in the first loss.
    SCALE_FREE_TARGETS = "scale-free targets"


@dataclass(frozen=True)
class Descent:
    """What a gradient learner does, as a checker needs to know it.

    In each round the objective is ``factor`` times the loss, plus |w|^2/2 if it has a ridge.
    """

    kind: DescentKind
    loss: str
    rate: float
    factor: float = 1.0
    decreasing: bool = False
    ball: float | None = None
    delta: float = 0.0
    box: float | None = None

    @property
    def ridge(self) -> bool:
        return self.kind is DescentKind.RIDGE

    @property
    def of_targets(self) -> bool:
        """Whether y is a real target, not a sign."""
        return self.loss not in LOSSES

    @property
    def steepest(self) -> float | None:
        """The largest size of a slope; None if there is none."""
        if self.of_targets:
            return get(self.loss).steepest
        return 1.0 if self.loss in SLOPES_UP_TO_1 else None


class RegretBound(Theorem):
    """Total loss at most that of u, plus a regret, which is what the formula bounds."""

    quantity = "loss"
    formula_quantity = "regret"

    @property
    def statement(self) -> str:
        return f"loss <= L(u) + {self.in_symbols}"

    def applied(self, evidence: Any, regret: Any, inputs: Any, *assumptions: Assumption) -> Any:
        """The certificate for the comparator that makes the bound smallest."""
        if not evidence.complete or not all(assumption.met for assumption in assumptions):
            return evidence.certificate(self, None, {}, *assumptions)
        best = evidence.best(lambda u: u.loss + regret(u))
        shown = {"L(u)": best.loss, "|u|": best.norm, **inputs, "u": best.source}
        return replace(evidence, compared=best).certificate(self, best.loss + regret(best), shown, *assumptions)


def constant_rate(descent: Descent) -> Assumption:
    detail = "" if not descent.decreasing else "the rate decreases"
    return Assumption("the rate is constant", Basis.ENFORCED, not descent.decreasing, detail)


def in_a_ball(descent: Descent) -> Assumption:
    detail = "" if descent.ball is not None else "the learner was given no ball"
    return Assumption("the weights stay in a ball", Basis.ENFORCED, descent.ball is not None, detail)


def largest_gradient(evidence: Any) -> float:
    """The greatest length a gradient can have: R times the largest slope, where that is known.

    The squared loss has slopes of at most |w||x| + 1, and for real targets of size at most Y the square loss has twice
    |w||x| + Y. With the ridge, |w| <= CR, as each w lies between the last one and some C y x, and so G = CR + CR.
    """
    descent: Descent = evidence.descent
    radius = float(evidence.radius)
    if descent.ridge:
        return 2.0 * descent.factor * radius
    if descent.steepest is not None:
        return descent.steepest * radius
    if descent.ball is None:
        return math.inf
    if descent.of_targets:
        return 2 * radius * (float(evidence.largest_target) + radius * descent.ball)
    return radius * (1 + radius * descent.ball)


def gradients_are_bounded(descent: Descent, largest: float) -> Assumption:
    finite = math.isfinite(largest)
    beyond = f"the {descent.loss} loss has any slope where no ball holds the weights"
    detail = f"G = {largest:.4g}" if finite else beyond
    return Assumption("gradients can be no longer than G", Basis.OBSERVED, finite, detail)


class LargestGradientBound(RegretBound):
    """Descent at a constant rate, from 0: no ball is needed, but u must lie in it if there is one."""

    id = "gradient-descent"
    name = "regret at a constant rate"
    formula = "{norm}^2 / (2 {rate}) + {rate} {rounds} {gradient}^2 / 2"
    inputs = (NORM, RATE, ROUNDS, GRADIENT)
    needs = "w starts at 0, the losses are convex and the rate is constant"
    citation = "Zinkevich 2003, by the proof of Theorem 1 at a constant rate"

    @staticmethod
    def bound(norm: Any, rate: Any, rounds: Any, gradient: Any) -> Any:
        return norm * norm / (2 * rate) + rate * rounds * gradient * gradient / 2

    def certify(self, evidence: Any) -> Any:
        descent, largest = evidence.descent, largest_gradient(evidence)
        return self.applied(
            evidence,
            lambda u: self.bound(u.norm, descent.rate, evidence.rounds, largest),
            {"eta": descent.rate, "G": largest},
            constant_rate(descent),
            gradients_are_bounded(evidence.descent, largest),
        )


class ObservedGradientsBound(RegretBound):
    """The same with the gradients there were."""

    name = "regret at a constant rate, gradients as they were"
    formula = "|u|^2 / (2 eta) + eta/2 sum |g_t|^2"
    citation = LargestGradientBound.citation
    foreseeable = False

    @staticmethod
    def bound(norm: Any, rate: Any, squares: Any) -> Any:
        return norm * norm / (2 * rate) + rate * squares / 2

    def certify(self, evidence: Any) -> Any:
        descent = evidence.descent
        return self.applied(
            evidence,
            lambda u: self.bound(u.norm, descent.rate, evidence.squared_gradients),
            {"eta": descent.rate, "sum |g|^2": evidence.squared_gradients},
            constant_rate(descent),
        )


class BallBound(RegretBound):
    """Descent on a ball of diameter D, at rates that never increase, against every u in the ball."""

    name = "regret on a ball"
    formula = "D^2 / (2 eta_T) + G^2/2 sum eta_t"
    citation = "Zinkevich 2003, Theorem 1"

    @staticmethod
    def bound(diameter: Any, last_rate: Any, largest: Any, rates: Any) -> Any:
        return diameter * diameter / (2 * last_rate) + largest * largest * rates / 2

    def certify(self, evidence: Any) -> Any:
        ball, largest = evidence.descent.ball or 0.0, largest_gradient(evidence)
        return self.applied(
            evidence,
            lambda _: self.bound(2 * ball, evidence.last_rate, largest, evidence.rates),
            {"D": 2 * ball, "eta_T": evidence.last_rate, "G": largest},
            in_a_ball(evidence.descent),
            gradients_are_bounded(evidence.descent, largest),
        )


class DecreasingRateBallBound(RegretBound):
    """The same at the rates c / sqrt(t), which sum to at most c (2 sqrt(T) - 1)."""

    id = "gradient-descent-ball"
    name = "regret on a ball at rates that decrease with the root of t"
    formula = "{diameter}^2 sqrt({rounds}) / (2 {rate}) + {rate} {gradient}^2 (sqrt({rounds}) - 1/2)"
    inputs = (
        length("diameter", "D", "the diameter of the ball that holds the weights"),
        GRADIENT,
        ROUNDS,
        Input("rate", "c", "the rate of round t is this, divided by sqrt(t)", RATE.range, default=1.0),
    )
    needs = "the losses are convex and the weights are projected on the ball"
    citation = BallBound.citation

    @staticmethod
    def bound(diameter: Any, gradient: Any, rounds: Any, rate: Any) -> Any:
        root = math.sqrt(rounds)
        return BallBound.bound(diameter, rate / root, gradient, rate * (2 * root - 1))


class ObservedBallBound(RegretBound):
    """The same with the gradients there were."""

    name = "regret on a ball, gradients as they were"
    formula = "D^2 / (2 eta_T) + 1/2 sum eta_t |g_t|^2"
    citation = BallBound.citation
    foreseeable = False

    @staticmethod
    def bound(diameter: Any, last_rate: Any, weighted_squares: Any) -> Any:
        return diameter * diameter / (2 * last_rate) + weighted_squares / 2

    def certify(self, evidence: Any) -> Any:
        ball = evidence.descent.ball or 0.0
        return self.applied(
            evidence,
            lambda _: self.bound(2 * ball, evidence.last_rate, evidence.weighted_squares),
            {"D": 2 * ball, "eta_T": evidence.last_rate, "sum eta |g|^2": evidence.weighted_squares},
            in_a_ball(evidence.descent),
        )


class BoxBound(RegretBound):
    """Adaptive descent in a box: what can be said before the first round, but for the data's own size.

    With S_i the Euclidean norm of feature i over all rounds, times the largest slope there can be, sqrt(G_i) <= S_i.
    """

    name = "adaptive regret in a box"
    formula = "sum_i D^2 sqrt(delta + S_i^2) / (2 eta) + eta sum_i S_i,  D = 2 box"
    citation = "Duchi, Hazan & Singer 2011, Theorem 5"

    @staticmethod
    def bound(diameter: Any, rate: Any, roots: Any, sizes: Any) -> Any:
        return diameter * diameter * roots / (2 * rate) + rate * sizes

    def certify(self, evidence: Any) -> Any:
        descent = evidence.descent
        boxed = descent.box is not None
        steepest = descent.steepest
        columns = (1.0 if steepest is None else steepest) * evidence.columns
        roots, sizes = evidence.roots(columns), float(columns.sum())
        return self.applied(
            evidence,
            lambda _: self.bound(2 * (descent.box or 0.0), descent.rate, roots, sizes),
            {"eta": descent.rate, "sum S_i": sizes},
            Assumption(
                "the weights stay in a box", Basis.ENFORCED, boxed, "" if boxed else "the learner was given no box"
            ),
            Assumption(
                f"slopes are at most {1 if steepest is None else steepest:g}",
                Basis.ENFORCED,
                steepest is not None,
                "" if steepest is not None else f"those of the {descent.loss} loss are not",
            ),
        )


class AdaptiveBound(RegretBound):
    """Adaptive descent, with the gradients there were and how far the weights were from those of u."""

    name = "adaptive regret, gradients as they were"
    formula = "sum_i D_i^2 sqrt(delta + G_i) / (2 eta) + eta sum_i sqrt(G_i)"
    citation = BoxBound.citation
    foreseeable = False

    def certify(self, evidence: Any) -> Any:
        descent = evidence.descent
        sizes = float(evidence.gradients.sum())
        return self.applied(
            evidence,
            lambda u: evidence.spread(u) / (2 * descent.rate) + descent.rate * sizes,
            {"eta": descent.rate, "sum sqrt(G_i)": sizes},
        )


class MistakesFromLoss(Theorem):
    """A bound on the loss, divided by the least that a wrong sign costs.

    Each mistake has a loss of at least c, and no loss is below 0: c times the mistakes is at most the total loss. The
    objective of the on-line SVM is C times the hinge loss and more, so there c = C.
    """

    name = "mistakes, from the bound on the loss"
    quantity = "mistakes"
    formula = "(L(u) + regret) / c, c = the least loss of a wrong sign"
    citation = "c = ln 2 for logistic loss, 1 for hinge loss, 1/2 for squared loss"
    beside = True
    foreseeable = False
    #: If one of the bounds on the loss is.
    late = True

    def __init__(self, *on_loss: RegretBound) -> None:
        self.on_loss = on_loss

    @staticmethod
    def bound(loss: Any, cost: Any) -> Any:
        return loss / cost

    def certify(self, evidence: Any) -> Any:
        made = [each for theorem in self.on_loss if (each := theorem.certify(evidence)) is not None]
        applicable = [each for each in made if each.verdict is not Verdict.NOT_APPLICABLE]
        cost = COST_OF_A_WRONG_SIGN.get(evidence.descent.loss)
        costs = Assumption(
            "every wrong sign costs at least c > 0",
            Basis.ENFORCED,
            cost is not None,
            "" if cost is not None else f"a wrong sign may have a {evidence.descent.loss} loss of 0",
        )
        best = min(applicable or made[:1], key=lambda each: math.inf if each.bound is None else each.bound)
        assumptions = (*best.assumptions[len(evidence.assumptions) :], costs)
        if best.bound is None or cost is None:
            return evidence.certificate(self, None, {}, *assumptions)
        theorem = self.as_known(foreseeable=best.theorem.foreseeable)
        cost *= evidence.descent.factor
        shown: Any = {"c": cost, "loss": best.bound, **best.inputs}
        return evidence.certificate(theorem, self.bound(best.bound, cost), shown, *assumptions)


def with_mistakes(*on_loss: RegretBound) -> tuple[Theorem, ...]:
    """The theorems of a learner: these, and what they say about mistakes."""
    return (*on_loss, MistakesFromLoss(*on_loss))
