"""Classes over boolean vectors: disjunctions, conjunctions and parities of some variables.

Setting     points in {0, 1}^n. A hypothesis is a set of variables, or of literals (a variable or its negation):
            a disjunction is 1 where one of them is 1, a conjunction where all are, a parity where an odd number is.
            The empty disjunction and the empty parity are 0 everywhere, the empty conjunction 1.
Sizes       a set of s out of n variables takes s + 1 bits for s in unary, then ceil(log2 C(n, s)) for which; literals
            take s more for the signs. That language is prefix-free: few variables, few bits.
Source      the classes: Blum, Hopcroft & Kannan, Foundations of Data Science, sections 6.2.1 and 6.4.1; Mohri,
            Rostamizadeh & Talwalkar 2018, Example 2.6 (conjunctions, 3^n of them).

>>> mails = monotone_disjunctions(["cheap", "pills", "lunch"])
>>> mails
<8 hypotheses, 8 points>
>>> mails.consistent([(1, 0, 0), (0, 0, 1)], [1, 0])
['cheap', 'cheap or pills']
>>> conjunctions(2).names
['always', 'x1', 'not x1', 'x2', 'x1 and x2', 'not x1 and x2', 'not x2', 'x1 and not x2', 'not x1 and not x2']
>>> parities(20, 2, points=[(1, 0) * 10, (1, 1) * 10])
<211 hypotheses, 2 points>
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice, product
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.concepts._bits import WORD, Words64, full, pack, unpack, words_for
from afterwit.concepts.finite_class import FiniteClass, checked_points, checked_size
from afterwit.data.checks import is_whole, whole_number
from afterwit.errors import Words, invalid

#: If no points are given, they are all boolean vectors, up to this many variables.
MOST_VARIABLES_FOR_ALL_POINTS = 16
#: How many hypotheses are packed at once.
BLOCK = 1 << 14


def monotone_disjunctions(variables: Any, size: int | None = None, points: Any = None) -> FiniteClass:
    """The disjunctions of some variables, none of them negated.

    variables  how many, or their names
    size       the most variables in one disjunction; any number if not given
    points     boolean vectors; all 2^n of them if not given, up to n = 16
    """
    return _class("monotone_disjunctions", "or", False, variables, size, points)


def disjunctions(variables: Any, size: int | None = None, points: Any = None) -> FiniteClass:
    """The disjunctions of literals, each variable as it is, negated or not at all; options as in the monotone case."""
    return _class("disjunctions", "or", True, variables, size, points)


def monotone_conjunctions(variables: Any, size: int | None = None, points: Any = None) -> FiniteClass:
    """The conjunctions of some variables, none of them negated; options as for disjunctions."""
    return _class("monotone_conjunctions", "and", False, variables, size, points)


def conjunctions(variables: Any, size: int | None = None, points: Any = None) -> FiniteClass:
    """The conjunctions of literals, each variable as it is, negated or not at all; options as for disjunctions."""
    return _class("conjunctions", "and", True, variables, size, points)


def parities(variables: Any, size: int | None = None, points: Any = None) -> FiniteClass:
    """The parities of some variables: 1 where an odd number of them is 1; options as for disjunctions."""
    return _class("parities", "xor", False, variables, size, points)


@dataclass(frozen=True, eq=False)
class _Literals:
    """Which literals each hypothesis has: a row of words for every variable, and one for every negation."""

    kind: str
    variables: tuple[str, ...]
    count: int
    plain: Words64
    negated: Words64 | None

    def __call__(self, hypothesis: int) -> str:
        """The hypothesis in words."""

        def has(rows: Words64 | None, j: int) -> bool:
            return rows is not None and bool(int(rows[j, hypothesis // 64]) >> (hypothesis % 64) & 1)

        literals = []
        for j, variable in enumerate(self.variables):
            if has(self.plain, j):
                literals.append(variable)
            if has(self.negated, j):
                literals.append(f"not {variable}")
        if not literals:
            return "always" if self.kind == "and" else "never"
        return f" {self.kind} ".join(literals)

    def lengths(self) -> npt.NDArray[np.int64]:
        """How many literals each hypothesis has."""
        total = np.zeros(self.count, dtype=np.int64)
        for rows in (self.plain, self.negated):
            for row in () if rows is None else rows:
                total += unpack(row, self.count)
        return total

    def votes(self, point: tuple[Any, ...]) -> Words64:
        """The hypotheses that are 1 at a point."""
        votes = np.zeros(self.plain.shape[1], dtype=self.plain.dtype)
        for j, value in enumerate(point):
            if self.kind == "xor":
                if value:
                    votes ^= self.plain[j]
                continue
            # A disjunction is 1 where a literal is, a conjunction is 0 where a literal is.
            wanted = bool(value) == (self.kind == "or")
            rows = self.plain if wanted else self.negated
            if rows is not None:
                votes |= rows[j]
        return full(self.count) & ~votes if self.kind == "and" else votes


def _class(made_by: str, kind: str, signed: bool, variables: Any, size: Any, points: Any) -> FiniteClass:
    names = variable_names(variables)
    n = len(names)
    if size is not None:
        size = whole_number("size", size, words="a whole number of variables, at least 0, or None")
    found = boolean_domain(points, n)
    arguments = {
        "variables": n if is_whole(variables) else names,
        "size": size,
        "points": None if points is None else found,
    }
    most = n if size is None else min(size, n)
    total = sum(math.comb(n, s) * (2**s if signed else 1) for s in range(most + 1))
    literals = _literals(kind, names, most, signed, checked_size(total, max(len(found), 2 * n)))
    bits = np.stack([literals.votes(point) for point in found])
    lengths = literals.lengths()
    cost = [s + 1 + math.ceil(math.log2(math.comb(n, s))) + (s if signed else 0) for s in range(n + 1)]
    sizes = np.array(cost, dtype=np.int64)[lengths]
    return FiniteClass._made(total, bits, found, literals, sizes, (made_by, arguments))


def variable_names(variables: Any) -> tuple[str, ...]:
    """The names of the variables; x1, x2, ... if only their number is given."""
    if is_whole(variables) and int(variables) >= 1:
        return tuple(f"x{j + 1}" for j in range(variables))
    named = isinstance(variables, Iterable) and not isinstance(variables, (str, bytes))
    names = tuple(variables) if named else ()
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
        raise invalid("variables", "how many, at least 1, or a list of different names", variables)
    return names


def boolean_domain(points: Any, n: int) -> tuple[tuple[int, ...], ...]:
    """Points, each a vector of n numbers 0 or 1; all vectors if None are given and n is small."""
    if points is None:
        if n > MOST_VARIABLES_FOR_ALL_POINTS:
            what = f"given for more than {MOST_VARIABLES_FOR_ALL_POINTS} variables (there are 2^{n} boolean vectors)"
            raise invalid("points", what, points)
        return tuple(product((0, 1), repeat=n))
    if isinstance(points, np.ndarray) and points.ndim == 2:
        points = points.tolist()
    found = checked_points(points)
    if not found:
        raise invalid("points", "at least one point", Words("none"))
    for point in found:
        if not isinstance(point, tuple) or len(point) != n or not all(value in (0, 1) for value in point):
            raise invalid("points", f"vectors of {n} numbers 0 or 1", point)
    return tuple(tuple(int(value) for value in point) for point in found)


def _literals(kind: str, names: tuple[str, ...], most: int, signed: bool, total: int) -> _Literals:
    """Every set of at most ``most`` literals, packed a block of hypotheses at a time."""
    n = len(names)
    rows = np.empty((2 * n if signed else n, words_for(total)), dtype=WORD)
    blocks = _all_sets(n, signed, total) if most == n else _small_sets(n, most, signed)
    for k, block in enumerate(blocks):
        words = pack(block)
        rows[:, k * BLOCK // 64 : k * BLOCK // 64 + words.shape[1]] = words
    return _Literals(kind, names, total, rows[:n], rows[n:] if signed else None)


def _all_sets(n: int, signed: bool, total: int) -> Iterator[npt.NDArray[np.bool_]]:
    """Any number of literals: variable j is digit j of a counter."""
    base = 3 if signed else 2
    powers = base ** np.arange(n, dtype=np.int64)[:, None]
    for begin in range(0, total, BLOCK):
        digits = np.arange(begin, min(begin + BLOCK, total)) // powers % base
        yield np.concatenate([digits == 1, digits == 2]) if signed else digits == 1


def _small_sets(n: int, most: int, signed: bool) -> Iterator[npt.NDArray[np.bool_]]:
    """Few literals: the smaller sets come first."""
    chosen = chain.from_iterable(combinations(range(n), s) for s in range(most + 1))
    sets = (literals for some in chosen for literals in product(*((j, n + j) for j in some))) if signed else chosen
    while block := list(islice(sets, BLOCK)):
        member = np.zeros((2 * n if signed else n, len(block)), dtype=np.bool_)
        hypotheses = np.repeat(np.arange(len(block)), [len(literals) for literals in block])
        member[np.fromiter(chain.from_iterable(block), dtype=np.intp), hypotheses] = True
        yield member
