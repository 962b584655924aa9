"""Repeat the last target: predict the number that was true a moment ago.

Setting     any examples, which it does not look at; y_t a number; predict y_{t-1}, and 0 in the first round; the loss
            is the square of the error.
Update      remember y_t.
Guarantee   on any sequence: the loss is the sum of (y_t - y_{t-1})^2, with y_0 = 0.
Assumes     nothing.
Use         as the yardstick that every regressor on an ordered stream should beat, and where targets change slowly
            (prices, weather, polls) as a member of a `RegressionCommittee`.
Source      the sum above.

>>> learner = RepeatLastTarget()
>>> [learner.learn_one({}, temperature) for temperature in (12.0, 13.0, 13.5, 11.0)]
[0.0, 12.0, 13.0, 13.5]
>>> learner.loss, learner.predict_one({"anything": 1.0})
(151.5, 11.0)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.core.declared import Kept, Number
from afterwit.core.real_targets import RealTargetLearner
from afterwit.core.theorem import Theorem
from afterwit.data.rows import Rows
from afterwit.data.targets import Targets
from afterwit.errors import DivergenceError, Words, invalid


class SquaredChangesBound(Theorem):
    """Any sequence: an error is a change of the target."""

    name = "squared changes"
    statement = "loss <= sum over the rounds of (y_t - y_{t-1})^2, y_0 = 0"
    citation = "the sum of its losses; see RepeatLastTarget"
    quantity = "loss"

    @staticmethod
    def bound(changes: Any) -> Any:
        return changes

    def certify(self, evidence: Any) -> Any:
        return evidence.certificate(self, self.bound(evidence.changes), {"changes": evidence.changes})


class RepeatLastTarget(RealTargetLearner):
    """The regressor that repeats the last target. Examples are checked as all learners check them, and not looked at.

    It has no options.
    """

    theorems = (SquaredChangesBound(),)
    checker = "repeat_last_target"
    kept = (Number("last"), Kept("space"))

    def _begin(self) -> None:
        RealTargetLearner._begin(self)
        self._last = 0.0
        #: Whether features go by "names" or by "positions", once these are learned.
        self._space: str | None = None

    def predict_many(self, X: Any) -> Targets:
        rows = self._read(X)
        with self._lock:
            self._joined(rows)
            return np.full(rows.count, self._last)

    def _learn(self, rows: Rows, targets: Targets) -> Targets:
        with self._lock:
            space = self._joined(rows)
            predictions = np.concatenate([[self._last], targets[:-1]]) if rows.count else np.empty(0)
            with np.errstate(over="ignore"):
                squares = (predictions - targets) ** 2
            for i, square in enumerate(squares.tolist()):
                if not np.isfinite(self._totals.loss + square):
                    raise DivergenceError(
                        f"round {self.rounds + 1:,} would make a squared error of RepeatLastTarget infinite; scale the "
                        "targets"
                    )
                self._totals.add(square, float(predictions[i] - targets[i]), bool(square))
                self._last, self._space = float(targets[i]), space
            return predictions

    def _joined(self, rows: Rows) -> str | None:
        """Whether features go by names or by positions, once these are learned: the two do not mix."""
        named = rows.names is not None
        if not named and rows.width == 0:
            return self._space
        space = "names" if named else "positions"
        if self._space is not None and self._space != space:
            raise invalid("x", f"with features by {self._space[:-1]}, as in the rounds before", Words(space))
        return space

    def _check_state(self, state: Any) -> None:
        RealTargetLearner._check_state(self, state)
        if state["space"] not in (None, "names", "positions"):
            raise invalid("space", "None, 'names' or 'positions'", state["space"])
        if state["rounds"] == 0 and state["last"] != 0:
            raise invalid("last", "0 before the first round", state["last"])
