"""The simple disjunction learner: keep every feature that no negative example has.

Setting     n examples x in {0, 1}^d with labels; the target is a disjunction of features, such as x_1 or x_4 or x_7.
Rule        discard all features that are 1 in any negative example; the disjunction of those that remain. With
            ``negated``, the same over the 2d literals x_i and not x_i.
Guarantee   right on the whole sample whenever some disjunction is: a feature of that disjunction is never 1 in a
            negative example, so it remains, and every positive example has one. There are 2^d disjunctions: with
            probability at least 1 - delta, every one that is right on n independent draws has error below
            (d ln 2 + ln(1/delta)) / n. So n = (1/eps)(d ln 2 + ln(1/delta)) examples are enough for error eps. With
            negated literals there are 3^d + 1.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, Lemmas 6.1 and 6.2, Theorem 6.3.

>>> learner = DisjunctionLearner(labels=("ham", "spam"))
>>> X = [{"cheap": 1, "pills": 1}, {"lunch": 1}, {"lunch": 1, "pills": 1}, {"cheap": 1, "lunch": 1}]
>>> print(learner.fit(X, ["spam", "ham", "spam", "spam"]))
cheap or pills
>>> learner.consistent, learner.predict_one({"lunch": 1, "pills": 1})
(True, 'spam')
>>> print(learner.certificate(X, ["spam", "ham", "spam", "spam"]).line())
Occam bound of a finite class: error at most 1.269, with probability 95% (holds, vacuous; Blum et al., Foundations
of Data Science, Theorem 6.4; for disjunctions 6.2 and 6.3)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.concepts._batch_rule import BatchRule, FiniteClassBound
from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.data.labels import Labels, Signs
from afterwit.data.rows import Rows, as_mapping, read_many, read_one
from afterwit.data.values import signature
from afterwit.errors import Words, invalid


@dataclass(frozen=True)
class Sample:
    """What the checker found on the rows of a certificate."""

    subject: str
    rows: int
    mistakes: int
    log_hypotheses: float
    why_not: str
    # The features of dicts are those that were met; the class has to be there before the sample is.
    assumptions: tuple[Assumption, ...] = (
        Assumption("the features were known before the sample was drawn", Basis.PROMISED, None),
    )


class DisjunctionLearner(BatchRule):
    """A disjunction of features that is right on the whole sample, whenever there is one.

    negated  whether features may also stand negated in the disjunction
    labels   the negative and the positive label

    Examples are rows of 0 and 1 in any form: arrays, scipy sparse matrices, DataFrames, dicts (an absent feature is 0).
    """

    theorems = (FiniteClassBound(),)

    __signature__ = signature(negated=False, labels=(-1, 1))

    def __init__(self, negated: bool = False, labels: Any = (-1, 1)) -> None:
        if not isinstance(negated, bool | np.bool_):
            raise invalid("negated", "True or False", negated)
        self._negated = bool(negated)
        self._labels = Labels(labels)
        self._names: list[Any] | None = None
        self._plain_literals = np.zeros(0, dtype=np.bool_)
        self._negated_literals = np.zeros(0, dtype=np.bool_)
        self._uncovered: int | None = None

    def fit(self, X: Any, y: Any) -> DisjunctionLearner:
        """Make the disjunction of all literals that are false in every negative example. Returns the learner itself."""
        rows, signs = self._checked(X, y)
        matrix = _zeros_and_ones(rows)
        negatives = matrix[np.flatnonzero(signs < 0)]
        ones = np.asarray(negatives.sum(axis=0)).reshape(-1)
        plain = ones == 0
        negated = (ones == negatives.shape[0]) & self._negated
        predicted = _evaluated(matrix, plain, negated)
        wrong = np.flatnonzero(predicted != (signs > 0))
        self._names, self._plain_literals, self._negated_literals = rows.names, plain, negated
        self._rounds, self._mistakes = rows.count, len(wrong)
        self._uncovered = int(wrong[0]) if len(wrong) else None
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one example: the positive one if some literal is true."""
        self._require_fitted()
        x = as_mapping(x)
        return self.predict_many([x] if isinstance(x, dict) else read_one(x))[0]

    def predict_many(self, X: Any) -> Any:
        """The labels of many examples, as an array. Named features that `fit` has not seen are passed over."""
        self._require_fitted()
        rows = read_many(X)
        matrix = self._in_order(rows, _zeros_and_ones(rows))
        positive = _evaluated(matrix, self._plain_literals, self._negated_literals)
        return self._labels.decode(np.where(positive, 1, -1).astype(np.int8))

    def certificate(self, X: Any, y: Any, delta: Any = 0.05) -> Certificate:
        """The bound on the error on new data of the disjunction, judged on the rows X, y."""
        self._require_fitted()
        theorem = FiniteClassBound(delta)
        rows, signs = self._checked(X, y)
        matrix = self._in_order(rows, _zeros_and_ones(rows))
        # Not by the code that predicts: every row is looked through on its own.
        plain = set(np.flatnonzero(self._plain_literals).tolist())
        negated = set(np.flatnonzero(self._negated_literals).tolist())
        wrong = [
            i
            for i, ones in enumerate(_sets_of_ones(matrix))
            if (bool(plain & ones) or bool(negated - ones)) != bool(signs[i] > 0)
        ]
        why_not = self._why_not(wrong, signs)
        return theorem.certify(Sample(type(self).__name__, rows.count, len(wrong), self._log_hypotheses(), why_not))

    def _why_not(self, wrong: list[int], signs: Signs) -> str:
        if not wrong:
            return ""
        if self._uncovered is None or signs[wrong[0]] < 0:
            return f"row {wrong[0]} is labelled otherwise than by the disjunction"
        return (
            f"no disjunction is right on the rows it was fitted to: row {self._uncovered} there is positive, and all "
            f"that holds of it holds of some negative row too"
        )

    def _log_hypotheses(self) -> float:
        """ln of 2^d, or of the 3^d + 1 different functions with negated literals, all tautologies being one."""
        d = len(self._plain_literals)
        return d * math.log(3) + math.log1p(3.0 ** -min(d, 700)) if self._negated else d * math.log(2)

    # ------------------------------------------------------------------ what it knows

    @property
    def labels(self) -> tuple[Any, Any]:
        """The negative and the positive label."""
        return self._labels.pair

    @property
    def features(self) -> int:
        """How many features the examples have: the d of the bound."""
        return len(self._plain_literals)

    @property
    def literals(self) -> list[Any]:
        """The features that stand in the disjunction as they are, by name or by position."""
        return self._named(self._plain_literals)

    @property
    def negated_literals(self) -> list[Any]:
        """The features that stand negated in the disjunction."""
        return self._named(self._negated_literals)

    @property
    def uncovered(self) -> int | None:
        """The first row of the sample on which no disjunction that is right on the negative rows is right; or None."""
        return self._uncovered

    def _named(self, chosen: npt.NDArray[np.bool_]) -> list[Any]:
        return [int(j) if self._names is None else self._names[j] for j in np.flatnonzero(chosen)]

    def __str__(self) -> str:
        self._require_fitted()
        name = (lambda j: f"x[{j}]") if self._names is None else str
        parts = [name(each) for each in self.literals] + [f"not {name(each)}" for each in self.negated_literals]
        return " or ".join(parts) if parts else "never"

    # ------------------------------------------------------------------ inside

    def _checked(self, X: Any, y: Any) -> tuple[Rows, Signs]:
        rows = read_many(X)
        if rows.count == 0:
            raise invalid("X", "at least one row", Words("none"))
        signs = self._labels.signs(y)
        if len(signs) != rows.count:
            raise invalid("y", f"as long as X ({rows.count} rows)", Words(f"{len(signs)} labels"))
        return rows, signs

    def _in_order(self, rows: Rows, matrix: Any) -> Any:
        """The columns in the order of the features known."""
        width = len(self._plain_literals)
        if (rows.names is None) != (self._names is None):
            kinds = ("features by position", "features by name")
            raise invalid("X", f"of {kinds[self._names is not None]}", Words(kinds[rows.names is not None]))
        if rows.names is None or self._names is None:
            # Sparse rows end where their last one is.
            narrow = rows.starts is not None and rows.width < width
            if rows.width != width and not narrow:
                raise invalid("x" if rows.single else "X", f"of {width} features", Words(f"{rows.width}"))
            if narrow:
                matrix = matrix.copy()
                matrix.resize((rows.count, width))
            return matrix
        if rows.starts is None:  # a DataFrame, which has all its columns
            missing = [name for name in self._names if name not in rows.names]
            if missing:
                raise invalid("X", f"with a column {missing[0]!r}", Words("none of that name"))
        from scipy.sparse import csr_array

        at = {name: j for j, name in enumerate(self._names)}
        entries = csr_array(matrix).tocoo()
        columns = np.array([at.get(name, -1) for name in rows.names], dtype=np.int64)[entries.coords[1]]
        known = columns >= 0
        shape = (rows.count, width)
        ordered = csr_array((entries.data[known], (entries.coords[0][known], columns[known])), shape=shape)
        return ordered if rows.starts is not None else ordered.toarray()

    # ------------------------------------------------------------------ saving

    @property
    def parameters(self) -> dict[str, Any]:
        return {"negated": self._negated, "labels": self._labels.pair}

    def state(self) -> dict[str, Any]:
        return {
            "rounds": self._rounds,
            "mistakes": self._mistakes,
            "uncovered": self._uncovered,
            "names": None if self._names is None else list(self._names),
            "literals": self._plain_literals.copy(),
            "negated_literals": self._negated_literals.copy(),
        }

    def restore(self, state: Any) -> None:
        plain, negated, names = state["literals"], state["negated_literals"], state["names"]
        counts = [state["rounds"], state["mistakes"]]
        if any(type(count) is not int or not 0 <= count <= counts[0] for count in counts):
            raise invalid("rounds and mistakes", "counts, none above rounds", counts)
        for literals in (plain, negated):
            if not isinstance(literals, np.ndarray) or literals.dtype != np.bool_ or literals.shape != plain.shape:
                raise invalid("literals", "two arrays of booleans of one length", state)
        if plain.ndim != 1 or (names is not None and len(names) != len(plain)):
            raise invalid("names", "one for each feature, or None", names)
        self._rounds, self._mistakes = counts
        self._uncovered = state["uncovered"]
        self._names, self._plain_literals, self._negated_literals = names, plain.copy(), negated.copy()


def _zeros_and_ones(rows: Rows) -> Any:
    """The examples as a matrix; whatever is neither 0 nor 1 is refused, by its place."""
    matrix = rows.matrix()
    values = matrix if rows.starts is None else matrix.data
    good = (values == 0) | (values == 1)
    if not good.all():
        if rows.starts is None:
            i, j = np.argwhere(~good)[0].tolist()
            value = matrix[i, j]
        else:
            at = int(np.argmin(good))
            i, j = int(np.searchsorted(matrix.indptr, at, side="right")) - 1, int(matrix.indices[at])
            value = values[at]
        feature = j if rows.names is None else rows.names[j]
        where = f"x[{feature!r}]" if rows.single else f"X[{i}, {feature!r}]"
        raise invalid(where, "0 or 1", float(value))
    return matrix


def _evaluated(matrix: Any, plain: npt.NDArray[np.bool_], negated: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether each row makes some literal true."""
    some = np.asarray(matrix @ plain.astype(np.float64)).reshape(-1) > 0
    count = int(negated.sum())
    if not count:
        return some
    return some | (np.asarray(matrix @ negated.astype(np.float64)).reshape(-1) < count)


def _sets_of_ones(matrix: Any) -> Iterator[set[int]]:
    """The positions of the ones in each row."""
    for i in range(matrix.shape[0]):
        row = matrix[[i]] if not isinstance(matrix, np.ndarray) else matrix[i]
        yield set((row.indices[row.data == 1] if not isinstance(matrix, np.ndarray) else np.flatnonzero(row)).tolist())
