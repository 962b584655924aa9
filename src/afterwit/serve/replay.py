"""The log played again without a service: the same model, byte for byte, and every prediction looked at."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from afterwit.errors import InputError, counted
from afterwit.serve.hosted import Hosted
from afterwit.serve.limits import Limits
from afterwit.serve.loading import born
from afterwit.serve.log import Event, Served


@dataclass
class Replayed:
    """What a log has made.

    hosted     the model, and its progress
    served     how many predictions the log has
    different  those that are not what the model gives, as (n, what the log has, what the model gives)
    """

    hosted: Hosted
    served: int
    different: list[tuple[int, Any, Any]]

    def __str__(self) -> str:
        hosted = self.hosted
        learned = counted(hosted.learner.rounds, "round")
        lines = [f"{counted(hosted.n, 'event')} played again: {learned} learned, {hosted.progress.waiting:,} waiting"]
        if not self.different:
            lines.append(f"all {counted(self.served, 'prediction')} in the log are what the model gives")
        else:
            n, logged, given = self.different[0]
            lines.append(
                f"{len(self.different):,} of {counted(self.served, 'prediction')} are not what the model gives; "
                f"the first is event {n:,}: the log has {logged}, the model gives {given}"
            )
        return "\n".join(lines)


def replay(events: Iterable[Event], name: str = "the model", upto: int | None = None) -> Replayed:
    """Play the events of a model from the first on, as many as are wanted."""
    found: Replayed | None = None
    waiting: dict[str, Served] = {}
    for event in events:
        if upto is not None and event.n > upto:
            break
        if found is None:
            found = Replayed(_born(event, name), 0, [])
        elif event.kind == "create":
            raise InputError(f"event {event.n:,} makes a model, which only the first one does")
        try:
            _play(found, event, waiting)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"event {event.n:,} cannot be played again: {error!r}") from None
    if found is None:
        raise InputError("the log has no events")
    return found


def _born(event: Event, name: str) -> Hosted:
    if event.kind != "create":
        raise InputError("the log does not begin with event 1, which makes the model")
    body = event.body
    try:
        content = base64.b64decode(body["content"], validate=True) if "file" in body else None
    except (KeyError, TypeError, binascii.Error):
        raise InputError("event 1 has no content of the model file") from None
    return born(0, name, body, content, Limits())


def _play(found: Replayed, event: Event, waiting: dict[str, Served]) -> None:
    key = event.key or ""
    if event.kind in ("predict", "learn"):
        found.served += 1
        logged = (event.body["said"], event.body.get("more", {}))
        given = found.hosted.serve(event.body["x"])
        if given != logged:
            found.different.append((event.n, logged[0], given[0]))
    if event.kind == "predict":
        waiting[key] = Served.of(event)
    elif event.kind in ("label", "expire") and key not in waiting:
        raise InputError(f"event {event.n:,} is about {key!r}, which does not wait for a label")
    served = Served.of(event) if event.kind == "learn" else waiting.get(key)
    found.hosted.apply([event], lambda _: _required(served))
    if event.kind in ("label", "expire") or (served is not None and served.settled is not None):
        waiting.pop(key, None)


def _required(served: Served | None) -> Served:
    assert served is not None
    return served
