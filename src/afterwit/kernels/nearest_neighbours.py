# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Nearest neighbours: predict the label of the most similar examples among the last ones.

Setting     x_t in R^n, y_t in {1..K}, or in no set that is known beforehand. The distance of two examples is
            d(x, z) = sqrt(sum_i ((x_i - z_i) / r_i)^2), where r_i is the range of feature i: its largest value so far
            less its smallest. A feature that an example does not have is 0; one that never changed does not count.
            The score of a class is the sum of 1 / (1 + d^2) over those of the nearest examples that belong to it;
            predict the class of the largest score, of several the one that came first.
Update      keep the example, and drop the oldest if there are more than ``window``.
Units       to multiply a feature by any number changes no prediction, and where every example has a feature, to add a
            constant to it does not either.
Guarantee   none: what is known of nearest neighbours (Cover & Hart 1967: asymptotically at most twice the least
            possible error) is about samples of one distribution, and with all examples kept.
Assumes     that examples of one label are near each other.
Cost        each round compares the example with all that are kept: about ``window`` times the features of one.
Source      Aha, Kibler & Albert, Instance-Based Learning Algorithms, 1991: IB1, with features in units of their range.

>>> learner = NearestNeighbours()
>>> for x, y in [([1.0, 9.0], "low"), ([2.0, 7.0], "low"), ([30.0, 8.0], "high"), ([28.0, 9.5], "high")]:
...     _ = learner.learn_one(x, y)
>>> learner.predict_one([25.0, 8.0]), learner.predict_one([5.0, 8.0])
('high', 'low')
>>> learner.held
4
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.declared import Option
from afterwit.core.learner import view
from afterwit.core.many_labels import MANY_LABELS
from afterwit.data.checks import whole_number
from afterwit.errors import Words, invalid
from afterwit.linear._multiclass import ScoringLearner
from afterwit.linear._stops import Stop

if cython.compiled:
    from cython.cimports.afterwit.linear._class_scores import ClassScores
    from cython.cimports.afterwit.linear._engine import LinearLearner
else:
    from afterwit.linear._class_scores import ClassScores
    from afterwit.linear._engine import LinearLearner

NO_ROOM = cython.declare(cython.int, Stop.NO_ROOM)
#: What is known of a feature: nothing, that every example had it, that some had not.
NEVER, ALWAYS, AT_TIMES = 0.0, 1.0, 2.0
WAS_NEVER = cython.declare(cython.double, NEVER)
IS_ALWAYS = cython.declare(cython.double, ALWAYS)
IS_AT_TIMES = cython.declare(cython.double, AT_TIMES)
#: Smaller ranges count as none, and no value is taken for more ranges than this.
SMALLEST_RANGE = cython.declare(cython.double, 1e-300)
FARTHEST = cython.declare(cython.double, 1e100)
#: The most neighbours, and the most examples that can be kept.
MOST_NEIGHBOURS, MOST_KEPT = 1_000, 10_000_000


def _read_neighbours(parameter: str, value: Any) -> int:
    return whole_number(parameter, value, 1, MOST_NEIGHBOURS, f"a whole number from 1 to {MOST_NEIGHBOURS:,}")


def _read_window(parameter: str, value: Any) -> int:
    return whole_number(parameter, value, 1, MOST_KEPT, f"a whole number from 1 to {MOST_KEPT:,}")


NEIGHBOURS = Option("neighbours", 5, _read_neighbours)
WINDOW = Option("window", 1000, _read_window)


@cython.cclass
class _KeptExamples(ClassScores):
    """The last examples, the range of every feature, and the search for the nearest.

    For every feature there is its smallest and its largest value, 0 included once an example was without it, and which
    of the three it is. Kept example s has the entries from ``_begins[s]`` to ``_begins[s + 1]``, without zeros.
    """

    _neighbours: cython.Py_ssize_t
    _window: cython.Py_ssize_t
    # For every feature, side by side: the value of the current example, 1 / range, and what an example without the
    # feature has it for, in squared distance; the first and the last only while the nearest are sought.
    _laid: cython.double[::1]
    # The entries of the current example, every feature once, without zeros.
    _own_columns: cython.int[::1]
    _own_values: cython.double[::1]
    _own: cython.Py_ssize_t
    # The kept examples, from _oldest to before _newest.
    _begins: cython.longlong[::1]
    _codes: cython.int[::1]
    _places: cython.int[::1]
    _entries: cython.double[::1]
    _oldest: cython.Py_ssize_t
    _newest: cython.Py_ssize_t
    # The nearest so far: their squared distances in ascending order, and their classes.
    _distances: cython.double[::1]
    _nearest: cython.int[::1]
    # The features that every example had: no more than the first has, and so there is as much room as for its entries.
    _steady: cython.int[::1]
    _n_steady: cython.Py_ssize_t

    _called = "NearestNeighbours"
    _stored = ("lowest", "highest", "presence")
    options = (NEIGHBOURS, WINDOW, *ClassScores.options)

    def _begin(self) -> None:
        self._neighbours = self._options["neighbours"]
        self._window = self._options["window"]
        self._laid = view(np.zeros(48))
        self._own_columns = view(np.zeros(64, dtype=np.int32))
        self._own_values = view(np.zeros(64))
        self._own = 0
        self._distances = view(np.zeros(self._neighbours))
        self._nearest = view(np.zeros(self._neighbours, dtype=np.int32))
        self._steady = view(np.zeros(64, dtype=np.int32))
        self._n_steady = 0
        self._keep_these(np.zeros(1, dtype=np.int64), np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0))
        ClassScores._begin(self)

    # ------------------------------------------------------------------ the nearest

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def lay_out(self) -> cython.double:
        """Make the current row the example that is compared; its squared distance from one without any feature.

        Features that every example had are left out of it: no kept example is without them.
        """
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        value: cython.double
        apart: cython.double
        total: cython.double = 0.0
        self._own = 0
        for k in range(self._length):
            column = self._columns[self._offset + k]
            if 0 <= column < self._features:
                self._laid[3 * column] += self._values[self._first + k]
        for k in range(self._length):
            column = self._columns[self._offset + k]
            if 0 <= column < self._features:
                value = self._laid[3 * column]
                if value != 0:
                    # A feature that has several entries is taken once.
                    self._laid[3 * column] = 0.0
                    self._own_columns[self._own] = column
                    self._own_values[self._own] = value
                    self._own += 1
        for k in range(self._own):
            column = self._own_columns[k]
            self._laid[3 * column] = self._own_values[k]
            if self._weights[3 * column + 2] != IS_ALWAYS:
                apart = self._own_values[k] * self._laid[3 * column + 1]
                # What is added here is taken away again, which only works for numbers.
                apart = min(max(apart, -FARTHEST), FARTHEST)
                self._laid[3 * column + 2] = apart * apart
                total += apart * apart
        return total

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put_away(self) -> cython.void:
        """The example is no longer compared."""
        k: cython.Py_ssize_t
        for k in range(self._own):
            self._laid[3 * self._own_columns[k]] = 0.0
            self._laid[3 * self._own_columns[k] + 2] = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def score_classes(self, at: cython.Py_ssize_t) -> cython.void:
        """The sum of 1 / (1 + d^2) over the nearest examples of each class; of examples as near, the newest count."""
        c: cython.Py_ssize_t
        e: cython.Py_ssize_t
        s: cython.Py_ssize_t
        place: cython.Py_ssize_t
        found: cython.Py_ssize_t = 0
        apart: cython.double
        distance: cython.double
        alone: cython.double = self.lay_out()
        for s in range(self._newest - 1, self._oldest - 1, -1):
            distance = alone
            for e in range(self._begins[s], self._begins[s + 1]):
                place = 3 * self._places[e]
                apart = (self._laid[place] - self._entries[e]) * self._laid[place + 1]
                distance += apart * apart - self._laid[place + 2]
            # Where both have all they have in common, rounding may leave less than nothing.
            if distance < 0:
                distance = 0.0
            found = self.place(found, distance, self._codes[s])
        self.put_away()
        for c in range(self._n_classes):
            self._totals[at + c] = 0.0
        for c in range(found):
            self._totals[at + self._nearest[c]] += 1.0 / (1.0 + self._distances[c])
        self._leader = self.leader(self._totals, at)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place(self, found: cython.Py_ssize_t, distance: cython.double, code: cython.int) -> cython.Py_ssize_t:
        """Put an example among the nearest, if it belongs there; how many there are then."""
        c: cython.Py_ssize_t = found
        if found == self._neighbours:
            if not distance < self._distances[found - 1]:
                return found
            c = found - 1
        else:
            found += 1
        while c > 0 and distance < self._distances[c - 1]:
            self._distances[c] = self._distances[c - 1]
            self._nearest[c] = self._nearest[c - 1]
            c -= 1
        self._distances[c] = distance
        self._nearest[c] = code
        return found

    # ------------------------------------------------------------------ learning

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def update(self, y: cython.double, score: cython.double) -> cython.bint:
        k: cython.Py_ssize_t
        end: cython.Py_ssize_t = self._begins[self._newest]
        if self._newest + 2 > self._begins.shape[0] or end + self._own > self._entries.shape[0]:
            self._stopped = NO_ROOM
            return False
        self.note_ranges()
        for k in range(self._own):
            self._places[end + k] = self._own_columns[k]
            self._entries[end + k] = self._own_values[k]
        self._codes[self._newest] = cython.cast(cython.int, y)
        self._newest += 1
        self._begins[self._newest] = end + self._own
        if self._newest - self._oldest > self._window:
            self._oldest += 1
        self._cost_of_round = 8 + self._begins[self._newest] - self._begins[self._oldest]
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def note_ranges(self) -> cython.void:
        """Let the ranges include the current example."""
        k: cython.Py_ssize_t
        place: cython.Py_ssize_t
        kept: cython.Py_ssize_t = 0
        value: cython.double
        first: cython.bint = self._rounds == 1
        for k in range(self._own):
            place = 3 * self._own_columns[k]
            value = self._own_values[k]
            self._laid[place] = value
            if self._weights[place + 2] == WAS_NEVER:
                # The examples before were without it.
                self._weights[place] = value if first else 0.0
                self._weights[place + 1] = self._weights[place]
                self._weights[place + 2] = IS_ALWAYS if first else IS_AT_TIMES
                if first:
                    self._steady[self._n_steady] = self._own_columns[k]
                    self._n_steady += 1
            self.widen(place, value)
        for k in range(self._n_steady):
            place = 3 * self._steady[k]
            if self._laid[place] != 0:
                self._steady[kept] = self._steady[k]
                kept += 1
            else:
                self._weights[place + 2] = IS_AT_TIMES
                self.widen(place, 0.0)
        self._n_steady = kept
        for k in range(self._own):
            self._laid[3 * self._own_columns[k]] = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def widen(self, place: cython.Py_ssize_t, value: cython.double) -> cython.void:
        """Let the range of a feature include a value."""
        span: cython.double
        if value < self._weights[place]:
            self._weights[place] = value
        if value > self._weights[place + 1]:
            self._weights[place + 1] = value
        span = self._weights[place + 1] - self._weights[place]
        self._laid[place + 1] = 1.0 / span if span > SMALLEST_RANGE else 0.0

    # ------------------------------------------------------------------ room

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def reserve(self, features: cython.Py_ssize_t) -> cython.int:
        ClassScores.reserve(self, features)
        room: cython.Py_ssize_t = self._weights.shape[0]
        if self._laid.shape[0] < room:
            laid = np.zeros(room)
            laid[: self._laid.shape[0]] = self._laid
            self._laid = view(laid)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _need_scratch(self, entries: cython.Py_ssize_t) -> cython.int:
        if entries > self._own_columns.shape[0]:
            columns, values = np.zeros(entries, dtype=np.int32), np.zeros(entries)
            # All features of the first example are steady.
            steady = np.zeros(entries, dtype=np.int32)
            steady[: self._n_steady] = self._steady[: self._n_steady]
            self._own_columns = view(columns)
            self._own_values = view(values)
            self._steady = view(steady)
        return LinearLearner._need_scratch(self, entries)

    def _make_room(self, entries: int) -> None:
        """Make room for one more example with so many entries; where there was some, those dropped give it back."""
        if self._newest + 2 <= self._begins.shape[0] and self._begins[self._newest] + entries <= self._entries.shape[0]:
            return
        self._keep_these(*self._kept_rows(), entries)

    def _keep_these(self, starts: Any, codes: Any, places: Any, entries: Any, more: int = 0) -> None:
        """Keep these examples, oldest first, and have room for others."""
        count, length = len(codes), len(entries)
        begins = np.zeros(2 * count + 16, dtype=np.int64)
        begins[: count + 1] = starts
        room = np.zeros(2 * count + 16, dtype=np.int32)
        room[:count] = codes
        columns = np.zeros(2 * length + more + 64, dtype=np.int32)
        columns[:length] = places
        values = np.zeros(2 * length + more + 64)
        values[:length] = entries
        self._begins = view(begins)
        self._codes = view(room)
        self._places = view(columns)
        self._entries = view(values)
        self._oldest = 0
        self._newest = count
        self._cost_of_round = 8 + length

    # ------------------------------------------------------------------ what it knows, copying, saving

    def _kept_rows(self) -> tuple[Any, Any, Any, Any]:
        """A copy of the kept examples, oldest first: where each begins, their classes, their columns and values."""
        begin: cython.Py_ssize_t = self._begins[self._oldest]
        end: cython.Py_ssize_t = self._begins[self._newest]
        starts = np.array(self._begins[self._oldest : self._newest + 1]) - begin
        codes = np.array(self._codes[self._oldest : self._newest])
        return starts, codes, np.array(self._places[begin:end]), np.array(self._entries[begin:end])

    @property
    def held(self) -> int:
        """How many examples are kept."""
        return self._newest - self._oldest

    def _state(self) -> dict[str, Any]:
        starts, codes, places, entries = self._kept_rows()
        kept = {"starts": starts, "codes": codes, "places": places, "entries": entries}
        return {**ClassScores._state(self), "known": self._n_classes, **kept}

    def _check_state(self, state: Any) -> None:
        ClassScores._check_state(self, state)
        lowest, highest, presence = (state[name] for name in self._stored)
        if (lowest > highest).any():
            raise invalid("lowest", "nowhere above highest", lowest)
        if not np.isin(presence, (NEVER, ALWAYS, AT_TIMES)).all():
            raise invalid("presence", f"an array of {NEVER}, {ALWAYS} and {AT_TIMES}", presence)
        inside = (lowest <= 0) & (highest >= 0)
        if (
            not inside[presence == AT_TIMES].all()
            or lowest[presence == NEVER].any()
            or highest[presence == NEVER].any()
        ):
            raise invalid("lowest", "ranges that include 0 where presence is not 1", lowest)
        known = state["known"]
        if type(known) is not int or not 0 <= known < 2**31:
            raise invalid("known", "the number of classes", known)
        kinds = {"starts": np.int64, "codes": np.int32, "places": np.int32, "entries": np.float64}
        for name, kind in kinds.items():
            array = state[name]
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
                raise invalid(name, f"a 1-D array of {np.dtype(kind)}", array)
        starts, codes, places, entries = (state[name] for name in kinds)
        count = len(codes)
        if (
            len(starts) != count + 1
            or starts[0] != 0
            or (starts[1:] < starts[:count]).any()
            or not starts[count] == len(places) == len(entries)
            or (len(places) and not 0 <= places.min() <= places.max() < len(lowest))
            or (count and not 0 <= codes.min() <= codes.max() < known)
        ):
            raise invalid("starts, codes, places and entries", "arrays that fit together", starts)
        if count != min(state["rounds"], self._window):
            raise invalid("codes", f"those of the last {min(state['rounds'], self._window):,} rounds", codes)
        if not _have_steady(starts, places, presence):
            raise invalid("places", "columns of features that are known", places)
        if (entries == 0).any() or (entries < lowest[places]).any() or (entries > highest[places]).any():
            raise invalid("entries", "values within the ranges, without zeros", entries)

    def _become(self, state: Any) -> None:
        self._have_class_room(state["known"])
        ClassScores._become(self, state)
        lowest, highest = state["lowest"], state["highest"]
        laid = np.zeros(self._weights.shape[0])
        with np.errstate(over="ignore"):
            span = highest - lowest
        wide = span > SMALLEST_RANGE
        laid[1 : 3 * len(span) : 3][wide] = 1.0 / span[wide]
        steady = np.flatnonzero(state["presence"] == ALWAYS).astype(np.int32)
        room = np.zeros(max(64, len(steady), self._own_columns.shape[0]), dtype=np.int32)
        room[: len(steady)] = steady
        self._laid = view(laid)
        self._steady = view(room)
        self._n_steady = len(steady)
        self._own = 0
        self._n_classes = state["known"]
        self._keep_these(state["starts"], state["codes"], state["places"], state["entries"])


def _have_steady(starts: Any, places: Any, presence: Any) -> bool:
    """Whether every kept example has all features that every example had, each feature once, and none that none had."""
    count = len(starts) - 1
    row_of = np.repeat(np.arange(count), np.diff(starts))
    pairs = row_of * max(1, len(presence)) + places
    if len(np.unique(pairs)) != len(pairs) or (presence[places] == NEVER).any():
        return False
    steady = np.bincount(row_of[presence[places] == ALWAYS], minlength=count)
    return bool((steady == np.count_nonzero(presence == ALWAYS)).all())


class NearestNeighbours(ScoringLearner):
    """The label of the nearest examples, in units of the features' ranges.

    neighbours  how many of the nearest examples vote
    window      how many examples are kept: the last ones
    labels      the labels that may come, two or more; each can be predicted from the start. If not given, any label may
                come, and a class begins with its first example, in which it cannot be predicted. Before the first, None
                is predicted.

    Each round compares the example with all that are kept.
    """

    no_theorem_because = (
        "what is known of nearest neighbours is about samples of one distribution with all examples kept, not about "
        "any sequence and the last examples"
    )
    options = (NEIGHBOURS, WINDOW, MANY_LABELS)
    _kind_of_engine = _KeptExamples

    @property
    def held(self) -> int:
        """How many examples are kept: all, or as many as the window holds."""
        return int(self._engine.held)

    @property
    def _converges_without(self) -> str:
        return "mistakes"

    def _check_classes(self, state: Any, count: int) -> None:
        if state["known"] != count:
            raise invalid("known", f"the number of classes, {count}", Words(f"{state['known']}"))
