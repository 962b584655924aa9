"""Tokens: who may ask for what. The database has their SHA-256 only."""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import delete, exc, insert, select

from afterwit.errors import invalid, shorten
from afterwit.serve.operations import NAME
from afterwit.serve.tables import Database, tokens, unreachable


@dataclass(frozen=True, slots=True)
class Token:
    """A token without its secret. ``made`` is when, in microseconds since 1970."""

    name: str
    digest: bytes
    scopes: frozenset[str]
    made: int


class Tokens:
    """The tokens of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, name: str, scopes: Iterable[str]) -> str:
        """Make a token of that name and return it: 32 random bytes, which nobody can look up afterwards."""
        if NAME.fullmatch(name) is None:
            raise invalid("NAME", "1 to 100 letters, digits, '.', '_' or '-'", name)
        secret = secrets.token_urlsafe(32)
        row = {
            "name": name,
            "digest": hashlib.sha256(secret.encode()).hexdigest(),
            "scopes": ",".join(sorted(scopes)),
            "made": time.time_ns() // 1000,
        }
        try:
            with self._database.engine.begin() as connection:
                connection.execute(insert(tokens), [row])
        except exc.IntegrityError:
            raise invalid("NAME", "one that no other token has", name) from None
        except exc.SQLAlchemyError as error:
            raise unreachable(self._database, error) from None
        return secret

    def all(self) -> list[Token]:
        """All tokens by name."""
        wanted = select(tokens.c.name, tokens.c.digest, tokens.c.scopes, tokens.c.made).order_by(tokens.c.name)
        try:
            with self._database.reading.connect() as connection:
                rows = connection.execute(wanted).all()
        except exc.SQLAlchemyError as error:
            raise unreachable(self._database, error) from None
        return [Token(row.name, bytes.fromhex(row.digest), frozenset(row.scopes.split(",")), row.made) for row in rows]

    def remove(self, name: str) -> None:
        """Remove the token of that name."""
        try:
            with self._database.engine.begin() as connection:
                removed = connection.execute(delete(tokens).where(tokens.c.name == name)).rowcount
        except exc.SQLAlchemyError as error:
            raise unreachable(self._database, error) from None
        if not removed:
            names = [each.name for each in self.all()]
            raise invalid("NAME", f"one of {shorten(names, 300)}", name)
