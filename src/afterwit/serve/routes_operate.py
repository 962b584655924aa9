"""The page, and what those who run the service ask for: whether it lives, whether it is ready, its metrics."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Annotated

from fastapi import FastAPI, Query
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import Response

from afterwit.errors import ServiceError, shorten
from afterwit.serve.answers import PLAIN_HEADERS, answer
from afterwit.serve.assets import POLICY, assets
from afterwit.serve.described import described
from afterwit.serve.gate import scoped
from afterwit.serve.live import of_all
from afterwit.serve.metrics import exposition
from afterwit.serve.service import Service

PAGE_HEADERS = {
    # Kept, but asked for again: a new version of the service has another page.
    "cache-control": "no-cache",
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def operate_routes(app: FastAPI, service: Service) -> None:
    """Add the routes to the application."""

    @app.get("/healthz", **described(None, 200, gives="State"))
    @scoped()
    async def healthz() -> Response:
        """Whether the process answers, and how much it takes in a request."""
        return answer({"state": service.engine.state, "limits": dataclasses.asdict(service.limits)})

    @app.get("/readyz", **described(None, 200, 503, gives="State"))
    @scoped()
    async def readyz() -> Response:
        """Whether models can be asked: not while the service starts, recovers or stands by."""
        service.require_ready()
        return answer({"state": service.engine.state})

    text = {"text/plain": {"schema": {"type": "string"}}}

    @app.get("/metrics", **described(None, 200, media=text))
    @scoped("admin")
    async def metrics() -> Response:
        """All metrics, in the format of Prometheus."""
        content = await asyncio.to_thread(exposition, service)
        return Response(content, headers={**PLAIN_HEADERS, "content-type": CONTENT_TYPE_LATEST})

    @app.get("/live", **described(None, 200, 503, media={"text/event-stream": {"schema": {"type": "string"}}}))
    @scoped()
    async def live(model: Annotated[str | None, Query(description="which model to say more of")] = None) -> Response:
        """The service and all its models whenever something changes, as server-sent events."""
        return of_all(service, model)

    async def asset(request: Request, name: str = "") -> Response:
        found = assets().get(f"static/{name}" if name else "")
        if found is None:
            raise ServiceError(404, f"the page has no file {shorten(name)}")
        headers = {**PAGE_HEADERS, "etag": found.etag}
        if request.scope["named"].get(b"if-none-match", b"").decode("latin-1") == found.etag:
            return Response(status_code=304, headers=headers)
        return Response(found.content, headers=headers, media_type=found.media_type)

    for path in ("/", "/static/{name}"):
        app.add_api_route(path, scoped()(asset), methods=["GET"], include_in_schema=False)
