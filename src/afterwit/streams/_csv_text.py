# cython: boundscheck=False, wraparound=False, cdivision=True
"""The parser of CSV text: blocks of whole rows to flat arrays, at native speed and without the GIL when compiled.

A block has to end with a row (`RowEnds` finds where rows end). `CsvBlock` parses its rows. It stops behind a row that
cannot be read, says what is wrong with it, and goes on with the next row when it is called again.

Characters are compared by their codes: 10 and 13 are the ends of a line.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

if cython.compiled:
    from cython.cimports.afterwit.streams._csv_cells import CellReader
else:
    from afterwit.streams._csv_cells import CellReader

# What is done with a column.
SKIP = 0
NUMBER = 1
TEXT = 2
_NUMBER = cython.declare(cython.int, 1)
_TEXT = cython.declare(cython.int, 2)

# What is wrong with a row, beyond what can be wrong with a quoted cell (JUNK, OPEN_QUOTE); 0 means that nothing is.
NOT_UTF8 = 3
CELLS = 4
NOT_A_NUMBER = 5
_NOT_UTF8 = cython.declare(cython.int, 3)
_CELLS = cython.declare(cython.int, 4)
_NOT_A_NUMBER = cython.declare(cython.int, 5)

# A hash like FNV-1a, of 31 bits, that takes four characters in one step.
_HASH_OF_NOTHING = cython.declare(cython.longlong, 0x11C9DC5)
_HASH_FACTOR = cython.declare(cython.longlong, 16777619)
_HASH_BITS = cython.declare(cython.longlong, 2**31 - 1)


@cython.final
@cython.cclass
class CsvBlock(CellReader):
    """Parses whole rows: numbers column by column, and text as codes of the different words of a column.

    kinds  what is done with each column
    most   how many rows are parsed at most

    It keeps no state beyond its block, so that blocks can be parsed in any number of threads.
    """

    _content: bytes
    _ascii: cython.bint
    _width: cython.Py_ssize_t
    _kinds: cython.longlong[::1]
    _places: cython.longlong[::1]
    _most: cython.Py_ssize_t
    _limit: cython.Py_ssize_t
    _row: cython.Py_ssize_t
    _lines: cython.longlong[::1]
    _values: cython.double[::1]
    # Text column t has its codes and words from t * _most on, and its hash table from t * (_mask + 1) on.
    _codes: cython.int[::1]
    _counts: cython.int[::1]
    _begins: cython.longlong[::1]
    _ends: cython.longlong[::1]
    _hashes: cython.longlong[::1]
    _slots: cython.int[::1]
    _mask: cython.longlong
    _any_doubled: cython.bint
    # The row that could not be read.
    _problem: cython.int
    _problem_line: cython.longlong
    _problem_column: cython.Py_ssize_t
    _problem_begin: cython.Py_ssize_t
    _problem_end: cython.Py_ssize_t

    def __init__(self, data: bytes, delimiter: int, quotes: bool, kinds: Any, most: Any) -> None:
        CellReader.__init__(self, data, delimiter, quotes)
        self._content = data
        self._ascii = data.isascii()
        self._width = len(kinds)
        self._kinds = kinds
        numbers, texts = kinds == NUMBER, kinds == TEXT
        places = np.where(texts, np.cumsum(texts) - 1, np.cumsum(numbers) - 1)
        self._places = places.astype(np.int64)
        # Rows that cannot be read have words too, so that there is room for all; the last may be without an end.
        self._most = _line_ends(data) + 1
        self._limit = min(int(most), self._most)
        self._row = 0
        self._lines = np.empty(self._most, dtype=np.int64)
        self._values = np.empty(int(numbers.sum()) * self._most)
        columns = int(texts.sum())
        self._codes = np.empty(columns * self._most, dtype=np.int32)
        self._counts = np.zeros(columns, dtype=np.int32)
        self._begins = np.empty(columns * self._most, dtype=np.int64)
        self._ends = np.empty(columns * self._most, dtype=np.int64)
        self._hashes = np.empty(columns * self._most, dtype=np.int64)
        size = 1 << (2 * self._most).bit_length()
        self._slots = np.full(columns * size, -1, dtype=np.int32)
        self._mask = size - 1
        self._any_doubled = False
        self._problem = 0
        self._problem_line = 0
        self._problem_column = self._problem_begin = self._problem_end = 0

    @property
    def rows(self) -> int:
        """How many rows have been parsed."""
        return self._row

    @property
    def problem(self) -> tuple[int, int, int, int, int]:
        """What is wrong with the row behind which parsing stopped: kind, line, and depending on the kind more.

        JUNK, NOT_A_NUMBER  the column, and where the cell begins and ends
        CELLS               how many cells there are, and where the row begins and ends
        """
        return (
            self._problem,
            self._problem_line,
            self._problem_column,
            self._problem_begin,
            self._problem_end,
        )

    def lines(self) -> Any:
        """For every row, how many ends of lines are before it."""
        return np.asarray(self._lines[: self._row])

    def numbers(self, place: int) -> Any:
        """The column of numbers with that place among the columns of numbers."""
        begin = place * self._most
        return np.asarray(self._values[begin : begin + self._row])

    def texts(self, place: int) -> tuple[Any, list[str]]:
        """Codes and words of the column with that place among the columns of text."""
        begin = place * self._most
        codes = np.asarray(self._codes[begin : begin + self._row])
        count = int(self._counts[place])
        if self._problem == 0:
            used = list(range(count))
        else:
            # Words that only occur in rows that could not be read are none.
            found = np.unique(codes)
            used = found[found >= 0].tolist()
            again = np.full(count + 1, -1, dtype=np.int32)
            again[used] = np.arange(len(used), dtype=np.int32)
            codes = again[codes]
        words = [self._word(begin + i) for i in used]
        if not self._any_doubled:
            return codes, words
        # A cell with doubled quotes can say the same as one without quotes.
        known: dict[str, int] = {}
        same = np.array([known.setdefault(word, len(known)) for word in words] + [-1], dtype=np.int32)
        return same[codes], list(known)

    def first_row(self) -> tuple[list[str], int]:
        """The cells of the first row that is not blank, and its line; `problem` says what is wrong with it."""
        cells: list[str] = []
        begin: cython.Py_ssize_t
        at: cython.Py_ssize_t
        self.pass_blank_lines()
        line = self.line
        begin = at = self.at  # type: ignore[has-type]
        while at < self.end:
            at = self.read_cell(begin)
            if self.broken != 0 and (self._problem == 0 or self._problem == NOT_UTF8):
                self._note(self.broken, self.broken_line, len(cells), self.cell_begin, self.cell_end)
            bad = self.invalid_byte(begin, at)
            if bad >= 0 and self._problem == 0:
                self._note(NOT_UTF8, self.line_of(0, 0, bad), len(cells), 0, 0)
            cells.append(self._text(self.cell_begin, self.cell_end, self.doubled))
            if at == self.end or self.data[at] != self.delimiter:
                break
            begin = at + 1
        self.at = at
        self.pass_line_end()
        return cells, line

    def parse(self) -> int:
        """Parse rows to the end, or to the first that cannot be read: what is wrong with it, or 0."""
        with cython.nogil:
            found: cython.int = self._scan()
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _scan(self) -> cython.int:
        data: cython.const[cython.uchar][::1] = self.data  # type: ignore[valid-type]
        end: cython.Py_ssize_t = self.end
        delimiter: cython.int = self.delimiter
        width: cython.Py_ssize_t = self._width
        at: cython.Py_ssize_t
        after: cython.Py_ssize_t
        begin: cython.Py_ssize_t
        column: cython.Py_ssize_t
        kind: cython.int
        number: cython.bint
        problem: cython.int
        quotes_are_wrong: cython.bint
        c: cython.int
        while self._row < self._limit:
            self.pass_blank_lines()
            begin = at = self.at
            if at == end:
                return 0
            self._lines[self._row] = self.line
            problem = 0
            quotes_are_wrong = False
            column = 0
            while True:
                kind = self._kinds[column] if column < width else 0
                after = -1
                if kind == _NUMBER:
                    # Nearly every cell is nothing but a number.
                    after = self.read_number(at, end)
                    if after >= 0 and after < end:
                        c = data[after]
                        if c != delimiter and c != 10 and c != 13:
                            after = -1
                    # What only Python can read takes the long way.
                    if after >= 0 and self.number - self.number == 0:
                        self._values[self._places[column] * self._most + self._row] = self.number
                    else:
                        after = -1
                if after < 0:
                    after = self.read_cell(at)
                    if self.broken != 0:
                        if not quotes_are_wrong:
                            quotes_are_wrong = True
                            problem = self.broken
                            self._note(problem, self.broken_line, column, self.cell_begin, self.cell_end)
                    elif kind == _NUMBER:
                        number = self.read_rare(self.cell_begin, self.cell_end)
                        self._values[self._places[column] * self._most + self._row] = self.number
                        if not number and problem == 0:
                            problem = _NOT_A_NUMBER
                            self._note(problem, self._lines[self._row], column, self.cell_begin, self.cell_end)
                    elif kind == _TEXT:
                        self._intern(self._places[column])
                at = after
                column += 1
                if at == end or data[at] != delimiter:
                    break
                at += 1
            if not quotes_are_wrong:
                after = -1 if self._ascii else self.invalid_byte(begin, at)
                if after >= 0:
                    problem = _NOT_UTF8
                    self._note(problem, self.line_of(self._lines[self._row], begin, after), 0, 0, 0)
                elif column != width:
                    problem = _CELLS
                    self._note(problem, self._lines[self._row], column, begin, at)
            self.at = at
            self.pass_line_end()
            if problem != 0:
                return problem
            self._row += 1
        return 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _note(
        self,
        problem: cython.int,
        line: cython.longlong,
        column: cython.Py_ssize_t,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
    ) -> cython.void:
        self._problem = problem
        self._problem_line = line
        self._problem_column = column
        self._problem_begin = begin
        self._problem_end = end

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def _intern(self, place: cython.Py_ssize_t) -> cython.void:
        """Give the cell that was read last the code of its word in that column of text."""
        data: cython.const[cython.uchar][::1] = self.data  # type: ignore[valid-type]
        begin: cython.Py_ssize_t = self.cell_begin
        length: cython.Py_ssize_t = self.cell_end - begin
        base: cython.Py_ssize_t = place * self._most
        table: cython.Py_ssize_t = place * (self._mask + 1)
        i: cython.Py_ssize_t
        word: cython.Py_ssize_t
        other: cython.Py_ssize_t
        found: cython.longlong = _HASH_OF_NOTHING
        four: cython.int
        if length == 0:
            self._codes[base + self._row] = -1
            return
        i = begin
        while i < begin + length:
            four = data[i]
            if i + 4 <= begin + length:
                four |= (data[i + 1] << 8) | (data[i + 2] << 16) | ((data[i + 3] & 127) << 24)
                i += 3
            found = (found ^ four) * _HASH_FACTOR
            found = (found ^ (found >> 29)) & _HASH_BITS
            i += 1
        # A doubled quote makes another word of the same bytes.
        found = found * 2 + self.doubled
        slot: cython.longlong = (found ^ (found >> 15)) & self._mask
        while True:
            word = self._slots[table + slot]
            if word < 0:
                break
            if self._hashes[base + word] == found and self._ends[base + word] - self._begins[base + word] == length:
                other = self._begins[base + word]
                i = 0
                while i < length and data[begin + i] == data[other + i]:
                    i += 1
                if i == length:
                    self._codes[base + self._row] = word
                    return
            slot = (slot + 1) & self._mask
        word = self._counts[place]
        self._counts[place] = word + 1
        self._slots[table + slot] = word
        self._any_doubled = self._any_doubled or self.doubled
        self._hashes[base + word] = found
        self._begins[base + word] = begin
        self._ends[base + word] = begin + length
        self._codes[base + self._row] = word

    @cython.cfunc
    def _word(self, at: cython.Py_ssize_t) -> str:
        return self._text(self._begins[at], self._ends[at], self._hashes[at] & 1)

    @cython.cfunc
    def _text(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t, doubled: cython.bint) -> str:
        text = self._content[begin:end].decode("utf-8", "replace")
        return text.replace('""', '"') if doubled else text


def _line_ends(data: bytes) -> int:
    """How many lines end in it."""
    feeds = int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == 10))
    return feeds + data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else feeds
