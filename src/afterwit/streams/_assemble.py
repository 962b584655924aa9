"""Columns of features as rows: what the columns of a block give, side by side, in the order of the columns.

The names of a block are in the order of their first occurrence, row by row, as if the rows came one by one as dicts:
that is why a learner is the same, bit for bit, however its rows were divided into blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.rows import Rows, ascending
from afterwit.errors import Words, invalid
from afterwit.streams.columns import Coded

#: Names -> positions, where names are not kept.
Hash = Callable[[Sequence[str]], npt.NDArray[np.int32]]


def assemble(columns: Sequence[Coded], count: int, hashed: Hash | None, width: int = 0) -> Rows:
    """Rows of the features of these columns; by position if there is a hash, of ``width`` positions."""
    if hashed is None and (dense := _dense(columns, count)) is not None:
        return dense
    names, places = _numbered(columns)
    starts, found, values = _side_by_side(columns, places, count)
    if hashed is not None:
        positions = hashed(names)[found] if names else found.astype(np.int32)
        return Rows(count, width, *_sorted(positions, values, starts))
    seen, order = _in_order_of_occurrence(found, len(names))
    if len(names) < sum(len(np.unique(place)) for place in places):
        _require_different(names, found, starts)
    return Rows(count, len(seen), values, order[found], starts, names=[names[place] for place in seen.tolist()])


def _sorted(positions: Any, values: Any, starts: Any) -> tuple[Any, Any, Any]:
    columns, values, starts = ascending(positions, values, starts)
    return values, columns, starts


def _dense(columns: Sequence[Coded], count: int) -> Rows | None:
    """Rows of numbers of which none is missing; None if there is anything else."""
    for column in columns:
        if column.scale is None or len(column.lists) != 1 or len(column.lists[0]) != 1 or (column.codes != 0).any():
            return None
    names = [column.lists[0][0][0] for column in columns]
    if len(set(names)) < len(names) or not names:
        return None
    values = np.empty((count, len(names)))
    for j, column in enumerate(columns):
        assert column.scale is not None
        np.multiply(column.scale, column.lists[0][0][1], out=values[:, j])
    return Rows(count, len(names), values.reshape(-1), np.arange(len(names), dtype=np.int32), names=names)


def _numbered(columns: Sequence[Coded]) -> tuple[list[str], list[npt.NDArray[np.intp]]]:
    """All names of the columns, and for each column the numbers of those in its lists, one list after the other."""
    numbers: dict[str, int] = {}
    places = [
        np.array([numbers.setdefault(name, len(numbers)) for features in column.lists for name, _ in features], np.intp)
        for column in columns
    ]
    return list(numbers), places


def _side_by_side(
    columns: Sequence[Coded], places: Sequence[npt.NDArray[np.intp]], count: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """Where each row starts, and the names and values of its entries."""
    if all(len(features) <= 1 for column in columns for features in column.lists):
        return _as_a_rectangle(columns, places, count)
    lengths = []
    for column in columns:
        # The last is that of the code -1.
        of_lists = np.array([*map(len, column.lists), 0], dtype=np.int64)
        lengths.append(of_lists[column.codes])
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.sum(lengths, axis=0) if lengths else np.zeros(count), out=starts[1:])
    found, values = np.empty(starts[-1], dtype=np.intp), np.empty(starts[-1])
    at = starts[:-1].copy()
    for column, names, length in zip(columns, places, lengths, strict=True):
        firsts = np.cumsum([0, *map(len, column.lists)])
        of_entries = np.array([value for features in column.lists for _, value in features], dtype=np.float64)
        rows = np.flatnonzero(length)
        if length.max(initial=0) > 1:
            rows = np.repeat(rows, length[rows])
            within = np.arange(len(rows)) - np.repeat(np.cumsum(length) - length, length)
        else:
            within = np.zeros(len(rows), dtype=np.int64)
        entries = firsts[column.codes[rows]] + within
        where = at[rows] + within
        found[where] = names[entries]
        values[where] = of_entries[entries] if column.scale is None else column.scale[rows] * of_entries[entries]
        at += length
    return starts, found, values


def _as_a_rectangle(
    columns: Sequence[Coded], places: Sequence[npt.NDArray[np.intp]], count: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp], npt.NDArray[np.float64]]:
    """The same where no cell has more than one feature: a place for each cell, from which the empty ones are taken."""
    found = np.empty((count, len(columns)), dtype=np.intp)
    values = np.empty((count, len(columns)))
    full = True
    for j, (column, names) in enumerate(zip(columns, places, strict=True)):
        empty = len(names) < len(column.lists)
        if empty or (len(column.codes) and column.codes.min() < 0):
            # Cells without a feature have the place -1; the last of these is that of the code -1.
            of_codes = np.full(len(column.lists) + 1, -1, dtype=np.intp)
            of_codes[[code for code, features in enumerate(column.lists) if features]] = names
            full = False
        else:
            of_codes = names
        np.take(of_codes, column.codes, out=found[:, j], mode="wrap")
        if column.scale is not None and len(names) == 1 and column.lists[0] and column.lists[0][0][1] == 1:
            values[:, j] = column.scale
            continue
        of_lists = np.array([features[0][1] if features else 1.0 for features in column.lists] + [1.0])
        each = of_lists[column.codes]
        values[:, j] = each if column.scale is None else column.scale * each
    if full:
        return np.arange(count + 1, dtype=np.int64) * len(columns), found.reshape(-1), values.reshape(-1)
    there = found >= 0
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.count_nonzero(there, axis=1), out=starts[1:])
    return starts, found[there], values[there]


def _in_order_of_occurrence(
    found: npt.NDArray[np.intp], count: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int32]]:
    """The names that occur, in the order in which they do, and the place of each in that order."""
    first = np.full(count, len(found), dtype=np.int64)
    # Of several assignments to one place the last one stays: from behind, that of the first occurrence.
    first[found[::-1]] = np.arange(len(found) - 1, -1, -1)
    seen = np.flatnonzero(first < len(found))
    seen = seen[np.argsort(first[seen], kind="stable")]
    order = np.zeros(count, dtype=np.int32)
    order[seen] = np.arange(len(seen), dtype=np.int32)
    return seen, order


def _require_different(names: list[str], found: npt.NDArray[np.intp], starts: npt.NDArray[np.int64]) -> None:
    """Refuse rows in which a feature is there twice, because two columns have the same one."""
    row_of = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((found, row_of))
    same = (np.diff(found[order]) == 0) & (np.diff(row_of[order]) == 0)
    if same.any():
        name = names[int(found[order][int(np.argmax(same))])]
        raise invalid("the columns", "such that no two make the same feature", Words(f"{name!r} of two columns"))
