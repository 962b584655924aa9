"""What all readers of typed tables share: parts of any size go in, batches of the asked size come out.

A part knows how to read a stretch of one of its columns. Only the columns that were asked for are read, some ten
thousand rows at a time. A cell that cannot be handed over is reported when its turn has come: all rows before it are
handed over first, whatever the size of the batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from afterwit.errors import StreamError, shorten
from afterwit.streams._words import in_order_of_first
from afterwit.streams.batch import Batch, Booleans, Column, Form, Numbers, Other, Skipped, Texts, Times

#: So many rows of a part are read at once, and fewer if there are more cells in them than this.
ROWS_AT_ONCE = 1 << 16
CELLS_AT_ONCE = 1 << 22


class Wrong(NamedTuple):
    """The first cell of a column that cannot be handed over: its row, and what is wrong with it."""

    row: int
    message: str


class Part(Protocol):
    """Rows that follow each other in a table."""

    count: int

    def read(self, column: int, form: Form | None, start: int, stop: int) -> tuple[Column, Wrong | None]:
        """Rows ``start`` to ``stop`` of a column. A cell that is wrong is missing; the first of them is described."""


class PartsReader:
    """A `TableReader` of a source that knows its types; a subclass says in `_parts` where the rows come from."""

    typed = True

    def __init__(self, name: str, columns: Sequence[tuple[str, Column]], size: int | None = None) -> None:
        """The columns are empty ones: they say what kind each is."""
        self.name = name
        self.names = [each for each, _ in columns]
        self.size = size
        self._nothing = dict(columns)
        self.skipped = Skipped()
        repeated = next((each for i, each in enumerate(self.names) if each in self.names[:i]), None)
        if repeated is not None:
            raise StreamError(f"the column {shorten(repeated)} occurs twice; give it another name", path=name)
        #: How each column that is handed over is wanted, and where it is in a part.
        self._asked: dict[str, Form | None] = dict.fromkeys(self.names)
        self._places = {each: place for place, each in enumerate(self.names)}
        self._rows: Iterator[Part] | None = None
        self._looked_at: deque[Part] = deque()
        self._piece: _Piece | None = None
        self._part: Part | None = None
        self._at = 0
        self._taken = 0
        self._failed: StreamError | None = None

    def _parts(self) -> Iterator[Part]:
        """The parts, from the first row on: called once."""
        raise NotImplementedError

    @property
    def position(self) -> int:
        return 0

    @property
    def taken(self) -> int:
        """How many rows have been handed over."""
        return self._taken

    def look(self, rows: int) -> Batch:
        """The first rows, of all columns; a cell that `take` would report is missing."""
        parts: list[Part] = []
        while sum(part.count for part in parts) < rows and (part := self._next_part()) is not None:
            parts.append(part)
        self._looked_at.extend(parts)
        return self._first_rows(parts, rows)

    def read_as(self, forms: dict[str, Form]) -> None:
        unknown = next((name for name in forms if name not in self.names), None)
        if unknown is not None:
            raise StreamError(f"there is no column {shorten(unknown)}", path=self.name)
        self._asked = dict(forms)

    def take(self, count: int) -> Batch | None:
        if self._failed is not None:
            raise self._failed
        slices: list[dict[str, Column]] = []
        wanted = count
        while wanted:
            try:
                piece = self._current()
            except StreamError as error:
                self._failed = error
                break
            if piece is None:
                break
            rows = min(wanted, piece.sound - piece.at)
            slices.append({name: sliced(column, piece.at, piece.at + rows) for name, column in piece.columns.items()})
            piece.at += rows
            wanted -= rows
        if wanted == count:
            if self._failed is not None:
                raise self._failed
            return None
        columns = {name: joined([each[name] for each in slices]) for name in self._asked}
        batch = Batch(self.name, count - wanted, columns, first=self._taken + 1)
        self._taken += batch.count
        return batch

    def close(self) -> None:
        """Nothing can be taken any more. To close twice does no harm."""
        self._rows = iter(())
        self._looked_at.clear()
        self._part = self._piece = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _next_part(self) -> Part | None:
        if self._rows is None:
            self._rows = self._parts()
        return next(self._rows, None)

    def _current(self) -> _Piece | None:
        """The rows that have been read and not been handed over, at least one of them sound; None at the end."""
        while self._piece is None or self._piece.at == self._piece.count:
            while self._part is None or self._at == self._part.count:
                self._part = self._looked_at.popleft() if self._looked_at else self._next_part()
                self._at = 0
                if self._part is None:
                    return None
            stop = min(self._part.count, self._at + rows_at_once(len(self._asked)))
            self._piece = self._read(self._part, self._at, stop)
            self._at = stop
        if self._piece.at == self._piece.sound:
            place = f"{self.name}, row {self._piece.first + self._piece.at + 1:,}"
            raise StreamError(self._piece.message, path=place)
        return self._piece

    def _read(self, part: Part, start: int, stop: int) -> _Piece:
        first = 0 if self._piece is None else self._piece.first + self._piece.count
        piece = _Piece({}, stop - start, first)
        for name, form in self._asked.items():
            piece.columns[name], wrong = part.read(self._places[name], form, start, stop)
            if wrong is not None and wrong.row < piece.sound:
                piece.sound, piece.message = wrong.row, f"column {shorten(name)}: {wrong.message}"
        return piece

    def _first_rows(self, parts: Sequence[Part], rows: int) -> Batch:
        """The first rows of these parts, of all columns; a cell that is wrong is missing."""
        found: dict[str, list[Column]] = {name: [nothing] for name, nothing in self._nothing.items()}
        wrong = set()
        count = 0
        for part in parts:
            stop = min(part.count, rows - count)
            for place, name in enumerate(self.names):
                column, refused = part.read(place, None, 0, stop)
                found[name].append(column)
                if refused is not None:
                    wrong.add(name)
            count += stop
        columns = {name: joined(parts) for name, parts in found.items()}
        return Batch(self.name, count, columns, wrong=frozenset(wrong))


class _Piece:
    """Columns that have been read: the rows from ``at`` on are still to be handed over, up to ``sound``."""

    def __init__(self, columns: dict[str, Column], count: int, first: int) -> None:
        self.columns = columns
        self.count = self.sound = count
        self.first = first
        self.at = 0
        self.message = ""


def rows_at_once(columns: int) -> int:
    """How many rows of so many columns are a good piece of work."""
    return min(ROWS_AT_ONCE, max(1, CELLS_AT_ONCE // max(1, columns)))


def sliced(column: Column, start: int, stop: int) -> Column:
    """Some rows of a column; of the words only those that occur, in the order of their first occurrence."""
    if isinstance(column, Other):
        return column
    if not isinstance(column, Texts):
        return with_values(column, column.values[start:stop])
    codes = column.codes[start:stop]
    if len(codes) == len(column.codes):
        return column
    here = np.flatnonzero(codes >= 0)
    new = np.full(len(codes), -1, dtype=np.int32)
    new[here], first = in_order_of_first(codes[here])
    return Texts(new, [column.words[code] for code in codes[here[first]].tolist()])


def with_values(column: Numbers | Booleans | Times, values: Any) -> Column:
    """A column of the same kind with other values."""
    return column._replace(values=values)


def joined(columns: Sequence[Column]) -> Column:
    """The rows of several columns of the same kind, one below the other."""
    first = columns[0]
    if len(columns) == 1 or isinstance(first, Other):
        return first
    if isinstance(first, Texts):
        return _joined_texts([column for column in columns if isinstance(column, Texts)])
    values = [column.values for column in columns if isinstance(column, Numbers | Booleans | Times)]
    return with_values(first, np.concatenate(values))


def _joined_texts(columns: Sequence[Texts]) -> Texts:
    numbers: dict[str, int] = {}
    codes = []
    for column in columns:
        new = np.array([numbers.setdefault(word, len(numbers)) for word in column.words] + [-1], dtype=np.int32)
        codes.append(new[column.codes])
    return Texts(np.concatenate(codes), list(numbers))
