"""Bytes from a file, plain, gzip or zstd, or from standard input, in blocks; knows how far it has come.

A few kilobytes of packed data can unpack to gigabytes. Whoever keeps what is read in memory says so, and is protected
from it.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import sys
import zlib
from pathlib import Path
from types import TracebackType
from typing import Any

from afterwit.errors import StreamError, invalid

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
#: So much of zstd data is unpacked at once: a piece of this length holds at most 32 MiB.
PIECE = 1 << 10
#: So much is taken from a pipe at once, or what has arrived.
PIPE = 1 << 16
#: A line this long is not a line of a data file.
LONGEST_LINE = 1 << 28
#: What is kept in memory may unpack to so many bytes, and beyond them to so many times the size of the file.
FREELY_UNPACKED = 1 << 22
TIMES_THE_FILE = 100
#: What to say of text in another encoding.
NOT_UTF8 = "UTF-8 text was expected, found other bytes (iconv -f LATIN1 -t UTF-8 FILE > NEW converts Latin 1)"


class ByteSource:
    """Reads a path, ``-`` for standard input, or a binary file object. Packed data are known by their content.

    kept  whether the caller keeps all of it in memory: then a file that unpacks to very much is refused
    """

    def __init__(self, source: Any, kept: bool = False) -> None:
        self.name = source_name(source)
        self.size: int | None = None
        self._owned = False
        self._raw = self._open(source)
        head = self._head()
        #: Whether data may come slowly, as from a pipe: ``read`` then hands over what has arrived.
        self.is_live = self.size is None and not (hasattr(self._raw, "seekable") and self._raw.seekable())
        self._packed: _Counted | None = None
        self._format = ""
        self._file: Any = self._raw
        if head.startswith(GZIP_MAGIC):
            self._format, self._packed = "gzip", _Counted(self._raw)
            self._file = gzip.GzipFile(fileobj=self._packed)  # type: ignore[call-overload]
        elif head == ZSTD_MAGIC:
            self._format, self._packed = "zstd", _Counted(self._raw)
            self._file = _Zstd(self._packed)
        self._kept = kept
        self._unpacked = 0

    def _head(self) -> bytes:
        """The first four bytes, without taking them."""
        try:
            if isinstance(self._raw, Beginning):
                head = self._raw.seen(4)[:4]
            elif hasattr(self._raw, "peek"):
                head = self._raw.peek(4)[:4]
            elif self._raw.seekable():
                beginning = self._raw.tell()
                head = self._raw.read(4)
                self._raw.seek(beginning)
            else:
                return b""
        except OSError as error:
            raise StreamError(f"cannot be read ({error.strerror or error})", path=self.name) from None
        if not isinstance(head, bytes):
            raise StreamError("a file opened for bytes was expected, not for text", path=self.name)
        return head

    def _open(self, source: Any) -> Any:
        if source == "-":
            return standard_input()
        if hasattr(source, "read"):
            return source
        if not isinstance(source, (str, os.PathLike)):
            raise invalid("source", 'a path, "-" for standard input, or a file opened for bytes', source)
        if os.fspath(source) == "":
            raise StreamError("the name of a file was expected", path="''")
        try:
            file = Path(source).open("rb")  # noqa: SIM115 - closed by close()
            status = os.fstat(file.fileno())
            self.size = status.st_size if stat.S_ISREG(status.st_mode) else None
        except FileNotFoundError:
            raise StreamError("there is no such file", path=self.name) from None
        except OSError as error:
            raise StreamError(f"cannot be read ({error.strerror or error})", path=self.name) from None
        self._owned = True
        return file

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes, b"" at the end."""
        try:
            # From a pipe, read1 hands over what has arrived: it is learned from without waiting for more.
            read = getattr(self._file, "read1", self._file.read) if self.is_live else self._file.read
            content: bytes = read(size)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            reason = f"the {self._format} data is truncated or corrupt ({error})"
            raise StreamError(reason, path=self.name) from None
        except OSError as error:
            raise StreamError(f"cannot be read ({error.strerror or error})", path=self.name) from None
        self._unpacked += len(content)
        if self._kept and self._packed is not None and self._unpacked > self._packed.allows():
            reason = (
                f"the {self._format} data unpacks to more than {TIMES_THE_FILE} times its size; unpack the file first"
            )
            raise StreamError(f"{reason}, if it is meant to be that large", path=self.name)
        return content

    @property
    def is_packed(self) -> bool:
        """Whether what is read is not what is in the file."""
        return self._packed is not None

    @property
    def position(self) -> int:
        """How many bytes of the file itself (not of what it unpacks to) have been taken."""
        # Counted, not asked for: to ask for it after every block would let other threads in each time.
        return self._unpacked if self._packed is None else self._packed.count

    def close(self) -> None:
        if self._file is not self._raw:
            self._file.close()
        if self._owned:
            self._raw.close()

    def __enter__(self) -> ByteSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Beginning:
    """A pipe whose beginning can be looked at without taking it, however little of it arrives at a time."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self._take = getattr(file, "read1", file.read)
        self._seen = b""
        self._ended = False

    def seen(self, size: int) -> bytes:
        """At least so many bytes, fewer only at the end: it waits for them. The next call has them too."""
        parts = [self._seen]
        length = len(self._seen)
        while length < size and (part := self._next(PIPE)):
            parts.append(part)
            length += len(part)
        self._seen = b"".join(parts)
        return self._seen

    def read1(self, size: int = -1) -> bytes:
        """At most ``size`` bytes that are there, b"" at the end."""
        if not self._seen:
            return self._next(PIPE if size < 0 else size)
        end = len(self._seen) if size < 0 else size
        taken, self._seen = self._seen[:end], self._seen[end:]
        return taken

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes, fewer only at the end."""
        parts = []
        while size and (part := self.read1(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def seekable(self) -> bool:
        return False

    def _next(self, size: int) -> bytes:
        # A terminal would go on after its end.
        part: bytes = b"" if self._ended else self._take(size)
        self._ended = not part and size > 0
        return part


#: What standard input was looked at with: whoever reads it next must have what was seen.
_looked_at: list[Beginning] = []


def standard_input() -> Any:
    """The bytes of standard input: the file itself if it is one, else a pipe whose beginning can be looked at."""
    if sys.stdin is None:
        raise StreamError("it is closed", path=source_name("-"))
    raw = sys.stdin.buffer
    if raw.seekable():
        return raw
    if not _looked_at or _looked_at[0].file is not raw:
        _looked_at[:] = [Beginning(raw)]
    return _looked_at[0]


class _Counted:
    """A file that counts what is read from it, which is what is there already."""

    def __init__(self, file: Any) -> None:
        self._take = getattr(file, "read1", file.read)
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        content: bytes = self._take(size)
        self.count += len(content)
        return content

    def allows(self) -> int:
        """How much may have been unpacked of what was read."""
        return max(FREELY_UNPACKED, TIMES_THE_FILE * self.count)


class _Zstd:
    """What zstd data unpack to, frame after frame."""

    def __init__(self, file: _Counted) -> None:
        self._file = file
        self._unpacker: Any = None
        self._packed = b""
        self._ready = b""

    def read1(self, size: int) -> bytes:
        """At most ``size`` bytes, and not more than can be had without waiting, b"" at the end."""
        from zstandard import ZstdDecompressor, ZstdError

        while not self._ready:
            piece = self._packed or self._file.read(PIECE)
            if not piece:
                if self._unpacker is not None:
                    raise EOFError("it ends in the middle of a frame")
                return b""
            if self._unpacker is None:
                self._unpacker = ZstdDecompressor().decompressobj()
            try:
                self._ready = self._unpacker.decompress(piece)
            except ZstdError as error:
                raise EOFError(str(error)) from None
            self._packed = b""
            if self._unpacker.eof:
                self._packed, self._unpacker = self._unpacker.unused_data, None
        taken, self._ready = self._ready[:size], self._ready[size:]
        return taken

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes, fewer only at the end."""
        parts = []
        while size and (part := self.read1(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        """The file is closed by whoever has opened it."""


def beginning_of_zstd(packed: bytes, size: int) -> bytes | None:
    """About the first ``size`` bytes that packed data unpack to, as far as they go; None if that is nothing."""
    unpacker = _Zstd(_Counted(io.BytesIO(packed)))
    found = b""
    try:
        while len(found) < size and (part := unpacker.read1(size)):
            found += part
    except EOFError:
        return found or None
    return found


def source_name(source: Any) -> str:
    """What to call a source in messages."""
    if source == "-":
        return "standard input"
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    return str(getattr(source, "name", "<stream>"))
