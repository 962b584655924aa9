"""The log: what happened to a model, event after event. All else follows from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from afterwit.serve.tables import chunks, events, predictions

#: What happens to a model. A batch is as many events as it has examples.
KINDS = ("create", "predict", "label", "learn", "expire", "freeze", "unfreeze")
#: How many events are read at once.
AT_ONCE = 2_000


@dataclass(slots=True)
class Event:
    """One thing that happened to a model.

    n     its number, from 1 on
    at    when, in microseconds since 1970
    kind  what; see KINDS
    key   the id of the example it is about
    body  what else is to be known
    """

    n: int
    at: int
    kind: str
    key: str | None
    body: dict[str, Any]

    def as_data(self) -> dict[str, Any]:
        """As it is exported."""
        return {"n": self.n, "at": self.at, "kind": self.kind, "key": self.key, "body": self.body}


@dataclass(slots=True)
class Served:
    """An example that was served, and what became of it.

    n        the event that served it; a "learn" event has its label too
    x        the example as it came
    said     what the caller was told
    more     what the ticket has besides
    settled  the event that settled it: its label came, or it expired; None if it waits
    how      the kind of that event
    y        its label, if it has come
    text     the body of its event
    """

    key: str
    n: int
    at: int
    x: Any
    said: dict[str, Any]
    more: dict[str, Any]
    settled: int | None = None
    how: str = ""
    y: Any = None
    text: str = ""

    @classmethod
    def of(cls, event: Event, text: str = "") -> Served:
        """What a "predict" or "learn" event served."""
        body = event.body
        served = cls(event.key or "", event.n, event.at, body["x"], body["said"], body.get("more", {}), text=text)
        if event.kind == "learn" or body["said"].get("asks") is False:
            served.settled, served.how, served.y = event.n, event.kind, body.get("y")
        return served

    def settle(self, event: Event) -> None:
        """Its label has come, or it has expired."""
        self.settled, self.how, self.y = event.n, event.kind, event.body.get("y")


#: Plain data as text: one line, ASCII, without NaN and infinity.
to_json = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode


def read_event(row: Any) -> Event:
    """An event of a row (n, at, kind, key, body)."""
    return Event(row[0], row[1], row[2], row[3], json.loads(row[4]))


_columns = (events.c.n, events.c.at, events.c.kind, events.c.key, events.c.body)


def read_log(connection: Connection, model_id: int, after: int = 0, upto: int | None = None) -> Iterator[list[Event]]:
    """The events of a model after the n-th, in order, in blocks."""
    while True:
        wanted = select(*_columns).where(events.c.model_id == model_id, events.c.n > after)
        if upto is not None:
            wanted = wanted.where(events.c.n <= upto)
        rows = connection.execute(wanted.order_by(events.c.n).limit(AT_ONCE)).all()
        if not rows:
            return
        yield [read_event(row) for row in rows]
        after = rows[-1][0]


def last_event(connection: Connection, model_id: int) -> int:
    """The number of the last event of a model."""
    return connection.execute(select(func.max(events.c.n)).where(events.c.model_id == model_id)).scalar() or 0


def read_served_at(connection: Connection, model_id: int, numbers: Sequence[int]) -> dict[int, Served]:
    """What these events served, by their number. What became of it is not looked up."""
    found = {}
    for part in chunks(numbers):
        wanted = select(*_columns).where(events.c.model_id == model_id, events.c.n.in_(part))
        for row in connection.execute(wanted):
            found[row[0]] = Served.of(read_event(row), row[4])
    return found


_settling = events.alias("settling")
_found = (
    select(*_columns, _settling.c.n, _settling.c.at, _settling.c.kind, _settling.c.key, _settling.c.body)
    .select_from(predictions)
    .join(events, (events.c.model_id == predictions.c.model_id) & (events.c.n == predictions.c.n))
    .outerjoin(_settling, (_settling.c.model_id == predictions.c.model_id) & (_settling.c.n == predictions.c.settled))
)


def read_served(connection: Connection, model_id: int, keys: Iterable[str]) -> dict[str, Served]:
    """What was served under these ids, and what became of it."""
    found = {}
    for part in chunks(list(keys)):
        wanted = _found.where(predictions.c.model_id == model_id, predictions.c.key.in_(part))
        for row in connection.execute(wanted):
            served = Served.of(read_event(row[:5]), row[4])
            if row[5] is not None and row[5] != row[0]:
                served.settle(read_event(row[5:]))
            found[served.key] = served
    return found


def read_waiting(connection: Connection, model_id: int, after: int, limit: int) -> list[Any]:
    """The ids that wait for a label, after this event, oldest first, as (n, key, at)."""
    wanted = (
        select(predictions.c.n, predictions.c.key, events.c.at)
        .join(events, (events.c.model_id == predictions.c.model_id) & (events.c.n == predictions.c.n))
        .where(predictions.c.model_id == model_id, predictions.c.settled.is_(None), predictions.c.n > after)
        .order_by(predictions.c.n)
        .limit(limit)
    )
    return list(connection.execute(wanted))
