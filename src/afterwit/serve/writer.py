"""The writer: one thread does the operations of all callers in order, and answers when they are on the disk."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from sqlalchemy import Connection, exc, func, insert, select, update

from afterwit.errors import AfterwitError, ServiceError
from afterwit.serve import snapshots
from afterwit.serve.bulk import Bulk
from afterwit.serve.commits import Commits
from afterwit.serve.group import Group, is_an_id, now
from afterwit.serve.hosted import Hosted
from afterwit.serve.limits import Limits
from afterwit.serve.loading import load_model
from afterwit.serve.log import read_served, read_waiting
from afterwit.serve.operations import Label, Learn, Predict
from afterwit.serve.recent import Recent
from afterwit.serve.removing import remove_deleted
from afterwit.serve.tables import Database, chunks, files, in_parts, models
from afterwit.serve.waiting import Asked, Line, answer, unavailable
from afterwit.serve.writing import Writing, is_about_the_connection

NOT_STORED = "the database could not store it; nothing of this request was stored, so send it again"
NOT_KNOWN = "the connection to the database broke: it is not known whether this was stored; send it again with its id"
NOT_READY = "the service is not ready: another one writes, or the database cannot be reached"
#: How often a stand-by tries to become the writer, in seconds.
PATIENCE = 0.5
#: How long it waits for an operation before it looks at other things, in seconds.
IDLE = 0.1
#: How many predictions expire in one transaction.
EXPIRE_AT_ONCE = 1_000
#: The part of the time that snapshots may take.
SHARE = 0.1

#: Something to be done in the background: each step in a transaction of its own.
Chore = Iterator[None]


class Writer:
    """Does what is in the line, as long as it has the right to write; before that it is a stand-by."""

    def __init__(
        self,
        database: Database,
        line: Line,
        limits: Limits,
        expire: float | None,
        commit_every: float,
        snapshot_every: int,
        log: Callable[..., None],
    ) -> None:
        self._database = database
        self._line = line
        self._limits = limits
        self._expire = expire
        self._commit_every = commit_every
        self._snapshot_every = snapshot_every
        self._log = log
        self.state = "starting"
        self.failure: Exception | None = None
        self.models: dict[str, Hosted] = {}
        self.stopping = threading.Event()
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self._run, name="afterwit writer", daemon=True)
        self._recent = Recent()
        self._next_id = 1
        self._chores: deque[Chore] = deque()
        self._next_look = 0.0
        #: After how many events of a model the last snapshot was taken, and when the next one may be.
        self._snapped: dict[int, int] = {}
        self._next_snapshot = 0.0
        self._snapping: threading.Thread | None = None
        self._writing = Writing(database)
        self.commits = Commits()
        self._bulk = Bulk(database)

    # ------------------------------------------------------------------ life

    def _become(self, state: str) -> None:
        with self.changed:
            if state != self.state:
                self._log("state", state=state)
            self.state = state
            self.changed.notify_all()

    def _run(self) -> None:
        while not self.stopping.is_set():
            try:
                self._become("stand-by")
                if not self._wait_for_the_right():
                    break
                self._become("recovering")
                self._recover()
                self._chores.append(remove_deleted(self._writing.connection))
                self._line.open()
                self._become("ready")
                self._write_all()
                self._become("stopping")
                self._snapshot_all()
            except exc.SQLAlchemyError as error:
                self._log("database", error=str(error))
            except Exception as error:
                self._log("failed", error=repr(error))
                self.failure = error
                self._refuse_all("the service has failed")
                self._become("failed")
                return
            finally:
                self._refuse_all(NOT_READY)
                self._chores.clear()
                self._writing.leave()
            if not self.stopping.is_set():
                self.stopping.wait(PATIENCE)
        self._refuse_all("the service is stopping")
        self._become("stopped")

    def _wait_for_the_right(self) -> bool:
        """Whether it may write; False if it is to stop."""
        while not self.stopping.is_set():
            try:
                if self._writing.take():
                    return True
            except exc.SQLAlchemyError as error:
                self._log("database", error=str(error))
            self.stopping.wait(PATIENCE)
        return False

    def _refuse_all(self, why: str) -> None:
        rest = self._line.close(why)
        for asked in rest:
            asked.error = unavailable(why)
        answer(rest)

    def unsaved(self, hosted: Hosted) -> int:
        """How many events a model has seen since its last snapshot."""
        return hosted.n - self._snapped.get(hosted.model_id, 0)

    def _recover(self) -> None:
        """The models as their logs say."""
        # Callers look for a model while this is going on: they find the one before, and wait for their turn.
        self._recent = Recent()
        self._snapped = {}
        with self._database.reading.connect() as connection:
            found = self._load(connection, select(models.c.id, models.c.name).where(models.c.name.is_not(None)))
            self._next_id = (connection.execute(select(func.max(models.c.id))).scalar() or 0) + 1
        self.models = found

    def _load(self, connection: Connection, wanted: Any) -> dict[str, Hosted]:
        found: dict[str, Hosted] = {}
        for model_id, name in connection.execute(wanted.order_by(models.c.id)).all():
            found[name], self._snapped[model_id] = load_model(connection, model_id, name, self._limits, self._log)
        return found

    def in_order(self) -> list[Hosted]:
        """The models in the order in which they were made."""
        return sorted(self.models.values(), key=lambda hosted: hosted.model_id)

    def _undo(self, touched: set[int]) -> None:
        """These models are what their logs say, whatever has been done to them in memory."""
        found = {name: hosted for name, hosted in self.models.items() if hosted.model_id not in touched}
        for model_id in touched:
            self._recent.forget(model_id)
        with self._database.reading.connect() as connection:
            for part in chunks(sorted(touched)):
                wanted = select(models.c.id, models.c.name)
                found |= self._load(connection, wanted.where(models.c.id.in_(part), models.c.name.is_not(None)))
        self.models = found

    # ------------------------------------------------------------------ groups of operations

    def _write_all(self) -> None:
        """Do what callers ask, until it is time to stop."""
        while True:
            asked = self._line.take(0.0 if self._chores else IDLE, self._commit_every)
            if asked:
                try:
                    self._do(asked)
                except BaseException:
                    # Whoever is told of it can see it.
                    self._become("stand-by")
                    raise
                finally:
                    answer(asked)
            elif self.stopping.is_set():
                return
            self._look_after()

    def _do(self, asked: list[Asked]) -> None:
        group = Group(self.models, self._recent, self._limits, self._next_id)
        try:
            self._look_up(asked)
            for each in asked:
                try:
                    each.result = _call(each) if callable(each.operation) else group.perform(each.operation)
                except AfterwitError as error:
                    each.error = error
            self._store(group)
        except Exception as error:
            self._give_up(group, asked, error)
        else:
            self._next_id = group.next_id
            if group.deleted:
                self._chores.append(remove_deleted(self._writing.connection))
        self._recent.trim()

    def _give_up(self, group: Group, asked: list[Asked], error: Exception) -> None:
        """A group could not be stored: the models are what their logs say."""
        self._log("not stored", error=repr(error))
        from_database = isinstance(error, exc.SQLAlchemyError)
        broken = is_about_the_connection(error)
        message = f"the service has an error: {error!r}; nothing of this was stored"
        why = NOT_KNOWN if broken else NOT_STORED
        for each in asked:
            each.result, each.error = None, unavailable(why) if from_database else ServiceError(500, message)
        if broken:
            raise error
        self._undo(group.touched)
        if not from_database and len(asked) > 1:
            # One of them has brought this about; the others need not suffer.
            for each in asked:
                each.error = None
                self._do([each])

    def _look_up(self, asked: list[Asked]) -> None:
        """Fetch what was served under the ids of these operations, unless it is still known."""
        wanted: dict[int, set[str]] = {}
        for each in asked:
            operation = each.operation
            if not isinstance(operation, (Predict, Label, Learn)):
                continue
            hosted = self.models.get(operation.model)
            if hosted is None:
                continue
            for item in operation.items:
                key = item[0]
                if is_an_id(key) and self._recent.get(hosted.model_id, key) is None:
                    wanted.setdefault(hosted.model_id, set()).add(key)
        if wanted:
            with self._database.reading.connect() as connection:
                for model_id, keys in wanted.items():
                    for served in read_served(connection, model_id, keys).values():
                        self._recent.put(model_id, served)

    def _store(self, group: Group) -> None:
        """Write all of a group, and see it on the disk."""
        if not group.touched:
            return
        connection = self._writing.connection
        begun = time.perf_counter()
        with connection.begin():
            if group.made:
                connection.execute(insert(models), [{"id": each, "name": name} for each, name in group.made])
            for digest, content in group.files.items():
                there = connection.execute(select(files.c.part).where(files.c.digest == digest).limit(1)).first()
                if there is None:
                    parts = enumerate(in_parts(content))
                    connection.execute(insert(files), [{"digest": digest, "part": i, "content": p} for i, p in parts])
            self._bulk.add_events(connection, group.events)
            self._bulk.add_served(connection, group.served)
            self._bulk.settle(connection, group.settled)
            if group.deleted:
                connection.execute(update(models).where(models.c.id.in_(group.deleted)).values(name=None))
        self.commits.add(time.perf_counter() - begun, len(group.events))

    # ------------------------------------------------------------------ what else is to be done

    def _look_after(self) -> None:
        """Between two groups: a step of a chore, and now and then what has expired and what is to be kept."""
        if self._chores:
            self._do_a_step(self._chores.popleft())
        moment = time.monotonic()
        if moment < self._next_look:
            return
        self._next_look = moment + min(1.0, self._expire / 4 if self._expire is not None else 1.0)
        self._writing.check()
        if self._expire is not None:
            self._let_expire(int(self._expire * 1e6))
        self._begin_snapshot(moment)

    def _do_a_step(self, chore: Chore) -> None:
        try:
            with self._writing.connection.begin():
                going_on = next(chore, self) is not self
        except exc.SQLAlchemyError as error:
            # What it was to write can be made again.
            self._log("chore", error=str(error))
            if is_about_the_connection(error):
                raise
        else:
            if going_on:
                self._chores.append(chore)

    def _let_expire(self, after: int) -> None:
        group = Group(self.models, self._recent, self._limits, self._next_id)
        for hosted in self.models.values():
            if not hosted.progress.waiting:
                continue
            with self._database.reading.connect() as connection:
                oldest = read_waiting(connection, hosted.model_id, 0, EXPIRE_AT_ONCE)
            due = [key for _, key, at in oldest if at < now() - after]
            group.expire(hosted, due)
            if len(due) == EXPIRE_AT_ONCE:
                self._next_look = 0.0
        try:
            self._store(group)
        except Exception as error:
            self._give_up(group, [], error)

    def add_chore(self, chore: Callable[[Any], Chore]) -> None:
        """Let something be written between groups; it is given the connection. From the writer's own thread."""
        self._chores.append(chore(self._writing.connection))

    # ------------------------------------------------------------------ snapshots

    def _begin_snapshot(self, moment: float) -> None:
        """Take a snapshot of a model that has seen enough events since the last one, if there is time for it."""
        if moment < self._next_snapshot or (self._snapping is not None and self._snapping.is_alive()):
            return
        for hosted in self.models.values():
            if self.unsaved(hosted) >= self._snapshot_every:
                taken = snapshots.moment_of(hosted)
                self._snapping = threading.Thread(target=self._snap, args=(taken, moment), daemon=True)
                self._snapping.start()
                return

    def _snap(self, taken: snapshots.Moment, begun: float) -> None:
        """In a thread of its own: the bytes of a snapshot, to be written by the writer."""
        content = taken.content()
        cost = time.monotonic() - begun
        self._next_snapshot = time.monotonic() + cost * (1 / SHARE - 1)

        def write() -> None:
            if any(hosted.model_id == taken.model_id for hosted in self.models.values()):
                self._snapped[taken.model_id] = taken.n
                self.add_chore(lambda connection: snapshots.store(connection, taken, content))
                self._log("snapshot", model=taken.name, n=taken.n, bytes=len(content), seconds=round(cost, 3))

        try:
            self._line.put(Asked(write, _Nobody()))
        except ServiceError:
            # It stops, or has lost the right to write: the log has all of it.
            return

    def _snapshot_all(self) -> None:
        """Before a clean end: what has changed since the last snapshot, and what is still to be written."""
        if self._snapping is not None:
            self._snapping.join()
        for hosted in self.models.values():
            if self.unsaved(hosted):
                taken = snapshots.moment_of(hosted)
                self._chores.append(snapshots.store(self._writing.connection, taken, taken.content()))
        while self._chores:
            self._look_after()


def _call(asked: Asked) -> Any:
    """What a function finds; it changes nothing, so whatever goes wrong concerns nobody but its caller."""
    try:
        return asked.operation()
    except Exception as error:
        asked.error = error


class _Nobody:
    """Whom nobody waits for."""

    def set_running_or_notify_cancel(self) -> bool:
        return False
