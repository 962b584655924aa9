"""Rows on their way through a database: in by batches, out in the order of a column.

All columns with a number in each cell go in together, as one piece of bytes for each row, so that a table may have
thousands of them. Text goes in by columns of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import nanoarrow
import numpy as np
import numpy.typing as npt

from afterwit.errors import StreamError, shorten
from afterwit.streams._database import Database, reason
from afterwit.streams._parts import Part, PartsReader, Wrong, with_values
from afterwit.streams.arrow import FAILURES, ArrowPart, ArrowParts
from afterwit.streams.batch import Batch, Booleans, Column, Form, Numbers, Other, Texts, Times

#: Each thread that sorts needs so much memory.
MEGABYTES_FOR_A_THREAD = 128
#: How the columns are called in which a sorted row says where it was.
FILE, NUMBER = "file", "number"


@dataclass(frozen=True)
class OrderedBatch(Batch):
    """Rows in a new order, perhaps of several files: row i was row or line ``numbers[i]`` of ``files[codes[i]]``."""

    files: Sequence[tuple[str, bool]] = ()
    codes: npt.NDArray[np.int64] | None = None
    numbers: npt.NDArray[np.int64] | None = None

    def place(self, i: int) -> dict[str, Any]:
        assert self.codes is not None
        assert self.numbers is not None
        path, has_lines = self.files[self.codes[i]]
        number = int(self.numbers[i])
        return {"path": path, "line": number} if has_lines else {"path": f"{path}, row {number:,}"}


class Store:
    """First `add` all batches, then `sort`, then `take` the rows. It removes what it has written when it is closed."""

    def __init__(self, name: str, by: str, megabytes: int) -> None:
        self._name = name
        self._by = by
        self._megabytes = megabytes
        self._files: dict[tuple[str, bool], int] = {}
        self._columns: dict[str, Column] = {}
        self._key: Column = Other("nothing")
        self._count = 0
        self._sorted: _SortedRows | None = None
        self._database = Database("rows.duckdb", memory=f"{megabytes}MiB")
        self._database.set("threads", max(1, megabytes // MEGABYTES_FOR_A_THREAD))
        # Every row has its number: it does not matter in which order they are kept.
        self._database.set("preserve_insertion_order", False)
        # They are written once and read once: to look for the best compression takes longer than all the rest.
        self._database.set("force_compression", "uncompressed")

    def close(self) -> None:
        if self._sorted is not None:
            self._sorted.close()
        self._database.close()

    def add(self, batch: Batch, key: Column) -> None:
        """The next rows of the source, and what they are sorted by: the column itself, or its text as numbers."""
        first = not self._columns
        self._key = key
        for name, column in batch.columns.items():
            self._columns[name] = _kind(self._columns.get(name, column), column, name, batch)
        file = self._files.setdefault((batch.path, batch.lines is not None), len(self._files))
        fixed = [column for column in batch.columns.values() if not isinstance(column, Texts | Other)]
        cells = np.empty((batch.count, len(fixed) + 2), dtype=np.int64)
        cells[:, 0] = file
        cells[:, 1] = np.arange(batch.first, batch.first + batch.count) if batch.lines is None else batch.lines
        for place, column in enumerate(fixed, start=2):
            cells[:, place] = column.values.view(np.int64)
        rows = np.arange(self._count, self._count + batch.count)
        fields = {"row": _field(nanoarrow.int64(), None, rows), "cells": _pieces(cells)}
        if not isinstance(key, Texts | Other):
            fields["key"] = _key(key)
        texts = [column for column in batch.columns.values() if isinstance(column, Texts)]
        fields |= {f"text{i}": _strings(column) for i, column in enumerate(texts)}
        self._insert(fields, batch.count, first)
        self._count += batch.count

    def sort(self) -> None:
        """No row is added any more."""
        if not self._count:
            return
        if isinstance(self._key, Other):
            raise StreamError(
                f"column {shorten(self._by)} is of type {self._key.kind} and has no order", path=self._name
            )
        key = f"text{self._texts().index(self._by)}" if isinstance(self._key, Texts) else "key"
        columns = ", ".join(["cells", *(f"text{i}" for i in range(len(self._texts())))])
        try:
            query = f"SELECT {columns} FROM rows ORDER BY {key} ASC NULLS LAST, row"
            relation = self._database.connection.sql(query)
        except FAILURES as error:
            raise self._explain(error) from None
        stream = ArrowParts(self._name, relation, self._explain, self._database.run)
        self._sorted = _SortedRows(self._name, self._columns, stream)

    def take(self, count: int, names: Sequence[str]) -> Batch | None:
        """The next rows: those columns of them."""
        if self._sorted is None:
            return None
        first = self._sorted.taken + 1
        batch = self._sorted.take(count)
        if batch is None:
            return None
        files, numbers = (_whole(batch.columns[f"-{each}"]) for each in (FILE, NUMBER))
        columns = {name: batch.columns[f"+{name}"] for name in names}
        lines = numbers if all(has_lines for _, has_lines in self._files) else None
        return OrderedBatch(
            self._name, batch.count, columns, first, lines, files=list(self._files), codes=files, numbers=numbers
        )

    def _texts(self) -> list[str]:
        return [name for name, column in self._columns.items() if isinstance(column, Texts)]

    def _insert(self, fields: dict[str, Any], count: int, first: bool) -> None:
        connection = self._database.connection
        kinds = nanoarrow.struct({name: field.schema for name, field in fields.items()})
        table = nanoarrow.c_array_from_buffers(kinds, count, [None], children=list(fields.values()))
        try:
            connection.register("batch", nanoarrow.ArrayStream(table))
            if first:
                # It is never committed: nobody else is to see these rows.
                connection.execute("BEGIN TRANSACTION")
                connection.execute("CREATE TABLE rows AS SELECT * FROM batch LIMIT 0")
            self._database.run(lambda: connection.execute("INSERT INTO rows SELECT * FROM batch"))
            connection.unregister("batch")
        except FAILURES as error:
            raise self._explain(error) from None

    def _explain(self, error: Exception) -> StreamError:
        found = f"its rows cannot be sorted with {self._megabytes} MB of memory ({reason(error)})"
        return StreamError(f"{found}; allow more, or make room in the folder for temporary files", path=self._name)


class _SortedRows(PartsReader):
    """What the database hands over. The name of each column of the table has a plus before it."""

    def __init__(self, name: str, columns: dict[str, Column], stream: ArrowParts) -> None:
        nothing: list[tuple[str, Column]] = [(f"-{each}", Numbers(np.empty(0))) for each in (FILE, NUMBER)]
        nothing += [(f"+{each}", column) for each, column in columns.items()]
        super().__init__(name, nothing)
        self._kinds = [column for _, column in nothing[2:]]
        self._stream = stream

    def close(self) -> None:
        super().close()
        self._stream.close()

    def _parts(self) -> Iterator[Part]:
        return (_SortedPart(part, self._kinds) for part in self._stream)


class _SortedPart:
    """The first column of the database has all cells with numbers, the others have text."""

    def __init__(self, part: ArrowPart, kinds: Sequence[Column]) -> None:
        self.count = part.count
        self._part = part
        self._kinds = kinds
        texts = [i for i, kind in enumerate(kinds) if isinstance(kind, Texts)]
        fixed = [i for i, kind in enumerate(kinds) if not isinstance(kind, Texts | Other)]
        self._places = {i: place for place, i in enumerate(texts, start=1)} | {
            i: place for place, i in enumerate(fixed, start=2)
        }
        self._cells = part.pieces(0).view(np.int64).reshape(part.count, len(fixed) + 2)

    def read(self, column: int, form: Form | None, start: int, stop: int) -> tuple[Column, Wrong | None]:
        if column < 2:
            return Numbers(self._cells[start:stop, column].astype(np.float64)), None
        kind = self._kinds[column - 2]
        if isinstance(kind, Other):
            return kind, None
        place = self._places[column - 2]
        if isinstance(kind, Texts):
            return self._part.read(place, form, start, stop)
        return with_values(kind, self._cells[start:stop, place].copy().view(kind.values.dtype)), None


def _kind(before: Column, column: Column, name: str, batch: Batch) -> Column:
    """An empty column of this kind: the same in all batches. Numbers are whole if they are in each."""
    if type(before) is not type(column):
        kinds = f"{type(before).__name__.lower()}, and now {type(column).__name__.lower()}"
        raise StreamError(f"column {shorten(name)} held {kinds}", **batch.place(0))
    if isinstance(before, Numbers) and isinstance(column, Numbers):
        return Numbers(np.empty(0), before.whole and column.whole)
    if isinstance(column, Texts):
        return Texts(np.empty(0, dtype=np.int32), [])
    return column if isinstance(column, Other) else with_values(column, column.values[:0])


def _whole(column: Column) -> npt.NDArray[np.int64]:
    assert isinstance(column, Numbers)
    return column.values.astype(np.int64)


def _key(column: Numbers | Booleans | Times) -> Any:
    """What rows are sorted by; missing cells are null."""
    if isinstance(column, Times):
        return _field(nanoarrow.int64(), np.isnat(column.values), column.values.view(np.int64))
    # To add 0 makes 0 of -0: they are equal.
    return _field(nanoarrow.float64(), np.isnan(column.values), column.values + 0.0)


def _field(kind: Any, missing: npt.NDArray[np.bool_] | None, *buffers: npt.NDArray[Any]) -> Any:
    validity = None if missing is None else np.packbits(~missing, bitorder="little")
    length = len(buffers[0]) - (len(buffers) > 1)
    return nanoarrow.c_array_from_buffers(kind, length, [validity, *map(np.ascontiguousarray, buffers)])


def _pieces(cells: npt.NDArray[np.int64]) -> Any:
    """Each row of a matrix as a piece of bytes."""
    offsets = np.arange(len(cells) + 1, dtype=np.int64) * (cells.shape[1] * cells.itemsize)
    return _field(nanoarrow.large_binary(), None, offsets, cells.reshape(-1).view(np.uint8))


def _strings(column: Texts) -> Any:
    """A column of text as Arrow has it."""
    words = [*(word.encode() for word in column.words), b""]
    offsets = np.zeros(len(column.codes) + 1, dtype=np.int64)
    np.cumsum(np.array([len(word) for word in words])[column.codes], out=offsets[1:])
    data = np.frombuffer(b"".join([words[code] for code in column.codes.tolist()]), dtype=np.uint8)
    return _field(nanoarrow.large_string(), column.codes < 0, offsets, data)
