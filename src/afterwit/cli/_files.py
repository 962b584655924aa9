"""The files a command reads and writes."""

from __future__ import annotations

import os
import sys
from typing import Any, BinaryIO

import numpy.typing as npt

from afterwit.errors import invalid


def write_labels(file: BinaryIO, labels: npt.NDArray[Any]) -> None:
    """Labels to a predictions file, one a line."""
    file.write("".join(f"{label}\n" for label in labels.tolist()).encode())


def distinct_files(**paths: str | None) -> None:
    """Refuse to write over what is read, or two results into one file."""
    seen: dict[Any, str] = {}
    for name, path in paths.items():
        if path is None:
            continue
        is_input = name.isupper()
        shown = name if is_input else f"--{name}"
        if path == "" or (path == "-" and not is_input):
            raise invalid(shown, "the name of a file", path)
        place = _identity(path)
        if place in seen and not is_input:
            raise invalid(shown, f"another file than {seen[place]}", path)
        seen[place] = shown


def _identity(path: str) -> Any:
    """What tells one file from another, under whatever name; standard input may be a file as well."""
    try:
        status = os.fstat(sys.stdin.fileno()) if path == "-" else os.stat(path)
    except (OSError, ValueError, AttributeError):
        return os.path.abspath(path)
    return (status.st_dev, status.st_ino)
