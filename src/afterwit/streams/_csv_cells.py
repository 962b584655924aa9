# cython: boundscheck=False, wraparound=False, cdivision=True
"""Cells of CSV text: where they begin and end, and what is wrong with them; and where rows end.

A cell that begins with a quote goes on to the next quote that is not doubled. Whatever follows that quote, other than
a delimiter or the end of the line, is a mistake; the row then ends at the next end of a line outside of quoted cells.

Characters are compared by their codes: 9 and 32 are a tab and a space, 10 and 13 the ends of a line, 34 is the quote.
"""

from __future__ import annotations

import cython

if cython.compiled:
    from cython.cimports.afterwit.streams._numbers import NumberReader
else:
    from afterwit.streams._numbers import NumberReader

# What is wrong with a quoted cell.
JUNK = 1
OPEN_QUOTE = 2
_JUNK = cython.declare(cython.int, 1)
_OPEN_QUOTE = cython.declare(cython.int, 2)

_MISSING = cython.declare(cython.double, float("nan"))

# Where in a row the bytes that have been seen end.
_BEGIN = cython.declare(cython.int, 0)
_PLAIN = cython.declare(cython.int, 1)
_QUOTED = cython.declare(cython.int, 2)
_CLOSED = cython.declare(cython.int, 3)


@cython.final
@cython.cclass
class RowEnds:
    """Finds where rows end in bytes that arrive piece by piece."""

    _delimiter: cython.int
    _quotes: cython.bint
    _state: cython.int
    _after_return: cython.bint

    def __init__(self, delimiter: int, quotes: bool) -> None:
        self._delimiter = delimiter
        self._quotes = quotes
        self._state = _BEGIN
        self._after_return = False

    @property
    def in_quotes(self) -> bool:
        """Whether the bytes so far end in a quoted cell."""
        return self._state == _QUOTED

    def last(self, piece: bytes) -> int:
        """The last place in the next piece at which a row ends, or -1; 0 if the piece before it ended with that row."""
        if len(piece) == 0:
            return 0 if self._after_return else -1
        if self._quotes and (self._state >= _QUOTED or b'"' in piece):
            return self._last(piece)
        # Without quotes every end of a line is the end of a row, and only the end of the piece matters.
        last: int = 0 if self._after_return and piece[0] != 10 else -1
        last = max(last, piece.rfind(b"\n") + 1 or -1, piece.rfind(b"\r", 0, len(piece) - 1) + 1 or -1)
        at: cython.Py_ssize_t = len(piece) - 1
        while at >= 0 and _is_space(piece[at], self._delimiter):
            at -= 1
        if at >= 0:
            c: cython.int = piece[at]
            self._state = _BEGIN if c == self._delimiter or c == 10 or c == 13 else _PLAIN
        self._after_return = piece[len(piece) - 1] == 13
        return last

    @cython.cfunc
    def _last(self, data: cython.const[cython.uchar][::1]) -> cython.Py_ssize_t:  # type: ignore[valid-type]
        """The same, byte by byte."""
        at: cython.Py_ssize_t
        last: cython.Py_ssize_t = -1
        state: cython.int = self._state
        after_return: cython.bint = self._after_return
        delimiter: cython.int = self._delimiter
        c: cython.int
        with cython.nogil:
            for at in range(len(data)):
                c = data[at]
                if after_return:
                    after_return = False
                    if c == 10:
                        last = at + 1
                        continue
                    last = at
                if state == _QUOTED:
                    if c == 34:
                        state = _CLOSED
                elif c == 10:
                    state = _BEGIN
                    last = at + 1
                elif c == 13:
                    state = _BEGIN
                    after_return = True
                elif c == delimiter:
                    state = _BEGIN
                elif c == 34 and state != _PLAIN:
                    state = _QUOTED
                elif state != _BEGIN or not _is_space(c, delimiter):
                    state = _PLAIN
        self._state = state
        self._after_return = after_return
        return last


@cython.cclass
class CellReader(NumberReader):
    """Reads one cell after the other, and counts lines."""

    def __init__(self, data: bytes, delimiter: int, quotes: bool) -> None:
        NumberReader.__init__(self)
        self.data = data
        self.end = len(data)
        self.at = 0
        self.line = 0
        self.delimiter = delimiter
        self.quotes = quotes
        self.cell_begin = self.cell_end = 0
        self.doubled = False
        self.broken = 0
        self.broken_line = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pass_blank_lines(self) -> cython.void:
        """Go on to a line that has more than spaces in it."""
        at: cython.Py_ssize_t = self.at
        while True:
            while at < self.end and _is_space(self.data[at], self.delimiter):
                at += 1
            if at == self.end:
                self.at = at
            if at == self.end or (self.data[at] != 10 and self.data[at] != 13):
                return
            self.at = at
            self.pass_line_end()
            at = self.at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def pass_line_end(self) -> cython.void:
        at: cython.Py_ssize_t = self.at
        if at < self.end:
            self.line += 1
            at += 1
            if self.data[at - 1] == 13 and at < self.end and self.data[at] == 10:
                at += 1
        self.at = at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_cell(self, begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read any cell; where the delimiter or the end of the line behind it is."""
        data: cython.const[cython.uchar][::1] = self.data  # type: ignore[valid-type]
        end: cython.Py_ssize_t = self.end
        delimiter: cython.int = self.delimiter
        at: cython.Py_ssize_t = begin
        c: cython.int
        self.doubled = False
        self.broken = 0
        while at < end and _is_space(data[at], delimiter):
            at += 1
        self.cell_begin = at
        if self.quotes and at < end and data[at] == 34:
            at += 1
            self.cell_begin = at
            self.broken_line = self.line
            while at < end:
                c = data[at]
                if c == 34:
                    if at + 1 == end or data[at + 1] != 34:
                        break
                    self.doubled = True
                    at += 1
                elif c == 10 or (c == 13 and (at + 1 == end or data[at + 1] != 10)):
                    self.line += 1
                at += 1
            self.cell_end = at
            if at == end:
                self.broken = _OPEN_QUOTE
                return at
            at += 1
            if at == end or data[at] == delimiter or data[at] == 10 or data[at] == 13:
                return at
            self.broken = _JUNK
            self.broken_line = self.line
            self.cell_begin -= 1
        while at < end:
            c = data[at]
            if c == delimiter or c == 10 or c == 13:
                break
            at += 1
        self.cell_end = at
        while self.cell_end > self.cell_begin and _is_space(data[self.cell_end - 1], delimiter):
            self.cell_end -= 1
        return at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def read_rare(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.bint:
        """Read a number that may be quoted, have spaces around it, or be missing; whether it is one."""
        data: cython.const[cython.uchar][::1] = self.data  # type: ignore[valid-type]
        word: cython.longlong = 0
        at: cython.Py_ssize_t
        while begin < end and (data[begin] == 32 or data[begin] == 9):
            begin += 1
        while end > begin and (data[end - 1] == 32 or data[end - 1] == 9):
            end -= 1
        # A zero at the beginning would make no other word.
        if end - begin <= 4 and (begin == end or data[begin] != 0):
            for at in range(begin, end):
                word = word * 256 + (data[at] + 32 if 65 <= data[at] <= 90 else data[at])
            # Nothing, na, n/a, nan, null and none.
            if (
                word == 0x6E61
                or word == 0x6E2F61
                or word == 0x6E616E
                or word == 0x6E756C6C
                or word == 0x6E6F6E65
                or begin == end
            ):
                self.number = _MISSING
                return True
        if self.read_number(begin, end) != end:
            return False
        if self.number != self.number:
            with cython.gil:
                self.ask_python(begin, end)
        return self.number - self.number == 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def invalid_byte(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Where the first byte is that is not UTF-8, or -1."""
        data: cython.const[cython.uchar][::1] = self.data  # type: ignore[valid-type]
        at: cython.Py_ssize_t = begin
        c: cython.int
        k: cython.int
        more: cython.int
        least: cython.int
        most: cython.int
        while at < end:
            c = data[at]
            if c < 0x80:
                at += 1
                continue
            if c < 0xC2 or c > 0xF4:
                return at
            more = 1 if c < 0xE0 else (2 if c < 0xF0 else 3)
            # What comes next must not make it longer than needed, a surrogate, or larger than any character.
            least = 0xA0 if c == 0xE0 else (0x90 if c == 0xF0 else 0x80)
            most = 0x9F if c == 0xED else (0x8F if c == 0xF4 else 0xBF)
            for k in range(1, more + 1):
                if at + k >= end or data[at + k] < least or data[at + k] > most:
                    return at
                least = 0x80
                most = 0xBF
            at += more + 1
        return -1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def line_of(self, line: cython.longlong, begin: cython.Py_ssize_t, place: cython.Py_ssize_t) -> cython.longlong:
        """The line of a place in the row that begins there."""
        at: cython.Py_ssize_t
        for at in range(begin, place):
            if self.data[at] == 10 or (self.data[at] == 13 and self.data[at + 1] != 10):
                line += 1
        return line


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _is_space(c: cython.int, delimiter: cython.int) -> cython.bint:
    return c == 32 or (c == 9 and delimiter != 9)
