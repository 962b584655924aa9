"""Many rows at once, as fast as each database takes them: the statements that every group of operations needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Table, Text, insert, update

from afterwit.serve.tables import Database, events, predictions


class Bulk:
    """SQLite inserts rows by a prepared statement, PostgreSQL columns that come as texts with a line for each row.

    No value has a line break: ids are printable, and JSON writes them as escapes. PostgreSQL takes such texts apart in a
    fifth of the time that its driver needs to write arrays.

    Both update row by row, by the primary key: a table that grows has no statistics from which PostgreSQL could see
    that it should look nowhere else.
    """

    def __init__(self, database: Database) -> None:
        columns = predictions.c
        settle = update(predictions).where(columns.model_id == 0, columns.key == "").values(settled=0)
        self._settle = database.statement(settle)
        self._in_lines = not database.is_sqlite
        made = _from_lines if self._in_lines else lambda table: database.statement(insert(table))
        self._events, self._served = made(events), made(predictions)

    def add_events(self, connection: Connection, rows: Sequence[Any]) -> None:
        """Rows of model_id, n, at, kind, key, body."""
        self._insert(connection, self._events, rows)

    def add_served(self, connection: Connection, rows: Sequence[Any]) -> None:
        """Rows of model_id, key, n, settled."""
        self._insert(connection, self._served, rows)

    def settle(self, connection: Connection, rows: Sequence[Any]) -> None:
        """Rows of settled, model_id, key."""
        if rows:
            connection.exec_driver_sql(self._settle, list(rows))

    def _insert(self, connection: Connection, statement: str, rows: Sequence[Any]) -> None:
        if rows and self._in_lines:
            connection.exec_driver_sql(statement, tuple(map(_lines, zip(*rows, strict=True))))
        elif rows:
            connection.exec_driver_sql(statement, list(rows))


def _lines(values: Sequence[Any]) -> str:
    """A line for each value; an empty one is NULL, because no value is an empty text."""
    return "\n".join(["" if value is None else str(value) for value in values])


def _from_lines(table: Table) -> str:
    """Insert rows that come as a text for each column, with a line for each row."""
    names = ", ".join(column.name for column in table.columns)
    lines = "string_to_array(%s, E'\\n', '')"
    columns = (lines if isinstance(column.type, Text) else f"{lines}::bigint[]" for column in table.columns)
    return f"INSERT INTO {table.name} ({names}) SELECT * FROM unnest({', '.join(columns)})"
