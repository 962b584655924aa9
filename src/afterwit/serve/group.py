"""A group of operations that share a commit: they are done in memory, and what is to be written is collected."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from typing import Any, TypeGuard

from afterwit.data.values import same_value
from afterwit.errors import AfterwitError, DivergenceError, ServiceError, counted, invalid, shorten
from afterwit.serve.hosted import Hosted, Resolve
from afterwit.serve.limits import Limits
from afterwit.serve.log import Event, Served, to_json
from afterwit.serve.operations import Create, Delete, Freeze, Label, Learn, Operation, Predict, Upload
from afterwit.serve.recent import Recent
from afterwit.serve.spec import from_file, make, to_file

#: How long an id may be: databases keep it in an index.
LONGEST_ID = 256
EXPIRED = "it has waited too long for its label, which is not learned"
UNASKED = "the learner did not ask for this label, and does not learn it"


def now() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


class Group:
    """Operations in order of arrival, and the rows to be written for them."""

    def __init__(self, models: dict[str, Hosted], recent: Recent, limits: Limits, next_id: int) -> None:
        self._models = models
        self._recent = recent
        self._limits = limits
        self.next_id = next_id
        self.at = now()
        #: What is to be written.
        self.made: list[tuple[int, str]] = []
        self.events: list[tuple[int, int, int, str, str | None, str]] = []
        self.served: list[tuple[int, str, int, int | None]] = []
        self.settled: list[tuple[int, int, str]] = []
        self.files: dict[str, bytes] = {}
        self.deleted: list[int] = []
        #: The models that are not as they were.
        self.touched: set[int] = set()

    def perform(self, operation: Operation) -> Any:
        """Do it in memory. A `ServiceError` says that nothing was done."""
        match operation:
            case Predict():
                return self._predict(self._model(operation.model), operation.items)
            case Label():
                return self._label(self._model(operation.model), operation.items)
            case Learn():
                return self._learn_all(self._model(operation.model), operation.items)
            case Create() | Upload():
                return self._create(operation)
            case Freeze():
                return self._freeze(self._model(operation.model), operation.frozen)
            case Delete():
                return self._delete(self._model(operation.model))
        raise TypeError(f"{type(operation).__name__} is no operation")

    # ------------------------------------------------------------------ models

    def _model(self, name: str) -> Hosted:
        hosted = self._models.get(name)
        if hosted is None:
            raise ServiceError(404, f"there is no model {shorten(name)}")
        return hosted

    def _create(self, operation: Create | Upload) -> dict[str, Any]:
        content = None
        try:
            if isinstance(operation, Create):
                names = ("learner", "options", "schema")
                body: dict[str, Any] = {name: getattr(operation, name) for name in names}
                model = make(**body, room=self._limits.file)
                fresh = to_file(model)
            else:
                if len(operation.content) > self._limits.file:
                    raise ServiceError(413, f"a model file has at most {self._limits.file:,} bytes")
                model = from_file(operation.content, self._limits.file)
                fresh = content = to_file(model)
                body = {"file": hashlib.sha256(content).hexdigest()}
        except AfterwitError as error:
            raise refusal(error) from None
        digest = hashlib.sha256(fresh).hexdigest()
        existing = self._models.get(operation.model)
        if existing is not None:
            if existing.digest != digest:
                message = f"there is a model {operation.model!r} of another learner, options or schema"
                raise ServiceError(409, f"{message}; choose another name, or delete it")
            return {"model": operation.model, "created": False}
        if len(self._models) >= self._limits.models:
            raise ServiceError(429, f"there are {counted(len(self._models), 'model')}, and no more are allowed")
        hosted = Hosted(self.next_id, operation.model, model, digest)
        self.next_id += 1
        self.made.append((hosted.model_id, hosted.name))
        if content is not None:
            self.files[body["file"]] = content
        event = self._event(hosted, "create", None, body)
        hosted.take("create", [event], _nothing)
        self._write(hosted, event, to_json(body))
        self._models[operation.model] = hosted
        return {"model": operation.model, "created": True}

    def _freeze(self, hosted: Hosted, frozen: bool) -> dict[str, Any]:
        if hosted.frozen != frozen:
            kind = "freeze" if frozen else "unfreeze"
            event = self._event(hosted, kind, None, {})
            hosted.take(kind, [event], _nothing)
            self._write(hosted, event, "{}")
        return {"model": hosted.name, "frozen": frozen}

    def _delete(self, hosted: Hosted) -> dict[str, Any]:
        del self._models[hosted.name]
        self.deleted.append(hosted.model_id)
        self.touched.add(hosted.model_id)
        self._recent.forget(hosted.model_id)
        return {"model": hosted.name, "deleted": True}

    # ------------------------------------------------------------------ examples

    def _predict(self, hosted: Hosted, items: Sequence[tuple[str | None, Any]]) -> list[dict[str, Any]]:
        every: list[Served] = []
        fresh: list[Served] = []
        here: dict[str, Served] = {}
        for i, (own, x) in enumerate(items):
            before = None if own is None else self._known(hosted, own, f"[{i}]") or here.get(own)
            if before is None:
                try:
                    before = _serve(hosted, own, x)
                except AfterwitError as error:
                    raise refusal(error, f"[{i}].x") from None
                fresh.append(before)
                if own is not None:
                    here[own] = before
            elif not same_value(before.x, x):
                raise ServiceError(409, f"the id {shorten(own)} was given to another example", f"[{i}].id")
            every.append(before)
        waiting = hosted.progress.waiting
        if waiting + len(fresh) > self._limits.waiting:
            message = f"{waiting:,} predictions of {hosted.name} wait for their labels, and at most"
            headers = {"Retry-After": "60"}
            raise ServiceError(429, f"{message} {self._limits.waiting:,} may", headers=headers)
        self._serve_all(hosted, fresh)
        return [{"id": served.key, **served.said} for served in every]

    def _serve_all(self, hosted: Hosted, fresh: list[Served]) -> None:
        """Write down what was served."""
        for served in fresh:
            served.key = served.key or new_id(hosted.n + 1)
            event = self._event(hosted, "predict", served.key, {"x": served.x, "said": served.said})
            hosted.take("predict", [event], _nothing)
            self._write(hosted, event, served.text)
            served.n, served.at = event.n, event.at
            unasked = served.said.get("asks") is False
            if unasked:
                served.settled, served.how = event.n, "predict"
            self.served.append((hosted.model_id, served.key, event.n, event.n if unasked else None))
            self._recent.put(hosted.model_id, served)

    def _label(self, hosted: Hosted, items: Sequence[tuple[str, Any]]) -> list[dict[str, Any]]:
        if hosted.frozen:
            raise frozen(hosted)
        answers: list[dict[str, Any]] = []
        wanted: list[tuple[int, Served, Any]] = []
        labels: dict[str, Any] = {}
        for i, (key, y) in enumerate(items):
            self._check_label(hosted, y, f"[{i}].y")
            served = self._recent.get(hosted.model_id, key)
            answer: dict[str, Any] = {"id": key}
            answers.append(answer)
            if served is None:
                answer |= {"outcome": "unknown", "message": f"no example of {hosted.name} has the id {shorten(key)}"}
                continue
            answer["served"] = served.said
            if key in labels:
                answer["outcome"] = "known" if same_value(labels[key], y) else "conflict"
            elif served.settled is None:
                labels[key] = y
                wanted.append((i, served, y))
            elif served.how == "expire":
                answer |= {"outcome": "expired", "message": EXPIRED}
            elif served.how == "predict":
                answer |= {"outcome": "known", "message": UNASKED}
            else:
                answer["outcome"] = "known" if same_value(served.y, y) else "conflict"
            if answer.get("outcome") == "conflict":
                answer["message"] = f"the id {shorten(key)} has another label, {shorten(labels.get(key, served.y))}"
        self._learn_labels(hosted, wanted, answers)
        return answers

    def _learn_labels(
        self, hosted: Hosted, wanted: list[tuple[int, Served, Any]], answers: list[dict[str, Any]]
    ) -> None:
        """Learn labels in order. What the learner refuses for what it has become is said; the others are learned."""
        at_once = len(wanted)
        while wanted:
            part = wanted[:at_once]
            found = {served.key: served for _, served, _ in part}
            events = [
                self._event(hosted, "label", served.key, {"y": y, "of": served.n}, j)
                for j, (_, served, y) in enumerate(part)
            ]
            done, error = hosted.take("label", events, _by_key(found))
            for (i, _, _), event in zip(part[:done], events, strict=False):
                answers[i]["outcome"] = "learned"
                self._write(hosted, event, to_json(event.body))
                self.settled.append((event.n, hosted.model_id, event.key or ""))
            wanted = wanted[done:]
            if error is None:
                continue
            if at_once > 1 and not done and not isinstance(error, DivergenceError):
                # None of them was learned, because of one: one after the other, then.
                at_once = 1
                continue
            i = wanted.pop(0)[0]
            if len(answers) == 1:
                raise refusal(error, f"[{i}]")
            answers[i] |= {"outcome": "refused", "message": str(error)}

    def _check_label(self, hosted: Hosted, y: Any, where: str) -> None:
        try:
            hosted.check_label(y)
        except AfterwitError as error:
            raise refusal(error, where) from None

    def _learn_all(self, hosted: Hosted, items: Sequence[tuple[str | None, Any, Any]]) -> list[dict[str, Any]]:
        if hosted.frozen:
            raise frozen(hosted)
        self._check_examples(hosted, items)
        answers = []
        for i, (own, x, y) in enumerate(items):
            answer: dict[str, Any] = {} if own is None else {"id": own}
            answers.append(answer)
            before = None if own is None else self._recent.get(hosted.model_id, own)
            if before is not None:
                same = before.how == "learn" and same_value((before.x, before.y), (x, y))
                answer |= {"outcome": "known" if same else "conflict", **before.said}
                if not same:
                    answer["message"] = f"the id {shorten(own)} was given to another example, or has another label"
                continue
            try:
                served = _serve(hosted, own, x, {"y": y})
                self._learn_one(hosted, served, y)
            except AfterwitError as error:
                if len(items) == 1:
                    raise refusal(error, f"[{i}]") from None
                answer |= {"outcome": "refused", "message": str(error)}
            else:
                answer |= {"outcome": "learned", **served.said}
        return answers

    def _check_examples(self, hosted: Hosted, items: Sequence[tuple[str | None, Any, Any]]) -> None:
        """Refuse all of them for one that is malformed."""
        for i, (own, x, y) in enumerate(items):
            if own is not None:
                self._known(hosted, own, f"[{i}]")
            self._check_label(hosted, y, f"[{i}].y")
            if len(items) > 1:
                try:
                    hosted.check_example(x)
                except AfterwitError as error:
                    raise refusal(error, f"[{i}].x") from None

    def _learn_one(self, hosted: Hosted, served: Served, y: Any) -> None:
        event = self._event(hosted, "learn", served.key or None, {"y": y})
        served.n, served.at, served.how = event.n, event.at, "learn"
        _, error = hosted.take("learn", [event], lambda _: served)
        if error is not None:
            raise error
        self._write(hosted, event, served.text)
        if served.key:
            self.served.append((hosted.model_id, served.key, event.n, event.n))
            self._recent.put(hosted.model_id, served)

    # ------------------------------------------------------------------ what is written

    def _known(self, hosted: Hosted, key: str, where: str) -> Served | None:
        """What was served under an id of the caller's own."""
        if not is_an_id(key):
            allowed = f"1 to {LONGEST_ID} printable characters"
            raise ServiceError(422, f"id must be {allowed}; received {shorten(key)}", f"{where}.id")
        return self._recent.get(hosted.model_id, key)

    def _event(self, hosted: Hosted, kind: str, key: str | None, body: dict[str, Any], place: int = 0) -> Event:
        """The event that comes next, or in so many places after that."""
        self.touched.add(hosted.model_id)
        return Event(hosted.n + 1 + place, max(self.at, hosted.at), kind, key, body)

    def _write(self, hosted: Hosted, event: Event, text: str) -> None:
        self.events.append((hosted.model_id, event.n, event.at, event.kind, event.key, text))

    def expire(self, hosted: Hosted, keys: list[str]) -> None:
        """These ids have waited too long."""
        for key in keys:
            event = self._event(hosted, "expire", key, {})
            hosted.take("expire", [event], _nothing)
            self._write(hosted, event, "{}")
            self.settled.append((event.n, hosted.model_id, key))
            served = self._recent.get(hosted.model_id, key)
            if served is not None:
                served.settle(event)


def is_an_id(key: str | None) -> TypeGuard[str]:
    """Whether an example can have this id: any text that databases can keep in an index."""
    return key is not None and 1 <= len(key) <= LONGEST_ID and key.isprintable()


def new_id(n: int) -> str:
    """An id for an example whose caller gave none. They ascend, so that a database appends them."""
    return f"{n:010x}-{os.urandom(6).hex()}"


def frozen(hosted: Hosted) -> ServiceError:
    return ServiceError(409, f"{hosted.name} is frozen and learns nothing; unfreeze it first")


def refusal(error: AfterwitError, where: str | None = None) -> ServiceError:
    """What a learner refuses, as what a caller is told."""
    return error if isinstance(error, ServiceError) else ServiceError(422, str(error), where)


def _serve(hosted: Hosted, own: str | None, x: Any, label: dict[str, Any] | None = None) -> Served:
    """Serve an example, and write down what its event will say."""
    said, more = hosted.serve(x)
    body = {"x": x, "said": said, **(label or {})}
    if more:
        body["more"] = more
    try:
        text = to_json(body)
    except (ValueError, TypeError):
        raise invalid("x", "of finite numbers, texts, booleans and null", x) from None
    return Served(own or "", 0, 0, x, said, more, text=text)


def _by_key(found: dict[str, Served]) -> Resolve:
    return lambda event: found[event.key or ""]


def _nothing(event: Event) -> Served:
    raise LookupError(f"event {event.n} is about no example")
