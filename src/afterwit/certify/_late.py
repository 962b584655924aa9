"""Runs whose labels came late: every row is scored when it was served, and learned when its label came.

Rows are in the order of arrival; ``served[t]`` is how many of them had been learned when row t was served.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify.replay import ROUNDING, Replay, RowProducts, play_again
from afterwit.core.certificate import Assumption, Basis
from afterwit.core.delays import Delays, Moments, delays_of
from afterwit.data.labels import Signs
from afterwit.data.rows import Rows
from afterwit.errors import counted

Floats = npt.NDArray[np.float64]


def replay_late(learner: Any, rows: Rows, signs: Any, served: Moments) -> Replay:
    """Whether X, y are the rounds the learner learned from, served at these moments, and what happened in them."""
    updated = np.zeros(rows.count, dtype=np.int8)
    scores = np.zeros(rows.count)

    def play(fresh: Any) -> bool:
        _play(fresh, rows, signs, served, scores, updated)
        return bool(updated.any())

    same, _ = play_again(learner, rows.count, play, late=True)
    return Replay(same, 1, [np.flatnonzero(updated)], scores)


def delays_in(played: Replay, served: Moments | None) -> Delays | None:
    """How late labels came in a run that was played again; None if none did, or if these were not its rounds."""
    if served is None or not played.same_rounds.holds:
        return None
    updated = np.zeros(len(served))
    updated[np.concatenate(played.updates)] = 1
    return delays_of(served, updated)


def blocks(served: Moments) -> Iterator[tuple[npt.NDArray[np.intp], int, int]]:
    """Rounds in the order of arrival, as blocks that are learned at once: who is served before, and begin and end.

    The rows of a block all came late, or none did; those that came at once are not served before.
    """
    count = len(served)
    late = served < np.arange(count)
    # The late rows in the order in which they were served.
    order = np.flatnonzero(late)[np.argsort(served[late], kind="stable")]
    moments = served[order]
    ends = np.concatenate([np.flatnonzero(late[1:] != late[:-1]) + 1, moments, [count]])
    done = at = 0
    for end in np.unique(ends[ends > 0]).tolist():
        until = int(np.searchsorted(moments, done, side="right"))
        yield order[at:until], done, end
        at, done = until, end


def _play(fresh: Any, rows: Rows, signs: Any, served: Moments, scores: Floats, updated: npt.NDArray[np.int8]) -> None:
    """Let a fresh learner serve and learn these rows; their scores and the rounds with an update."""
    updates = np.zeros(rows.count, dtype=np.int64)
    for due, done, end in blocks(served):
        if len(due):
            scores[due] = fresh._engine_scores(rows.at(due))
            updates[due] = fresh.updates
        part, span = rows.part(done, end), slice(done, end)
        if served[done] < done:
            told = (scores[span].copy(), served[span].copy(), updates[span].copy())
            fresh._learn_late(part, signs[span], told, updated[span])
        else:
            scores[span] = fresh._learn(part, signs[span], updated[span])


class LateRule:
    """Every round multiplied out: whether it was treated as the perceptron's rule says of what was served."""

    def __init__(self, matrix: Any, signs: Signs, served: Moments, margin: float = 0.0) -> None:
        self.matrix, self.signs, self.margin = matrix, signs, margin
        self.order = np.argsort(served, kind="stable")
        self.moments = served[self.order]
        self.at_service = RowProducts(matrix[self.order])

    def suspect(self, updates: npt.NDArray[np.intp]) -> int | None:
        """The first row that was not; the updates were at these rows."""
        count, width = self.matrix.shape
        arriving = RowProducts(self.matrix)
        weights, added = np.zeros(width), np.zeros(width)
        margins, sizes, floors = np.zeros(count), np.zeros(count), np.zeros(count)
        begin = first = 0
        for row in [*updates.tolist(), count]:
            # Between two updates the weights are the same, for who is served and for who is judged by their length.
            end = int(np.searchsorted(self.moments, row, side="right"))
            now = self.order[begin:end]
            margins[now] = self.signs[now] * self.at_service.times(weights, begin, end)
            sizes[now] = self.at_service.times(added, begin, end, absolute=True)
            floors[first : row + 1] = self.margin * math.sqrt(weights @ weights) if self.margin else 0.0
            begin, first = end, row + 1
            if row < count:
                arriving.add(weights, row, self.signs[row])
                arriving.add(added, row, 1, absolute=True)
        updated = np.zeros(count, dtype=bool)
        updated[updates] = True
        wrong = np.where(updated, margins > floors, margins < floors)
        wrong &= np.abs(margins - floors) > ROUNDING * (floors + sizes)
        return int(np.argmax(wrong)) if wrong.any() else None


def follows_the_rule_late(
    matrix: Any, signs: Signs, served: Moments, updates: npt.NDArray[np.intp], margin: float, because: str
) -> Assumption:
    """y_t (w . x_t) <= margin |w_t| at every update, >= elsewhere, for the w by which the row was served."""
    suspect = LateRule(matrix, signs, served, margin).suspect(updates)
    rule, wanted = ("exactly by its margin", "rho/2 |w_t|") if margin else ("exactly on its mistakes", "0")
    statement = f"it updated {rule}: y_t (w . x_t) <= {wanted} there, >= {wanted} elsewhere, with the w that served it"
    detail = f"every round multiplied out, {counted(len(updates), 'update')}"
    if suspect is not None:
        detail = f"row {suspect} was not treated by the rule{because}"
    return Assumption(statement, Basis.OBSERVED, suspect is None, detail)
