# cython: boundscheck=False, wraparound=False, cdivision=True
"""The features of the kept examples: rows that are appended, dropped, and compared with one further row.

The rows lie one after the other in contiguous memory: a matrix for dense rows, compressed sparse rows over a vocabulary
for all others. Room doubles when it runs out. A dropped row leaves at the front, and its space is used again when the
rows are moved.

The further row, the query, is one row of a block that the caller hands over. Where the kept rows and the block are both
dense the query is read in place; otherwise it is spread out over the columns in use.
"""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.data.rows import plain_name

if cython.compiled:
    from cython.cimports.afterwit.kernels._sums import (
        dense_all_products,
        dense_distances,
        sparse_all_products,
        sparse_products,
    )
    from cython.cimports.afterwit.linear._products import dense_products, dot
else:
    from afterwit.kernels._sums import (
        dense_all_products,
        dense_distances,
        sparse_all_products,
        sparse_products,
    )
    from afterwit.linear._products import dense_products, dot


# What is there without a block, made once: letting go of one must not fail.
NO_VALUES = np.zeros(0)
NO_COLUMNS = np.zeros(0, dtype=np.int32)
NO_STARTS = np.zeros(1, dtype=np.int64)


def longer(array: Any, size: int) -> Any:
    """A copy of an array with room for more."""
    old = np.asarray(array)
    new = np.zeros(size, dtype=old.dtype)
    new[: len(old)] = old
    return view(new)


@cython.cclass
class KeptRows:
    """The features of the kept examples, and one row of a block as the query."""

    def __init__(self) -> None:
        self._dense = False
        self._first = 0
        self._count = 0
        self._matrix = view(np.zeros(0))
        self._stride = 0
        self._starts = view(np.zeros(17, dtype=np.int64))
        self._columns = view(np.zeros(64, dtype=np.int32))
        self._values = view(np.zeros(64))
        self._reach = 0
        self._squares = view(np.zeros(16))
        self._named = False
        self._vocabulary: dict[Any, int] = {}
        self._names: list[Any] = []
        self._query = view(np.zeros(64))
        self.leave()

    # ------------------------------------------------------------------ the block

    def enter(self, rows: Any) -> None:
        """Take a block of rows, whose features are by position or by name as those of the kept ones are."""
        self._block_width = rows.width
        self._block_dense = rows.columns is None
        self._block_values = view(rows.values)
        if rows.columns is not None:
            starts, columns = rows.starts, rows.columns
            if starts is None:  # a DataFrame
                starts = np.arange(rows.count + 1, dtype=np.int64) * rows.width
                columns = np.tile(columns, rows.count)
            self._block_columns = view(columns)
            self._block_starts = view(starts)
        self._named = rows.names is not None
        if rows.names is not None:
            self._block_names = rows.names
            self._find_places()

    def leave(self) -> None:
        """Let go of the caller's arrays."""
        self._block_dense = False
        self._block_width = 0
        self._block_values = view(NO_VALUES)
        self._block_columns = view(NO_COLUMNS)
        self._block_starts = view(NO_STARTS)
        self._block_names = []
        self._places = view(NO_COLUMNS)
        self._direct = False
        self._length = 0

    def _find_places(self) -> None:
        vocabulary: dict[Any, int] = self._vocabulary
        self._places = view(np.array([vocabulary.get(name, -1) for name in self._block_names], dtype=np.int32))

    @cython.cfunc
    @cython.nogil
    @cython.inline
    @cython.exceptval(check=False)
    def column(self, k: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """The column of entry k of the current row; -1 if no kept example has it."""
        if self._block_dense:
            return k
        if self._named:
            return self._places[self._block_columns[self._begin + k]]
        return self._block_columns[self._begin + k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def take(self, i: cython.Py_ssize_t) -> cython.void:
        """Make row i of the block the query."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        if self._block_dense:
            self._begin = i * self._block_width
            self._length = self._block_width
        else:
            self._begin = self._block_starts[i]
            self._length = self._block_starts[i + 1] - self._begin
        self._square = dot(self._block_values, self._begin, self._block_values, self._begin, self._length)
        self._direct = self._dense and self._block_dense
        if not self._direct:
            for k in range(self._length):
                column = self.column(k)
                if 0 <= column < self._reach:
                    self._query[column] = self._block_values[self._begin + k]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def release(self) -> cython.void:
        """Clear the query for the next row."""
        k: cython.Py_ssize_t
        column: cython.Py_ssize_t
        if not self._direct:
            for k in range(self._length):
                column = self.column(k)
                if 0 <= column < self._reach:
                    self._query[column] = 0.0

    # ------------------------------------------------------------------ the query with all kept examples

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def products(self, out: cython.double[::1], at: cython.Py_ssize_t) -> cython.void:
        """The inner products."""
        length: cython.Py_ssize_t = min(self._reach, self._length)
        if self._direct:
            dense_products(
                self._matrix, self._first, self._count, self._stride, self._block_values, self._begin, length, out, at
            )
        elif self._dense:
            dense_products(self._matrix, self._first, self._count, self._stride, self._query, 0, self._reach, out, at)
        else:
            sparse_products(self._starts, self._columns, self._values, self._first, self._count, self._query, out, at)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def distances(self, out: cython.double[::1], at: cython.Py_ssize_t) -> cython.void:
        """The squared distances: entry by entry where both are dense, |x|^2 + |z|^2 - 2 x . z where they are not."""
        s: cython.Py_ssize_t
        square: cython.double
        if self._direct:
            dense_distances(
                self._matrix,
                self._first,
                self._count,
                self._stride,
                self._reach,
                self._block_values,
                self._begin,
                self._length,
                out,
                at,
            )
            return
        self.products(out, at)
        for s in range(self._count):
            square = (self._square + self._squares[self._first + s]) - 2.0 * out[at + s]
            out[at + s] = 0.0 if square < 0.0 else square

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def all_products(self, out: cython.double[::1], at: cython.Py_ssize_t) -> cython.void:
        """The products of 1 + x_i z_i over all features."""
        length: cython.Py_ssize_t = min(self._reach, self._length)
        if self._direct:
            dense_all_products(
                self._matrix, self._first, self._count, self._stride, self._block_values, self._begin, length, out, at
            )
        elif self._dense:
            dense_all_products(
                self._matrix, self._first, self._count, self._stride, self._query, 0, self._reach, out, at
            )
        else:
            sparse_all_products(
                self._starts, self._columns, self._values, self._first, self._count, self._query, out, at
            )

    # ------------------------------------------------------------------ the query with itself

    def square(self) -> float:
        """The squared length of the query, its inner product with itself."""
        return self._square

    def own_distance(self) -> float:
        """The squared distance of the query from itself, as ``distances`` computes it."""
        # Not a number if the square is infinite.
        return 0.0 if self._direct else (self._square + self._square) - 2.0 * self._square

    def own_all_products(self) -> float:
        """The product of all 1 + x_i^2."""
        k: cython.Py_ssize_t
        value: cython.double
        product: cython.double = 1.0
        for k in range(self._length):
            value = self._block_values[self._begin + k]
            product *= 1.0 + value * value
        return product

    # ------------------------------------------------------------------ keeping and dropping

    def keep(self, i: cython.Py_ssize_t, square: cython.double) -> None:
        """Append row i of the block, whose squared length is given; if that fails, nothing has changed."""
        k: cython.Py_ssize_t
        dense: cython.bint = self._dense
        first: cython.Py_ssize_t = self._first
        stride: cython.Py_ssize_t = self._stride
        reach: cython.Py_ssize_t = self._reach
        known: cython.Py_ssize_t = len(self._names)
        squares: cython.double[::1] = self._squares
        matrix: cython.double[::1] = self._matrix
        starts: cython.longlong[::1] = self._starts
        columns: cython.int[::1] = self._columns
        values: cython.double[::1] = self._values
        query: cython.double[::1] = self._query
        places: cython.int[::1] = self._places
        vocabulary, names = self._vocabulary, self._names
        try:
            self._append(i, square)
        except BaseException:
            for name in names[known:]:
                vocabulary.pop(name, None)
            del names[known:]
            for k in range(places.shape[0]):
                if places[k] >= known:
                    places[k] = -1
            self._dense, self._first, self._stride, self._reach = dense, first, stride, reach
            self._squares = squares
            self._matrix = matrix
            self._starts = starts
            self._columns = columns
            self._values = values
            self._query = query
            self._places = places
            self._vocabulary, self._names = vocabulary, names
            raise

    def _append(self, i: cython.Py_ssize_t, square: cython.double) -> None:
        """Append row i of the block. What is overwritten in place is no part of a kept row."""
        if self._count == 0:
            self._empty()
        if self._dense and not self._block_dense:
            self._to_sparse()
        self._make_room()
        self._squares[self._first + self._count] = square
        reach: cython.Py_ssize_t = self._keep_dense(i) if self._dense else self._keep_sparse(i)
        if self._query.shape[0] < reach:
            self._query = longer(self._query, max(reach, 2 * self._query.shape[0]))
        # Only now, when nothing can fail any more.
        self._reach = reach
        self._count += 1

    def take_back(self, reach: cython.Py_ssize_t) -> None:
        """Drop the newest row again, before which so many columns were in use."""
        self._count -= 1
        self._reach = reach

    def reach(self) -> int:
        """How many columns are in use."""
        return self._reach

    def drop(self) -> None:
        """Drop the oldest row."""
        self._first += 1
        self._count -= 1

    def _empty(self) -> None:
        """Begin anew, in the form of the block."""
        self._first = 0
        self._reach = 0
        self._stride = 0
        self._dense = self._block_dense
        self._starts = view(np.zeros(self._squares.shape[0] + 1, dtype=np.int64))
        self._vocabulary = {}
        self._names = []
        if self._named:
            self._find_places()

    def _make_room(self) -> None:
        """Room for one more row: by moving the rows to the front if half of the room is free there, or by doubling."""
        used: cython.Py_ssize_t = self._first + self._count
        room: cython.Py_ssize_t = self._squares.shape[0]
        if used < room:
            return
        if self._first >= self._count:
            self._move_to_front()
            return
        self._squares = longer(self._squares, 2 * room)
        if self._dense:
            self._matrix = longer(self._matrix, 2 * room * self._stride)
        else:
            self._starts = longer(self._starts, 2 * room + 1)

    def _move_to_front(self) -> None:
        first, used = self._first, self._first + self._count
        count = used - first
        squares = np.array(self._squares)
        squares[:count] = squares[first:used].copy()
        if self._dense:
            matrix, stride = np.array(self._matrix), self._stride
            matrix[: count * stride] = matrix[first * stride : used * stride].copy()
            self._matrix = view(matrix)
        else:
            starts, columns, values = np.array(self._starts), np.array(self._columns), np.array(self._values)
            begin, end = int(starts[first]), int(starts[used])
            columns[: end - begin] = columns[begin:end].copy()
            values[: end - begin] = values[begin:end].copy()
            starts[: count + 1] = starts[first : used + 1] - begin
            self._forget_names(columns[: end - begin])
            self._starts = view(starts)
            self._columns = view(columns)
            self._values = view(values)
        self._squares = view(squares)
        self._first = 0

    def _forget_names(self, columns: Any) -> None:
        """Give up the columns that no kept row uses, where they are most of them."""
        if not self._named:
            self._reach = int(columns.max(initial=-1)) + 1
            return
        kept, renumbered = np.unique(columns, return_inverse=True)
        if 2 * len(kept) >= len(self._names):
            return
        columns[:] = renumbered
        self._names = [self._names[j] for j in kept.tolist()]
        self._vocabulary = {name: j for j, name in enumerate(self._names)}
        self._reach = len(self._names)
        self._find_places()

    def _keep_dense(self, i: cython.Py_ssize_t) -> int:
        """Copy the row to the end; how many columns are then in use."""
        width: cython.Py_ssize_t = self._block_width
        k: cython.Py_ssize_t
        a: cython.Py_ssize_t
        room: cython.Py_ssize_t = self._squares.shape[0]
        if width > self._stride or self._matrix.shape[0] < room * self._stride:
            stride = max(width, self._stride + self._stride // 2) if width > self._stride else self._stride
            matrix = np.zeros((room, stride))
            if self._count and self._stride:
                old = np.asarray(self._matrix)[: (self._first + self._count) * self._stride]
                matrix[: self._first + self._count, : self._stride] = old.reshape(-1, self._stride)
            self._matrix = view(matrix.reshape(-1))
            self._stride = stride
        a = (self._first + self._count) * self._stride
        for k in range(width):
            self._matrix[a + k] = self._block_values[i * width + k]
        for k in range(width, self._stride):
            self._matrix[a + k] = 0.0
        return max(self._reach, width)

    def _keep_sparse(self, i: cython.Py_ssize_t) -> int:
        """Copy the row to the end; how many columns are then in use."""
        reach: cython.Py_ssize_t = self._reach
        k: cython.Py_ssize_t
        local: cython.Py_ssize_t
        column: cython.Py_ssize_t
        begin: cython.Py_ssize_t = i * self._block_width if self._block_dense else self._block_starts[i]
        length: cython.Py_ssize_t = self._block_width if self._block_dense else self._block_starts[i + 1] - begin
        at: cython.Py_ssize_t = self._starts[self._first + self._count]
        if at + length > self._values.shape[0]:
            self._columns = longer(self._columns, 2 * (at + length))
            self._values = longer(self._values, 2 * (at + length))
        for k in range(length):
            if self._block_dense:
                if self._block_values[begin + k] == 0.0:
                    continue
                column = k
            elif self._named:
                local = self._block_columns[begin + k]
                if self._places[local] < 0:
                    self._places[local] = self._admit(self._block_names[local])
                column = self._places[local]
            else:
                column = self._block_columns[begin + k]
            self._columns[at] = column
            self._values[at] = self._block_values[begin + k]
            at += 1
            reach = max(reach, column + 1)
        self._starts[self._first + self._count + 1] = at
        return reach

    def _admit(self, name: Any) -> int:
        """The column of a name that is new."""
        column = len(self._names)
        self._vocabulary[name] = column
        self._names.append(plain_name(name))
        return column

    def _to_sparse(self) -> None:
        """Hold the dense rows as sparse ones from now on."""
        rows, squares = self.dense_rows(), np.array(self._squares)
        squares[: len(rows)] = squares[self._first : self._first + len(rows)].copy()
        kept = np.nonzero(rows)
        self._dense = False
        self._first = 0
        self._squares = view(squares)
        starts = np.zeros(self._squares.shape[0] + 1, dtype=np.int64)
        starts[1 : len(rows) + 1] = np.cumsum(np.count_nonzero(rows, axis=1))
        self._starts = view(starts)
        self._columns = view(kept[1].astype(np.int32))
        self._values = view(rows[kept])
        self._reach = int(kept[1].max(initial=-1)) + 1
        self._matrix = view(np.zeros(0))
        if self._query.shape[0] < self._reach:
            self._query = view(np.zeros(self._reach))

    # ------------------------------------------------------------------ what is there

    def is_dense(self) -> bool:
        return self._dense

    def dense_rows(self) -> Any:
        """A copy of the rows as a matrix."""
        used = self._first + self._count
        rows = np.asarray(self._matrix)[self._first * self._stride : used * self._stride]
        return np.array(rows.reshape(self._count, self._stride)[:, : self._reach])

    def sparse_rows(self) -> tuple[Any, Any, Any]:
        """Copies of where rows start, of columns and of values."""
        starts = np.array(self._starts[self._first : self._first + self._count + 1])
        begin, end = int(starts[0]), int(starts[self._count])
        return starts - begin, np.array(self._columns[begin:end]), np.array(self._values[begin:end])

    def names(self) -> list[Any]:
        return self._names
