# cython: boundscheck=False, wraparound=False, cdivision=True
"""The loops every linear learner shares: one example or many, dicts, arrays, sparse rows, DataFrames.

An algorithm's file holds its idea and nothing else: ``update(y, score)`` looks at the current row through ``dot``
and ``add`` and says whether it changed the weights; where it predicts by something else than w . x it defines
``score`` as well. The engine owns the loops, counters and growth; ``_row`` makes the caller's examples current rows.

Compiled, this is native code; interpreted, the same lines are ordinary Python. Two rules keep ``X_many`` exactly
the loop of ``X_one``, bit for bit: both run ``score``, ``update`` and ``add`` on the same entries in the same order,
and ``dot`` gives entry k to running sum k mod 4 whatever the row's length, so that a feature the learner has never
seen changes no sum.

The cost of an example is O(its non-zeros): nothing here touches all the weights but growth, which doubles.
Everything is checked before the lock is taken or anything is changed; under the lock the loops over many rows let
other Python threads run.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import certify
from afterwit.core.declared import LABELS, Option
from afterwit.core.learner import view
from afterwit.data.checks import flag
from afterwit.data.rows import as_mapping, read_examples, read_many, read_one
from afterwit.errors import InputError, Words, invalid
from afterwit.linear._row import as_floats

if cython.compiled:
    from cython.cimports.afterwit.linear._row import RowLearner
else:
    from afterwit.linear._row import RowLearner


#: What every linear learner takes, after its own options.
INTERCEPT = Option("intercept", False, flag)
SHARED = (INTERCEPT, LABELS)


def larger(array: Any, used: int, size: int, fill: float = 0.0) -> Any:
    """A longer copy of an array of which the first ``used`` entries count."""
    longer = np.full(size, fill) if fill else np.zeros(size)
    longer[:used] = np.asarray(array)[:used]
    return view(longer)


@cython.cclass
class LinearLearner(RowLearner):
    """A learner that predicts sgn(w . x), with sgn(0) = +1. Algorithms derive from it and define ``update``."""

    checker = "perceptron"
    options = SHARED
    learns_what_it_predicts = True
    #: A round without an update leaves it as it was, but for the count.
    _rests = True
    #: How many numbers there are for every feature.
    _numbers_per_feature = 1

    def _begin(self) -> None:
        if cython.compiled and hasattr(self, "update"):
            raise TypeError("update is compiled: a Python subclass cannot replace it")
        RowLearner._begin(self)
        self._features = self._reserved
        self._stride = self._numbers_per_feature
        self._weights = view(np.zeros(16 * self._stride))
        self._fresh = 0.0
        self._bad_values_show = True

    # ------------------------------------------------------------------ the idea, and what it may use

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.int, score: cython.double) -> cython.bint:
        """Learn from the current row, whose label is y and whose score was w . x; say whether w changed."""
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        """The score of the current row, whose sign is the prediction."""
        return self.dot()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def dot(self) -> cython.double:
        """The product w . x for the current row. Four running sums let the additions overlap."""
        first: cython.Py_ssize_t = self._first
        offset: cython.Py_ssize_t = self._offset
        features: cython.Py_ssize_t = self._features
        length: cython.Py_ssize_t = self._length
        k: cython.Py_ssize_t = 0
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        s2: cython.double = 0.0
        s3: cython.double = 0.0
        if self._dense:
            if length > features:
                return self._dot_of_known()
            while k + 3 < length:
                s0 += self._weights[k] * self._values[first + k]
                s1 += self._weights[k + 1] * self._values[first + k + 1]
                s2 += self._weights[k + 2] * self._values[first + k + 2]
                s3 += self._weights[k + 3] * self._values[first + k + 3]
                k += 4
            if k < length:
                s0 += self._weights[k] * self._values[first + k]
            if k + 1 < length:
                s1 += self._weights[k + 1] * self._values[first + k + 1]
            if k + 2 < length:
                s2 += self._weights[k + 2] * self._values[first + k + 2]
            return (s0 + s1) + (s2 + s3)
        if not self._known:
            return self._dot_of_known()
        while k + 3 < length:
            s0 += self._weights[self._columns[offset + k]] * self._values[first + k]
            s1 += self._weights[self._columns[offset + k + 1]] * self._values[first + k + 1]
            s2 += self._weights[self._columns[offset + k + 2]] * self._values[first + k + 2]
            s3 += self._weights[self._columns[offset + k + 3]] * self._values[first + k + 3]
            k += 4
        if k < length:
            s0 += self._weights[self._columns[offset + k]] * self._values[first + k]
        if k + 1 < length:
            s1 += self._weights[self._columns[offset + k + 1]] * self._values[first + k + 1]
        if k + 2 < length:
            s2 += self._weights[self._columns[offset + k + 2]] * self._values[first + k + 2]
        return (s0 + s1) + (s2 + s3)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _dot_of_known(self) -> cython.double:
        """The same sums for a row with features that have no weight yet: theirs is that of a fresh feature."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        product: cython.double
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        s2: cython.double = 0.0
        s3: cython.double = 0.0
        for k in range(self._length):
            column = self._columns[self._offset + k]
            if 0 <= column < self._features:
                product = self._weights[column * self._stride] * self._values[self._first + k]
            elif self._fresh != 0:
                product = self._fresh * self._values[self._first + k]
            else:
                continue
            if k & 3 == 0:
                s0 += product
            elif k & 3 == 1:
                s1 += product
            elif k & 3 == 2:
                s2 += product
            else:
                s3 += product
        return (s0 + s1) + (s2 + s3)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(self, scale: cython.double) -> cython.void:
        """Add to the weights: w <- w + scale x for the current row."""
        k: cython.Py_ssize_t
        first: cython.Py_ssize_t = self._first
        offset: cython.Py_ssize_t = self._offset
        if self._dense:
            for k in range(self._length):
                self._weights[k] += scale * self._values[first + k]
        else:
            for k in range(self._length):
                self._weights[self._columns[offset + k]] += scale * self._values[first + k]

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def grow(self, features: cython.Py_ssize_t) -> cython.int:
        """Make room for this many features; new weights are those of fresh features."""
        room: cython.Py_ssize_t = self._weights.shape[0] // self._stride
        if features > room:
            size = max(features, 2 * room)
            try:
                weights = larger(self._weights, self._features * self._stride, size * self._stride, self._fresh)
            except MemoryError:
                raise invalid("the number of features", "what fits into memory", features) from None
            self._weights = weights
        if features > self._features:
            self._features = features
        return 0

    # ------------------------------------------------------------------ one round

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def learn_row(self, y: cython.int) -> cython.double:
        """Score the current row, count the round and the mistake, update; give back the score.

        While values are taken on trust, a score that is not finite is given back before anything has changed.
        """
        score: cython.double = self.score()
        if self._on_trust and score - score != 0:  # infinite or not a number
            return score
        prediction: cython.int = 1 if score >= 0 else -1
        self._rounds += 1
        if prediction != y:
            self._mistakes += 1
        if self.update(y, score):
            self._updates += 1
        return score

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _score(self, x: object) -> cython.double:
        if type(x) is not dict:
            x = as_mapping(x)
        if isinstance(x, dict):
            with self._lock:
                if self._unpack(x) >= 0:
                    return self.score()
            return self._score(as_floats(x))
        return self.score_many(read_one(x)).item()

    def score_one(self, x: Any) -> float:
        return self._score(x)

    def predict_one(self, x: Any) -> Any:
        return self._labels.positive if self._score(x) >= 0 else self._labels.negative

    def learn_one(self, x: Any, y: Any) -> Any:
        sign: cython.int
        unseen: cython.int
        score: cython.double = 0.0
        try:
            sign = self._signs[y]
        except (KeyError, TypeError):
            raise self._labels.refusal(y) from None
        if type(x) is not dict:
            x = as_mapping(x)
        if isinstance(x, dict):
            with self._lock:
                unseen = self._unpack(x)
                if unseen > 0 or (unseen == 0 and not self._named):
                    self._admit(x, unseen)
                if unseen >= 0:
                    score = self.learn_row(sign)
            if unseen < 0:
                return self.learn_one(as_floats(x), y)
        else:
            score = self._learn(read_one(x), np.full(1, sign, dtype=np.int8))[0]
        return self._labels.positive if score >= 0 else self._labels.negative

    # ------------------------------------------------------------------ many rounds

    def _learn(self, rows: Any, signs: Any, updated: Any = None) -> Any:
        """Learn rows in order; the scores, made before each label was used.

        A bad value must change nothing, and looking for one costs a pass over the data. Where the rows hold many
        more values than there are weights, the weights are copied instead: 0 * inf and 0 * nan are nan, so a bad
        value shows in its row's score, and then the copy is put back.
        """
        scores = np.empty(rows.count)
        if rows.count == 0:
            return scores
        noted = view(np.empty(rows.count, dtype=np.int8) if updated is None else updated)
        with self._lock:
            try:
                before = None
                if len(rows.values) < 4 * self._features * self._stride or not self._bad_values_show:
                    rows.require_finite()
                else:
                    before = self._state()
                self._enter(rows, True)
                self._on_trust = before is not None
                stopped = self._learn_rows(rows, view(signs), view(scores), noted, 0)
                if stopped < rows.count:
                    self._accept_or_undo(rows, before)
                    self._on_trust = False
                    self._learn_rows(rows, view(signs), view(scores), noted, stopped)
            finally:
                self._rest()
        return scores

    def _accept_or_undo(self, rows: Any, before: Any) -> None:
        """After a score that is not finite: fine if the values are (the weights are huge), undone if not."""
        try:
            rows.require_finite()
        except InputError:
            self._become(before)
            raise

    def _learn_rows(
        self,
        rows: Any,
        signs: cython.schar[::1],
        scores: cython.double[::1],
        updated: cython.schar[::1],
        begin: cython.Py_ssize_t,
    ) -> int:
        """Learn from row ``begin`` on; how far it came."""
        starts: cython.longlong[::1]
        i: cython.Py_ssize_t = begin
        count: cython.Py_ssize_t = rows.count
        width: cython.Py_ssize_t = rows.width
        dense: cython.bint = rows.starts is None
        updates: cython.longlong
        starts = view(np.zeros(1, dtype=np.int64) if dense else rows.starts)
        with cython.nogil:
            while i < count:
                if dense:
                    self._take(i * width, 0, width)
                else:
                    self._take(starts[i], starts[i], starts[i + 1] - starts[i])
                updates = self._updates
                scores[i] = self.learn_row(signs[i])
                if self._on_trust and scores[i] - scores[i] != 0:
                    break
                updated[i] = self._updates != updates
                i += 1
        return i

    def _score_rows(self, rows: Any, scores: cython.double[::1]) -> None:
        """The scores of every row."""
        starts: cython.longlong[::1]
        i: cython.Py_ssize_t
        count: cython.Py_ssize_t = rows.count
        width: cython.Py_ssize_t = rows.width
        dense: cython.bint = rows.starts is None
        starts = view(np.zeros(1, dtype=np.int64) if dense else rows.starts)
        with cython.nogil:
            for i in range(count):
                if dense:
                    self._take(i * width, 0, width)
                else:
                    self._take(starts[i], starts[i], starts[i + 1] - starts[i])
                scores[i] = self.score()

    def score_many(self, X: Any) -> Any:
        rows = read_many(X)
        rows.require_finite()
        scores = np.empty(rows.count)
        with self._lock:
            try:
                self._enter(rows, False)
                self._score_rows(rows, view(scores))
            finally:
                self._rest()
        return scores

    # ------------------------------------------------------------------ what it knows

    @property
    def features(self) -> int:
        """How many features it has weights for."""
        return self._features - self._reserved

    @property
    def weights(self) -> Any:
        """A copy of w: a dict by name if it learned names, an array by position if it learned positions."""
        with self._lock:
            return self._by_feature(self._vector())

    @property
    def intercept_weight(self) -> float:
        """The weight of the constant feature; 0 without an intercept."""
        with self._lock:
            return self._vector()[0].item() if self._reserved else 0.0

    def _vector(self) -> Any:
        """The weights as the algorithm's figure has them, the intercept's first; a copy."""
        return np.array(self._weights[: self._features * self._stride])

    def _by_feature(self, vector: Any) -> Any:
        vector = vector[self._reserved :]
        return vector if not self._named else dict(zip(self._names, vector.tolist(), strict=True))

    def _begin_at(self, start: Any) -> None:
        start = as_mapping(start)
        rows = read_many([start]) if isinstance(start, dict) else read_one(start)
        rows.require_finite()
        with self._lock:
            try:
                self._enter(rows, True)
            finally:
                self._rest()
            columns = np.arange(rows.width) if rows.columns is None else rows.columns
            np.add.at(np.asarray(self._weights), self._reserved + columns, rows.values)

    # ------------------------------------------------------------------ certificates

    def certificate(self, X: Any, y: Any, comparator: Any = None) -> Any:
        """What was promised, what happened and what hindsight would have given, on the rounds X, y.

        X and y are the examples the learner learned from, in order (once for each pass). Every theorem of the
        algorithm is evaluated, the tightest that applies comes first. Comparators are found in hindsight unless
        one is given, as an array or a dict of weights. What happened is the learner's own count: under delayed labels
        it differs from the count of the record.
        """
        return certify(self, *read_examples(X, y, self.labels), comparator)

    # ------------------------------------------------------------------ copying, comparing, saving

    def _state(self) -> dict[str, Any]:
        weights = np.array(self._weights[: self._features * self._stride])
        names = list(self._names) if self._named else None
        return {**self._counts(), "weights": weights, "names": names, **self._kept_state()}

    def _check_state(self, state: Any) -> None:
        RowLearner._check_state(self, state)
        weights, names = state["weights"], state["names"]
        if not isinstance(weights, np.ndarray) or weights.dtype != np.float64 or weights.ndim != 1:
            raise invalid("weights", "a 1-D array of float64", weights)
        features = len(weights) // self._stride
        if len(weights) != features * self._stride or features < self._reserved:
            raise invalid("weights", "as many numbers for every feature", Words(f"{len(weights)} numbers"))
        count = features - self._reserved
        if names is not None and not (isinstance(names, list) and len(set(names)) == len(names) == count):
            raise invalid("names", "a list of as many different names as there are weights", names)

    def _become(self, state: Any) -> None:
        weights, names = state["weights"], state["names"]
        self._named = names is not None
        self._names = list(names) if names is not None else []
        self._vocabulary = {name: j + self._reserved for j, name in enumerate(self._names)}
        self._features = len(weights) // self._stride
        size = max(16, self._features)
        self._weights = larger(weights, len(weights), size * self._stride, self._fresh)
        RowLearner._become(self, state)
