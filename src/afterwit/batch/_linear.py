"""The weights of linear learners, in the columns of the examples."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.rows import Rows
from afterwit.linear._engine import LinearLearner
from afterwit.linear._multiplicative import MultiplicativeLearner
from afterwit.linear.normalized_adagrad import NormalizedAdaGrad
from afterwit.linear.scale_free import ScaleFree
from afterwit.linear.voted_perceptron import VotedPerceptron
from afterwit.networks.soft_threshold_network import SoftThresholdNetwork

Floats = npt.NDArray[np.float64]


def is_linear(learner: Any) -> bool:
    """Whether its score is w . x, with w its weights, which do not depend on x."""
    others = (VotedPerceptron, SoftThresholdNetwork, ScaleFree, NormalizedAdaGrad)
    return isinstance(learner, LinearLearner) and not isinstance(learner, others)


def has_fresh_weights(learner: Any) -> bool:
    """Whether a feature that it has not met has a weight other than 0."""
    return isinstance(learner, MultiplicativeLearner)


def reserved(learner: Any) -> int:
    """How many weights come before those of the features: one with an intercept."""
    return int(bool(learner.parameters.get("intercept")))


class Columns:
    """Where the weights of a learner that has met these rows stand for the columns of their matrix."""

    def __init__(self, learner: Any, rows: Rows) -> None:
        self.first = reserved(learner)
        self.width = rows.width
        self.places = None
        if rows.names is not None:
            position = {name: j for j, name in enumerate(learner.state()["names"])}
            self.places = np.array([position[name] for name in rows.names], dtype=np.intp)

    def of(self, vector: Floats) -> Floats:
        """Weights by column; 0 where there was none yet."""
        weights = vector[self.first :]
        found = np.zeros(self.width)
        if self.places is None:
            known = min(len(weights), self.width)
            found[:known] = weights[:known]
        else:
            there = self.places < len(weights)
            found[there] = weights[self.places[there]]
        return found

    def back(self, by_column: Floats, length: int) -> Floats:
        """The opposite: a number for every column as weights of that length, without the intercept's."""
        weights = np.zeros(length)
        weights[self.first + (np.arange(self.width) if self.places is None else self.places)] = by_column
        return weights
