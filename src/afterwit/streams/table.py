"""Numbers from a CSV file, plain or gzip: a header with names, then a row of cells for each round.

The cells are separated by commas, semicolons or tabs, whichever the header has most of. A cell that is empty or says
NA, NaN, null or None is missing, and becomes NaN.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import StreamError, Words, shorten
from afterwit.streams._bytes import ByteSource

MISSING = frozenset(("", "na", "nan", "null", "none"))
#: A column is one of numbers if it is so in this many rows.
ROWS_TO_LOOK_AT = 1000
CHUNK = 1 << 20


@dataclass(frozen=True)
class Table:
    """Columns of numbers, by their names in the order of the file; ``skipped`` are those that are not numbers."""

    name: str
    names: tuple[str, ...]
    values: npt.NDArray[np.float64]
    skipped: tuple[str, ...]

    def column(self, name: str) -> npt.NDArray[np.float64]:
        column: npt.NDArray[np.float64] = self.values[:, self.names.index(name)]
        return column


def read_table(
    source: Any,
    columns: Sequence[str] | None = None,
    on_bytes: Callable[[int], None] | None = None,
    needed: str | None = None,
) -> Table:
    """Read the columns of those names, or all that hold numbers, among which ``needed`` has to be.

    Every mistake is reported with its line.
    """
    with ByteSource(source) as content:
        lines = io.TextIOWrapper(io.BufferedReader(_Content(content, on_bytes), CHUNK), "utf-8-sig", newline="")
        try:
            beginning = [lines.readline()]
            while beginning[-1] and not beginning[-1].strip():
                beginning.append(lines.readline())
            delimiter = _delimiter(beginning[-1])
            reader = csv.reader(itertools.chain(beginning, lines), delimiter=delimiter, strict=True)
            return _read(content.name, reader, columns, needed)
        except UnicodeDecodeError:
            # Text is decoded in blocks: the line is not known.
            raise StreamError("text in UTF-8 was expected", path=content.name) from None
        except csv.Error as error:
            raise StreamError(f"is not well-formed CSV ({error})", path=content.name, line=reader.line_num) from None


def _read(name: str, reader: Any, columns: Sequence[str] | None, needed: str | None) -> Table:
    header = [cell.strip() for cell in next((row for row in reader if any(map(str.strip, row))), [])]
    where = max(reader.line_num, 1)
    if not header:
        raise StreamError("a header with the names of the columns was expected", path=name, line=where)
    repeated = next((cell for i, cell in enumerate(header) if cell in header[:i]), None)
    if repeated is not None:
        raise StreamError(f"the column {shorten(repeated)} occurs twice in the header", path=name, line=where)
    if columns is not None:
        unknown = next((column for column in columns if column not in header), None)
        if unknown is not None:
            known = shorten(Words(", ".join(header)), 300)
            raise StreamError(f"there is no column {shorten(unknown)}; there are {known}", path=name, line=where)
    rows: list[list[float]] = []
    waiting: list[tuple[int, list[str]]] = []
    places = None if columns is None else [header.index(column) for column in columns]
    for cells in reader:
        if not cells:
            continue
        if len(cells) != len(header):
            reason = f"{len(header)} cells were expected, as in the header; found {len(cells)}"
            raise StreamError(reason, path=name, line=reader.line_num)
        if places is None:
            waiting.append((reader.line_num, cells))
            if len(waiting) < ROWS_TO_LOOK_AT:
                continue
            places = _places_of_numbers(header, waiting, needed)
            rows.extend(_numbers(name, line, header, kept, places) for line, kept in waiting)
            waiting = []
        else:
            rows.append(_numbers(name, reader.line_num, header, cells, places))
    if places is None:
        places = _places_of_numbers(header, waiting, needed)
        rows.extend(_numbers(name, line, header, kept, places) for line, kept in waiting)
    names = tuple(header[place] for place in places)
    skipped = () if columns is not None else tuple(cell for cell in header if cell not in names)
    return Table(name, names, np.array(rows, dtype=np.float64).reshape(len(rows), len(names)), skipped)


def _places_of_numbers(header: list[str], rows: list[tuple[int, list[str]]], needed: str | None) -> list[int]:
    """The columns that hold a number somewhere and nothing else anywhere, and the one that is needed."""

    def is_one(place: int) -> bool:
        found = [_number(cells[place]) for _, cells in rows]
        return all(number is not None for number in found) and not all(map(_is_nan, found))

    return [place for place, column in enumerate(header) if column == needed or is_one(place)]


def _numbers(name: str, line: int, header: list[str], cells: list[str], places: list[int]) -> list[float]:
    numbers = []
    for place in places:
        number = _number(cells[place])
        if number is None:
            reason = f"column {header[place]}: a number or nothing was expected; found {shorten(cells[place])}"
            raise StreamError(reason, path=name, line=line)
        numbers.append(number)
    return numbers


def _number(cell: str) -> float | None:
    """The number in a cell, NaN if it is missing, None if it is something else."""
    text = cell.strip()
    if text.lower() in MISSING:
        return math.nan
    try:
        number = float(text)
    except ValueError:
        return None
    # Python would also read 1_000 and infinity.
    return number if math.isfinite(number) and "_" not in text else None


def _is_nan(number: float | None) -> bool:
    return number is not None and math.isnan(number)


def _delimiter(header: str) -> str:
    return max(",;\t", key=header.count)


class _Content(io.RawIOBase):
    """A source of bytes as a file, that says how far it has come."""

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
