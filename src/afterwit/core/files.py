"""Files that take their place only when they are complete and on the disk.

The new content goes to a temporary file beside the target. It is flushed to the disk, then takes the target's name in
one step, and the directory is flushed too: after a power failure there is the old file or the whole new one. The
temporary file is locked for as long as its process works on it. One that nobody has locked is what a killed process has
left behind: the next write to the same target removes it.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from afterwit.errors import InputError

try:
    import fcntl
except ImportError:  # Windows does not remove a file that is open: there a lock is not needed
    fcntl = None  # type: ignore[assignment]

#: What a file system says that cannot flush a directory.
CANNOT_FLUSH = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


class _TargetFile(io.FileIO):
    """A file whose write errors name the file it is to become."""

    target: Path

    def write(self, content: Any, /) -> int:
        try:
            return super().write(content)
        except OSError as error:
            raise _unwritable(self.target, error) from None


@contextmanager
def new_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file that takes its place only when it is complete: at every moment the old one or the whole new one."""
    try:
        target = Path(path).resolve()
        mode = _mode_for(target)
        _remove_abandoned(target)
        descriptor, temporary, lock = _temporary_for(target)
    except (OSError, RuntimeError, ValueError) as error:  # the last two: links in a circle, a name with a null byte
        raise _unwritable(Path(path), error) from None
    try:
        raw = _TargetFile(descriptor, "r+b")
        raw.target = Path(path)
        with io.BufferedRandom(raw) as file:
            yield file
            file.flush()
            try:
                os.fsync(descriptor)
            except OSError as error:
                raise _unwritable(Path(path), error) from None
        try:
            temporary.chmod(mode)
            temporary.replace(target)
            _flush_directory(target.parent)
        except OSError as error:
            raise _unwritable(Path(path), error) from None
    finally:
        temporary.unlink(missing_ok=True)
        if lock is not None:
            os.close(lock)


def require_writable(path: str | os.PathLike[str]) -> None:
    """Say what is wrong if no new file could take this place; nothing is written."""
    with suppress(_NothingToWriteError), new_file(path):
        raise _NothingToWriteError


class _NothingToWriteError(Exception):
    """It was only tried."""


def _beginning(target: Path) -> str:
    """How the names of all temporary files for this target begin: short, whatever the name of the target."""
    return f".afterwit-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:16]}-"


def _temporary_for(target: Path) -> tuple[int, Path, int | None]:
    """A locked temporary file beside the target: its descriptor, its path, and what holds the lock until closed."""
    while True:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=_beginning(target))
        if fcntl is None:
            return descriptor, Path(name), None
        # Closing the file must not give up the lock before it has its name: a second descriptor keeps it.
        lock = os.dup(descriptor)
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        if os.fstat(lock).st_nlink:
            return descriptor, Path(name), lock
        # Another process took it for abandoned before it was locked.
        os.close(descriptor)
        os.close(lock)


def _remove_abandoned(target: Path) -> None:
    """Remove the temporary files for this target that no process is working on."""
    if fcntl is None:
        return
    beginning = _beginning(target)
    with suppress(OSError):  # a directory that may be written but not listed
        for entry in [entry for entry in os.scandir(target.parent) if entry.name.startswith(beginning)]:
            with suppress(OSError):  # removed meanwhile, or locked
                descriptor = os.open(entry.path, os.O_RDWR | os.O_NOFOLLOW)
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    os.unlink(entry.path)
                finally:
                    os.close(descriptor)


def _flush_directory(directory: Path) -> None:
    try:
        descriptor = os.open(directory, os.O_RDONLY)
    except PermissionError:  # a directory that may be written but not read; and every one on Windows
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in CANNOT_FLUSH:
            raise
    finally:
        os.close(descriptor)


def _mode_for(target: Path) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    if target.exists():
        if not target.is_file():
            raise OSError(0, "it is not a regular file")
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _unwritable(path: Path, error: Exception) -> InputError:
    return InputError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})")
