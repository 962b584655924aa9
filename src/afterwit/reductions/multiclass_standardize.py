"""Standardize for many classes: every feature less its mean, divided by its deviation, before another learner sees it.

Setting     rows x_t, y_t in {1..K}, or in no set that is known beforehand; any learner of many labels for rows of
            numbers.
Update      that of `Standardize`: the learner is given z_{t,i} = (x_{t,i} - m_{t,i}) / s_{t,i} for the features that
            are present, with the mean and the standard deviation of feature i over rounds 1 to t. One pass over the
            row does for all classes.
Guarantee   that of the learner, on the rows z_1, z_2, ...: these do not depend on what it does.
Assumes     what the learner's theorem assumes.
Source      running means and sums of squares as in Welford 1962.

>>> learner = MulticlassStandardize()
>>> for grams, animal in 3 * ((4100.0, "cat"), (30500.0, "dog"), (21.0, "bird")):
...     last = learner.learn_one([grams], animal)
>>> learner.predict_one([19.0]), learner.predict_one([41000.0])
('bird', 'dog')
>>> learner.means.round().tolist(), learner.gives_probabilities
([11540.0], True)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Certificate, certify, require_theorems
from afterwit.core.declared import Option
from afterwit.core.learner import checked_counts
from afterwit.core.many_labels import MANY_LABELS, ManyLabelLearner
from afterwit.core.registry import classifier_class
from afterwit.core.sources import certify_source
from afterwit.core.turns import Rounds
from afterwit.data.classes import Classes, Codes
from afterwit.data.rows import Rows
from afterwit.errors import InputError, invalid
from afterwit.linear._multiclass import ScoringLearner
from afterwit.linear.softmax_adagrad import SoftmaxAdaGrad
from afterwit.reductions._binary import blank, one_row, require_rounds
from afterwit.reductions._moments import Moments
from afterwit.reductions.standardize import checked_moments, finite_rows

ALLOWED = (
    "a learner of many labels for rows of numbers, its class or its name (of a committee, standardize the members)"
)


class MulticlassStandardize(ManyLabelLearner):
    """A learner of many labels behind running means and standard deviations.

    learner  the learner: an instance, which is never changed, a class, or a name such as "softmax-adagrad". If not
             given, `SoftmaxAdaGrad`
    labels   the labels that may come, two or more; if not given, any label may come
    """

    checker = "standardize"
    zero_is_absent = False
    options = (Option("learner", None), MANY_LABELS)

    def _begin(self) -> None:
        ManyLabelLearner._begin(self)
        given = self._options["learner"]
        base = _read_learner(SoftmaxAdaGrad() if given is None else given, self._labels)
        if given is not None:
            self._options["learner"] = base
        self._inner = blank(base)
        self._moments = Moments()

    # ------------------------------------------------------------------ examples

    def _read(self, X: Any) -> Rows:
        return finite_rows(X)

    def _read_one(self, x: Any) -> Rows:
        return x if isinstance(x, Rows) else finite_rows(one_row(x))

    @property
    def _reads_rows(self) -> bool:
        return False

    def _standardized(self, rows: Rows) -> Rows:
        return replace(rows, values=self._moments.standardized(rows))

    # ------------------------------------------------------------------ rounds

    def score_one(self, x: Any) -> dict[Any, float]:
        """The score of every class, for the row as if it came next."""
        return dict(zip(self.classes, self.score_many(self._read_one(x))[0].tolist(), strict=True))

    def predict_one(self, x: Any) -> Any:
        """The class with the largest score, the first of several; None before any class is known. Nothing changes."""
        return self.predict_many(self._read_one(x)).tolist()[0]

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of every class. Nothing changes."""
        return dict(zip(self.classes, self.predict_proba_many(self._read_one(x))[0].tolist(), strict=True))

    def learn_one(self, x: Any, y: Any) -> Any:
        """Predict x, count the round and the mistake, then learn from y. Returns the prediction."""
        with self._lock:
            codes, new = self._classes.read([y], None)
            leaders = self._learn(self._read_one(x), codes, new)
            return self._classes.decode(leaders).tolist()[0]

    def score_many(self, X: Any) -> npt.NDArray[np.float64]:
        """The scores of every row, each as if it came next: an array with a column for each of ``classes``."""
        rows = self._read(X)
        with self._lock:
            scores: npt.NDArray[np.float64] = self._inner.score_many(self._standardized(rows))
            return scores

    def predict_many(self, X: Any) -> npt.NDArray[Any]:
        """``predict_one`` for every row of X, as an array."""
        rows = self._read(X)
        with self._lock:
            return self._inner.predict_many(self._standardized(rows))

    def predict_proba_many(self, X: Any) -> npt.NDArray[np.float64]:
        """``predict_proba_one`` for every row of X: an array with a column for each of ``classes``."""
        rows = self._read(X)
        with self._lock:
            found: npt.NDArray[np.float64] = self._inner.predict_proba_many(self._standardized(rows))
            return found

    def _learn(self, rows: Any, codes: Codes, new: dict[Any, int]) -> Codes:
        """Learn rows in order. If one of the two stops early, both have learned the rounds before, and no other."""
        values = np.empty(len(rows.values))
        stopped = None
        with Rounds():
            rounds = self._moments.rounds
            try:
                self._moments.learn_and_standardize(rows, values)
            except BaseException as error:
                stopped = error
                rows = rows.part(0, self._moments.rounds - rounds)
            try:
                given = replace(rows, values=values[: len(rows.values)])
                begun = {label: first for label, first in new.items() if first < rows.count}
                leaders = self._inner._learn(given, codes[: rows.count], begun)
            except BaseException:
                self._moments.rewind(rows, self._inner.rounds - rounds)
                raise
            finally:
                self._classes = Classes(self._inner.classes, self._labels)
            if stopped is not None:
                raise stopped
            return leaders

    # ------------------------------------------------------------------ what it knows

    @property
    def rounds(self) -> int:
        return int(self._inner.rounds)

    @property
    def mistakes(self) -> int:
        return int(self._inner.mistakes)

    @property
    def updates(self) -> int:
        """In how many rounds the learner changed."""
        return int(self._inner.updates)

    @property
    def gives_probabilities(self) -> bool:
        """Whether the learner does."""
        return bool(self._inner.gives_probabilities)

    @property
    def _converges_without(self) -> str:
        return self._inner._converges_without

    @property
    def standardized(self) -> Any:
        """A copy of the learner that is given the standardized rows."""
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
        return int(self._moments.features)

    @property
    def theorems(self) -> Any:  # type: ignore[override]
        return self._inner.theorems if isinstance(self._inner, ScoringLearner) else ()

    @property
    def no_theorem_because(self) -> str:  # type: ignore[override]
        why: str = self._inner.no_theorem_because
        return why or f"the rounds of {type(self._inner).__name__} cannot be checked behind another learner"

    def certificate(self, X: Any, y: Any = None, comparator: Any = None) -> Certificate:
        """What was promised, what happened and what hindsight would have given, on the rounds X, y, standardized.

        The theorems are those of the learner, about the standardized rows. Comparators are weights for these. X alone
        may be a stream or a libsvm file that fits into memory.
        """
        if y is None:
            return certify_source(self, X, comparator)
        require_theorems(self)
        fresh = blank(self)
        rows, codes, new = fresh._checked(X, y)
        labels = [*fresh._classes.joined(new).labels]
        with self._lock:
            return certify(self, rows, [labels[code] for code in codes.tolist()], comparator)

    # ------------------------------------------------------------------ copying, comparing, saving

    def state(self) -> dict[str, Any]:
        with self._lock:
            counts = {"rounds": self.rounds, "mistakes": self.mistakes, "updates": self.updates}
            kept = {"moments": self._moments.state(), "learner": self._inner.state()}
            return {**counts, "classes": self._saved_classes(), **kept}

    def _check_state(self, state: Any) -> None:
        counts = checked_counts(state)
        checked_moments(self._moments, state)
        require_rounds("learner", self._inner, state["learner"], counts[0], counts[0])
        self._inner._require_state(state["learner"])
        if counts != [state["learner"][name] for name in ("rounds", "mistakes", "updates")]:
            raise invalid("rounds, mistakes and updates", "those of the learner", counts)
        if state["classes"] != state["learner"]["classes"]:
            raise invalid("classes", "those of the learner", state["classes"])

    def restore(self, state: Any) -> None:
        self._require_state(state)
        moments, inner = Moments(), blank(self._inner)
        moments.restore(state["moments"])
        inner.restore(state["learner"])
        with self._lock:
            self._moments, self._inner = moments, inner
            self._classes = Classes(inner.classes, self._labels)


def _read_learner(given: Any, labels: Any) -> Any:
    """A fresh learner with these labels."""
    learner = classifier_class(given) if isinstance(given, str) else given
    if isinstance(learner, type):
        try:
            learner = learner()
        except (TypeError, InputError):
            raise invalid("learner", f"{ALLOWED}; a class must need no arguments", given) from None
    if not isinstance(learner, ManyLabelLearner) or not learner._reads_rows:
        raise invalid("learner", ALLOWED, given)
    return type(learner)(**{**learner.parameters, "labels": labels})
