"""The decision stump: one feature, one threshold. A weak learner that finds the best one for any weights.

Setting     rows x_i in R^d with labels y_i in {-1, +1} and weights w_i >= 0.
Hypothesis  s if x_j > theta, -s otherwise; or s for every row.
Learning    the stump of least weighted error, over all features and all thresholds between two values that occur. Every
            feature is sorted once; with C_k the sum of w_i y_i over its k smallest values, the error for s = +1 is
            (the weight of the negative rows) + C_k, and for s = -1 the rest of the weight. Among equals the constant
            comes first, then the first feature, the smallest threshold, s = +1.
Guarantee   no stump has a smaller weighted error on these rows (up to rounding). Nothing is promised for others.

>>> stump = DecisionStump(labels=("ham", "spam")).fit([[0, 5], [1, 3], [2, 4], [3, 3]], ["ham", "ham", "spam", "spam"])
>>> stump.feature, stump.threshold, stump.sign
(0, 1.5, 1)
>>> stump.predict_many([[1.4, 0], [1.6, 0]]).tolist()
['ham', 'spam']
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.boosting._features import BatchLearner, first_matrix, read_row, same_matrix
from afterwit.core.declared import GIVEN_LABELS, Count, Kept, is_finite
from afterwit.data.labels import Signs
from afterwit.data.rows import read_examples, read_many
from afterwit.errors import InputError, Words, invalid

#: How many numbers are gathered at a time: a part of every feature's values that stays in the cache.
BLOCK = 2**16


class SortedColumns:
    """The columns of a matrix, sorted once for any number of stumps."""

    def __init__(self, matrix: Any) -> None:
        if hasattr(matrix, "tocsr"):
            raise invalid("X", "dense for decision stumps (X.toarray())", Words("a sparse matrix"))
        columns = np.ascontiguousarray(matrix.T)
        order = np.argsort(columns, axis=1, kind="stable")
        self.values = np.take_along_axis(columns, order, axis=1)
        # The largest value is left out: nothing lies above it.
        self.order = np.ascontiguousarray(order[:, :-1], dtype=np.int32)
        # A threshold fits behind the k-th smallest value only where the next one is larger.
        self.ends = self.values[:, :-1] < self.values[:, 1:]
        self.tied = not self.ends.all()

    def best(self, signs: Signs, weights: Any) -> tuple[int, float, int]:
        """Feature (-1 for none), threshold and sign of the stump of least weighted error."""
        signed = weights * signs
        # What is to be minimised for s = +1 is C_k; for s = -1 it is total - C_k. The constant +1 has C_0 = 0.
        total = float(signed.sum())
        least, found = min((0.0, (-1, 0, 1)), (total, (-1, 0, -1)), key=lambda pair: pair[0])
        features, rows = self.values.shape
        step = max(1, BLOCK // max(1, rows))
        for begin in range(0, features if rows > 1 else 0, step):
            sums = signed.take(self.order[begin : begin + step])
            np.cumsum(sums, axis=1, out=sums)
            for sign, extreme, excluded in ((1, np.argmin, np.inf), (-1, np.argmax, -np.inf)):
                if self.tied:
                    sums[~self.ends[begin : begin + step]] = excluded
                at = int(extreme(sums))
                cost = float(sums.flat[at]) if sign > 0 else total - float(sums.flat[at])
                if cost < least:
                    least, found = cost, (begin + at // (rows - 1), at % (rows - 1), sign)
        feature, k, sign = found
        return feature, 0.0 if feature < 0 else self.threshold(feature, k), sign

    def threshold(self, feature: int, k: int) -> float:
        """The middle between the k-th smallest value and the next, or the former where rounding meets the latter."""
        low, high = float(self.values[feature, k]), float(self.values[feature, k + 1])
        middle = low + (high - low) / 2 if high - low < np.inf else low / 2 + high / 2
        return middle if low <= middle < high else low


class Stump(Kept):
    """A feature (-1 for none), a threshold and a sign; None before it was fitted."""

    def check(self, learner: Any, value: Any) -> None:
        del learner
        kinds = tuple(type(part) for part in value) if isinstance(value, tuple) else ()
        if value is None:
            return
        if kinds != (int, float, int) or value[0] < -1 or not is_finite(value[1]) or value[2] not in (-1, 1):
            raise invalid(self.name, "a feature, a threshold and a sign", value)


class DecisionStump(BatchLearner):
    """One feature, one threshold.

    labels  the negative and the positive label
    """

    theorems = ()
    no_theorem_because = "it is the best stump for the rows it was given, and nothing is promised for others"

    options = (GIVEN_LABELS,)
    kept = (Stump("stump"), Count("width"), Kept("names"))

    def _begin(self) -> None:
        super()._begin()
        self._stump: tuple[int, float, int] | None = None

    @classmethod
    def of(cls, feature: int, threshold: float, sign: int, width: int, names: Any = None) -> DecisionStump:
        """A stump made of its parts, for labels -1 and +1."""
        stump = cls()
        stump._stump, stump._width, stump._names = (feature, threshold, sign), width, names
        return stump

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DecisionStump:
        """Find the stump of least weighted error; every row counts 1 unless ``sample_weight`` says otherwise."""
        rows, signs = read_examples(X, y, self._labels)
        matrix, names = first_matrix(rows)
        weights = _weights(sample_weight, rows.count)
        self._stump = SortedColumns(matrix).best(signs, weights)
        self._width, self._names = matrix.shape[1], names
        return self

    # ------------------------------------------------------------------ the hypothesis

    def _found(self) -> tuple[int, float, int]:
        if self._stump is None:
            raise InputError("a DecisionStump has to be fitted before it predicts")
        return self._stump

    @property
    def feature(self) -> Any:
        """The feature it looks at, by name or position; None if it looks at none."""
        feature = self._found()[0]
        if feature < 0:
            return None
        return feature if self._names is None else self._names[feature]

    @property
    def threshold(self) -> float:
        return self._found()[1]

    @property
    def sign(self) -> int:
        """The side it predicts above the threshold, -1 or +1."""
        return self._found()[2]

    def signs(self, matrix: Any) -> Signs:
        """-1 or +1 for every row of a dense matrix."""
        feature, threshold, sign = self._found()
        if feature < 0:
            return np.full(matrix.shape[0], sign, dtype=np.int8)
        return np.where(matrix[:, feature] > threshold, sign, -sign).astype(np.int8)

    def predict_many(self, X: Any) -> Any:
        """The label of every row."""
        return self._predict(read_many(X))

    def predict_one(self, x: Any) -> Any:
        """The label of one row."""
        return self._predict(read_row(x)).tolist()[0]

    def _predict(self, rows: Any) -> Any:
        self._found()
        matrix = same_matrix(rows, self._width, self._names)
        return self._labels.decode(self.signs(matrix.toarray() if hasattr(matrix, "tocsr") else matrix))

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        stump, width = state["stump"], state["width"]
        if (stump is None) != (width == 0):
            raise invalid("width", "0 exactly before it was fitted", width)
        if stump is not None and stump[0] >= width:
            raise invalid("stump", f"of a feature below {width:,}", stump)

    def __repr__(self) -> str:
        if self._stump is None:
            return f"DecisionStump(labels={self._labels.pair!r}): not fitted"
        below, above = self._labels.decode(np.array([-self.sign, self.sign])).tolist()
        if self.feature is None:
            return f"DecisionStump: always {above!r}"
        return f"DecisionStump: {above!r} if x[{self.feature!r}] > {self.threshold:g} else {below!r}"


def all_stumps(X: Any) -> list[DecisionStump]:
    """Every stump that differs from the others on the rows of X, for labels -1 and +1: what a fit chooses from."""
    matrix, names = first_matrix(read_many(X))
    columns = SortedColumns(matrix)
    width = matrix.shape[1]
    parts = [(-1, 0.0)]
    parts += [(int(j), columns.threshold(int(j), int(k))) for j, k in np.argwhere(columns.ends)]
    return [
        DecisionStump.of(feature, threshold, sign, width, names) for feature, threshold in parts for sign in (1, -1)
    ]


def _weights(weights: Any, count: int) -> Any:
    if weights is None:
        return np.ones(count)
    array = np.asarray(weights, dtype=np.float64) if np.asarray(weights).dtype.kind in "biuf" else np.empty(0)
    if array.shape != (count,) or not (np.isfinite(array).all() and (array >= 0).all()):
        raise invalid("sample_weight", f"{count} finite numbers, none below 0", weights)
    return array
