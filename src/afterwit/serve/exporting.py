"""The log of a model as a file, and back: JSON lines, or Parquet by DuckDB."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from afterwit.errors import StreamError, Words, shorten
from afterwit.serve.log import KINDS, Event, to_json

#: The columns of a Parquet file; bodies are JSON.
COLUMNS = {"n": "BIGINT", "at": "BIGINT", "kind": "VARCHAR", "key": "VARCHAR", "body": "VARCHAR"}
#: What DuckDB takes for an object of JSON where nothing is said, in bytes.
USUAL = 16 << 20
ROWS = 2_000
#: What the body of an event has at least.
BODIES = {"predict": {"x", "said"}, "label": {"y"}, "learn": {"x", "said", "y"}}


def parquet(events: Iterable[dict[str, Any]]) -> bytes:
    """Events, as `Engine.log` has them, as a Parquet file."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="afterwit-") as folder:
        lines, target = Path(folder, "log.jsonl"), Path(folder, "log.parquet")
        longest = 0
        with lines.open("w") as file:
            for event in events:
                longest = max(longest, file.write(to_json({**event, "body": to_json(event["body"])}) + "\n"))
        with duckdb.connect() as connection:
            columns = ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items())
            how = f"format='newline_delimited', maximum_object_size={max(USUAL, longest + 1024)}"
            source = f"read_json('{lines}', {how}, columns={{{columns}}})"
            connection.execute(f"COPY (SELECT * FROM {source} ORDER BY n) TO '{target}' (FORMAT parquet)")
        return target.read_bytes()


def read_exported(path: str) -> Iterator[Event]:
    """The events of a file that was exported, in order; checked."""
    before = 0
    for line, data in enumerate(_parquet(path) if path.endswith(".parquet") else _lines(path), 1):
        event = _event(path, line, data)
        if event.n != before + 1:
            raise StreamError(f"event {event.n:,} where {before + 1:,} is expected", path=path, line=line)
        before = event.n
        yield event


def _event(path: str, line: int, data: Any) -> Event:
    if isinstance(data, dict) and set(data) == set(COLUMNS):
        event = Event(**data)
        keyed = event.key is None or isinstance(event.key, str)
        if type(event.n) is type(event.at) is int and event.kind in KINDS and keyed and _is_body(event):
            return event
    raise StreamError(f"expected an event of a log, found {shorten(data)}", path=path, line=line)


def _is_body(event: Event) -> bool:
    body = event.body
    if type(body) is not dict or not BODIES.get(event.kind, set()) <= set(body):
        return False
    return "said" not in body or (type(body["said"]) is dict and type(body["said"].get("rounds")) is int)


def _lines(path: str) -> Iterator[Any]:
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield json.loads(line)
                except ValueError as error:
                    raise StreamError(f"expected JSON, found {shorten(Words(error))}", path=path, line=number) from None
    except (OSError, UnicodeDecodeError) as error:
        raise StreamError(str(error), path=path) from None


def _parquet(path: str) -> Iterator[Any]:
    import duckdb

    try:
        with duckdb.connect() as connection:
            names = ", ".join(f'"{name}"' for name in COLUMNS)
            connection.execute(f"SELECT {names} FROM read_parquet(?) ORDER BY n", [path])
            while rows := connection.fetchmany(ROWS):
                for row in rows:
                    data = dict(zip(COLUMNS, row, strict=True))
                    yield {**data, "body": json.loads(data["body"])}
    except (duckdb.Error, ValueError) as error:
        raise StreamError(f"is no log of a service: {shorten(Words(error), 200)}", path=path) from None
