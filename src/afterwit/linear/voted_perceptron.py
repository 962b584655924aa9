# cython: boundscheck=False, wraparound=False, cdivision=True
"""The voted perceptron: learn like the perceptron, predict by a vote of all it ever was.

Setting     x_t in R^n, y_t in {-1, +1}; after T rounds predict sgn(sgn(w_2 . x) + ... + sgn(w_{T+1} . x)), where
            w_{t+1} is the perceptron after round t: every hypothesis has as many votes as rounds that it survived.
Update      the perceptron's, by its own prediction: if sgn(w_t . x_t) is not y_t, w_{t+1} = w_t + y_t x_t, w_1 = 0.
Guarantee   its updates are the perceptron's, so that every bound on the perceptron's mistakes bounds its updates: at
            most (R/gamma)^2, and so on. How often the vote itself errs is no part of these theorems.
Assumes     nothing about where the examples come from.
Cost        a prediction, in learning too, goes through all examples that were ever added: w_k . x is the sum of the
            products of x with the first k of them. Where rounding could decide the sign of that sum, w_k itself is
            made again: every hypothesis votes as the perceptron with its weights predicts. The average of
            AveragedPerceptron costs O(non-zeros).
Source      Freund & Schapire 1999; Mohri, Rostamizadeh & Talwalkar 2018, section 8.3.1.

>>> learner = VotedPerceptron()
>>> for x, y in [([1.0, 0.0], -1), ([0.0, 1.0], -1), ([1.0, -1.0], 1)]:
...     _ = learner.learn_one(x, y)
>>> learner.votes.tolist()  # of w_1, which was wrong at once, of (-1, 0), and of (-1, -1), which survived a round
[0, 1, 2]
>>> learner.score_one([1.0, -2.0])  # one vote for -1, two for +1, of three
0.3333333333333333
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.errors import invalid
from afterwit.linear._stops import Stop
from afterwit.linear.perceptron import perceptron_bounds

if cython.compiled:
    from cython.cimports.afterwit.linear._engine import LinearLearner
    from cython.cimports.libc.math import fabs, floor
else:
    from math import fabs, floor

    from afterwit.linear._engine import LinearLearner

#: A sum of products of floats, and another order of it, differ by less than this for each of their terms.
ROUNDING = cython.declare(cython.double, 2.0**-52)
#: Sums of whole numbers are not rounded as long as all their terms together are below this.
EXACT = cython.declare(cython.double, 2.0**53)
#: Products below the smallest float are lost, however many.
VANISHING = cython.declare(cython.double, 1e-300)

NO_ROOM = cython.declare(cython.int, Stop.NO_ROOM)


@cython.cclass
class VotedPerceptron(LinearLearner):
    """The perceptron that predicts by a vote of its hypotheses.

    intercept  whether every example has a further feature of value 1
    labels     the negative and the positive label

    ``mistakes`` counts those of the vote, ``updates`` those of the perceptron inside, ``weights`` are its last ones,
    and a score is the share of the votes for the positive label less that for the negative one.
    """

    # The examples that were added, in order: number j has the entries from _starts[j] to _starts[j + 1].
    _added: cython.Py_ssize_t
    _starts: cython.longlong[::1]
    _places: cython.int[::1]
    _entries: cython.double[::1]
    # The votes of w_1, and of what each addition made.
    _votes: cython.longlong[::1]
    # The current row by column, and the weights of a hypothesis; all 0 between scores.
    _spread: cython.double[::1]
    _hypothesis: cython.double[::1]
    # How many additions these weights have.
    _made: cython.Py_ssize_t
    # Whether all entries are whole numbers.
    _whole: cython.bint

    theorems = perceptron_bounds("updates")
    _rests = False

    def _begin(self) -> None:
        self._added = 0
        self._starts = view(np.zeros(16, dtype=np.int64))
        self._places = view(np.zeros(64, dtype=np.int32))
        self._entries = view(np.zeros(64))
        self._votes = view(np.zeros(16, dtype=np.int64))
        self._spread = view(np.zeros(16))
        self._hypothesis = view(np.zeros(16))
        self._made = 0
        self._whole = True
        LinearLearner._begin(self)
        # A vote is finite whatever the values are.
        self._bad_values_show = False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score(self) -> cython.double:
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        term: cython.double
        product: cython.double = 0.0
        size: cython.double = 0.0
        own: cython.double
        exact: cython.double = 0.0
        votes: cython.longlong = self._votes[0]
        if self._rounds == 0:
            return 0.0
        self.spread(True)
        if self._whole and self.is_whole():
            exact = EXACT
        for j in range(self._added):
            for k in range(self._starts[j], self._starts[j + 1]):
                term = self._entries[k] * self._spread[self._places[k]]
                product += term
                size += fabs(term)
            own = product
            # Twice what the roundings of both sums, of w_{j+2} and of the row can come to; nan is not above it.
            if size != 0 and not (
                size < exact
                or fabs(product) > ROUNDING * (self._starts[j + 1] + j + 2 * self._length + 8) * size + VANISHING
            ):
                own = self.own_product(j + 1)
            votes += self._votes[j + 1] if own >= 0 else -self._votes[j + 1]
        self.spread(False)
        self.forget()
        if product - product != 0:  # infinite or not a number
            return product
        return cython.cast(cython.double, votes) / cython.cast(cython.double, self._rounds)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def spread(self, there: cython.bint) -> cython.void:
        """Lay the current row out by column, or wipe it away."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        for k in range(self._length):
            column = self._columns[self._offset + k]
            if 0 <= column < self._features:
                if there:
                    self._spread[column] += self._values[self._first + k]
                else:
                    self._spread[column] = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_whole(self) -> cython.bint:
        """Whether all values of the current row are whole numbers."""
        k: cython.Py_ssize_t
        value: cython.double
        for k in range(self._length):
            value = self._values[self._first + k]
            if value != floor(value):
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def own_product(self, additions: cython.Py_ssize_t) -> cython.double:
        """w . x for the weights after so many additions, rounded as ``dot`` rounds them: in its four sums."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        product: cython.double
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        s2: cython.double = 0.0
        s3: cython.double = 0.0
        for k in range(self._starts[self._made], self._starts[additions]):
            self._hypothesis[self._places[k]] += self._entries[k]
        self._made = additions
        for k in range(self._length):
            column = self._columns[self._offset + k]
            if 0 <= column < self._features:
                product = self._hypothesis[column] * self._values[self._first + k]
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
    def forget(self) -> cython.void:
        """Set the weights of the hypothesis back to 0."""
        k: cython.Py_ssize_t
        for k in range(self._starts[self._made]):
            self._hypothesis[self._places[k]] = 0.0
        self._made = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        prediction: cython.int = 1 if self.dot() >= 0 else -1
        if prediction == y:
            self._votes[self._added] += 1
            return False
        if self._added + 2 > self._starts.shape[0] or self._starts[self._added] + self._length > self._entries.shape[0]:
            self._stopped = NO_ROOM
            return False
        self.keep(y)
        self.add(y)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def keep(self, y: cython.double) -> cython.void:
        """Append y x to the examples that were added, with a first vote."""
        k: cython.Py_ssize_t
        end: cython.Py_ssize_t = self._starts[self._added]
        for k in range(self._length):
            self._places[end + k] = self._columns[self._offset + k]
            self._entries[end + k] = y * self._values[self._first + k]
        self._whole = self._whole and self.is_whole()
        self._added += 1
        self._starts[self._added] = end + self._length
        self._votes[self._added] = 1
        self._cost_of_round = 8 + end + self._length

    def _make_room(self, entries: int) -> None:
        entries += self._starts[self._added]
        if self._added + 2 <= self._starts.shape[0] and entries <= self._entries.shape[0]:
            return
        entries *= 2
        starts, votes = _longer(self._starts, 2 * self._added + 16), _longer(self._votes, 2 * self._added + 16)
        places, numbers = _longer(self._places, entries), _longer(self._entries, entries)
        self._starts = view(starts)
        self._votes = view(votes)
        self._places = view(places)
        self._entries = view(numbers)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def reserve(self, features: cython.Py_ssize_t) -> cython.int:
        LinearLearner.reserve(self, features)
        if self._spread.shape[0] < self._weights.shape[0]:
            spread, hypothesis = np.zeros((2, self._weights.shape[0]))
            self._spread = view(spread)
            self._hypothesis = view(hypothesis)
        return 0

    @property
    def votes(self) -> Any:
        """The votes of w_1 and of every hypothesis after it."""
        with self._lock:
            return np.array(self._votes[: self._added + 1])

    def _state(self) -> dict[str, Any]:
        state = LinearLearner._state(self)
        end = self._starts[self._added]
        state["starts"] = np.array(self._starts[: self._added + 1])
        state["places"] = np.array(self._places[:end])
        state["entries"] = np.array(self._entries[:end])
        state["votes"] = np.array(self._votes[: self._added + 1])
        return state

    def _check_state(self, state: Any) -> None:
        LinearLearner._check_state(self, state)
        kinds = {"starts": np.int64, "votes": np.int64, "places": np.int32, "entries": np.float64}
        for name, kind in kinds.items():
            array = state[name]
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
                raise invalid(name, f"a 1-D array of {np.dtype(kind)}", array)
        starts, places = state["starts"], state["places"]
        if (
            not len(starts) == len(state["votes"]) == state["updates"] + 1
            or starts[0] != 0
            or (starts[1:] < starts[: len(starts) - 1]).any()
            or not starts[len(starts) - 1] == len(places) == len(state["entries"])
            or (len(places) and not 0 <= places.min() <= places.max() < len(state["weights"]))
        ):
            raise invalid("starts, places, entries and votes", "arrays that fit together", starts)
        votes, rounds = state["votes"], state["rounds"]
        if votes.min() < 0 or votes.max() > rounds or votes.sum() != rounds:
            raise invalid("votes", f"counts that sum to {rounds:,} rounds", votes)

    def _become(self, state: Any) -> None:
        added, entries = len(state["starts"]) - 1, len(state["places"])
        starts, votes = _longer(state["starts"], added + 16), _longer(state["votes"], added + 16)
        places, numbers = _longer(state["places"], entries + 64), _longer(state["entries"], entries + 64)
        spread, hypothesis = np.zeros((2, max(16, len(state["weights"]))))
        LinearLearner._become(self, state)
        self._added = added
        self._starts = view(starts)
        self._votes = view(votes)
        self._places = view(places)
        self._entries = view(numbers)
        self._spread = view(spread)
        self._hypothesis = view(hypothesis)
        self._made = 0
        self._whole = bool((state["entries"] == np.floor(state["entries"])).all())
        self._cost_of_round = 8 + entries


def _longer(array: Any, size: int) -> Any:
    """A copy with room for more."""
    array = np.asarray(array)
    longer = np.zeros(max(size, len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer
