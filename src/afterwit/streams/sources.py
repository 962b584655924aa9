"""Where rows come from: files of one format, a query, a DataFrame or records; and how each is opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from afterwit.errors import Words, invalid
from afterwit.streams._bytes import source_name
from afterwit.streams._copies import UnpackedCopy, needs_copy
from afterwit.streams._raw import ChainedReader
from afterwit.streams.batch import TableReader
from afterwit.streams.formats import (
    LINES,
    delimiter_of_name,
    format_of,
    looks_like_a_query,
    paths_of,
    refuse_mixture,
)


class Query(str):
    """A query, whatever it begins with; any other string is one if it looks like one."""

    __slots__ = ()


@dataclass(frozen=True)
class Dialect:
    """How text is written, where its content does not say."""

    names: tuple[str, ...] | None = None
    delimiter: str | None = None
    quotes: bool = True
    first_id: int | None = None
    on_error: str = "stop"
    #: Keys of records that are not read.
    ignore: tuple[str, ...] = ()
    #: Whether a cell of the header may be a number.
    any_names: bool = False
    #: Whether all rows will be held in memory.
    kept: bool = False


@dataclass(frozen=True)
class Source:
    """Where rows come from: its name, and how to open it."""

    name: str
    paths: tuple[str, ...] = ()
    format: str = ""
    #: Opens a table; None for text with a line for each example.
    table: Callable[[], TableReader] | None = None
    size: int | None = None
    rereadable: bool = True
    dialect: Dialect = field(default_factory=Dialect)
    #: Whether rows have keys, some of which may come later.
    keys: bool = False
    #: The column by which all rows are sorted first.
    order_by: str | None = None


def source_of(source: Any, format: str | None, dialect: Dialect, order_by: str | None) -> Source:  # noqa: A002
    """Where the rows come from, and how to open it."""
    found = _source(source, format, dialect)
    if order_by is None:
        return found
    table = found.table
    if table is None:
        raise invalid("order_by", f"left out, because {found.format} text has no columns", order_by)
    from afterwit.streams.ordered import OrderedReader

    return replace(found, table=lambda: OrderedReader(table(), order_by), order_by=order_by)


def _source(source: Any, format: str | None, dialect: Dialect) -> Source:  # noqa: A002
    if isinstance(source, Query) or (isinstance(source, str) and looks_like_a_query(source)):
        from afterwit.streams.sql import SqlReader

        return Source("the query", table=lambda: SqlReader(source), dialect=dialect)
    if isinstance(source, (str, os.PathLike)):
        return _files([os.fspath(source)], format, dialect)
    if isinstance(source, Sequence) and len(source) and all(isinstance(each, (str, os.PathLike)) for each in source):
        return _files([os.fspath(each) for each in source], format, dialect)
    if isinstance(source, Sequence) and not isinstance(source, (bytes, bytearray)):
        if not all(isinstance(each, Mapping) for each in source):
            raise invalid("source", "a list of dicts or of paths", source)
        from afterwit.streams.records import RecordsReader

        return Source(
            "the records", table=lambda: RecordsReader(source, ignore=dialect.ignore), dialect=dialect, keys=True
        )
    from afterwit.streams.frames import FrameReader

    return Source("the DataFrame", table=lambda: FrameReader(source), dialect=dialect)


def _files(sources: Sequence[str], format: str | None, dialect: Dialect) -> Source:  # noqa: A002
    paths = [path for source in sources for path in paths_of(source)]
    if "-" in paths and len(paths) > 1:
        raise invalid("source", 'standard input alone, or files without "-"', Words(", ".join(paths)))
    formats = [format or format_of(path) for path in paths]
    refuse_mixture(paths, formats)
    kind = formats[0]
    copies = {path: UnpackedCopy(path) for path in paths if kind in ("parquet", "arrow") and needs_copy(path)}
    sizes = [copies[path].size if path in copies else _size(path) for path in paths]
    size = None if None in sizes else sum(each for each in sizes if each is not None)
    name = source_name(paths[0]) if len(paths) == 1 else f"{source_name(sources[0])} ({len(paths):,} files)"
    known = Source(name, tuple(paths), kind, None, size, size is not None, dialect, kind == "json")
    if kind in LINES:
        return known
    open_one = opener(kind, dialect, copies)
    if len(paths) == 1:
        return replace(known, table=lambda: open_one(paths[0]))

    def chained() -> TableReader:
        return ChainedReader(open_one, paths, size, dialect.ignore)

    return replace(known, table=chained)


def _size(path: str) -> int | None:
    """The size of a file that can be read again; None for a pipe."""
    try:
        return os.path.getsize(path) if path != "-" and os.path.isfile(path) else None
    except OSError:
        return None


def opener(
    kind: str, dialect: Dialect, copies: Mapping[str, UnpackedCopy] | None = None
) -> Callable[[Any], TableReader]:
    """What opens a table of that format; text may also be a file that is open."""
    if kind in ("parquet", "arrow"):
        return _opener_of_files(kind, copies or {})
    if kind == "json":
        from afterwit.streams.json_lines import JsonLinesReader

        return lambda path: JsonLinesReader(path, on_error=dialect.on_error, ignore=dialect.ignore, kept=dialect.kept)
    from afterwit.streams.csv_text import CsvReader

    return lambda path: CsvReader(
        path,
        delimiter=dialect.delimiter or delimiter_of_name(path),
        quotes=dialect.quotes,
        names=dialect.names,
        on_error=dialect.on_error,
        any_names=dialect.any_names,
        kept=dialect.kept,
    )


def _opener_of_files(kind: str, copies: Mapping[str, UnpackedCopy]) -> Callable[[str], TableReader]:
    """For what is read as a file by others: the file, or its copy, which stays as long as this or an open reader."""
    reader: Callable[..., TableReader]
    if kind == "parquet":
        from afterwit.streams.parquet import ParquetReader as reader  # noqa: N813
    else:
        from afterwit.streams.arrow_ipc import ArrowReader as reader  # noqa: N813

    def open_one(path: str) -> TableReader:
        copy = copies.get(path)
        return reader(path) if copy is None else reader(copy, copy.name)

    return open_one
