"""Server-sent events: what pages show, again whenever it has changed, at most once a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.responses import StreamingResponse

from afterwit.errors import ServiceError
from afterwit.serve.answers import PLAIN_HEADERS, encoded
from afterwit.serve.service import Service

#: Seconds between two events, and until a silent stream shows that it is alive.
PAUSE = 1.0
SILENCE = 15.0
#: How many pages may look at the same time.
MOST_WATCHERS = 200


def of_all(service: Service, model: str | None = None) -> StreamingResponse:
    """The service and all its models in short, and one of them in full."""
    return _stream(service, True, model)


def of_model(service: Service, name: str) -> StreamingResponse:
    """The service and one of its models, as long as it is there."""
    return _stream(service, False, name)


def about_service(service: Service) -> dict[str, Any]:
    """What there is to know of the service itself."""
    return {
        "state": service.engine.state,
        "requests_per_second": service.requests.per_second(),
        "errors": list(service.log.last),
    }


def _stream(service: Service, in_short: bool, name: str | None) -> StreamingResponse:
    if service.watchers >= MOST_WATCHERS:
        message = f"at most {MOST_WATCHERS} pages can look at the same time"
        raise ServiceError(503, message, headers={"retry-after": "60"})
    headers = {**PLAIN_HEADERS, "x-accel-buffering": "no"}
    return StreamingResponse(_events(service, in_short, name), headers=headers, media_type="text/event-stream")


async def _events(service: Service, in_short: bool, name: str | None) -> AsyncIterator[bytes]:
    """Each event has the service, and of `models` and `shown` what has changed since the event before."""
    service.watchers += 1
    seen: dict[str, Any] = {}
    said = time.monotonic()
    try:
        while not service.stopping.is_set():
            about, versions = about_service(service), dict(service.engine.watch())
            ready = about["state"] == "ready"
            if ready and not in_short and name not in versions:
                return
            now: dict[str, Any] = {"service": about}
            # As long as models are not in memory there is nothing to say of them.
            if ready and in_short:
                now["models"] = versions
            if ready and name is not None:
                now["shown"] = versions.get(name)
            changed = [part for part in now if part not in seen or seen[part] != now[part]]
            event = await asyncio.to_thread(_event, service, now, changed, name) if changed else None
            if event is not None:
                seen = {**seen, **now}
                said = time.monotonic()
                yield b"data: " + event + b"\n\n"
            elif time.monotonic() - said >= SILENCE:
                said = time.monotonic()
                yield b": nothing new\n\n"
            await service.sleep(PAUSE)
    finally:
        service.watchers -= 1


def _event(service: Service, now: dict[str, Any], changed: list[str], name: str | None) -> bytes | None:
    """The service, and what has changed of the models; None if it cannot be said just now."""
    engine = service.engine
    found = b'{"service":' + encoded({**now["service"], "now": time.time_ns() // 1000})
    try:
        if "models" in changed:
            found += b',"models":' + _kept(service, None, now["models"], engine.models)
        if "shown" in changed:
            found += b',"shown":' + _shown(service, now["shown"], name)
    except ServiceError:
        # Deleted in between, or recovering: there is more to say soon.
        return None
    return found + b"}"


def _shown(service: Service, version: tuple[int, ...] | None, name: str | None) -> bytes:
    """A model in full, with its curve; null if there is none of this name."""
    if name is None or version is None:
        service.described.pop(name, None)
        return b"null"
    engine = service.engine
    return _kept(service, name, version, lambda: {"model": engine.describe(name), "curve": engine.curve(name)})


def _kept(service: Service, name: str | None, version: Any, ask: Callable[[], Any]) -> bytes:
    """What is asked for as JSON; several pages that look at the same moment share it."""
    kept = service.described.get(name)
    if kept is None or kept[0] != version:
        kept = service.described[name] = (version, encoded(ask()))
    return kept[1]
