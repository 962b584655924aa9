"""Records in memory, a list of dicts, as a table."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from afterwit.errors import StreamError, shorten
from afterwit.streams._cells import BOOLEANS, number_as_text, number_of, time_of
from afterwit.streams._parts import Part, PartsReader, Wrong
from afterwit.streams.batch import ROWS_TO_LOOK_AT, Booleans, Column, Form, Numbers, Other, Texts, Times
from afterwit.streams.columns import EXPECTED, is_missing, moment

NAME = "the records"
NO_TIME = np.datetime64("NaT", "us")


class RecordsReader(PartsReader):
    """A `TableReader` of records: the columns are the keys of the first rows, in the order in which they first occur.

    ignore  keys that are not read
    """

    def __init__(self, records: Sequence[Mapping[str, Any]], *, ignore: Sequence[str] = ()) -> None:
        self._records = list(records)
        keys: dict[Any, None] = {}
        for record in self._records[:ROWS_TO_LOOK_AT]:
            keys.update(dict.fromkeys(record))
        strange = next((key for key in keys if not isinstance(key, str)), None)
        if strange is not None:
            raise StreamError(f"keys that are strings were expected; found {shorten(strange)}", path=NAME)
        names = [key for key in keys if key not in ignore]
        self._ignored = frozenset(ignore)
        super().__init__(NAME, [(name, _as_it_is([record.get(name) for record in self._beginning])) for name in names])

    @property
    def _beginning(self) -> list[Mapping[str, Any]]:
        return self._records[:ROWS_TO_LOOK_AT]

    def _parts(self) -> Iterator[Part]:
        return iter([_Records(self._records, self.names, self._ignored)])


class _Records:
    """All records."""

    def __init__(self, records: list[Mapping[str, Any]], names: list[str], ignored: frozenset[str]) -> None:
        self.count = len(records)
        self._records = records
        self._names = names
        self._known = ignored.union(names)

    def read(self, column: int, form: Form | None, start: int, stop: int) -> tuple[Column, Wrong | None]:
        records = self._records[start:stop]
        name = self._names[column]
        cells = [record.get(name) for record in records]
        stranger = next((i for i, record in enumerate(records) if not self._known.issuperset(record)), None)
        wrong = None
        if stranger is not None:
            key = next(key for key in records[stranger] if key not in self._known)
            wrong = Wrong(
                stranger, f"the key {shorten(key)} is in none of the first rows; leave it out with ignore=[{key!r}]"
            )
        if form is None:
            return _as_it_is(cells), wrong
        found, other = _as_asked(cells, form)
        return found, min((each for each in (wrong, other) if each is not None), default=None)


def _as_it_is(cells: list[Any]) -> Column:
    """Cells as what all of them are; text, if they are of several kinds."""
    kinds = {_kind(cell) for cell in cells if not _is_nothing(cell)}
    strange = next((kind for kind in kinds if kind not in READ), None)
    if strange is not None:
        return Other(strange)
    form: Form = kinds.pop() if len(kinds) == 1 else "text"
    # Dates that are written as text are no times: only a form that asks for them makes them so.
    return _as_asked([None if _is_nothing(cell) else cell for cell in cells], form)[0]


def _is_nothing(cell: Any) -> bool:
    return is_missing(cell) or (isinstance(cell, str) and cell == "")


def _kind(cell: Any) -> Any:
    """The form of a value, or a word for what is no feature."""
    if isinstance(cell, (bool, np.bool_)):
        return "boolean"
    if isinstance(cell, str):
        return "text"
    if isinstance(cell, (datetime.date, np.datetime64)):
        return "time"
    if isinstance(cell, Mapping):
        return "struct"
    if isinstance(cell, (bytes, bytearray)):
        return "binary"
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return "list" if isinstance(cell, (Sequence, np.ndarray, set, frozenset)) else type(cell).__name__
    return "number"


def _number(cell: Any) -> float | None:
    if isinstance(cell, str):
        return number_of(cell)
    if _kind(cell) not in ("number", "boolean"):
        return None
    value = float(cell)
    return value if np.isfinite(value) else None


def _truth(cell: Any) -> float | None:
    if isinstance(cell, (bool, np.bool_)):
        return float(cell)
    return BOOLEANS.get(cell.lower()) if isinstance(cell, str) else None


def _time(cell: Any) -> Any:
    if isinstance(cell, (datetime.date, np.datetime64)):
        return moment(cell)
    return time_of(cell) if isinstance(cell, str) else None


def _text(cell: Any) -> str | None:
    kind = _kind(cell)
    if kind == "boolean":
        return "true" if cell else "false"
    if kind == "number":
        return number_as_text(cell) if np.isfinite(float(cell)) else None
    return str(cell) if kind == "text" else None


READ: dict[str, tuple[Callable[[Any], Any], str]] = {
    "number": (_number, EXPECTED["number"]),
    "boolean": (_truth, EXPECTED["boolean"]),
    "time": (_time, EXPECTED["time"]),
    "text": (_text, EXPECTED["category"]),
}


def _as_asked(cells: list[Any], form: Form) -> tuple[Column, Wrong | None]:
    """Cells in the form that was asked for, and the first one that has no such form."""
    read, expected = READ[form]
    wrong = None
    values: list[Any] = []
    for i, cell in enumerate(cells):
        value = None if _is_nothing(cell) else read(cell)
        if value is None and wrong is None and not _is_nothing(cell):
            wrong = Wrong(i, f"{expected} was expected; found {shorten(cell)}")
        values.append(value)
    if form == "text":
        words: dict[str, int] = {}
        codes = [-1 if value is None else words.setdefault(value, len(words)) for value in values]
        return Texts(np.array(codes, dtype=np.int32), list(words)), wrong
    if form == "time":
        times = [NO_TIME if value is None else value for value in values]
        return Times(np.array(times, dtype="datetime64[us]")), wrong
    numbers = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    return (Numbers(numbers) if form == "number" else Booleans(numbers)), wrong
