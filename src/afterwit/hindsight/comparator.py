"""A comparator: one fixed weight vector, and how it would have done on every row."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.labels import Signs
from afterwit.data.rows import Rows, as_mapping, read_many, read_one
from afterwit.errors import Words, invalid

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Comparator:
    """A fixed weight vector u, judged by the data itself: nothing here is taken from the solver that found it."""

    source: str
    vector: Floats = field(repr=False)
    margins: Floats = field(repr=False)
    mistakes: int
    names: list[Any] | None = field(default=None, repr=False)

    @property
    def weights(self) -> Any:
        """The weights u by name if the data has names, otherwise by position."""
        return self.vector.copy() if self.names is None else dict(zip(self.names, self.vector.tolist(), strict=True))

    @cached_property
    def norm(self) -> float:
        return float(np.linalg.norm(self.vector))

    @cached_property
    def margin(self) -> float:
        """The smallest y_t (u . x_t) / |u|: positive exactly if u separates the data strictly."""
        if not len(self.margins):
            return float("inf")
        return float(self.margins.min()) / self.norm if self.norm > 0 else 0.0

    @property
    def separates(self) -> bool:
        return self.norm > 0 and self.margin > 0

    @cached_property
    def hinge(self) -> float:
        """Total hinge loss, the sum of max(0, 1 - y_t (u . x_t))."""
        return float(np.maximum(0.0, 1.0 - self.margins).sum())


def judge(source: str, vector: Any, matrix: Any, signs: Signs, names: list[Any] | None = None) -> Comparator:
    """Multiply a weight vector out on the data."""
    vector = np.asarray(vector, dtype=np.float64).reshape(-1)
    scores = matrix @ vector
    mistakes = int(np.count_nonzero((scores >= 0) != (signs > 0)))
    return Comparator(source, vector, signs * scores, mistakes, names)


def row_norms(matrix: Any) -> Any:
    """The Euclidean length of every row, without overflow or underflow on the way."""
    if matrix.shape[0] == 0 or matrix.shape[1] == 0:
        return np.zeros(matrix.shape[0])
    largest = float(abs(matrix).max())
    if largest == 0:
        return np.zeros(matrix.shape[0])
    scaled = matrix / largest
    squares = scaled.multiply(scaled).sum(axis=1) if hasattr(scaled, "indptr") else (scaled * scaled).sum(axis=1)
    return largest * np.sqrt(np.asarray(squares).reshape(-1))


def normalised(matrix: Any) -> tuple[Any, float]:
    """The matrix divided by its largest entry where that is far from 1, as solvers want it, and the divisor."""
    largest = float(abs(matrix).max()) if matrix.shape[0] and matrix.shape[1] else 0.0
    if largest == 0 or 1e-3 <= largest <= 1e3:
        return matrix, 1.0
    return matrix / largest, largest


def given_comparator(comparator: Any, rows: Rows) -> Floats:
    """A comparator the caller gave, as a vector over the columns of these rows."""
    vector = np.zeros(rows.width)
    if rows.names is None:
        dense = _dense(comparator)
        if len(dense) > rows.width:
            raise invalid("comparator", f"a vector of at most {rows.width} weights", Words(f"{len(dense)} weights"))
        vector[: len(dense)] = dense
    else:
        weights = as_mapping(comparator)
        if not isinstance(weights, dict):
            raise invalid("comparator", "a dict of weights by feature name", comparator)
        given = read_many([weights])
        given.require_finite()
        positions = {name: j for j, name in enumerate(rows.names)}
        for name, value in zip(given.names or (), given.values, strict=True):
            if name not in positions:
                raise invalid("comparator", "a dict of weights by feature name", Words(f"the unknown name {name!r}"))
            vector[positions[name]] = value
    if not np.isfinite(np.linalg.norm(vector)):
        raise invalid("comparator", "a vector of finite length", Words("one that overflows"))
    return vector


def _dense(comparator: Any) -> Floats:
    given = read_one(comparator)
    given.require_finite()
    matrix = given.matrix()
    row: Floats = matrix.toarray()[0] if hasattr(matrix, "toarray") else matrix[0]
    return row
