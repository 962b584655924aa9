"""The rows of a query, which DuckDB answers: ``SELECT … FROM 'clicks.parquet' WHERE …``.

The query runs once, without the network, and may read files but not change anything. Without ORDER BY, rows of one file
come in its order.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb

from afterwit.errors import StreamError, shorten
from afterwit.streams._database import Database, missing_extension, reason
from afterwit.streams._parts import Part, PartsReader
from afterwit.streams.arrow import FAILURES, ArrowParts

NAME = "the query"


class SqlReader(PartsReader):
    """A `TableReader` of the rows that one SELECT returns."""

    def __init__(self, query: str) -> None:
        self.name = NAME
        self._query = query
        self._database = Database()
        try:
            self._stream = self._run()
            super().__init__(NAME, self._stream.columns())
        except BaseException:
            self._database.close()
            raise

    def close(self) -> None:
        super().close()
        self._stream.close()
        self._database.close()

    def _parts(self) -> Iterator[Part]:
        return iter(self._stream)

    def _run(self) -> ArrowParts:
        connection = self._database.connection
        try:
            statements = connection.extract_statements(self._query)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise StreamError(f"one SELECT that returns rows was expected, not {shorten(self._query)}", path=NAME)
            relation = connection.sql(self._query)
        except FAILURES as error:
            raise error if isinstance(error, StreamError) else self._explain(error) from None
        return ArrowParts(NAME, relation, self._explain, self._database.run)

    def _explain(self, error: Exception) -> StreamError:
        extension = missing_extension(error)
        query = shorten(self._query)
        if extension is None:
            return StreamError(f"DuckDB cannot answer {query} ({reason(error)})", path=NAME)
        needs = f"{query} needs DuckDB's extension {extension!r}, which is not installed, and nothing is fetched for it"
        return StreamError(f"{needs}; install it with DuckDB, or read a file that needs no extension", path=NAME)
