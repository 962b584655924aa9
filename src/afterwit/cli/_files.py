"""The files a command reads and writes."""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, BinaryIO

import numpy.typing as npt

from afterwit.errors import StreamError, invalid
from afterwit.streams.formats import paths_of


def write_labels(file: BinaryIO, labels: npt.NDArray[Any]) -> None:
    """Write labels to a predictions file, one per line."""
    file.write("".join(f"{label}\n" for label in labels.tolist()).encode())


def files_read(files: Sequence[str], query: str | None) -> list[str]:
    """All files that these arguments name, also in folders and by patterns; of a query, those in quotes."""
    found: list[str] = []
    for file in files:
        # What names no file is refused by whoever reads it.
        with suppress(StreamError):
            found += paths_of(file)
    for text in re.findall("""['"]([^'"]+)['"]""", query or ""):
        found += [path for path in glob.glob(text) if os.path.isfile(path)]
    return found or list(files)


def distinct_files(results: tuple[str, ...] = (), **paths: str | Sequence[str] | None) -> None:
    """Refuse to overwrite an input, of which there may be several, or to write two results to one file.

    The options in ``results`` may also name standard output, as "-".
    """
    seen: dict[Any, str] = {}
    every = [(name, each) for name, path in paths.items() for each in ([path] if isinstance(path, str) else path or ())]
    for name, path in every:
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
