"""Repeat the last label: predict what was true a moment ago.

Setting     any examples, which it does not look at; y_t in {-1, +1}; predict y_{t-1}, and +1 in the first round.
Update      remember y_t.
Guarantee   on any sequence: mistakes = the number of rounds t > 1 with y_t != y_{t-1}, and one more if y_1 = -1. So at
            most the number of changes of the label plus 1, and that is tight.
Assumes     nothing.
Use         as the yardstick that every learner on an ordered stream should beat, and where labels come in runs (prices,
            weather, machines that work or do not) as a member of a `Committee`.
Source      the count above.

>>> learner = RepeatLastLabel(labels=("down", "up"))
>>> [learner.learn_one({}, label) for label in ("down", "down", "up", "up", "up", "down")]
['up', 'down', 'down', 'up', 'up', 'up']
>>> learner.rounds, learner.mistakes, learner.changes
(6, 3, 2)
>>> learner.predict_one({"anything": 1.0})
'down'
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import certify
from afterwit.core.declared import LABELS, Kept
from afterwit.core.theorem import Theorem
from afterwit.data._arrays import finite_row
from afterwit.data.rows import as_mapping, number
from afterwit.errors import Words, invalid

if cython.compiled:
    from cython.cimports.afterwit.core.learner import BinaryLearner
else:
    from afterwit.core.learner import BinaryLearner


class ChangesBound(Theorem):
    """Any sequence: a mistake is a change of the label, or the first round."""

    name = "changes bound"
    statement = "mistakes <= 1 + the number of rounds whose label is not that of the round before"
    citation = "the count of its mistakes; see RepeatLastLabel"
    quantity = "mistakes"

    @staticmethod
    def bound(changes: Any) -> Any:
        return 1 + changes

    def certify(self, evidence: Any) -> Any:
        return evidence.certificate(self, self.bound(evidence.changes), {"changes": evidence.changes})


@cython.cclass
class RepeatLastLabel(BinaryLearner):
    """The learner that repeats the last label. Examples are checked as all learners check them, and not looked at.

    labels  the negative and the positive label
    """

    #: The sign of the last label; 0 before there is one.
    _last = cython.declare(cython.int, visibility="public")
    #: Whether features go by "names" or by "positions", once these are learned.
    _space = cython.declare(object, visibility="public")

    theorems = (ChangesBound(),)
    checker = "repeat_last_label"
    learns_what_it_predicts = True
    options = (LABELS,)
    kept = (Kept("last"), Kept("space"))

    def _begin(self) -> None:
        BinaryLearner._begin(self)
        self._last = 0
        self._space = None

    def _learn(self, rows: Any, signs: Any, updated: Any = None) -> Any:
        rows.require_finite()
        with self._lock:
            space = self._joined(rows.names is not None, rows.width)
            before = np.concatenate(([self._last], signs[:-1])).astype(np.float64) if rows.count else np.empty(0)
            changed = before != signs
            if updated is not None:
                updated[:] = changed
            if rows.count:
                self._space = space
                self._last = int(signs[-1])
                self._rounds += rows.count
                self._updates += int(np.count_nonzero(changed))
                self._mistakes += int(np.count_nonzero((before >= 0) != (signs > 0)))
        return before

    def score_many(self, X: Any) -> Any:
        """The last label for every row of X: -1.0 or 1.0, and 0.0 before there is one."""
        rows = self._read(X)
        rows.require_finite()
        with self._lock:
            self._joined(rows.names is not None, rows.width)
            return np.full(rows.count, float(self._last))

    def score_one(self, x: Any) -> float:
        x = as_mapping(x)
        named: cython.bint = isinstance(x, dict)
        row = _finite_dict(x) if named else finite_row(x)
        if row is None:
            return self.score_many(self._read_one(x)).item()
        with self._lock:
            self._joined(named, len(row))
            return float(self._last)

    def learn_one(self, x: Any, y: Any) -> Any:
        """Predict the last label, count the round and the mistake, remember y. Returns the prediction."""
        sign: cython.int = self._sign(y)
        score: cython.double
        x = as_mapping(x)
        named: cython.bint = isinstance(x, dict)
        row = _finite_dict(x) if named else finite_row(x)
        if row is None:
            score = self._learn(self._read_one(x), np.full(1, sign, dtype=np.int8))[0]
        else:
            with self._lock:
                self._space = self._joined(named, len(row))
                score = self._last
                self._last = sign
                self._rounds += 1
                self._updates += score != sign
                self._mistakes += (score >= 0) != (sign > 0)
        if self._undecided:
            self._decide([y])
        return self._labels.positive if score >= 0 else self._labels.negative

    def _joined(self, named: bool, width: int) -> Any:
        """Whether features go by names or by positions, once these are learned: the two do not mix."""
        if not named and width == 0:
            return self._space
        space = "names" if named else "positions"
        if self._space is not None and self._space != space:
            raise invalid("x", f"with features by {self._space[:-1]}, as in the rounds before", Words(space))
        return space

    # ------------------------------------------------------------------ what it knows

    @property
    def changes(self) -> int:
        """How often the label was not that of the round before."""
        # The first round brings a label where there was none.
        return max(0, self._updates - 1)

    def certificate(self, X: Any = None, y: Any = None) -> Any:
        """What was promised and what happened; the changes are its own count, or counted again in the labels y.

        X and y are the examples the learner learned from, in order (once for each pass).
        """
        if (X is None) != (y is None):
            raise invalid("y", "given together with X", y)
        return certify(self, *(() if X is None else self._checked(X, y)))

    # ------------------------------------------------------------------ copying, comparing, saving

    def _check_state(self, state: Any) -> None:
        if type(state["last"]) is not int or state["last"] not in (-1, 0, 1):
            raise invalid("last", "-1, 0 or 1", state["last"])
        if (state["last"] == 0) != (state["rounds"] == 0):
            raise invalid("last", "0 exactly before the first round", state["last"])
        if state["space"] not in (None, "names", "positions"):
            raise invalid("space", "None, 'names' or 'positions'", state["space"])


def _finite_dict(x: dict[Any, Any]) -> dict[Any, Any]:
    """The dict, whose values are checked to be finite numbers."""
    for name, value in x.items():
        # The difference is not a number for infinity, nor for what is none.
        if type(value) is not float or value - value != 0:
            found = number(f"x[{name!r}]", value)
            if found - found != 0:
                raise invalid(f"x[{name!r}]", "a finite number", value)
    return x
