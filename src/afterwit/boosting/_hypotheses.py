"""The hypotheses of a vote: making them, asking them, counting their votes."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from afterwit.boosting.decision_stump import DecisionStump
from afterwit.data.labels import Signs
from afterwit.errors import Words, invalid

#: How many votes are counted at a time.
BLOCK = 2**20


def predicted_signs(hypothesis: Any, matrix: Any) -> Signs:
    """What a hypothesis that was taught -1 and +1 says about every row."""
    if type(hypothesis) is DecisionStump:
        return hypothesis.signs(matrix.toarray() if hasattr(matrix, "tocsr") else matrix)
    predicted = np.asarray(hypothesis.predict(matrix))
    if predicted.shape != (matrix.shape[0],) or not np.isin(predicted, (-1, 1)).all():
        shown = Words(f"an array of shape {predicted.shape} with {predicted.ravel()[:3]}")
        raise invalid("what weak_learner predicts", "-1 or +1 for every row", shown)
    return predicted.astype(np.int8)


def votes_of_stumps(stumps: list[DecisionStump], matrix: Any) -> Any:
    """All votes at once: each different stump is looked at once, as often as it was chosen it counts."""
    counted: dict[tuple[int, float], int] = {}
    always = 0
    for stump in stumps:
        feature, threshold, sign = stump.state()["stump"]
        if feature < 0:
            always += sign
        else:
            counted[feature, threshold] = counted.get((feature, threshold), 0) + sign
    matrix = matrix.toarray() if hasattr(matrix, "tocsr") else matrix
    features = np.array([feature for feature, _ in counted], dtype=np.intp)
    thresholds = np.array([threshold for _, threshold in counted])
    counts = np.array(list(counted.values()), dtype=np.float64)
    votes = np.full(matrix.shape[0], float(always))
    step = max(1, BLOCK // max(1, len(counts)))
    for begin in range(0, matrix.shape[0], step):
        above = matrix[begin : begin + step, features] > thresholds
        # Whole numbers, of which float64 has enough: the sums are exact.
        votes[begin : begin + step] += 2 * (above @ counts) - counts.sum()
    return votes.astype(np.int64)


def checked_weak_learner(parameter: str, learner: Any) -> Any:
    """A weak learner as it was given, if it can be taught with weights; a decision stump if none was given."""
    if learner is None:
        return DecisionStump()
    from sklearn.utils.validation import has_fit_parameter

    able = hasattr(learner, "fit") and (type(learner) is DecisionStump or hasattr(learner, "predict"))
    if isinstance(learner, type) or not able or not has_fit_parameter(learner, "sample_weight"):
        raise invalid(parameter, "a DecisionStump or a classifier whose fit takes sample_weight", learner)
    return learner


def fresh(learner: Any) -> Any:
    """A copy that has learned nothing."""
    if hasattr(learner, "get_params"):
        from sklearn.base import clone

        return clone(learner)
    return copy.deepcopy(learner)
