"""Calibrated: probabilities for a learner whose score is none, by Platt scaling that learns as it goes.

Setting     any learner of two labels; s_t is its score for x_t, before it sees the label y_t in {-1, +1}.
Update      p_t = 1 / (1 + exp(-(a_t s_t + b_t))) is the probability of the positive label, which is predicted if
            a_t s_t + b_t >= 0. The learner learns (x_t, y_t) as it would alone. `ScaleFree` learns a and b from
            (s_t, y_t): it has no rate, and the unit of the scores does not matter to it. Without ``shift`` b is 0, so
            that a learner that is right more often than not keeps its predictions.
Guarantee   on any sequence, for every fixed a and b: the total log loss is at most that of 1 / (1 + exp(-(a s_t + b))),
            plus the regret of `ScaleFree` on two features, the score and the constant 1. Every mistake costs at least
            ln 2 of log loss, so the same bounds the mistakes.
Assumes     nothing about where the examples come from, nor about the learner. Scores beyond 1e60 count as 1e60.
Source      Platt 1999, for scores of a machine that has been trained; the guarantee is that of `ScaleFreeBound`, as the
            scores do not depend on a and b.

The file is compiled only because what it derives from is; all its loops are in the two learners.

>>> learner = Calibrated("perceptron")
>>> for height, label in ((1.81, 1), (-1.62, -1), (1.75, 1), (-1.60, -1)):
...     same = learner.learn_one([height], label)
>>> learner.mistakes, round(learner.predict_proba_one([1.7])[1], 3)
(2, 0.584)
>>> learner.slope > 0, learner.uncalibrated
(True, Perceptron(rate=1.0, labels=(-1, 1)): 4 rounds, 1 mistake)
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.certificate import certify
from afterwit.core.declared import LABELS, Option
from afterwit.core.registry import learner_class
from afterwit.core.sources import certify_source
from afterwit.core.turns import Rounds, parts
from afterwit.data.checks import flag
from afterwit.data.rows import Rows
from afterwit.errors import DivergenceError, invalid
from afterwit.linear._stops import MODERATE
from afterwit.linear.averaged_perceptron import AveragedPerceptron
from afterwit.linear.scale_free import ScaleFree
from afterwit.reductions._binary import (
    blank,
    fresh,
    is_steady,
    make_ready,
    one_row,
    reads_rows,
    require_rounds,
)

if cython.compiled:
    from cython.cimports.afterwit.core.learner import BinaryLearner
else:
    from afterwit.core.learner import BinaryLearner

ALLOWED = "a learner of two labels of this package, its class or its name"


def as_rows(scores: Any) -> Rows:
    """Scores as rows of one feature, none so large that its square is no number."""
    return Rows(len(scores), 1, np.clip(scores, -MODERATE, MODERATE))


@cython.cclass
class Calibrated(BinaryLearner):
    """A learner whose scores become probabilities.

    learner    the learner: an instance, which is never changed, a class, or a name such as "perceptron". If not given,
               the averaged perceptron
    shift      whether b is learned; otherwise it is 0
    labels     the negative and the positive label

    It predicts by its probabilities: the positive label where that is at least 1/2. So its mistakes are not those of
    the learner inside, which ``uncalibrated`` counts.
    """

    _inner: cython.object
    _scaling: cython.object

    theorems = ScaleFree.theorems
    checker = "calibrated"
    converges_without = "mistakes"
    options = (Option("learner", None), Option("shift", True, flag), LABELS)

    def _begin(self) -> None:
        BinaryLearner._begin(self)
        given = self._options["learner"]
        if isinstance(given, str):
            given = learner_class(given)
        base = fresh("learner", AveragedPerceptron if given is None else given, (-1, 1), ("score_one",), ALLOWED)
        if not isinstance(base, BinaryLearner):
            raise invalid("learner", ALLOWED, given)
        if given is not None:
            self._options["learner"] = base
        self._inner = blank(base)
        self._scaling = ScaleFree(intercept=self._options["shift"], labels=(-1, 1))

    def _read(self, X: Any) -> Any:
        return self._inner._read(X)

    def _read_one(self, x: Any) -> Any:
        if reads_rows(self._inner):
            return one_row(x)
        return self._inner._read([x]) if isinstance(x, dict) else self._inner._read_one(x)

    # ------------------------------------------------------------------ rounds

    def score_one(self, x: Any) -> float:
        """a s + b: the logarithm of the odds of the positive label."""
        with self._lock:
            return self._scaling.score_many(as_rows([self._inner.score_one(x)])).item()

    def score_many(self, X: Any) -> Any:
        """``score_one`` for every row of X, as an array."""
        with self._lock:
            return self._scaling.score_many(as_rows(self._inner.score_many(X)))

    def _learn(self, rows: Any, signs: Any, updated: Any = None) -> Any:
        noted = np.zeros(rows.count, dtype=np.int8) if updated is None else updated
        with self._lock, Rounds():
            if rows.count == 1:
                return self._learn_single(rows, signs, noted)
            return self._learn_block(rows, signs, noted)

    def _learn_single(self, rows: Any, signs: Any, noted: Any) -> Any:
        """Learn one row. The scaling, which is small and easy to put back, goes first."""
        scores, before = self._inner.score_many(rows), self._scaling.state()
        moved = np.zeros(1, dtype=np.int8)
        try:
            scaled = self._scaling._learn(as_rows(scores), signs, moved)
            self._inner._learn(rows, signs, noted)
        except BaseException:
            self._scaling.restore(before)
            raise
        self._note(scaled, signs, moved, noted)
        return scaled

    def _learn_block(self, rows: Any, signs: Any, noted: Any) -> Any:
        """Learn all rows or none; but if the learner diverges, or somebody wants to stop, the rounds before that."""
        before, rounds = self._state(), self._inner.rounds
        try:
            return self._learn_parts(rows, signs, noted)
        except DivergenceError:
            # The scores of the last rounds that were learned are lost: all are played again.
            done = self._inner.rounds - rounds
            self._become(before)
            if done:
                self._learn_block(rows.part(0, done), signs[:done], noted[:done])
            raise
        except Exception:
            self._become(before)
            raise

    def _learn_parts(self, rows: Any, signs: Any, noted: Any) -> Any:
        """Learn the rows in order; if anything is raised, it is for the caller to put all back."""
        scaled = np.empty(rows.count)
        for begin, end in parts(rows.count):
            part = rows if end - begin == rows.count else rows.part(begin, end)
            scores = self._inner._learn(part, signs[begin:end], noted[begin:end])
            moved = np.zeros(end - begin, dtype=np.int8)
            scaled[begin:end] = self._scaling._learn(as_rows(scores), signs[begin:end], moved)
            self._note(scaled[begin:end], signs[begin:end], moved, noted[begin:end])
        return scaled

    def _learn_unguarded(self, rows: Any, signs: Any, updated: Any) -> Any:
        """``_learn`` for a caller that has a copy of its state, and puts that back if anything is raised."""
        with self._lock, Rounds():
            return self._learn_parts(rows, signs, updated)

    def _note(self, scaled: Any, signs: Any, moved: Any, noted: Any) -> None:
        """Count rounds that both have learned."""
        noted |= moved
        self._count(len(signs), np.count_nonzero((scaled >= 0) != (signs > 0)), np.count_nonzero(noted))

    # ------------------------------------------------------------------ what it knows

    @property
    def gives_probabilities(self) -> bool:
        return True

    @property
    def learns_what_it_predicts(self) -> bool:
        return bool(self._inner.learns_what_it_predicts)

    def _is_steady(self) -> bool:
        """Whether it cannot diverge as long as values are moderate: as the learner inside. Scores are moderate here."""
        return is_steady(self._inner)

    def _make_ready(self, entries: int, width: int) -> None:
        make_ready(self._inner, entries, width)

    @property
    def zero_is_absent(self) -> bool:
        return bool(self._inner.zero_is_absent)

    @property
    def features(self) -> int:
        """How many features the learner inside knows of."""
        return int(self._inner.features)

    @property
    def uncalibrated(self) -> Any:
        """A copy of the learner inside; its labels are -1 and +1."""
        with self._lock:
            return self._inner.copy()

    @property
    def scaling(self) -> Any:
        """A copy of the learner of a and b, whose one feature is the score and whose intercept is b."""
        with self._lock:
            return self._scaling.copy()

    @property
    def slope(self) -> float:
        """a: by what a score that is no larger than those so far is multiplied; 0 before the first round."""
        weights = self._scaling.weights
        return float(weights[0]) if len(weights) else 0.0

    @property
    def offset(self) -> float:
        """b: what is added."""
        return float(self._scaling.intercept_weight)

    def certificate(self, X: Any, y: Any = None) -> Any:
        """What was promised, what happened and what hindsight would have given, on the rounds X, y.

        X and y are the examples the learner learned from, in order (once for each pass). The loss is the log loss of
        the probabilities. Hindsight is the best fixed a and b for the same scores. X alone may be a stream or a libsvm
        file that fits into memory.
        """
        if y is None:
            return certify_source(self, X)
        return certify(self, *self._checked(X, y))

    # ------------------------------------------------------------------ copying, comparing, saving

    def _state(self) -> dict[str, Any]:
        return {**self._counts(), "learner": self._inner.state(), "scaling": self._scaling.state()}

    def _check_state(self, state: Any) -> None:
        for name, learner in (("learner", self._inner), ("scaling", self._scaling)):
            require_rounds(name, learner, state[name], state["rounds"], state["rounds"])
            learner._require_state(state[name])
        if state["mistakes"] != state["scaling"]["mistakes"]:
            raise invalid("mistakes", "those of the scaling", state["mistakes"])

    def _become(self, state: Any) -> None:
        inner, scaling = blank(self._inner), blank(self._scaling)
        inner.restore(state["learner"])
        scaling.restore(state["scaling"])
        self._inner, self._scaling = inner, scaling
        BinaryLearner._become(self, state)

    def _counts(self) -> dict[str, Any]:
        return {"rounds": self._rounds, "mistakes": self._mistakes, "updates": self._updates}
