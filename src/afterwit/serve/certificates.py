"""Certificates of a model from its log, in a process of their own.

python -m afterwit.serve.certificates    reads a request as JSON from the standard input, and answers on the output
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from sqlalchemy import Connection, delete, insert, select

from afterwit.core import wording
from afterwit.core.certificate import Certificate
from afterwit.core.delays import Arrivals
from afterwit.core.moments import as_taken, needs_rounds
from afterwit.errors import AfterwitError, counted
from afterwit.serve.hosted import Hosted
from afterwit.serve.limits import Limits
from afterwit.serve.loading import load_model
from afterwit.serve.log import Served, read_log, to_json
from afterwit.serve.tables import Database, certificates

#: How many values the examples of a certificate may have in all: they are in memory together.
MOST_VALUES = 20_000_000
#: How many points of the bound over time are kept.
MOST_POINTS = 256
SENTENCES = {
    "served": "This is about the predictions that callers got.",
    "learning": "Labels came late, so this is about the predictions at the moment of learning, not about those that "
    "callers got.",
}


# ---------------------------------------------------------------------- computing one


def compute(database: Database, model_id: int, name: str, upto: int) -> dict[str, Any]:
    """The certificate of a model after so many events; why there is none, if there is none."""
    with database.reading.connect() as connection:
        hosted, _ = load_model(connection, model_id, name, Limits(), _say_nothing, upto)
        found: dict[str, Any] = {"n": hosted.n, "rounds": hosted.learner.rounds, "certificate": None}
        try:
            made, about = _certificate(connection, hosted)
        except AfterwitError as error:
            return {**found, "why": str(error)}
    point: dict[str, Any] = {"rounds": made.rounds, "bound": made.bound, "happened": made.observed, "hindsight": None}
    if made.hindsight is not None and made.hindsight.quantity in ("", made.quantity):
        point["hindsight"] = made.hindsight.value
    said = {"about": about, "sentence": SENTENCES[about], "certificate": wording.to_dict(made)}
    point |= {key: _plain(point[key]) for key in ("bound", "happened", "hindsight")}
    return {**found, **said, "point": point}


def _certificate(connection: Connection, hosted: Hosted) -> tuple[Certificate, str]:
    learner = hosted.learner
    by_rounds = needs_rounds(learner)
    if by_rounds and hosted.before:
        learned = counted(hosted.before, "example")
        raise AfterwitError(f"there is no certificate: the model had learned {learned} before its log begins")
    if by_rounds and hosted.progress.unasked:
        raise AfterwitError("there is no certificate: some labels were not asked for, and are not in the log")
    examples, labels, served = _rounds(connection, hosted, keep=by_rounds)
    if not served:
        raise AfterwitError("there is no certificate yet: no label has come")
    late = any(moment < place for place, moment in enumerate(served))
    about = "served" if not late or getattr(learner, "late", "arrival") == "served" else "learning"
    if not by_rounds:
        return learner.certificate(), about
    X = as_taken(learner, examples)
    if not late:
        return learner.certificate(X, labels), about
    return Arrivals(list(range(len(served))), served).certificate(learner, X, labels), about


def _rounds(connection: Connection, hosted: Hosted, keep: bool) -> tuple[list[Any], list[Any], list[int]]:
    """The examples in the order in which they were learned, their labels, and after how many rounds each was served."""
    examples: list[Any] = []
    labels: list[Any] = []
    moments: list[int] = []
    waiting: dict[str, Served] = {}
    values = 0
    for block in read_log(connection, hosted.model_id, 0, hosted.n):
        for event in block:
            if event.kind == "predict":
                waiting[event.key or ""] = Served.of(event)
            elif event.kind == "expire":
                del waiting[event.key or ""]
            elif event.kind in ("label", "learn"):
                served = Served.of(event) if event.kind == "learn" else waiting.pop(event.key or "")
                moments.append(served.said["rounds"] - hosted.before)
                if keep:
                    examples.append(hosted.read(served.x))
                    labels.append(event.body["y"])
                    values += np.size(examples[-1]) if not isinstance(examples[-1], dict) else len(examples[-1])
                    if values > MOST_VALUES:
                        message = f"its examples have more than {MOST_VALUES:,} values"
                        raise AfterwitError(f"there is no certificate: {message}")
    return examples, labels, moments


def _plain(value: Any) -> Any:
    return float(value) if value is not None and np.isfinite(value) else None


def _say_nothing(event: str, **fields: Any) -> None:
    """Who started this process is told the result."""


# ---------------------------------------------------------------------- keeping them


def newest(connection: Connection, model_id: int) -> dict[str, Any] | None:
    """The last certificate of a model that was computed, with the points of all before it."""
    wanted = select(certificates.c.body).where(certificates.c.model_id == model_id)
    body = connection.execute(wanted.order_by(certificates.c.n.desc()).limit(1)).scalar()
    return None if body is None else json.loads(body)


def keep(connection: Connection, model_id: int, found: dict[str, Any]) -> Iterator[None]:
    """Store a certificate in the place of the one before."""
    before = newest(connection, model_id)
    points = [] if before is None else before["points"]
    point = found.pop("point", None)
    if point is not None and (not points or points[-1]["rounds"] < point["rounds"]):
        points = [*points, point]
    if len(points) > MOST_POINTS:
        points = [*points[:-1:2], points[-1]]
    connection.execute(delete(certificates).where(certificates.c.model_id == model_id))
    row = {"model_id": model_id, "n": found["n"], "body": to_json({**found, "points": points})}
    connection.execute(insert(certificates), [row])
    yield


class Computing:
    """Certificates on their way: one process at a time, which the writer never waits for."""

    def __init__(self, database: Database, log: Callable[..., None]) -> None:
        self._database = database
        self._log = log
        self._lock = threading.Lock()
        self._wanted: dict[int, tuple[str, int, Callable[[dict[str, Any]], None]]] = {}
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._stopped = False

    def is_computing(self, model_id: int) -> bool:
        with self._lock:
            return model_id in self._wanted

    def ask(self, model_id: int, name: str, n: int, done: Callable[[dict[str, Any]], None]) -> None:
        """Compute the certificate of a model after n events, unless that is under way; ``done`` is given what it is."""
        with self._lock:
            if self._stopped or model_id in self._wanted:
                return
            self._wanted[model_id] = (name, n, done)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="afterwit certificates", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """Give up what is not yet computed."""
        with self._lock:
            self._stopped = True
            thread = self._thread
            if self._process is not None:
                with suppress(OSError):
                    self._process.kill()
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while True:
            with self._lock:
                if self._stopped or not self._wanted:
                    self._thread = None
                    return
                model_id, (name, n, done) = next(iter(self._wanted.items()))
            try:
                found = self._in_a_process({"model_id": model_id, "name": name, "upto": n})
                if found is not None:
                    done(found)
            except Exception as error:
                self._log("certificate", model=name, error=repr(error))
            finally:
                with self._lock:
                    self._wanted.pop(model_id, None)

    def _in_a_process(self, request: dict[str, Any]) -> dict[str, Any] | None:
        with self._lock:
            if self._stopped:
                return None
            command = [sys.executable, "-m", "afterwit.serve.certificates"]
            pipe = subprocess.PIPE
            self._process = process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        # The address may have a password in it, which does not belong into a list of arguments.
        output, errors = process.communicate(json.dumps({"database": self._database.address, **request}))
        with self._lock:
            self._process = None
            if self._stopped:
                return None
        if process.returncode:
            last = (errors.strip().splitlines() or ["killed"])[-1]
            self._log("certificate", model=request["name"], error=last)
            return {"n": request["upto"], "rounds": 0, "certificate": None, "why": f"it could not be computed: {last}"}
        found: dict[str, Any] = json.loads(output)
        return found


def main() -> None:
    """Answer one request."""
    request = json.load(sys.stdin)
    with suppress(OSError, AttributeError):
        os.nice(10)
    database = Database(request.pop("database"))
    print(to_json(compute(database, **request)))
    database.close()


if __name__ == "__main__":
    main()
