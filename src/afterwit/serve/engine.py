"""The engine of a service: models in a database, what callers ask of them, and what they can read."""

from __future__ import annotations

import asyncio
import base64
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection

from afterwit.errors import ServiceError
from afterwit.serve import certificates, describing, loading
from afterwit.serve.commits import Commits
from afterwit.serve.group import now
from afterwit.serve.hosted import Hosted
from afterwit.serve.limits import Limits
from afterwit.serve.log import read_log, read_waiting
from afterwit.serve.operations import Operation
from afterwit.serve.spec import to_file
from afterwit.serve.tables import Database
from afterwit.serve.waiting import Asked, Line, new_future
from afterwit.serve.writer import Writer

#: A certificate is computed anew when there are so many times as many rounds.
TOO_OLD = 2

Log = Callable[..., None]


def _say_nothing(event: str, **fields: Any) -> None:
    """Nobody listens."""


class Engine:
    """Models in a database, and what is done with them.

    database      a path, ``sqlite:///path`` or ``postgresql://user@host/name``
    limits        how much it takes
    expire        after how many seconds a prediction no longer waits for its label; None for never
    commit_every  how many seconds operations wait for others that share their commit
    log           called with an event's name and its fields
    """

    def __init__(
        self,
        database: str,
        *,
        limits: Limits | None = None,
        expire: float | None = None,
        commit_every: float = 0.002,
        snapshot_every: int = 10_000,
        log: Log = _say_nothing,
    ) -> None:
        self.database = Database(database)
        self.limits = limits or Limits()
        self.expire = expire
        self._line = Line()
        #: How many certificates of each model have been kept since the start.
        self._certified: Counter[int] = Counter()
        self._computing = certificates.Computing(self.database, log)
        self._writer = Writer(self.database, self._line, self.limits, expire, commit_every, snapshot_every, log)

    # ------------------------------------------------------------------ life

    def start(self) -> None:
        """Open the database and begin: the first of several services becomes the writer, the others wait."""
        self.database.prepare()
        self._writer.thread.start()

    def stop(self) -> None:
        """Finish what was accepted, and close."""
        self._computing.stop()
        self._writer.stopping.set()
        self._line.shut("the service is stopping")
        self._writer.thread.join()
        self.database.close()

    @property
    def failure(self) -> Exception | None:
        """Why it has failed, if it has."""
        return self._writer.failure

    @property
    def state(self) -> str:
        """starting, stand-by, recovering, ready, stopping, stopped or failed."""
        return self._writer.state

    @property
    def commits(self) -> Commits:
        """How long commits take, and how much is in each."""
        return self._writer.commits

    def wait_until(self, *states: str, timeout: float = 60.0) -> str:
        """Wait until the engine is in one of these states; the state."""
        with self._writer.changed:
            self._writer.changed.wait_for(lambda: self.state in states, timeout)
        return self.state

    # ------------------------------------------------------------------ what callers use

    def submit(self, operation: Operation) -> Any:
        """A future of what comes of it: done, stored and committed, or a `ServiceError`."""
        future = new_future()
        self._put(Asked(operation, future))
        return future

    def submit_async(self, operation: Operation) -> asyncio.Future[Any]:
        """The same for the event loop that runs."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._put(Asked(operation, future, loop))
        return future

    def _put(self, asked: Asked) -> None:
        try:
            self._line.put(asked)
        except ServiceError as error:
            asked.future.set_exception(error)

    def _ask(self, function: Callable[[], Any]) -> Any:
        """What a function finds between two groups of operations, when everything fits together."""
        asked = Asked(function, new_future())
        self._line.put(asked)
        return asked.future.result()

    def _hosted(self, model: str) -> Hosted:
        hosted = self._writer.models.get(model)
        if hosted is None:
            raise ServiceError(404, f"there is no model {model!r}")
        return hosted

    def models(self) -> list[dict[str, Any]]:
        """Every model in short."""
        writer = self._writer

        def found() -> list[dict[str, Any]]:
            every = writer.in_order()
            return [{**describing.in_short(hosted), "unsaved": writer.unsaved(hosted)} for hosted in every]

        return list(self._ask(found))

    def takes_advice(self, model: str) -> bool:
        """Whether its examples are the advice of experts, and its labels are outcomes."""
        hosted = self._writer.models.get(model)
        return hosted is not None and hosted.role == "experts"

    def describe(self, model: str) -> dict[str, Any]:
        """All that is known of a model."""
        model_id, found = self._ask(lambda: (self._hosted(model).model_id, describing.described(self._hosted(model))))
        with self.database.reading.connect() as connection:
            oldest = read_waiting(connection, model_id, 0, 1)
            kept = certificates.newest(connection, model_id)
        found["waiting"] = {"oldest": oldest[0][2] if oldest else None}
        found["certificate"] = None if kept is None else {"n": kept["n"], "rounds": kept["rounds"]}
        return dict(found)

    def curve(self, model: str) -> dict[str, Any]:
        """The learning curve of a model."""
        return dict(self._ask(lambda: describing.curve(self._hosted(model).progress)))

    def file(self, model: str) -> bytes:
        """The model file."""
        copied = self._ask(lambda: self._hosted(model).model.copy())
        return to_file(copied)

    def certificate(self, model: str, refresh: bool = False) -> dict[str, Any]:
        """The last certificate that was computed. Another one is on its way if that is old, or if it is asked for."""
        model_id, n, rounds = self._ask(lambda: _moment(self._hosted(model)))
        with self.database.reading.connect() as connection:
            found = certificates.newest(connection, model_id)
        if rounds and (refresh or found is None or rounds >= TOO_OLD * max(1, found["rounds"])):
            self._computing.ask(model_id, model, n, lambda made: self._keep_certificate(model_id, made))
        computing = self._computing.is_computing(model_id)
        if found is None:
            why = "it is being computed" if computing else "there is no certificate yet: no label has come"
            found = {"certificate": None, "points": [], "why": why}
        return {**found, "computing": computing}

    def _keep_certificate(self, model_id: int, made: dict[str, Any]) -> None:
        def store(connection: Connection) -> Iterator[None]:
            yield from certificates.keep(connection, model_id, made)
            self._certified[model_id] += 1

        def keep() -> None:
            if any(hosted.model_id == model_id for hosted in self._writer.models.values()):
                self._writer.add_chore(store)

        self._ask(keep)

    def waiting(self, model: str, after: int = 0, limit: int = 1_000) -> list[dict[str, Any]]:
        """The ids that wait for their labels, oldest first; ``after`` is the n of the last one of the page before."""
        model_id = self._ask(lambda: self._hosted(model).model_id)
        with self.database.reading.connect() as connection:
            rows = read_waiting(connection, model_id, after, limit)
        moment = now()
        return [{"n": n, "id": key, "at": at, "age": (moment - at) / 1e6} for n, key, at in rows]

    def log(self, model: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """The events of a model after the n-th, in order; with the content of a file that was uploaded."""
        model_id, n, _ = self._ask(lambda: _moment(self._hosted(model)))
        return self._events(model_id, after, n)

    def _events(self, model_id: int, after: int, n: int) -> Iterator[dict[str, Any]]:
        with self.database.reading.connect() as connection:
            for block in read_log(connection, model_id, after, n):
                for event in block:
                    if event.kind == "create" and "file" in event.body:
                        content = loading.read_file(connection, event.body["file"])
                        event.body["content"] = base64.b64encode(content).decode()
                    yield event.as_data()

    def watch(self) -> dict[str, tuple[int, ...]]:
        """Of every model what changes with whatever is said of it: which it is, its last event, its certificates."""
        models = list(self._writer.models.items())
        return {name: (hosted.model_id, hosted.n, self._certified[hosted.model_id]) for name, hosted in models}


def _moment(hosted: Hosted) -> tuple[int, int, int]:
    return hosted.model_id, hosted.n, hosted.progress.curve.rounds
