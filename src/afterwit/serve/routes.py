"""What is asked thousands of times a second: predictions, labels, examples."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from afterwit.errors import ServiceError
from afterwit.serve import bodies
from afterwit.serve.answers import Json, answer, encoded
from afterwit.serve.described import described
from afterwit.serve.gate import scoped
from afterwit.serve.operations import Label, Learn, Operation, Predict, model_name
from afterwit.serve.service import Service

#: What the status of an answer about one label says.
STATUS = {"learned": 200, "known": 200, "unknown": 404, "conflict": 409, "expired": 410}


def example_routes(app: FastAPI, service: Service) -> dict[str, Any]:
    """Add the routes to the application; returns their endpoints by the last part of their path."""
    engine, limits = service.engine, service.limits

    async def done(operation: Operation, expert: bool, single: bool) -> list[dict[str, Any]]:
        try:
            found: list[dict[str, Any]] = await engine.submit_async(operation)
        except ServiceError as error:
            raise bodies.renamed(error, expert, single) from None
        return found

    @app.post("/models/{model}/predictions", **described("Prediction", 200, 404, 409, 410, 413, 415, 422, 429, 503))
    @scoped("predict")
    async def predictions(request: Request, model: str) -> Response:
        """Predict one example, or a list of them. What was answered is in the log, and waits for its label."""
        name = model_name(model)
        service.require_ready()
        data = await service.json(request)
        expert = engine.takes_advice(name)
        items, single = bodies.to_predict(data, expert, limits)
        found = await done(Predict(name, items), expert, single)
        return Json(encoded(found[0] if single else found))

    @app.post("/models/{model}/labels", **described("Label", 200, 404, 409, 410, 413, 415, 422, 429, 503))
    @scoped("label")
    async def labels(request: Request, model: str) -> Response:
        """Send the label of an example that was predicted, or a list of them. The model learns in order of arrival."""
        name = model_name(model)
        service.require_ready()
        data = await service.json(request)
        expert = engine.takes_advice(name)
        items, single = bodies.labels(data, expert, limits)
        return _about(request, await done(Label(name, items), expert, single), single)

    @app.post("/models/{model}/examples", **described("Example", 200, 404, 409, 413, 415, 422, 429, 503))
    @scoped("predict", "label")
    async def examples(request: Request, model: str) -> Response:
        """Send an example with its label, or a list of them: each is predicted, and then learned."""
        name = model_name(model)
        service.require_ready()
        data = await service.json(request)
        expert = engine.takes_advice(name)
        items, single = bodies.to_learn(data, expert, limits)
        return _about(request, await done(Learn(name, items), expert, single), single)

    return {endpoint.__name__: endpoint for endpoint in (predictions, labels, examples)}


def _about(request: Request, found: list[dict[str, Any]], single: bool) -> Response:
    """What became of labels: of one of them the status says it, of many each one does."""
    if not single:
        return Json(encoded(found))
    (only,) = found
    status = STATUS[only["outcome"]]
    if status != 200:
        request.scope["refused"] = only.get("message", only["outcome"])
        only = {"error": request.scope["refused"], **only}
    return answer(only, status)
