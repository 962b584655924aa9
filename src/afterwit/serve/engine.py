"""The engine of a service: one writer does the operations of all callers in order, and answers when they are on disk."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import exc, func, insert, select, update

from afterwit.errors import AfterwitError, ServiceError
from afterwit.serve import loading
from afterwit.serve.group import Group, now
from afterwit.serve.hosted import Hosted
from afterwit.serve.limits import Limits
from afterwit.serve.log import read_log, read_served, read_waiting
from afterwit.serve.operations import Label, Learn, Operation, Predict
from afterwit.serve.recent import Recent
from afterwit.serve.tables import Database, events, files, in_parts, models, predictions
from afterwit.serve.waiting import Asked, Line, answer, new_future, unavailable
from afterwit.serve.writing import Writing

#: How often a stand-by tries to become the writer, in seconds.
PATIENCE = 0.5
NOT_STORED = "the database could not store it; nothing of this request was stored, so send it again"

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
        self._commit_every = commit_every
        self._snapshot_every = snapshot_every
        self._log = log
        self.state = "starting"
        self._models: dict[str, Hosted] = {}
        self._recent = Recent()
        self._next_id = 1
        self._line = Line()
        self._stopping = threading.Event()
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="afterwit writer", daemon=True)
        database_ = self.database
        self._insert_event = database_.statement(insert(events))
        self._insert_served = database_.statement(insert(predictions))
        columns = predictions.c
        settling = update(predictions).where(columns.model_id == 0, columns.key == "").values(settled=0)
        self._settle = database_.statement(settling)

    # ------------------------------------------------------------------ life

    def start(self) -> None:
        """Open the database and begin: the first of several services becomes the writer, the others wait."""
        self.database.prepare()
        self._thread.start()

    def stop(self) -> None:
        """Finish what was accepted, and close."""
        self._stopping.set()
        self._line.shut("the service is stopping")
        self._thread.join()
        self.database.close()

    def wait_until(self, *states: str, timeout: float = 60.0) -> str:
        """Wait until the engine is in one of these states; the state."""
        with self._changed:
            self._changed.wait_for(lambda: self.state in states, timeout)
        return self.state

    def _become(self, state: str) -> None:
        with self._changed:
            if state != self.state:
                self._log("state", state=state)
            self.state = state
            self._changed.notify_all()

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
        hosted = self._models.get(model)
        if hosted is None:
            raise ServiceError(404, f"there is no model {model!r}")
        return hosted

    def models(self) -> list[dict[str, Any]]:
        """Every model in short."""
        return list(self._ask(lambda: [loading.in_short(hosted) for hosted in self._models.values()]))

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
        return {name: hosted.n for name, hosted in list(self._models.items())}

    # ------------------------------------------------------------------ the writer

    def _run(self) -> None:
        while not self._stopping.is_set():
            writing = Writing(self.database)
            try:
                self._become("stand-by")
                if not self._wait_for(writing):
                    break
                self._become("recovering")
                self._recover()
                self._line.open()
                self._become("ready")
                self._write_all(writing)
            except exc.SQLAlchemyError as error:
                self._log("database", error=str(error))
            except Exception as error:
                self._log("failed", error=repr(error))
                self._become("failed")
                self._refuse_all("the service has failed")
                return
            finally:
                self._refuse_all("the service is not ready: another one writes, or the database cannot be reached")
                writing.leave()
            self._stopping.wait(PATIENCE)
        self._become("stopped")

    def _wait_for(self, writing: Writing) -> bool:
        """Whether it may write; False if it is to stop."""
        while not self._stopping.is_set():
            try:
                if writing.take():
                    return True
            except exc.SQLAlchemyError as error:
                self._log("database", error=str(error))
            self._stopping.wait(PATIENCE)
        return False

    def _refuse_all(self, why: str) -> None:
        rest = self._line.close(why)
        for asked in rest:
            asked.error = unavailable(why)
        answer(rest)

    def _recover(self) -> None:
        """The models as their logs say."""
        self._models = {}
        self._recent = Recent()
        with self.database.reading.connect() as connection:
            named = connection.execute(select(models.c.id, models.c.name).where(models.c.name.is_not(None)))
            for model_id, name in list(named):
                self._models[name] = loading.load_model(connection, model_id, name, self.limits)
            self._next_id = (connection.execute(select(func.max(models.c.id))).scalar() or 0) + 1

    def _write_all(self, writing: Writing) -> None:
        """Do what callers ask, until it is time to stop."""
        while True:
            asked = self._line.take(0.1, self._commit_every)
            if not asked:
                if self._stopping.is_set():
                    return
                continue
            try:
                self._do(writing, asked)
            finally:
                answer(asked)

    def _do(self, writing: Writing, asked: list[Asked]) -> None:
        group = Group(self._models, self._recent, self.limits, self._next_id)
        try:
            self._look_up(asked)
            for each in asked:
                try:
                    each.result = each.operation() if callable(each.operation) else group.perform(each.operation)
                except AfterwitError as error:
                    each.error = error
            self._store(writing, group)
        except Exception as error:
            self._log("not stored", error=str(error))
            for each in asked:
                each.error, each.result = unavailable(NOT_STORED), None
            if not isinstance(error, exc.SQLAlchemyError):
                for each in asked:
                    each.error = ServiceError(500, f"the service has an error: {error!r}")
            self._recover()
        else:
            self._next_id = group.next_id
        self._recent.trim()

    def _look_up(self, asked: list[Asked]) -> None:
        """Fetch what was served under the ids of these operations, unless it is still known."""
        wanted: dict[int, set[str]] = {}
        for each in asked:
            operation = each.operation
            if not isinstance(operation, (Predict, Label, Learn)):
                continue
            hosted = self._models.get(operation.model)
            if hosted is None:
                continue
            for item in operation.items:
                key = item[0]
                if key is not None and self._recent.get(hosted.model_id, key) is None:
                    wanted.setdefault(hosted.model_id, set()).add(key)
        if wanted:
            with self.database.reading.connect() as connection:
                for model_id, keys in wanted.items():
                    for served in read_served(connection, model_id, keys).values():
                        self._recent.put(model_id, served)

    def _store(self, writing: Writing, group: Group) -> None:
        if not group.touched:
            return
        connection = writing.connection
        with connection.begin():
            if group.made:
                connection.execute(insert(models), [{"id": each, "name": name} for each, name in group.made])
            for digest, content in group.files.items():
                there = connection.execute(select(files.c.part).where(files.c.digest == digest).limit(1)).first()
                if there is None:
                    parts = enumerate(in_parts(content))
                    connection.execute(insert(files), [{"digest": digest, "part": i, "content": p} for i, p in parts])
            if group.events:
                connection.exec_driver_sql(self._insert_event, group.events)
            if group.served:
                connection.exec_driver_sql(self._insert_served, group.served)
            if group.settled:
                connection.exec_driver_sql(self._settle, group.settled)
            if group.deleted:
                connection.execute(update(models).where(models.c.id.in_(group.deleted)).values(name=None))
