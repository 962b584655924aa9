"""What the theorems of expert algorithms share, and what a checker needs to know of how an algorithm plays.

A theorem gives a bound on the regret to every expert; the certificate shows it beside the regret that was. With the
gradient trick the bound covers every fixed mixture of the experts as well.

Losses in the formulas are between 0 and 1: a certificate multiplies by the width of the declared range.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Assumption, Certificate
from afterwit.core.theorem import Input, Theorem
from afterwit.data.losses import Loss
from afterwit.data.quantities import COUNT, HALF_TO_ONE

Floats = npt.NDArray[np.float64]

UNIT = "losses are between 0 and 1"
CONVEX = "the loss is convex in the prediction, and between 0 and 1"
MOHRI = "Mohri et al. 2018"
EXPERT_COUNT = Input("experts", "N", "how many experts", COUNT)
BETA = Input("beta", "beta", "the factor by which a wrong expert's weight shrinks", HALF_TO_ONE)


class Way(StrEnum):
    """How an algorithm comes to its forecast, and which loss it counts as its own."""

    #: The mean of the advice by the shares; the loss of that forecast.
    MEAN = "mean"
    #: The advice of one expert drawn by the shares; the loss to be expected of that.
    EXPECTED = "expected"
    #: The same; the loss of the one that was drawn.
    DRAWN = "drawn"
    #: The label with the largest share behind it; the loss of that forecast.
    VOTE = "vote"
    #: The forecast that loses at most what the experts' losses say, mixed as exponents; the loss of that.
    SUBSTITUTION = "substitution"


@dataclass(frozen=True)
class Setting:
    """How an expert algorithm plays, as a checker needs to know it."""

    loss: Loss
    way: Way
    #: It learns from slopes.
    gradient: bool
    #: Losses (slopes, if it learns from these) are known to be from low to low + width.
    ranged: bool
    low: float
    width: float
    seed: int
    #: The interval of outcomes and forecasts, for the aggregating algorithm under the square loss.
    interval: tuple[float, float] = (0.0, 1.0)

    @property
    def bounded(self) -> bool:
        """Whether the losses themselves have a declared range."""
        return self.ranged and not self.gradient


def ln(x: Any) -> Any:
    """The natural logarithm; of a single number with Python's rounding, which certificates have always had."""
    if np.ndim(x) == 0:
        return math.log(x) if x > 0 else -math.inf
    with np.errstate(divide="ignore"):
        return np.log(x)


def ratio(x: Any, y: Any) -> Any:
    """x / y, and 0 where both are 0: a single expert is followed at any rate."""
    if np.ndim(x) == np.ndim(y) == 0:
        return x / y if y else 0.0
    return np.divide(x, y, out=np.zeros(np.broadcast(x, y).shape), where=np.asarray(y) != 0)


class OnAverage(Theorem):
    """A bound on what is expected of a learner that follows one expert by chance.

    Where the learner counts the expected loss itself, the bound on that holds for certain: then there is no chance.
    """

    chance = "on average over the learner's own draws"

    def __init__(self, expected_is_counted: bool = False) -> None:
        if expected_is_counted:
            self.chance = ""


class RegretTheorem(Theorem):
    """A bound on the regret to every expert, the same for all or one for each."""

    quantity = "regret"

    @abstractmethod
    def regret_bound(self, evidence: Any) -> tuple[float | Floats, dict[str, float | str]] | None:
        """The bound in the unit of the losses, and what it was computed from; None if it is not about such a run."""

    def in_run(self, evidence: Any) -> Theorem:
        """The theorem as it is about this run: what it says of when its bound is known may depend on the run."""
        del evidence
        return self

    def further(self, evidence: Any) -> tuple[Assumption, ...]:
        """What this theorem needs beyond what all of them do."""
        return ()

    def certify(self, evidence: Any) -> Certificate | None:
        found = self.regret_bound(evidence)
        if found is None:
            return None
        bounds = np.broadcast_to(np.asarray(found[0], dtype=np.float64), evidence.n)
        if evidence.rival is not None:
            # The regret to a mixture is at most the mean of the bounds of its experts.
            bound = bounds.max()
        else:
            evidence = evidence.against_one(self, evidence.regrets, bounds)
            bound = bounds[evidence.expert]
        made: Certificate = evidence.certificate(self.in_run(evidence), float(bound), found[1], *self.further(evidence))
        return made
