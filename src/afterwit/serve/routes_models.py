"""Models: made, uploaded, listed, frozen, deleted, and everything that can be read of one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from afterwit.errors import ServiceError, shorten
from afterwit.serve.answers import PLAIN_HEADERS, answer
from afterwit.serve.bodies import FILE_TYPE, JSON_TYPE, parse, require_object, require_type
from afterwit.serve.described import described
from afterwit.serve.gate import scoped
from afterwit.serve.live import of_model
from afterwit.serve.operations import Create, Delete, Freeze, Upload, model_name
from afterwit.serve.service import Service

BINARY = {"schema": {"type": "string", "format": "binary"}}
#: Lines of a log are sent in parts of about so many characters.
PART = 65_536


def model_routes(app: FastAPI, service: Service) -> None:
    """Add the routes to the application."""
    engine, limits = service.engine, service.limits

    @app.get("/models", **described(None, 200, 503, gives="Models"))
    @scoped()
    async def models() -> Response:
        """All models, with their totals."""
        return answer({"models": await service.read(engine.models)})

    @app.put("/models/{model}", **described("NewModel", 200, 201, 409, 413, 415, 422, 429, 503))
    @scoped("admin")
    async def create(request: Request, model: str) -> Response:
        """Make a model of a learner of the catalogue. The same again is no news (200), anything else a conflict."""
        name = model_name(model)
        service.require_ready()
        data = await service.json(request, deep=True)
        require_object(data, "", ("learner",), ("options", "schema"))
        learner, options, schema = data["learner"], data.get("options", {}), data.get("schema")
        _require(type(learner) is str, "learner", "the name of a learner, such as Committee", learner)
        _require(type(options) is dict, "options", "an object of options by name", options)
        _require(schema is None or type(schema) is dict, "schema", "an object, or null", schema)
        return _made(await engine.submit_async(Create(name, learner, options, schema)))

    @app.put("/models/{model}/file", **described("file", 200, 201, 409, 413, 415, 422, 429, 503, gives="Created"))
    @scoped("admin")
    async def upload(request: Request, model: str) -> Response:
        """Make a model of a model file."""
        name = model_name(model)
        service.require_ready()
        require_type(request.scope["named"], FILE_TYPE)
        content = await service.room.read(request.receive, request.scope, limits.file)
        return _made(await engine.submit_async(Upload(name, content)))

    @app.get("/models/{model}", **described(None, 200, 404, 503, gives="Model"))
    @scoped()
    async def describe(model: str) -> Response:
        """What a model is made of, and where it stands."""
        return answer(await service.read(engine.describe, model_name(model)))

    @app.delete("/models/{model}", **described(None, 200, 404, 503))
    @scoped("admin")
    async def delete(model: str) -> Response:
        """Remove a model and its log, for good."""
        name = model_name(model)
        service.require_ready()
        await engine.submit_async(Delete(name))
        return answer({"model": name, "deleted": True})

    async def frozen(request: Request, model: str, how: bool) -> Response:
        name = model_name(model)
        service.require_ready()
        # A form of another site can post, but not with this content type.
        require_type(request.scope["named"], JSON_TYPE)
        body = await service.room.read(request.receive, request.scope, limits.body)
        if body:
            require_object(parse(body), "", ())
        await engine.submit_async(Freeze(name, how))
        return answer({"model": name, "frozen": how})

    @app.post("/models/{model}/freeze", **described("nothing", 200, 400, 404, 415, 422, 503))
    @scoped("admin")
    async def freeze(request: Request, model: str) -> Response:
        """Let a model predict, and learn no more."""
        return await frozen(request, model, True)

    @app.post("/models/{model}/unfreeze", **described("nothing", 200, 400, 404, 415, 422, 503))
    @scoped("admin")
    async def unfreeze(request: Request, model: str) -> Response:
        """Let a frozen model learn again."""
        return await frozen(request, model, False)

    @app.get("/models/{model}/waiting", **described(None, 200, 404, 422, 503, gives="Waiting"))
    @scoped()
    async def waiting(
        model: str,
        after: Annotated[int, Query(ge=0, description="only what came after this")] = 0,
        limit: Annotated[int, Query(ge=1, le=10_000)] = 1_000,
    ) -> Response:
        """Examples that wait for their labels, oldest first."""
        found = await service.read(engine.waiting, model_name(model), after, limit)
        return answer({"waiting": found, "next": found[-1]["n"] if len(found) == limit else None})

    @app.get("/models/{model}/curve", **described(None, 200, 404, 503, gives="Curve"))
    @scoped()
    async def curve(model: str) -> Response:
        """The error since the start and lately, by rounds."""
        return answer(await service.read(engine.curve, model_name(model)))

    @app.get("/models/{model}/certificate", **described(None, 200, 404, 422, 503, gives="Certificate"))
    @scoped()
    async def certificate(model: str, refresh: bool = False) -> Response:
        """What was promised, what happened, what hindsight says: as of the round that it names."""
        return answer(await service.read(engine.certificate, model_name(model), refresh))

    @app.get("/models/{model}/file", **described(None, 200, 404, 503, media={"application/octet-stream": BINARY}))
    @scoped("admin")
    async def file(model: str) -> Response:
        """The model file: `afterwit.load` reads it."""
        name = model_name(model)
        content = await service.read(engine.file, name)
        return Response(content, headers=_saved_as(f"{name}.aw"), media_type="application/octet-stream")

    @app.get(
        "/models/{model}/log",
        **described(
            None,
            200,
            404,
            422,
            503,
            media={"application/x-ndjson": {"schema": {"type": "string"}}, "application/vnd.apache.parquet": BINARY},
        ),
    )
    @scoped("admin")
    async def log(
        model: str,
        format: Literal["jsonl", "parquet"] = "jsonl",  # noqa: A002
        after: Annotated[int, Query(ge=0, description="only events with larger numbers")] = 0,
    ) -> Response:
        """The events of a model, in order: `afterwit replay` makes the same state of them."""
        name = model_name(model)
        if format == "parquet":
            from afterwit.serve.exporting import parquet

            content = await service.read(parquet, engine.log(name, after))
            headers = _saved_as(f"{name}.parquet")
            return Response(content, headers=headers, media_type="application/vnd.apache.parquet")
        events = await service.read(engine.log, name, after)
        headers = _saved_as(f"{name}.jsonl")
        return StreamingResponse(_lines(events), headers=headers, media_type="application/x-ndjson")

    @app.get(
        "/models/{model}/live",
        **described(None, 200, 404, 503, media={"text/event-stream": {"schema": {"type": "string"}}}),
    )
    @scoped()
    async def live(model: str) -> Response:
        """Everything about a model whenever it changes, as server-sent events."""
        name = model_name(model)
        await service.read(engine.describe, name)
        return of_model(service, name)


def _require(condition: bool, where: str, allowed: str, received: Any) -> None:
    if not condition:
        raise ServiceError(422, f"{where} must be {allowed}; received {shorten(received)}", where)


def _made(found: dict[str, Any]) -> Response:
    return answer(found, 201 if found["created"] else 200)


def _saved_as(name: str) -> dict[str, str]:
    return {**PLAIN_HEADERS, "content-disposition": f'attachment; filename="{name}"'}


def _lines(events: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    parts: list[str] = []
    size = 0
    for event in events:
        parts.append(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n")
        size += len(parts[-1])
        if size > PART:
            yield "".join(parts).encode()
            parts, size = [], 0
    yield "".join(parts).encode()
