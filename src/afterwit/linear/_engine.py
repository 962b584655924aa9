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
other Python threads run. They run in slices, between which Ctrl-C is noticed, and finished rounds stay learned.

Nothing that is learned becomes infinite or NaN. While values, scores and options are moderate that is proved and
nothing is looked at; beyond, the weights are copied before a slice, looked at after it, and put back if need be.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.declared import LABELS, Option
from afterwit.core.learner import view
from afterwit.core.turns import SLICE, breathe
from afterwit.data.checks import FLOAT_MAX, flag
from afterwit.data.rows import as_mapping, read_many, read_one
from afterwit.errors import DivergenceError, InputError, Words, invalid
from afterwit.linear._row import as_floats
from afterwit.linear._stops import MODERATE, Stop

if cython.compiled:
    from cython.cimports.afterwit.core.turns import begin_rounds, end_rounds, seconds
    from cython.cimports.afterwit.linear._late import LateLearner
else:
    from afterwit.core.turns import begin_rounds, end_rounds, seconds
    from afterwit.linear._late import LateLearner


#: What every linear learner takes, after its own options.
INTERCEPT = Option("intercept", False, flag)
SHARED = (INTERCEPT, LABELS)
#: The same for learners that are made for use: an example of unknown features is then not decided by a tie.
PRACTICAL = (Option("intercept", True, flag), LABELS)


BEYOND_LIMIT = cython.declare(cython.int, Stop.BEYOND_LIMIT)
GOING_ON = cython.declare(cython.int, Stop.GOING_ON)
NO_ROOM = cython.declare(cython.int, Stop.NO_ROOM)
#: The limit of scores that only stops at what is not finite.
LARGEST = cython.declare(cython.double, FLOAT_MAX)
SLICE_LENGTH = cython.declare(cython.double, SLICE)
#: How many entries are worth a look at the clock: a fraction of a millisecond.
WORK_BETWEEN_LOOKS = cython.declare(cython.Py_ssize_t, 100_000)


def overflow(place: str) -> InputError:
    """What to raise for a finite example that has no finite score."""
    return invalid(place, "an example whose score is a finite number", Words("one that makes it overflow"))


@cython.cclass
class LinearLearner(LateLearner):
    """A learner that predicts sgn(w . x), with sgn(0) = +1. Algorithms derive from it and define ``update``."""

    checker = "perceptron"
    options = SHARED
    learns_what_it_predicts = True
    #: A round without an update leaves it as it was, but for the count.
    _rests = True

    def _begin(self) -> None:
        if cython.compiled and hasattr(self, "update"):
            raise TypeError("update is compiled: a Python subclass cannot replace it")
        LateLearner._begin(self)
        self._bad_values_show = True
        self._cost_of_round = 8

    # ------------------------------------------------------------------ the idea, and what it may use

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        """Learn from the current row, whose sign or target is y and whose score was w . x; say whether w changed."""
        return False

    # ------------------------------------------------------------------ one round

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def learn_row(self, y: cython.double) -> cython.double:
        """Score the current row, count the round and the mistake, update; give back the score.

        A row that was served before has the score of then. Where it has to stop, ``_stopped`` says why, and nothing has
        changed.
        """
        score: cython.double = self._served if self._recalling else self.score()
        if not -self._limit <= score <= self._limit:  # type: ignore[has-type]
            self._stopped = BEYOND_LIMIT
            return score
        if self._real:
            self.learn_target(y, score)
            return score
        mistake: cython.bint = (score >= 0) != (y > 0)
        self._rounds += 1
        self._mistakes += mistake
        if self.update(y, score):
            self._updates += 1
        if self._stopped:
            self._rounds -= 1
            self._mistakes -= mistake
        return score

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def learn_target(self, y: cython.double, score: cython.double) -> cython.void:
        """The same for a real target: its error is counted, and it must not be huge either."""
        loss: cython.double = self._total_loss  # type: ignore[has-type]
        squared_errors: cython.double = self._squared_errors  # type: ignore[has-type]
        if not -self._limit <= y <= self._limit:  # type: ignore[has-type]
            self._stopped = BEYOND_LIMIT
            return
        self._rounds += 1
        self.count_error(score - y)
        if self.update(y, score):
            self._updates += 1
        if self._stopped:
            self._rounds -= 1
            self._total_loss = loss
            self._squared_errors = squared_errors

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _score(self, x: Any) -> cython.double:
        score: cython.double = 0.0
        readable: cython.bint
        x = self._by_name(x)
        named: cython.bint = isinstance(x, dict)
        row = x if named else self._by_position(x)
        self._begin_turn()
        try:
            readable = (self._unpack(x) if named else self._lay_out(row)) >= 0
            if readable:
                score = self.score()
        finally:
            self._lock.release()
        if not readable:
            return self._score(as_floats(x)) if named else self.score_many(read_one(x)).item()
        if score - score != 0:  # infinite or not a number
            raise overflow("x")
        return score

    def score_one(self, x: Any) -> float:
        return self._score(x)

    def predict_one(self, x: Any) -> Any:
        return self._labels.positive if self._score(x) >= 0 else self._labels.negative

    def learn_one(self, x: Any, y: Any) -> Any:
        sign: cython.double
        try:
            sign = self._signs[y]
        except (KeyError, TypeError):
            sign = self._sign(y)
        score: cython.double = self._learn_example(x, sign)
        if self._undecided:
            self._decide([y])
        return self._labels.positive if score >= 0 else self._labels.negative

    def _learn_target_of(self, x: Any, y: float) -> float:
        """Learn one example of a real target; the prediction before that."""
        return self._learn_example(x, y)

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _learn_example(self, x: Any, sign: cython.double) -> cython.double:
        """Learn one example, in whatever form it comes; its score before that."""
        unseen: cython.int
        needed: cython.Py_ssize_t
        features: cython.Py_ssize_t
        named: cython.bint
        score: cython.double = 0.0
        x = self._by_name(x)
        if isinstance(x, dict):
            self._begin_turn()
            try:
                features, named = self._features, self._named
                unseen = self._unpack(x)
                if unseen > 0 or (unseen == 0 and not named):
                    self._admit()
                if unseen >= 0:
                    score = self._learn_current(sign, features, named)
            finally:
                self._lock.release()
            return self._learn_example(as_floats(x), sign) if unseen < 0 else score
        row = self._by_position(x)
        self._begin_turn()
        try:
            features = self._features
            needed = self._lay_out(row)
            if needed > features:
                self.grow(needed)
                self._known = True
            if needed >= 0:
                score = self._learn_current(sign, features, False)
        finally:
            self._lock.release()
        return self._learn(read_one(x), np.full(1, sign))[0] if needed < 0 else score

    @cython.cfunc
    @cython.exceptval(-1, check=True)
    def _learn_current(self, sign: cython.double, features: cython.Py_ssize_t, named: cython.bint) -> cython.double:
        """Learn the current row; ``features`` were known before it, by name or not."""
        score: cython.double
        self._stopped = GOING_ON
        score = self.learn_row(sign)
        return self._learn_stopped(sign, features, named) if self._stopped else score

    def _learn_stopped(self, sign: float, features: int, named: bool) -> float:
        """Learn the current row, at which the loop has stopped; what is new in it is forgotten if it is refused."""
        try:
            while self._stopped:
                if self._stopped == BEYOND_LIMIT and self._limit != LARGEST:  # type: ignore[has-type]
                    self._limit = LARGEST
                    self._stopped = GOING_ON
                else:
                    self._go_on()
                before = self._state()
                score = self.learn_row(sign)
            if not self.is_sound():
                self._become(before)
                raise self._divergence()
        except BaseException:
            self._forget_from(features, named)
            raise
        return score

    # ------------------------------------------------------------------ many rounds

    def _learn(self, rows: Any, signs: Any, updated: Any = None, served: Any = None) -> Any:
        """Learn rows in order; the scores, made before each label was used, or those with which they were served.

        If it is interrupted, or a round would make the weights infinite, the rounds before stay learned.
        """
        scores = np.empty(rows.count)
        if rows.count == 0:
            return scores
        noted = view(np.empty(rows.count, dtype=np.int8) if updated is None else updated)
        # Other learners have real targets in the place of signs, or the numbers of classes.
        signs = view(np.asarray(signs, dtype=np.float64))
        self._begin_turn()
        try:
            begin_rounds()
            try:
                if served is not None:
                    self._recall_from(served)
                self._learn_block(rows, signs, view(scores), noted)
            finally:
                self._rest()
                end_rounds()
        finally:
            self._lock.release()
        return scores

    def _learn_block(self, rows: Any, signs: Any, scores: Any, noted: Any) -> None:
        """Learn all rows, slice by slice.

        A bad value must change nothing, and looking for one costs a pass over the data. Where the rows hold many
        more values than there are weights, the weights are copied instead: 0 * inf and 0 * nan are nan, so a bad
        value shows in its row's score, and then the copy is put back.
        """
        features, named, done = self._features, self._named, 0
        bad_values_show = self._bad_values_show and not self._recalling
        on_trust = bad_values_show and len(rows.values) >= 4 * self._features * self._stride
        proven = not on_trust and self._proven > 0 and rows.are_moderate(MODERATE)
        if not on_trust and not proven:
            rows.require_finite()
        self._enter(rows, True)
        try:
            first = self._state() if on_trust else None
            before = first
            while True:
                if proven:
                    self._limit = MODERATE
                    done = self._learn_rows(rows, signs, scores, noted, done, rows.count)
                else:
                    done = self._learn_watched(rows, signs, scores, noted, done, before or self._state())
                    before = None
                if done == rows.count:
                    return
                if self._stopped == BEYOND_LIMIT and proven:
                    proven = False
                else:
                    if self._stopped and on_trust:
                        try:
                            rows.require_finite()
                        except InputError:
                            self._become(first)
                            done = 0
                            raise
                    self._go_on()
                breathe()
        except BaseException:
            self._forget_unlearned(rows, done, features, named)
            raise

    def _learn_watched(self, rows: Any, signs: Any, scores: Any, noted: Any, begin: int, before: Any) -> int:
        """Learn a slice of which it is not known that all stays finite; how far it came, with finite weights."""
        self._limit = LARGEST
        end = rows.count
        while True:
            done = self._learn_rows(rows, signs, scores, noted, begin, end)
            if self.is_sound():
                return done
            self._become(before)
            if done == begin:
                # The values were checked; so they are others now than they were then.
                raise DivergenceError(
                    f"the weights of {self._called} are infinite or NaN, because the values in X were changed "
                    "while they were learned; make the learner anew, and do not write to X meanwhile"
                )
            if done == begin + 1:
                raise self._divergence()
            # Half of the rows, and so on, until the round is found.
            end = begin + max(1, (done - begin) // 2)

    def _forget_unlearned(self, rows: Any, done: int, features: int, named: bool) -> None:
        """Forget the features that only occur in rows which were not learned; ``features`` were known before."""
        if done:
            part = rows.part(0, done)
            if rows.names is None:
                features = max(features, self._reserved + part.width)
            else:
                # A learner may leave out some.
                features += sum([self._vocabulary.get(name, -1) >= features for name in part.names])
                named = True
        self._forget_from(features, named)

    def _go_on(self) -> None:
        """Do what has to be done about a stop, or say why the row cannot be learned."""
        stopped = self._stopped
        self._stopped = GOING_ON
        if stopped == NO_ROOM:
            self._make_room(self._length)
        elif stopped:
            raise self._divergence()

    def _make_room(self, entries: int) -> None:
        """Make room for what the algorithm keeps of a row with so many entries."""

    def _make_ready(self, entries: int, width: int) -> None:
        """Make room for one more example, so that it can be learned even if there is no memory left."""
        self._begin_turn()
        try:
            self.reserve(max(self._features + entries, self._reserved + width))
            self._need_scratch(2 * entries + 2)
            self._make_room(entries + 1)
        finally:
            self._rest()
            self._lock.release()

    def _is_steady(self) -> bool:
        """Whether it cannot diverge, whatever it has learned, as long as values are moderate: steps are bounded."""
        return self._proven > 0 and not self._real and self._options.get("loss") != "squared"

    @property
    def _called(self) -> str:
        """What messages call it."""
        return type(self).__name__

    def _divergence(self) -> DivergenceError:
        what, remedy = "a score or a weight", "scale the features"
        if self._real:
            what, remedy = "a score, a weight or a squared error", "scale the features and the targets"
        remedy = f"use a smaller rate or {remedy}" if "rate" in self._options else remedy
        what = f"{what} of {self._called} infinite or NaN"
        return DivergenceError(f"round {self._rounds + 1:,} would make {what}; {remedy}")

    def _learn_rows(
        self,
        rows: Any,
        signs: cython.const[cython.double][::1],  # type: ignore[valid-type]
        scores: cython.double[::1],
        updated: cython.schar[::1],
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> int:
        """Learn a slice of the rows from ``begin`` to ``end``; how far it came."""
        starts: cython.longlong[::1]
        i: cython.Py_ssize_t = begin
        width: cython.Py_ssize_t = rows.width
        dense: cython.bint = rows.starts is None
        updates: cython.longlong
        work: cython.Py_ssize_t = 0
        until: cython.double = seconds() + SLICE_LENGTH
        starts = view(np.zeros(1, dtype=np.int64) if dense else rows.starts)
        self._stopped = GOING_ON
        with cython.nogil:
            while i < end:
                if dense:
                    self._take(i * width, 0, width)
                else:
                    self._take(starts[i], starts[i], starts[i + 1] - starts[i])
                updates = self._updates
                if self._recalling:
                    self.recall(i)
                scores[i] = self.learn_row(signs[i])
                if self._stopped:
                    break
                updated[i] = self._updates != updates
                if self._recalling:
                    self.count_delay(updated[i])
                i += 1
                work += self._length * self._stride + self._cost_of_round
                if work > WORK_BETWEEN_LOOKS:
                    work = 0
                    if seconds() > until:
                        break
        return i

    def _score_rows(self, rows: Any, scores: cython.double[::1], begin: cython.Py_ssize_t) -> int:
        """The scores of a slice of the rows; how far it came."""
        starts: cython.longlong[::1]
        i: cython.Py_ssize_t = begin
        count: cython.Py_ssize_t = rows.count
        width: cython.Py_ssize_t = rows.width
        dense: cython.bint = rows.starts is None
        work: cython.Py_ssize_t = 0
        until: cython.double = seconds() + SLICE_LENGTH
        starts = view(np.zeros(1, dtype=np.int64) if dense else rows.starts)
        with cython.nogil:
            while i < count:
                if dense:
                    self._take(i * width, 0, width)
                else:
                    self._take(starts[i], starts[i], starts[i + 1] - starts[i])
                scores[i] = self.score()
                i += 1
                work += self._length * self._stride + self._cost_of_round
                if work > WORK_BETWEEN_LOOKS:
                    work = 0
                    if seconds() > until:
                        break
        return i

    def score_many(self, X: Any) -> Any:
        rows = read_many(X)
        rows.require_finite()
        scores = np.empty(rows.count)
        self._begin_turn()
        try:
            begin_rounds()
            try:
                self._enter(rows, False)
                done = self._score_rows(rows, view(scores), 0)
                while done < rows.count:
                    breathe()
                    done = self._score_rows(rows, view(scores), done)
            finally:
                self._rest()
                end_rounds()
        finally:
            self._lock.release()
        finite = np.isfinite(scores)
        if not finite.all():
            raise overflow("x" if rows.single else f"X[{rows.first + int(np.argmin(finite))}]")
        return scores

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
            if not self.is_sound():
                raise invalid("start", "weights whose sums are finite", Words("others"))
