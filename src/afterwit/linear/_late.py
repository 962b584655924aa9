# cython: boundscheck=False, wraparound=False, cdivision=True
"""Linear learners whose labels come late: rows are learned by the scores with which they were served.

A learner of which the class says ``late = "served"`` decides by what it served: the engine hands ``update`` the score
that the ticket has, where it would compute one now. Nothing else differs, so a label that comes at once teaches the
same, bit for bit. All others learn as they would when the label arrives.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core import late
from afterwit.core.certificate import require_theorems
from afterwit.core.delays import COUNTS, certified, counts_in, require_served
from afterwit.core.learner import view
from afterwit.core.sources import certify_source
from afterwit.data.labels import labels_of
from afterwit.data.rows import read_examples, read_many
from afterwit.errors import invalid

if cython.compiled:
    from cython.cimports.afterwit.linear._totals import TotalsLearner
else:
    from afterwit.linear._totals import TotalsLearner


@cython.cclass
class LateLearner(TotalsLearner):
    """A learner that can learn rows by the scores with which it served them."""

    def _begin(self) -> None:
        TotalsLearner._begin(self)
        self._served = 0.0
        self._since = 0
        self._updates_since = 0
        nothing = np.zeros(0, dtype=np.int64)
        self._recall_from((np.zeros(0), nothing, nothing))
        self._recalling = False
        self._take_late_counts([0] * len(COUNTS))

    def _recall_from(self, served: Any) -> None:
        """The rows to be learned were served with these scores, after so many rounds and so many updates."""
        scores, rounds, updates = served
        self._served_scores = view(scores)
        self._served_rounds = view(rounds)
        self._served_updates = view(updates)
        self._recalling = True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rest(self) -> cython.int:
        self._recalling = False
        TotalsLearner._rest(self)
        return 0

    def _take_late_counts(self, counts: Any) -> None:
        self._late = counts[0]
        self._late_total = counts[1]
        self._late_largest = counts[2]
        self._between_updates = counts[3]
        self._most_between_updates = counts[4]

    # ------------------------------------------------------------------ what the loop uses

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def recall(self, i: cython.Py_ssize_t) -> cython.void:
        """Remember how row i was served."""
        self._served = self._served_scores[i]
        self._since = self._rounds - self._served_rounds[i]
        self._updates_since = self._updates - self._served_updates[i]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_delay(self, updated: cython.bint) -> cython.void:
        """Count how late the label of the row was that has been learned."""
        if self._since <= 0:
            return
        self._late += 1
        self._late_total += self._since
        self._late_largest = max(self._late_largest, self._since)
        if updated:
            self._between_updates += self._updates_since
            self._most_between_updates = max(self._most_between_updates, self._updates_since)

    # ------------------------------------------------------------------ serving, and learning late

    def serve_one(self, x: Any) -> Any:
        if self.late == "arrival":
            return late.serve_one(self, x)
        while True:
            moment = (self._rounds, self._updates)
            score = self.score_one(x)
            if moment == (self._rounds, self._updates):
                break
        return self._served_prediction(score), late.new_ticket(self, moment, late.plain_row(x), {"score": score})

    def serve_many(self, X: Any) -> Any:
        if self.late == "arrival":
            return late.serve_many(self, X)
        rows = read_many(X)
        while True:
            moment = (self._rounds, self._updates)
            scores = self.score_many(rows)
            if moment == (self._rounds, self._updates):
                break
        written = zip(late.plain_rows(rows), scores.tolist(), strict=True)
        tickets = [late.new_ticket(self, moment, x, {"score": score}) for x, score in written]
        return self._served_predictions(scores), tickets

    def learn_late(self, ticket: Any, y: Any) -> Any:
        if self.late == "arrival":
            return late.learn_late(self, ticket, y)
        sign = self._sign(y)
        rows, served = self._tickets([ticket], ["ticket"])
        self._learn_late(rows, np.full(1, sign, dtype=np.int8), served)
        if self._undecided:
            self._decide([y])
        return self._served_prediction(served[0][0])

    def learn_late_many(self, tickets: Any, y: Any) -> Any:
        if self.late == "arrival":
            return late.learn_late_many(self, tickets, y)
        tickets = list(tickets)
        signs = (labels_of(y) if self._undecided else self._labels).signs(y)
        late.require_as_many(signs, tickets)
        if not tickets:
            return self._labels.decode(signs)
        rows, served = self._tickets(tickets, late.places(tickets))
        try:
            self._learn_late(rows, signs, served)
        finally:
            if self._undecided and self._rounds:
                self._decide(y)
        return self._served_predictions(served[0])

    def _served_prediction(self, score: Any) -> Any:
        return self._labels.positive if score >= 0 else self._labels.negative

    def _served_predictions(self, scores: Any) -> Any:
        return self._labels.decode(np.where(scores >= 0, 1, -1))

    def _tickets(self, tickets: Any, places: Any) -> Any:
        """The rows of tickets, and how they were served; refused if one is not a ticket of this learner."""
        for ticket, where in zip(tickets, places, strict=True):
            late.require_ticket(self, ticket, ("score",), where)
            if type(ticket["score"]) is not float or ticket["score"] - ticket["score"] != 0:
                raise invalid(f"score of {where}", "a finite number", ticket["score"])
        rows = late.read_rows(self, tickets, places)
        scores = np.array([ticket["score"] for ticket in tickets])
        rounds = np.array([ticket["rounds"] for ticket in tickets], dtype=np.int64)
        return rows, (scores, rounds, np.array([ticket["updates"] for ticket in tickets], dtype=np.int64))

    def _learn_late(self, rows: Any, signs: Any, served: Any, updated: Any = None) -> Any:
        """``_learn`` for rows that were served with these scores, after so many rounds and updates."""
        return self._learn(rows, signs, updated, served)

    def _engine_scores(self, rows: Any) -> Any:
        """The scores by which rows are served now, for a checker; a regressor has them from its weights."""
        return self.score_many(rows)

    @property
    def delays(self) -> Any:
        """How late labels were, as counts by name; None if none was, or if it does not learn by what it served."""
        with self._lock:
            return self._late_counts()

    def _late_counts(self) -> Any:
        counts = (self._late, self._late_total, self._late_largest, self._between_updates, self._most_between_updates)
        return dict(zip(COUNTS, counts, strict=True)) if self._late else None

    # ------------------------------------------------------------------ certificates

    def certificate(self, X: Any, y: Any = None, comparator: Any = None, served: Any = None) -> Any:
        """What was promised, what happened and what hindsight would have given, on the rounds X, y.

        X and y are the examples it learned from, in order (once for each pass); or X alone is a stream or a libsvm file
        of them, which is read a few times if it is large. The tightest theorem of the algorithm that applies comes
        first. Comparators are found in hindsight unless one is given, as an array or a dict of weights.

        Where labels came late, the order is that in which they were learned, and ``served`` has for each example how
        many rounds had been learned when it was served. A learner that decides by what it served is certified by that;
        of any other, the certificate is about what it would have predicted when it learned.
        """
        require_served(self, y, served)
        if y is None:
            return certify_source(self, X, comparator)
        require_theorems(self)
        labels = labels_of(y) if self._undecided else self._labels
        rows, signs = read_examples(X, y, labels)
        return certified(self, rows, signs, comparator, served)

    # ------------------------------------------------------------------ copying, comparing, saving

    def _counts(self) -> dict[str, Any]:
        counts = TotalsLearner._counts(self)
        late_counts = self._late_counts()
        return counts if late_counts is None else {**counts, "late_labels": late_counts}

    def _check_counts(self, state: Any) -> None:
        TotalsLearner._check_counts(self, state)
        if any(counts_in(state)) and self.late == "arrival":
            raise invalid("late_labels", f"left out for {self._called}", state["late_labels"])

    def _become(self, state: Any) -> None:
        TotalsLearner._become(self, state)
        self._take_late_counts(counts_in(state))
