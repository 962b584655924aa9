"""Linear regressors: what a user sees, around the weights and the update of a linear learner.

The prediction is the score w . x itself. The compiled learner that a class names learns with a loss of real targets
where the classifier of the same name has one of signs: what both share, the update, is written once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.core import late
from afterwit.core.declared import LABELS, Option
from afterwit.core.real_targets import RealTargetLearner, Totals
from afterwit.data.checks import flag
from afterwit.data.labels import PLAIN
from afterwit.data.losses import for_targets
from afterwit.data.rows import Rows, read_many
from afterwit.data.targets import Targets, read_target, read_targets

#: What every linear regressor takes.
LOSS = Option("loss", "square", for_targets)
INTERCEPT = Option("intercept", True, flag)


def with_labels(options: tuple[Option, ...]) -> Any:
    """The options of the compiled learner, which has labels that nobody sees."""
    return (*options, LABELS)


class LinearRegressor(RealTargetLearner):
    """Predicts w . x. Algorithms derive from it and name the kind of `LinearLearner` that learns."""

    checker = "descent"
    _learns_by: Any = None

    def _begin(self) -> None:
        RealTargetLearner._begin(self)
        self._engine = type(self)._learns_by(**self._options, labels=PLAIN)

    # ------------------------------------------------------------------ rounds

    def predict_one(self, x: Any) -> float:
        return float(self._engine.score_one(x))

    def learn_one(self, x: Any, y: Any) -> float:
        return float(self._engine._learn_target_of(x, y if type(y) is float and y - y == 0 else read_target(y)))

    def serve_one(self, x: Any) -> Any:
        """The prediction for x, and a ticket for ``learn_late``, which is plain data. Nothing changes."""
        if self.late == "arrival":
            return late.serve_one(self, x)
        _, ticket = self._engine.serve_one(x)
        return ticket["score"], ticket

    def serve_many(self, X: Any) -> Any:
        """``serve_one`` for every row of X: the predictions as an array, and a list of tickets."""
        if self.late == "arrival":
            return late.serve_many(self, X)
        _, tickets = self._engine.serve_many(X)
        return np.array([ticket["score"] for ticket in tickets]), tickets

    def learn_late(self, ticket: Any, y: Any) -> Any:
        """Learn the example of a ticket, whose target has come. Returns the prediction that was served."""
        if self.late == "arrival":
            return late.learn_late(self, ticket, y)
        target = np.full(1, read_target(y))
        rows, served = self._engine._tickets([ticket], ["ticket"])
        return float(self._learn_late(rows, target, served)[0])

    def learn_late_many(self, tickets: Any, y: Any) -> Any:
        """``learn_late`` for every ticket in order. Returns the predictions that were served."""
        if self.late == "arrival":
            return late.learn_late_many(self, tickets, y)
        tickets, targets = list(tickets), read_targets(y)
        late.require_as_many(targets, tickets)
        if not tickets:
            return np.empty(0)
        rows, served = self._engine._tickets(tickets, late.places(tickets))
        return self._learn_late(rows, targets, served)

    def _learn_late(self, rows: Rows, targets: Targets, served: Any, updated: Any = None) -> Targets:
        predictions: Targets = self._engine._learn_late(rows, targets, served, updated)
        return predictions

    @property
    def delays(self) -> Any:
        """How late targets were, as counts by name; None if none was, or if it does not learn by what it served."""
        return self._engine.delays

    def predict_many(self, X: Any) -> Targets:
        predictions: Targets = self._engine.score_many(X)
        return predictions

    def _read(self, X: Any) -> Rows:
        # That values are finite the compiled learner looks at.
        return read_many(X)

    def _learn(self, rows: Rows, targets: Targets, updated: Any = None) -> Targets:
        predictions: Targets = self._engine._learn(rows, targets, updated)
        return predictions

    # ------------------------------------------------------------------ what it knows

    def _totals_so_far(self) -> Totals:
        totals: Totals = self._engine._totals_so_far()
        return totals

    @property
    def features(self) -> int:
        """How many features it has weights for."""
        return int(self._engine.features)

    @property
    def weights(self) -> Any:
        """A copy of w: a dict by name if it learned names, an array by position if it learned positions."""
        return self._engine.weights

    @property
    def intercept_weight(self) -> float:
        """The weight of the constant feature; 0 without an intercept."""
        return float(self._engine.intercept_weight)

    # ------------------------------------------------------------------ what its checker needs

    @property
    def _rests(self) -> bool:
        return bool(self._engine._rests)

    def _engine_scores(self, rows: Rows) -> Targets:
        return self.predict_many(rows)

    def _vector(self) -> Any:
        return self._engine._vector()

    def _descent(self) -> Any:
        return self._engine._descent()

    # ------------------------------------------------------------------ copying, comparing, saving

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = self._engine.state()
        return state

    def _check_counts(self, state: Any) -> None:
        self._engine._check_counts(state)

    def _check_state(self, state: Any) -> None:
        self._engine._check_state(state)

    def _become(self, state: Any) -> None:
        self._engine.restore(state)
