"""A gradient learner's rounds, computed a second time: block after block, from the formulas of its updates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify._descent_steps import STEPS
from afterwit.certify.replay import ROUNDING, RowProducts
from afterwit.core.delays import Moments
from afterwit.data.losses import get
from afterwit.data.margin_losses import LOSSES, losses, slopes
from afterwit.linear._regret import Descent

Floats = npt.NDArray[np.float64]

#: Below this the scale is multiplied into the weights: scales are summed, and a smaller one would be lost in the sum.
SMALLEST_SCALE = 1e-6


@dataclass(frozen=True)
class Trace:
    """A run computed a second time."""

    #: The first round whose score differs from the learner's; None if there is none.
    differs: int | None
    loss: float
    #: Sums over the rounds: of squared gradients, of rates, of both multiplied.
    squares: float
    rates: float
    weighted_squares: float
    last_rate: float
    #: Rounds at y_t (w_t . x_t) = 1 exactly, where the on-line SVM takes no step.
    standstills: int
    #: For every feature: the root of the sum of its squared gradients, and its smallest and largest weight.
    gradients: Floats
    lowest: Floats
    highest: Floats
    #: The weights after the last round, and their average over the rounds.
    last: Floats
    average: Floats
    #: Of every feature, the largest size of a value, and the first that is not 0.
    largest: Floats
    first: Floats
    #: What money is counted in.
    unit: float = 1.0
    #: What lateness cost: the sum of slope times served score less score at arrival, and the sizes of its terms.
    drift: float = 0.0
    drift_size: float = 0.0


def losses_of(descent: Descent, y: Any, scores: Floats) -> Floats:
    """The losses of many scores, times the factor of the objective."""
    loss = descent.loss
    return np.asarray(descent.factor * (losses(loss, y, scores) if loss in LOSSES else get(loss).values(scores, y)))


def slopes_of(descent: Descent, y: Any, scores: Floats) -> Floats:
    """Their derivatives by the scores."""
    loss = descent.loss
    return np.asarray(descent.factor * (slopes(loss, y, scores) if loss in LOSSES else get(loss).slopes(scores, y)))


class Service:
    """Scores rows by the weights at the moment at which they were served."""

    def __init__(self, steps: Any, matrix: Any, served: Moments) -> None:
        self.steps, self.served = steps, served
        self.order = np.argsort(served, kind="stable")
        self.rows = RowProducts(matrix[self.order])
        self.done = 0
        self.values, self.sizes = np.zeros(len(served)), np.zeros(len(served))

    def scores(self, moment: int, row: int) -> tuple[float, float]:
        """The score of a row when it was served, and the sizes of what was added up. Now it is learned."""
        end = int(np.searchsorted(self.served[self.order[self.done :]], moment, side="right")) + self.done
        if end > self.done:
            now = self.order[self.done : end]
            weights = self.steps.scale * self.steps.weights
            self.values[now] = self.rows.times(weights, self.done, end)
            self.sizes[now] = self.rows.times(np.abs(weights), self.done, end, absolute=True)
            self.done = end
        return float(self.values[row]), float(self.sizes[row])


class Retrace:
    """Computes every round a second time; on which side of a kink a score is, the learner's own score says."""

    def __init__(self, descent: Descent, width: int) -> None:
        self.descent = descent
        self.steps = STEPS[descent.kind](descent, width)
        self.rounds = 0
        self.loss, self.squares, self.rates, self.weighted = 0.0, 0.0, 0.0, 0.0
        self.standstills, self.rate = 0, descent.rate
        self.differs: int | None = None
        self.drift, self.drift_size = 0.0, 0.0

    def follow(self, matrix: Any, y: Any, scores: Floats, served: Moments | None = None) -> Floats:
        """Further rounds, with the scores that the learner gave them; by how much the slope of each was cut off.

        Where labels came late, these are all rounds, and ``served`` says after how many of them each was served.
        """
        service = None if served is None else Service(self.steps, matrix, served)
        descent, steps = self.descent, self.steps
        # Losses of a run that diverges may be larger than any number.
        with np.errstate(over="ignore"):
            all_slopes, all_losses = slopes_of(descent, y, scores), losses_of(descent, y, scores)
        beyond = np.zeros(len(scores))
        sparse = hasattr(matrix, "indptr")
        for row, (score, slope, own_loss) in enumerate(
            zip(scores.tolist(), all_slopes, all_losses.tolist(), strict=True)
        ):
            t = self.rounds
            self.rounds += 1
            at: Any = slice(None)
            if sparse:
                span = slice(matrix.indptr[row], matrix.indptr[row + 1])
                at, values = matrix.indices[span], matrix.data[span]
            else:
                values = matrix[row]
            there = steps.weights_for(at, values)
            steps.count(at)
            expected, size = float(there @ values), float(abs(there) @ abs(values))
            # The score by which the step is taken is that of the service, the weights are those of the arrival.
            here = score
            if service is not None:
                here = expected
                expected, size = service.scores(t, row)
                self.drift += float(slope) * (expected - here)
                self.drift_size += abs(float(slope)) * (size + abs(here))
            if self.differs is None and abs(expected - score) > ROUNDING * size + 1e-300:
                self.differs = t
            if descent.decreasing:
                self.rate = descent.rate / math.sqrt(t + 1)
            self.loss += own_loss + steps.penalty()
            whole, slope = slope, steps.cut_off(slope, own_loss)
            beyond[row] = abs(whole) - abs(slope)
            if steps.stands_still(y[row] * score):
                self.standstills += 1
                continue
            gradient = steps.squared_gradient(slope, here, float(values @ values))
            self.squares += gradient
            self.rates += self.rate
            self.weighted += self.rate * gradient
            steps.follow_length(self.rate, slope, here, gradient)
            steps.step(self.rate, slope, at, values)
            if steps.scale < SMALLEST_SCALE or t % 1000 == 0:
                steps.rescale()
        return beyond

    def trace(self) -> Trace:
        """What came of all rounds."""
        steps = self.steps
        last, average = steps.scale * steps.weights, steps.mean(max(1, self.rounds))
        sums = (self.loss, self.squares, self.rates, self.weighted, self.rate, self.standstills)
        extremes = (steps.lowest, steps.highest)
        met = (steps.largest, steps.first)
        return Trace(
            self.differs,
            *sums,
            np.sqrt(steps.sums),
            *extremes,
            last,
            average,
            *met,
            steps.unit,
            self.drift,
            self.drift_size,
        )
