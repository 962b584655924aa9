"""The losses that `_newton` minimises: totals, slopes, and what their multipliers prove.

A loss l of the score s lies above each of its tangents: for every multiplier a that is the size of a slope downwards,
l(s) >= h(a) - a s, where h(a) is the least value of l(s) + a s. Of a sign y the score is counted as the margin y s.

    hinge      0 <= a <= 1                   h = a
    logistic   0 <= a <= 1                   h = the entropy of a
    squared    any a                         h = a - a^2/2
    square     any a                         h = a y - a^2/4
    absolute   -1 <= a <= 1                  h = a y
    pinball    q - 1 <= a <= q               h = a y
    huber      -delta <= a <= delta          h = a y - a^2/2

Those with a kink, the hinge, the absolute and the pinball loss, are rounded off over a width.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.losses import get
from afterwit.data.margin_losses import LOSSES, losses

Floats = npt.NDArray[np.float64]


def kind_of_loss(name: str, rows: Any) -> LossOfMargins | LossOfTargets:
    """A loss of the signs or of the real targets of these rows (`ScaledRows`), by its name."""
    return LossOfMargins(name, rows) if name in LOSSES else LossOfTargets(name, rows)


def _softened(arguments: Floats) -> tuple[Floats, Floats]:
    """1 / (1 + exp(x)), and how fast it falls."""
    small = np.exp(-np.abs(arguments))
    return np.where(arguments >= 0, small, 1.0) / (1.0 + small), small / (1.0 + small) ** 2


def _rounding_off(arguments: Floats, width: float) -> float:
    """What is added to a kink of slopes 0 and 1 by rounding it off."""
    return width * float(np.log1p(np.exp(-np.abs(arguments) / width)).sum())


class LossOfMargins:
    """The hinge, the logistic or the squared loss of signed scores."""

    def __init__(self, name: str, rows: Any) -> None:
        self.name, self.signs = name, rows.signs

    def total(self, margins: Floats) -> float:
        return float(losses(self.name, self.signs, self.signs * margins).sum())

    def slopes(self, margins: Floats, width: float) -> tuple[Floats, Floats]:
        """The slopes of the losses, downwards, and how these change."""
        if self.name == "squared":
            return 1.0 - margins, np.ones(len(margins))
        if self.name == "logistic":
            return _softened(margins)
        slopes, bends = _softened((margins - 1.0) / width)
        return slopes, bends / width

    def rounding_off(self, margins: Floats, width: float) -> float:
        """How much rounding off adds to the losses."""
        return _rounding_off(margins - 1.0, width) if self.name == "hinge" else 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest multiplier."""
        return (-math.inf, math.inf) if self.name == "squared" else (0.0, 1.0)

    def proved(self, amounts: Floats) -> float:
        """The sum of h(a)."""
        if self.name == "hinge":
            return float(amounts.sum())
        if self.name == "logistic":
            from scipy.special import entr

            return float(entr(amounts).sum() + entr(1.0 - amounts).sum())
        return float((amounts - amounts**2 / 2).sum())


class LossOfTargets:
    """The square, absolute, pinball or Huber loss of scores under the targets of the rows."""

    def __init__(self, name: str, rows: Any) -> None:
        self.loss, self.targets = get(name), rows.targets
        self.kind = self.loss.kind

    def total(self, scores: Floats) -> float:
        return float(self.loss.values(scores, self.targets).sum())

    def slopes(self, scores: Floats, width: float) -> tuple[Floats, Floats]:
        """The slopes of the losses, downwards, and how these change."""
        rest = self.targets - scores
        if self.kind == "square":
            return 2.0 * rest, np.full(len(rest), 2.0)
        low, high = self.ends
        if self.kind == "huber":
            return np.clip(rest, low, high), (np.abs(rest) <= high).astype(np.float64)
        slopes, bends = _softened(-rest / width)
        return low + (high - low) * slopes, (high - low) / width * bends

    def rounding_off(self, scores: Floats, width: float) -> float:
        """How much rounding off adds to the losses."""
        if self.kind in ("square", "huber"):
            return 0.0
        low, high = self.ends
        return (high - low) * _rounding_off(self.targets - scores, width)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest multiplier."""
        if self.kind == "pinball":
            return self.loss.quantile - 1, self.loss.quantile
        steepest = self.loss.steepest or math.inf
        return -steepest, steepest

    def proved(self, amounts: Floats) -> float:
        """The sum of h(a)."""
        share = {"square": 0.25, "huber": 0.5}.get(self.kind, 0.0)
        return float((amounts * self.targets - share * amounts**2).sum())
