# cython: boundscheck=False, wraparound=False, cdivision=True
"""The support set: kept examples with coefficients, and the kernel's values of all of them with one further example.

The examples lie row after row in contiguous memory, a matrix for dense rows, compressed sparse rows over a vocabulary
for all others; strings have one such table for every length of substring. Room doubles when it runs out. A dropped
example leaves at the front, and the space is taken back when the rows are moved.

A kernel is run as a few steps on a stack of arrays with a number for every kept example: products with one row, then
arithmetic. All of it is in the order of the rows, each sum over the entries of a row goes to running sum k mod 4 for
entry k whatever the row's length, and zeros change no sum. So the values depend on nothing but the kept examples:
neither on how many were scored at once nor on room that was reserved. Compiled and interpreted agree to the bit.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import cython
import numpy as np

from afterwit.data.rows import plain_name
from afterwit.errors import InputError, Words, invalid
from afterwit.kernels._kernel import kernel_value

if cython.compiled:
    from cython.cimports.libc.math import exp
else:
    from math import exp

#: The steps of a kernel; the first four put an array on the stack.
STEPS = ("products", "distances", "all products", "function", "power", "gaussian", "scale", "add", "multiply")


def view(array: Any) -> Any:
    """An array as the loops want it: interpreted, a memoryview, whose items are plain Python numbers."""
    return array if cython.compiled else memoryview(array)


def longer(array: Any, size: int) -> Any:
    """A copy of an array with room for more."""
    old = np.asarray(array)
    new = np.zeros(size, dtype=old.dtype)
    new[: len(old)] = old
    return view(new)


@cython.cclass
class Part:
    """The features of the kept examples, and one row of a block as the query."""

    _dense: cython.bint
    _first: cython.Py_ssize_t
    _count: cython.Py_ssize_t
    # Dense rows: row s begins at s * _stride; the first _reach columns are used.
    _matrix: cython.double[::1]
    _stride: cython.Py_ssize_t
    # Sparse rows: row s has the entries from _starts[s] to _starts[s + 1]; _reach columns are in use.
    _starts: cython.longlong[::1]
    _columns: cython.int[::1]
    _values: cython.double[::1]
    _reach: cython.Py_ssize_t
    _squares: cython.double[::1]
    _named: cython.bint
    _vocabulary: dict[Any, int]
    _names: list[Any]

    # The block, its names' columns, and the current row of it: a vector over the columns in use, or read in place.
    _block_dense: cython.bint
    _block_width: cython.Py_ssize_t
    _block_values: cython.const[cython.double][::1]  # type: ignore[valid-type]
    _block_columns: cython.const[cython.int][::1]  # type: ignore[valid-type]
    _block_starts: cython.const[cython.longlong][::1]  # type: ignore[valid-type]
    _block_names: list[Any]
    _places: cython.int[::1]
    _begin: cython.Py_ssize_t
    _length: cython.Py_ssize_t
    _square: cython.double
    _query: cython.double[::1]
    _direct: cython.bint

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
        self._vocabulary = {}
        self._names = []
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
        self._block_values = view(np.zeros(0))
        self._block_columns = view(np.zeros(0, dtype=np.int32))
        self._block_starts = view(np.zeros(1, dtype=np.int64))
        self._block_names = []
        self._places = view(np.zeros(0, dtype=np.int32))
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
        value: cython.double
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        s2: cython.double = 0.0
        s3: cython.double = 0.0
        if self._block_dense:
            self._begin = i * self._block_width
            self._length = self._block_width
        else:
            self._begin = self._block_starts[i]
            self._length = self._block_starts[i + 1] - self._begin
        for k in range(self._length):
            value = self._block_values[self._begin + k]
            if k & 3 == 0:
                s0 += value * value
            elif k & 3 == 1:
                s1 += value * value
            elif k & 3 == 2:
                s2 += value * value
            else:
                s3 += value * value
        self._square = (s0 + s1) + (s2 + s3)
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
        s: cython.Py_ssize_t
        k: cython.Py_ssize_t
        a: cython.Py_ssize_t
        length: cython.Py_ssize_t
        s0: cython.double
        s1: cython.double
        s2: cython.double
        s3: cython.double
        if self._direct:
            self.dense_products(self._block_values, self._begin, min(self._reach, self._length), out, at)
            return
        if self._dense:
            self.dense_products(self._query, 0, self._reach, out, at)
            return
        for s in range(self._count):
            a = self._starts[self._first + s]
            length = self._starts[self._first + s + 1] - a
            s0 = s1 = s2 = s3 = 0.0
            k = 0
            while k + 3 < length:
                s0 += self._values[a + k] * self._query[self._columns[a + k]]
                s1 += self._values[a + k + 1] * self._query[self._columns[a + k + 1]]
                s2 += self._values[a + k + 2] * self._query[self._columns[a + k + 2]]
                s3 += self._values[a + k + 3] * self._query[self._columns[a + k + 3]]
                k += 4
            if k < length:
                s0 += self._values[a + k] * self._query[self._columns[a + k]]
            if k + 1 < length:
                s1 += self._values[a + k + 1] * self._query[self._columns[a + k + 1]]
            if k + 2 < length:
                s2 += self._values[a + k + 2] * self._query[self._columns[a + k + 2]]
            out[at + s] = (s0 + s1) + (s2 + s3)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def dense_products(
        self,
        x: cython.const[cython.double][::1],  # type: ignore[valid-type]
        b: cython.Py_ssize_t,
        length: cython.Py_ssize_t,
        out: cython.double[::1],
        at: cython.Py_ssize_t,
    ) -> cython.void:
        """The inner products of dense rows with x from b on."""
        s: cython.Py_ssize_t
        k: cython.Py_ssize_t
        a: cython.Py_ssize_t
        s0: cython.double
        s1: cython.double
        s2: cython.double
        s3: cython.double
        for s in range(self._count):
            a = (self._first + s) * self._stride
            s0 = s1 = s2 = s3 = 0.0
            k = 0
            while k + 3 < length:
                s0 += self._matrix[a + k] * x[b + k]
                s1 += self._matrix[a + k + 1] * x[b + k + 1]
                s2 += self._matrix[a + k + 2] * x[b + k + 2]
                s3 += self._matrix[a + k + 3] * x[b + k + 3]
                k += 4
            if k < length:
                s0 += self._matrix[a + k] * x[b + k]
            if k + 1 < length:
                s1 += self._matrix[a + k + 1] * x[b + k + 1]
            if k + 2 < length:
                s2 += self._matrix[a + k + 2] * x[b + k + 2]
            out[at + s] = (s0 + s1) + (s2 + s3)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def distances(self, out: cython.double[::1], at: cython.Py_ssize_t) -> cython.void:
        """The squared distances: entry by entry where both are dense, |x|^2 + |z|^2 - 2 x . z where they are not."""
        s: cython.Py_ssize_t
        k: cython.Py_ssize_t
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t = self._begin
        length: cython.Py_ssize_t
        longest: cython.Py_ssize_t
        d0: cython.double
        d1: cython.double
        d2: cython.double
        d3: cython.double
        s0: cython.double
        s1: cython.double
        s2: cython.double
        s3: cython.double
        if not self._direct:
            self.products(out, at)
            for s in range(self._count):
                s0 = (self._square + self._squares[self._first + s]) - 2.0 * out[at + s]
                out[at + s] = 0.0 if s0 < 0.0 else s0
            return
        length = min(self._reach, self._length)
        longest = max(self._reach, self._length)
        for s in range(self._count):
            a = (self._first + s) * self._stride
            s0 = s1 = s2 = s3 = 0.0
            k = 0
            while k + 3 < length:
                d0 = self._matrix[a + k] - self._block_values[b + k]
                d1 = self._matrix[a + k + 1] - self._block_values[b + k + 1]
                d2 = self._matrix[a + k + 2] - self._block_values[b + k + 2]
                d3 = self._matrix[a + k + 3] - self._block_values[b + k + 3]
                s0 += d0 * d0
                s1 += d1 * d1
                s2 += d2 * d2
                s3 += d3 * d3
                k += 4
            while k < longest:
                # What one row has beyond the other's end is its distance from 0.
                if k < length:
                    d0 = self._matrix[a + k] - self._block_values[b + k]
                elif k < self._reach:
                    d0 = self._matrix[a + k]
                else:
                    d0 = self._block_values[b + k]
                if k & 3 == 0:
                    s0 += d0 * d0
                elif k & 3 == 1:
                    s1 += d0 * d0
                elif k & 3 == 2:
                    s2 += d0 * d0
                else:
                    s3 += d0 * d0
                k += 1
            out[at + s] = (s0 + s1) + (s2 + s3)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def all_products(self, out: cython.double[::1], at: cython.Py_ssize_t) -> cython.void:
        """The products of 1 + x_i z_i over all features."""
        s: cython.Py_ssize_t
        k: cython.Py_ssize_t
        a: cython.Py_ssize_t
        b: cython.Py_ssize_t = self._begin
        length: cython.Py_ssize_t
        value: cython.double
        p: cython.double
        for s in range(self._count):
            p = 1.0
            if self._dense:
                a = (self._first + s) * self._stride
                length = min(self._reach, self._length) if self._direct else self._reach
                for k in range(length):
                    value = self._block_values[b + k] if self._direct else self._query[k]
                    p *= 1.0 + self._matrix[a + k] * value
            else:
                a = self._starts[self._first + s]
                for k in range(a, self._starts[self._first + s + 1]):
                    p *= 1.0 + self._values[k] * self._query[self._columns[k]]
            out[at + s] = p

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def own(self, step: cython.int) -> cython.double:
        """The query with itself."""
        k: cython.Py_ssize_t
        value: cython.double
        p: cython.double = 1.0
        if step == 0:
            return self._square
        if step == 1:
            # Not a number if the square is infinite.
            return 0.0 if self._direct else (self._square + self._square) - 2.0 * self._square
        for k in range(self._length):
            value = self._block_values[self._begin + k]
            p *= 1.0 + value * value
        return p

    # ------------------------------------------------------------------ keeping and dropping

    def keep(self, i: cython.Py_ssize_t, square: cython.double) -> None:
        """Append row i of the block, whose squared length is given."""
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
        squares = np.asarray(self._squares)
        squares[:count] = squares[first:used].copy()
        if self._dense:
            matrix, stride = np.asarray(self._matrix), self._stride
            matrix[: count * stride] = matrix[first * stride : used * stride].copy()
        else:
            starts, columns, values = np.asarray(self._starts), np.asarray(self._columns), np.asarray(self._values)
            begin, end = int(starts[first]), int(starts[used])
            columns[: end - begin] = columns[begin:end].copy()
            values[: end - begin] = values[begin:end].copy()
            starts[: count + 1] = starts[first : used + 1] - begin
            self._forget_names(columns[: end - begin])
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
            if self._count:
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
        rows, squares = self.dense_rows(), np.asarray(self._squares)
        squares[: len(rows)] = squares[self._first : self._first + len(rows)].copy()
        kept = np.nonzero(rows)
        self._dense = False
        self._first = 0
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

    def square(self) -> float:
        """The squared length of the query."""
        return self._square


@cython.cclass
class Support:
    """Kept examples, oldest first, with a coefficient each: the function sum_s c_s K(x_s, .)."""

    _parts: list[Any]
    _keys: list[Any]
    _functions: list[Any]
    _steps: cython.int[::1]
    _which: cython.int[::1]
    _numbers: cython.double[::1]
    _stack: cython.double[::1]
    _room: cython.Py_ssize_t
    _depth: cython.Py_ssize_t
    _coefficients: cython.double[::1]
    _first: cython.Py_ssize_t
    _count: cython.Py_ssize_t
    _form: cython.object
    _examples: cython.object
    _objects: list[Any]
    _keeps_objects: cython.bint

    def __init__(self, kernel: Any) -> None:
        steps = kernel.steps()
        self._steps = view(np.array([STEPS.index(name) for name, _ in steps], dtype=np.int32))
        self._keys = list(dict.fromkeys(what for name, what in steps if STEPS.index(name) < 3))
        self._functions = [what for name, what in steps if name == "function"]
        which, numbers = [], []
        level = deepest = 0
        for name, what in steps:
            # Which part, which function, or which power; and the number that others need.
            if STEPS.index(name) < 3:
                which.append(self._keys.index(what))
            elif name == "function":
                which.append(self._functions.index(what))
            else:
                which.append(what if name == "power" else 0)
            numbers.append(what if name in ("gaussian", "scale") else 0.0)
            level += 1 if STEPS.index(name) < 4 else -1 if name in ("add", "multiply") else 0
            deepest = max(deepest, level)
        self._which = view(np.array(which, dtype=np.int32))
        self._numbers = view(np.array(numbers))
        self._depth = deepest
        self._parts = [Part() for _ in self._keys]
        self._keeps_objects = bool(self._functions) or kernel.takes == "strings"
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._parts = [Part() for _ in self._keys]
        self._room = 16
        self._stack = view(np.zeros(self._depth * self._room))
        self._coefficients = view(np.zeros(16))
        self._first = 0
        self._count = 0
        self._form = None
        self._examples = None
        self._objects = []

    def enter(self, examples: Any) -> None:
        """Take a block of checked examples; they must be of the kind that is known."""
        form = self._form
        if form is not None and (form == "named") != (examples.form == "named"):
            allowed = (
                "dicts, sets or a DataFrame, because this learner has learned features by name"
                if form == "named"
                else "an array or sparse rows, because this learner has learned features by position"
            )
            raise invalid("x", allowed, Words("names" if examples.form == "named" else "positions"))
        self._examples = examples
        for key, part in zip(self._keys, self._parts, strict=True):
            part.enter(examples.parts[key])

    def leave(self) -> None:
        """Let go of the block."""
        self._examples = None
        for part in self._parts:
            part.leave()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _evaluate(self, i: cython.Py_ssize_t) -> cython.int:
        """The kernel's values of all kept examples with the current one, at the bottom of the stack."""
        part: Part
        step: cython.Py_ssize_t
        what: cython.int
        which: cython.int
        number: cython.double
        s: cython.Py_ssize_t
        at: cython.Py_ssize_t = -self._room
        for step in range(self._steps.shape[0]):
            what = self._steps[step]
            which = self._which[step]
            number = self._numbers[step]
            if what < 3:
                at += self._room
                part = self._parts[which]
                with cython.nogil:
                    if what == 0:
                        part.products(self._stack, at)
                    elif what == 1:
                        part.distances(self._stack, at)
                    else:
                        part.all_products(self._stack, at)
            elif what == 3:
                at += self._room
                call = self._functions[which]
                x = self._examples.objects[i]
                for s in range(self._count):
                    self._stack[at + s] = kernel_value(call(self._objects[s], x))
            elif what < 7:
                with cython.nogil:
                    for s in range(at, at + self._count):
                        self._stack[s] = changed(what, which, number, self._stack[s])
            else:
                at -= self._room
                if what == 7:
                    for s in range(at, at + self._count):
                        self._stack[s] += self._stack[s + self._room]
                else:
                    for s in range(at, at + self._count):
                        self._stack[s] *= self._stack[s + self._room]
        return 0

    def _own_value(self, i: cython.Py_ssize_t) -> float:
        """K(x, x) for the current example."""
        part: Part
        step: cython.Py_ssize_t
        what: cython.int
        which: cython.int
        number: cython.double
        stack: list[Any] = []
        for step in range(self._steps.shape[0]):
            what = self._steps[step]
            which = self._which[step]
            number = self._numbers[step]
            if what < 3:
                part = self._parts[which]
                stack.append(part.own(what))
            elif what == 3:
                x = self._examples.objects[i]
                stack.append(kernel_value(self._functions[which](x, x)))
            elif what < 7:
                stack.append(changed(what, which, number, stack.pop()))
            else:
                last = stack.pop()
                stack.append(stack.pop() + last if what == 7 else stack.pop() * last)
        return stack[0]

    def score(self, i: cython.Py_ssize_t, learning: cython.bint) -> float:
        """The sum of c_s K(x_s, x) for example i of the block; to learn it, K(x, x) must be finite as well."""
        part: Part
        s: cython.Py_ssize_t = 0
        n: cython.Py_ssize_t = self._count
        s0: cython.double = 0.0
        s1: cython.double = 0.0
        s2: cython.double = 0.0
        s3: cython.double = 0.0
        own: cython.double = 0.0
        for part in self._parts:
            part.take(i)
        try:
            self._evaluate(i)
            if learning:
                own = self._own_value(i)
        finally:
            for part in self._parts:
                part.release()
        with cython.nogil:
            while s + 3 < n:
                s0 += self._coefficients[self._first + s] * self._stack[s]
                s1 += self._coefficients[self._first + s + 1] * self._stack[s + 1]
                s2 += self._coefficients[self._first + s + 2] * self._stack[s + 2]
                s3 += self._coefficients[self._first + s + 3] * self._stack[s + 3]
                s += 4
            if s < n:
                s0 += self._coefficients[self._first + s] * self._stack[s]
            if s + 1 < n:
                s1 += self._coefficients[self._first + s + 1] * self._stack[s + 1]
            if s + 2 < n:
                s2 += self._coefficients[self._first + s + 2] * self._stack[s + 2]
            s0 = (s0 + s1) + (s2 + s3)
            s1 = s0 - s0
            s2 = own - own
        if s1 != 0.0 or s2 != 0.0:
            raise self._refusal(i)
        return s0

    def _refusal(self, i: int) -> InputError:
        allowed = "an example whose kernel values are finite numbers"
        return invalid(self._examples.place(i), allowed, Words("one that makes them overflow"))

    def keep(self, i: cython.Py_ssize_t, coefficient: cython.double) -> None:
        """Append example i of the block."""
        part: Part
        used: cython.Py_ssize_t = self._first + self._count
        if used == self._coefficients.shape[0]:
            coefficients = np.asarray(self._coefficients)
            if self._first >= self._count:
                coefficients[: self._count] = coefficients[self._first : used].copy()
                self._first = 0
            else:
                self._coefficients = longer(self._coefficients, 2 * used)
        kept = deepcopy(self._examples.objects[i]) if self._keeps_objects else None
        for part in self._parts:
            part.take(i)
            part.release()
            part.keep(i, part.square())
        if self._keeps_objects:
            self._objects.append(kept)
        self._coefficients[self._first + self._count] = coefficient
        self._count += 1
        if self._count > self._room:
            self._room = 2 * self._room
            self._stack = view(np.zeros(self._depth * self._room))
        self.settle()
        if self._form == "dense" or self._form == "sparse":
            self._form = "dense" if self._parts[0].is_dense() else "sparse"

    def drop(self) -> None:
        """Drop the oldest example."""
        if self._keeps_objects:
            del self._objects[0]
        for part in self._parts:
            part.drop()
        self._first += 1
        self._count -= 1

    def settle(self) -> None:
        """Examples of this form are learned from now on."""
        if self._form is None:
            self._form = self._examples.form

    # ------------------------------------------------------------------ what is there

    def count(self) -> int:
        return self._count

    def form(self) -> str | None:
        return self._form

    def coefficients(self) -> Any:
        """A copy of the coefficients, oldest first."""
        return np.array(self._coefficients[self._first : self._first + self._count])

    def objects(self) -> list[Any]:
        return list(self._objects)

    def dense_rows(self) -> Any:
        return self._parts[0].dense_rows() if self._count else np.zeros((0, 0))

    def sparse_rows(self) -> tuple[Any, Any, Any]:
        if not self._count:
            return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0)
        return self._parts[0].sparse_rows()

    def names(self) -> list[Any]:
        return self._parts[0].names()


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def changed(what: cython.int, k: cython.int, number: cython.double, value: cython.double) -> cython.double:
    """One step of arithmetic on one value."""
    power: cython.double = 1.0
    if what == 5:
        return exp(-value / number)
    if what == 6:
        return number * value
    # (1 + value)^k by squaring.
    value = 1.0 + value
    while k > 0:
        if k & 1:
            power *= value
        k >>= 1
        if k > 0:
            value *= value
    return power
