"""Reading examples whose features are categories, in any form, as columns of codes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.labels import listed, plain_label
from afterwit.data.rows import FRAME_LIBRARIES, as_mapping, open_frame
from afterwit.data.values import is_masked_array
from afterwit.errors import LabelError, Words, invalid

Codes = npt.NDArray[np.int64]

MANY = "a 2-D array, a scipy sparse matrix, a DataFrame, a sequence of dicts or a sequence of sequences"
CATEGORY = "a category: a string, a boolean or a whole number"
#: The code of a value that is not among those known.
UNKNOWN = -1


@dataclass(frozen=True)
class Categories:
    """Examples as columns of plain values; ``names`` is None where features are known by position."""

    columns: list[list[Any]]
    names: list[Any] | None
    rows: int


def read_categories(X: Any) -> Categories:
    """Check many examples and take them apart into columns."""
    if type(X).__module__.partition(".")[0] in FRAME_LIBRARIES:
        return _read_frame(X)
    if type(X).__module__.startswith("scipy.sparse"):
        X = X.toarray()
    if isinstance(X, np.ndarray):
        if is_masked_array(X):
            raise invalid("X", "without a mask", Words("a masked array"))
        if X.ndim != 2:
            raise invalid("X", "two-dimensional", Words(f"an array of shape {X.shape}"))
        columns = X.T.tolist()
        return _checked(columns, None, X.shape[0])
    if not isinstance(X, Sequence) or isinstance(X, str | bytes):
        raise invalid("X", MANY, X)
    rows = [as_mapping(row) for row in X]
    if rows and all(isinstance(row, Mapping) for row in rows):
        return _read_dicts(rows)
    widths = set()
    for i, row in enumerate(rows):
        if isinstance(row, str | bytes) or not isinstance(row, Sequence | np.ndarray):
            raise invalid(f"X[{i}]", "a row of categories, like the others", row)
        widths.add(len(row))
        if len(widths) > 1:
            raise invalid(f"X[{i}]", f"of {len(rows[0])} features, as the rows before", Words(f"{len(row)}"))
    return _checked([list(column) for column in zip(*rows, strict=True)], None, len(rows))


def read_categories_of_one(x: Any) -> Categories:
    """One example in the same form."""
    x = as_mapping(x)
    if isinstance(x, Mapping):
        return _read_dicts([x], single=True)
    if isinstance(x, str | bytes) or not isinstance(x, Sequence | np.ndarray) or np.ndim(np.asarray(x, object)) != 1:
        raise invalid("x", "a dict or a sequence of categories", x)
    return _checked([[value] for value in x], None, 1, single=True)


def _read_dicts(rows: list[Any], single: bool = False) -> Categories:
    names = list(rows[0])
    known = set(names)
    for i, row in enumerate(rows):
        if row.keys() != known:
            where = "x" if single else f"X[{i}]"
            missing = [name for name in names if name not in row]
            if missing:
                raise invalid(f"{where}[{missing[0]!r}]", "given: no value may be missing", Words("nothing"))
            extra = next(name for name in row if name not in known)
            raise invalid(where, "of the same features as the rows before", Words(f"a further feature {extra!r}"))
    return _checked([[row[name] for row in rows] for name in names], names, len(rows), single)


def _read_frame(X: Any) -> Categories:
    frame = open_frame(X, allowed=MANY)
    names = [plain_label(name) for name in frame.columns]
    return _checked([frame.get_column(name).to_list() for name in frame.columns], names, len(frame))


def _checked(columns: list[list[Any]], names: list[Any] | None, rows: int, single: bool = False) -> Categories:
    """Every value a category: numbers that are whole as whole numbers, nothing missing."""
    for j, column in enumerate(columns):
        for i, value in enumerate(column):
            if type(value) is str or type(value) is bool or type(value) is int:
                continue
            feature = j if names is None else names[j]
            column[i] = as_category(value, f"x[{feature!r}]" if single else f"X[{i}, {feature!r}]")
    return Categories(columns, names, rows)


def as_category(value: Any, where: str) -> Any:
    """A value as a plain string, boolean or whole number; what is missing or anything else is refused."""
    value = plain_label(value)
    if isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or type(value).__name__ in ("NAType", "NaTType")
    ):
        raise invalid(where, f"{CATEGORY}; missing values have to be filled in first", value)
    raise invalid(where, CATEGORY, value)


def in_order(values: Any) -> list[Any]:
    """Different values in an order that does not depend on where they came from: numbers first, then strings."""
    return sorted(set(values), key=lambda value: (isinstance(value, str), value))


def coded(values: list[Any], known: list[Any]) -> Codes:
    """Each value by its place among those known, or UNKNOWN."""
    at = {value: code for code, value in enumerate(known)}
    return np.array([at.get(value, UNKNOWN) for value in values], dtype=np.int64)


def plain_labels(y: Any) -> list[Any]:
    values = listed(y)
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return [as_category(label, f"y[{i}]") for i, label in enumerate(values)]


def label_codes(labels: list[Any], known: list[Any]) -> Codes:
    codes = coded(labels, known)
    if (codes < 0).any():
        i = int(np.argmin(codes >= 0))
        raise invalid(f"y[{i}]", f"one of {known}", labels[i], LabelError)
    return codes


def known_labels(parameter: str, labels: Any) -> list[Any]:
    """Labels that are known beforehand, in order."""
    if isinstance(labels, str | bytes | Mapping) or not hasattr(labels, "__iter__"):
        raise invalid(parameter, "a sequence of different labels, or None", labels)
    given = [as_category(label, parameter) for label in labels]
    if not given or len(set(given)) != len(given):
        raise invalid(parameter, "a sequence of different labels, or None", labels)
    return in_order(given)


def known_categories(parameter: str, categories: Any) -> Any:
    """The values of the features that are known beforehand, by name or by position."""
    allowed = "a dict of feature -> values, or a sequence of values for each feature, or None"
    if isinstance(categories, str | bytes) or not hasattr(categories, "__iter__"):
        raise invalid(parameter, allowed, categories)
    items = list(categories.items()) if isinstance(categories, Mapping) else list(enumerate(categories))
    known: dict[Any, list[Any]] = {}
    for name, values in items:
        if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
            raise invalid(parameter, allowed, categories)
        given = [as_category(value, f"{parameter}[{name!r}]") for value in values]
        if not given or len(set(given)) != len(given):
            raise invalid(f"{parameter}[{name!r}]", "a sequence of different values", values)
        known[name] = in_order(given)
    return known if isinstance(categories, Mapping) else list(known.values())
