# cython: boundscheck=False, wraparound=False, cdivision=True
"""The current row: whatever form examples come in, algorithms see entries with a column and a value.

A dict is unpacked by the names it has, one array or list is laid out by position; a block of rows is entered once, and
each row taken from it. Dense rows have explicit columns 0, 1, 2, ..., so that nobody sees a difference to sparse ones.
A feature that has no weight yet has the column -1 until it is admitted.

An intercept is a constant feature of value 1: weight 0, before all others, and entry 0 of every row, which is copied
to make room for it. No algorithm knows of it, and every theorem covers it.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.data._arrays import float_row
from afterwit.data.rows import LARGEST_POSITION, as_mapping, number, plain_name, sparse_row, wrong_space
from afterwit.errors import Words, invalid
from afterwit.linear._stops import MODERATE as LARGEST_MODERATE
from afterwit.linear._stops import Stop

if cython.compiled:
    from cython.cimports.afterwit.core.learner import BinaryLearner
else:
    from afterwit.core.learner import BinaryLearner


GOING_ON = cython.declare(cython.int, Stop.GOING_ON)
MODERATE = cython.declare(cython.double, LARGEST_MODERATE)

ARRAY = cython.declare(object, np.ndarray)
FLOAT64 = cython.declare(object, np.dtype(np.float64))
#: A shorter array is read faster as a list than through its buffer.
SHORT = cython.declare(cython.Py_ssize_t, 8)
LAST = cython.declare(cython.Py_ssize_t, LARGEST_POSITION)
#: Whole numbers up to this one are floats exactly, however they are converted.
EXACT = cython.declare(cython.double, 2.0**53)

#: Types of names that run no code of the user's when they are compared.
PLAIN_NAMES = frozenset({str, int, float, bool, bytes, np.str_})


def is_plain_name(name: Any) -> bool:
    """Whether comparing it runs no code of the user's."""
    return type(name) in PLAIN_NAMES or (type(name) is tuple and all(type(part) in PLAIN_NAMES for part in name))


def as_floats(x: dict[Any, Any]) -> dict[Any, float]:
    """The same features with every value a float."""
    return {name: number(f"x[{name!r}]", value) for name, value in x.items()}


def plain_values(x: dict[Any, Any]) -> dict[Any, Any]:
    """The same features, with numbers of Python: no code of the user's is left to be run for their values."""
    for value in x.values():
        if type(value) is not float and type(value) is not int:
            return as_floats(x)
    return x


def is_harmless(x: dict[Any, Any]) -> bool:
    """Whether no code of the user's compares the names of plain values, and none of these is huge."""
    for name, value in x.items():
        if not -LARGEST_MODERATE <= value <= LARGEST_MODERATE:
            return False
        if type(name) is not str and not is_plain_name(name):
            return False
    return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def is_finite(value: cython.double) -> cython.bint:
    return -1.7976931348623157e308 <= value <= 1.7976931348623157e308


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def copy_moderate(
    source: cython.const[cython.double][:],  # type: ignore[valid-type]
    to: cython.double[::1],
    at: cython.Py_ssize_t,
) -> cython.bint:
    """Copy numbers; whether all of them are moderate."""
    k: cython.Py_ssize_t
    wrong: cython.Py_ssize_t = 0
    for k in range(len(source)):
        to[at + k] = source[k]
        wrong += not -MODERATE <= source[k] <= MODERATE
    return wrong == 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def copy_columns(
    source: cython.const[cython.int][:],  # type: ignore[valid-type]
    to: cython.int[::1],
    at: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Copy columns, which ``at`` reserved ones come before; one more than the last.

    Gives back -1 if any is out of range, or not larger than the one before: then it may be there twice.
    """
    k: cython.Py_ssize_t
    column: cython.Py_ssize_t
    reach: cython.Py_ssize_t = 0
    for k in range(len(source)):
        column = source[k]
        if not reach <= column <= LAST:
            return -1
        to[at + k] = at + column
        reach = column + 1
    return reach


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
        self._stopped = GOING_ON
        self._limit = 0.0
        self._proven = MODERATE
        self._unseen: list[Any] = []
        self._reserved = 1 if self._always_intercept or self._options["intercept"] else 0
        self._features = self._reserved
        self._scratch_values = view(np.zeros(64))
        self._scratch_columns = view(np.zeros(64, dtype=np.int32))
        self._positions = view(np.zeros(0, dtype=np.int32))
        self._overwritten = view(np.zeros(64))
        self._rest()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begin_turn(self) -> cython.int:
        """Take the lock; in a process that was forked meanwhile, leave what another thread was doing."""
        if self._lock.acquire():
            self._rest()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def reserve(self, features: cython.Py_ssize_t) -> cython.int:
        """Make room for this many features: the work of whoever keeps something for each of them.

        It may fail halfway: room that is not used counts for nothing.
        """
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def grow(self, features: cython.Py_ssize_t) -> cython.int:
        """Have this many features, if there are fewer: all of what is kept for them, or nothing."""
        if features > self._features:
            self.reserve(features)
            self._features = features
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _unpack(self, x: dict[Any, Any]) -> cython.int:
        """Make a dict the current row; the number of its features that are new (their columns are -1).

        Gives back -2 for values whose conversion would run code that is not ours: not under the lock.
        """
        k: cython.Py_ssize_t = self._reserved
        room: cython.Py_ssize_t
        unseen: cython.int = 0
        moderate: cython.bint = True
        value: cython.double
        if not self._named and self._features > self._reserved:
            raise wrong_space("positions", "a dict")
        self._begin_row(len(x))
        room = self._scratch_values.shape[0]
        vocabulary: dict[Any, int] = self._vocabulary
        for name, entry in x.items():
            column = vocabulary.get(name)
            if k >= room:
                # Only if the name's hash or its comparison has changed the dict.
                raise invalid("x", "left alone while it is read", Words("a dict that changed"))
            if column is None:
                self._scratch_columns[k] = -1
                if unseen == 0:
                    self._unseen = []
                self._unseen.append(name)
                unseen += 1
            else:
                self._scratch_columns[k] = column
            if type(entry) is not float and type(entry) is not int:
                return -2
            try:
                value = entry
            except OverflowError:
                return -2
            if not -MODERATE <= value <= MODERATE:
                if not is_finite(value):
                    raise invalid(f"x[{name!r}]", "a finite number", value)
                moderate = False
            self._scratch_values[k] = value
            k += 1
        self._length = k
        self._known = unseen == 0
        self._limit = self._proven if moderate else -1.0
        return unseen

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _admit(self) -> cython.int:
        """Give the new features of the unpacked dict their columns."""
        k: cython.Py_ssize_t
        column: cython.int = self._features
        if self._known:
            self._named = True
            return 0
        self._admit_names(self._unseen)
        for k in range(self._reserved, self._length):
            if self._scratch_columns[k] < 0:
                self._scratch_columns[k] = column
                column += 1
        self._known = True
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _admit_names(self, names: list[Any]) -> cython.int:
        """Know features by these names, which are new, in their order: all of them or none."""
        column: cython.Py_ssize_t = self._features
        vocabulary: dict[Any, int] = self._vocabulary
        self.reserve(self._features + len(names))
        if not all(is_plain_name(name) for name in names):
            # Code of the user's compares such names: what it does must not matter to the vocabulary in use.
            vocabulary = dict(vocabulary)
        try:
            for name in names:
                vocabulary[name] = column
                column += 1
            if len(vocabulary) != column - self._reserved:
                raise invalid("x", "features whose names differ", Words("names that are equal now and then"))
            self._names += [plain_name(name) for name in names]
        except BaseException:
            if vocabulary is self._vocabulary:
                for name in names:
                    vocabulary.pop(name, None)
            raise
        self._vocabulary = vocabulary
        self._features = column
        self._named = True
        return 0

    def _forget_from(self, features: int, named: bool) -> None:
        """Have only this many features, as before a round that did not take place; the others were never learned."""
        for name in self._names[features - self._reserved :]:
            self._vocabulary.pop(name, None)
        del self._names[features - self._reserved :]
        self._features = features
        self._named = named

    @cython.cfunc
    def _by_name(self, x: Any) -> Any:
        """A row by name as a dict; one by position as it came."""
        return x if type(x) is dict or type(x) is ARRAY or type(x) is list else as_mapping(x)

    @cython.cfunc
    def _by_position(self, x: Any) -> Any:
        """A row by position as ``_lay_out`` takes it; None for what is rare or wrong, which `read_one` reads."""
        if type(x) is list or (type(x) is ARRAY and x.dtype is FLOAT64 and x.ndim == 1):
            return x
        row = float_row(x)
        return sparse_row(x) if row is None else row

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _lay_out(self, row: Any) -> cython.Py_ssize_t:
        """Make an array, a list or the parts of a sparse row the current row; how many features it asks for.

        Gives back -2 for what is rare or wrong here too, huge numbers among it.
        """
        k: cython.Py_ssize_t
        reach: cython.Py_ssize_t
        at: cython.Py_ssize_t = self._reserved
        # Whether columns may be ids is looked at where there is more time.
        if row is None or self._named or self._by_id:
            return -2
        if type(row) is tuple:
            columns, values, width = row
            reach = self._copy_sparse(columns, values, width)
        elif type(row) is list:
            reach = self._copy_list(row)
        elif not cython.compiled or len(row) < SHORT:
            reach = self._copy_list(row.tolist())
        else:
            reach = len(row)
            if reach > LAST:
                return -2
            self._begin_row(reach)
            if not copy_moderate(row, self._scratch_values, at):
                return -2
            for k in range(at, at + reach):
                self._scratch_columns[k] = k
            self._length = at + reach
        if reach < 0:
            return -2
        self._known = at + reach <= self._features
        self._limit = self._proven
        return at + reach

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _copy_list(self, row: list[Any]) -> cython.Py_ssize_t:
        k: cython.Py_ssize_t = self._reserved
        value: cython.double
        self._begin_row(len(row))
        for entry in row:
            if type(entry) is not float and type(entry) is not int:
                return -2
            try:
                value = entry
            except OverflowError:
                return -2
            if not -MODERATE <= value <= MODERATE or (type(entry) is int and not -EXACT <= value <= EXACT):
                return -2
            self._scratch_values[k] = value
            self._scratch_columns[k] = k
            k += 1
        self._length = k
        return len(row)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _copy_sparse(self, columns: Any, values: Any, width: Any) -> cython.Py_ssize_t:
        reach: cython.Py_ssize_t
        at: cython.Py_ssize_t = self._reserved
        self._begin_row(len(columns))
        reach = copy_columns(columns if cython.compiled else columns.tolist(), self._scratch_columns, at)
        if reach < 0 or not copy_moderate(values if cython.compiled else values.tolist(), self._scratch_values, at):
            return -2
        self._length = at + len(columns)
        if width is None:
            return reach
        return width if reach <= width else -2

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begin_row(self, entries: cython.Py_ssize_t) -> cython.int:
        """Room in the scratch space for a row, and the constant feature before it, if there is one."""
        if self._reserved + entries > self._scratch_values.shape[0]:
            self._need_scratch(2 * (self._reserved + entries))
            self._rest()
        if self._reserved:
            self._scratch_values[0] = 1.0
            self._scratch_columns[0] = 0
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _need_scratch(self, entries: cython.Py_ssize_t) -> cython.int:
        if entries > self._scratch_values.shape[0]:
            values, columns, overwritten = np.zeros(entries), np.zeros(entries, dtype=np.int32), np.zeros(entries)
            self._scratch_values = view(values)
            self._scratch_columns = view(columns)
            self._overwritten = view(overwritten)
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
        self._first = 0
        self._offset = 0
        self._length = 0
        return 0

    def _enter(self, rows: Any, learning: bool) -> None:
        """Take a block of checked rows as the source of current rows."""
        fresh: list[Any] = []
        if rows.names is None:
            if self._named:
                raise wrong_space("names", "positions")
            self._require_numbering(rows)
            columns = rows.columns
        else:
            if not self._named and self._features > self._reserved:
                raise wrong_space("positions", "names")
            places = [self._vocabulary.get(name, -1) for name in rows.names]
            if learning:
                for j, name in enumerate(rows.names):
                    if places[j] < 0:
                        places[j] = self._features + len(fresh)
                        fresh.append(name)
            # Without the intercept's weight, as positions come.
            columns = (np.array(places, dtype=np.int32) - np.int32(self._reserved))[rows.columns]
        if rows.starts is None:
            longest = rows.width
        else:
            longest = len(rows.values) if rows.count == 1 else int(np.diff(rows.starts).max(initial=0))
        self._need_scratch(longest + 1)
        self._dense = columns is None
        if self._dense:
            self._need_positions(self._reserved + rows.width)
        else:
            self._source_columns = view(columns)
        self._source_values = view(rows.values)
        self._values = self._scratch_values if self._reserved else self._source_values
        if self._dense:
            self._columns = self._positions
        else:
            self._columns = self._scratch_columns if self._reserved else self._source_columns
        self._known = learning or (rows.names is None and self._reserved + rows.width <= self._features)
        self._stopped = GOING_ON
        # Last, because it is what counts.
        if learning and rows.names is None:
            self.grow(self._reserved + rows.width)
            self._learn_numbering(rows)
        elif learning:
            self._admit_names(fresh)

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
