r"""Tables from CSV text with any of the usual delimiters, plain or compressed: a header, then one row after the other.

>>> import io
>>> reader = CsvReader(io.BytesIO(b"a;b\n1;'x'\n2,5;\n"))
>>> reader.names
['a', 'b']
>>> reader.look(1000).columns["b"].words
["'x'"]
>>> reader.read_as({"a": "number"})
>>> reader.take(1).columns["a"].values.tolist()
[1.0]
>>> reader.take(1)  # doctest: +ELLIPSIS
Traceback (most recent call last):
afterwit.errors.StreamError: <stream>, line 3: column a: a finite ...; found '2,5'; write it with a decimal point

Cells are quoted as in RFC 4180: a cell that begins with a quote ends at the next quote that is not doubled, and may
hold delimiters and ends of lines. Spaces around a cell that is not quoted do not belong to it. Blank lines are skipped.
Every row has as many cells as the header. Only the delimiter is guessed, and nothing that is wrong is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import StreamError, Words, invalid, shorten
from afterwit.streams import _csv_cells, _csv_text
from afterwit.streams._blocks import BLOCK, Block, BlockReader, Problem, RawBlock
from afterwit.streams._bytes import NOT_UTF8
from afterwit.streams._cells import (
    A_BOOLEAN,
    A_NUMBER,
    A_TIME,
    DECIMAL_COMMA,
    MISSING_NUMBERS,
    NO_TIME,
    NUMBER,
    booleans_of,
    times_of,
)
from afterwit.streams.batch import SKIPPED_TO_SHOW, Batch, Booleans, Column, Form, Numbers, Texts, Times, unnamed

#: One of these, if no delimiter is given.
DELIMITERS = ",;\t|"
NAMES_REMEDY = "if the file has no header, name its columns with names=(...) (--names a,b,c)"
QUOTES_REMEDY = "if quotes are ordinary characters in this file, read it with quotes=False (--no-quotes)"
EXPECTED = {"number": A_NUMBER, "boolean": A_BOOLEAN, "time": A_TIME}
KINDS = {"number": _csv_text.NUMBER, "boolean": _csv_text.TEXT, "text": _csv_text.TEXT, "time": _csv_text.TEXT}


class CsvReader(BlockReader):
    r"""One pass over CSV text: `TableReader` says how it is used.

    delimiter  the one of , ; \t and | that occurs most in the first line that is not blank, if it is not given
    quotes     whether a cell may be quoted; otherwise quotes are characters like others
    names      the columns of a file without a header
    on_error   "stop" at the first row that cannot be read, or "skip" such rows and count them
    any_names  whether a cell of the header may be a number; otherwise it is taken for data
    on_block   is told the position whenever a block begins
    block      how many bytes are read and parsed at once
    workers    how many threads parse ahead; as many as there are processors if it is not given
    kept       whether all of it will be held in memory
    """

    typed = False

    def __init__(
        self,
        source: Any,
        *,
        delimiter: str | None = None,
        quotes: bool = True,
        names: Sequence[str] | None = None,
        on_error: str = "stop",
        any_names: bool = False,
        on_block: Callable[[int], None] | None = None,
        block: int = BLOCK,
        workers: int | None = None,
        kept: bool = False,
    ) -> None:
        self._delimiter = "" if delimiter is None else _checked_delimiter(delimiter)
        self._quotes = bool(quotes)
        self._any_names = bool(any_names)
        given = None if names is None else _checked_names(names)
        super().__init__(source, on_error, on_block, block, workers, kept)
        self._guessed = delimiter is None
        self._header = given is None
        #: How many bytes come before the first row, but for a mark of the byte order.
        self.header_bytes = 0
        try:
            self._begin()
            self.names = self._read_header() if given is None else given
        except BaseException:
            self.close()
            raise
        self._set_forms(dict.fromkeys(self.names, "text"))

    @property
    def delimiter(self) -> str:
        """What separates cells."""
        return self._delimiter

    # ------------------------------------------------------------------ the beginning of the file

    def _begin(self) -> None:
        """Read the first line that is not blank: it decides the delimiter."""
        beginning = self._beginning(lambda found: re.search(rb"[\r\n]", found.lstrip(b" \t\r\n")))
        if self._guessed:
            blank = len(beginning) - len(beginning.lstrip(b" \t\r\n"))
            begin = max(beginning.rfind(b"\n", 0, blank), beginning.rfind(b"\r", 0, blank)) + 1
            # In a file of nothing but blank lines, a tab is no delimiter.
            text = beginning[begin:] if blank < len(beginning) else b""
            line = self._unquoted(re.split(rb"[\r\n]", text, maxsplit=1)[0])
            self._delimiter = max(DELIMITERS, key=lambda each: line.count(each.encode()))
        ends = _csv_cells.RowEnds(ord(self._delimiter), self._quotes)
        self._raws = self._cut(beginning, ends.last, lambda: f"; {QUOTES_REMEDY}" if ends.in_quotes else "")

    def _unquoted(self, line: bytes) -> bytes:
        return b"".join(line.split(b'"')[::2]) if self._quotes else line

    def _read_header(self) -> list[str]:
        """The names in the first row; what comes after it is kept for later."""
        for raw in self._raws:
            if raw.problem is not None:
                raise self._error(raw.problem, self._line)
            parser = self._parser(raw.data, np.empty(0, dtype=np.int64))
            cells, line = parser.first_row()
            if parser.problem[0] != 0:
                raise self._error(self._problem(raw.data, parser), self._line)
            line += self._line
            self._line += parser.line
            self.header_bytes += parser.at
            if cells:
                self._held.append(raw._replace(data=raw.data[parser.at :]))
                return self._checked_header([cell.strip() for cell in cells], line)
        raise StreamError("a header with the names of the columns was expected", path=self.name, line=self._line)

    def _checked_header(self, names: list[str], line: int) -> list[str]:
        """A first row that can be a header: rows of data are not swallowed in silence."""
        seen: set[str] = set()
        # As the index that pandas writes, and what is behind a delimiter at the end of the line.
        names = [name or unnamed(i + 1) for i, name in enumerate(names)] if any(names) else names
        for i, name in enumerate(names):
            if not name:
                found = f"cell {i + 1} of the header is empty"
            elif NUMBER.fullmatch(name) and not self._any_names:
                found = f"cell {i + 1} of the header is the number {name[:40]}"
            elif name in seen:
                found = f"the column {shorten(name)} occurs twice in the header"
            else:
                seen.add(name)
                continue
            reason = f"the first row was expected to name the columns, and {found}; {NAMES_REMEDY}"
            raise StreamError(reason, path=self.name, line=line)
        return names

    def _check_first_row(self) -> None:
        """A header of one cell has no delimiter: then there must not be one in the first row either."""
        while not any(raw.data.strip(b" \t\r\n") or raw.problem for raw in self._held):
            raw = next(self._raws, None)
            if raw is None:
                return
            self._held.append(raw)
        if not self._guessed or len(self.names) > 1:
            return
        data = b"".join(raw.data for raw in self._held)
        text = data.lstrip(b" \t\r\n")
        row = re.split(rb"[\r\n]", text, maxsplit=1)[0].rstrip(b" \t")
        found = self._unquoted(row).decode("utf-8", "replace")
        other = max(DELIMITERS.replace(self._delimiter, ""), key=found.count)
        if other in found:
            line = self._line + len(re.findall(rb"\r\n|\r|\n", data[: len(data) - len(text)]))
            reason = f"1 cell was expected, {self._as_in()}; found {other!r}, which may separate more"
            remedy = "give the delimiter, which is ',' in a file of one column (--delimiter)"
            raise StreamError(f"{reason}; {remedy}", path=self.name, line=line)

    # ------------------------------------------------------------------ blocks

    def _blocks(self) -> Iterator[Block]:
        self._check_first_row()
        return self._parsed(self._parse)

    def _parser(self, data: bytes, kinds: npt.NDArray[np.int64], most: int = 1 << 60) -> Any:
        return _csv_text.CsvBlock(data, ord(self._delimiter), self._quotes, kinds, most)

    def _parse(self, raw: RawBlock, most: int = 1 << 60) -> Block:
        """Parse a block; called by any thread."""
        if raw.problem is not None:
            return Block({}, np.empty(0, dtype=np.int64), 0, [raw.problem], raw.position)
        parser = self._parser(raw.data, self._kinds, most)
        problems: list[Problem] = []
        while parser.parse():
            # No more messages are shown.
            show = len(problems) < SKIPPED_TO_SHOW
            problems.append(self._problem(raw.data, parser) if show else Problem(parser.rows, parser.problem[1], ""))
            if not self._skip:
                break
        columns: dict[str, Column] = {}
        wrong: dict[str, npt.NDArray[np.bool_]] = {}
        cells: dict[str, tuple[npt.NDArray[np.int32], list[str]]] = {}
        numbers = texts = 0
        for name in self.names:
            form = self._forms.get(name)
            if form == "number":
                columns[name] = Numbers(parser.numbers(numbers))
                numbers += 1
            elif form is not None:
                codes, words = parser.texts(texts)
                columns[name], bad = _of_words(codes, words, form)
                texts += 1
                if bad.any():
                    wrong[name] = bad
                    cells[name] = codes, words
        block = Block(columns, parser.lines(), parser.line, problems, raw.position)
        if wrong:

            def message(name: str, row: int) -> str:
                codes, words = cells[name]
                return _unexpected(name, self._forms[name], words[codes[row]])

            self._leave_out(block, wrong, message)
        return block

    # ------------------------------------------------------------------ the protocol

    def look(self, rows: int) -> Batch:
        """The first rows, at most so many, every cell as it is written."""
        self._check_not_begun()
        self._check_first_row()
        parts: list[Block] = []
        count, ends = 0, 0
        while count < rows:
            if len(parts) == len(self._held):
                raw = next(self._raws, None)
                if raw is None:
                    break
                self._held.append(raw)
            block = self._parse(self._held[len(parts)], rows - count)
            for problem in block.problems:
                if problem.fatal or not self._skip:
                    raise self._error(problem, self._line + ends)
            block.lines = block.lines + (self._line + ends)
            parts.append(block)
            count += len(block.lines)
            ends += block.ends
        columns: dict[str, Column] = {name: _joined([each.columns[name] for each in parts]) for name in self.names}
        lines = np.concatenate([np.empty(0, dtype=np.int64), *(each.lines for each in parts)])
        return Batch(self.name, count, columns, 1, lines)

    def read_as(self, forms: dict[str, Form]) -> None:
        """Which columns ``take`` hands over, and as what; the cells of the others are only counted."""
        self._check_not_begun()
        for name, form in forms.items():
            if name not in self.names:
                known = shorten(Words(", ".join(self.names)), 300)
                raise StreamError(f"there is no column {shorten(name)}; there are {known}", path=self.name)
            if form not in KINDS:
                raise invalid("forms", f"one of {', '.join(KINDS)} for each column", form)
        self._set_forms(dict(forms))

    def _set_forms(self, forms: dict[str, Form]) -> None:
        self._forms = forms
        kinds = [KINDS[forms[name]] if name in forms else _csv_text.SKIP for name in self.names]
        self._kinds = np.array(kinds, dtype=np.int64)

    # ------------------------------------------------------------------ messages

    def _problem(self, data: bytes, parser: Any) -> Problem:
        """What the parser has found."""
        kind, line, column, begin, end = parser.problem
        name = _called(self.names[column]) if column < len(self.names) else f"number {column + 1}"
        cell = data[begin : min(end, begin + 200)].decode("utf-8", "replace")
        if kind == _csv_cells.OPEN_QUOTE:
            reason = f"column {name}: a quoted cell begins here and does not end; {QUOTES_REMEDY}"
        elif kind == _csv_cells.JUNK:
            reason = f"column {name}: nothing was expected between the closing quote and the next delimiter"
            reason = f"{reason}; found {shorten(cell)}; {QUOTES_REMEDY}"
        elif kind == _csv_text.NOT_UTF8:
            reason = NOT_UTF8
        elif kind == _csv_text.CELLS:
            expected = "1 cell was" if len(self.names) == 1 else f"{len(self.names):,} cells were"
            reason = f"{expected} expected, {self._as_in()}; found {column:,}"
            row = self._unquoted(data[begin:end]).decode("utf-8")
            other = [each for each in DELIMITERS if row.count(each) + 1 == len(self.names) > 1]
            if other:
                reason = f"{reason}; they may be separated by {other[0]!r} (--delimiter)"
        else:
            reason = _unexpected(name, "number", cell)
        return Problem(parser.rows, int(line), reason)

    def _as_in(self) -> str:
        return "as in the header" if self._header else "as there are names"


def _of_words(codes: npt.NDArray[np.int32], words: list[str], form: Form) -> tuple[Column, npt.NDArray[np.bool_]]:
    """A column of that form, and which rows cannot be read so."""
    if form == "text":
        return Texts(codes, words), np.zeros(len(codes), dtype=np.bool_)
    said = [word.strip(" \t") for word in words]
    missing = np.array([word.lower() in MISSING_NUMBERS for word in said], dtype=np.bool_)
    # The code of an empty cell, -1, takes what is put behind the words.
    if form == "boolean":
        values, bad = booleans_of(said)
        return Booleans(np.append(values, np.nan)[codes]), np.append(bad & ~missing, False)[codes]
    moments, bad = times_of(said)
    return Times(np.append(moments, NO_TIME)[codes]), np.append(bad & ~missing, False)[codes]


def _joined(parts: list[Any]) -> Texts:
    """Columns of text one after the other."""
    known: dict[str, int] = {}
    codes = [np.empty(0, dtype=np.int32)]
    for each in parts:
        again = [known.setdefault(word, len(known)) for word in each.words]
        codes.append(np.array([*again, -1], dtype=np.int32)[each.codes])
    return Texts(np.concatenate(codes), list(known))


def _unexpected(name: str, form: Form, cell: str) -> str:
    reason = f"column {_called(name)}: {EXPECTED[form]}; found {shorten(cell)}"
    return f"{reason}; write it with a decimal point" if form == "number" and DECIMAL_COMMA.fullmatch(cell) else reason


def _called(name: str) -> str:
    """A name in a message: what was taken for a header may be a row of text."""
    return shorten(Words(name), 40)


def _checked_delimiter(delimiter: Any) -> str:
    """A character that can be nothing else in a table."""
    if not (isinstance(delimiter, str) and re.fullmatch(r"[!#$%&*,/:;<=>?@^`|~\\\t\x1c-\x1f]", delimiter)):
        allowed = "one character that separates cells, such as a comma, a semicolon, a tab or |"
        raise invalid("delimiter", allowed, delimiter)
    return delimiter


def _checked_names(names: Any) -> list[str]:
    found = [] if isinstance(names, str) else list(names)
    whole = all(isinstance(name, str) and name for name in found)
    if not found or not whole or len(set(found)) < len(found):
        raise invalid("names", "a name for each column, each another", names)
    return found
