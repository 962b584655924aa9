"""CSV text, plain or gzip, row by row: the one reader behind tables of numbers and payoff matrices."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from afterwit.errors import StreamError
from afterwit.streams._bytes import LONGEST_LINE, ByteSource

DELIMITERS = ",;\t"
BLOCK = 1 << 20


class CsvRows:
    """The rows of a source as lists of stripped cells, without empty lines; knows the line it is at.

    If no delimiter is given, it is that of comma, semicolon and tab which occurs most in the first line that is not
    blank, outside of quotes.
    """

    def __init__(
        self, source: Any, delimiter: str | None = None, on_bytes: Callable[[int], None] | None = None
    ) -> None:
        self._source = ByteSource(source, kept=True)
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
        unquoted = "".join(beginning[-1].split('"')[::2])
        delimiter = self._delimiter or max(DELIMITERS, key=unquoted.count)
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
        for number, line in enumerate(self._raw_lines(), 1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                reason = "UTF-8 text was expected, found other bytes"
                raise StreamError(reason, path=self.name, line=number) from None

    def _raw_lines(self) -> Iterator[bytes]:
        """The lines as bytes; at most one block and the line it begins in the middle of are in memory."""
        number, rest = 1, bytearray()
        while block := self._source.read(BLOCK):
            if self._on_bytes is not None:
                self._on_bytes(self._source.position)
            ends = b"\n" in block or b"\r" in block or rest.endswith(b"\r")
            rest += block
            if ends:
                lines = bytes(rest).splitlines(keepends=True)
                # What ends with a carriage return may be about to end with a line feed.
                rest = bytearray() if lines[-1].endswith(b"\n") else bytearray(lines.pop())
                number += len(lines)
                yield from lines
            if len(rest) > LONGEST_LINE:
                raise StreamError(f"found a line longer than {LONGEST_LINE:,} bytes", path=self.name, line=number)
        yield from bytes(rest).splitlines(keepends=True)

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
