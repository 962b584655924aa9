"""Learners that need all rows at once: a matrix whose columns mean the same in every call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from afterwit.core.learner import Storable
from afterwit.data.labels import Labels
from afterwit.data.rows import LARGEST_POSITION, Rows, as_mapping, read_many, read_one, require_columns
from afterwit.data.values import are_different
from afterwit.errors import Words, counted, invalid


class BatchLearner(Storable):
    """Copies, compares and is saved like every learner, but has not learned round by round."""

    role = "batch"
    options: Any = ()
    kept: Any = ()
    theorems: Any = ()
    #: What the columns of the matrix it learned from are: how many, and their names, where they have names.
    _width: int
    _names: list[Any] | None

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        width, names = state["width"], state["names"]
        if width > LARGEST_POSITION + 1:
            raise invalid("width", f"at most {LARGEST_POSITION + 1:,}", width)
        if names is not None and not (width and are_different(names, width)):
            raise invalid("names", f"{width:,} different names, or None", names)

    def _begin(self) -> None:
        super()._begin()
        self._labels = Labels(self._options["labels"])
        self._width, self._names = 0, None

    @property
    def labels(self) -> tuple[Any, Any]:
        """The negative and the positive label."""
        return self._labels.pair

    @property
    def rounds(self) -> int:
        raise AttributeError(f"{type(self).__name__} learns all rows at once: it counts no rounds")

    @property
    def mistakes(self) -> int:
        raise AttributeError(f"{type(self).__name__} learns all rows at once: it makes no mistakes on the way")


def read_row(x: Any) -> Rows:
    """One example, a dict or an array or a sparse row, as a block of one row."""
    x = as_mapping(x)
    return read_many([x]) if isinstance(x, Mapping) else read_one(x)


def first_matrix(rows: Rows) -> tuple[Any, list[Any] | None]:
    """The examples to learn from as a dense or CSR matrix, and the names of its columns, where they have names."""
    rows.require_finite()
    require_columns(rows)
    if not rows.count or not rows.width:
        raise invalid(
            "X", "at least one row of at least one feature", Words(f"{counted(rows.count, 'row')} of {rows.width}")
        )
    return _plain(rows), None if rows.names is None else list(rows.names)


def same_matrix(rows: Rows, width: int, names: Sequence[Any] | None) -> Any:
    """Further examples in the columns of the first: by name where there are names, by position otherwise."""
    rows.require_finite()
    require_columns(rows)
    if (rows.names is None) != (names is None):
        raise invalid("X", "with feature names" if names is not None else "without feature names", Words("otherwise"))
    matrix = _plain(rows)
    if names is None or rows.names is None:
        # A row that ends at its last non-zero is short, not wrong.
        if rows.width != width and not (rows.starts is not None and rows.width < width):
            raise invalid(
                "X", f"of {width} columns, as the matrix it learned from", Words(counted(rows.width, "column"))
            )
        if rows.width == width:
            return matrix
        matrix.resize((rows.count, width))
        return matrix
    places = {name: j for j, name in enumerate(names)}
    aligned = np.zeros((rows.count, width))
    for j, name in enumerate(rows.names):
        if name in places:
            aligned[:, places[name]] = matrix[:, j]
    return aligned


def _plain(rows: Rows) -> Any:
    matrix = rows.matrix()
    if not hasattr(matrix, "tocsr"):
        return matrix
    if rows.names is not None:
        # A list of dicts is small and its features have no order worth keeping: dense, like a DataFrame.
        return matrix.toarray()
    if matrix.nnz < 2**31:
        # scikit-learn takes no others.
        matrix.indptr, matrix.indices = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    return matrix
