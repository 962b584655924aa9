"""Learners of many labels with a compiled engine: labels and classes around what `ClassScores` scores and learns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Certificate, certify
from afterwit.core.declared import Option
from afterwit.core.learner import checked_counts
from afterwit.core.many_labels import MANY_LABELS, ManyLabelLearner
from afterwit.core.sources import certify_source
from afterwit.core.turns import Rounds, parts
from afterwit.data.classes import Classes, Codes
from afterwit.data.rows import Rows, read_many
from afterwit.errors import invalid
from afterwit.linear._engine import INTERCEPT


class ScoringLearner(ManyLabelLearner):
    """A score for every class; the class of the largest is predicted.

    Algorithms derive from it and name the kind of `ClassScores` that learns.
    """

    _kind_of_engine: Any = None

    def _begin(self) -> None:
        ManyLabelLearner._begin(self)
        options = {name: value for name, value in self._options.items() if name != "labels"}
        self._engine = type(self)._kind_of_engine(**options, labels=(-1, 1))
        self._engine.know_classes(len(self._classes))

    # ------------------------------------------------------------------ one round

    def score_one(self, x: Any) -> dict[Any, float]:
        """The score of every class."""
        with self._lock:
            self._engine.score_one(x)
            return dict(zip(self._classes.labels, self._engine.latest_scores(), strict=True))

    def predict_one(self, x: Any) -> Any:
        """The class with the largest score, the first of several; None before any class is known. Nothing changes."""
        with self._lock:
            return self._label(int(self._engine.score_one(x)))

    def learn_one(self, x: Any, y: Any) -> Any:
        """Predict x, count the round and the mistake, then learn from y. Returns the prediction."""
        with self._lock:
            code = self._classes.code(y)
            if code is not None:
                return self._label(self._engine.learn_class(x, code))
            codes, new = self._classes.read([y], None)
            joined = self._classes.joined(new)
            self._engine.make_class_room(len(joined))
            # Whoever has learned the class knows its label.
            with Rounds():
                predicted = self._label(self._engine.learn_class(x, int(codes[0])))
                self._admit(joined)
            return predicted

    def _label(self, code: int) -> Any:
        return None if code < 0 else self._classes.labels[code]

    # ------------------------------------------------------------------ many rounds

    def score_many(self, X: Any) -> npt.NDArray[np.float64]:
        """The scores of every row: an array with a column for each of ``classes``."""
        with self._lock:
            scores: npt.NDArray[np.float64] = self._engine.scores_of_classes(self._read(X))
            return scores

    def predict_many(self, X: Any) -> npt.NDArray[Any]:
        """``predict_one`` for every row of X, as an array."""
        with self._lock:
            return self._classes.decode(self._engine.score_many(self._read(X)).astype(np.intp))

    def _read(self, X: Any) -> Rows:
        rows = read_many(X)
        rows.require_finite()
        return rows

    def _learn(self, rows: Any, codes: Codes, new: dict[Any, int]) -> Codes:
        leaders = np.empty(rows.count, dtype=np.intp)
        joined = self._classes.joined(new)
        self._engine.make_class_room(len(joined))
        if rows.count:
            self._engine._make_ready(rows.width if rows.names is not None else 0, rows.width)
        with Rounds():
            for begin, end in parts(rows.count):
                part = rows if end - begin == rows.count else rows.part(begin, end)
                try:
                    leaders[begin:end] = self._engine._learn(part, codes[begin:end])
                finally:
                    # If a round is refused, those before it are learned.
                    self._admit(joined)
        return leaders

    def _is_steady(self) -> bool:
        return bool(self._engine._is_steady())

    def _make_room_for(self, entries: int, width: int) -> None:
        self._engine.make_class_room(len(self._classes) + 1)
        self._engine._make_ready(entries, width)

    def _admit(self, joined: Classes) -> None:
        """Know the labels of the classes that have been learned."""
        known = len(self._classes)
        if self._engine.count > known:
            self._classes = joined.first(self._engine.count)
            if known == 0 and self._classes.labels[0] is None:
                # Nothing could be predicted, and None was the label.
                self._engine._count(0, -1, 0)

    # ------------------------------------------------------------------ what it knows

    @property
    def rounds(self) -> int:
        return int(self._engine.rounds)

    @property
    def mistakes(self) -> int:
        return int(self._engine.mistakes)

    @property
    def updates(self) -> int:
        return int(self._engine.updates)

    @property
    def features(self) -> int:
        """How many features it has weights for."""
        return int(self._engine.features)

    # ------------------------------------------------------------------ certificates

    def certificate(self, X: Any, y: Any = None, comparator: Any = None) -> Certificate:
        """What was promised, what happened and what hindsight would have given, on the rounds X, y.

        X and y are the examples the learner learned from, in order (once for each pass). Every theorem of the
        algorithm is evaluated, the tightest that applies comes first. Comparators are found in hindsight unless one is
        given: a dict with the weights of each class, as arrays or dicts; a class without has none. X alone may be a
        stream or a libsvm file that fits into memory.
        """
        if y is None:
            return certify_source(self, X, comparator)
        with self._lock:
            return certify(self, X, y, comparator)

    # ------------------------------------------------------------------ copying, comparing, saving

    def state(self) -> dict[str, Any]:
        with self._lock:
            return {**self._engine.state(), "classes": self._saved_classes()}

    def _check_state(self, state: Any) -> None:
        rounds, *_ = checked_counts(state)
        classes = self._classes_in(state)
        self._engine._check_counts(state)
        self._engine._check_state(state)
        self._check_classes(state, len(classes))
        # Every class came in a round of its own, and the first round brought one.
        if self._labels is None and not min(rounds, 1) <= len(classes) <= rounds:
            raise invalid("classes", f"the labels of {rounds} rounds", classes)

    def _check_classes(self, state: Any, count: int) -> None:
        """Refuse what is not the state of an engine for so many classes."""
        raise NotImplementedError

    def restore(self, state: Any) -> None:
        self._require_state(state)
        classes = Classes(self._classes_in(state), self._labels)
        with self._lock, Rounds():
            self._engine.restore(state)
            self._classes = classes


class MulticlassLearner(ScoringLearner):
    """A weight vector for every class. Algorithms derive from it and name the kind of `ClassWeights` that learns."""

    checker = "multiclass"
    options: tuple[Option, ...] = (INTERCEPT, MANY_LABELS)

    @property
    def weights(self) -> dict[Any, Any]:
        """A copy of the weights of each class: a dict by name if it learned names, an array by position if not."""
        with self._lock:
            return self._by_class(self._engine.vectors())

    @property
    def intercept_weight(self) -> dict[Any, float]:
        """The weight of the constant feature for each class; 0 without an intercept."""
        with self._lock:
            first = self._engine.vectors()[0].tolist() if self._engine.reserved else [0.0] * len(self._classes)
            return dict(zip(self._classes.labels, first, strict=True))

    def _by_class(self, vectors: Any) -> dict[Any, Any]:
        columns = (self._engine.by_feature(vectors[:, code].copy()) for code in range(len(self._classes)))
        return dict(zip(self._classes.labels, columns, strict=True))

    def _check_classes(self, state: Any, count: int) -> None:
        columns = state["weights"].shape[1]
        if columns != count:
            raise invalid("weights", f"an array with a column for each of {count} classes", state["weights"])
