"""Tokens in the database: by name, with scopes; of the token itself only its SHA-256."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass

from sqlalchemy import delete, exc, insert, select

from afterwit.errors import InputError, invalid, shorten
from afterwit.serve.tables import Database, tokens, unreachable

#: How tokens begin, so that those who search for secrets in files find them.
BEGINNING = "afterwit_"


@dataclass(frozen=True, slots=True)
class Token:
    """A token as it is kept.

    name    what people call it
    digest  the SHA-256 of the token
    scopes  what it may do
    made    when it was made, in microseconds since 1970
    """

    name: str
    digest: bytes
    scopes: frozenset[str]
    made: int


class Tokens:
    """The tokens of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[Token]:
        """Every token, by name."""
        try:
            with self._database.reading.connect() as connection:
                rows = connection.execute(select(tokens).order_by(tokens.c.name)).all()
        except exc.SQLAlchemyError as error:
            raise unreachable(self._database, error) from None
        return [
            Token(row.name, bytes.fromhex(row.digest), frozenset(row.scopes.split(",")), row.made) for row in rows
        ]

    def add(self, name: str, scopes: frozenset[str]) -> str:
        """Make a token, which nobody can read again."""
        if not 1 <= len(name) <= 100 or not name.isprintable():
            raise invalid("name", "1 to 100 printable characters", name)
        secret = BEGINNING + secrets.token_urlsafe(32)
        digest = hashlib.sha256(secret.encode()).hexdigest()
        row = {"name": name, "digest": digest, "scopes": ",".join(sorted(scopes)), "made": time.time_ns() // 1000}
        try:
            with self._database.engine.begin() as connection:
                connection.execute(insert(tokens), [row])
        except exc.IntegrityError:
            message = f"there is a token {shorten(name)} already; remove it first, or choose another name"
            raise InputError(message) from None
        except exc.SQLAlchemyError as error:
            raise unreachable(self._database, error) from None
        return secret

    def remove(self, name: str) -> None:
        """Remove a token. A service forgets it within a second or two."""
        try:
            with self._database.engine.begin() as connection:
                found = connection.execute(delete(tokens).where(tokens.c.name == name)).rowcount
        except exc.SQLAlchemyError as error:
            raise unreachable(self._database, error) from None
        if not found:
            known = ", ".join(token.name for token in self.all()) or "none"
            raise InputError(f"there is no token {shorten(name)}; there are: {known}")
