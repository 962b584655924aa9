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

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.concepts._batch_rule import BatchRule, FiniteClassBound
from afterwit.core.declared import GIVEN_LABELS, Option
from afterwit.data.checks import flag
from afterwit.data.labels import Labels, Signs
from afterwit.data.rows import Rows, as_mapping, read_many, read_one, require_columns
from afterwit.data.values import are_different
from afterwit.errors import Words, counted, invalid


class DisjunctionLearner(BatchRule):
    """A disjunction of features that is right on the whole sample, whenever there is one.

    negated  whether features may also stand negated in the disjunction
    labels   the negative and the positive label

    Examples are rows of 0 and 1 in any form: arrays, scipy sparse matrices, DataFrames, dicts (an absent feature is 0).
    """

    theorems = (FiniteClassBound(),)
    options = (Option("negated", False, flag), GIVEN_LABELS)

    def _begin(self) -> None:
        self._labels = Labels(self._options["labels"])
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
        negated = (ones == negatives.shape[0]) & self._options["negated"]
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
        """The labels of many examples, as an array. Named features that `fit` has not seen are ignored."""
        self._require_fitted()
        positive = _evaluated(self._matrix(read_many(X)), self._plain_literals, self._negated_literals)
        return self._labels.decode(np.where(positive, 1, -1).astype(np.int8))

    # ------------------------------------------------------------------ what it knows

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
        """The first row on which every disjunction that is right on the negative rows is wrong; None without one."""
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
        require_columns(rows)
        if rows.count == 0:
            raise invalid("X", "at least one row", Words("none"))
        signs = self._labels.signs(y)
        if len(signs) != rows.count:
            raise invalid("y", f"as long as X ({counted(rows.count, 'row')})", Words(counted(len(signs), "label")))
        return rows, signs

    def _matrix(self, rows: Rows) -> Any:
        """The examples as a matrix of 0 and 1, with the columns in the order of the features known."""
        require_columns(rows)
        matrix = _zeros_and_ones(rows)
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

    def _state(self) -> dict[str, Any]:
        return {
            **super()._state(),
            "uncovered": self._uncovered,
            "names": None if self._names is None else list(self._names),
            "literals": self._plain_literals.copy(),
            "negated_literals": self._negated_literals.copy(),
        }

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        plain, negated, names = state["literals"], state["negated_literals"], state["names"]
        for literals in (plain, negated):
            is_array = isinstance(plain, np.ndarray) and isinstance(literals, np.ndarray)
            if not is_array or literals.dtype != np.bool_ or literals.shape != plain.shape:
                raise invalid("literals and negated_literals", "two arrays of booleans of one length", literals)
        if plain.ndim != 1 or (names is not None and not are_different(names, len(plain))):
            raise invalid("names", "a different one for each feature, or None", names)
        if negated.any() and not self._options["negated"]:
            raise invalid("negated_literals", "none, because negated is False", negated)
        uncovered, rounds = state["uncovered"], state["rounds"]
        if (uncovered is not None) != (state["mistakes"] > 0):
            raise invalid("uncovered", "a row exactly if there are mistakes", uncovered)
        if uncovered is not None and not (type(uncovered) is int and 0 <= uncovered < rounds):
            raise invalid("uncovered", f"one of {rounds:,} rows, or None", uncovered)

    def _become(self, state: Any) -> None:
        super()._become(state)
        self._uncovered, self._names = state["uncovered"], state["names"]
        self._plain_literals, self._negated_literals = state["literals"].copy(), state["negated_literals"].copy()


def _zeros_and_ones(rows: Rows) -> Any:
    """The examples as a matrix; a value that is neither 0 nor 1 is refused, with its place."""
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
        raise invalid(rows.place(i, j), "0 or 1", float(value))
    return matrix


def _evaluated(matrix: Any, plain: npt.NDArray[np.bool_], negated: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether each row makes some literal true."""
    some = np.asarray(matrix @ plain.astype(np.float64)).reshape(-1) > 0
    count = int(negated.sum())
    if not count:
        return some
    return some | (np.asarray(matrix @ negated.astype(np.float64)).reshape(-1) < count)
