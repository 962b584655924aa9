"""The door of the service: who asks, what becomes of it, how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from afterwit.errors import InputError, ServiceError
from afterwit.serve.access import Access, Caller
from afterwit.serve.answers import refusal
from afterwit.serve.bodies import DisconnectedError, Room
from afterwit.serve.logs import Log
from afterwit.serve.metrics import Requests

#: What anybody may ask for who reaches the service: nothing here says anything about a model.
OPEN = frozenset({"/", "/healthz", "/readyz", "/openapi.json"})
OPEN_BELOW = "/static/"
#: The status in the books for a caller that went away, which got no answer.
GONE = 499
FAILED = ServiceError(
    500, "the service failed at this request, and its log says why; nothing else is known to be wrong"
)


def scoped(*scopes: str) -> Callable[[Any], Any]:
    """Say which scopes an endpoint needs; none: any token will do."""

    def mark(endpoint: Any) -> Any:
        endpoint.scopes = scopes
        return endpoint

    return mark


class Route(APIRoute):
    """A route that asks whether the caller may; its endpoint says what is needed."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        caller: Caller | None = scope["caller"]
        if caller is not None:
            caller.require(*self.endpoint.scopes)  # type: ignore[attr-defined]
        await super().handle(scope, receive, send)


class Gate:
    """The application as the server calls it: every request passes here, and is counted.

    quick  endpoints by the last part of the path, as ``/models/NAME/predictions``: they are called without what FastAPI
           does in between, which takes longer than a prediction
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        requests: Requests,
        room: Room,
        log: Log,
        quick: Mapping[str, Any],
    ) -> None:
        self._app = app
        self._access = access
        self._requests = requests
        self._room = room
        self._log = log
        self._quick = {("POST", part): (endpoint, f"/models/{{model}}/{part}") for part, endpoint in quick.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.perf_counter()
        status = GONE
        started = False
        message = ""

        async def sent(part: Message) -> None:
            nonlocal status, started
            if part["type"] == "http.response.start":
                status, started = part["status"], True
            await send(part)

        route = None
        try:
            caller = self._caller(scope)
            parts = scope["path"].split("/")
            found = None
            if len(parts) == 4 and parts[1] == "models" and caller is not None:
                found = self._quick.get((scope["method"], parts[3]))
            if found is None or caller is None:
                scope["caller"] = caller
                await self._app(scope, receive, sent)
            else:
                endpoint, route = found
                caller.require(*endpoint.scopes)
                response = await endpoint(Request(scope, receive), parts[2])
                await response(scope, receive, sent)
        except DisconnectedError:
            pass
        except (ServiceError, InputError) as error:
            known = error if isinstance(error, ServiceError) else ServiceError(422, str(error))
            message = known.message
            await refusal(known)(scope, receive, sent)
        except Exception as error:
            self._log.failure("request failed", error, method=scope["method"], path=scope["path"])
            message = FAILED.message
            if not started:
                await refusal(FAILED)(scope, receive, sent)
        finally:
            self._room.release(scope)
        self._count(scope, route, status, message, time.perf_counter() - begun)

    def _caller(self, scope: Scope) -> Caller | None:
        path = scope["path"]
        headers = scope["named"] = dict(scope["headers"])
        if path in OPEN or path.startswith(OPEN_BELOW):
            self._access.require_host(headers)
            return None
        return self._access.caller(headers)

    def _count(self, scope: Scope, route: str | None, status: int, message: str, seconds: float) -> None:
        if route is None:
            # What is asked for in vain has one name, or counts would grow without end.
            route = getattr(scope.get("route"), "path", "other")
        self._requests.add(scope["method"], route, status, seconds)
        if self._log.requests:
            about = {"method": scope["method"], "path": scope["path"], "status": status, "seconds": round(seconds, 6)}
            self._log("request", **about)
        if status >= 400 and status != GONE:
            self._log.refusal(status, scope["method"], scope["path"], message or scope.get("refused", ""))
