"""Numbers from a CSV file, plain or gzip: a header with names, then a row of cells for each round.

The cells are separated by commas, semicolons or tabs, whichever occurs most in the header. A cell that is empty or says
NA, N/A, NaN, null or None is missing, and becomes NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import StreamError, Words, shorten
from afterwit.streams._csv import CsvRows, number_in

MISSING = frozenset(("", "na", "n/a", "nan", "null", "none"))
#: Whether a column holds numbers is judged by this many rows.
ROWS_TO_LOOK_AT = 1000


@dataclass(frozen=True)
class Table:
    """Columns of numbers, by their names in the order of the file; ``skipped`` are those that are not numbers."""

    name: str
    names: tuple[str, ...]
    values: npt.NDArray[np.float64]
    skipped: tuple[str, ...]
    #: The cells, as they are written, of the columns that were asked for as text.
    texts: Mapping[str, list[str]]
    #: The line at which each row ends.
    lines: Sequence[int]
    #: Of the skipped columns that hold more numbers than other cells: the line of the first other cell, and the cell.
    spoilt: Mapping[str, tuple[int, str]]

    def column(self, name: str) -> npt.NDArray[np.float64]:
        column: npt.NDArray[np.float64] = self.values[:, self.names.index(name)]
        return column


def read_table(
    source: Any,
    columns: Sequence[str] | None = None,
    on_bytes: Callable[[int], None] | None = None,
    needed: str | None = None,
    texts: Sequence[str] | None = None,
    without: Sequence[str] = (),
    also: Sequence[str] = (),
) -> Table:
    """Read the columns of those names, or all that hold numbers, among which ``needed`` has to be.

    texts    columns of which the cells are also kept as they are written; None keeps those of the first column
    without  columns that are not read as numbers
    also     further columns of which the cells are kept as they are written, and that are not read as numbers

    Every mistake is reported with its line.
    """
    with CsvRows(source, on_bytes=on_bytes) as reader:
        return _read(reader, columns, needed, texts, without, also)


def _read(
    reader: CsvRows,
    columns: Sequence[str] | None,
    needed: str | None,
    texts: Sequence[str] | None,
    without: Sequence[str],
    also: Sequence[str],
) -> Table:
    content, name = iter(reader), reader.name
    header = next((cells for cells in content if any(cells)), [])
    where = reader.line
    if not header:
        raise StreamError("a header with the names of the columns was expected", path=name, line=where)
    repeated = next((cell for i, cell in enumerate(header) if cell in header[:i]), None)
    if repeated is not None:
        raise StreamError(f"the column {shorten(repeated)} occurs twice in the header", path=name, line=where)
    without = (*without, *also)
    unknown = next((column for column in (*(columns or ()), *(texts or ()), *without) if column not in header), None)
    if unknown is not None:
        known = shorten(Words(", ".join(header)), 300)
        raise StreamError(f"there is no column {shorten(unknown)}; there are {known}", path=name, line=where)
    written: dict[str, list[str]] = {column: [] for column in (*(header[:1] if texts is None else texts), *also)}
    kept = [(cells_of, header.index(column)) for column, cells_of in written.items()]
    rows: list[list[float]] = []
    lines: list[int] = []
    spoilt: dict[str, tuple[int, str]] = {}
    waiting: list[tuple[int, list[str]]] = []
    places = None if columns is None else [header.index(column) for column in columns]
    for cells in content:
        if len(cells) != len(header):
            expected = "1 cell was" if len(header) == 1 else f"{len(header)} cells were"
            reason = f"{expected} expected, as in the header; found {len(cells)}"
            raise StreamError(reason, path=name, line=reader.line)
        lines.append(reader.line)
        for cells_of, place in kept:
            cells_of.append(cells[place])
        if places is None:
            waiting.append((reader.line, cells))
            if len(waiting) < ROWS_TO_LOOK_AT:
                continue
            places, spoilt = _places_of_numbers(header, waiting, needed, without)
            rows.extend(_numbers(name, line, header, row, places) for line, row in waiting)
            waiting = []
        else:
            rows.append(_numbers(name, reader.line, header, cells, places))
    if places is None:
        places, spoilt = _places_of_numbers(header, waiting, needed, without)
        rows.extend(_numbers(name, line, header, row, places) for line, row in waiting)
    names = tuple(header[place] for place in places)
    skipped = () if columns is not None else tuple(cell for cell in header if cell not in (*names, *without))
    values = np.array(rows, dtype=np.float64).reshape(len(rows), len(names))
    return Table(name, names, values, skipped, written, lines, spoilt)


def _places_of_numbers(
    header: list[str], rows: list[tuple[int, list[str]]], needed: str | None, without: Sequence[str]
) -> tuple[list[int], dict[str, tuple[int, str]]]:
    """The columns that hold a number somewhere and nothing else anywhere, and the one that is needed.

    Also what spoils those of the others that hold more numbers than other cells.
    """
    places: list[int] = []
    spoilt: dict[str, tuple[int, str]] = {}
    for place, column in enumerate(header):
        if column in without:
            continue
        found = [_number(cells[place]) for _, cells in rows]
        numbers = sum(number is not None and not math.isnan(number) for number in found)
        others = [i for i, number in enumerate(found) if number is None]
        if column == needed or (numbers and not others):
            places.append(place)
        elif numbers > len(others):
            line, cells = rows[others[0]]
            spoilt[column] = (line, cells[place])
    return places, spoilt


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
    if cell.lower() in MISSING:
        return math.nan
    number = number_in(cell)
    return number if number is not None and math.isfinite(number) else None
