# cython: boundscheck=False, wraparound=False, cdivision=True
"""The libsvm parser: bytes to flat arrays, at native speed when compiled.

A line is ``label id:value id:value ...``; ids are whole numbers from 0 on, each at most once in a line; blank lines
and everything after ``#`` are ignored. Numbers are read exactly: up to 15 digits and a small exponent need one
correctly rounded operation, anything longer goes to Python's own ``float``.

Characters are compared by their codes: 9, 13 and 32 are spaces, 10 is the end of a line, 35 is #, 43 and 45 are + and
-, 46 is the point, 48 to 57 are digits, 58 is the colon, 69 and 101 are E and e.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

LARGEST_ID = 2**28 - 1

# What was expected where parsing stopped; 0 means nothing is wrong.
EXPECTED_LABEL = 1
EXPECTED_ID = 2
EXPECTED_COLON = 3
EXPECTED_VALUE = 4
EXPECTED_SMALLER_ID = 5
EXPECTED_FINITE = 6
EXPECTED_NEW_ID = 7


# Where counting stops: what is that large goes to Python's own ``float``.
LARGEST_EXPONENT = cython.declare(cython.int, 100_000)


@cython.cclass
class LibsvmParser:
    """Parses buffers of whole lines; keeps its work arrays between calls and counts the distinct ids it has seen."""

    _labels: cython.double[::1]
    _starts: cython.longlong[::1]
    _row_lines: cython.longlong[::1]
    _columns: cython.int[::1]
    _values: cython.double[::1]
    _data: cython.uchar[::1]
    _powers: cython.double[::1]
    _seen: cython.uchar[::1]
    _largest_id: cython.longlong
    _features: cython.Py_ssize_t
    _number: cython.double
    _rows: cython.Py_ssize_t
    _lines: cython.Py_ssize_t
    _at: cython.Py_ssize_t
    _problem: cython.int
    _repeated: cython.longlong

    def __init__(self) -> None:
        self._labels = np.empty(0)
        self._starts = np.empty(0, dtype=np.int64)
        self._row_lines = np.empty(0, dtype=np.int64)
        self._columns = np.empty(0, dtype=np.int32)
        self._values = np.empty(0)
        self._data = bytearray()
        self._powers = np.array([10.0**k for k in range(23)])
        self._seen = np.zeros(1024, dtype=np.uint8)
        self._largest_id = LARGEST_ID
        self._features = 0
        self._number = 0.0
        self._rows = 0
        self._lines = 0
        self._at = 0
        self._problem = 0
        self._repeated = 0

    @property
    def features(self) -> int:
        """How many different ids there have been so far."""
        return self._features

    @property
    def at(self) -> int:
        """Where in the buffer the last call stopped."""
        return self._at

    @property
    def lines(self) -> int:
        """How many lines the last call went past."""
        return self._lines

    @property
    def row_lines(self) -> Any:
        """For every row of the last call, how many lines of the buffer came before it."""
        return np.array(self._row_lines[: self._rows])

    @property
    def problem(self) -> int:
        """What was expected where the last call stopped, or 0."""
        return self._problem

    @property
    def repeated(self) -> int:
        """The id that occurred twice in a line, where that was the problem."""
        return int(self._repeated)

    def parse(self, data: bytearray, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, most: cython.Py_ssize_t) -> Any:
        """Parse at most ``most`` rows of the whole lines in ``data[begin:end]``: labels, starts, columns, values."""
        # An entry takes at least four bytes ("1:1 "), a row at least two.
        entries = (end - begin) // 4 + 1
        if len(self._columns) < entries:
            self._columns = np.empty(entries, dtype=np.int32)
            self._values = np.empty(entries)
        rows = min(most, (end - begin) // 2 + 1)
        if len(self._labels) < rows:
            self._labels = np.empty(rows)
            self._starts = np.empty(rows + 1, dtype=np.int64)
            self._row_lines = np.empty(rows, dtype=np.int64)
        self._data = data
        self._scan(begin, end, most)
        self._data = bytearray()
        count = self._rows
        stored = int(self._starts[count])
        return (
            np.array(self._labels[:count]),
            np.array(self._starts[: count + 1]),
            np.array(self._columns[:stored]),
            np.array(self._values[:stored]),
        )

    @cython.cfunc
    def _scan(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, most: cython.Py_ssize_t) -> cython.int:
        at: cython.Py_ssize_t = begin
        entry: cython.Py_ssize_t = 0
        row: cython.Py_ssize_t = 0
        lines: cython.Py_ssize_t = 0
        line: cython.Py_ssize_t = begin
        token: cython.Py_ssize_t = begin
        identifier: cython.longlong
        previous: cython.longlong
        ascending: cython.bint
        problem: cython.int = 0
        self._starts[0] = 0
        while at < end and row < most and problem == 0:
            line = at
            while at < end and _is_space(self._data[at]):
                at += 1
            if at < end and (self._data[at] == 10 or self._data[at] == 35):
                at = self._next_line(at, end)
                lines += 1
                continue
            if at == end:
                break
            token = at
            at = self._read_number(at, end)
            if at < 0 or not self._ends_token(at, end):
                problem = EXPECTED_LABEL
                break
            if self._number - self._number != 0:
                problem = EXPECTED_FINITE
                break
            self._labels[row] = self._number
            self._row_lines[row] = lines
            previous = -1
            ascending = True
            while True:
                while at < end and _is_space(self._data[at]):
                    at += 1
                if at == end or self._data[at] == 10 or self._data[at] == 35:
                    break
                token = at
                identifier = 0
                while at < end and 48 <= self._data[at] <= 57:
                    identifier = identifier * 10 + (self._data[at] - 48)
                    if identifier > self._largest_id:
                        problem = EXPECTED_SMALLER_ID
                        break
                    at += 1
                if problem != 0:
                    break
                if at == token:
                    problem = EXPECTED_ID
                    break
                if at == end or self._data[at] != 58:
                    problem = EXPECTED_COLON
                    break
                at = self._read_number(at + 1, end)
                if at < 0 or not self._ends_token(at, end):
                    problem = EXPECTED_VALUE
                    break
                if self._number - self._number != 0:
                    problem = EXPECTED_FINITE
                    break
                if identifier <= previous:
                    ascending = False
                previous = identifier
                self._columns[entry] = identifier
                self._values[entry] = self._number
                entry += 1
                self._see(identifier)
            if problem != 0:
                break
            if not ascending and not self._sort(self._starts[row], entry):
                problem = EXPECTED_NEW_ID
                break
            at = self._next_line(at, end)
            lines += 1
            row += 1
            self._starts[row] = entry
        self._rows = row
        self._lines = lines
        if problem != 0:
            # The rows before a bad line are handed over first; the next call begins with it.
            at = token if row == 0 else line
        self._problem = problem if row == 0 else 0
        self._at = at
        return 0

    @cython.cfunc
    def _see(self, identifier: cython.longlong) -> cython.int:
        if identifier >= self._seen.shape[0]:
            larger = np.zeros(max(identifier + 1, 2 * len(self._seen)), dtype=np.uint8)
            larger[: len(self._seen)] = self._seen
            self._seen = larger
        if self._seen[identifier] == 0:
            self._seen[identifier] = 1
            self._features += 1
        return 0

    @cython.cfunc
    def _sort(self, first: cython.Py_ssize_t, last: cython.Py_ssize_t) -> cython.bint:
        """Sort the entries of a row by their ids; False if one of these is there twice."""
        columns, values = np.asarray(self._columns[first:last]), np.asarray(self._values[first:last])
        order = np.argsort(columns)
        columns[:], values[:] = columns[order], values[order]
        same = columns[1:] == columns[: len(columns) - 1]
        if same.any():
            self._repeated = columns[np.argmax(same)]
            return False
        return True

    @cython.cfunc
    def _read_number(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read a decimal number into ``_number``; where it ends, or -1 if there is none."""
        at: cython.Py_ssize_t = begin
        mantissa: cython.longlong = 0
        digits: cython.int = 0
        seen: cython.int = 0
        scale: cython.int = 0
        exponent: cython.int = 0
        fraction: cython.bint = False
        negative: cython.bint = False
        negative_exponent: cython.bint = False
        if at < end and (self._data[at] == 43 or self._data[at] == 45):
            negative = self._data[at] == 45
            at += 1
        while at < end:
            if 48 <= self._data[at] <= 57:
                seen += 1
                if mantissa > 0 or self._data[at] != 48:
                    digits += 1
                    if digits <= 18:
                        mantissa = mantissa * 10 + (self._data[at] - 48)
                if fraction:
                    scale -= 1
            elif self._data[at] == 46 and not fraction:
                fraction = True
            else:
                break
            at += 1
        if seen == 0:
            return -1
        if at < end and (self._data[at] == 101 or self._data[at] == 69):
            at += 1
            if at < end and (self._data[at] == 43 or self._data[at] == 45):
                negative_exponent = self._data[at] == 45
                at += 1
            if at == end or not 48 <= self._data[at] <= 57:
                return -1
            while at < end and 48 <= self._data[at] <= 57:
                if exponent < LARGEST_EXPONENT:
                    exponent = exponent * 10 + (self._data[at] - 48)
                at += 1
            scale += -exponent if negative_exponent else exponent
        # Beyond that the exponent has not been counted to its end.
        if digits <= 15 and -22 <= scale <= 22 and exponent < LARGEST_EXPONENT:
            # Both numbers are exact in double precision, so that the one operation rounds correctly.
            self._number = mantissa * self._powers[scale] if scale >= 0 else mantissa / self._powers[-scale]
            if negative:
                self._number = -self._number
        else:
            self._number = float(bytes(self._data[begin:at]))
        return at

    @cython.cfunc
    @cython.exceptval(check=False)
    def _ends_token(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        return at == end or _is_space(self._data[at]) or self._data[at] == 10 or self._data[at] == 35

    @cython.cfunc
    @cython.exceptval(check=False)
    def _next_line(self, at: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        while at < end and self._data[at] != 10:
            at += 1
        return at + 1 if at < end else end


@cython.cfunc
@cython.inline
@cython.exceptval(check=False)
def _is_space(c: cython.uchar) -> cython.bint:
    return c == 32 or c == 9 or c == 13
