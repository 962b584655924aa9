# cython: boundscheck=False, wraparound=False, cdivision=True
"""The weights of a linear learner: products with the current row, additions, growth, and what is saved of them.

``dot`` gives entry k to running sum k mod 4 whatever the row's length, so that a feature the learner has never seen
changes no sum. Nothing here touches all the weights but growth, which doubles.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.data.rows import LARGEST_POSITION
from afterwit.data.values import are_different
from afterwit.errors import Words, counted, invalid
from afterwit.linear._stops import MODERATE

if cython.compiled:
    from cython.cimports.afterwit.linear._row import RowLearner
else:
    from afterwit.linear._row import RowLearner


def check_square(square: float, weights: Any, largest: float) -> None:
    """Refuse a saved square of the weights' length that is not theirs, but for rounding at the largest it has been."""
    with np.errstate(over="ignore"):
        measured = float(np.dot(weights, weights))
    if np.isfinite(measured) and not abs(square - measured) <= 1e-6 * max(largest, measured) + 1e-300:
        raise invalid("square", f"that of the length of the weights, {measured}", square)


@cython.cclass
class WeightLearner(RowLearner):
    """A learner with a weight for every feature, or several numbers for each."""

    #: What there is for every feature, by its name in the state; as many numbers as follow.
    _stored = ("weights",)
    _numbers_of_each = 1

    def _begin(self) -> None:
        RowLearner._begin(self)
        self._stride = len(self._stored) * self._numbers_of_each
        self._weights = view(np.zeros(16 * self._stride))
        self._fresh = 0.0
        if any(isinstance(value, float) and value > MODERATE for value in self._options.values()):
            self._proven = -1.0

    # ------------------------------------------------------------------ products and additions

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
    def reserve(self, features: cython.Py_ssize_t) -> cython.int:
        """Make room for this many features; new weights are those of fresh features."""
        room: cython.Py_ssize_t = self._weights.shape[0] // self._stride
        if features > room:
            try:
                weights = self._with_room(
                    np.asarray(self._weights)[: self._features * self._stride], max(features, 2 * room)
                )
            except MemoryError:
                raise invalid("the number of features", "what fits into memory", features) from None
            self._weights = view(weights)
        return 0

    def _with_room(self, weights: Any, features: int) -> Any:
        """A copy of the weights with room for this many features; those after them are fresh."""
        longer = np.full(features * self._stride, self._fresh) if self._fresh else np.zeros(features * self._stride)
        longer[: len(weights)] = weights
        return longer

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
        return self._column(0)

    def _by_feature(self, vector: Any) -> Any:
        vector = vector[self._reserved :]
        return vector if not self._named else dict(zip(self._names, vector.tolist(), strict=True))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_sound(self) -> cython.bint:
        """Whether all it has learned is finite. No Python: it can neither fail nor be interrupted."""
        k: cython.Py_ssize_t = 0
        length: cython.Py_ssize_t = self._features * self._stride
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        while k + 1 < length:
            # 0, or not a number if one of them is infinite or none.
            s0 += self._weights[k] - self._weights[k]
            s1 += self._weights[k + 1] - self._weights[k + 1]
            k += 2
        if k < length:
            s0 += self._weights[k] - self._weights[k]
        return s0 + s1 == 0

    # ------------------------------------------------------------------ copying, comparing, saving

    def _column(self, place: int) -> Any:
        """A copy of one of the things that are stored for every feature."""
        numbers = np.asarray(self._weights[: self._features * self._stride])
        of_each = numbers.reshape(self._features, len(self._stored), self._numbers_of_each)
        return np.array(of_each[:, place]).reshape(-1)

    def _state(self) -> dict[str, Any]:
        numbers = {name: self._column(place) for place, name in enumerate(self._stored)}
        names = list(self._names) if self._named else None
        return {**self._counts(), **numbers, "names": names, **self._kept_state()}

    def _check_state(self, state: Any) -> None:
        RowLearner._check_state(self, state)
        each = self._numbers_of_each
        features = 0
        for place, name in enumerate(self._stored):
            numbers = state[name]
            if not isinstance(numbers, np.ndarray) or numbers.dtype != np.float64 or numbers.ndim != 1:
                raise invalid(name, "a 1-D array of float64", numbers)
            features = features if place else len(numbers) // each
            if len(numbers) != features * each or features < self._reserved:
                raise invalid(name, "as many numbers for every feature", Words(counted(len(numbers), "number")))
        self._check_features(features - self._reserved, state["names"])

    def _check_features(self, count: int, names: Any) -> None:
        """Refuse a saved state with too many features, or with names that are not theirs."""
        if count > LARGEST_POSITION + 1:
            raise invalid(self._stored[0], f"at most {LARGEST_POSITION + 1:,} numbers", Words(f"{count:,}"))
        if names is not None and not are_different(names, count):
            raise invalid("names", "a list of as many different names as there are weights", names)

    def _become(self, state: Any) -> None:
        names = state["names"]
        numbers = self._numbers_in(state)
        known = list(names) if names is not None else []
        vocabulary = {name: j + self._reserved for j, name in enumerate(known)}
        self._weights = view(self._with_room(numbers.reshape(-1), max(16, len(numbers))))
        self._named = names is not None
        self._names = known
        self._vocabulary = vocabulary
        self._features = len(numbers)
        RowLearner._become(self, state)

    def _numbers_in(self, state: Any) -> Any:
        """What a checked state has for every feature: a row of ``_stride`` numbers."""
        return np.column_stack([state[name].reshape(-1, self._numbers_of_each) for name in self._stored])
