# cython: boundscheck=False, wraparound=False, cdivision=True
"""The parser of Vowpal Wabbit text: bytes to flat arrays and names, at native speed when compiled, without the GIL.

A line is ``[label [importance]] [tag]|namespace[:scale] name[:value] name ... |other ...``. A feature's name is then
``namespace^name``, or the name alone if the namespace has none.

Characters are compared by their codes: 9, 13 and 32 are spaces, 10 is the end of a line, 39 is ', 58 is the colon, 94
is ^, 124 is the bar.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.afterwit.streams._names import NameReader
else:
    from afterwit.streams._names import NameReader

from afterwit.streams._names import FACTOR, texts

#: Names are a namespace and a feature: without a limit, a line of a megabyte could hold names of a terabyte.
LONGEST_NAMESPACE = 255


class Expected(IntEnum):
    """What was expected where parsing stopped."""

    NOTHING = 0
    BAR = 1
    LABEL = 2
    IMPORTANCE = 3
    NO_BASE = 4
    NAMESPACE = 5
    SHORT_NAMESPACE = 6
    SCALE = 7
    NAME = 8
    VALUE = 9
    FINITE = 10
    TEXT = 11
    NO_TAB = 12


BAR = cython.declare(cython.int, Expected.BAR)
LABEL = cython.declare(cython.int, Expected.LABEL)
IMPORTANCE = cython.declare(cython.int, Expected.IMPORTANCE)
NO_BASE = cython.declare(cython.int, Expected.NO_BASE)
NAMESPACE = cython.declare(cython.int, Expected.NAMESPACE)
SHORT_NAMESPACE = cython.declare(cython.int, Expected.SHORT_NAMESPACE)
SCALE = cython.declare(cython.int, Expected.SCALE)
NAME = cython.declare(cython.int, Expected.NAME)
VALUE = cython.declare(cython.int, Expected.VALUE)
FINITE = cython.declare(cython.int, Expected.FINITE)
TEXT = cython.declare(cython.int, Expected.TEXT)
NO_TAB = cython.declare(cython.int, Expected.NO_TAB)
LONGEST = cython.declare(cython.Py_ssize_t, LONGEST_NAMESPACE)
NOT_A_NUMBER = cython.declare(cython.double, float("nan"))
ALL_BITS = cython.declare(cython.ulonglong, 2**64 - 1)


@cython.final
@cython.cclass
class VwParser(NameReader):
    """Parses blocks of whole lines: first ``begin_block``, then ``scan`` for each part of a block, then ``arrays``."""

    # For each row.
    _labels: cython.double[::1]
    _weights: cython.double[::1]
    _starts: cython.longlong[::1]
    _row_lines: cython.longlong[::1]
    _tag_ends: cython.longlong[::1]
    # For each entry.
    _columns: cython.int[::1]
    _values: cython.double[::1]
    _arrays: tuple[Any, ...]
    # The bytes of tags.
    _tag_letters: cython.uchar[::1]
    _rows: cython.Py_ssize_t
    _token: cython.Py_ssize_t
    _problem: cython.int
    # The scale of the current namespace, and the hash that its names begin with.
    _scale: cython.double
    _space_hash: cython.ulonglong
    _factor: cython.ulonglong
    lines = cython.declare(cython.Py_ssize_t, visibility="public")

    def __init__(self, factor: int = FACTOR) -> None:
        super().__init__()
        self._token = 0
        self._problem = 0
        self._scale = 1.0
        self._factor = self._space_hash = factor
        self.begin_block(0, 0, 0)

    @property
    def problem(self) -> Expected:
        """What was expected where ``scan`` stopped."""
        return Expected(self._problem)

    @property
    def token(self) -> int:
        """Where that was expected."""
        return self._token

    def begin_block(self, rows: cython.Py_ssize_t, entries: cython.Py_ssize_t, length: cython.Py_ssize_t) -> None:
        """Make room for so many rows, entries and bytes of tags at most; ``lines`` counts lines from now on."""
        arrays: Any = (
            np.empty(rows),
            np.empty(rows),
            np.zeros(rows + 1, dtype=np.int64),
            np.empty(rows, dtype=np.int64),
            np.zeros(rows + 1, dtype=np.int64),
            np.empty(entries, dtype=np.int32),
            np.empty(entries),
        )
        self._arrays = arrays
        # Interpreted, numbers of Python come out of these views: those of numpy would warn where a sum is infinite.
        views = [memoryview(array) for array in arrays]
        self._labels, self._weights, self._starts, self._row_lines, self._tag_ends = views[:5]
        self._columns, self._values = views[5:]
        self._tag_letters = np.empty(length, dtype=np.uint8)
        self._forget(0)
        self._rows = 0
        self.lines = 0

    def arrays(self) -> Any:
        """Labels, starts, lines before each row, columns, values, weights, tags, names."""
        rows = self._rows
        labels, weights, starts, row_lines, tag_ends, columns, values = self._arrays
        stored, tagged = int(starts[rows]), int(tag_ends[rows])
        tags = texts(self._tag_letters, tag_ends[: rows + 1]) if tagged else [""] * rows
        return (
            labels[:rows], starts[: rows + 1], row_lines[:rows], columns[:stored], values[:stored], weights[:rows],
            tags, self.names(),
        )  # fmt: skip

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
        bar: cython.Py_ssize_t
        entry: cython.Py_ssize_t
        names: cython.Py_ssize_t
        self._problem = 0
        while at < end:
            line = at
            while at < end and (_is_space(self.data[at]) or self._ends_line(at, end)) and self.data[at] != 10:
                at += 1
            if at < end and self.data[at] != 10:
                self._token = at
                bar = at
                while bar < end and self.data[bar] != 124 and self.data[bar] != 10:
                    bar += 1
                names = self._names
                self._stamp += 1
                entry = 0
                if bar == end or self.data[bar] == 10:
                    self._problem = BAR
                else:
                    self._read_label(at, bar)
                if not self._problem:
                    entry = self._read_features(bar, end, self._starts[self._rows])
                if self._problem:
                    self._forget(names)
                    return line
                at = self._token
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
    def _read_label(self, at: cython.Py_ssize_t, bar: cython.Py_ssize_t) -> cython.int:
        """Read what is before the bar: label, importance and tag, all of which may be missing."""
        begin: cython.Py_ssize_t
        found: cython.int = 0
        row: cython.Py_ssize_t = self._rows
        last: cython.Py_ssize_t = bar
        tagged: cython.Py_ssize_t = self._tag_ends[row]
        self._labels[row] = NOT_A_NUMBER
        self._weights[row] = 1.0
        self._tag_ends[row + 1] = tagged
        for begin in range(at, bar):
            if self.data[begin] == 9:
                self._problem = NO_TAB
                return 0
        while last > at and self.data[last - 1] == 32:
            last -= 1
        while at < last:
            begin = at
            while at < last and self.data[at] != 32:
                at += 1
            self._token = begin
            if at == bar or (at == last and self.data[begin] == 39):
                begin += self.data[begin] == 39
                if not self._is_text(begin, at):
                    self._problem = TEXT
                    return 0
                while begin < at:
                    self._tag_letters[tagged] = self.data[begin]
                    tagged += 1
                    begin += 1
                self._tag_ends[row + 1] = tagged
                return 0
            if found == 2:
                self._problem = NO_BASE
                return 0
            if self.read_number(begin, at) != at:
                self._problem = IMPORTANCE if found else LABEL
                return 0
            if self.number - self.number != 0 and not self._is_finite(begin, at):
                self._problem = FINITE
                return 0
            if found == 0:
                self._labels[row] = self.number
            elif self.number < 0:
                self._problem = IMPORTANCE
                return 0
            else:
                self._weights[row] = self.number
            found += 1
            while at < last and self.data[at] == 32:
                at += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_features(
        self, at: cython.Py_ssize_t, end: cython.Py_ssize_t, first: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Read from the bar on; returns where the entries of the row end. Where it has stopped is in ``_token``."""
        entry: cython.Py_ssize_t = first
        begin: cython.Py_ssize_t
        stop: cython.Py_ssize_t
        value: cython.double
        hashed: cython.ulonglong
        name: cython.Py_ssize_t
        while True:
            while at < end and _is_space(self.data[at]):
                at += 1
            self._token = at
            if self._ends_line(at, end):
                return entry
            if self.data[at] == 124:
                at = self._read_namespace(at, end)
                if self._problem:
                    return 0
                continue
            begin = at
            hashed = self._space_hash
            while not self._ends_name(at, end):
                hashed = ((hashed ^ self.data[at]) * self._factor) & ALL_BITS
                at += 1
            if at == begin:
                self._problem = NAME
                return 0
            stop = at
            value = self._scale
            if at < end and self.data[at] == 58:
                at = self._read_value(at + 1, end)
                if self._problem:
                    return 0
                value = value * self.number
            name = self._find(hashed, begin, stop)
            if name < 0:
                name = self._add(hashed, begin, stop)
                if name < 0:
                    self._problem = TEXT
                    return 0
            if self._last_lines[name] == self._stamp:
                value += self._values[self._last_entries[name]]
                self._values[self._last_entries[name]] = value
            else:
                self._last_lines[name] = self._stamp
                self._last_entries[name] = entry
                self._columns[entry] = cython.cast(cython.int, name)
                self._values[entry] = value
                entry += 1
            if value - value != 0:
                self._problem = FINITE
                return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_namespace(self, bar: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read the namespace that begins at a bar, and its scale; where that ends."""
        at: cython.Py_ssize_t = bar + 1
        hashed: cython.ulonglong = self._factor
        self._scale = 1.0
        self._space_begin = at
        while not self._ends_name(at, end):
            hashed = ((hashed ^ self.data[at]) * self._factor) & ALL_BITS
            at += 1
        self._space_end = at
        self._token = bar
        if at > bar + 1:
            hashed = ((hashed ^ 94) * self._factor) & ALL_BITS
            if at - bar > LONGEST + 1:
                self._problem = SHORT_NAMESPACE
            elif not self._is_text(bar + 1, at):
                self._problem = TEXT
        self._space_hash = hashed
        if self._problem or at == end or self.data[at] != 58:
            return at
        if at == bar + 1:
            self._problem = NAMESPACE
            return 0
        at = self._read_value(at + 1, end)
        if self._problem == VALUE:
            self._problem = SCALE
        self._scale = self.number
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(-1, check=False)
    def _read_value(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read the finite number after a colon; where it ends."""
        at: cython.Py_ssize_t = self.read_number(begin, end)
        if at < 0 or not (self._ends_name(at, end) and (at == end or self.data[at] != 58)):
            self._problem = VALUE
            return 0
        if self.number - self.number != 0 and not self._is_finite(begin, at):
            self._problem = FINITE
        return at

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
    def _ends_line(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Whether the line ends here, or after a carriage return."""
        if at == end or self.data[at] == 10:
            return True
        return self.data[at] == 13 and (at + 1 == end or self.data[at + 1] == 10)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _ends_name(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        if at == end:
            return True
        c: cython.uchar = self.data[at]
        return c == 58 or c == 32 or c == 124 or c == 9 or c == 10 or (c == 13 and self._ends_line(at, end))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_space(c: cython.uchar) -> cython.bint:
    return c == 32 or c == 9
