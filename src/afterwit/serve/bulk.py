"""Many rows at once, as fast as each database takes them: the statements that every group of operations needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Table, Text

from afterwit.serve.tables import Database, events, predictions

#: How many rows one statement for SQLite has at most, a power of 2.
MOST_ROWS = 256
#: The lines of a text, for PostgreSQL; an empty one is NULL.
LINES = "string_to_array(%s, E'\\n', '')"


class Bulk:
    """Inserts for SQLite have many rows, those for PostgreSQL have texts with a line for each row.

    SQLite runs a statement without holding the interpreter up, but must wait for it after each one. Its rows are sent
    in powers of 2, so that few different statements are prepared. For PostgreSQL, no value has a line break: ids are
    printable, and JSON writes them as escapes. It takes such texts apart in a fifth of the time that its driver needs
    to write arrays.
    """

    def __init__(self, database: Database) -> None:
        self._insert = _insert_rows if database.is_sqlite else _insert_lines
        self._settle = _settle_rows if database.is_sqlite else _settle_lines

    def add_events(self, connection: Connection, rows: Sequence[Any]) -> None:
        """Rows of model_id, n, at, kind, key, body."""
        if rows:
            self._insert(connection, events, rows)

    def add_served(self, connection: Connection, rows: Sequence[Any]) -> None:
        """Rows of model_id, key, n, settled."""
        if rows:
            self._insert(connection, predictions, rows)

    def settle(self, connection: Connection, rows: Sequence[Any]) -> None:
        """Rows of settled, model_id, key."""
        if rows:
            self._settle(connection, rows)


def _insert_rows(connection: Connection, table: Table, rows: Sequence[Any]) -> None:
    for part in _powers(rows):
        connection.exec_driver_sql(_of_rows(table, len(part)), tuple(chain.from_iterable(part)))


def _powers(rows: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """All rows, in as few parts as there can be of powers of 2."""
    begin = 0
    while begin < len(rows):
        size = min(MOST_ROWS, 1 << (len(rows) - begin).bit_length() - 1)
        yield rows[begin : begin + size]
        begin += size


@cache
def _of_rows(table: Table, count: int) -> str:
    row = f"({', '.join('?' for _ in table.columns)})"
    return f"INSERT INTO {table.name} ({_names(table)}) VALUES {', '.join([row] * count)}"


def _insert_lines(connection: Connection, table: Table, rows: Sequence[Any]) -> None:
    connection.exec_driver_sql(_of_lines(table), tuple(map(_lines, zip(*rows, strict=True))))


def _lines(values: Sequence[Any]) -> str:
    """A line for each value; an empty one is NULL, because no value is an empty text."""
    return "\n".join(["" if value is None else str(value) for value in values])


def _settle_rows(connection: Connection, rows: Sequence[Any]) -> None:
    connection.exec_driver_sql("UPDATE predictions SET settled = ? WHERE model_id = ? AND key = ?", list(rows))


def _settle_lines(connection: Connection, rows: Sequence[Any]) -> None:
    found = f"unnest({LINES}::bigint[], {LINES}::bigint[], {LINES}) AS found (settled, model_id, key)"
    where = "predictions.model_id = found.model_id AND predictions.key = found.key"
    statement = f"UPDATE predictions SET settled = found.settled FROM {found} WHERE {where}"
    connection.exec_driver_sql(statement, tuple(map(_lines, zip(*rows, strict=True))))


@cache
def _of_lines(table: Table) -> str:
    columns = (LINES if isinstance(column.type, Text) else f"{LINES}::bigint[]" for column in table.columns)
    return f"INSERT INTO {table.name} ({_names(table)}) SELECT * FROM unnest({', '.join(columns)})"


def _names(table: Table) -> str:
    return ", ".join(column.name for column in table.columns)
