"""The zip archive of a model file, read within limits: nothing is unpacked before its size is known and allowed.

Only members that are asked for are read, each once. A member may be no larger than what is left of the room; the room
is 256 MiB, or a hundred times the size of the file where that is more.
"""

from __future__ import annotations

import io
import json
import math
import os
import stat
import zipfile
from types import TracebackType
from typing import Any

import numpy as np

from afterwit.errors import InputError, ModelFileError, invalid

#: The room for what is read, if it is not given: at least so many bytes, or so many times the size of the file.
LEAST_ROOM = 2**28
TIMES_THE_FILE = 100
#: The same for text, which takes more memory when it is read.
LEAST_ROOM_FOR_TEXT = 2**23
TIMES_THE_COMPRESSED = 50
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Archive:
    """A model file that is open for reading; every error is a `ModelFileError` that names the file."""

    def __init__(self, path: str, max_bytes: int | None = None) -> None:
        self.name = path
        try:
            status = os.stat(path)
            if not stat.S_ISREG(status.st_mode):
                reason = "it is a directory" if stat.S_ISDIR(status.st_mode) else "it is not a regular file"
                raise ModelFileError(f"{path}: cannot be read ({reason})")
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError:
            raise ModelFileError(f"{path}: there is no such file") from None
        except OSError as error:
            raise ModelFileError(f"{path}: cannot be read ({error.strerror or error})") from None
        except ModelFileError:
            raise
        except Exception:  # zipfile has many ways to say "corrupt"
            raise self._unreadable() from None
        self._given = max_bytes
        self.room = max_bytes or max(LEAST_ROOM, TIMES_THE_FILE * status.st_size)
        self._read: set[str] = set()

    def text(self, name: str) -> Any:
        """The content of a member that is JSON."""
        try:
            member = self._zip.getinfo(name)
        except KeyError:
            raise ModelFileError(f"{self.name}: is not an afterwit model file (it has no {name})") from None
        most = self._given or max(LEAST_ROOM_FOR_TEXT, TIMES_THE_COMPRESSED * member.compress_size)
        self.take(name, member.file_size, most)
        content = self._content(member)
        try:
            return json.loads(content, parse_constant=_no_number, parse_float=_finite)
        except (ValueError, RecursionError):
            raise self._unreadable() from None

    def array(self, name: str, field: str) -> Any:
        """The array in a member; ``field`` is what it is for, in messages."""
        try:
            member = self._zip.getinfo(f"{name}.npy")
        except KeyError:
            raise InputError(f"{field}: the file has no array {name!r}") from None
        if name in self._read:
            raise InputError(f"{field}: the array {name!r} belongs to another value too")
        self._read.add(name)
        self.take(field, member.file_size)
        file = io.BytesIO(self._content(member))
        try:
            if np.lib.format.read_magic(file) != (1, 0):
                raise ValueError
            shape, in_columns, dtype = np.lib.format.read_array_header_1_0(file)
        except Exception:  # numpy's own ways to say "corrupt"
            raise self._unreadable() from None
        # What it says of itself must be what there is, before anything is made of that size.
        expected = math.prod(shape) * dtype.itemsize
        if dtype.kind not in "biuf" or dtype.itemsize > 8 or in_columns or member.file_size - file.tell() != expected:
            raise invalid(field, "an array of numbers that is as long as it says", name)
        array = np.frombuffer(file.getbuffer(), dtype, offset=file.tell()).reshape(shape).copy()
        if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
            raise invalid(field, "an array of booleans", name)
        if dtype.kind == "f" and not np.isfinite(array).all():
            at = np.unravel_index(int(np.argmin(np.isfinite(array))), shape)
            raise invalid(field, "finite numbers", array[at].item())
        return array

    def take(self, field: str, size: int, most: int | None = None) -> None:
        """Use some of the room."""
        allowed = self.room if most is None else min(self.room, most)
        if size > allowed:
            remedy = "if you trust the file, load(path, max_bytes=...) allows more"
            raise ModelFileError(f"{self.name}: {field} needs {size:,} bytes, more than the {allowed:,} left; {remedy}")
        self.room -= size

    def _content(self, member: zipfile.ZipInfo) -> bytes:
        """What a member holds: never more than it says."""
        if member.compress_type not in METHODS:
            raise self._unreadable()
        try:
            with self._zip.open(member) as file:
                content = file.read(member.file_size)
                # Only at the end is the sum checked.
                if len(content) < member.file_size or file.read(1):
                    raise EOFError
        except OSError as error:
            raise ModelFileError(f"{self.name}: cannot be read ({error.strerror or error})") from None
        except Exception:  # zipfile and zlib each have their own ways to say "corrupt"
            raise self._unreadable() from None
        return content

    def _unreadable(self) -> ModelFileError:
        reason = "it is truncated, corrupt, or another kind of file"
        return ModelFileError(f"{self.name}: is not a readable afterwit model file ({reason})")

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()


def _no_number(text: str) -> Any:
    """NaN and Infinity, which JSON does not have."""
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
