"""A client of `afterwit serve`: asks a service for predictions, and tells it the truth when it is known.

Every example has an id, made here if the caller has none. So a request can be sent again when its answer was lost: the
service does nothing twice. Needs ``pip install 'afterwit[serve]'``.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import random
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from afterwit.core.files import new_file
from afterwit.core.storage import load, save
from afterwit.errors import InputError, MissingExtraError, ServiceError, Words, invalid
from afterwit.serve.operations import model_name

try:
    import httpx
except ImportError:
    raise MissingExtraError("clients of services", "httpx", "serve") from None

#: Answers that say that the same request may succeed later.
LATER = (429, 502, 503, 504)
#: Seconds before the first and, at most, before every further attempt.
FIRST, LONGEST = 0.05, 5.0
#: Seconds to wait for a connection.
CONNECT = 10.0


class Client:
    """One service.

    url       its address, such as http://127.0.0.1:8765
    token     what `afterwit token add` printed; without it, the service must be on this machine
    timeout   seconds to wait for an answer
    patience  seconds for which a request is tried again while the service cannot be reached or is busy
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8765",
        token: str | None = None,
        *,
        timeout: float = 60.0,
        patience: float = 60.0,
    ) -> None:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        try:
            address = httpx.URL(url.rstrip("/"))
            if address.scheme not in ("http", "https") or not address.host:
                raise httpx.InvalidURL("no host")
        except httpx.InvalidURL:
            raise invalid("url", "an address such as http://127.0.0.1:8765", url) from None
        waits = httpx.Timeout(timeout, connect=min(timeout, CONNECT))
        self.url = str(address)
        self._http = httpx.Client(base_url=address, headers=headers, timeout=waits, trust_env=False)
        self._patience = patience
        self._limits: dict[str, int] | None = None
        #: Whether a model takes the advice of experts.
        self._kinds: dict[str, bool] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r})"

    # ------------------------------------------------------------------ models

    def create(self, model: str, learner: Any, options: Mapping[str, Any] | None = None, schema: Any = None) -> bool:
        """Make a model: of a learner of the catalogue by its name, with options and a schema, or of a learner itself.

        Whether it is new. The same again is no news; anything else under the same name is a conflict.
        """
        if isinstance(learner, str):
            schema = schema.as_data() if hasattr(schema, "as_data") else schema
            body = {"learner": learner, "options": _plain(dict(options or {})), "schema": _plain(schema)}
            return bool(self._json("PUT", _path(model), body)["created"])
        if options is not None or schema is not None:
            raise InputError("options and schema are for a learner of the catalogue: a learner has its own")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.aw")
            save(learner, path)
            return self.upload(model, path)

    def upload(self, model: str, path: str | os.PathLike[str]) -> bool:
        """Make a model of a model file. Whether it is new."""
        try:
            content = Path(path).read_bytes()
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror or error})") from None
        headers = {"content-type": "application/octet-stream"}
        answer = self._send("PUT", _path(model, "file"), content=content, headers=headers)
        return bool(answer.json()["created"])

    def models(self) -> list[dict[str, Any]]:
        """All models, with their totals."""
        return list(self._json("GET", "/models")["models"])

    def describe(self, model: str) -> dict[str, Any]:
        """What a model is made of, and where it stands."""
        return dict(self._json("GET", _path(model)))

    def freeze(self, model: str) -> None:
        """Let a model predict, and learn no more."""
        self._json("POST", _path(model, "freeze"), {})

    def unfreeze(self, model: str) -> None:
        """Let a frozen model learn again."""
        self._json("POST", _path(model, "unfreeze"), {})

    def delete(self, model: str) -> None:
        """Remove a model and its log, for good."""
        self._send("DELETE", _path(model))
        self._kinds.pop(model, None)

    # ------------------------------------------------------------------ predictions and labels

    def predict_one(self, model: str, x: Any, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Predict an example: its id, and what the model says."""
        body = {"id": id or new_id(), self._names(model)[0]: _plain(x)}
        return dict(self._json("POST", _path(model, "predictions"), body))

    def predict_many(self, model: str, X: Any, ids: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Predict every row of X: of each its id, and what the model says."""
        name = self._names(model)[0]
        rows = _rows(X)
        return self._many(
            model, "predictions", [{"id": key, name: x} for key, x in zip(_ids(ids, rows), rows, strict=True)]
        )

    def label_one(self, model: str, id: str, y: Any) -> dict[str, Any]:  # noqa: A002
        """Tell the label of an example that was predicted. What is not known, or contradicts, is an error."""
        body = {"id": id, self._names(model)[1]: _plain(y)}
        return dict(self._json("POST", _path(model, "labels"), body))

    def label_many(self, model: str, ids: Sequence[str], y: Iterable[Any]) -> list[dict[str, Any]]:
        """Tell many labels. What became of each is its ``outcome``: learned, known, unknown, conflict or expired."""
        name = self._names(model)[1]
        labels = _listed(y)
        _require_as_many("y", labels, "ids", len(ids))
        return self._many(model, "labels", [{"id": key, name: label} for key, label in zip(ids, labels, strict=True)])

    def learn_one(self, model: str, x: Any, y: Any, id: str | None = None) -> dict[str, Any]:  # noqa: A002
        """Predict an example, then learn its label."""
        names = self._names(model)
        body = {"id": id or new_id(), names[0]: _plain(x), names[1]: _plain(y)}
        return dict(self._json("POST", _path(model, "examples"), body))

    def learn_many(
        self, model: str, X: Any, y: Iterable[Any], ids: Sequence[str] | None = None
    ) -> list[dict[str, Any]]:
        """Predict every row of X, and learn its label before the next one."""
        names = self._names(model)
        rows, labels = _rows(X), _listed(y)
        _require_as_many("y", labels, "X", len(rows))
        keys = _ids(ids, rows)
        items = [{"id": key, names[0]: x, names[1]: label} for key, x, label in zip(keys, rows, labels, strict=True)]
        return self._many(model, "examples", items)

    def waiting(self, model: str) -> Iterator[dict[str, Any]]:
        """The examples that wait for their labels, oldest first."""
        after: Any = 0
        while after is not None:
            found = self._json("GET", _path(model, "waiting"), parameters={"after": after})
            yield from found["waiting"]
            after = found["next"]

    # ------------------------------------------------------------------ what became of it

    def curve(self, model: str) -> dict[str, Any]:
        """The error since the start and lately, by rounds."""
        return dict(self._json("GET", _path(model, "curve")))

    def certificate(self, model: str, refresh: bool = False) -> dict[str, Any]:
        """What was promised, what happened, what hindsight says, and at which round that stands.

        refresh  compute it anew from the log, and wait for it
        """
        found = dict(self._json("GET", _path(model, "certificate"), parameters={"refresh": refresh}))
        wait = FIRST
        while refresh and found.get("computing"):
            time.sleep(wait)
            wait = min(1.0, 2 * wait)
            found = dict(self._json("GET", _path(model, "certificate")))
        return found

    def file(self, model: str, path: str | os.PathLike[str] | None = None) -> Any:
        """The model as it is now: a learner or a model that is loaded, or a file that is written."""
        content = self._send("GET", _path(model, "file")).content
        if path is not None:
            with new_file(path) as file:
                file.write(content)
            return None
        with tempfile.TemporaryDirectory() as folder:
            where = Path(folder, f"{model}.aw")
            where.write_bytes(content)
            return load(where)

    def log(self, model: str, path: str | os.PathLike[str] | None = None, *, after: int = 0) -> Any:
        """The events of a model with numbers above ``after``: one by one, or as a file, .jsonl or .parquet."""
        if path is None:
            return self._events(model, after)
        kinds = {".jsonl": "jsonl", ".parquet": "parquet"}
        kind = kinds.get(Path(path).suffix)
        if kind is None:
            raise invalid("path", "a name that ends with .jsonl or .parquet", os.fspath(path))
        content = self._send("GET", _path(model, "log"), parameters={"format": kind, "after": after}).content
        with new_file(path) as file:
            file.write(content)
        return None

    def _events(self, model: str, after: int) -> Iterator[dict[str, Any]]:
        """One event after the other; where the connection is lost, it goes on with the next event."""
        address = _path(model, "log")
        attempt = _Attempts(self.url, self._patience)
        while True:
            try:
                with self._http.stream("GET", address, params={"format": "jsonl", "after": after}) as answer:
                    if answer.status_code >= 300:
                        answer.read()
                        raise _refused(answer)
                    for line in answer.iter_lines():
                        event = json.loads(line)
                        yield event
                        after = event["n"]
                        attempt = _Attempts(self.url, self._patience)
                return
            except (ServiceError, httpx.TransportError) as error:
                attempt.failed(error)

    # ------------------------------------------------------------------ requests

    def _names(self, model: str) -> tuple[str, str]:
        """What examples and labels of a model are called."""
        if model not in self._kinds:
            self._kinds[model] = self.describe(model)["role"] == "experts"
        return ("advice", "outcome") if self._kinds[model] else ("x", "label")

    def _many(self, model: str, part: str, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The answers to all items, in requests that the service takes."""
        if self._limits is None:
            self._limits = dict(self._json("GET", "/healthz")["limits"])
        batch, room = self._limits["batch"], self._limits["body"]
        answers: list[dict[str, Any]] = []
        waiting: list[bytes] = []
        size = 2
        for item in items:
            text = _encode(item)
            if waiting and (len(waiting) == batch or size + len(text) + 1 > room):
                answers += self._batch(model, part, waiting)
                waiting, size = [], 2
            waiting.append(text)
            size += len(text) + 1
        if waiting:
            answers += self._batch(model, part, waiting)
        return answers

    def _batch(self, model: str, part: str, items: list[bytes]) -> list[dict[str, Any]]:
        content = b"[" + b",".join(items) + b"]"
        return list(self._send("POST", _path(model, part), content=content, headers=JSON).json())

    def _json(self, method: str, address: str, body: Any = None, parameters: Mapping[str, Any] | None = None) -> Any:
        content = None if body is None else _encode(body)
        headers = {} if body is None else JSON
        return self._send(method, address, content=content, headers=headers, parameters=parameters).json()

    def _send(
        self,
        method: str,
        address: str,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        """The answer to a request, which is sent until there is one."""
        attempt = _Attempts(self.url, self._patience)
        while True:
            try:
                answer = self._http.request(method, address, content=content, headers=headers, params=parameters)
                if answer.status_code < 300:
                    return answer
                if method == "DELETE" and answer.status_code == 404 and attempt.count:
                    # It was done, and the answer was lost.
                    return answer
                raise _refused(answer)
            except (ServiceError, httpx.TransportError) as error:
                attempt.failed(error)


JSON = {"content-type": "application/json"}


class _Attempts:
    """When a request is sent again: after a wait that grows, and for so many seconds in all."""

    def __init__(self, url: str, patience: float) -> None:
        self.count = 0
        self._url = url
        self._until = time.monotonic() + patience

    def failed(self, error: ServiceError | httpx.TransportError) -> None:
        """Wait, or give up."""
        # Clients that failed together do not come back together.
        wait = min(LONGEST, FIRST * 2**self.count) * random.uniform(0.5, 1.0)
        if isinstance(error, ServiceError):
            if error.status not in LATER:
                raise error
            text = error.headers.get("retry-after", "")
            wait = max(wait, float(text) if text.isdigit() else 0.0)
        self.count += 1
        if time.monotonic() + wait > self._until:
            if isinstance(error, ServiceError):
                raise error
            reason = str(error) or type(error).__name__
            raise ServiceError(503, f"no answer from {self._url}: {reason}") from None
        time.sleep(wait)


def _refused(answer: httpx.Response) -> ServiceError:
    """What the service said."""
    where = None
    try:
        said = answer.json()
        message, where = said["error"], said.get("where")
    except (ValueError, KeyError, TypeError):
        message = f"the answer was {answer.status_code} {answer.reason_phrase}"
    return ServiceError(answer.status_code, message, where, answer.headers)


def new_id() -> str:
    """An id that nobody else has."""
    return uuid.uuid4().hex


def _path(model: str, part: str = "") -> str:
    return f"/models/{model_name(model)}{part and '/'}{part}"


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _encode(value: Any) -> bytes:
    try:
        return _encoder.encode(value).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"x and y must be what JSON has: numbers, strings, true, false, None; {error}") from None


def _plain(value: Any) -> Any:
    """An example or a label as JSON has it; a missing value is null."""
    if isinstance(value, Mapping):
        return {_name(name): _plain(each) for name, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and math.isnan(value):
        return None
    return value.isoformat() if isinstance(value, datetime.date) else value


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise invalid("the name of a feature", "a string", name)
    return name


def _rows(X: Any) -> list[Any]:
    """The rows of many examples: of a list, an array, or any DataFrame."""
    if not isinstance(X, list | tuple | np.ndarray) and hasattr(X, "columns"):
        import narwhals

        return [_plain(row) for row in narwhals.from_native(X).iter_rows(named=True)]
    return [_plain(x) for x in (X.toarray() if hasattr(X, "toarray") else X)]


def _listed(y: Iterable[Any]) -> list[Any]:
    return list(_plain(y.tolist() if hasattr(y, "tolist") else list(y)))


def _ids(ids: Sequence[str] | None, rows: list[Any]) -> Sequence[str]:
    if ids is None:
        return [new_id() for _ in rows]
    _require_as_many("ids", ids, "X", len(rows))
    return ids


def _require_as_many(name: str, given: Sequence[Any], other: str, count: int) -> None:
    if len(given) != count:
        raise invalid(name, f"as long as {other} ({count:,})", Words(f"{len(given):,}"))
