"""The loss of a linear learner and, for real targets, its totals so far, which take the place of mistakes."""

from __future__ import annotations

from typing import Any

import cython

from afterwit.core.real_targets import Totals, checked_totals
from afterwit.data.margin_losses import LOSSES
from afterwit.linear._losses import code_of

if cython.compiled:
    from cython.cimports.afterwit.linear._losses import loss_of_error
    from cython.cimports.afterwit.linear._weights import WeightLearner
else:
    from afterwit.linear._losses import loss_of_error
    from afterwit.linear._weights import WeightLearner


@cython.cclass
class TotalsLearner(WeightLearner):
    """A learner of signs, or of real targets if its loss is one of those."""

    def _begin(self) -> None:
        loss = self._options.get("loss")
        self._real = loss is not None and loss not in LOSSES
        self._loss, self._parameter = (-1, 0.0) if loss is None else code_of(loss)
        self._total_loss = 0.0
        self._squared_errors = 0.0
        WeightLearner._begin(self)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_error(self, error: cython.double) -> cython.void:
        """Add to the totals what a prediction costs that is its target plus the error."""
        self._total_loss += loss_of_error(self._loss, self._parameter, error)
        self._squared_errors += error * error

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_sound(self) -> cython.bint:
        # Each difference is 0, or not a number if the total is infinite or none.
        totals: cython.double = self._total_loss - self._total_loss + (self._squared_errors - self._squared_errors)
        return totals == 0 and WeightLearner.is_sound(self)

    def _totals_so_far(self) -> Totals:
        """What a regressor counts."""
        with self._lock:
            return Totals(self._rounds, self._updates, self._total_loss, self._squared_errors)

    # ------------------------------------------------------------------ copying, comparing, saving

    def _counts(self) -> dict[str, Any]:
        counts = WeightLearner._counts(self)
        if not self._real:
            return counts
        del counts["mistakes"]
        return {**counts, "loss": self._total_loss, "squared_errors": self._squared_errors}

    def _check_counts(self, state: Any) -> None:
        if self._real:
            checked_totals(state)
            state = {**state, "mistakes": 0}
        WeightLearner._check_counts(self, state)

    def _become(self, state: Any) -> None:
        if self._real:
            self._total_loss = state["loss"]
            self._squared_errors = state["squared_errors"]
            state = {**state, "mistakes": 0}
        WeightLearner._become(self, state)
