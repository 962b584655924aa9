"""What is sent back: JSON as bytes, and errors as one sentence."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from starlette.responses import Response

from afterwit.errors import ServiceError

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode

#: On every answer: what is said about a model is about now, and is what it says it is.
PLAIN_HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}
_RAW_HEADERS = [
    (b"content-type", b"application/json"),
    *((name.encode(), value.encode()) for name, value in PLAIN_HEADERS.items()),
]


class Json(Response):
    """An answer whose bytes are ready; made quickly, because it is made thousands of times a second."""

    def __init__(self, content: bytes, status: int = 200) -> None:
        self.body = content
        self.status_code = status
        self.raw_headers = [*_RAW_HEADERS, (b"content-length", b"%d" % len(content))]
        self.background = None


def encoded(value: Any) -> bytes:
    """A value as JSON; null for what is not a finite number."""
    try:
        return _encode(value).encode()
    except (ValueError, TypeError):
        return _encode(_plain(value)).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def answer(value: Any, status: int = 200) -> Response:
    """A value in JSON."""
    return Json(encoded(value), status)


def refusal(error: ServiceError) -> Response:
    """An error as its one sentence, and the field that is wrong, if it is one."""
    found = {"error": error.message}
    if error.where is not None:
        found["where"] = error.where
    # A lone surrogate in what was received is shown as an escape, so that the answer is UTF-8.
    content = json.dumps(found, ensure_ascii=True).encode()
    return Response(content, error.status, {**PLAIN_HEADERS, **error.headers}, "application/json")
