"""The engine of a service: models in a database, what callers ask of them, and what they can read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

from afterwit.errors import ServiceError
from afterwit.serve import loading
from afterwit.serve.group import now
from afterwit.serve.hosted import Hosted
from afterwit.serve.limits import Limits
from afterwit.serve.log import read_log, read_waiting
from afterwit.serve.operations import Operation
from afterwit.serve.tables import Database
from afterwit.serve.waiting import Asked, Line, new_future
from afterwit.serve.writer import Writer

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
        self._writer = Writer(self.database, self._line, self.limits, expire, commit_every, snapshot_every, log)

    # ------------------------------------------------------------------ life

    def start(self) -> None:
        """Open the database and begin: the first of several services becomes the writer, the others wait."""
        self.database.prepare()
        self._writer.thread.start()

    def stop(self) -> None:
        """Finish what was accepted, and close."""
        self._writer.stopping.set()
        self._line.shut("the service is stopping")
        self._writer.thread.join()
        self.database.close()

    @property
    def state(self) -> str:
        """starting, stand-by, recovering, ready, stopping, stopped or failed."""
        return self._writer.state

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

    def takes_advice(self, model: str) -> bool:
        """Whether a model is asked with the advice of experts; known at once."""
        return self._hosted(model).role == "experts"

    def models(self) -> list[dict[str, Any]]:
        """Every model in short."""
        return list(self._ask(lambda: [loading.in_short(hosted) for hosted in self._writer.models.values()]))

    def describe(self, model: str) -> dict[str, Any]:
        """All that is known of a model."""
        found: dict[str, Any] = self._ask(lambda: loading.described(self._hosted(model)))
        return found

    def waiting(self, model: str, after: int = 0, limit: int = 1_000) -> list[dict[str, Any]]:
        """The ids that wait for their labels, oldest first; ``after`` is the n of the last one of the page before."""
        model_id = self._ask(lambda: self._hosted(model).model_id)
        with self.database.reading.connect() as connection:
            rows = read_waiting(connection, model_id, after, limit)
        moment = now()
        return [{"n": n, "id": key, "at": at, "age": (moment - at) / 1e6} for n, key, at in rows]

    def log(self, model: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """The events of a model after the n-th, in order."""
        model_id, n = self._ask(lambda: (self._hosted(model).model_id, self._hosted(model).n))
        with self.database.reading.connect() as connection:
            for block in read_log(connection, model_id, after, n):
                for event in block:
                    yield event.as_data()

    def watch(self) -> dict[str, int]:
        """The number of the last event of every model."""
        return {name: hosted.n for name, hosted in list(self._writer.models.items())}
