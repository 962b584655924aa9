"""Formats that are read here and there, not from the beginning on: pipes and packed files are copied first."""

from __future__ import annotations

import os
import tempfile
import weakref
from io import RawIOBase
from typing import Any

from afterwit.errors import StreamError
from afterwit.streams._bytes import ByteSource, source_name


def needs_copy(source: Any) -> bool:
    """Whether others than us cannot read this as a file: standard input, and what is packed."""
    if source == "-":
        return True
    with ByteSource(source) as file:
        return file.is_packed


class UnpackedCopy:
    """What a source holds, unpacked, as a file on the disk. It is removed with this object, or with the process."""

    def __init__(self, source: Any) -> None:
        self.name = source_name(source)
        try:
            number, self.path = tempfile.mkstemp(prefix="afterwit-")
        except OSError as error:
            raise _no_room(error, self.name) from None
        remove = weakref.finalize(self, _remove, self.path)
        try:
            # Like all that is kept: a small file that unpacks to a whole disk is refused.
            with ByteSource(source, kept=True) as file, os.fdopen(number, "wb", buffering=0) as copy:
                _copy(file, copy, self.name)
        except BaseException:
            remove()
            raise
        self.size = os.path.getsize(self.path)

    def __fspath__(self) -> str:
        return self.path


def _copy(file: ByteSource, copy: RawIOBase, name: str) -> None:
    while part := memoryview(file.read(1 << 20)):
        while part:
            try:
                part = part[copy.write(part) :]
            except OSError as error:
                raise _no_room(error, name) from None


def _no_room(error: OSError, name: str) -> StreamError:
    reason = f"it cannot be copied to a temporary file ({error.strerror or error})"
    return StreamError(f"{reason}; TMPDIR names a folder with more room", path=name)


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
