"""One against the rest: many labels as a series of binary problems.

Setting     x_t any example a binary learner takes, y_t in {1..K}, or in no set that is known beforehand. For each class
            k a binary learner with score f_k; predict the k with the largest f_k(x_t), the first of several.
Update      every binary learner learns x_t, with label +1 if y_t is its class and -1 if not.
Guarantee   mistakes <= the sum over the classes of the bounds of the binary learners. For if no binary learner is
            mistaken in a round, y_t alone has a score >= 0, and is predicted. A class that was not named beforehand
            adds 1: it cannot be predicted in the round that brings it.
Assumes     a binary learner predicts +1 exactly if its score is >= 0; what its own bound assumes, for each class.
Source      the reduction: Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.1, footnote 1; Mohri,
            Rostamizadeh & Talwalkar 2018, section 9.4.1. The bound is the count above.

>>> learner = OneVsRest()
>>> learner.learn_one({"woof": 1}, "dog")  # no class is known yet: nothing can be predicted
>>> learner.learn_one({"purr": 1}, "cat")
'dog'
>>> learner.learn_one({"tweet": 1}, "bird")
'dog'
>>> learner.predict_one({"purr": 1, "tail": 1}), learner.score_one({"purr": 1})
('cat', {'dog': -1.0, 'cat': 0.0, 'bird': 0.0})
>>> learner.rounds, learner.mistakes, learner.classes
(3, 3, ('dog', 'cat', 'bird'))
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import Certificate, certify
from afterwit.core.declared import Option
from afterwit.core.learner import BinaryLearner, checked_counts
from afterwit.core.many_labels import MANY_LABELS, ManyLabelLearner
from afterwit.core.probabilities import refusal, shares
from afterwit.core.sources import certify_source
from afterwit.core.theorem import Theorem
from afterwit.core.turns import Rounds, parts
from afterwit.data.classes import Classes, Codes
from afterwit.data.rows import Rows, as_mapping, read_many, read_one
from afterwit.errors import DivergenceError, counted, invalid, shorten
from afterwit.linear._engine import LinearLearner
from afterwit.linear._row import is_harmless
from afterwit.linear._stops import MODERATE
from afterwit.linear.perceptron import Perceptron
from afterwit.reductions._binary import (
    blank,
    fresh,
    learn_rows,
    reads_rows,
    require_rounds,
    score_rows,
    shared_row,
    undone_if_refused,
)


class SumOfBounds(Theorem):
    """Any base learner with a bound on its mistakes: the sum over the classes."""

    name = "sum of the binary bounds"
    quantity = "mistakes"
    formula = "sum over the classes of their binary bounds, + 1 for each class not named beforehand"
    citation = "one against the rest: Blum et al., Foundations of Data Science, section 6.1, footnote 1"

    @staticmethod
    def bound(binary_bounds: Any, unannounced: Any) -> Any:
        return sum(binary_bounds) + unannounced

    def certify(self, evidence: Any) -> Any:
        bounds = {label: certificate.bound for label, certificate in evidence.binary.items()}
        inputs = {f"{label!r}": bound for label, bound in bounds.items()}
        if evidence.unannounced:
            inputs["classes not named beforehand"] = evidence.unannounced
        made = evidence.certificate(self, self.bound(bounds.values(), evidence.unannounced), inputs)
        return replace(made, others=tuple(evidence.binary.values()))


class OneVsRest(ManyLabelLearner):
    """A learner of many labels, made of one binary learner for each class.

    learner  the binary learner to copy for each class, an instance (which is never changed; its labels and what it has
             learned do not matter) or a class; a `Perceptron` if not given. A `Committee` is refused: where its members
             agree, its votes do not tell which class is the best. `MulticlassCommittee` votes on classes.
    labels   the labels that may come, two or more; each has its binary learner from the start. If not given, any
             label may come, and a class begins with its first example: its binary learner is fresh then and does not
             learn the rounds before, and from then on learns every round. Before the first, None is predicted.
    """

    theorems = (SumOfBounds(),)
    checker = "one_vs_rest"

    options = (Option("learner", None), MANY_LABELS)

    def _begin(self) -> None:
        ManyLabelLearner._begin(self)
        given = self._options["learner"]
        if given is not None:
            allowed = "a learner of two labels with scores, or a class of such learners"
            made = fresh("learner", given, (-1, 1), ("score_one",), allowed)
            if getattr(made, "scores_are_votes", False):
                raise invalid("learner", f"{allowed}; a committee of many classes is MulticlassCommittee", given)
            self._options["learner"] = made
        self._base = self._options["learner"] or Perceptron(labels=(-1, 1))
        self._rounds = self._mistakes = self._updates = 0
        self._learners = [blank(self._base) for _ in self._classes.labels]

    # ------------------------------------------------------------------ one round

    def score_one(self, x: Any) -> dict[Any, float]:
        """The score of every class."""
        with self._lock:
            return dict(zip(self._classes.labels, self._scores_of(x), strict=True))

    def predict_one(self, x: Any) -> Any:
        """The class with the largest score, the first of several; None before any class is known. Nothing changes."""
        with self._lock:
            code = _largest(self._scores_of(x))
            return None if code < 0 else self._classes.labels[code]

    @property
    def gives_probabilities(self) -> bool:
        """Whether its binary learners do."""
        return bool(getattr(self._base, "gives_probabilities", False))

    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """The probability of every class: that of its binary learner, divided by the sum of all. Nothing changes."""
        if not self.gives_probabilities:
            raise refusal(self._base)
        with self._lock:
            return dict(zip(self._classes.labels, shares(np.array([self._scores_of(x)]))[0].tolist(), strict=True))

    def predict_proba_many(self, X: Any) -> npt.NDArray[np.float64]:
        """``predict_proba_one`` for every row of X: an array with a column for each of ``classes``."""
        if not self.gives_probabilities:
            raise refusal(self._base)
        found: npt.NDArray[np.float64] = shares(self.score_many(X))
        return found

    def learn_one(self, x: Any, y: Any) -> Any:
        """Predict x, count the round and the mistake, then let every binary learner learn it; the prediction."""
        with self._lock:
            code, new = self._classes.read([y], None)
            x = as_mapping(x)
            row = self._shared_row(x)
            if row is None:
                return self._classes.decode(self._learn(self._read_one(x), code, new)).tolist()[0]
            predicted = _largest(self._scores_of(row))
            learners = [*self._learners, *(blank(self._base) for _ in new)]
            updates = [learner.updates for learner in learners]
            by_name = isinstance(row, dict)
            self._make_ready(learners, len(row), 0 if by_name else len(row))
            harmless = not by_name or is_harmless(row)
            with Rounds():
                with undone_if_refused([] if self._is_steady() and harmless else self._learners):
                    for k, learner in enumerate(learners):
                        learner.learn_one(row, 1 if k == code[0] else -1)
                changed = any(learner.updates != before for learner, before in zip(learners, updates, strict=True))
                self._take(np.array([predicted], dtype=np.intp), code, np.array([changed]), new, learners)
            return None if predicted < 0 else self._classes.labels[predicted]

    def _scores_of(self, x: Any) -> list[float]:
        # With no class yet, the example is still checked.
        learners = self._learners or [self._base]
        x = as_mapping(x)
        row = self._shared_row(x)
        if row is None:
            rows = self._read_one(x)
            scores = [float(_scores(learner, rows)[0]) for learner in learners]
        else:
            scores = [learner.score_one(row) for learner in learners]
        return scores[: len(self._learners)]

    def _shared_row(self, x: Any) -> Any:
        """One example that every binary learner may be handed as it is; None if it has to be read."""
        return shared_row(x, reads_rows(self._base))

    # ------------------------------------------------------------------ many rounds

    def score_many(self, X: Any) -> npt.NDArray[np.float64]:
        """The scores of every row: an array with a column for each of ``classes``."""
        with self._lock:
            rows = self._read(X)
            columns = [_scores(learner, rows) for learner in self._learners or [self._base]]
            return np.column_stack(columns)[:, : len(self._learners)]

    def predict_many(self, X: Any) -> npt.NDArray[Any]:
        """``predict_one`` for every row of X, as an array."""
        with self._lock:
            rows = self._read(X)
            race = _Race(rows.count)
            for code, learner in enumerate(self._learners):
                race.enter(code, _scores(learner, rows))
            if not self._learners:
                _scores(self._base, rows)
            return self._classes.decode(race.leaders)

    @property
    def _converges_without(self) -> str:
        return "mistakes" if getattr(self._base, "converges_without", "") == "mistakes" else "updates"

    def _learn(self, rows: Any, codes: Codes, new: dict[Any, int]) -> Codes:
        """Learn rows in order; the codes of the predictions. ``new`` has the first row of each class that begins.

        What one binary learner would refuse the first of them refuses, before it has changed: all see the same rows,
        and features of the same kind. Only if one diverges, have others learned what it does not.
        """
        with Rounds():
            steady = self._is_steady() and isinstance(rows, Rows) and rows.are_moderate(MODERATE)
            # In a large block a copy costs little, and there is much that memory might not be there for.
            large = steady and max(len(rows.values) // 4, rows.width) > self.features
            before = self.state() if large or not steady else None
            leaders = np.empty(rows.count, dtype=np.intp)
            try:
                for begin, end in parts(rows.count):
                    part = rows if end - begin == rows.count else rows.part(begin, end)
                    classes = {label: first - begin for label, first in new.items() if begin <= first < end}
                    leaders[begin:end] = self._learn_part(part, codes[begin:end], classes)
                return leaders
            except DivergenceError as error:
                if before is None or rows.count < 2:
                    self._put_back(before)
                    raise
                diverged = error
            except Exception:
                self._put_back(before)
                raise
            # Half of the rows, and so on, until it is only the round in which one diverges that is not learned.
            self._put_back(before)
            half = rows.count // 2
            self._learn(rows.part(0, half), codes[:half], {label: at for label, at in new.items() if at < half})
            later = {label: at - half for label, at in new.items() if at >= half}
            self._learn(rows.part(half, rows.count), codes[half:], later)
            raise diverged

    def _learn_part(self, rows: Any, codes: Codes, new: dict[Any, int]) -> Codes:
        known = len(self._learners)
        learners = [*self._learners, *(blank(self._base) for _ in new)]
        race = _Race(rows.count)
        changed = np.zeros(rows.count, dtype=bool)
        if rows.count:
            if isinstance(rows, Rows):
                self._make_ready(learners, rows.width if rows.names is not None else 0, rows.width)
            for k, (learner, begin) in enumerate(zip(learners, [0] * known + list(new.values()), strict=True)):
                part = rows if begin == 0 else rows.part(begin, rows.count)
                signs = np.where(codes[begin:] == k, 1, -1).astype(np.int8)
                scores, updated = learn_rows(learner, part, signs, learner.score_one)
                changed[begin:] |= updated
                # A class cannot be predicted in the round that brings it.
                begin, scores = (begin, scores) if k < known else (begin + 1, scores[1:])
                race.enter(k, scores, begin)
        self._take(race.leaders, codes, changed, new, learners)
        return race.leaders

    def _make_ready(self, learners: list[Any], entries: int, width: int) -> None:
        """Let them make room for features before the first of them learns."""
        if isinstance(self._base, LinearLearner):
            for learner in learners:
                learner._make_ready(entries, width)

    def _is_steady(self) -> bool:
        """Whether no binary learner diverges, as long as the values are not huge."""
        return isinstance(self._base, LinearLearner) and self._base._is_steady()

    @property
    def _reads_rows(self) -> bool:
        return reads_rows(self._base)

    def _make_room_for(self, entries: int, width: int) -> None:
        self._make_ready(self._learners, entries, width)

    def _put_back(self, before: Any) -> None:
        if before is not None:
            self.restore(before)

    def _take(self, predicted: Codes, codes: Codes, changed: Any, new: dict[Any, int], learners: list[Any]) -> None:
        """Count the rounds and admit the new classes."""
        self._classes, self._learners = self._classes.joined(new), learners
        self._rounds += len(codes)
        self._updates += int(np.count_nonzero(changed))
        self._mistakes += int(np.count_nonzero(predicted != codes))
        if new and predicted[0] < 0 and self._classes.labels[0] is None:
            # Nothing could be predicted, and None was the label.
            self._mistakes -= 1

    # ------------------------------------------------------------------ examples

    def _read(self, X: Any) -> Any:
        return self._base._read(X) if isinstance(self._base, BinaryLearner) else _finite(read_many(X))

    def _read_one(self, x: Any) -> Any:
        return self._base._read_one(x) if isinstance(self._base, BinaryLearner) else _finite(read_one(x))

    # ------------------------------------------------------------------ what it knows

    @property
    def learner(self) -> Any:
        """A fresh binary learner, as each class begins with."""
        return blank(self._base)

    @property
    def learners(self) -> dict[Any, Any]:
        """A copy of the binary learner of each class, whose labels are -1 and +1."""
        with self._lock:
            return {label: learner.copy() for label, learner in zip(self._classes.labels, self._learners, strict=True)}

    @property
    def features(self) -> int:
        """How many features the binary learners have weights for."""
        return max((learner.features for learner in self._learners), default=0)

    @property
    def rounds(self) -> int:
        return self._rounds

    @property
    def mistakes(self) -> int:
        return self._mistakes

    @property
    def updates(self) -> int:
        """In how many rounds some binary learner changed."""
        return self._updates

    # ------------------------------------------------------------------ certificates

    def certificate(self, X: Any, y: Any = None) -> Certificate:
        """What was promised, what happened and what hindsight would have given, on the rounds X, y.

        X and y are the examples the learner learned from, in order (once for each pass). ``others`` are the
        certificates of the binary learners, each played again on its own signs. X alone may be a stream or a libsvm
        file that fits into memory.
        """
        if y is None:
            return certify_source(self, X)
        with self._lock:
            return certify(self, X, y)

    # ------------------------------------------------------------------ copying, comparing, saving

    def state(self) -> dict[str, Any]:
        with self._lock:
            return {
                "rounds": self._rounds,
                "mistakes": self._mistakes,
                "updates": self._updates,
                "classes": self._saved_classes(),
                "learners": [learner.state() for learner in self._learners],
            }

    def _check_state(self, state: Any) -> None:
        checked_counts(state)
        count, learners = len(self._classes_in(state)), state["learners"]
        if not isinstance(learners, list) or len(learners) != count:
            raise invalid("learners", f"one state for each of {count} classes", learners)
        for i, each in enumerate(learners):
            require_rounds(f"learners[{i}]", self._base, each, 0, state["rounds"])

    def restore(self, state: Any) -> None:
        self._require_state(state)
        counts = checked_counts(state)
        classes = self._classes_in(state)
        learners = [blank(self._base) for _ in classes]
        for learner, each in zip(learners, state["learners"], strict=True):
            learner.restore(each)
        with self._lock:
            self._classes, self._learners = Classes(classes, self._labels), learners
            self._rounds, self._mistakes, self._updates = counts

    def __repr__(self) -> str:
        given = [f"learner={type(self._base).__name__}({_options(self._base)})"]
        given += [] if self._labels is None else [f"labels={shorten(self._labels, 40)}"]
        return f"OneVsRest({', '.join(given)}): {counted(self.rounds, 'round')}, {counted(self.mistakes, 'mistake')}"


class _Race:
    """Which class leads in every row: each enters in turn, and takes the lead where its score is larger."""

    def __init__(self, count: int) -> None:
        self.leaders = np.full(count, -1, dtype=np.intp)
        self.best = np.full(count, -np.inf)

    def enter(self, code: int, scores: Any, begin: int = 0) -> None:
        leads = (scores > self.best[begin:]) | (self.leaders[begin:] < 0)
        self.leaders[begin:][leads] = code
        self.best[begin:][leads] = scores[leads]


def _largest(scores: list[float]) -> int:
    """The same for one row."""
    leader = -1
    for code, score in enumerate(scores):
        if leader < 0 or score > scores[leader]:
            leader = code
    return leader


def _scores(learner: Any, rows: Any) -> npt.NDArray[np.float64]:
    return score_rows(learner, rows, learner.score_one)


def _finite(rows: Rows) -> Rows:
    """What learners of elsewhere would not look at."""
    rows.require_finite()
    return rows


def _options(learner: Any) -> str:
    given = {name: value for name, value in learner.parameters.items() if name != "labels"}
    return ", ".join(f"{name}={shorten(value, 40)}" for name, value in given.items() if value not in (None, False))
