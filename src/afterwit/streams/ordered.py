"""The rows of any table in the order of one of its columns, such as the time: also of tables larger than the memory.

The rows go to a database of DuckDB in a temporary folder, which sorts them within a limit of memory and is removed at
the end. Rows that are equal in the column keep their order, and every row still knows where it was.
"""

from __future__ import annotations

from dataclasses import replace
from types import TracebackType
from typing import Self

from afterwit.data.checks import whole_number
from afterwit.errors import StreamError, Words, shorten
from afterwit.streams._cells import number_of, time_of
from afterwit.streams._parts import rows_at_once
from afterwit.streams._store import Store
from afterwit.streams.batch import (
    ROWS_TO_LOOK_AT,
    Batch,
    Booleans,
    Column,
    Form,
    Numbers,
    Skipped,
    TableReader,
    Texts,
    Times,
)
from afterwit.streams.columns import numbers_in

#: How much memory the database may use unless told otherwise, in megabytes.
MEGABYTES = 256
LEAST_MEGABYTES = 64


class OrderedReader:
    """A `TableReader` of the rows of another one, sorted by a column: ascending, with missing cells last.

    Numbers and times are sorted as such, text by code points. The first `take` reads all rows; `look` shows the first
    rows as the other reader has them.

    by         the column
    megabytes  how much memory the database may use
    """

    def __init__(self, reader: TableReader, by: str, megabytes: int = MEGABYTES) -> None:
        self._reader = reader
        self._by = by
        self._megabytes = whole_number("megabytes", megabytes, LEAST_MEGABYTES)
        self.name = reader.name
        self.names = reader.names
        # Some readers know their columns only when they have looked.
        if self.names:
            try:
                self._require_the_column()
            except BaseException:
                reader.close()
                raise
        self.typed = reader.typed
        self.size = reader.size
        self._forms: dict[str, Form] | None = None
        self._form: Form | None = None
        self._store: Store | None = None

    @property
    def skipped(self) -> Skipped:
        return self._reader.skipped

    @property
    def position(self) -> int:
        return self._reader.position

    def look(self, rows: int) -> Batch:
        batch = self._reader.look(rows)
        if batch.count:
            self.name = self._reader.name
            self.names = self._reader.names
            self._require_the_column()
            self._form = _form_of(batch.columns[self._by], self.typed)
        return batch

    def _require_the_column(self) -> None:
        if self._by not in self.names:
            listed = shorten(Words(", ".join(self.names)), 300)
            raise StreamError(f"there is no column {shorten(self._by)} to sort by; there are {listed}", path=self.name)

    def read_as(self, forms: dict[str, Form]) -> None:
        if self._form is None:
            self.look(ROWS_TO_LOOK_AT)
        self._forms = dict(forms)
        # The column to sort by is read in any case.
        self._reader.read_as({self._by: self._form or "number", **forms})

    def take(self, count: int) -> Batch | None:
        if self._store is None:
            self._store = Store(self.name, self._by, self._megabytes)
            try:
                rows = rows_at_once(len(self.names))
                while (batch := self._reader.take(rows)) is not None:
                    self._store.add(*self._with_key(batch))
                self._store.sort()
            except BaseException:
                self._store.close()
                raise
        return self._store.take(count, self.names if self._forms is None else list(self._forms))

    def _with_key(self, batch: Batch) -> tuple[Batch, Column]:
        """What the rows are sorted by: text that looks like numbers is sorted as numbers, whatever it is read as."""
        column = batch.columns[self._by]
        asked = (self._forms or {}).get(self._by, self._form)
        if not isinstance(column, Texts) or "number" not in (asked, self._form):
            return batch, column
        key = Numbers(numbers_in(column, self._by, batch))
        if asked == "number":
            batch = replace(batch, columns={**batch.columns, self._by: key})
        return batch, key

    def close(self) -> None:
        """Closes the other reader too. To close twice does no harm."""
        if self._store is not None:
            self._store.close()
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _form_of(column: Column, typed: bool) -> Form | None:
    """What to read the column as: what it is, or what the cells look like in a source without types."""
    if isinstance(column, Booleans):
        return "boolean"
    if isinstance(column, Times):
        return "time"
    if not isinstance(column, Texts):
        return "number"
    if not column.words:
        return "text"
    if all(number_of(word) is not None for word in column.words):
        return "number"
    if typed:
        return "text"
    return "time" if all(time_of(word) is not None for word in column.words) else "text"
