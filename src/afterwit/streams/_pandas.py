"""Columns of a pandas DataFrame, or one like it.

Its columns of objects may hold anything: they are looked through first. pandas is never imported here: the frame brings
it.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt

from afterwit.data.checks import is_whole
from afterwit.errors import StreamError
from afterwit.streams._cells import LARGEST_WHOLE
from afterwit.streams._parts import Wrong
from afterwit.streams.arrow import (
    TOO_LARGE,
    first_wrong,
    looked_up,
    moments,
    numbers,
    read_column,
    whole_numbers,
)
from afterwit.streams.batch import Booleans, Column, Form, Numbers, Other, Texts

NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal")
TIMES = ("datetime64", "datetime", "date")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
OTHERS = {"time": "time of day", "timedelta": "duration", "timedelta64": "duration", "bytes": "binary"}


class PandasPart:
    """All rows of a frame."""

    def __init__(self, frame: Any) -> None:
        self.count = len(frame)
        self._frame = frame
        self._pandas = nw.get_native_namespace(frame)
        if any(isinstance(name, tuple) for name in frame.columns):
            raise StreamError("one level of names of columns is expected, and there are several", path="the DataFrame")
        self._kinds = [self._kind(frame.iloc[:, i]) for i in range(frame.shape[1])]

    def columns(self) -> list[tuple[str, Column]]:
        """The names, with empty columns that say what kind each is."""
        empty = self._frame.iloc[:0]
        return [
            (str(name), self._column(empty.iloc[:, i], self._kinds[i], None)[0])
            for i, name in enumerate(self._frame.columns)
        ]

    def read(self, column: int, form: Form | None, start: int, stop: int) -> tuple[Column, Wrong | None]:
        return self._column(self._frame.iloc[start:stop, column], self._kinds[column], form)

    def _kind(self, series: Any) -> str:
        """What the cells of a column are, in one word; those of a column of objects decide it together."""
        form = series.dtype
        if hasattr(form, "pyarrow_dtype"):
            return "arrow"
        if hasattr(form, "categories"):
            return "category"
        if str(form).startswith("Sparse"):
            form = form.subtype
        kind = getattr(form, "kind", "O")
        simple = {"b": "boolean", "i": "whole", "u": "whole", "f": "float", "M": "moment", "m": "duration"}
        if kind in simple:
            return simple[kind]
        if kind == "c":
            return "complex"
        inferred = str(self._pandas.api.types.infer_dtype(series, skipna=True))
        if inferred in NUMBERS:
            return "whole numbers" if inferred == "integer" else "numbers"
        if inferred in TIMES:
            return "times"
        if inferred in ("string", "boolean", "empty"):
            return {"boolean": "truths"}.get(inferred, inferred)
        if inferred.startswith("mixed"):
            return _kind_of_objects(series.array, series.isna().to_numpy(dtype=np.bool_).tolist())
        return OTHERS.get(inferred, inferred)

    def _column(self, series: Any, kind: str, form: Form | None) -> tuple[Column, Wrong | None]:
        if str(series.dtype).startswith("Sparse"):
            series = series.sparse.to_dense()
        if kind == "arrow":
            return read_column(series.array.__arrow_array__(), form)
        if kind == "category":
            return self._categories(series, form)
        if kind == "boolean":
            return Booleans(_floats(series)), None
        if kind == "whole":
            return _whole(series, form)
        if kind == "float":
            return numbers(_floats(series))
        if kind == "moment":
            return _moments(series)
        if kind == "string":
            codes, words = self._pandas.factorize(series)
            return looked_up(_texts(words), codes.astype(np.int64)), None
        missing = series.isna().to_numpy(dtype=np.bool_)
        cells = [None if gone else cell for cell, gone in zip(series.array, missing.tolist(), strict=True)]
        if kind == "empty":
            return Numbers(np.full(len(cells), np.nan)), None
        if kind == "truths":
            return Booleans(np.array([np.nan if cell is None else float(cell) for cell in cells])), None
        if kind in ("numbers", "whole numbers"):
            return _numbers(cells, kind == "whole numbers", form)
        if kind == "times":
            since = [0 if cell is None else _microseconds(cell) for cell in cells]
            return moments(np.array(since, dtype=np.int64), "us", missing)
        if kind == "texts":
            return _texts([None if cell is None else _written(cell) for cell in cells]), None
        return Other(kind), None

    def _categories(self, series: Any, form: Form | None) -> tuple[Column, Wrong | None]:
        table = series.cat.categories.to_series()
        codes = series.cat.codes.to_numpy().astype(np.int64)
        kind = self._kind(table)
        meaning, wrong = self._column(table, kind, form)
        if wrong is not None:
            wrong = first_wrong(codes, lambda code: self._column(table.iloc[code : code + 1], kind, form)[1])
        return looked_up(meaning, codes), wrong


def _floats(series: Any) -> npt.NDArray[np.float64]:
    """A copy, with NaN for what is missing."""
    return np.array(series.to_numpy(dtype=np.float64, na_value=np.nan))


def _whole(series: Any, form: Form | None) -> tuple[Column, Wrong | None]:
    missing = series.isna().to_numpy(dtype=np.bool_)
    kind = np.uint64 if series.dtype.kind == "u" else np.int64
    return whole_numbers(series.to_numpy(dtype=kind, na_value=0), missing if missing.any() else None, form)


def _moments(series: Any) -> tuple[Column, Wrong | None]:
    if series.dt.tz is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    values = series.to_numpy(dtype=f"datetime64[{series.dt.unit}]")
    missing = np.isnat(values)
    return moments(np.where(missing, 0, values.astype(np.int64)), series.dt.unit, missing)


def _kind_of_objects(cells: Iterable[Any], missing: Iterable[bool]) -> str:
    """What cells of different types are together: text, if each can be written, or else what the first other is."""
    for cell, gone in zip(cells, missing, strict=True):
        if gone or isinstance(cell, str | Real | Decimal | np.bool_):
            continue
        if isinstance(cell, dict):
            return "struct"
        if isinstance(cell, bytes):
            return "binary"
        return "list" if isinstance(cell, Iterable) else "objects"
    return "texts"


def _numbers(cells: list[Any], whole: bool, form: Form | None) -> tuple[Column, Wrong | None]:
    if whole and form == "text":
        return _texts([None if cell is None else str(int(cell)) for cell in cells]), None
    values = np.full(len(cells), np.nan)
    large = None
    for i, cell in enumerate(cells):
        if is_whole(cell) and abs(int(cell)) > LARGEST_WHOLE:
            large = large or Wrong(i, TOO_LARGE.format(int(cell)))
        elif cell is not None:
            values[i] = float(cell)
    infinite = numbers(values)[1]
    found = [wrong for wrong in (large, infinite) if wrong is not None]
    return Numbers(values, whole), min(found) if found else None


def _microseconds(cell: Any) -> int:
    if isinstance(cell, np.datetime64):
        return int(cell.astype("datetime64[us]").astype(np.int64))
    if not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    since = cell - EPOCH.replace(tzinfo=None) if cell.tzinfo is None else cell - EPOCH
    return int(since // timedelta(microseconds=1))


def _written(cell: Any) -> str:
    """A cell of a column of different things as text: whole numbers without a point."""
    if isinstance(cell, str | bool | np.bool_):
        return str(cell)
    if is_whole(cell):
        return str(int(cell))
    value = float(cell)
    return str(int(value)) if value.is_integer() and abs(value) <= LARGEST_WHOLE else repr(value)


def _texts(cells: Iterable[Any]) -> Texts:
    """Text cells; None and "" are missing."""
    places: dict[str, int] = {}
    codes = [-1 if cell is None or cell == "" else places.setdefault(str(cell), len(places)) for cell in cells]
    return Texts(np.array(codes, dtype=np.int32), list(places))
