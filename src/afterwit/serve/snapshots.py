"""Snapshots: a model after n events, so that a restart need not play its whole log.

They are a convenience: the log alone is the truth. A snapshot that is damaged or not whole is skipped.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from afterwit.serve.hosted import Hosted
from afterwit.serve.log import to_json
from afterwit.serve.spec import from_file, to_file
from afterwit.serve.tables import in_parts, snapshots

#: How many whole ones are kept of a model.
KEPT = 2
LENGTH = struct.Struct("<Q")


@dataclass(frozen=True)
class Moment:
    """A model at a moment, as a copy that nobody changes."""

    model_id: int
    name: str
    n: int
    model: Any
    about: dict[str, Any]

    def content(self) -> bytes:
        """All of it as bytes."""
        about = to_json(self.about).encode()
        return LENGTH.pack(len(about)) + about + to_file(self.model)


def moment_of(hosted: Hosted) -> Moment:
    """A model now."""
    about = {
        "n": hosted.n,
        "at": hosted.at,
        "created": hosted.created,
        "before": hosted.before,
        "frozen": hosted.frozen,
        "digest": hosted.digest,
        "progress": hosted.progress.state(),
    }
    return Moment(hosted.model_id, hosted.name, hosted.n, hosted.model.copy(), about)


def hosted_from(model_id: int, name: str, content: bytes) -> Hosted:
    """The model of a snapshot."""
    begin = LENGTH.size + LENGTH.unpack_from(content)[0]
    about = json.loads(content[LENGTH.size : begin])
    hosted = Hosted(model_id, name, from_file(content[begin:]), about["digest"])
    for key in ("n", "at", "created", "before", "frozen"):
        setattr(hosted, key, about[key])
    hosted.progress.restore(about["progress"])
    return hosted


def store(connection: Connection, moment: Moment, content: bytes) -> Iterator[None]:
    """Write a snapshot, each part in a transaction of its own, and remove old ones."""
    parts, digest = in_parts(content), hashlib.sha256(content).hexdigest()
    here = {"model_id": moment.model_id, "n": moment.n, "parts": len(parts), "digest": digest}
    connection.execute(delete(snapshots).where(_of(moment.model_id), snapshots.c.n == moment.n))
    for i, part in enumerate(parts):
        connection.execute(insert(snapshots), [{**here, "part": i, "content": part}])
        yield
    kept = _numbers(connection, moment.model_id)[:KEPT]
    connection.execute(delete(snapshots).where(_of(moment.model_id), snapshots.c.n < min(kept)))


def newest(connection: Connection, model_id: int, name: str, last: int, log: Callable[..., None]) -> Hosted | None:
    """The model of the newest snapshot that is whole; None if there is none."""
    for n in _numbers(connection, model_id):
        wanted = select(snapshots.c.content, snapshots.c.parts, snapshots.c.digest)
        rows = connection.execute(wanted.where(_of(model_id), snapshots.c.n == n).order_by(snapshots.c.part)).all()
        content = b"".join(row.content for row in rows)
        if len(rows) < rows[0].parts:
            continue
        try:
            if n > last:
                raise ValueError(f"it is beyond event {last:,}")
            if hashlib.sha256(content).hexdigest() != rows[0].digest:
                raise ValueError("its SHA-256 is not what it was")
            return hosted_from(model_id, name, content)
        except Exception as error:  # whatever it is, the log has all of it
            log("snapshot skipped", model=name, n=n, error=str(error))
    return None


def _of(model_id: int) -> Any:
    return snapshots.c.model_id == model_id


def _numbers(connection: Connection, model_id: int) -> list[int]:
    """After how many events snapshots were taken, newest first."""
    wanted = select(snapshots.c.n).where(_of(model_id)).distinct().order_by(snapshots.c.n.desc())
    return list(connection.execute(wanted).scalars())
