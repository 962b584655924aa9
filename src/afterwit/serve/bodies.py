"""The bodies of requests: read within limits, parsed as strict JSON, checked field by field.

Whatever is wrong is a `ServiceError` with one sentence: the field, such as ``[3].x.price``, what is allowed, what came.
Nothing is stored by then.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any, NoReturn

from afterwit.errors import ServiceError, Words, counted, shorten
from afterwit.serve.group import LONGEST_ID, is_an_id
from afterwit.serve.limits import Limits

Receive = Callable[[], Awaitable[Any]]

JSON_TYPE = b"application/json"
FILE_TYPE = b"application/octet-stream"
#: Bytes of a body that is not worth counting.
SMALL = 65_536
#: How deep objects and lists may be in each other: a schema has five levels.
DEEPEST = 20
#: What the caller gives with an example, by what the model takes: the example itself, and its truth.
FIELDS = {False: ("x", "label"), True: ("advice", "outcome")}


class DisconnectedError(Exception):
    """The caller has gone before its body was here; there is nobody to answer."""


# ------------------------------------------------------------------ bytes


def require_type(headers: Mapping[bytes, bytes], wanted: bytes) -> None:
    """Refuse a body of another content type; forms of other sites cannot send these."""
    given = headers.get(b"content-type", b"")
    if given == wanted:
        return
    kind, _, parameters = given.lower().partition(b";")
    charset = parameters.strip().removeprefix(b"charset=").strip(b'"')
    if kind.strip() != wanted or charset not in (b"", b"utf-8"):
        received = shorten(given.decode("latin-1")) if given else "none"
        raise ServiceError(415, f"Content-Type must be {wanted.decode()} (UTF-8); received {received}")


class Room:
    """The memory for bodies of all requests that are being answered. Small bodies are not counted."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.held = 0

    async def read(self, receive: Receive, scope: MutableMapping[str, Any], most: int) -> bytes:
        """The whole body; what is larger than allowed is refused as soon as that is known."""
        announced = scope["named"].get(b"content-length", b"0")
        if announced.isdigit() and int(announced) > most:
            raise too_large(most)
        message = await receive()
        first: bytes = message.get("body", b"")
        parts, size = [first], len(first)
        while message["type"] == "http.request" and message.get("more_body", False) and size <= most:
            self._hold(scope, size)
            message = await receive()
            parts.append(message.get("body", b""))
            size += len(parts[-1])
        if message["type"] != "http.request":
            raise DisconnectedError
        if size > most:
            raise too_large(most)
        self._hold(scope, size)
        return first if len(parts) == 1 else b"".join(parts)

    def _hold(self, scope: MutableMapping[str, Any], size: int) -> None:
        """Count the bytes of a request, which are held until it is answered."""
        if size <= SMALL:
            return
        more = size - scope.get("held", 0)
        if self.held + more > self._most:
            message = "the service has no room for the bodies of so many requests at the same time"
            raise ServiceError(503, message, headers={"retry-after": "1", "connection": "close"})
        self.held += more
        scope["held"] = size

    def release(self, scope: MutableMapping[str, Any]) -> None:
        """The request is answered."""
        self.held -= scope.pop("held", 0)


def too_large(most: int) -> ServiceError:
    """What to raise for a body above its limit."""
    # What is still on its way is not read: the connection cannot be used again.
    close = {"connection": "close"}
    return ServiceError(413, f"the body must have at most {most:,} bytes; send several smaller requests", headers=close)


# ------------------------------------------------------------------ JSON


def parse(body: bytes, deep: bool = False) -> Any:
    """The JSON value of a body, in JSON as the standard has it, with no name twice in an object.

    deep  there may be objects in objects, such as options; elsewhere what is too deep is refused as no value
    """
    if not body:
        raise ServiceError(400, "the body must be JSON; received nothing")
    try:
        value = _decode(body.decode())
        # Only escapes can bring what UTF-8 has not: NUL and half of a surrogate pair.
        if deep or b"\\u" in body:
            _require_text(value, "", 0)
    except UnicodeDecodeError as error:
        raise ServiceError(400, f"the body must be UTF-8; byte {error.start:,} is not") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise ServiceError(400, f"the body must be JSON; {_lowered(error.msg)} at {where}") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError:
        # Python refuses to read a whole number of more than 4,300 digits.
        raise ServiceError(400, "the body must have numbers of at most 4,300 digits") from None
    return value


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise ServiceError(400, f"the body must have every name once in an object; {shorten(twice)} is there twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise ServiceError(400, f"the body must be JSON, which has no {name}; send null where a value is missing")


_decode = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_no_number).decode


def _too_deep() -> ServiceError:
    return ServiceError(400, f"the body must have at most {DEEPEST} levels of objects and lists")


def _require_text(value: Any, where: str, depth: int) -> None:
    """Refuse text that a database cannot hold."""
    if depth > DEEPEST:
        raise _too_deep()
    if type(value) is str:
        if "\0" in value:
            _refuse(where or "the body", "text without the character NUL", value)
        if not value.isprintable() and any("\ud800" <= each <= "\udfff" for each in value):
            _refuse(where or "the body", "text without half of a surrogate pair", Words(ascii(value)))
    elif type(value) is dict:
        for name, each in value.items():
            _require_text(name, f"a name in {where or 'the body'}", depth + 1)
            _require_text(each, f"{where}.{name}" if where else name, depth + 1)
    elif type(value) is list:
        for i, each in enumerate(value):
            _require_text(each, f"{where}[{i}]", depth + 1)


def _refuse(where: str, allowed: str, received: Any) -> NoReturn:
    try:
        shown = shorten(received)
    except RecursionError:
        raise _too_deep() from None
    raise ServiceError(422, f"{where} must be {allowed}; received {shown}", where)


# ------------------------------------------------------------------ fields


def require_object(value: Any, where: str, required: Iterable[str], optional: Iterable[str] = ()) -> None:
    """Refuse what is not an object of these fields."""
    required = tuple(required)
    named = " and ".join([", ".join(required[:-1]), required[-1]] if len(required) > 1 else required)
    if type(value) is not dict:
        _refuse(where or "the body", f"an object with {named}" if required else "an object", value)
    known = (*required, *optional)
    for name in value:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            suggestion = f"; did you mean {near[0]!r}?" if near else ""
            place = _below(where, shorten(Words(name)))
            fields = ", ".join(known)
            raise ServiceError(422, f"{place} is not a field; the fields are {fields}{suggestion}", place)
    for name in required:
        if name not in value:
            place = _below(where, name)
            raise ServiceError(422, f"{place} is missing; {where or 'the body'} must be an object with {named}", place)


def _below(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def to_predict(data: Any, expert: bool, limits: Limits) -> tuple[list[tuple[str | None, Any]], bool]:
    """The examples of a body, each an (id or None, x), and whether it was a single one."""
    name = FIELDS[expert][0]
    rows, single = _rows(data, limits)
    found = []
    for i, row in enumerate(rows):
        if type(row) is not dict or len(row) != 1 + ("id" in row) or name not in row:
            require_object(row, _place(i, single), (name,), ("id",))
        x = row[name]
        if not _plain_record(x, limits):
            _require_example(x, _below(_place(i, single), name), expert, limits)
        found.append((_own_id(row, i, single), x))
    return found, single


def to_learn(data: Any, expert: bool, limits: Limits) -> tuple[list[tuple[str | None, Any, Any]], bool]:
    """The examples of a body with their labels, each an (id or None, x, y), and whether it was a single one."""
    name, truth = FIELDS[expert]
    rows, single = _rows(data, limits)
    found = []
    for i, row in enumerate(rows):
        if type(row) is not dict or len(row) != 2 + ("id" in row) or name not in row or truth not in row:
            require_object(row, _place(i, single), (name, truth), ("id",))
        x = row[name]
        if not _plain_record(x, limits):
            _require_example(x, _below(_place(i, single), name), expert, limits)
        found.append((_own_id(row, i, single), x, _label(row, truth, i, single, limits)))
    return found, single


def labels(data: Any, expert: bool, limits: Limits) -> tuple[list[tuple[str, Any]], bool]:
    """The labels of a body, each an (id, y), and whether it was a single one."""
    truth = FIELDS[expert][1]
    rows, single = _rows(data, limits)
    found = []
    for i, row in enumerate(rows):
        if type(row) is not dict or len(row) != 2 or "id" not in row or truth not in row:
            require_object(row, _place(i, single), ("id", truth))
        key = _own_id(row, i, single)
        if key is None:
            _refuse(_below(_place(i, single), "id"), "a string", None)
        found.append((key, _label(row, truth, i, single, limits)))
    return found, single


def renamed(error: ServiceError, expert: bool, single: bool) -> ServiceError:
    """An error about an item, as [3].x or [3].y, with the names that the caller uses."""
    if error.where is None or not error.where.startswith("["):
        return error
    item, _, inner = error.where.partition(".")
    field = dict(zip(("x", "y"), FIELDS[expert], strict=True)).get(inner, inner)
    place = "" if single else item
    where = _below(place, field) if field else place
    # What a learner says begins with its own name of the field, such as x['price'].
    called = re.match(rf"({inner or 'x'}|{field or 'x'})\b", error.message)
    if called is not None and field:
        message = where + error.message[called.end() :]
    else:
        message = error.message if single else f"{item}: {error.message}"
    # Of a single example as a whole there is no place to name.
    return ServiceError(error.status, message, where or None, error.headers)


def _rows(data: Any, limits: Limits) -> tuple[list[Any], bool]:
    if type(data) is not list:
        return [data], True
    if not data:
        _refuse("the body", "an object, or a list of at least one", data)
    if len(data) > limits.batch:
        received = Words(f"{len(data):,}; send several requests")
        _refuse("the body", f"an object, or a list of at most {limits.batch:,}", received)
    return data, False


def _place(i: int, single: bool) -> str:
    return "" if single else f"[{i}]"


def _own_id(row: dict[str, Any], i: int, single: bool) -> str | None:
    key = row.get("id")
    if key is None or (type(key) is str and is_an_id(key)):
        return key
    allowed = f"a string of 1 to {LONGEST_ID} printable characters"
    received = Words(counted(len(key), "character")) if isinstance(key, str) and len(key) > LONGEST_ID else key
    _refuse(_below(_place(i, single), "id"), allowed, received)


def _label(row: dict[str, Any], name: str, i: int, single: bool, limits: Limits) -> Any:
    y = row[name]
    kind = type(y)
    if kind is str:
        quick = len(y) <= limits.name
    else:
        quick = kind is bool or (kind is int and -(2**53) <= y <= 2**53) or (kind is float and y - y == 0.0)
    if quick:
        return y
    where = _below(_place(i, single), name)
    if kind is list:
        _require_numbers(y, where, limits)
    else:
        _require_value(y, where, limits, missing=False)
    return y


# ------------------------------------------------------------------ examples


def _plain_record(x: Any, limits: Limits) -> bool:
    """Whether this is a record of few, short values of moderate size: nearly all are, and this is quick to see."""
    if type(x) is not dict or len(x) > limits.features:
        return False
    most = limits.name
    for name, value in x.items():
        kind = type(value)
        if kind is float:
            if value - value != 0.0:
                return False
        elif kind is str:
            if len(value) > most:
                return False
        elif kind is int:
            if not -(2**53) <= value <= 2**53:
                return False
        elif kind is not bool and value is not None:
            return False
        if len(name) > most:
            return False
    return True


def _require_example(x: Any, where: str, expert: bool, limits: Limits) -> None:
    """Refuse what no model takes."""
    if type(x) is str and not expert:
        _require_value(x, where, limits)
        return
    if type(x) not in (dict, list):
        forms = "an object of values by name, or a list of numbers"
        _refuse(where, forms if expert else f"{forms}, or a string", x)
    if len(x) > limits.features:
        of = "experts" if expert else "features"
        _refuse(where, f"of at most {limits.features:,} {of}", Words(f"{len(x):,}"))
    named = {f"[{i}]": value for i, value in enumerate(x)} if isinstance(x, list) else x
    for name, value in named.items():
        place = f"{where}{name}" if isinstance(x, list) else f"{where}.{shorten(Words(name))}"
        if len(name) > limits.name:
            raise ServiceError(422, f"{place} must have a name of at most {limits.name:,} characters", place)
        if expert and type(value) is list:
            _require_numbers(value, place, limits)
        elif expert and type(value) is dict:
            _require_numbers(list(value.values()), place, limits)
        else:
            _require_value(value, place, limits)


def _require_numbers(values: list[Any], where: str, limits: Limits) -> None:
    if len(values) > limits.features:
        _refuse(where, f"of at most {limits.features:,} numbers", Words(f"{len(values):,}"))
    for i, value in enumerate(values):
        if type(value) is str:
            _refuse(f"{where}[{i}]", "a number", value)
        _require_value(value, f"{where}[{i}]", limits, missing=False)


def _require_value(value: Any, where: str, limits: Limits, missing: bool = True) -> None:
    """Refuse what is neither a number nor text, a truth value or, if it may be missing, null."""
    kind = type(value)
    if kind is str:
        if len(value) > limits.name:
            _refuse(where, f"of at most {limits.name:,} characters", Words(f"{len(value):,}"))
    elif kind in (int, float):
        try:
            finite = math.isfinite(value)
        except OverflowError:
            finite = False
        if not finite:
            _refuse(where, "a number of at most 1.7976931348623157e308", Words("a larger one"))
    elif kind is not bool and (value is not None or not missing):
        _refuse(where, "a number, a string, true, false" + (" or null" if missing else ""), value)
