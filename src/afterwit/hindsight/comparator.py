"""A comparator: one fixed weight vector, and how it would have done on every row."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.labels import Signs
from afterwit.data.rows import Rows, as_mapping, read_many, read_one
from afterwit.errors import Words, counted, invalid

Floats = npt.NDArray[np.float64]

#: How many entries of a matrix are copied at a time.
BLOCK = 250_000


@dataclass(frozen=True)
class Comparator:
    """A fixed weight vector u, judged by the data itself: nothing here is taken from the solver that found it."""

    source: str
    vector: Floats = field(repr=False)
    margins: Floats = field(repr=False)
    mistakes: int
    names: list[Any] | None = field(default=None, repr=False)
    #: No weights beat this one's by more, in what its function minimises (or maximises); None if that is not known.
    gap: float | None = None

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


def judge(
    source: str,
    vector: Any,
    matrix: Any,
    signs: Signs,
    names: list[Any] | None = None,
    gap: float | None = None,
) -> Comparator:
    """Multiply a weight vector out on the data."""
    vector = np.asarray(vector, dtype=np.float64).reshape(-1)
    scores = matrix @ vector
    mistakes = int(np.count_nonzero((scores >= 0) != (signs > 0)))
    return Comparator(source, vector, signs * scores, mistakes, names, gap)


def blocks(count: int, width: int, chosen: Any = None) -> Iterator[Any]:
    """All rows, or the chosen ones, as many at a time as a block of entries holds."""
    height = max(1, BLOCK // max(1, width))
    if chosen is None or len(chosen) == count:
        for begin in range(0, count, height):
            yield slice(begin, min(begin + height, count))
    else:
        for begin in range(0, len(chosen), height):
            yield chosen[begin : begin + height]


def row_norms(matrix: Any) -> Any:
    """The Euclidean length of every row, without overflow or underflow on the way; nothing but a block is copied."""
    lengths = np.zeros(matrix.shape[0])
    largest = largest_entry(matrix)
    if largest == 0:
        return lengths
    if hasattr(matrix, "indptr"):
        row_of = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        return largest * np.sqrt(np.bincount(row_of, (matrix.data / largest) ** 2, minlength=matrix.shape[0]))
    for at in blocks(*matrix.shape):
        lengths[at] = largest * np.sqrt(((matrix[at] / largest) ** 2).sum(axis=1))
    return lengths


def largest_entry(matrix: Any) -> float:
    """The size of the largest entry; 0 if there is none."""
    values = matrix.data if hasattr(matrix, "indptr") else matrix
    return float(max(values.max(), -values.min())) if values.size else 0.0


def normalised(matrix: Any) -> tuple[Any, float]:
    """The matrix divided by about its largest entry where that is far from 1, and the divisor.

    It is a power of 2, so that no digit changes: scores that are 0 stay 0.
    """
    unit = unit_for(largest_entry(matrix))
    return (matrix, 1.0) if unit == 1 else (matrix / unit, unit)


def unit_for(largest: float) -> float:
    """What to divide by if this is the largest entry."""
    if largest == 0 or 1e-3 <= largest <= 1e3:
        return 1.0
    return 2.0 ** min(max(math.frexp(largest)[1], -1021), 1023)


def given_comparator(comparator: Any, rows: Rows) -> Floats:
    """A comparator the caller gave, as a vector over the columns of these rows."""
    vector = np.zeros(rows.width)
    if rows.names is None:
        dense = _dense(comparator)
        if len(dense) > rows.width:
            raise invalid(
                "comparator", f"a vector of at most {rows.width} weights", Words(counted(len(dense), "weight"))
            )
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
