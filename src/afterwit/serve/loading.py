"""Models from their logs, and what is said of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, select

from afterwit.errors import InputError
from afterwit.serve import snapshots
from afterwit.serve.hosted import Hosted
from afterwit.serve.limits import Limits
from afterwit.serve.log import Event, Served, last_event, read_log, read_served_at
from afterwit.serve.spec import from_file, make, to_file
from afterwit.serve.tables import files


def read_file(connection: Connection, digest: str) -> bytes:
    """A model file that was uploaded."""
    rows = connection.execute(select(files.c.content).where(files.c.digest == digest).order_by(files.c.part))
    content = b"".join(row[0] for row in rows)
    if hashlib.sha256(content).hexdigest() != digest:
        raise InputError(f"the model file {digest[:12]}… in the database is damaged")
    return content


def born(model_id: int, name: str, body: dict[str, Any], content: bytes | None, limits: Limits) -> Hosted:
    """The model that a "create" event makes."""
    model = make(**body) if content is None else from_file(content, limits.file)
    digest = hashlib.sha256(to_file(model)).hexdigest()
    return Hosted(model_id, name, model, digest)


def load_model(
    connection: Connection,
    model_id: int,
    name: str,
    limits: Limits,
    log: Callable[..., None],
    upto: int | None = None,
) -> tuple[Hosted, int]:
    """A model after all events of its log, or so many, and how many of them its snapshot had seen."""
    last = last_event(connection, model_id) if upto is None else upto
    found = snapshots.newest(connection, model_id, name, last, log)
    snapped = 0 if found is None else found.n
    for block in read_log(connection, model_id, snapped, last):
        if found is None:
            body = block[0].body
            content = read_file(connection, body["file"]) if "file" in body else None
            found = born(model_id, name, body, content, limits)
        replay(connection, found, block)
    if found is None:
        raise InputError(f"the log of {name} is empty")
    return found, snapped


def replay(connection: Connection, hosted: Hosted, block: list[Event]) -> None:
    """Let a model see further events."""
    labels = [event.body["of"] for event in block if event.kind == "label"]
    found = read_served_at(connection, hosted.model_id, labels)

    def resolve(event: Event) -> Served:
        return found[event.body["of"]] if event.kind == "label" else Served.of(event)

    hosted.apply(block, resolve)
