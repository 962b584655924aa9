"""A whole source as every worker reads it, from its beginning to its end, in the blocks of one process.

What is exact plays all rows in their order. So files are opened again where they are played, by the schema and the
labels that were decided once; a query is asked again; what is in memory is sent.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from afterwit.cluster.shards import dask_kind, held
from afterwit.errors import StreamError, Words, invalid
from afterwit.streams.arrays import ArrayStream
from afterwit.streams.formats import looks_like_a_query
from afterwit.streams.read import opening
from afterwit.streams.schema import Schema
from afterwit.streams.sources import Dialect, Query, source_of
from afterwit.streams.stream import Stream
from afterwit.streams.target import Target


@dataclass(frozen=True)
class Again:
    """What is opened again: files or a query; or a table in memory, which comes with the task."""

    name: str
    format: str
    dialect: Dialect
    schema: Schema
    target: Target | None
    task: str | None
    labels: tuple[Any, ...] | None
    order_by: str | None = None
    paths: tuple[str, ...] = ()
    query: str | None = None

    def stream(self, data: Any) -> Stream:
        """One that begins at the beginning."""
        given: Any = self.paths[0] if len(self.paths) == 1 else self.paths
        if data is not None:
            (given,) = data
        elif self.query is not None:
            given = Query(self.query)
        source = source_of(given, self.format or None, self.dialect, self.order_by)
        return Stream(
            self.name,
            self.schema,
            self.task,
            self.labels,
            opening(source, self.schema, self.target),
            self.format,
            source.size,
            rereadable=source.rereadable or not source.paths,
            source=source,
            target=self.target,
        )


@dataclass(frozen=True)
class Sent:
    """Examples in memory."""

    def stream(self, data: Any) -> Any:
        """They come with the task."""
        (stream,) = data
        return stream


def whole(stream: Any, given: Any, work: Any) -> tuple[Any, Any]:
    """How workers read this stream, and what of it is sent to them; ``given`` is what it was made of."""
    if isinstance(stream, Iterator):
        raise invalid("source", "one that can be read again, because every worker reads it: a list, or files", given)
    if not isinstance(stream, Stream):
        if isinstance(stream, ArrayStream):
            stream = ArrayStream(stream.X, stream.y)
        return Sent(), work.submit("rows", held, stream)
    source = stream.source
    assert source is not None
    known = (stream.name, stream.format, source.dialect, stream.schema, stream.target, stream.task, stream.labels)
    if source.paths:
        if stream.size is None:
            raise StreamError(
                "every worker reads all of the source, so files, a query or rows in memory were expected; write it to "
                "a file first",
                path=stream.name,
            )
        return Again(*known, source.order_by, source.paths), None
    if isinstance(given, Query) or (isinstance(given, str) and looks_like_a_query(given)):
        return Again(*known, source.order_by, query=str(given)), None
    if isinstance(given, Stream):
        raise invalid("source", "what the stream was read from, because every worker reads it anew", Words(stream.name))
    return Again(*known, source.order_by), work.submit("rows", held, given)


def refuse_collections(source: Any) -> None:
    """Refuse what is in partitions: every worker would need all of them."""
    if not isinstance(source, (str, os.PathLike)) and dask_kind(source):
        raise invalid(
            "source",
            "files, a query or rows in memory, because every worker plays all rows; write a collection of Dask to "
            "Parquet files first, with to_parquet",
            source,
        )
