"""Removing what deleted models have left in the database, a little at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import Connection, delete, select

from afterwit.serve.tables import certificates, events, files, models, predictions, snapshots

#: How many rows are removed in one transaction.
AT_ONCE = 2_000


def remove_deleted(connection: Connection) -> Iterator[None]:
    """Remove the rows of all models without a name, each step in a transaction of its own."""
    # What was written while its model was being removed.
    connection.execute(delete(snapshots).where(snapshots.c.model_id.not_in(select(models.c.id))))
    for model_id in list(connection.execute(select(models.c.id).where(models.c.name.is_(None))).scalars()):
        for table, column in ((predictions, predictions.c.key), (events, events.c.n), (snapshots, snapshots.c.n)):
            while True:
                rows = select(column).where(table.c.model_id == model_id).order_by(column.desc()).limit(AT_ONCE)
                found = list(connection.execute(rows).scalars())
                if not found:
                    break
                if table is events and found[-1] == 1:
                    _remove_file(connection, model_id)
                connection.execute(delete(table).where(table.c.model_id == model_id, column.in_(found)))
                yield
        connection.execute(delete(certificates).where(certificates.c.model_id == model_id))
        connection.execute(delete(models).where(models.c.id == model_id))
        yield


def _remove_file(connection: Connection, model_id: int) -> None:
    """Remove the model file of a model, unless another one was made of the same."""
    made = connection.execute(select(events.c.model_id, events.c.body).where(events.c.n == 1)).all()
    named = {row.model_id: json.loads(row.body).get("file") for row in made}
    digest = named.pop(model_id, None)
    if digest is not None and digest not in named.values():
        connection.execute(delete(files).where(files.c.digest == digest))
