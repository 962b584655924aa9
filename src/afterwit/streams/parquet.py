"""Parquet files, read by DuckDB: of the columns only those that are asked for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import accumulate

from afterwit.errors import StreamError
from afterwit.streams._database import Database, identifier, literal, reason
from afterwit.streams._files import regular_file
from afterwit.streams._parts import Part, PartsReader
from afterwit.streams.arrow import FAILURES, ArrowParts
from afterwit.streams.batch import Batch, Form

#: What DuckDB takes for patterns in the name of a file.
PATTERNS = str.maketrans({"*": "[*]", "?": "[?]", "[": "[[]"})


class ParquetReader(PartsReader):
    """A `TableReader` of one Parquet file; the rows come in the order of the file.

    name  what messages call the file, if not by its path
    rows  which of them, from one number up to another; all of them if it is not given
    """

    def __init__(
        self, path: str | os.PathLike[str], name: str | None = None, rows: tuple[int, int] | None = None
    ) -> None:
        # A copy is removed with its object: it has to be there until this reader is closed.
        self._kept: str | os.PathLike[str] | None = path
        self._file = os.fspath(path)
        self.name = name or self._file
        self._state = regular_file(self._file)
        self._stream: ArrowParts | None = None
        source = literal(os.path.abspath(self._file).translate(PATTERNS))
        self._table = f"read_parquet({source}, hive_partitioning = false)"
        self._chosen = rows
        if rows is not None:
            numbered = f"read_parquet({source}, hive_partitioning = false, file_row_number = true)"
            wanted = f"file_row_number >= {rows[0]:d} AND file_row_number < {rows[1]:d}"
            self._table = f"(SELECT * EXCLUDE (file_row_number) FROM {numbered} WHERE {wanted})"
        self._database = Database()
        try:
            names, self._written, self._total = self._describe(source)
            stream = self._query(f"SELECT * FROM {self._table} LIMIT 0")
            kinds = [kind for _, kind in stream.columns()]
            stream.close()
            super().__init__(self.name, list(zip(names, kinds, strict=True)), size=self._state[0])
        except BaseException:
            self._kept = None
            self._database.close()
            raise

    def look(self, rows: int) -> Batch:
        stream = self._query(f"SELECT * FROM {self._table} LIMIT {rows:d}")
        try:
            return self._first_rows(list(stream), rows)
        finally:
            stream.close()

    def read_as(self, forms: dict[str, Form]) -> None:
        super().read_as(forms)
        self._places = {name: place for place, name in enumerate(forms)}

    @property
    def position(self) -> int:
        """The share of the rows that have been handed over, in bytes."""
        return self._state[0] * self.taken // max(1, self._total)

    def close(self) -> None:
        super().close()
        self._kept = None
        if self._stream is not None:
            self._stream.close()
        self._database.close()

    def _parts(self) -> Iterator[Part]:
        columns = [identifier(self._written[name]) for name in self._asked]
        self._stream = self._query(f"SELECT {', '.join(columns) or 'true'} FROM {self._table}")
        rows = 0
        for part in self._stream:
            self._same_file()
            rows += part.count
            yield part
        self._same_file()
        if rows != self._total:
            raise StreamError(f"{self._total:,} rows were expected, and there are {rows:,}", path=self.name)

    def _describe(self, source: str) -> tuple[list[str], dict[str, str], int]:
        """The names of the columns, what DuckDB calls them, and the number of rows.

        For DuckDB a name is the same in small and large letters: it gives other names to columns that differ only so.
        """
        execute = self._database.connection.execute
        try:
            rows = execute(f"SELECT sum(num_rows) FROM parquet_file_metadata({source})").fetchall()
            fields = execute(f"SELECT name, num_children FROM parquet_schema({source})").fetchall()
            written = [str(row[0]) for row in execute(f"DESCRIBE SELECT * FROM {self._table}").fetchall()]
        except FAILURES as error:
            raise self._explain(error) from None
        names = list(_top(fields))
        if len(names) != len(written):
            names = written
        total = int(rows[0][0]) if self._chosen is None else self._chosen[1] - self._chosen[0]
        return names, dict(zip(names, written, strict=True)), total

    def _query(self, query: str) -> ArrowParts:
        try:
            relation = self._database.connection.sql(query)
        except FAILURES as error:
            raise self._explain(error) from None
        return ArrowParts(self.name, relation, self._explain, self._database.run)

    def _explain(self, error: Exception) -> StreamError:
        self._same_file()
        return StreamError(f"it cannot be read as a Parquet file ({reason(error)})", path=self.name)

    def _same_file(self) -> None:
        if regular_file(self._file) != self._state:
            raise StreamError("the file has changed while it was read; read it again", path=self.name)


def row_groups(path: str) -> list[int]:
    """The number of the first row of each group, and at the end that of all rows."""
    with closing(Database()) as database:
        source = literal(os.path.abspath(path).translate(PATTERNS))
        query = f"SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata({source}) ORDER BY 1"
        try:
            found = database.connection.execute(query).fetchall()
        except FAILURES as error:
            raise StreamError(f"it cannot be read as a Parquet file ({reason(error)})", path=path) from None
    return list(accumulate((int(rows) for _, rows in found), initial=0))


def _top(fields: Sequence[tuple[str, int | None]]) -> Iterator[str]:
    """The names of the columns among those of all fields: the root comes first, and what is in a field follows it."""
    inside = 0
    for name, children in fields[1:]:
        if inside == 0:
            yield name
        else:
            inside -= 1
        inside += children or 0
