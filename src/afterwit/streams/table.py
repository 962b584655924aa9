"""A table of numbers, whole, from any source that has columns: files of any format, or a query.

Every cell is one number, missing (then it is NaN), or an error with its place. Some columns may be kept as text, to
name the rows. Opening decides, by the first rows, which columns hold numbers; then the caller says what is to be read.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from afterwit.errors import StreamError, Words, shorten
from afterwit.streams._cells import A_NUMBER, MISSING_NUMBERS, number_as_text, number_of
from afterwit.streams.batch import ROWS_TO_LOOK_AT, Batch, Booleans, Column, Form, Numbers, Other, Skipped, Texts, Times
from afterwit.streams.formats import checked_format
from afterwit.streams.sources import Dialect, source_of

#: How many rows are taken at once.
BLOCK = 1 << 15


@dataclass(frozen=True)
class Table:
    """Columns of numbers, by their names in the order they were asked for, and columns of text.

    header    all columns, in the order of the source
    skipped   those that do not hold numbers
    empty     those among them with nothing in the first 1,000 rows
    texts     the cells, as they are written, of the columns that were asked for as text
    spoilt    of the skipped columns that hold more numbers than other cells: the place of the first other cell, and the
              cell
    left_out  the rows that could not be read and were skipped, if that was asked for
    """

    name: str
    names: tuple[str, ...]
    values: npt.NDArray[np.float64]
    header: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    texts: Mapping[str, list[str]] = field(default_factory=dict)
    spoilt: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    left_out: Skipped = field(default_factory=Skipped)
    #: The blocks it was read in, without their columns; they know the places of their rows.
    blocks: Sequence[Batch] = ()

    def __len__(self) -> int:
        return len(self.values)

    def column(self, name: str) -> npt.NDArray[np.float64]:
        column: npt.NDArray[np.float64] = self.values[:, self.names.index(name)]
        return column

    def place(self, row: int) -> dict[str, Any]:
        """Where a row is, as `StreamError` takes it."""
        ends = np.cumsum([block.count for block in self.blocks]).tolist()
        at = bisect_right(ends, row)
        return self.blocks[at].place(row - ends[at] + self.blocks[at].count)


class TableFile:
    """A table that has been opened: what its columns are is known, and nothing has been read yet.

    header   all columns, in the order of the source
    size     bytes in all, None if that is not known
    numeric  those that hold a number somewhere in the first 1,000 rows, and nothing else anywhere in them
    spoilt   those that hold more numbers there than other cells: the place of the first other cell, and the cell
    empty    those with nothing in the first 1,000 rows
    """

    def __init__(
        self,
        source: Any,
        format: str | None = None,  # noqa: A002 - what everyone calls it
        dialect: Dialect | None = None,
    ) -> None:
        dialect = replace(dialect or Dialect(), any_names=True, kept=True)
        found = source_of(source, checked_format("format", format), dialect, None)
        if found.table is None and format is None:
            # Whatever it looks like, a table is wanted.
            found = source_of(source, "csv", dialect, None)
        if found.table is None:
            raise StreamError(f"a table with columns was expected; this is {found.format} text", path=found.name)
        self._reader = found.table()
        try:
            look = self._reader.look(ROWS_TO_LOOK_AT)
            self.name = self._reader.name
            self.size = self._reader.size
            self.header = tuple(self._reader.names)
            self.spoilt: dict[str, tuple[str, str]] = {}
            self.empty = tuple(name for name in self.header if _is_empty(look.columns[name]))
            self.numeric = tuple(name for name in self.header if self._is_numeric(name, look))
        except BaseException:
            self._reader.close()
            raise

    def require(self, columns: Sequence[str]) -> None:
        """Refuse names that no column has."""
        for column in columns:
            if column not in self.header:
                known = shorten(Words(", ".join(self.header)), 300)
                raise StreamError(f"there is no column {shorten(column)}; the columns are {known}", path=self.name)

    def read(
        self,
        numbers: Sequence[str],
        texts: Sequence[str] = (),
        limit: int | None = None,
        on_bytes: Callable[[int], None] | None = None,
    ) -> Table:
        """All rows, or the first ones: these columns as numbers, and those as text. A column may be both."""
        self.require([*numbers, *texts])
        forms: dict[str, Form] = dict.fromkeys(numbers, "number")
        if not self._reader.typed:
            forms |= dict.fromkeys(texts, "text")
        else:
            forms |= {name: "text" for name in texts if name not in forms}
        self._reader.read_as(forms)
        parts: list[npt.NDArray[np.float64]] = [np.empty((0, len(numbers)))]
        written: dict[str, list[str]] = {name: [] for name in texts}
        blocks: list[Batch] = []
        left = math.inf if limit is None else limit
        while left and (batch := self._reader.take(int(min(left, BLOCK)))) is not None:
            columns = [_numbers_in(batch, name) for name in numbers]
            parts.append(np.column_stack(columns) if columns else np.empty((batch.count, 0)))
            for name, cells in written.items():
                cells += _texts_of(batch, name)
            blocks.append(Batch(batch.path, batch.count, {}, batch.first, batch.lines))
            left -= batch.count
            if on_bytes is not None:
                on_bytes(self._reader.position)
        skipped = tuple(name for name in self.header if name not in self.numeric)
        left_out = self._reader.skipped
        whole = np.concatenate(parts)
        return Table(
            self.name,
            tuple(numbers),
            whole,
            self.header,
            skipped=skipped,
            empty=self.empty,
            texts=written,
            spoilt=self.spoilt,
            left_out=left_out,
            blocks=blocks,
        )

    def _is_numeric(self, name: str, look: Batch) -> bool:
        column = look.columns[name]
        if isinstance(column, Numbers | Booleans):
            return not bool(np.isnan(column.values).all())
        if not isinstance(column, Texts) or self._reader.typed:
            return False
        found = [number_of(word) for word in column.words]
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(found)).tolist()
        numbers = sum(count for count, each in zip(counts, found, strict=True) if each is not None and each == each)
        others = sum(count for count, each in zip(counts, found, strict=True) if each is None)
        if numbers > others > 0:
            bad = [code for code, each in enumerate(found) if each is None]
            row = int(np.argmax(np.isin(column.codes, bad)))
            place = look.place(row)
            where = f"line {place['line']}" if "line" in place else place["path"]
            self.spoilt[name] = (where, column.words[column.codes[row]])
        return numbers > 0 and not others

    def close(self) -> None:
        self._reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def read_table(source: Any, columns: Sequence[str] | None = None, texts: Sequence[str] = ()) -> Table:
    """Read the columns of those names as numbers, or all that hold numbers, and some as text."""
    with TableFile(source) as opened:
        return opened.read(opened.numeric if columns is None else columns, texts)


def _is_empty(column: Column) -> bool:
    if isinstance(column, Texts):
        return all(word.strip(" \t").lower() in MISSING_NUMBERS for word in column.words)
    return not isinstance(column, Other | Times) and bool(np.isnan(column.values).all())


def _numbers_in(batch: Batch, name: str) -> npt.NDArray[np.float64]:
    """A column as numbers; whatever else is in it is refused with its place."""
    column = batch.columns[name]
    if isinstance(column, Numbers | Booleans):
        return column.values
    if isinstance(column, Texts):
        found = [number_of(word) for word in column.words]
        bad = np.isin(column.codes, [code for code, each in enumerate(found) if each is None])
        if not bad.any():
            # The code of an empty cell, -1, takes the last one.
            return np.array([*found, math.nan], dtype=np.float64)[column.codes]
        row = int(np.argmax(bad))
        cell = shorten(column.words[column.codes[row]])
    else:
        row, cell = 0, "a time" if isinstance(column, Times) else f"a {column.kind}"
    raise StreamError(f"column {name}: {A_NUMBER}; found {cell}", **batch.place(row))


def _texts_of(batch: Batch, name: str) -> list[str]:
    """A column as text; a missing cell is empty."""
    column: Column = batch.columns[name]
    if isinstance(column, Texts):
        words = [*column.words, ""]
        return [words[code] for code in column.codes.tolist()]
    if isinstance(column, Numbers):
        return ["" if value != value else number_as_text(value) for value in column.values.tolist()]
    if isinstance(column, Booleans):
        return ["" if value != value else "true" if value else "false" for value in column.values.tolist()]
    if isinstance(column, Times):
        known = column.values[~np.isnat(column.values)]
        unit: Any = "D" if (known.astype("datetime64[D]") == known).all() else "s"
        if unit == "s" and (known.astype("datetime64[s]") != known).any():
            unit = "us"
        shown = np.datetime_as_string(column.values, unit=unit).tolist()
        return ["" if text == "NaT" else text for text in shown]
    raise StreamError(f"column {name}: text was expected; found a {column.kind}", **batch.place(0))
