"""The tables of a service, and opening the database: an SQLite file or PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    create_engine,
    event,
    exc,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import make_url
from sqlalchemy.pool import QueuePool

from afterwit.errors import AfterwitError, InputError, Words, invalid, shorten

#: What the tables are; a service refuses others.
FORMAT = "1"
#: Large contents are kept in parts of so many bytes.
PART = 1 << 20
#: What SQLite allows in one statement, with room for the other parameters.
MOST_PARAMETERS = 30_000

tables = MetaData()
_number = BigInteger().with_variant(Integer, "sqlite")

#: What the database says of itself.
about = Table("about", tables, Column("name", Text, primary_key=True), Column("value", Text, nullable=False))

#: A model without a name has been deleted, and its log is being removed.
models = Table(
    "models",
    tables,
    Column("id", _number, primary_key=True, autoincrement=True),
    Column("name", Text, unique=True),
    sqlite_autoincrement=True,
)

#: The log, the only truth: n counts the events of a model from 1 without gaps.
events = Table(
    "events",
    tables,
    Column("model_id", _number, primary_key=True),
    Column("n", _number, primary_key=True, autoincrement=False),
    Column("at", _number, nullable=False),
    Column("kind", Text, nullable=False),
    Column("key", Text),
    Column("body", Text, nullable=False),
    sqlite_with_rowid=False,
)

#: An index of the log: which event served an example, and which one settled it.
predictions = Table(
    "predictions",
    tables,
    Column("model_id", _number, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("n", _number, nullable=False),
    Column("settled", _number),
    sqlite_with_rowid=False,
)
waiting = Index(
    "waiting",
    predictions.c.model_id,
    predictions.c.n,
    sqlite_where=predictions.c.settled.is_(None),
    postgresql_where=predictions.c.settled.is_(None),
)

#: Model files that were uploaded, by their SHA-256.
files = Table(
    "files",
    tables,
    Column("digest", Text, primary_key=True),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("content", LargeBinary, nullable=False),
)

#: A model after n events: its file and its progress, in parts. The whole has this SHA-256.
snapshots = Table(
    "snapshots",
    tables,
    Column("model_id", _number, primary_key=True),
    Column("n", _number, primary_key=True, autoincrement=False),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("parts", Integer, nullable=False),
    Column("digest", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

#: Certificates that were computed, by the event after which they stand.
certificates = Table(
    "certificates",
    tables,
    Column("model_id", _number, primary_key=True),
    Column("n", _number, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
)

#: Who may do what: tokens are kept as their SHA-256.
tokens = Table(
    "tokens",
    tables,
    Column("name", Text, primary_key=True),
    Column("digest", Text, nullable=False, unique=True),
    Column("scopes", Text, nullable=False),
    Column("made", _number, nullable=False),
)

#: What depends on a model, for removing it.
OF_A_MODEL = (predictions, snapshots, certificates, events)


class Database:
    """A database, opened by its address: a path, ``sqlite:///path`` or ``postgresql://user@host/name``."""

    def __init__(self, address: str) -> None:
        self.address = address
        url = _url(address)
        self.is_sqlite = url.get_backend_name() == "sqlite"
        #: The file of an SQLite database.
        self.path: str | None = None
        options: dict[str, Any] = {"poolclass": QueuePool, "pool_size": 8, "max_overflow": 8}
        if self.is_sqlite:
            self.path = os.path.abspath(url.database or "")
            if not os.path.isdir(os.path.dirname(self.path)):
                raise invalid("database", "a file in a folder that exists", self.path)
            url = url.set(database=self.path)
            # Transactions begin where we say so, not where the driver does.
            options["connect_args"] = {"isolation_level": None, "timeout": 30.0, "check_same_thread": False}
        else:
            options["paramstyle"] = "format"
            options["pool_pre_ping"] = True
            # A server that is gone is noticed in half a minute, not when the system gives up.
            options["connect_args"] = {"connect_timeout": 10, "keepalives_idle": 10, "tcp_user_timeout": 30_000}
        self.engine: Engine = create_engine(url, **options)
        #: For reading: every statement sees what is committed when it begins.
        self.reading: Engine = create_engine(url, isolation_level="AUTOCOMMIT", **options)
        for engine in (self.engine, self.reading):
            event.listen(engine, "connect", self._connected)
        if self.is_sqlite:
            event.listen(self.engine, "begin", _begin_immediate)

    def _connected(self, connection: Any, record: Any) -> None:
        del record
        cursor = connection.cursor()
        if self.is_sqlite:
            cursor.execute("PRAGMA journal_mode=WAL")
            # NORMAL may lose what was committed when the power fails.
            cursor.execute("PRAGMA synchronous=FULL")
            cursor.execute("PRAGMA cache_size=-65536")
        else:
            cursor.execute("SET synchronous_commit = on")
            # Every question is about few rows, which are found by the primary key. A table that grows has no statistics
            # from which PostgreSQL could see that.
            cursor.execute("SET enable_hashjoin = off")
            cursor.execute("SET enable_mergejoin = off")
            # As long as the server believes that a writer lives, no stand-by takes over.
            for setting in ("idle = 10", "interval = 5", "count = 3"):
                cursor.execute(f"SET tcp_keepalives_{setting}")
            connection.commit()
        cursor.close()

    @property
    def shown(self) -> str:
        """The address without the password."""
        return self.path or self.engine.url.render_as_string(hide_password=True)

    def prepare(self) -> None:
        """Make the tables, if they are not there; refuse tables of another version."""
        try:
            self._prepare()
        except exc.SQLAlchemyError as error:
            raise unreachable(self, error) from None

    def _prepare(self) -> None:
        if not self.is_sqlite:
            with self.reading.connect() as connection:
                encoding = connection.execute(text("SHOW server_encoding")).scalar_one()
                if encoding != "UTF8":
                    raise invalid("database", "one whose encoding is UTF8", Words(encoding))
        names = inspect(self.engine).get_table_names()
        if "events" in names and "about" not in names:
            raise invalid("database", "one of a service, or an empty one", Words(f"{self.shown} with other tables"))
        with self.engine.begin() as connection:
            tables.create_all(connection)
            found = connection.execute(select(about.c.value).where(about.c.name == "format")).scalar()
            if found is None:
                connection.execute(about.insert().values(name="format", value=FORMAT))
            elif found != FORMAT:
                raise invalid("database", f"one of format {FORMAT}, which this version reads", Words(f"format {found}"))

    def close(self) -> None:
        self.engine.dispose()
        self.reading.dispose()


def unreachable(database: Database, error: Exception) -> AfterwitError:
    """What to raise for a database that cannot be used."""
    reason = shorten(Words(getattr(error, "orig", None) or error), 200)
    return InputError(f"database: {database.shown} cannot be used: {reason}")


def _url(address: str) -> Any:
    allowed = "a path, sqlite:///path or postgresql://user@host/name"
    if "://" not in address:
        if address in ("", ":memory:"):
            raise invalid("database", allowed, address)
        return make_url("sqlite://").set(database=str(Path(address)))
    try:
        url = make_url(address)
    except exc.ArgumentError:
        raise invalid("database", allowed, Words("something else")) from None
    kind = url.drivername.partition("+")[0]
    if kind == "sqlite" and url.database and url.database != ":memory:":
        return url.set(drivername="sqlite")
    if kind in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    raise invalid("database", allowed, Words(f"{kind}://..."))


def _begin_immediate(connection: Connection) -> None:
    # A transaction that reads and then writes would fail if somebody else wrote in between.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


def in_parts(content: bytes) -> list[bytes]:
    """A content in parts that fit into a row; an empty one has one part."""
    return [content[begin : begin + PART] for begin in range(0, max(1, len(content)), PART)]


def chunks(items: Sequence[Any], size: int = MOST_PARAMETERS) -> Iterable[Sequence[Any]]:
    """As many at once as one statement takes."""
    return (items[begin : begin + size] for begin in range(0, len(items), size))
