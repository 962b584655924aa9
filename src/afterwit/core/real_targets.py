"""What every regressor shares: targets, one round and many, totals of its errors, certificates.

A learner derived from `RealTargetLearner` says how to learn rows (``_learn``) and how to predict them
(``predict_many``), and keeps the `Totals` of its rounds, or has them elsewhere and says where (``_totals_so_far``).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from afterwit.core import late
from afterwit.core.certificate import Certificate, require_theorems
from afterwit.core.delays import certified, require_served
from afterwit.core.learner import Storable
from afterwit.core.sources import certify_source
from afterwit.core.turns import Lock
from afterwit.data.checks import FLOAT_MAX
from afterwit.data.rows import Rows, as_mapping, read_many, read_one
from afterwit.data.targets import Targets, read_target, read_targets, require_length
from afterwit.errors import counted, invalid


@dataclass
class Totals:
    """What a regressor counts: rounds, those that changed it, its losses and its squared errors, summed up in order."""

    rounds: int = 0
    updates: int = 0
    loss: float = 0.0
    squared_errors: float = 0.0

    def add(self, loss: float, error: float, updated: bool = True) -> None:
        """One more round; the error is the prediction less the target."""
        self.rounds += 1
        self.updates += updated
        self.loss += loss
        self.squared_errors += error * error

    @property
    def rmse(self) -> float:
        return math.sqrt(self.squared_errors / self.rounds) if self.rounds else 0.0

    def state(self) -> dict[str, Any]:
        """What is saved of them."""
        return asdict(self)


def checked_totals(state: Any) -> Totals:
    """The totals of a saved state; refused if they are none."""
    counts = [state.get(name) for name in ("rounds", "updates")]
    if any(type(count) is not int or not 0 <= count <= counts[0] < 2**62 for count in counts):
        raise invalid("rounds and updates", "counts, updates not above rounds", counts)
    sums = [state.get(name) for name in ("loss", "squared_errors")]
    if any(type(total) is not float or not 0 <= total <= FLOAT_MAX for total in sums):
        raise invalid("loss and squared_errors", "finite numbers that are not negative", sums)
    return Totals(*counts, *sums)


class RealTargetLearner(Storable):
    """A learner that predicts a number, its target, and learns from what the target was."""

    role = "regressor"
    takes = "numbers"
    many_labels = False
    #: ``learn_many`` takes whatever block of rows a stream hands over, and returns the predictions.
    learns_blocks = True

    serve_one = late.serve_one
    serve_many = late.serve_many
    learn_late = late.learn_late
    learn_late_many = late.learn_late_many
    #: What a label that comes late finds, see `afterwit.core.late`.
    late = "arrival"
    #: A feature of value 0 is the same as one that is absent.
    zero_is_absent = True

    def _begin(self) -> None:
        self._lock = Lock(reentrant=True)
        self._totals = Totals()

    # ------------------------------------------------------------------ what a learner defines

    def _learn(self, rows: Rows, targets: Targets) -> Targets:
        """Learn rows in order; the predictions, made before each target was used. Counts the rounds."""
        raise NotImplementedError

    def predict_many(self, X: Any) -> Targets:
        """``predict_one`` for every row of X, as an array."""
        raise NotImplementedError

    def _read(self, X: Any) -> Rows:
        """Many examples, checked."""
        rows = read_many(X)
        rows.require_finite()
        return rows

    def _read_one(self, x: Any) -> Rows:
        """One example in the same form."""
        x = as_mapping(x)
        rows = replace(read_many([x]), single=True) if isinstance(x, dict) else read_one(x)
        rows.require_finite()
        return rows

    # ------------------------------------------------------------------ rounds

    def predict_one(self, x: Any) -> float:
        """What the learner would predict for x now. Nothing changes."""
        return float(self.predict_many(self._read_one(x))[0])

    def learn_one(self, x: Any, y: Any) -> float:
        """Predict x, count the round and its error, then learn from y. Returns the prediction."""
        target = np.full(1, read_target(y))
        return float(self._learn(self._read_one(x), target)[0])

    def learn_many(self, X: Any, y: Any) -> Targets:
        """``learn_one`` for every row in order. Returns the predictions made before each target was seen."""
        return self._learn(*self._checked(X, y))

    def _checked(self, X: Any, y: Any) -> tuple[Rows, Targets]:
        rows = self._read(X)
        targets = read_targets(y, rows.first)
        require_length(targets, rows.count)
        return rows, targets

    # ------------------------------------------------------------------ what it knows

    def _totals_so_far(self) -> Totals:
        return self._totals

    @property
    def rounds(self) -> int:
        """How many examples it has learned from."""
        return self._totals_so_far().rounds

    @property
    def updates(self) -> int:
        """In how many rounds it changed what it has learned."""
        return self._totals_so_far().updates

    @property
    def loss(self) -> float:
        """The total of its own loss, over the predictions it made before it saw the targets."""
        return self._totals_so_far().loss

    @property
    def squared_errors(self) -> float:
        """The total of the squared errors of these predictions."""
        return self._totals_so_far().squared_errors

    @property
    def rmse(self) -> float:
        """The root of the mean squared error of these predictions; 0 before the first round."""
        return self._totals_so_far().rmse

    @property
    def mistakes(self) -> int:
        raise NotImplementedError(
            f"{type(self).__name__} predicts numbers: it has no mistakes, but errors; see loss and rmse"
        )

    def _progress(self) -> str:
        return f"{counted(self.rounds, 'round')}, RMSE {self.rmse:.4g}"

    def predict_proba_one(self, x: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} predicts numbers, not labels: it gives no probabilities")

    def predict_proba_many(self, X: Any) -> Any:
        return self.predict_proba_one(X)

    # ------------------------------------------------------------------ certificates

    #: How late targets were, as counts by name; None if none was late, or if it does not decide by what it served.
    delays: Any = None

    def certificate(self, X: Any, y: Any = None, comparator: Any = None, served: Any = None) -> Certificate:
        """What was promised, what happened and what hindsight would have given, on the rounds X, y.

        X and y are the examples the learner learned from, in order (once for each pass); or X alone is a stream or a
        libsvm file of them, which is read a few times if it is large. Every theorem of the algorithm is evaluated, the
        tightest that applies comes first. Comparators are found in hindsight unless one is given, as an array or a dict
        of weights.

        Where targets came late, the order is that in which they were learned, and ``served`` has for each example how
        many rounds had been learned when it was served.
        """
        require_served(self, y, served)
        if y is None:
            return certify_source(self, X, comparator)
        require_theorems(self)
        rows, targets = self._checked(X, y)
        rows.require_finite()
        return certified(self, rows, targets, comparator, served)

    # ------------------------------------------------------------------ copying, comparing, saving

    def state(self) -> dict[str, Any]:
        with self._lock:
            return self._state()

    def restore(self, state: Any) -> None:
        self._require_state(state)
        with self._lock:
            self._become(state)

    def _state(self) -> dict[str, Any]:
        return {**self._totals.state(), **self._kept_state()}

    def _check_counts(self, state: Any) -> None:
        checked_totals(state)

    def _become(self, state: Any) -> None:
        self._totals = checked_totals(state)
        Storable._become(self, state)
