"""The steps of gradient learners, computed a second time with numpy from the formulas of their updates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.losses import get
from afterwit.linear._regret import Descent, DescentKind

Floats = npt.NDArray[np.float64]


class PlainSteps:
    """Steps against the gradient. The weights are ``scale`` times ``weights``; ``square`` is their squared length."""

    def __init__(self, descent: Descent, width: int) -> None:
        self.descent = descent
        self.weights = np.zeros(width)
        self.scale = 1.0
        self.square = 0.0
        # For every feature: the sum of its squared gradients, its smallest and its largest weight.
        self.sums, self.lowest, self.highest = np.zeros(width), np.zeros(width), np.zeros(width)
        # The sum of the weights over the rounds, each feature's as far as the last round that had it; and the sum of
        # the scales, now and when that was.
        self.total, self.clock, self.seen = np.zeros(width), 0.0, np.zeros(width)
        # The largest size of a value, and the first that is not 0, where an algorithm depends on them.
        self.largest, self.first = np.zeros(width), np.zeros(width)
        # What money is counted in, where there is money.
        self.unit = 1.0

    def count(self, at: Any) -> None:
        """One more round with the weights as they are; those of these features are about to change."""
        self.clock += self.scale
        self.total[at] += self.weights[at] * (self.clock - self.seen[at])
        self.seen[at] = self.clock

    def mean(self, rounds: int) -> Floats:
        """The average of the weights that were counted."""
        self.count(slice(None))
        self.total -= self.scale * self.weights
        return np.asarray(self.total / rounds)

    def weights_for(self, at: Any, values: Floats) -> Floats:
        """The weights by which an example with these values is scored."""
        weights: Floats = self.scale * self.weights[at]
        return weights

    def penalty(self) -> float:
        """What the objective of a round has besides the loss."""
        return 0.0

    def cut_off(self, slope: float, loss: float) -> float:
        """The slope by which the algorithm learns, of a round with this slope and loss."""
        return slope

    def stands_still(self, margin: float) -> bool:
        """Whether the algorithm takes no step, by its definition."""
        return False

    def squared_gradient(self, slope: float, score: float, length: float) -> float:
        """The squared length of the gradient, for an example of that squared length."""
        return slope * slope * length

    def follow_length(self, rate: float, slope: float, score: float, gradient: float) -> None:
        """What the step makes of the squared length of the weights."""
        self.square += -2 * rate * slope * score + rate * rate * gradient

    def step(self, rate: float, slope: float, at: Any, values: Floats) -> None:
        self.weights[at] -= rate * slope * values / self.scale

    def rescale(self) -> None:
        """Multiply the scale into the weights, and sum their squares anew."""
        self.total += self.weights * (self.clock - self.seen)
        self.clock, self.seen = 0.0, np.zeros(len(self.weights))
        self.weights, self.scale = self.scale * self.weights, 1.0
        self.square = float(self.weights @ self.weights)


class ProjectedSteps(PlainSteps):
    """After each step, to the nearest point of the ball."""

    def step(self, rate: float, slope: float, at: Any, values: Floats) -> None:
        super().step(rate, slope, at, values)
        ball = self.descent.ball
        assert ball is not None
        if self.square > ball**2:
            self.scale *= ball / math.sqrt(self.square)
            self.square = ball**2


class RidgeSteps(PlainSteps):
    """The on-line SVM: the objective has |w|^2/2 in every round, so that all weights shrink."""

    def penalty(self) -> float:
        return self.square / 2

    def stands_still(self, margin: float) -> bool:
        return margin == 1

    def squared_gradient(self, slope: float, score: float, length: float) -> float:
        return slope * slope * length + (self.square + 2 * slope * score)

    def follow_length(self, rate: float, slope: float, score: float, gradient: float) -> None:
        self.square += -2 * rate * (self.square + slope * score) + rate * rate * gradient

    def step(self, rate: float, slope: float, at: Any, values: Floats) -> None:
        self.scale *= 1 - rate
        super().step(rate, slope, at, values)


class AdaptiveSteps(PlainSteps):
    """AdaGrad: a feature's step is divided by the root of the sum of its squared gradients; then into the box."""

    def step(self, rate: float, slope: float, at: Any, values: Floats) -> None:
        delta, box = self.descent.delta, self.descent.box
        self.sums[at] += (slope * values) ** 2
        divisor = np.sqrt(delta + self.sums[at])
        self.weights[at] -= rate * np.divide(slope * values, divisor, out=np.zeros_like(values), where=divisor > 0)
        if box is not None:
            self.weights[at] = np.clip(self.weights[at], -box, box)
        self.lowest[at] = np.minimum(self.lowest[at], self.weights[at])
        self.highest[at] = np.maximum(self.highest[at], self.weights[at])


class ScaleFreeSteps(PlainSteps):
    """ScaleFree: the weight of a feature is a bet with the money it has, on values no larger than the largest."""

    def __init__(self, descent: Descent, width: int) -> None:
        super().__init__(descent, width)
        self.against, self.money = np.zeros(width), np.full(width, descent.rate)

    def weights_for(self, at: Any, values: Floats) -> Floats:
        self.largest[at] = np.maximum(self.largest[at], np.abs(values))
        self.first[at] = np.where(self.first[at] > 0, self.first[at], np.abs(values))
        self.bet(at)
        return super().weights_for(at, values)

    def bet(self, at: Any) -> None:
        span = np.sqrt(self.sums[at] + self.largest[at] ** 2)
        span = np.where(span > 0, span, 1.0)
        self.weights[at] = np.clip(-self.against[at] / span, -1, 1) * self.money[at] / (2 * span)

    def step(self, rate: float, slope: float, at: Any, values: Floats) -> None:
        gradient = slope * values
        self.money[at] -= gradient * self.weights[at]
        self.against[at] += gradient
        self.sums[at] += gradient**2
        self.bet(at)


class CutOffSteps(ScaleFreeSteps):
    """ScaleFreeRegressor: slopes are cut off at the largest before them, or at the largest that the loss can have.

    Values count as much as that makes of them. The first loss that is not 0 is what money is counted in: no bet was
    made before.
    """

    def __init__(self, descent: Descent, width: int) -> None:
        super().__init__(descent, width)
        self.steepest = get(descent.loss).steepest or 0.0
        self.unit = 0.0

    def weights_for(self, at: Any, values: Floats) -> Floats:
        return super().weights_for(at, self.steepest * values)

    def cut_off(self, slope: float, loss: float) -> float:
        kept = math.copysign(min(abs(slope), self.steepest), slope)
        self.steepest = max(self.steepest, abs(slope))
        if self.unit == 0:
            self.unit = loss
            self.money[:] = self.descent.rate * self.unit
        return kept


STEPS: dict[DescentKind, type[PlainSteps]] = {
    DescentKind.PLAIN: PlainSteps,
    DescentKind.PROJECTED: ProjectedSteps,
    DescentKind.RIDGE: RidgeSteps,
    DescentKind.ADAPTIVE: AdaptiveSteps,
    DescentKind.SCALE_FREE: ScaleFreeSteps,
    DescentKind.SCALE_FREE_TARGETS: CutOffSteps,
}
