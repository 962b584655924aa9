"""What the document (/openapi.json) says about bodies and answers; `bodies.py` checks the same, faster."""

from __future__ import annotations

from typing import Any

from afterwit.streams.columns import KINDS

_ID = {"type": "string", "minLength": 1, "description": "the caller's own id"}
_VALUE = {"type": ["number", "string", "boolean", "null"]}
_NUMBERS = {"type": "array", "items": {"type": "number"}}
_X = {
    "description": "an example: values by column, as the model's schema has them, or a list of numbers",
    "anyOf": [
        {"type": "object", "additionalProperties": _VALUE},
        {"type": "array", "items": _VALUE},
        {"type": "string"},
    ],
}
_ADVICE = {
    "description": "what each expert says, by name or in order: a number, probabilities, or null if it is asleep",
    "anyOf": [
        {"type": "object", "additionalProperties": {"type": ["number", "null", "array", "object", "boolean"]}},
        {"type": "array", "items": {"type": ["number", "null", "array", "object", "boolean"]}},
    ],
}
_LABEL = {"type": ["string", "number", "boolean"], "description": "the truth: a label, or a number for regressors"}
_OUTCOME = {"type": ["string", "number", "boolean", "array"], "description": "what happened"}
_SERVED: dict[str, Any] = {
    "id": {"type": "string"},
    "label": {"type": ["string", "number", "boolean"]},
    "forecast": {"type": ["number", "array", "object", "string", "boolean", "null"]},
    "score": {"type": ["number", "null"]},
    "probabilities": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
    "interval": {"type": "array", "items": {"type": ["number", "null"]}, "minItems": 2, "maxItems": 2},
    "rounds": {"type": "integer", "description": "how many examples the model had learned"},
}
_ANYTHING: dict[str, Any] = {"type": "object"}


def _object(required: str, /, closed: bool = True, **properties: Any) -> dict[str, Any]:
    found = {"type": "object", "required": required.split(), "properties": properties}
    return {**found, "additionalProperties": False} if closed else found


def _named(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _one_or_many(name: str) -> dict[str, Any]:
    return {"anyOf": [_named(name), {"type": "array", "items": _named(name), "minItems": 1}]}


SCHEMAS: dict[str, Any] = {
    "Error": _object(
        "error",
        closed=False,
        error={"type": "string", "description": "one sentence: what is wrong, what is allowed, what came"},
        where={"type": "string", "description": "the field that is wrong, such as [3].x.price"},
    ),
    "Prediction": {
        "anyOf": [_object("x", id=_ID, x=_X), _object("advice", id=_ID, advice=_ADVICE)],
        "description": "an example to predict; models of experts take advice",
    },
    "Predicted": _object("id rounds", closed=False, **_SERVED),
    "Label": {
        "anyOf": [_object("id label", id=_ID, label=_LABEL), _object("id outcome", id=_ID, outcome=_OUTCOME)],
        "description": "the label of an example that was predicted; models of experts take outcomes",
    },
    "Labelled": _object(
        "id outcome",
        closed=False,
        id={"type": "string"},
        outcome={"enum": ["learned", "known", "conflict", "unknown", "expired"]},
        served={"description": "what was answered when this example was predicted"},
        message={"type": "string"},
    ),
    "Example": {
        "anyOf": [
            _object("x label", id=_ID, x=_X, label=_LABEL),
            _object("advice outcome", id=_ID, advice=_ADVICE, outcome=_OUTCOME),
        ],
        "description": "an example with its label",
    },
    "Learned": _object("outcome", closed=False, outcome={"enum": ["learned", "known", "conflict"]}, **_SERVED),
    "NewModel": _object(
        "learner",
        learner={"type": "string", "description": "a name of the catalogue, such as Committee or MLpol"},
        options={"type": "object", "description": "options of the learner by name; labels are one of them"},
        schema={
            "type": ["object", "null"],
            "description": f"what becomes of columns: columns is an object with the kind of each ({', '.join(KINDS)}), "
            "or a list of objects with name, kind and more, as GET /models/{model} shows it",
        },
    ),
    "Created": _object("model created", closed=False, model={"type": "string"}, created={"type": "boolean"}),
    "Model": {**_ANYTHING, "description": "what a model is made of, and where it stands"},
    "Models": _object("models", models={"type": "array", "items": _named("Model")}),
    "Curve": {**_ANYTHING, "description": "the error since the start and lately, by rounds"},
    "Waiting": _object(
        "waiting",
        waiting={"type": "array", "items": _object("id", closed=False, id={"type": "string"})},
        next={"type": ["string", "integer", "null"], "description": "pass it as after, for more"},
    ),
    "Certificate": {
        **_ANYTHING,
        "description": "what was promised, what happened, what hindsight says, and about what",
    },
    "Done": _object("model", closed=False, model={"type": "string"}),
    "State": _object("state", state={"type": "string"}, limits=_ANYTHING),
}

_EXAMPLES: dict[str, Any] = {
    "Prediction": {
        "one": {"value": {"id": "mail-17", "x": {"subject": "cheap pills", "links": 3, "attachment": None}}},
        "many": {"value": [{"x": {"subject": "lunch today?", "links": 0}}, {"x": {"subject": "pills", "links": 9}}]},
        "advice": {"value": {"advice": {"warm": 21.5, "cold": 17.0, "asleep": None}}},
    },
    "Label": {
        "one": {"value": {"id": "mail-17", "label": "spam"}},
        "many": {"value": [{"id": "mail-17", "label": "spam"}, {"id": "mail-18", "label": "ham"}]},
        "outcome": {"value": {"id": "monday", "outcome": 19.2}},
    },
    "Example": {
        "one": {"value": {"x": {"subject": "cheap pills", "links": 3}, "label": "spam"}},
        "advice": {"value": {"advice": [21.5, 17.0], "outcome": 19.2}},
    },
    "NewModel": {
        "committee": {"value": {"learner": "Committee", "options": {"labels": ["ham", "spam"]}}},
        "experts": {"value": {"learner": "MLpol", "options": {"n_experts": ["warm", "cold"]}}},
    },
}

#: What each body is answered with.
_ANSWERS = {"Prediction": "Predicted", "Label": "Labelled", "Example": "Learned", "NewModel": "Created"}
_MANY = ("Prediction", "Label", "Example")

_STATUS = {
    400: "The body is not JSON, or has a name twice.",
    401: "There is no token, or one that is not known.",
    403: "The token has not the scope for this; without tokens: another site asks.",
    404: "There is no such model, or no such id.",
    409: "Something else has this name, this id, or another label.",
    410: "The example was not labelled in time, and has expired.",
    413: "The body is larger than allowed.",
    415: "The content type is another one.",
    422: "A field is not what is allowed; nothing was stored.",
    429: "Too many requests, or too many examples wait for their labels.",
    500: "A mistake of the service; its log has more.",
    503: "The service is starting, recovering, stopping, or standing by.",
}


def described(
    body: str | None, *statuses: int, gives: str | None = None, media: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What the document says about a route: its body, its answer in case of success, and its errors.

    gives  the schema of the answer, if it does not follow from the body
    media  the answer by content type, if it is no JSON
    """
    gives = gives or _ANSWERS.get(body or "", "Done")
    content = media or {"application/json": {"schema": _one_or_many(gives) if body in _MANY else _named(gives)}}
    every: dict[int | str, dict[str, Any]] = {}
    for status in sorted({*statuses, 401, 403, 500}):
        if status < 300:
            every[status] = {"description": "Done.", "content": content}
        else:
            every[status] = {
                "description": _STATUS[status],
                "content": {"application/json": {"schema": _named("Error")}},
            }
    if body == "NewModel" or body in _MANY:
        every[400] = {"description": _STATUS[400], "content": {"application/json": {"schema": _named("Error")}}}
    found: dict[str, Any] = {"responses": every, "status_code": min(statuses)}
    if body == "file":
        file = {"schema": {"type": "string", "format": "binary"}}
        found["openapi_extra"] = {"requestBody": {"required": True, "content": {"application/octet-stream": file}}}
    elif body == "nothing":
        empty = {"schema": {"type": "object", "maxProperties": 0}}
        found["openapi_extra"] = {"requestBody": {"required": False, "content": {"application/json": empty}}}
    elif body is not None:
        schema = _one_or_many(body) if body in _MANY else _named(body)
        media_type = {"schema": schema, "examples": _EXAMPLES[body]}
        found["openapi_extra"] = {"requestBody": {"required": True, "content": {"application/json": media_type}}}
    return found


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """The document with all schemas, and with what a token is."""
    components = document.setdefault("components", {})
    components["schemas"] = SCHEMAS
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    # An empty requirement: a service without tokens asks for none.
    document["security"] = [{"token": []}, {}]
    for path in document["paths"].values():
        for operation in path.values():
            # FastAPI's own form of an error of parameters is not ours.
            for status, answer in operation["responses"].items():
                if status == "422" and "HTTPValidationError" in str(answer):
                    answer["content"] = {"application/json": {"schema": _named("Error")}}
                    answer["description"] = _STATUS[422]
    return document
