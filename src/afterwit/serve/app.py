"""The service as an application: its routes, its document, and how whatever goes wrong is answered."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from afterwit.core.version import VERSION
from afterwit.errors import InputError, ServiceError, shorten
from afterwit.serve.answers import refusal
from afterwit.serve.described import complete
from afterwit.serve.gate import FAILED, Gate, Route
from afterwit.serve.routes import example_routes
from afterwit.serve.routes_models import model_routes
from afterwit.serve.routes_operate import operate_routes
from afterwit.serve.service import Service

DESCRIPTION = """\
Learners whose labels come late. Ask for predictions, and send the labels when they are known.
What was answered is on disk.

An error is an object with one sentence, `error`, and the field that is wrong, `where`, if it is one."""


class _Application(FastAPI):
    def openapi(self) -> dict[str, Any]:
        """The document, with the schemas of all bodies and answers."""
        return complete(super().openapi())


def make_app(service: Service) -> Gate:
    """The application as a server calls it."""
    app = _Application(
        title="afterwit",
        version=VERSION,
        description=DESCRIPTION,
        # Their pages load scripts from other hosts.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={
            ServiceError: _refused,
            InputError: _refused,
            HTTPException: _unknown,
            RequestValidationError: _invalid,
            Exception: _failed,
        },
    )
    app.router.route_class = Route
    quick = example_routes(app, service)
    model_routes(app, service)
    operate_routes(app, service)
    return Gate(app, service.access, service.requests, service.room, service.log, quick)


async def _refused(request: Request, error: Exception) -> Response:
    known = error if isinstance(error, ServiceError) else ServiceError(422, str(error))
    request.scope["refused"] = known.message
    return refusal(known)


async def _unknown(request: Request, error: Exception) -> Response:
    """What no route answers."""
    assert isinstance(error, HTTPException)
    allowed = (error.headers or {}).get("Allow", "")
    messages = {
        404: f"there is nothing at {shorten(request.scope['path'])}; /openapi.json lists what there is",
        405: f"{request.scope['path']} does not take {request.method}; it takes {allowed}",
    }
    message = messages.get(error.status_code, str(error.detail))
    headers = {"allow": allowed} if allowed else None
    return await _refused(request, ServiceError(error.status_code, message, headers=headers))


async def _invalid(request: Request, error: Exception) -> Response:
    """Parameters of an address, which FastAPI checks."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = str(first["loc"][-1])
    said = first["msg"][:1].lower() + first["msg"][1:]
    message = f"{where}: {said}; received {shorten(first.get('input'))}"
    return await _refused(request, ServiceError(422, message, where))


async def _failed(request: Request, error: Exception) -> Response:
    """What is a mistake of this package; the gate writes it to the log."""
    del error
    request.scope["refused"] = FAILED.message
    return refusal(FAILED)
