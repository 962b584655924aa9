"""The right to write: one process has it, enforced by the database; whoever waits for it is a stand-by.

SQLite: a second file is locked exclusively, as long as the process lives. PostgreSQL: an advisory lock of the very
connection that writes all events, so that with the connection the right to write is gone too.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, exc, text

from afterwit.serve.tables import Database

#: The advisory lock of services, one for each schema of a database.
LOCK = 0x0AF7E3 << 32


class Writing:
    """The right to write, and the connection that has it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._file: sqlite3.Connection | None = None
        self._connection: Connection | None = None

    @property
    def connection(self) -> Connection:
        """What writes all events."""
        assert self._connection is not None
        return self._connection

    def take(self) -> bool:
        """Whether nobody else has the right to write, and now we have."""
        if self._database.is_sqlite:
            if not self._lock_file():
                return False
            self._connection = self._database.engine.connect()
            return True
        connection = self._database.engine.connect()
        try:
            got = connection.execute(
                text("SELECT pg_try_advisory_lock(:lock + abs(hashtext(current_schema())))"), {"lock": LOCK}
            ).scalar_one()
            connection.commit()
        except exc.SQLAlchemyError:
            connection.invalidate()
            connection.close()
            raise
        if got:
            self._connection = connection
        else:
            connection.close()
        return bool(got)

    def _lock_file(self) -> bool:
        file = sqlite3.connect(
            f"{self._database.path}-writer", timeout=0, isolation_level=None, check_same_thread=False
        )
        try:
            file.execute("PRAGMA locking_mode=EXCLUSIVE")
            file.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            file.close()
            if getattr(error, "sqlite_errorname", "").startswith("SQLITE_BUSY"):
                return False
            raise
        self._file = file
        return True

    def check(self) -> None:
        """See that the connection is there, and with it the right to write: otherwise, an error of the database."""
        if not self._database.is_sqlite:
            with self.connection.begin():
                self.connection.execute(text("SELECT 1"))

    def leave(self) -> None:
        """Give the right back. A connection that may be broken is not used again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(exc.SQLAlchemyError):
                connection.invalidate()
            with suppress(exc.SQLAlchemyError):
                connection.close()
        file, self._file = self._file, None
        if file is not None:
            file.close()


def is_about_the_connection(error: Any) -> bool:
    """Whether the connection is gone, and with it the right to write."""
    return bool(getattr(error, "connection_invalidated", False))
