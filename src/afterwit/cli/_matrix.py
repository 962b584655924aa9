"""A payoff matrix from CSV text, with or without names for its rows and columns."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.errors import StreamError, counted, shorten
from afterwit.streams._csv import CsvRows, number_in


@dataclass(frozen=True)
class NamedMatrix:
    """Payoffs, and the names that the file has for rows and columns."""

    #: The file.
    name: str
    payoffs: Any
    rows: list[str] | None
    columns: list[str] | None


def read_matrix(
    file: str, delimiter: str | None = None, header: bool | None = None, names: bool | None = None
) -> NamedMatrix:
    """A matrix from CSV text, plain or gzip, or from standard input.

    If no ``delimiter`` is given, it is found as `CsvRows` finds it. ``header`` and ``names`` say whether the first line
    and the first column are names. If None, the first line holds names if none of its cells is a number, and the first
    column if its first cell is not a number.
    """
    with CsvRows(file, delimiter) as reader:
        lines = ((reader.line, cells) for cells in reader if any(cells))
        return _read(lines, reader.name, header, names)


def _read(lines: Iterator[tuple[int, list[str]]], source: str, header: bool | None, names: bool | None) -> NamedMatrix:
    try:
        first_line, first = next(lines)
    except StopIteration:
        raise StreamError("a matrix of payoffs was expected, the file is empty", path=source) from None
    if header is None:
        header = _holds_names(first, source, first_line)
    columns = first if header else None
    body = lines if header else itertools.chain([(first_line, first)], lines)
    payoffs: list[Any] = []
    rows: list[str] = []
    width = 0
    for line, cells in body:
        if names is None:
            names = number_in(cells[0]) is None and len(cells) > 1
        if names:
            rows.append(cells[0])
            cells = cells[1:]
        if not payoffs:
            width = len(cells)
            columns = _fitting(columns, width, names, source, first_line)
        if len(cells) != width or not width:
            were = "was" if width == 1 else "were"
            expected = (
                f"{counted(width, 'payoff')} {were} expected, as in the lines before"
                if width
                else "payoffs were expected"
            )
            raise StreamError(f"{expected}; found {len(cells)}", path=source, line=line)
        payoffs.append(_payoffs(cells, 1 + bool(names), source, line))
    if not payoffs:
        raise StreamError("a line of payoffs was expected after the names", path=source, line=first_line)
    return NamedMatrix(source, np.array(payoffs), rows if names else None, columns)


def _holds_names(cells: list[str], source: str, line: int) -> bool:
    """Whether the first line holds names of columns; if only its first cell is not a number, it is a row's name."""
    others = [cell for cell in (cells[1:] or cells) if number_in(cell) is None]
    numbers = [cell for cell in cells if number_in(cell) is not None]
    if others and numbers:
        # A payoff with a typo must not turn a line of payoffs into names.
        found = f"found {shorten(numbers[0])} and {shorten(others[0])}; --header or --no-header says which"
        raise StreamError(f"names alone or payoffs alone were expected; {found}", path=source, line=line)
    return bool(others)


def _fitting(columns: list[str] | None, width: int, names: bool, source: str, line: int) -> list[str] | None:
    """The header's names for the payoffs: without the cell above the rows' names, if there is one."""
    if columns is None:
        return None
    if names and len(columns) == width + 1:
        return columns[1:]
    if len(columns) != width:
        raise StreamError(f"{width} names of columns were expected; found {len(columns)}", path=source, line=line)
    return columns


def _payoffs(cells: list[str], first: int, source: str, line: int) -> Any:
    payoffs = []
    for place, cell in enumerate(cells, first):
        payoff = number_in(cell)
        if payoff is None or not math.isfinite(payoff):
            reason = f"a finite number was expected in cell {place}; found {shorten(cell)}"
            raise StreamError(reason, path=source, line=line)
        payoffs.append(payoff)
    return np.array(payoffs)
