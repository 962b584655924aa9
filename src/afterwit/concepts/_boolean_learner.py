"""What the learners of disjunctions share: boolean examples, a weight for every variable, many rounds at once.

An example says which variables are 1; a disjunction learner predicts +1 if the weights of those add up to a threshold.
All weights begin at 1, also those of variables that have not occurred yet. They are powers of 2 or 0, so their sums are
exact. A learner derived from it defines how a mistake changes the weights of the variables that are 1 (``_change``).

Few rounds change anything: those in between are scored together, with one product.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Certificate, certify
from afterwit.core.learner import BinaryLearner
from afterwit.core.turns import Lock, Rounds, breathe
from afterwit.data.rows import Rows, as_mapping, members_as_features, plain_name, read_many, read_one, wrong_space
from afterwit.data.values import are_different
from afterwit.errors import Words, counted, invalid

Floats = npt.NDArray[np.float64]
Columns = npt.NDArray[np.intp]
#: How many rounds are scored together, at least and at most.
FEWEST, MOST = 16, 4096


@dataclass(frozen=True)
class Booleans:
    """Boolean examples: row i has the variables ``columns[starts[i]:starts[i + 1]]`` set."""

    count: int
    starts: Columns
    columns: Columns
    #: The variables' names, if they have any; columns are positions among them.
    names: list[Any] | None
    #: How many variables there are, for positions.
    width: int
    first: int = 0
    single: bool = False
    ids: bool | None = False

    def row(self, i: int) -> Columns:
        return self.columns[self.starts[i] : self.starts[i + 1]]

    def part(self, begin: int, end: int) -> Booleans:
        first, last = self.starts[begin], self.starts[end]
        return replace(
            self,
            count=end - begin,
            starts=self.starts[begin : end + 1] - first,
            columns=self.columns[first:last],
            first=self.first + begin,
        )

    def sums(self, weights: Floats, begin: int, end: int) -> Floats:
        """The sum of the weights of what is set, for each row from begin to end."""
        first, last = self.starts[begin], self.starts[end]
        rows = np.repeat(np.arange(end - begin), np.diff(self.starts[begin : end + 1]))
        # Nothing to count gives integers.
        sums: Floats = np.bincount(rows, weights[self.columns[first:last]], end - begin).astype(np.float64, copy=False)
        return sums


def read_booleans(rows: Rows) -> Booleans:
    """Rows of 0 and 1; any other number is refused."""
    known = (rows.values == 0) | (rows.values == 1)
    if not known.all():
        raise rows.refusal(int(np.argmin(known)), "0 or 1")
    if rows.starts is None:
        row: Any
        column: Any
        row, column = np.nonzero(rows.values.reshape(rows.count, rows.width))
        if rows.columns is not None:
            column = rows.columns[column]
    else:
        assert rows.columns is not None
        row = np.repeat(np.arange(rows.count), np.diff(rows.starts))
        keep = rows.values != 0
        row, column = row[keep], rows.columns[keep]
    starts = np.zeros(rows.count + 1, dtype=np.intp)
    np.cumsum(np.bincount(row, minlength=rows.count), out=starts[1:])
    names = None if rows.names is None else [plain_name(name) for name in rows.names]
    return Booleans(rows.count, starts, column.astype(np.intp), names, rows.width, rows.first, rows.single, rows.ids)


class BooleanLearner(BinaryLearner):
    """A learner of disjunctions over variables that are known by name or by position."""

    takes = "booleans"
    checker = "boolean"

    def _begin(self) -> None:
        super()._begin()
        self._guard = Lock(reentrant=True)
        self._weights: Floats = np.empty(0)
        self._vocabulary: dict[Any, int] | None = None

    # ------------------------------------------------------------------ what an algorithm defines

    #: The sum of weights from which +1 is predicted.
    _threshold: float
    #: How many variables there may be; any number if None.
    _most: int | None = None

    def _change(self, weights: Floats, variables: Columns, positive: bool) -> None:
        """Learn from a mistake: the variables that are set, and whether the label was +1."""
        raise NotImplementedError

    def _note_promotions(self, count: int) -> None:
        """Take note of mistakes on positive examples, where they are counted."""

    # ------------------------------------------------------------------ examples

    def _read(self, X: Any) -> Any:
        if isinstance(X, Booleans):
            return X
        if isinstance(X, Sequence) and not isinstance(X, (str, bytes)) and any(map(_is_set, X)):
            X = [members_as_features(x) if _is_set(x) else x for x in X]
        return read_booleans(read_many(X))

    def _read_one(self, x: Any) -> Any:
        x = members_as_features(x) if _is_set(x) else as_mapping(x)
        if not isinstance(x, Mapping):
            return read_booleans(read_one(x))
        for name, value in x.items():
            # What is not a number at all is named here as what it is in one example.
            if isinstance(value, (str, bytes)) or not np.isscalar(value):
                raise invalid(f"x[{name!r}]", "0 or 1", value)
        return read_booleans(replace(read_many([x]), single=True))

    def _known(self, rows: Booleans) -> tuple[Booleans, dict[Any, int] | None, int]:
        """The rows by the learner's own positions, its vocabulary after them, and how many variables it has then."""
        known, vocabulary = len(self._weights), self._vocabulary
        if rows.count == 0:
            return rows, vocabulary, known
        settled = known > 0 or vocabulary is not None
        if rows.names is None:
            if vocabulary is not None:
                raise wrong_space("names", "positions")
            self._require_numbering(rows)
            return rows, None, self._allowed(rows, max(known, rows.width))
        if settled and vocabulary is None:
            raise wrong_space("positions", "names")
        vocabulary = dict(vocabulary or {})
        # In the order in which they are first set, as one example after the other would have it.
        order = np.full(len(rows.names), -1, dtype=np.intp)
        for column in dict.fromkeys(rows.columns.tolist()):
            order[column] = vocabulary.setdefault(rows.names[column], len(vocabulary))
        self._allowed(rows, len(vocabulary))
        return replace(rows, columns=order[rows.columns], names=None), vocabulary, len(vocabulary)

    def _allowed(self, rows: Booleans, variables: int) -> int:
        if self._most is not None and variables > self._most:
            received = Words(f"{variables:,} with those it has learned" if len(self._weights) else f"{variables:,}")
            raise invalid(
                "x" if rows.single else "X", f"of at most n_variables = {counted(self._most, 'variable')}", received
            )
        return variables

    # ------------------------------------------------------------------ rounds

    def score_many(self, X: Any) -> Floats:
        """``score_one`` for every row of X, as an array."""
        with self._guard:
            rows, _, variables = self._known(self._read(X))
            return rows.sums(self._grown(variables), 0, rows.count) - self._threshold

    def _learn(self, rows: Any, signs: Any, updated: Any = None) -> Floats:
        with self._guard, Rounds():
            rows, vocabulary, variables = self._known(rows)
            weights = self._grown(variables)
            scores = np.empty(rows.count)
            positive = signs > 0
            mistakes = updates = promotions = 0
            if updated is not None:
                updated[:] = 0
            at, size = 0, FEWEST
            try:
                while at < rows.count:
                    end = min(at + size, rows.count)
                    sums = rows.sums(weights, at, end)
                    predicted = sums >= self._threshold
                    wrong = predicted != positive[at:end]
                    # Where no weight is left nothing can change.
                    changing = wrong & (sums > 0)
                    if changing.any():
                        end = at + int(np.argmax(changing)) + 1
                        self._change(weights, rows.row(end - 1), bool(positive[end - 1]))
                        updates += 1
                        if updated is not None:
                            updated[end - 1] = 1
                        size = max(FEWEST, size // 2)
                    else:
                        size = min(MOST, 2 * size)
                    done = end - at
                    scores[at:end] = sums[:done] - self._threshold
                    mistakes += int(np.count_nonzero(wrong[:done]))
                    promotions += int(np.count_nonzero(wrong[:done] & ~predicted[:done]))
                    at = end
                    if at < rows.count:
                        breathe()
            except Exception:
                raise
            except BaseException:
                # Somebody wants to stop: the rounds before are learned, and no variable that only comes later.
                if vocabulary is not None:
                    met = int(rows.columns[: rows.starts[at]].max(initial=-1)) + 1
                    variables = max(len(self._weights), met)
                    vocabulary = dict(islice(vocabulary.items(), variables))
                self._take(rows, weights[:variables], vocabulary, at, mistakes, updates, promotions)
                raise
            self._take(rows, weights, vocabulary, at, mistakes, updates, promotions)
        return scores

    def _take(
        self, rows: Any, weights: Floats, vocabulary: Any, rounds: int, mistakes: int, updates: int, promotions: int
    ) -> None:
        """Take over what was learned in the first of these rows."""
        self._weights, self._vocabulary = weights, vocabulary
        if vocabulary is None:
            self._learn_numbering(rows)
        self._note_promotions(promotions)
        self._count(rounds, mistakes, updates)

    def _grown(self, variables: int) -> Floats:
        """A copy of the weights, with those of further variables."""
        return np.concatenate([self._weights, np.ones(variables - len(self._weights))])

    # ------------------------------------------------------------------ what it knows

    @property
    def features(self) -> int:
        """How many variables have occurred."""
        return len(self._weights)

    @property
    def weights(self) -> Any:
        """A copy of the weights: a dict by name if it learned names, an array by position if it learned positions."""
        with self._guard:
            if self._vocabulary is None:
                return self._weights.copy()
            return dict(zip(self._vocabulary, self._weights.tolist(), strict=True))

    def certificate(self, X: Any, y: Any, comparator: Any = None) -> Certificate:
        """What was promised, what happened and what hindsight would have given, on the rounds X, y.

        X and y are the examples it learned from, in order (once for each pass). They show whether some disjunction of
        variables agrees with all of them; one with few variables is found in hindsight, unless ``comparator`` gives the
        variables of one.
        """
        rows, signs = self._checked(X, y)
        with self._guard:
            return certify(self, rows, signs, comparator)

    # ------------------------------------------------------------------ copying, comparing, saving

    def _state(self) -> dict[str, Any]:
        with self._guard:
            names = None if self._vocabulary is None else list(self._vocabulary)
            return {**self._counts(), "weights": self._weights.copy(), "names": names, **self._kept_state()}

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        weights, names = state["weights"], state["names"]
        if not isinstance(weights, np.ndarray) or weights.dtype != np.float64 or weights.ndim != 1:
            raise invalid("weights", "a 1-D array of float64", weights)
        if not ((weights == 0) | (np.frexp(weights)[0] == 0.5) & (weights >= 1) & (weights < 2.0**60)).all():
            raise invalid("weights", "0 or powers of 2", weights)
        if self._most is not None and len(weights) > self._most:
            raise invalid("weights", f"at most {self._most:,} numbers", Words(f"{len(weights):,}"))
        if names is not None and not are_different(names, len(weights)):
            raise invalid("names", "a list of as many different names as there are weights", names)

    def _become(self, state: Any) -> None:
        with self._guard:
            super()._become(state)
            names = state["names"]
            self._weights = state["weights"].copy()
            self._vocabulary = None if names is None else {name: j for j, name in enumerate(names)}


def _is_set(x: Any) -> bool:
    return isinstance(x, set | frozenset)
