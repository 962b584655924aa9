"""A stream over examples in memory, played at native speed by `play`.

>>> stream = ArrayStream([[1.0, 0.0], [0.0, 1.0]], [1, -1])
>>> [(x.tolist(), y) for x, y in stream]
[([1.0, 0.0], 1), ([0.0, 1.0], -1)]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import Words, invalid
from afterwit.linear._rows import Rows, read_many


class ArrayStream:
    """The rows of X with their labels y, in order. X is whatever ``learn_many`` accepts."""

    def __init__(self, X: Any, y: Any) -> None:
        self.X = X
        self._rows = read_many(X)
        self.y: npt.NDArray[Any] = np.asarray(y.to_numpy() if hasattr(y, "to_numpy") else y)
        if self.y.ndim != 1 or len(self.y) != self._rows.count:
            shape = Words(f"labels of shape {self.y.shape}")
            raise invalid("y", f"one label for each of the {self._rows.count} rows of X", shape)

    def __len__(self) -> int:
        return self._rows.count

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for i, y in enumerate(self.y.tolist()):
            yield self._rows.row(i), y

    def reader(self) -> ArrayReader:
        """A fresh reader at the beginning."""
        return ArrayReader(self._rows, self.y)


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

    def __enter__(self) -> ArrayReader:
        return self

    def __exit__(self, *_: object) -> None:
        return None
