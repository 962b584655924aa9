"""Reading a payoff matrix from CSV text, with or without names for its rows and columns."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.errors import StreamError, shorten
from afterwit.streams._bytes import ByteSource

BLOCK = 2**20


@dataclass(frozen=True)
class NamedMatrix:
    """Payoffs, and the names that the file has for rows and columns."""

    payoffs: Any
    rows: list[str] | None
    columns: list[str] | None
    source: str


def read_matrix(file: str, delimiter: str = ",", header: bool | None = None, names: bool | None = None) -> NamedMatrix:
    """A matrix from CSV text, plain or gzip, or from standard input.

    ``header`` and ``names`` say whether the first line and the first column are names; if None, the first line is where
    none of its cells is a number, the first column where its first cell is none.
    """
    lines, source = _cells(file, delimiter)
    try:
        first_number, first = next(lines)
    except StopIteration:
        raise StreamError("a matrix of payoffs was expected, the file is empty", path=source) from None
    if header is None:
        # A line whose first cell alone is no number is a row with a name.
        header = any(_payoff(cell) is None for cell in first[1:]) or (len(first) == 1 and _payoff(first[0]) is None)
        numbers = [cell for cell in first if _payoff(cell) is not None]
        if header and numbers:
            # A payoff with a typo must not turn a line of payoffs into names.
            other = next(cell for cell in first[1:] if _payoff(cell) is None)
            found = f"found {shorten(numbers[0])} and {shorten(other)}; --header or --no-header says which"
            raise StreamError(f"names alone or payoffs alone were expected; {found}", path=source, line=first_number)
    columns = first if header else None
    body = lines if header else _chain(first_number, first, lines)
    payoffs: list[Any] = []
    rows: list[str] = []
    width = 0
    for number, cells in body:
        if names is None:
            names = _payoff(cells[0]) is None and len(cells) > 1
        if names:
            rows.append(cells[0])
            cells = cells[1:]
        if not payoffs:
            width = len(cells)
            columns = _fitting(columns, width, names, source, first_number)
        if len(cells) != width or not width:
            expected = f"{width} payoffs were expected, as in the lines before" if width else "payoffs were expected"
            raise StreamError(f"{expected}; found {len(cells)}", path=source, line=number)
        payoffs.append(_numbers(cells, 1 + bool(names), source, number))
    if not payoffs:
        raise StreamError("a line of payoffs was expected after the names", path=source, line=first_number)
    return NamedMatrix(np.array(payoffs), rows if names else None, columns, source)


def _cells(file: str, delimiter: str) -> tuple[Iterator[tuple[int, list[str]]], str]:
    """The lines that are not blank, as (number, cells)."""
    with ByteSource(file) as source:
        content = b"".join(iter(lambda: source.read(BLOCK), b""))
        name = source.name
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise StreamError("UTF-8 text was expected, found other bytes", path=name, line=line) from None
    return _split(text, delimiter, name), name


def _split(text: str, delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for cells in reader:
            stripped = [cell.strip() for cell in cells]
            if any(stripped):
                yield reader.line_num, stripped
    except csv.Error as error:
        raise StreamError(f"CSV text was expected ({error})", path=name, line=max(1, reader.line_num)) from None


def _chain(number: int, cells: list[str], lines: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    yield number, cells
    yield from lines


def _fitting(columns: list[str] | None, width: int, names: bool, source: str, line: int) -> list[str] | None:
    """The header's names for the payoffs: without the cell above the rows' names, if there is one."""
    if columns is None:
        return None
    if names and len(columns) == width + 1:
        return columns[1:]
    if len(columns) != width:
        raise StreamError(f"{width} names of columns were expected; found {len(columns)}", path=source, line=line)
    return columns


def _payoff(cell: str) -> float | None:
    """A number as it is written in data; Python's own 1_000 is none."""
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _numbers(cells: list[str], first: int, source: str, line: int) -> Any:
    try:
        payoffs = np.array([float(cell) for cell in cells])
        if np.isfinite(payoffs).all() and not any("_" in cell for cell in cells):
            return payoffs
    except ValueError:
        pass
    for place, cell in enumerate(cells, first):
        payoff = _payoff(cell)
        if payoff is None or not math.isfinite(payoff):
            found = f"a finite number was expected in cell {place}; found {shorten(cell)}"
            raise StreamError(found, path=source, line=line)
    raise AssertionError("one of the cells is no finite number")
