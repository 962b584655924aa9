# cython: boundscheck=False, wraparound=False
"""The loops every linear learner shares: one example or many, dicts, arrays, sparse rows, DataFrames.

An algorithm's file holds its idea and nothing else: ``update(y, score)`` looks at the current row through ``dot``
and ``add`` and says whether it changed the weights. The engine owns inputs, labels, counters and growth.

Compiled, this is native code; interpreted, the same lines are ordinary Python. Two rules keep ``X_many`` exactly
the loop of ``X_one``, bit for bit: both run ``dot``, ``update`` and ``add`` on the same entries in the same order,
and ``dot`` gives entry k to running sum k mod 4 whatever the row's length, so that a feature the learner has never
seen changes no sum.

The cost of an example is O(its non-zeros): nothing here touches all the weights but growth, which doubles.
Everything is checked before the lock is taken or anything is changed; under the lock the loops over many rows let
other Python threads run.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any

import cython
import numpy as np

from afterwit._values import same_value
from afterwit.errors import InputError, Words, invalid, shorten
from afterwit.labels import Labels
from afterwit.linear._rows import Rows, as_mapping, number, plain_name, read_many, read_one
from afterwit.protocol import Training


def plain(x: dict[Any, Any]) -> dict[Any, float]:
    """The same features with every value a float."""
    return {name: number(f"x[{name!r}]", value) for name, value in x.items()}


def view(array: Any) -> Any:
    """An array as the loops want it: interpreted, a memoryview, whose items are plain Python numbers."""
    return array if cython.compiled else memoryview(array)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_finite(value: cython.double) -> cython.bint:
    return -1.7976931348623157e308 <= value <= 1.7976931348623157e308


@cython.cclass
class LinearLearner:
    """A learner that predicts sgn(w . x), with sgn(0) = +1. Algorithms derive from it and define ``update``."""

    #: The bounds that hold for the algorithm, as `Theorem` objects.
    theorems = ()
    #: Why there are none, where there are none.
    no_theorem_because = ""
    #: ``learn_many`` takes whatever block of rows a stream hands over, and returns the predictions.
    learns_blocks = True

    def __init__(self, labels: Any = (-1, 1), start: Any = None) -> None:
        if cython.compiled and hasattr(self, "update"):
            raise TypeError("update is compiled: a Python subclass cannot replace it")
        self._labels = Labels(labels)
        self._signs = dict(self._labels.lookup)
        if not cython.compiled:
            self._lock = cython.pymutex()
        self._named = False
        self._vocabulary: dict[Any, int] = {}
        self._names: list[Any] = []
        self._weights = view(np.zeros(16))
        self._features = 0
        self._rounds = 0
        self._mistakes = 0
        self._updates = 0
        self._scratch_values = view(np.zeros(64))
        self._scratch_columns = view(np.zeros(64, dtype=np.int32))
        self._rest()
        if start is not None:
            self._begin_at(start)

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
                length = features
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
        """The same sums for a row with features that have no weight yet: those are passed over."""
        k: cython.Py_ssize_t
        column: cython.int
        product: cython.double
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        s2: cython.double = 0.0
        s3: cython.double = 0.0
        for k in range(self._length):
            column = self._columns[self._offset + k]
            if 0 <= column < self._features:
                product = self._weights[column] * self._values[self._first + k]
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
        """Make room for this many features; new weights are 0."""
        if features > self._weights.shape[0]:
            try:
                larger = np.zeros(max(features, 2 * self._weights.shape[0]))
            except MemoryError:
                raise invalid("the number of features", "what fits into memory", features) from None
            larger[: self._features] = np.asarray(self._weights)[: self._features]
            self._weights = view(larger)
        if features > self._features:
            self._features = features
        return 0

    # ------------------------------------------------------------------ one round

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def learn_row(self, y: cython.int) -> cython.int:
        """Predict the current row, count the round and the mistake, update; give back the prediction.

        While values are taken on trust, a score that is not finite gives back 0 before anything has changed.
        """
        score: cython.double = self.dot()
        if self._on_trust and not is_finite(score):
            return 0
        prediction: cython.int = 1 if score >= 0 else -1
        self._rounds += 1
        if prediction != y:
            self._mistakes += 1
        if self.update(y, score):
            self._updates += 1
        return prediction

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _unpack(self, x: dict[Any, Any]) -> cython.int:
        """Make a dict the current row; the number of its features that are new (their columns are -1).

        Gives back -2 for values whose conversion would run code that is not ours: not under the lock.
        """
        k: cython.Py_ssize_t = 0
        unseen: cython.int = 0
        value: cython.double
        if not self._named and self._features > 0:
            raise _wrong_space("positions", "a dict")
        if len(x) > self._scratch_values.shape[0]:
            self._scratch_values = view(np.zeros(2 * len(x)))
            self._scratch_columns = view(np.zeros(2 * len(x), dtype=np.int32))
            self._rest()
        vocabulary: dict[Any, int] = self._vocabulary
        for name, entry in x.items():
            column = vocabulary.get(name)
            if column is None:
                self._scratch_columns[k] = -1
                unseen += 1
            else:
                self._scratch_columns[k] = column
            if type(entry) is not float and type(entry) is not int:
                return -2
            try:
                value = entry
            except OverflowError:
                return -2
            if not is_finite(value):
                raise invalid(f"x[{name!r}]", "a finite number", value)
            self._scratch_values[k] = value
            k += 1
        self._length = k
        self._known = unseen == 0
        return unseen

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _admit(self, x: dict[Any, Any], unseen: cython.int) -> cython.int:
        """Give the new features of the unpacked dict their columns."""
        k: cython.Py_ssize_t
        self.grow(len(self._names) + unseen)
        self._named = True
        for k, name in enumerate(x):
            if self._scratch_columns[k] < 0:
                self._scratch_columns[k] = len(self._names)
                self._vocabulary[name] = len(self._names)
                self._names.append(plain_name(name))
        self._known = True
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rest(self) -> cython.int:
        """Let go of the caller's arrays: between calls the current row is the scratch space."""
        self._values = self._scratch_values
        self._columns = self._scratch_columns
        self._dense = False
        self._known = False
        self._on_trust = False
        self._first = 0
        self._offset = 0
        self._length = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _score(self, x: object) -> cython.double:
        if type(x) is not dict:
            x = as_mapping(x)
        if isinstance(x, dict):
            with self._lock:
                if self._unpack(x) >= 0:
                    return self.dot()
            return self._score(plain(x))
        return self.score_many(read_one(x))[0]

    def score_one(self, x: Any) -> float:
        """The score w . x, whose sign is the prediction."""
        return self._score(x)

    def predict_one(self, x: Any) -> Any:
        """The label the learner would give x now. Nothing changes."""
        return self._labels.positive if self._score(x) >= 0 else self._labels.negative

    def learn_one(self, x: Any, y: Any) -> Any:
        """Predict x, count the round and the mistake, then learn from y. Returns the prediction."""
        sign: cython.int
        unseen: cython.int
        prediction: cython.int = 0
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
                    prediction = self.learn_row(sign)
            if unseen < 0:
                return self.learn_one(plain(x), y)
        else:
            prediction = self._learn(read_one(x), np.full(1, sign, dtype=np.int8))[0]
        return self._labels.positive if prediction > 0 else self._labels.negative

    # ------------------------------------------------------------------ many rounds

    def _enter(self, rows: Any, learning: bool) -> None:
        """Take a block of checked rows as the source of current rows."""
        if rows.names is None:
            if self._named:
                raise _wrong_space("names", "positions")
            if learning:
                self.grow(rows.width)
            columns = rows.columns
        else:
            if not self._named and self._features > 0:
                raise _wrong_space("positions", "names")
            places = [self._vocabulary.get(name, -1) for name in rows.names]
            if learning:
                self.grow(len(self._names) + places.count(-1))
                self._named = True
                for j, name in enumerate(rows.names):
                    if places[j] < 0:
                        places[j] = self._vocabulary[name] = len(self._names)
                        self._names.append(plain_name(name))
            columns = np.array(places, dtype=np.int32)[rows.columns]
        self._values = view(rows.values)
        self._dense = columns is None
        if columns is not None:
            self._columns = view(columns)
        self._known = learning or (rows.names is None and rows.width <= self._features)
        self._length = rows.width
        self._offset = 0
        self._first = 0

    def _learn(self, rows: Any, signs: Any) -> Any:
        """Learn rows in order; the predictions, made before each label was used.

        A bad value must change nothing, and looking for one costs a pass over the data. Where the rows hold at
        least as many values as there are weights, the weights are copied instead: 0 * inf and 0 * nan are nan, so
        a bad value shows in its row's score, and then the copy is put back.
        """
        predictions = np.empty(rows.count, dtype=np.int8)
        if rows.count == 0:
            return predictions
        with self._lock:
            try:
                before = None
                if len(rows.values) < self._features:
                    rows.require_finite()
                else:
                    before = self._state()
                self._enter(rows, True)
                self._on_trust = before is not None
                stopped = self._learn_rows(rows, view(signs), view(predictions), 0)
                if stopped < rows.count:
                    self._accept_or_undo(rows, before)
                    self._on_trust = False
                    self._learn_rows(rows, view(signs), view(predictions), stopped)
            finally:
                self._rest()
        return predictions

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
        predictions: cython.schar[::1],
        begin: cython.Py_ssize_t,
    ) -> int:
        """Learn from row ``begin`` on; how far it came."""
        starts: cython.longlong[::1]
        i: cython.Py_ssize_t = begin
        count: cython.Py_ssize_t = rows.count
        width: cython.Py_ssize_t = rows.width
        if rows.starts is None:
            with cython.nogil:
                while i < count:
                    self._first = i * width
                    predictions[i] = self.learn_row(signs[i])
                    if predictions[i] == 0:
                        break
                    i += 1
        else:
            starts = view(rows.starts)
            with cython.nogil:
                while i < count:
                    self._first = self._offset = starts[i]
                    self._length = starts[i + 1] - starts[i]
                    predictions[i] = self.learn_row(signs[i])
                    if predictions[i] == 0:
                        break
                    i += 1
        return i

    def _score_rows(self, rows: Any, scores: cython.double[::1]) -> None:
        """The scores w . x of every row."""
        starts: cython.longlong[::1]
        i: cython.Py_ssize_t
        count: cython.Py_ssize_t = rows.count
        width: cython.Py_ssize_t = rows.width
        if rows.starts is None:
            with cython.nogil:
                for i in range(count):
                    self._first = i * width
                    scores[i] = self.dot()
        else:
            starts = view(rows.starts)
            with cython.nogil:
                for i in range(count):
                    self._first = self._offset = starts[i]
                    self._length = starts[i + 1] - starts[i]
                    scores[i] = self.dot()

    def score_many(self, X: Any) -> Any:
        """``score_one`` for every row of X, as an array."""
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

    def predict_many(self, X: Any) -> Any:
        """``predict_one`` for every row of X, as an array."""
        return self._labels.decode(np.where(self.score_many(X) >= 0, 1, -1))

    def learn_many(self, X: Any, y: Any) -> Any:
        """``learn_one`` for every row in order. Returns the predictions made before each label was seen."""
        rows, signs = self._checked(X, y)
        return self._labels.decode(self._learn(rows, signs))

    def fit(self, X: Any, y: Any, max_passes: Any = 1000) -> Training:
        """Learn X again and again until a whole pass makes no mistake, at most ``max_passes`` times.

        Goes on from the weights the learner has. Returns whether it converged and the mistakes of each pass.
        """
        if not isinstance(max_passes, Integral) or isinstance(max_passes, bool) or int(max_passes) < 1:
            raise invalid("max_passes", "a whole number, at least 1", max_passes)
        rows, signs = self._checked(X, y)
        rows.require_finite()
        mistakes: list[int] = []
        latest = -1
        while len(mistakes) < int(max_passes) and latest != 0:
            latest = int(np.count_nonzero(self._learn(rows, signs) != signs))
            mistakes.append(latest)
        return Training(converged=latest == 0, mistakes_per_pass=tuple(mistakes))

    def _checked(self, X: Any, y: Any) -> tuple[Rows, Any]:
        rows = read_many(X)
        signs = self._labels.signs(y, rows.first)
        if len(signs) != rows.count:
            raise invalid("y", f"as long as X ({rows.count} rows)", Words(f"{len(signs)} labels"))
        return rows, signs

    # ------------------------------------------------------------------ what it knows

    @property
    def labels(self) -> tuple[Any, Any]:
        """The negative and the positive label."""
        return self._labels.pair

    @property
    def rounds(self) -> int:
        """How many examples it has learned from."""
        return self._rounds

    @property
    def mistakes(self) -> int:
        """How many of them it predicted wrongly before it saw the label."""
        return self._mistakes

    @property
    def updates(self) -> int:
        """In how many rounds its weights changed."""
        return self._updates

    @property
    def features(self) -> int:
        """How many features it has weights for."""
        return self._features

    @property
    def weights(self) -> Any:
        """A copy of w: a dict by name if it learned names, an array by position if it learned positions."""
        with self._lock:
            weights = np.array(self._weights[: self._features])
            return weights if not self._named else dict(zip(self._names, weights.tolist(), strict=True))

    def _begin_at(self, start: Any) -> None:
        start = as_mapping(start)
        rows = read_many([start]) if isinstance(start, dict) else read_one(start)
        rows.require_finite()
        with self._lock:
            try:
                self._enter(rows, True)
                if rows.starts is not None:
                    self._length = len(rows.values)
                self.add(1.0)
            finally:
                self._rest()

    # ------------------------------------------------------------------ certificates

    def certificate(self, X: Any, y: Any, comparator: Any = None) -> Any:
        """What was promised, what happened and what hindsight would have given, on the rounds X, y.

        X and y are the examples the learner learned from, in order (once for each pass). Every theorem of the
        algorithm is evaluated, the tightest that applies comes first. Comparators are found in hindsight unless
        one is given, as an array or a dict of weights. What happened is the learner's own count: under delayed labels
        it differs from the count of the record.
        """
        from afterwit.linear._certify import certify

        return certify(self, X, y, comparator)

    # ------------------------------------------------------------------ copying, comparing, saving

    @property
    def parameters(self) -> dict[str, Any]:
        """What the learner was made with: ``type(learner)(**learner.parameters)`` makes a fresh one."""
        return {"labels": self._labels.pair}

    def state(self) -> dict[str, Any]:
        """All it has learned, as numbers, lists and arrays; ``restore`` takes it back."""
        with self._lock:
            return self._state()

    def _state(self) -> dict[str, Any]:
        return {
            "rounds": self._rounds,
            "mistakes": self._mistakes,
            "updates": self._updates,
            "weights": np.array(self._weights[: self._features]),
            "names": list(self._names) if self._named else None,
        }

    def restore(self, state: Any) -> None:
        """Become the learner whose ``state()`` this was."""
        weights, names = state["weights"], state["names"]
        if not isinstance(weights, np.ndarray) or weights.dtype != np.float64 or weights.ndim != 1:
            raise invalid("weights", "a 1-D array of float64", weights)
        if names is not None and not (isinstance(names, list) and len(set(names)) == len(names) == len(weights)):
            raise invalid("names", "a list of as many different names as there are weights", names)
        counts = [state["rounds"], state["mistakes"], state["updates"]]
        if any(type(count) is not int or not 0 <= count <= counts[0] < 2**62 for count in counts):
            raise invalid("rounds, mistakes and updates", "counts, none above rounds", counts)
        with self._lock:
            self._become(state)

    def _become(self, state: Any) -> None:
        weights, names = state["weights"], state["names"]
        self._named = names is not None
        self._names = list(names) if names is not None else []
        self._vocabulary = {name: j for j, name in enumerate(self._names)}
        self._weights = view(np.zeros(max(16, len(weights))))
        self._features = 0
        self.grow(len(weights))
        np.asarray(self._weights)[: len(weights)] = weights
        self._rounds = state["rounds"]
        self._mistakes = state["mistakes"]
        self._updates = state["updates"]

    def copy(self) -> Any:
        """An independent learner in the same state."""
        return _rebuild(type(self), self.parameters, self.state())

    def __reduce__(self) -> Any:
        return _rebuild, (type(self), self.parameters, self.state())

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return same_value(self.parameters, other.parameters) and same_value(self.state(), other.state())

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={shorten(value, 40)}" for name, value in self.parameters.items() if value is not None
        )
        return f"{type(self).__name__}({given}): {self._rounds:,} rounds, {self._mistakes:,} mistakes"


def _rebuild(kind: Any, parameters: Any, state: Any) -> Any:
    learner = kind(**parameters)
    learner.restore(state)
    return learner


def _wrong_space(learned: str, received: str) -> InputError:
    allowed = {
        "positions": "an array or sparse rows, because this learner has learned features by position",
        "names": "a dict, a DataFrame or a sequence of dicts, because this learner has learned features by name",
    }
    return invalid("x", allowed[learned], Words(received))
