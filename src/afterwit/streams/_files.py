"""Files that are read by others than us: whether they are there, and whether they are still the same."""

from __future__ import annotations

import os
import stat

from afterwit.errors import StreamError


def regular_file(path: str) -> tuple[int, int, int]:
    """Size, time of the last change, and number of a file; an error if there is none that can be read."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise StreamError("there is no such file", path=path or "''") from None
    except (OSError, ValueError) as error:
        raise StreamError(f"cannot be read ({getattr(error, 'strerror', None) or error})", path=path) from None
    if stat.S_ISDIR(status.st_mode):
        raise StreamError("a file was expected, and this is a directory; give the path of a file in it", path=path)
    if not stat.S_ISREG(status.st_mode):
        raise StreamError("a file on a disk was expected, not a pipe or a device; write a file first", path=path)
    return status.st_size, status.st_mtime_ns, status.st_ino
