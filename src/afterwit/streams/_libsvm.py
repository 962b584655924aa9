# cython: boundscheck=False, wraparound=False, cdivision=True
"""The libsvm parser: bytes to flat arrays, at native speed when compiled, without the GIL.

A line is ``label id:value id:value ...``; ids are whole numbers from 0 on, each at most once in a line; blank lines
and everything after ``#`` are ignored.

Characters are compared by their codes: 9, 13 and 32 are spaces, 10 is the end of a line, 35 is #, 48 to 57 are digits,
58 is the colon.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.afterwit.streams._numbers import NumberReader
else:
    from afterwit.streams._numbers import NumberReader

LARGEST_ID = 2**28 - 1


class Expected(IntEnum):
    """What was expected where parsing stopped."""

    NOTHING = 0
    LABEL = 1
    ID = 2
    COLON = 3
    VALUE = 4
    SMALLER_ID = 5
    FINITE = 6
    NEW_ID = 7
    LARGER_ID = 8


LABEL = cython.declare(cython.int, Expected.LABEL)
ID = cython.declare(cython.int, Expected.ID)
COLON = cython.declare(cython.int, Expected.COLON)
VALUE = cython.declare(cython.int, Expected.VALUE)
SMALLER_ID = cython.declare(cython.int, Expected.SMALLER_ID)
FINITE = cython.declare(cython.int, Expected.FINITE)
NEW_ID = cython.declare(cython.int, Expected.NEW_ID)
LARGER_ID = cython.declare(cython.int, Expected.LARGER_ID)
LARGEST = cython.declare(cython.longlong, LARGEST_ID)
#: The ids below are watched for their first occurrence, with a byte for each; all others are said to occur first.
WATCHED = cython.declare(cython.longlong, 1 << 24)
#: So many entries are sorted by insertion.
FEW = cython.declare(cython.Py_ssize_t, 64)


@cython.final
@cython.cclass
class LibsvmParser(NumberReader):
    """Parses blocks of whole lines: first ``begin_block``, then ``scan`` for each part of the block, then ``arrays``.

    first_id  what is taken from an id to make the column; smaller ids are mistakes
    """

    _labels: cython.double[::1]
    _starts: cython.longlong[::1]
    _row_lines: cython.longlong[::1]
    _columns: cython.int[::1]
    _values: cython.double[::1]
    _arrays: tuple[Any, ...]
    # A byte for each column, 1 if this parser has met it, and the columns of this block that it had not: where.
    _seen: cython.uchar[::1]
    _fresh: cython.longlong[::1]
    _fresh_count: cython.Py_ssize_t
    _first_id: cython.longlong
    _rows: cython.Py_ssize_t
    _token: cython.Py_ssize_t
    _stopped: cython.Py_ssize_t
    _problem: cython.int
    _identifier: cython.longlong
    lines = cython.declare(cython.Py_ssize_t, visibility="public")

    def __init__(self, first_id: int = 0) -> None:
        super().__init__()
        self._first_id = first_id
        self._seen = np.zeros(1024, dtype=np.uint8)
        self._fresh = np.empty(0, dtype=np.int64)
        self._token = 0
        self._stopped = 0
        self._problem = 0
        self._identifier = 0
        self.begin_block(0, 0)

    @property
    def problem(self) -> Expected:
        """What was expected where ``scan`` stopped."""
        return Expected(self._problem)

    @property
    def token(self) -> int:
        """Where that was expected."""
        return self._token

    @property
    def identifier(self) -> int:
        """The id that was too small, or occurred twice in a line, where that was the problem."""
        return int(self._identifier)

    def begin_block(self, rows: cython.Py_ssize_t, entries: cython.Py_ssize_t) -> None:
        """Make room for at most so many rows and entries; ``lines`` counts the lines of the block from now on."""
        arrays: Any = (
            np.empty(rows),
            np.zeros(rows + 1, dtype=np.int64),
            np.empty(rows, dtype=np.int64),
            np.empty(entries, dtype=np.int32),
            np.empty(entries),
        )
        self._arrays = arrays
        # Interpreted, numbers of Python come out of these views, which is faster.
        views = [memoryview(array) for array in arrays]
        self._labels, self._starts, self._row_lines, self._columns, self._values = views
        if len(self._fresh) < entries:
            self._fresh = np.empty(entries, dtype=np.int64)
        self._fresh_count = 0
        self._rows = 0
        self.lines = 0

    def arrays(self) -> Any:
        """Labels, starts, lines before each row, columns, values, and the entries whose column may be a new one."""
        rows = self._rows
        labels, starts, row_lines, columns, values = self._arrays
        stored = int(self._starts[rows])
        fresh = np.array(self._fresh[: self._fresh_count])
        return labels[:rows], starts[: rows + 1], row_lines[:rows], columns[:stored], values[:stored], fresh

    def scan(self, data: bytes, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> int:
        """Parse whole lines; returns ``end``, or where the line begins at which there is a ``problem``."""
        at: cython.Py_ssize_t
        self.data = data
        with cython.nogil:
            at = self._scan(begin, end)
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _scan(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        at: cython.Py_ssize_t = begin
        line: cython.Py_ssize_t
        first: cython.Py_ssize_t
        entry: cython.Py_ssize_t
        self._problem = 0
        while at < end:
            line = at
            while at < end and _is_space(self.data[at]):
                at += 1
            if at < end and self.data[at] != 10 and self.data[at] != 35:
                first = self._starts[self._rows]
                at = self._read_label(at, end)
                entry = first if self._problem else self._read_features(at, end, first)
                if self._problem:
                    return line
                at = self._stopped
                self._watch(first, entry)
                self._row_lines[self._rows] = self.lines
                self._rows += 1
                self._starts[self._rows] = entry
            while at < end and self.data[at] != 10:
                at += 1
            at += 1
            self.lines += 1
        return end

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_label(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read the label of the next row; where it ends."""
        self._token = begin
        at: cython.Py_ssize_t = self.read_number(begin, end)
        if at < 0 or not self._ends_token(at, end):
            self._problem = LABEL
            return 0
        if self.number - self.number != 0 and not self._is_finite(begin, at):
            self._problem = FINITE
        self._labels[self._rows] = self.number
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_features(
        self, at: cython.Py_ssize_t, end: cython.Py_ssize_t, first: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Read the features of a row, whose entries begin at ``first``; returns where these end."""
        entry: cython.Py_ssize_t = first
        begin: cython.Py_ssize_t
        identifier: cython.longlong
        previous: cython.longlong = -1
        ascending: cython.bint = True
        while True:
            while at < end and _is_space(self.data[at]):
                at += 1
            if at == end or self.data[at] == 10 or self.data[at] == 35:
                break
            begin = at
            identifier = 0
            while at < end and 48 <= self.data[at] <= 57 and identifier <= LARGEST:
                identifier = identifier * 10 + (self.data[at] - 48)
                at += 1
            self._token = begin
            if identifier > LARGEST:
                self._problem = SMALLER_ID
                return 0
            if at == begin:
                self._problem = ID
                return 0
            if at == end or self.data[at] != 58:
                self._problem = COLON
                return 0
            begin = at + 1
            at = self.read_number(begin, end)
            if at < 0 or not self._ends_token(at, end):
                self._problem = VALUE
                return 0
            if self.number - self.number != 0 and not self._is_finite(begin, at):
                self._problem = FINITE
                return 0
            if identifier < self._first_id:
                self._problem = LARGER_ID
                self._identifier = identifier
                return 0
            if identifier <= previous:
                ascending = False
            previous = identifier
            self._columns[entry] = cython.cast(cython.int, identifier - self._first_id)
            self._values[entry] = self.number
            entry += 1
        if not ascending and not self._sort(first, entry):
            self._problem = NEW_ID
        self._stopped = at
        return entry

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _is_finite(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.int:
        """Ask Python for the number; whether that is finite."""
        with cython.gil:
            self.ask_python(begin, end)
        return self.number - self.number == 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _ends_token(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        return at == end or _is_space(self.data[at]) or self.data[at] == 10 or self.data[at] == 35

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _watch(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        """Note the entries of a row whose columns this parser has not met before."""
        entry: cython.Py_ssize_t
        column: cython.longlong
        for entry in range(first, last):
            column = self._columns[entry]
            if column >= self._seen.shape[0] and column < WATCHED:
                with cython.gil:
                    larger = np.zeros(min(2 * column, WATCHED), dtype=np.uint8)
                    larger[: len(self._seen)] = self._seen
                    self._seen = larger
            if column >= WATCHED or self._seen[column] == 0:
                self._fresh[self._fresh_count] = entry
                self._fresh_count += 1
                if column < WATCHED:
                    self._seen[column] = 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _sort(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.int:
        """Sort the entries of a row by their columns; 0 if one of these is there twice."""
        at: cython.Py_ssize_t
        entry: cython.Py_ssize_t
        column: cython.int
        value: cython.double
        if last - first > FEW:
            with cython.gil:
                columns, values = np.asarray(self._columns[first:last]), np.asarray(self._values[first:last])
                order = np.argsort(columns)
                columns[:], values[:] = columns[order], values[order]
        else:
            for entry in range(first + 1, last):
                column, value, at = self._columns[entry], self._values[entry], entry
                while at > first and self._columns[at - 1] > column:
                    self._columns[at], self._values[at] = self._columns[at - 1], self._values[at - 1]
                    at -= 1
                self._columns[at], self._values[at] = column, value
        for entry in range(first + 1, last):
            if self._columns[entry] == self._columns[entry - 1]:
                self._identifier = self._columns[entry] + self._first_id
                return 0
        return 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_space(c: cython.uchar) -> cython.bint:
    return c == 32 or c == 9 or c == 13
