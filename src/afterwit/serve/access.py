"""Who may ask for what: tokens with scopes, their rates, and where a service without tokens listens."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from afterwit.errors import InputError, ServiceError, invalid

SCOPES = ("predict", "label", "admin")
#: How many seconds a token that was removed may still be known.
FRESH = 1.0
#: What a browser on this machine calls a service that listens on the loopback address.
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


class Token(Protocol):
    """A token as the database keeps it: without the token itself."""

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> bytes: ...

    @property
    def scopes(self) -> frozenset[str]: ...


@dataclass(slots=True)
class Caller:
    """Who asks, and what it may do."""

    name: str
    scopes: frozenset[str]
    #: How many requests it may make now, and when that was known.
    left: float = math.inf
    at: float = field(default_factory=time.monotonic)

    def require(self, *scopes: str) -> None:
        """Refuse, unless it has all these scopes; admin is all of them."""
        missing = [scope for scope in scopes if scope not in self.scopes]
        if missing and "admin" not in self.scopes:
            raise ServiceError(403, f"this needs a token with the scope {' and '.join(missing)}")

    def spend(self, rate: float) -> None:
        """Take one request from its bucket, which holds what comes in a second."""
        now = time.monotonic()
        most = max(rate, 1.0)
        self.left = min(most, self.left + (now - self.at) * rate)
        self.at = now
        if self.left < 1.0:
            seconds = math.ceil((1.0 - self.left) / rate)
            message = f"at most {rate:g} requests a second are allowed; send batches, or wait"
            raise ServiceError(429, message, headers={"retry-after": str(seconds)})
        self.left -= 1.0


def is_loopback(address: str) -> bool:
    """Whether only this machine can reach that address."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def require_token(host: str, tokens: Iterable[Token]) -> None:
    """Refuse to listen where others come from, if nobody would be asked who it is."""
    if not list(tokens):
        remedy = "Add a token first: afterwit token add NAME --scope predict,label,admin"
        wrong = invalid("--host", "a loopback address as long as there is no token", host)
        raise InputError(f"{wrong}. {remedy}")


def checked_scopes(text: str) -> frozenset[str]:
    """Scopes as they are written after --scope."""
    found = [each.strip() for each in text.split(",")]
    if not all(each in SCOPES for each in found):
        raise InputError(f"--scope must be one or several of {', '.join(SCOPES)}, separated by commas; received {text}")
    return frozenset(found)


class Access:
    """Decides for every request who asks. Without tokens everybody on this machine may do everything."""

    def __init__(self, tokens: Callable[[], Iterable[Token]], only_here: bool, rate: float | None = None) -> None:
        self._tokens = tokens
        self._only_here = only_here
        self._rate = rate
        self._known: dict[bytes, Caller] = {}
        self._everybody = Caller("everybody", frozenset(SCOPES))
        self._fresh_until = 0.0
        self.refresh()

    def refresh(self) -> None:
        """Read the tokens again; buckets stay as they are."""
        found = {}
        for token in self._tokens():
            before = self._known.get(token.digest)
            if before is not None and before.scopes == token.scopes:
                found[token.digest] = before
            else:
                found[token.digest] = Caller(token.name, token.scopes)
        self._known = found

    def caller(self, headers: Mapping[bytes, bytes]) -> Caller:
        """Who asks; a refusal if that is nobody who is known."""
        if not self._known and self._only_here:
            self._require_this_machine(headers)
            caller = self._everybody
        else:
            caller = self._bearer(headers)
        if self._rate is not None:
            caller.spend(self._rate)
        return caller

    def require_host(self, headers: Mapping[bytes, bytes]) -> None:
        """For what needs no token: refuse names that lead here from other sites, unless there are tokens."""
        if not self._known and self._only_here:
            self._require_this_machine(headers)

    def _bearer(self, headers: Mapping[bytes, bytes]) -> Caller:
        kind, _, secret = headers.get(b"authorization", b"").partition(b" ")
        if kind.lower() != b"bearer" or not secret:
            raise _unknown("this service needs a token: Authorization: Bearer ...")
        digest = hashlib.sha256(secret.strip()).digest()
        found = None
        for each, caller in self._known.items():
            if hmac.compare_digest(each, digest):
                found = caller
        if found is None:
            raise _unknown("this token is not known; afterwit token list shows the names of those that are")
        return found

    def _require_this_machine(self, headers: Mapping[bytes, bytes]) -> None:
        """A page of another site must not reach a service without tokens through a visitor's browser."""
        given = headers.get(b"host", b"").decode("latin-1").lower()
        name, colon, port = given.rpartition(":")
        if (name if colon and port.isdigit() else given) not in LOOPBACK_NAMES:
            allowed = " or ".join(LOOPBACK_NAMES)
            raise ServiceError(403, f"Host must be {allowed}, because this service has no tokens")
        if headers.get(b"sec-fetch-site") == b"cross-site" and headers.get(b"sec-fetch-mode") != b"navigate":
            raise ServiceError(403, "pages of other sites cannot use this service, because it has no tokens")


def _unknown(message: str) -> ServiceError:
    return ServiceError(401, message, headers={"www-authenticate": "Bearer"})
