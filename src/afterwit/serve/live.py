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


def of_all(service: Service) -> StreamingResponse:
    """The service, and all its models."""
    return _stream(service, lambda: [_described(service, name) for name in service.engine.watch()], None)


def of_model(service: Service, name: str) -> StreamingResponse:
    """The service, one of its models, and the curve of that."""
    return _stream(service, lambda: [_described(service, name)], name)


def about_service(service: Service) -> dict[str, Any]:
    """What there is to know of the service itself."""
    return {
        "state": service.engine.state,
        "requests_per_second": service.requests.per_second(),
        "errors": list(service.log.last),
    }


def _described(service: Service, name: str) -> bytes:
    """A model as JSON; several pages that look at the same moment share it."""
    version = service.engine.watch().get(name)
    kept = service.described.get(name)
    if kept is None or kept[0] != version:
        kept = service.described[name] = (version, encoded(service.engine.describe(name)))
    return kept[1]


def _stream(service: Service, models: Callable[[], list[bytes]], only: str | None) -> StreamingResponse:
    if service.watchers >= MOST_WATCHERS:
        message = f"at most {MOST_WATCHERS} pages can look at the same time"
        raise ServiceError(503, message, headers={"retry-after": "60"})
    headers = {**PLAIN_HEADERS, "x-accel-buffering": "no"}
    return StreamingResponse(_events(service, models, only), headers=headers, media_type="text/event-stream")


async def _events(service: Service, models: Callable[[], list[bytes]], only: str | None) -> AsyncIterator[bytes]:
    service.watchers += 1
    seen: Any = None
    said = time.monotonic()
    try:
        while not service.stopping.is_set():
            versions = service.engine.watch()
            about = about_service(service)
            now = (versions.get(only) if only else dict(versions), about)
            if now != seen:
                seen = now
                try:
                    found = await asyncio.to_thread(models)
                    curve = await asyncio.to_thread(service.engine.curve, only) if only else None
                except ServiceError:
                    # Deleted, or recovering: there is more to say later, or nothing any more.
                    if only and only not in service.engine.watch():
                        return
                    found, curve = [], None
                parts = [
                    b'{"service":',
                    encoded({**about, "now": time.time_ns() // 1000}),
                    b',"models":[',
                    b",".join(found),
                    b"]",
                ]
                if curve is not None:
                    parts += [b',"curve":', encoded(curve)]
                yield b"data: " + b"".join(parts) + b"}\n\n"
                said = time.monotonic()
            elif time.monotonic() - said >= SILENCE:
                yield b": nothing new\n\n"
                said = time.monotonic()
            await service.sleep(PAUSE)
    finally:
        service.watchers -= 1
