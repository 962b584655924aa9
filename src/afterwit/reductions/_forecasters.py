"""Forecasters inside another learner: how regressors, expert algorithms and plain functions read, forecast and learn.

Each takes blocks of rounds: what ``read`` returns has a ``count`` and ``part(begin, end)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.real_targets import RealTargetLearner
from afterwit.core.registry import regressor_class
from afterwit.data.advice import Experts, read_outcomes, read_round, read_rounds
from afterwit.data.checks import is_number
from afterwit.data.rows import Rows, as_mapping, read_many, read_one
from afterwit.data.targets import read_target, read_targets, require_length
from afterwit.errors import InputError, invalid
from afterwit.experts._engine import ExpertLearner
from afterwit.linear._stops import MODERATE
from afterwit.reductions._binary import blank, require_rounds

Floats = npt.NDArray[np.float64]

ALLOWED = (
    "a regressor of this package, its class or its name, an expert algorithm, such as afterwit.MLpol(n_experts), or a "
    "function of x that returns a number"
)
SIZE = f"a number from -{MODERATE:g} to {MODERATE:g}; scale the numbers"


def forecaster_inside(given: Any) -> Regressor | Advised | Function:
    """A fresh forecaster, of what a user gave."""
    if isinstance(given, str):
        given = regressor_class(given, "forecaster")
    if isinstance(given, type):
        try:
            given = given()
        except (TypeError, InputError):
            raise invalid("forecaster", f"{ALLOWED}; a class must need no arguments", given) from None
    if isinstance(given, RealTargetLearner):
        if given.role != "regressor":
            raise invalid("forecaster", ALLOWED, given)
        return Regressor(blank(given))
    if isinstance(given, ExpertLearner):
        if given.kinds:
            raise invalid("forecaster", "one whose forecasts are numbers, not probability vectors", given)
        return Advised(blank(given))
    if not callable(given) or hasattr(given, "learn_one"):
        raise invalid("forecaster", ALLOWED, given)
    return Function(given)


class Regressor:
    """A regressor of this package."""

    takes_advice = False

    def __init__(self, learner: Any) -> None:
        self.learner = learner

    def fresh(self) -> Regressor:
        return Regressor(blank(self.learner))

    def read(self, X: Any) -> Rows:
        rows: Rows = self.learner._read(X)
        return rows

    def read_one(self, x: Any) -> Rows:
        rows: Rows = self.learner._read_one(x)
        return rows

    def checked(self, X: Any, y: Any) -> tuple[Rows, Floats]:
        rows, targets = self.learner._checked(X, y)
        return rows, targets

    def read_outcome(self, y: Any) -> float:
        return read_target(y)

    def predict_one(self, x: Any) -> float:
        return float(self.learner.predict_one(x))

    def predict(self, rows: Rows) -> Floats:
        forecasts: Floats = self.learner.predict_many(rows)
        return forecasts

    def learn_one(self, x: Any, outcome: float) -> float:
        """Forecast and learn one round, or refuse it; then nothing has changed."""
        return float(self.learner.learn_one(x, outcome))

    def learn(self, rows: Rows, outcomes: Floats) -> Floats:
        """The same for a block of rounds: the forecasts, each made before its outcome was used."""
        forecasts: Floats = self.learner._learn(rows, outcomes)
        return forecasts

    # ------------------------------------------------------------------ what it knows

    @property
    def name(self) -> str:
        return type(self.learner).__name__

    def learned_since(self, rounds: int) -> int:
        """How many rounds it has learned after its first so many."""
        return int(self.learner.rounds) - rounds

    def refuse(self, rows: Any, outcomes: Floats) -> None:
        """Refuse rounds of which a part was refused, by their number among all."""

    @property
    def features(self) -> int:
        return int(getattr(self.learner, "features", 0))

    def copy(self) -> Any:
        return self.learner.copy()

    def state(self) -> Any:
        return self.learner.state()

    def check_state(self, state: Any, rounds: int) -> None:
        require_rounds("forecaster", self.learner, state, rounds, rounds)
        self.learner._require_state(state)

    def become(self, state: Any) -> None:
        learner = blank(self.learner)
        learner.restore(state)
        self.learner = learner


@dataclass(frozen=True)
class AdviceRows:
    """Rounds of advice, in the order of the experts."""

    values: Floats
    experts: Experts

    @property
    def count(self) -> int:
        return len(self.values)

    def part(self, begin: int, end: int) -> AdviceRows:
        return AdviceRows(self.values[begin:end], self.experts)

    def require_moderate(self) -> None:
        """Refuse numbers whose squared errors might be none; who sleeps has no number, and infinities others refuse."""
        large = np.isfinite(self.values) & (np.abs(self.values) > MODERATE)
        if large.any():
            i, j = np.argwhere(large)[0].tolist()
            raise invalid(f"advice[{i}, {self.experts.name(j)!r}]", SIZE, float(self.values[i, j]))


class Advised(Regressor):
    """An expert algorithm, whose rows are advice."""

    takes_advice = True

    def __init__(self, learner: Any) -> None:
        super().__init__(learner)
        self._loss = learner._setting().loss
        self._known()

    def _known(self) -> None:
        """Know the experts by the names that the algorithm has learned."""
        self._experts = Experts(len(self.learner.experts), self.learner.state()["names"])

    def fresh(self) -> Advised:
        return Advised(blank(self.learner))

    def read(self, X: Any) -> Any:
        if isinstance(X, AdviceRows):
            return X
        return AdviceRows(*read_rounds(X, self._experts, self.learner.rounds == 0))

    def read_one(self, x: Any) -> Any:
        return AdviceRows(*read_round(x, self._experts, self.learner.rounds == 0))

    def checked(self, X: Any, y: Any) -> tuple[Any, Floats]:
        rows = self.read(X)
        outcomes = read_outcomes(y, rows.count)
        _require_moderate(outcomes, "outcomes")
        self._loss.check_outcomes(outcomes)
        return rows, outcomes

    def read_outcome(self, y: Any) -> float:
        outcome = np.full(1, read_target(y, "outcome"))
        if abs(outcome[0]) > MODERATE:
            raise invalid("outcome", SIZE, y)
        self._loss.check_outcomes(outcome, "outcome")
        return float(outcome[0])

    def predict(self, rows: Any) -> Floats:
        return super().predict(rows.values)

    def learn_one(self, x: Any, outcome: float) -> float:
        return float(self.learn(self.read_one(x), np.full(1, outcome))[0])

    def learn(self, rows: Any, outcomes: Floats) -> Floats:
        return self.learn_with_shares(rows, outcomes)[0]

    def learn_with_shares(self, rows: Any, outcomes: Floats, shares: Any = None) -> tuple[Floats, Floats]:
        """The forecasts and the losses; ``shares`` may be an array to be filled with everyone's share in each round."""
        rows.require_moderate()
        forecasts, lost = self.learner._learn(rows.values, outcomes, rows.experts, shares)
        if rows.count:
            self._experts = rows.experts
        return forecasts, lost

    def refuse(self, rows: Any, outcomes: Floats) -> None:
        # An expert algorithm counts the rows that it is given.
        Advised(self.learner.copy()).learn(rows, outcomes)

    def become(self, state: Any) -> None:
        super().become(state)
        self._known()


class Function:
    """A function of x: it learns nothing. It is given rows as dicts, arrays or sparse rows."""

    takes_advice = False
    features = 0
    learner: Any = None

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def fresh(self) -> Function:
        return self

    def read(self, X: Any) -> Rows:
        rows = read_many(X)
        rows.require_finite()
        return rows

    def read_one(self, x: Any) -> Rows:
        x = as_mapping(x)
        rows = read_many([x]) if isinstance(x, dict) else read_one(x)
        rows.require_finite()
        return rows

    def checked(self, X: Any, y: Any) -> tuple[Rows, Floats]:
        rows = self.read(X)
        targets = read_targets(y, rows.first)
        require_length(targets, rows.count)
        _require_moderate(targets, "y", rows.first)
        return rows, targets

    def read_outcome(self, y: Any) -> float:
        outcome = read_target(y)
        if abs(outcome) > MODERATE:
            raise invalid("y", SIZE, y)
        return outcome

    def predict_one(self, x: Any) -> float:
        return float(self.predict(self.read_one(x))[0])

    def predict(self, rows: Rows) -> Floats:
        forecasts = np.empty(rows.count)
        for i in range(rows.count):
            said = self.function(rows.row(i))
            if not is_number(said) or not abs(said) <= MODERATE:
                raise invalid("what the forecaster returns", SIZE, said)
            forecasts[i] = said
        return forecasts

    def learn_one(self, x: Any, outcome: float) -> float:
        del outcome
        return self.predict_one(x)

    def learn(self, rows: Rows, outcomes: Floats) -> Floats:
        del outcomes
        return self.predict(rows)

    @property
    def name(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def learned_since(self, rounds: int) -> int:
        del rounds
        return 0

    def refuse(self, rows: Any, outcomes: Floats) -> None:
        """What a function raises does not count rows."""

    def copy(self) -> Any:
        return self.function

    def state(self) -> Any:
        return None

    def check_state(self, state: Any, rounds: int) -> None:
        del rounds
        if state is not None:
            raise invalid("forecaster", "None, because a function has no state", state)

    def become(self, state: Any) -> None:
        """A function has no state."""


def _require_moderate(numbers: Floats, parameter: str, first: int = 0) -> None:
    large = np.abs(numbers) > MODERATE
    if large.any():
        at = int(np.argmax(large))
        raise invalid(f"{parameter}[{first + at}]", SIZE, float(numbers[at]))
