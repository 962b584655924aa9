# cython: boundscheck=False, wraparound=False, cdivision=True
"""The support set: kept examples with coefficients, and the kernel's values of all of them with one further example.

The features of the kept examples are in `KeptRows`, for strings in one for each length of substring. A kernel is run as
a few steps on a stack of arrays with a number for every kept example; see `_steps`. All of it is in the order of the
rows, each sum over the entries of a row goes to running sum k mod 4 for entry k whatever the row's length, and zeros
change no sum. So the values depend on nothing but the kept examples: neither on how many were scored at once nor on
room that was reserved. Compiled and interpreted agree to the bit.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import cython
import numpy as np

from afterwit.core.learner import view
from afterwit.errors import InputError, Words, invalid
from afterwit.kernels._kept_rows import longer
from afterwit.kernels._kernel import kernel_value
from afterwit.kernels._steps import Operation, program

if cython.compiled:
    from cython.cimports.afterwit.kernels._kept_rows import KeptRows
    from cython.cimports.afterwit.linear._products import dot
    from cython.cimports.libc.math import exp
else:
    from math import exp

    from afterwit.kernels._kept_rows import KeptRows
    from afterwit.linear._products import dot

PRODUCTS = cython.declare(cython.int, Operation.PRODUCTS)
DISTANCES = cython.declare(cython.int, Operation.DISTANCES)
ALL_PRODUCTS = cython.declare(cython.int, Operation.ALL_PRODUCTS)
FUNCTION = cython.declare(cython.int, Operation.FUNCTION)
POWER = cython.declare(cython.int, Operation.POWER)
GAUSSIAN = cython.declare(cython.int, Operation.GAUSSIAN)
ADD = cython.declare(cython.int, Operation.ADD)
MULTIPLY = cython.declare(cython.int, Operation.MULTIPLY)


@cython.cclass
class Support:
    """Kept examples, oldest first, with a coefficient each: the function sum_s c_s K(x_s, .)."""

    # The kernel's program: see `Program`.
    _operations: cython.int[::1]
    _places: cython.int[::1]
    _numbers: cython.double[::1]
    _depth: cython.Py_ssize_t
    _features: tuple[Any, ...]
    _functions: tuple[Any, ...]
    # The stack of arrays; each has room for _room numbers.
    _stack: cython.double[::1]
    _room: cython.Py_ssize_t
    # The kept examples: their features, one `KeptRows` for each kind, and where a kernel asks for them, themselves.
    _rows: list[Any]
    _coefficients: cython.double[::1]
    _first: cython.Py_ssize_t
    _count: cython.Py_ssize_t
    _form: cython.object
    _objects: list[Any]
    _keeps_objects: cython.bint
    # The block that is learned or scored.
    _examples: cython.object

    def __init__(self, kernel: Any) -> None:
        made = program(kernel.steps())
        self._operations = view(made.operations)
        self._places = view(made.places)
        self._numbers = view(made.numbers)
        self._depth = made.depth
        self._features = made.features
        self._functions = made.functions
        self._keeps_objects = bool(made.functions) or kernel.takes == "strings"
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._rows = [KeptRows() for _ in self._features]
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
        for key, rows in zip(self._features, self._rows, strict=True):
            rows.enter(examples.parts[key])

    def leave(self) -> None:
        """Let go of the block."""
        self._examples = None
        for rows in self._rows:
            rows.leave()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _evaluate(self, i: cython.Py_ssize_t) -> cython.int:
        """The kernel's values of all kept examples with the current one, at the bottom of the stack."""
        rows: KeptRows
        step: cython.Py_ssize_t
        operation: cython.int
        place: cython.int
        number: cython.double
        s: cython.Py_ssize_t
        at: cython.Py_ssize_t = -self._room
        for step in range(self._operations.shape[0]):
            operation = self._operations[step]
            place = self._places[step]
            number = self._numbers[step]
            if operation in (PRODUCTS, DISTANCES, ALL_PRODUCTS):
                at += self._room
                rows = self._rows[place]
                with cython.nogil:
                    if operation == PRODUCTS:
                        rows.products(self._stack, at)
                    elif operation == DISTANCES:
                        rows.distances(self._stack, at)
                    else:
                        rows.all_products(self._stack, at)
            elif operation == FUNCTION:
                at += self._room
                call = self._functions[place]
                x = self._examples.objects[i]
                for s in range(self._count):
                    self._stack[at + s] = kernel_value(call(self._objects[s], x))
            elif operation in (ADD, MULTIPLY):
                at -= self._room
                with cython.nogil:
                    for s in range(at, at + self._count):
                        self._stack[s] = joined(operation, self._stack[s], self._stack[s + self._room])
            else:
                with cython.nogil:
                    for s in range(at, at + self._count):
                        self._stack[s] = changed(operation, place, number, self._stack[s])
        return 0

    def _own_value(self, i: cython.Py_ssize_t) -> float:
        """K(x, x) for the current example."""
        rows: KeptRows
        step: cython.Py_ssize_t
        operation: cython.int
        place: cython.int
        stack: list[Any] = []
        for step in range(self._operations.shape[0]):
            operation = self._operations[step]
            place = self._places[step]
            if operation in (PRODUCTS, DISTANCES, ALL_PRODUCTS):
                rows = self._rows[place]
                if operation == PRODUCTS:
                    stack.append(rows.square())
                elif operation == DISTANCES:
                    stack.append(rows.own_distance())
                else:
                    stack.append(rows.own_all_products())
            elif operation == FUNCTION:
                x = self._examples.objects[i]
                stack.append(kernel_value(self._functions[place](x, x)))
            elif operation in (ADD, MULTIPLY):
                last = stack.pop()
                stack.append(joined(operation, stack.pop(), last))
            else:
                stack.append(changed(operation, place, self._numbers[step], stack.pop()))
        return stack[0]

    def score(self, i: cython.Py_ssize_t, learning: cython.bint) -> float:
        """The sum of c_s K(x_s, x) for example i of the block; to learn it, K(x, x) must be finite as well."""
        rows: KeptRows
        own: cython.double = 0.0
        total: cython.double
        for rows in self._rows:
            rows.take(i)
        try:
            self._evaluate(i)
            if learning:
                own = self._own_value(i)
        finally:
            for rows in self._rows:
                rows.release()
        with cython.nogil:
            total = dot(self._coefficients, self._first, self._stack, 0, self._count)
        # The difference is not 0 where one of them is infinite or not a number.
        if total - total != 0.0 or own - own != 0.0:
            raise self._refusal(i)
        return total

    def _refusal(self, i: int) -> InputError:
        allowed = "an example whose kernel values are finite numbers"
        return invalid(self._examples.place(i), allowed, Words("one that makes them overflow"))

    def keep(self, i: cython.Py_ssize_t, coefficient: cython.double) -> None:
        """Append example i of the block; if that fails, nothing has changed."""
        rows: KeptRows
        self._make_room()
        kept = deepcopy(self._examples.objects[i]) if self._keeps_objects else None
        done: list[Any] = []
        try:
            for rows in self._rows:
                rows.take(i)
                rows.release()
                reach = rows.reach()
                rows.keep(i, rows.square())
                done.append((rows, reach))
            if self._keeps_objects:
                self._objects.append(kept)
        except BaseException:
            for rows, reach in done:
                rows.take_back(reach)
            raise
        self._coefficients[self._first + self._count] = coefficient
        self._count += 1
        self.settle()
        if self._form == "dense" or self._form == "sparse":
            self._form = "dense" if self._rows[0].is_dense() else "sparse"

    def _make_room(self) -> None:
        """Room for one more example; room that is not used counts for nothing."""
        used: cython.Py_ssize_t = self._first + self._count
        if used == self._coefficients.shape[0]:
            coefficients = np.asarray(self._coefficients)
            if self._first >= self._count:
                coefficients[: self._count] = coefficients[self._first : used].copy()
                self._first = 0
            else:
                self._coefficients = longer(self._coefficients, 2 * used)
        if self._count + 1 > self._room:
            stack = np.zeros(self._depth * 2 * self._room)
            self._room = 2 * self._room
            self._stack = view(stack)

    def drop(self) -> None:
        """Drop the oldest example."""
        if self._keeps_objects:
            del self._objects[0]
        for rows in self._rows:
            rows.drop()
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
        return self._rows[0].dense_rows() if self._count else np.zeros((0, 0))

    def sparse_rows(self) -> tuple[Any, Any, Any]:
        if not self._count:
            return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0)
        return self._rows[0].sparse_rows()

    def names(self) -> list[Any]:
        return self._rows[0].names()


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def changed(operation: cython.int, k: cython.int, number: cython.double, value: cython.double) -> cython.double:
    """One step of arithmetic on one value."""
    power: cython.double = 1.0
    if operation == GAUSSIAN:
        return exp(-value / number)
    if operation != POWER:
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


@cython.cfunc
@cython.nogil
@cython.inline
@cython.exceptval(check=False)
def joined(operation: cython.int, one: cython.double, other: cython.double) -> cython.double:
    """Two values made one."""
    return one + other if operation == ADD else one * other
