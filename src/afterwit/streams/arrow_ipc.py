"""Arrow IPC: streams, and files as Feather version 2 has them, read by nanoarrow.

nanoarrow does not know all of the format. Most of what it does not know it refuses, but the values of a dictionary that
are compressed it takes as they are, and on a corrupt dictionary it crashes. So dictionaries are refused here: the
messages of the file are looked through first, which reads no data.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from nanoarrow.ipc import InputStream

from afterwit.errors import StreamError
from afterwit.streams._database import reason
from afterwit.streams._files import regular_file
from afterwit.streams._parts import Part, PartsReader
from afterwit.streams.arrow import ArrowParts

#: How an IPC file begins, with two bytes that align what follows: a stream, and after its end an index.
MAGIC = b"ARROW1\0\0"
END = b"ARROW1"
#: How a message begins.
CONTINUATION = 0xFFFFFFFF
#: No description of a message is longer.
LONGEST_MESSAGE = 1 << 28
#: No message has more rows: nanoarrow would count their bytes beyond 64 bits.
MOST_ROWS = 1 << 31
#: What a message holds that is a dictionary, or rows.
DICTIONARY = 2
RECORD_BATCH = 3
REMEDY = "write the table as Parquet, which is read as it is"


class ArrowReader(PartsReader):
    """A `TableReader` of one file with Arrow data, a stream or a file with an index.

    name  what messages call the file, if not by its path
    """

    def __init__(self, path: str | os.PathLike[str], name: str | None = None) -> None:
        # A copy is removed with its object: it has to be there until this reader is closed.
        self._kept: str | os.PathLike[str] | None = path
        self._path = os.fspath(path)
        self.name = name or self._path
        self._state = regular_file(self._path)
        try:
            self._file = Path(self._path).open("rb")  # noqa: SIM115 - closed by close()
        except OSError as error:
            raise StreamError(f"cannot be read ({error.strerror or error})", path=self.name) from None
        try:
            begin = self._look_through()
            self._file.seek(begin)
            self._stream = ArrowParts(
                self.name, InputStream.from_readable(self._file), self._explain, dictionaries=False
            )
            super().__init__(self.name, self._stream.columns(), size=self._state[0])
        except BaseException:
            self._kept = None
            self._file.close()
            raise

    @property
    def position(self) -> int:
        return self._state[0] if self._file.closed else self._file.tell()

    def close(self) -> None:
        super().close()
        self._kept = None
        self._stream.close()
        self._file.close()

    def _parts(self) -> Iterator[Part]:
        for part in self._stream:
            self._same_file()
            yield part
        self._same_file()

    def _look_through(self) -> int:
        """Where the first message begins, after a look at all of them."""
        begin = len(MAGIC) if self._file.read(len(MAGIC)) == MAGIC else 0
        if begin:
            # Without its end it may lack rows, and nothing else would say so.
            self._file.seek(-min(len(END), self._state[0]), os.SEEK_END)
            if self._file.read() != END:
                raise self._refused("it is truncated")
        self._file.seek(begin)
        size = self._state[0]
        try:
            while (kind := _next_message(self._file, size)) is not None:
                if kind == DICTIONARY:
                    raise self._refused("a dictionary, as columns of categories have, is not read safely by nanoarrow")
        except (struct.error, IndexError, ValueError) as error:
            if isinstance(error, StreamError):
                raise
            found = "the file is empty" if size == 0 else str(error) if type(error) is ValueError else "it is corrupt"
            raise self._refused(found) from None
        return begin

    def _refused(self, found: str) -> StreamError:
        return StreamError(f"it cannot be read as Arrow data ({found}); {REMEDY}", path=self.name)

    def _explain(self, error: Exception) -> StreamError:
        self._same_file()
        return self._refused(reason(error))

    def _same_file(self) -> None:
        if regular_file(self._path) != self._state:
            raise StreamError("the file has changed while it was read; read it again", path=self.name)


def _next_message(file: BinaryIO, size: int) -> int | None:
    """What a message holds, after which the file is at the next one; None at the end of the stream."""
    head = file.read(8)
    if not head:
        return None
    continuation, length = struct.unpack("<II", head)
    if continuation != CONTINUATION:
        raise ValueError("it is not Arrow data, or of an early version")
    if length == 0:
        return None
    described = file.read(length) if length <= LONGEST_MESSAGE else b""
    if len(described) < length:
        raise ValueError("it is truncated or corrupt")
    message = _table(described, 0)
    kind = described[message[1]] if message[1] else 0
    body = struct.unpack_from("<q", described, message[3])[0] if message[3] else 0
    if body < 0 or file.tell() + body > size:
        raise ValueError("it is truncated or corrupt")
    if kind == RECORD_BATCH:
        _check_batch(described, _table(described, message[2]), body)
    file.seek(body, os.SEEK_CUR)
    return kind


def _check_batch(described: bytes, batch: list[int], body: int) -> None:
    """Refuse columns that say of themselves what cannot be: nanoarrow would read outside of its memory."""
    rows = struct.unpack_from("<q", described, batch[0])[0] if batch[0] else 0
    nodes, buffers = _pairs(described, batch[1]), _pairs(described, batch[2])
    sound = all(0 <= missing <= length <= MOST_ROWS for length, missing in nodes)
    sound = sound and all(begin >= 0 and length >= 0 and begin + length <= body for begin, length in buffers)
    if not 0 <= rows <= MOST_ROWS or not sound:
        raise ValueError("it is corrupt: a column is said to be where there is no data")


def _pairs(content: bytes, pointer: int) -> Iterator[tuple[int, int]]:
    """The elements of a FlatBuffers vector of pairs of whole numbers; none if it is not there."""
    if not pointer:
        return iter(())
    vector = pointer + struct.unpack_from("<I", content, pointer)[0]
    count = struct.unpack_from("<I", content, vector)[0]
    pairs = content[vector + 4 : vector + 4 + 16 * count]
    if len(pairs) < 16 * count:
        raise ValueError("it is truncated or corrupt")
    return struct.iter_unpack("<qq", pairs)


def _table(content: bytes, pointer: int) -> list[int]:
    """Where the first fields of a FlatBuffers table are that is pointed to; 0 for one that is not there."""
    table = pointer + struct.unpack_from("<I", content, pointer)[0]
    directory = table - struct.unpack_from("<i", content, table)[0]
    size = struct.unpack_from("<H", content, directory)[0]
    fields = struct.unpack_from(f"<{(size - 4) // 2}H", content, directory + 4)
    return [table + field if field else 0 for field in (*fields, 0, 0, 0, 0)][:4]
