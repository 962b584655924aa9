"""Files in pieces that are read apart: text from line to line, Parquet files by row groups, all others whole.

`cut` says, in plain data, who reads what; `Pieces` opens it anywhere. What all of them have to agree on, such as the
schema and the labels, was decided by whoever read the first rows, and is part of it. Lines are counted from the
beginning of the file, so that messages name the line of the file.

A cell in quotes may hold the end of a line. So a piece of CSV text may begin inside of a cell only if the piece before
it ends inside of that cell, which is an error there: nothing is read wrongly in silence.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from afterwit.errors import StreamError, Words, counted, shorten
from afterwit.streams._bytes import GZIP_MAGIC, ZSTD_MAGIC
from afterwit.streams._csv_cells import RowEnds
from afterwit.streams._raw import FilesOfLines, Raw, RawReader, RecordReader
from afterwit.streams.batch import ROWS_TO_LOOK_AT, Skipped, TableReader
from afterwit.streams.csv_text import CsvReader
from afterwit.streams.formats import LINES, delimiter_of_name
from afterwit.streams.parquet import ParquetReader, row_groups
from afterwit.streams.schema import Schema
from afterwit.streams.sources import Dialect, opener, source_of
from afterwit.streams.stream import Stream
from afterwit.streams.target import Target

#: How much is read at a time to find the end of a line, or to count lines.
CHUNK = 1 << 16
#: Formats of which a part can be read.
TEXT = (*LINES, "csv", "json")
REMEDY = "cells with line breaks can be read in whole files only (give several files, or one shard)"
BORDER_IN_A_CELL = f"; the file is read in pieces, and a piece ends inside of this cell: {REMEDY}"


@dataclass(frozen=True)
class Piece:
    """A file, or a part of it: bytes of text, rows of a table.

    The path is absolute, for whoever reads it may be elsewhere; ``name`` is what messages call the file.
    """

    path: str
    name: str = ""
    begin: int = 0
    #: None: up to its end.
    end: int | None = None
    #: How the columns of CSV text are called, where it begins behind the header, and what separates them.
    names: tuple[str, ...] | None = None
    delimiter: str | None = None
    #: About how many bytes there are to read.
    size: int = 0

    @property
    def whole(self) -> bool:
        return self.begin == 0 and self.end is None


@dataclass(frozen=True)
class Pieces:
    """What is read one after the other, as a stream; plain data that another process can open."""

    name: str
    format: str
    dialect: Dialect
    schema: Schema
    target: Target | None
    task: str | None
    labels: tuple[Any, ...] | None
    pieces: tuple[Piece, ...] = ()

    @classmethod
    def of(cls, stream: Stream) -> Pieces:
        """What all pieces of a stream share, and none of them."""
        assert stream.source is not None
        source = stream.source
        return cls(stream.name, source.format, source.dialect, stream.schema, stream.target, stream.task, stream.labels)

    def stream(self, data: Any = None) -> Stream:
        """The rows of the pieces; or, if data are given, of a table in memory."""
        if data is None:
            return self._stream(lambda: _PiecesReader(self))

        def opened() -> RawReader:
            table = source_of(data, None, self.dialect, None).table
            assert table is not None
            return self._through_schema(table(), self.name)

        return self._stream(opened)

    def _stream(self, opened: Callable[[], RawReader]) -> Stream:
        size = sum(piece.size for piece in self.pieces)
        return Stream(self.name, self.schema, self.task, self.labels, opened, self.format, size)

    def open(self, piece: Piece) -> RawReader:
        """One pass over a piece."""
        if self.format in LINES:
            return FilesOfLines(lambda _: self._lines(piece), [piece.path], self.schema)
        if self.format == "parquet":
            rows = None if piece.whole else (piece.begin, piece.end or 0)
            return self._through_schema(ParquetReader(piece.path, rows), piece.path)
        dialect = self.dialect
        if piece.delimiter is not None:
            if dialect.on_error == "skip" and dialect.quotes and not piece.whole:
                # Else the end of the cell would be left out as a bad row, and what is in it taken for rows.
                _require_end_of_row(piece)
            dialect = replace(dialect, names=piece.names if piece.begin else dialect.names, delimiter=piece.delimiter)
        reader = opener(self.format, dialect)(piece.path if piece.whole else _part(piece))
        return self._through_schema(reader, piece.path)

    def _lines(self, piece: Piece) -> Any:
        from afterwit.streams.libsvm import LibsvmReader
        from afterwit.streams.vw import VwReader

        source = piece.path if piece.whole else _part(piece)
        if self.format == "libsvm":
            return LibsvmReader(source, self.dialect.first_id, on_error=self.dialect.on_error)
        reader = VwReader(source, on_error=self.dialect.on_error)
        reader.counts = False
        return reader

    def _through_schema(self, reader: TableReader, path: str) -> RawReader:
        try:
            look = reader.look(ROWS_TO_LOOK_AT)
            extra = [name for name in look.columns if name not in self.schema.known]
            if extra and look.count:
                these = shorten(Words(", ".join(extra)), 200)
                reason = f"{counted(len(extra), 'column')} not in the first file: {these}; leave out with --ignore"
                raise StreamError(reason, path=path)
            return RecordReader(reader, self.schema, self.target)
        except BaseException:
            reader.close()
            raise


class _PiecesReader:
    """Pieces one after the other, with the lines of their files."""

    def __init__(self, pieces: Pieces) -> None:
        self._opener = pieces
        self._left = list(pieces.pieces)
        self._piece: Piece | None = None
        self._reader: RawReader | None = None
        self._past = Skipped()
        self._before = 0
        self._lines: int | None = None

    @property
    def skipped(self) -> Skipped:
        return self._past if self._reader is None else self._past.and_then(self._reader.skipped)

    @property
    def position(self) -> int:
        return self._before + (0 if self._reader is None else int(self._reader.position))

    def take(self, count: int) -> Raw | None:
        while True:
            if self._reader is None:
                if not self._left:
                    return None
                self._piece, self._lines = self._left.pop(0), None
                self._reader = self._guarded(lambda: self._opener.open(self._piece_now))
            raw = self._guarded(self._reader.take, count)
            if isinstance(raw, Raw):
                return replace(raw, place=self._placed(raw))
            self.close()

    @property
    def _piece_now(self) -> Piece:
        assert self._piece is not None
        return self._piece

    def _guarded(self, act: Callable[..., Any], *arguments: Any) -> Any:
        """Do it; an error names the line of the file."""
        piece = self._piece_now
        try:
            return act(*arguments)
        except StreamError as error:
            message = error.message
            if not piece.whole and "a quoted cell begins here and does not end" in message:
                message += BORDER_IN_A_CELL
            line = error.line if error.line is None else error.line + self._lines_before()
            raise StreamError(message, path=self._called(error.path), line=line) from None

    def _placed(self, raw: Raw) -> Callable[[int], dict[str, Any]]:
        def place(i: int) -> dict[str, Any]:
            found = {**raw.place(i)}
            found["path"] = self._called(found["path"])
            return {**found, "line": found["line"] + self._lines_before()} if "line" in found else found

        return place

    def _called(self, path: str) -> str:
        """What messages call the file; a row of a table is named behind its path."""
        piece = self._piece_now
        return piece.name + path[len(piece.path) :] if path.startswith(piece.path) else path

    def _lines_before(self) -> int:
        """How many lines of the file come before this piece; counted when somebody asks."""
        if self._lines is None:
            piece = self._piece_now
            self._lines = 0 if self._opener.format not in TEXT else _count_lines(piece.path, piece.begin)
        return self._lines

    def close(self) -> None:
        if self._reader is not None:
            self._past = self.skipped
            self._before += self._piece_now.size
            self._reader.close()
            self._reader = None


class _Range(io.RawIOBase):
    """Some bytes of a file, as a file."""

    def __init__(self, path: str, begin: int, end: int) -> None:
        self.name = path
        try:
            self._file = Path(path).open("rb")  # noqa: SIM115 - closed by close()
        except OSError as error:
            raise StreamError(f"cannot be read ({error.strerror or error})", path=path) from None
        self._begin, self._end = begin, end
        self._file.seek(begin)

    def read(self, size: int = -1) -> bytes:
        left = self._end - self._file.tell()
        return self._file.read(left if size < 0 else min(size, left)) if left > 0 else b""

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._file.tell() - self._begin

    def seek(self, offset: int, whence: int = 0) -> int:
        assert whence == 0
        return self._file.seek(self._begin + offset) - self._begin

    def close(self) -> None:
        self._file.close()
        super().close()


def _part(piece: Piece) -> _Range:
    assert piece.end is not None
    return _Range(piece.path, piece.begin, piece.end)


def _require_end_of_row(piece: Piece) -> None:
    """Refuse a piece of CSV text that ends inside of a cell."""
    ends = RowEnds(ord(piece.delimiter or ","), True)
    with closing(_part(piece)) as part:
        while chunk := part.read(CHUNK):
            ends.last(chunk)
    if ends.in_quotes:
        reason = f"the file is read in pieces, and a piece ends inside of a cell in quotes: {REMEDY}"
        raise StreamError(reason, path=piece.path)


def _count_lines(path: str, end: int) -> int:
    with Path(path).open("rb") as file:
        return sum(file.read(min(CHUNK, end - at)).count(b"\n") for at in range(0, end, CHUNK))


# ---------------------------------------------------------------------- who reads what


def cut(stream: Stream, count: int) -> list[Pieces]:
    """The files of a stream in ``count`` parts of about the same size, in order; some may be empty.

    The parts depend on the files and on ``count`` alone.
    """
    shared = Pieces.of(stream)
    assert stream.source is not None
    paths = stream.source.paths
    sizes = [os.path.getsize(path) for path in paths]
    total = sum(sizes)
    wanted = [total * i // count for i in range(1, count)]
    parts: list[list[Piece]] = [[]]
    at = 0
    for path, size in zip(paths, sizes, strict=True):
        inside = [place - at for place in wanted if at < place < at + size]
        for number, piece in enumerate(_pieces_of(shared, path, size, inside)):
            if number:
                parts.append([])
            if piece is not None:
                parts[-1].append(piece)
        at += size
        # Where a part ends with the file.
        parts += [[] for place in wanted if place == at]
    return [replace(shared, pieces=tuple(part)) for part in parts]


def _pieces_of(shared: Pieces, path: str, size: int, inside: Sequence[int]) -> list[Piece | None]:
    """A file in pieces, each for a part of its own; None where there is nothing for it."""
    path, name = os.path.abspath(path), path
    whole = Piece(path, name, size=size)
    end, scale, more = size, 1.0, whole
    if not inside:
        return [whole]
    if shared.format == "parquet":
        groups = row_groups(path)
        end, scale = groups[-1], size / max(1, groups[-1])
        chosen = [min((each for each in groups if each * size >= place * end), default=end) for place in inside]
    elif shared.format not in TEXT or _is_packed(path):
        chosen = [0 if 2 * place <= size else size for place in inside]
    else:
        least = 0
        if shared.format == "csv":
            names, delimiter, least = _header(shared, path)
            more = replace(whole, names=names, delimiter=delimiter)
        chosen = [_line_at(path, max(place, least), size) for place in inside]
    return [
        None
        if start == stop
        else whole
        if (start, stop) == (0, end)
        else replace(more, begin=start, end=stop, size=round(scale * (stop - start)))
        for start, stop in pairwise([0, *chosen, end])
    ]


def _is_packed(path: str) -> bool:
    with Path(path).open("rb") as file:
        head = file.read(len(ZSTD_MAGIC))
    return head.startswith(GZIP_MAGIC) or head == ZSTD_MAGIC


def _header(shared: Pieces, path: str) -> tuple[tuple[str, ...] | None, str, int]:
    """The columns of CSV text, what separates them, and where its rows begin."""
    dialect = shared.dialect
    with CsvReader(
        path,
        delimiter=dialect.delimiter or delimiter_of_name(path),
        quotes=dialect.quotes,
        names=dialect.names,
        any_names=dialect.any_names,
    ) as reader:
        return tuple(reader.names), reader.delimiter, reader.header_bytes


def _line_at(path: str, place: int, size: int) -> int:
    """Where the first line begins that does not begin before the place."""
    if place <= 0:
        return 0
    with Path(path).open("rb") as file:
        at = place - 1
        file.seek(at)
        while chunk := file.read(CHUNK):
            found = chunk.find(b"\n")
            if found >= 0:
                return min(size, at + found + 1)
            at += len(chunk)
    return size
