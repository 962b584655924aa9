"""What all routes of a service share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from starlette.requests import Request

from afterwit.errors import ServiceError
from afterwit.serve.access import Access
from afterwit.serve.bodies import JSON_TYPE, Room, parse, require_type
from afterwit.serve.limits import Limits
from afterwit.serve.logs import Log
from afterwit.serve.metrics import Requests


class Service:
    """The engine, and who may ask it for how much."""

    def __init__(self, engine: Any, limits: Limits, access: Access, log: Log) -> None:
        self.engine = engine
        self.limits = limits
        self.access = access
        self.log = log
        self.requests = Requests()
        #: Large enough for a model file and some large batches.
        self.room = Room(limits.file + 32 * limits.body)
        #: Set when no more requests are taken: streams end.
        self.stopping = asyncio.Event()
        self.watchers = 0
        #: What was last said of each model, and of which version of it.
        self.described: dict[str | None, tuple[Any, bytes]] = {}

    async def json(self, request: Request, deep: bool = False) -> Any:
        """The body of a request, which is JSON; ``deep`` if there may be objects in objects."""
        require_type(request.scope["named"], JSON_TYPE)
        return parse(await self.room.read(request.receive, request.scope, self.limits.body), deep)

    async def read(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Call what reads from the database, in a thread."""
        self.require_ready()
        return await asyncio.to_thread(function, *arguments, **options)

    async def sleep(self, seconds: float) -> None:
        """Wait, but not longer than the service goes on."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stopping.wait(), seconds)

    def require_ready(self) -> None:
        """Refuse as long as models are not in memory."""
        state = self.engine.state
        if state != "ready":
            why = {
                "stand-by": "another server writes to this database; this one takes over when that one ends",
                "stopping": "the service is stopping",
                "failed": "the service has failed, and its log says why",
            }.get(state, f"the service is {state}")
            raise ServiceError(503, why, headers={"retry-after": "1"})
