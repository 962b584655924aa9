"""Standardize: every feature less its mean, divided by its standard deviation, before another learner sees it.

Setting     rows x_t and labels in {-1, +1}; any learner of two labels for rows of numbers.
Update      m_{t,i} and s_{t,i} are the mean and the standard deviation of feature i over rounds 1 to t, where it counts
            as 0 if it is absent. The learner is given z_{t,i} = (x_{t,i} - m_{t,i}) / s_{t,i}, 0 if s_{t,i} is 0, for
            the features that are present; the label plays no part. Absent features stay absent: a sparse row stays
            sparse, and its zeros are not shifted. In an array and in a dict a 0 is a value like any other.
Guarantee   that of the learner, on the rows z_1, z_2, ...: these do not depend on what it does.
Assumes     what the learner's theorem assumes.
Source      running means and sums of squares as in Welford 1962.

>>> learner = Standardize("perceptron")
>>> for height, label in ((1.81, 1), (1.62, -1), (1.75, 1), (1.60, -1)):
...     same = learner.learn_one({"height": height}, label)
>>> learner.means, learner.mistakes
({'height': 1.695}, 1)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import certify
from afterwit.core.declared import LABELS, Option
from afterwit.core.registry import learner_class
from afterwit.core.sources import certify_source
from afterwit.core.turns import Rounds
from afterwit.data.labels import labels_of
from afterwit.data.rows import Rows, read_examples, read_many
from afterwit.errors import invalid
from afterwit.linear._engine import LinearLearner
from afterwit.linear.adagrad import AdaGrad
from afterwit.reductions._binary import (
    blank,
    fresh,
    is_steady,
    make_ready,
    one_row,
    reads_rows,
    require_rounds,
)
from afterwit.reductions._moments import Moments

if cython.compiled:
    from cython.cimports.afterwit.core.learner import BinaryLearner
else:
    from afterwit.core.learner import BinaryLearner

ALLOWED = (
    "a learner of two labels for rows of numbers, its class or its name (of a committee, standardize the members; for "
    "many labels there is MulticlassStandardize)"
)


@cython.cclass
class Standardize(BinaryLearner):
    """A learner behind running means and standard deviations.

    learner    the learner: an instance, which is never changed, a class, or a name such as "adagrad". If not given,
               AdaGrad
    labels     the negative and the positive label
    """

    _inner: cython.object
    _moments: cython.object

    checker = "standardize"
    zero_is_absent = False
    options = (Option("learner", None), LABELS)

    def _begin(self) -> None:
        BinaryLearner._begin(self)
        given = self._options["learner"]
        if isinstance(given, str):
            given = learner_class(given)
        base = AdaGrad() if given is None else fresh("learner", given, (-1, 1), ("score_one",), ALLOWED)
        if not isinstance(base, BinaryLearner) or not reads_rows(base):
            raise invalid("learner", ALLOWED, given)
        if self._options["learner"] is not None:
            self._options["learner"] = base
        self._inner = blank(base)
        self._moments = Moments()

    # ------------------------------------------------------------------ rows

    def _read(self, X: Any) -> Any:
        return finite_rows(X)

    def _read_one(self, x: Any) -> Any:
        return finite_rows(one_row(x))

    # ------------------------------------------------------------------ rounds

    def score_many(self, X: Any) -> Any:
        """``score_one`` for every row of X, each as if it came next, as an array."""
        rows = X if isinstance(X, Rows) else self._read(X)
        with self._lock:
            return self._inner.score_many(replace(rows, values=self._moments.standardized(rows)))

    def _learn(self, rows: Any, signs: Any, updated: Any = None) -> Any:
        """Learn rows in order. If one of the two stops early, both have learned the rounds before, and no other."""
        noted = np.zeros(rows.count, dtype=np.int8) if updated is None else updated
        values = np.empty(len(rows.values))
        stopped = None
        with self._lock, Rounds():
            rounds = self._moments.rounds
            try:
                self._moments.learn_and_standardize(rows, values)
            except BaseException as error:
                stopped = error
                rows = rows.part(0, self._moments.rounds - rounds)
            try:
                given = replace(rows, values=values[: len(rows.values)])
                scores = self._inner._learn(given, signs[: rows.count], noted[: rows.count])
            except BaseException:
                self._moments.rewind(rows, self._inner.rounds - rounds)
                raise
            finally:
                self._rounds = self._inner.rounds
                self._mistakes = self._inner.mistakes
                self._updates = self._inner.updates
            if stopped is not None:
                raise stopped
            return scores

    # ------------------------------------------------------------------ what it knows

    @property
    def gives_probabilities(self) -> bool:
        return bool(self._inner.gives_probabilities)

    @property
    def learns_what_it_predicts(self) -> bool:
        return bool(self._inner.learns_what_it_predicts)

    def _is_steady(self) -> bool:
        """Whether it cannot diverge as long as values are moderate: no standardized value is above sqrt(t)."""
        return is_steady(self._inner)

    def _make_ready(self, entries: int, width: int) -> None:
        self._moments._make_ready(entries, width)
        make_ready(self._inner, entries, width)

    @property
    def converges_without(self) -> str:
        return str(self._inner.converges_without)

    @property
    def standardized(self) -> Any:
        """A copy of the learner that is given the standardized rows; its labels are -1 and +1."""
        with self._lock:
            return self._inner.copy()

    @property
    def means(self) -> Any:
        """The mean of every feature over all rounds: a dict by name, or an array by position."""
        with self._lock:
            return self._moments.means_and_deviations()[0]

    @property
    def deviations(self) -> Any:
        """The standard deviation of every feature over all rounds."""
        with self._lock:
            return self._moments.means_and_deviations()[1]

    @property
    def features(self) -> int:
        """How many features it knows of."""
        return self._moments.features

    @property
    def theorems(self) -> Any:
        return self._inner.theorems if isinstance(self._inner, LinearLearner) else ()

    @property
    def no_theorem_because(self) -> str:
        why = self._inner.no_theorem_because
        return why or f"the rounds of {type(self._inner).__name__} cannot be checked behind another learner"

    def certificate(self, X: Any, y: Any = None, comparator: Any = None) -> Any:
        """What was promised, what happened and what hindsight would have given, on the rounds X, y, standardized.

        The theorems are those of the learner, about the standardized rows. Comparators are weights for these. X alone
        may be a stream or a libsvm file, which is read a few times if it is large.
        """
        if y is None:
            return certify_source(self, X, comparator)
        labels = labels_of(y) if self._undecided else self._labels
        rows, signs = read_examples(X, y, labels)
        return certify(self, rows, signs, comparator)

    # ------------------------------------------------------------------ copying, comparing, saving

    def _state(self) -> dict[str, Any]:
        return {**self._counts(), "moments": self._moments.state(), "learner": self._inner.state()}

    def _check_state(self, state: Any) -> None:
        learner = state["learner"]
        require_rounds("learner", self._inner, learner, state["rounds"], state["rounds"])
        checked_moments(self._moments, state)
        self._inner._require_state(learner)
        if any(state[name] != learner[name] for name in ("mistakes", "updates")):
            raise invalid("mistakes and updates", "those of the learner", [state["mistakes"], state["updates"]])

    def _become(self, state: Any) -> None:
        moments, inner = Moments(), blank(self._inner)
        moments.restore(state["moments"])
        inner.restore(state["learner"])
        self._moments, self._inner = moments, inner
        BinaryLearner._become(self, state)

    def _counts(self) -> dict[str, Any]:
        return {"rounds": self._rounds, "mistakes": self._mistakes, "updates": self._updates}


def checked_moments(moments: Any, state: Any) -> None:
    """Refuse a state whose moments are not those of its rounds."""
    content, rounds = state["moments"], state["rounds"]
    require_rounds("moments", moments, content, rounds, rounds)
    moments._require_state(content)
    for name in ("seen", "spreads"):
        if content[name].min(initial=0.0) < 0:
            raise invalid(f"moments, {name}", "numbers that are not negative", content[name])
    if content["seen"].max(initial=0.0) > rounds:
        raise invalid("moments, seen", "rounds that have been", content["seen"])


def finite_rows(X: Any) -> Any:
    """Rows whose values are all finite."""
    rows = read_many(X)
    rows.require_finite()
    return rows
