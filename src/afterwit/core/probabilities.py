"""Probabilities of scores, where the loss is logistic: that of the positive label is 1 / (1 + exp(-s)).

The logistic loss of a score is the log loss of its probability. So a bound on the logistic loss of a learner is one on
the log loss of its probabilities.

>>> logistic(0.0), logistic(-800.0)
(0.5, 0.0)
>>> shares(np.array([[0.0, 0.0], [-1000.0, -1000.0]])).tolist()
[[0.5, 0.5], [0.5, 0.5]]
>>> softmax(np.array([[1000.0, 1000.0, 0.0]])).tolist()
[[0.5, 0.5, 0.0]]
"""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.registry import learner_class, learner_names, options_of

Floats = npt.NDArray[np.float64]

#: From here down exp(s) is the same as 1 / (1 + exp(-s)).
TINY = -700.0


def logistic(score: float) -> float:
    """The probability of the positive label; that of the negative one is ``logistic(-score)``, to the last digit."""
    if score >= 0:
        return 1.0 / (1.0 + exp(-score))
    small = exp(score)
    return small / (1.0 + small)


def pairs(scores: Floats) -> Floats:
    """The probabilities of the negative and the positive label, a row for each score."""
    found = [(logistic(-score), logistic(score)) for score in scores.tolist()]
    return np.array(found, dtype=np.float64).reshape(len(found), 2)


def shares(scores: Floats) -> Floats:
    """For rows of scores, one for each class: the probability of each class by its own score, divided by their sum."""
    found = np.empty(scores.shape)
    for i, row in enumerate(scores.tolist()):
        largest = max(row, default=0.0)
        each = [logistic(score) if largest > TINY else exp(score - largest) for score in row]
        total = sum(each)
        found[i] = [share / total for share in each]
    return found


def softmax(scores: Floats) -> Floats:
    """For rows of scores, one for each class: probabilities that are proportional to the exponentials of the scores.

    Row by row and class by class, so that many rows are exactly one and one and one.
    """
    found = np.empty(scores.shape)
    for i, row in enumerate(scores.tolist()):
        largest = max(row, default=0.0)
        each = [exp(score - largest) for score in row]
        total = sum(each)
        found[i] = [share / total for share in each]
    return found


def refusal(learner: Any) -> NotImplementedError:
    """Why a learner gives no probabilities, and who does. River expects an error of this kind."""
    kinds = {name: learner_class(command) for command, name in learner_names().items()}
    those = sorted(name for name, kind in kinds.items() if options_of(kind).get("loss") == "logistic")
    loss = learner.parameters.get("loss")
    if learner.many_labels:
        return NotImplementedError(
            f"{type(learner).__name__} gives no probabilities: its score is none. Of the learners of many labels, "
            f"SoftmaxAdaGrad, MulticlassStandardize and OneVsRest of {', '.join(those)} give them"
        )
    which = f"{type(learner).__name__} with loss={loss!r}" if loss is not None else type(learner).__name__
    return NotImplementedError(
        f"{which} gives no probabilities: its score is none. Calibrated(learner) makes probabilities of the scores of "
        f"any learner of two labels. With loss='logistic' these learners have them: {', '.join(those)}"
    )
