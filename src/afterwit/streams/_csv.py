"""CSV text, plain or gzip, row by row: the one reader behind tables of numbers and payoff matrices."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from afterwit.errors import StreamError
from afterwit.streams._bytes import ByteSource

DELIMITERS = ",;\t"
CHUNK = 1 << 20


class CsvRows:
    """The rows of a source as lists of stripped cells, without empty lines; knows the line it is at.

    If no delimiter is given, it is that of comma, semicolon and tab which occurs most in the first line that is not
    blank.
    """

    def __init__(
        self, source: Any, delimiter: str | None = None, on_bytes: Callable[[int], None] | None = None
    ) -> None:
        self._source = ByteSource(source)
        self._delimiter = delimiter
        self._on_bytes = on_bytes
        self.name = self._source.name
        #: The line at which the row that was handed over last ends.
        self.line = 1

    def __iter__(self) -> Iterator[list[str]]:
        lines = self._lines()
        beginning = [""]
        while not beginning[-1].strip() and (line := next(lines, None)) is not None:
            beginning.append(line)
        delimiter = self._delimiter or max(DELIMITERS, key=beginning[-1].count)
        text = itertools.chain(beginning[1:], lines)
        reader = csv.reader(text, delimiter=delimiter, skipinitialspace=True, strict=True)
        try:
            for cells in reader:
                self.line = reader.line_num
                if cells:
                    yield [cell.strip() for cell in cells]
        except csv.Error as error:
            at = max(1, reader.line_num)
            raise StreamError(f"CSV text was expected ({error})", path=self.name, line=at) from None

    def _lines(self) -> Iterator[str]:
        """Lines with their ends, of any kind; decoded one by one, so that a mistake has its line."""
        content = io.BufferedReader(_Content(self._source, self._on_bytes), CHUNK)
        raw = (line for part in content for line in part.splitlines(keepends=True))
        for number, line in enumerate(raw, 1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                reason = "UTF-8 text was expected, found other bytes"
                raise StreamError(reason, path=self.name, line=number) from None

    def __enter__(self) -> CsvRows:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._source.close()


def number_in(cell: str) -> float | None:
    """The number that a cell holds, None if it is something else: Python would also read 1_000."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


class _Content(io.RawIOBase):
    """A source of bytes as a file that reports how far it has come."""

    def __init__(self, source: ByteSource, on_bytes: Callable[[int], None] | None) -> None:
        self._source = source
        self._on_bytes = on_bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._source.read(len(buffer))
        buffer[: len(content)] = content
        if self._on_bytes is not None:
            self._on_bytes(self._source.position)
        return len(content)
