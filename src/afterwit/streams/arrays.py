"""A stream over examples in memory, played at native speed by `play`.

>>> stream = ArrayStream([[1.0, 0.0], [0.0, 1.0]], [1, -1])
>>> [(x.tolist(), y) for x, y in stream]
[([1.0, 0.0], 1), ([0.0, 1.0], -1)]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.rows import Rows, read_many
from afterwit.errors import Words, invalid


class ArrayStream:
    """The rows of X with their labels y, in order. X is anything that ``learn_many`` accepts."""

    def __init__(self, X: Any, y: Any) -> None:
        self.X = X
        self.y = _labels(y)
        self._count = read_many(X).count
        if self.y.ndim != 1 or len(self.y) != self._count:
            shape = Words(f"labels of shape {self.y.shape}")
            raise invalid("y", f"one label for each of the {self._count} rows of X", shape)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        rows = read_many(self.X)
        for i, y in enumerate(self.y.tolist()):
            yield rows.row(i), y

    def reader(self) -> ArrayReader:
        """A fresh reader at the beginning. X is checked again: it belongs to the caller and may have changed."""
        return ArrayReader(read_many(self.X), self.y)


def _labels(y: Any) -> npt.NDArray[Any]:
    """Labels as an array in which each keeps its type."""
    if isinstance(y, np.ndarray):
        return y
    if hasattr(y, "to_pylist"):  # pyarrow
        y = y.to_pylist()
    if hasattr(y, "to_numpy"):
        return np.asarray(y.to_numpy())
    if not isinstance(y, Sequence) or isinstance(y, (str, bytes)):
        raise invalid("y", "a sequence or a 1-D array of labels", y)
    labels = list(y)
    numbers = {type(label) for label in labels} in ({int}, {float}, {bool})
    array = np.array(labels) if numbers else np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


class ArrayReader:
    """Hands over the rows in blocks of a chosen size."""

    def __init__(self, rows: Rows, y: npt.NDArray[Any]) -> None:
        self._rows = rows
        self._y = y
        self._at = 0

    def take(self, count: int) -> tuple[Rows, npt.NDArray[Any]] | None:
        """The next rows, at least one and at most ``count``, and their labels; None at the end."""
        if self._at >= self._rows.count:
            return None
        begin, self._at = self._at, min(self._at + count, self._rows.count)
        return self._rows.part(begin, self._at), self._y[begin : self._at]

    @property
    def share(self) -> float:
        """How much of the rows has been handed over."""
        return self._at / max(1, self._rows.count)

    def __enter__(self) -> ArrayReader:
        return self

    def __exit__(self, *_: object) -> None:
        return None
