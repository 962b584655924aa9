# cython: boundscheck=False, wraparound=False, cdivision=True
"""The current row: whatever form examples come in, algorithms see entries with a column and a value.

A dict is unpacked by the names it has; a block of rows is entered once, and each row taken from it. Dense rows have
explicit columns 0, 1, 2, ..., so that nobody sees a difference to sparse ones. A feature that has no weight yet has the
column -1 until it is admitted.

An intercept is a constant feature of value 1: weight 0, before all others, and entry 0 of every row, which is copied
to make room for it. No algorithm knows of it, and every theorem covers it.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.data.rows import number, plain_name, wrong_space
from afterwit.errors import invalid

if cython.compiled:
    from cython.cimports.afterwit.core.learner import BinaryLearner
else:
    from afterwit.core.learner import BinaryLearner


def as_floats(x: dict[Any, Any]) -> dict[Any, float]:
    """The same features with every value a float."""
    return {name: number(f"x[{name!r}]", value) for name, value in x.items()}


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_finite(value: cython.double) -> cython.bint:
    return -1.7976931348623157e308 <= value <= 1.7976931348623157e308


@cython.cclass
class RowLearner(BinaryLearner):
    """A learner that looks at one row at a time, through ``_columns`` and ``_values``."""

    #: It has an intercept without an option that says so.
    _always_intercept = False

    def _begin(self) -> None:
        BinaryLearner._begin(self)
        self._named = False
        self._vocabulary: dict[Any, int] = {}
        self._names: list[Any] = []
        self._reserved = 1 if self._always_intercept or self._options["intercept"] else 0
        self._scratch_values = view(np.zeros(64))
        self._scratch_columns = view(np.zeros(64, dtype=np.int32))
        self._positions = view(np.zeros(0, dtype=np.int32))
        self._rest()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def grow(self, features: cython.Py_ssize_t) -> cython.int:
        """Make room for this many features: the work of whoever keeps something for each of them."""
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _unpack(self, x: dict[Any, Any]) -> cython.int:
        """Make a dict the current row; the number of its features that are new (their columns are -1).

        Gives back -2 for values whose conversion would run code that is not ours: not under the lock.
        """
        k: cython.Py_ssize_t = self._reserved
        unseen: cython.int = 0
        value: cython.double
        if not self._named and self._features > self._reserved:
            raise wrong_space("positions", "a dict")
        if len(x) >= self._scratch_values.shape[0]:
            self._need_scratch(2 * len(x))
            self._rest()
        if self._reserved:
            self._scratch_values[0] = 1.0
            self._scratch_columns[0] = 0
        vocabulary: dict[Any, int] = self._vocabulary
        for name, entry in x.items():
            column = vocabulary.get(name)
            if column is None:
                self._scratch_columns[k] = -1
                unseen += 1
            else:
                self._scratch_columns[k] = column
            if type(entry) is not float and type(entry) is not int:
                return -2
            try:
                value = entry
            except OverflowError:
                return -2
            if not is_finite(value):
                raise invalid(f"x[{name!r}]", "a finite number", value)
            self._scratch_values[k] = value
            k += 1
        self._length = k
        self._known = unseen == 0
        return unseen

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _admit(self, x: dict[Any, Any], unseen: cython.int) -> cython.int:
        """Give the new features of the unpacked dict their columns."""
        k: cython.Py_ssize_t
        self.grow(self._features + unseen)
        self._named = True
        for k, name in enumerate(x, self._reserved):
            if self._scratch_columns[k] < 0:
                self._scratch_columns[k] = self._name(name)
        self._known = True
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _name(self, name: object) -> cython.int:
        """The column of a feature whose name is new."""
        column: cython.int = len(self._names) + self._reserved
        self._vocabulary[name] = column
        self._names.append(plain_name(name))
        return column

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _need_scratch(self, entries: cython.Py_ssize_t) -> cython.int:
        if entries > self._scratch_values.shape[0]:
            self._scratch_values = view(np.zeros(entries))
            self._scratch_columns = view(np.zeros(entries, dtype=np.int32))
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _need_positions(self, width: cython.Py_ssize_t) -> cython.int:
        """The columns of dense rows, 0, 1, 2, ...: so that algorithms see no difference to sparse ones."""
        if width > self._positions.shape[0]:
            self._positions = view(np.arange(width, dtype=np.int32))
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rest(self) -> cython.int:
        """Let go of the caller's arrays: between calls the current row is the scratch space."""
        self._values = self._scratch_values
        self._columns = self._scratch_columns
        self._source_values = self._scratch_values
        self._source_columns = self._scratch_columns
        self._dense = False
        self._known = False
        self._on_trust = False
        self._first = 0
        self._offset = 0
        self._length = 0
        return 0

    def _enter(self, rows: Any, learning: bool) -> None:
        """Take a block of checked rows as the source of current rows."""
        if rows.names is None:
            if self._named:
                raise wrong_space("names", "positions")
            if learning:
                self.grow(self._reserved + rows.width)
            columns = rows.columns
        else:
            if not self._named and self._features > self._reserved:
                raise wrong_space("positions", "names")
            places = [self._vocabulary.get(name, -1) for name in rows.names]
            if learning:
                self.grow(self._features + places.count(-1))
                self._named = True
                for j, name in enumerate(rows.names):
                    if places[j] < 0:
                        places[j] = self._name(name)
            # Without the intercept's weight, as positions come.
            columns = (np.array(places, dtype=np.int32) - np.int32(self._reserved))[rows.columns]
        self._dense = columns is None
        self._known = learning or (rows.names is None and self._reserved + rows.width <= self._features)
        self._source_values = view(rows.values)
        if self._dense:
            self._need_positions(self._reserved + rows.width)
        else:
            self._source_columns = view(columns)
        if self._reserved:
            longest = rows.width if rows.starts is None else int(np.diff(rows.starts).max(initial=0))
            self._need_scratch(longest + 1)
            self._values = self._scratch_values
            self._columns = self._positions if self._dense else self._scratch_columns
        else:
            self._values = self._source_values
            self._columns = self._positions if self._dense else self._source_columns

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _take(self, first: cython.Py_ssize_t, offset: cython.Py_ssize_t, length: cython.Py_ssize_t) -> cython.void:
        """Make this part of the source the current row; with an intercept, a copy after the constant feature."""
        k: cython.Py_ssize_t
        if not self._reserved:
            self._first = first
            self._offset = offset
            self._length = length
            return
        self._scratch_values[0] = 1.0
        for k in range(length):
            self._scratch_values[k + 1] = self._source_values[first + k]
        if not self._dense:
            self._scratch_columns[0] = 0
            for k in range(length):
                self._scratch_columns[k + 1] = self._source_columns[offset + k] + 1
        self._length = length + 1
