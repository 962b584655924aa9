"""The files a command reads and writes."""

from __future__ import annotations

import os
import sys
from typing import Any, BinaryIO

import numpy.typing as npt

from afterwit.errors import invalid


def write_labels(file: BinaryIO, labels: npt.NDArray[Any]) -> None:
    """Write labels to a predictions file, one per line."""
    file.write("".join(f"{label}\n" for label in labels.tolist()).encode())


def distinct_files(results: tuple[str, ...] = (), **paths: str | None) -> None:
    """Refuse to overwrite an input, or to write two results to one file.

    The options in ``results`` may also name standard output, as "-".
    """
    seen: dict[Any, str] = {}
    for name, path in paths.items():
        if path is None:
            continue
        is_input = name.isupper()
        shown = name if is_input else f"--{name}"
        if path == "-" and name in results:
            continue
        if path == "" or (path == "-" and not is_input):
            raise invalid(shown, "a file name", path)
        place = _identity(path)
        if place in seen and not is_input:
            raise invalid(shown, f"a different file from {seen[place]}", path)
        seen[place] = shown


def _identity(path: str) -> Any:
    """What identifies a file under any of its names; standard input may be a file too."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
    except (OSError, ValueError, AttributeError):
        return os.path.abspath(path)
    return (status.st_dev, status.st_ino)
