"""Classes over ordered points: thresholds, intervals, and boxes on a grid.

Setting     thresholds say 1 from some point on: n + 1 of them over n points, with VC dimension 1 and Littlestone
            dimension floor(log2(n + 1)), because a learner must search. Intervals say 1 between two points: their VC
            dimension is 2. Boxes are products of intervals, over a grid of d dimensions: VC dimension 2d, where the
            grid is large enough. The empty interval and the empty box say 0 everywhere.
Sizes       each hypothesis takes ceil(log2 |H|) bits.
Source      thresholds, intervals and rectangles: Mohri, Rostamizadeh & Talwalkar 2018, sections 2.1 and 3.3; Blum,
            Hopcroft & Kannan, Foundations of Data Science, section 6.9.

>>> thresholds([1, 5, 20]).names
['x >= 1', 'x >= 5', 'x >= 20', 'never']
>>> intervals(4)
<11 hypotheses, 4 points>
>>> boxes((3, 3)).consistent([(0, 0), (2, 1), (0, 2)], [1, 1, 0])
['0 <= x1 <= 2 and 0 <= x2 <= 1']
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np

from afterwit.concepts._bits import WORD, pack, words_for
from afterwit.concepts.finite_class import FiniteClass, Recipe, checked_points, checked_size
from afterwit.data.checks import is_whole
from afterwit.errors import invalid, shorten


def thresholds(points: Any) -> FiniteClass:
    """x >= a for every point a, and never: ``points`` is a number n for 0, 1, ..., n - 1, or the points themselves."""
    found, given = _ordered("points", points)
    count = checked_size(len(found) + 1, len(found))
    hypotheses = np.arange(count)
    said = (hypotheses <= at for at in range(len(found)))
    return _made(count, said, found, _Thresholds(found), ("thresholds", {"points": given}))


def intervals(points: Any) -> FiniteClass:
    """a <= x <= b for all points a <= b, and never: ``points`` as for thresholds."""
    found, given = _ordered("points", points)
    return _products((found,), lambda: found, ("x",), ("intervals", {"points": given}))


def boxes(grid: Any) -> FiniteClass:
    """Products of intervals over a grid, and never.

    grid  for each dimension how many values there are, or the values in order; the points are all their combinations,
          as tuples
    """
    if not isinstance(grid, Iterable) or isinstance(grid, (str, bytes)) or not (sides := list(grid)):
        raise invalid("grid", "a number of values, or the values, for each dimension", grid)
    checked = [_ordered(f"grid[{k}]", side) for k, side in enumerate(sides)]
    values = tuple(found for found, _ in checked)
    variables = tuple(f"x{k + 1}" for k in range(len(values)))
    recipe = "boxes", {"grid": [given for _, given in checked]}
    return _products(values, lambda: tuple(product(*values)), variables, recipe)


def _products(sides: Any, points: Callable[[], Any], variables: tuple[str, ...], recipe: Recipe) -> FiniteClass:
    """One interval for each side, all combinations, and never; the points are made once their number is allowed."""
    count = checked_size(math.prod(_pairs(side) for side in sides) + 1, math.prod(map(len, sides)))
    ends = [np.array([(low, high) for low in range(len(side)) for high in range(low, len(side))]) for side in sides]

    def said(at: tuple[int, ...]) -> Any:
        row = np.ones(1, dtype=np.bool_)
        for pairs, place in zip(ends, at, strict=True):
            row = (row[:, None] & ((pairs[:, 0] <= place) & (place <= pairs[:, 1]))[None, :]).ravel()
        return np.append(row, False)

    rows = (said(at) for at in product(*(range(len(side)) for side in sides)))
    return _made(count, rows, points(), _Boxes(sides, variables), recipe)


def _made(count: int, said: Iterable[Any], points: tuple[Any, ...], names: Any, recipe: Recipe) -> FiniteClass:
    """A class from what is said of each point, packed point by point."""
    bits = np.empty((len(points), words_for(count)), dtype=WORD)
    for at, row in enumerate(said):
        bits[at] = pack(row)
    sizes = np.full(count, (count - 1).bit_length(), dtype=np.int64)
    return FiniteClass._made(count, bits, points, names, sizes, recipe)


def _pairs(side: tuple[Any, ...]) -> int:
    return len(side) * (len(side) + 1) // 2


def _ordered(parameter: str, points: Any) -> tuple[tuple[Any, ...], Any]:
    """The points, in increasing order, and the form in which they are saved."""
    if is_whole(points) and int(points) >= 1:
        # Every class here has more hypotheses than points: too many are refused before they are made.
        checked_size(int(points) + 1, int(points))
        return tuple(range(points)), int(points)
    if isinstance(points, str | bytes) or not isinstance(points, Iterable):
        raise invalid(parameter, "how many, at least 1, or the points in increasing order", points)
    found = checked_points(points)
    try:
        rising = bool(found) and all(a < b for a, b in pairwise(found))
    except TypeError:
        rising = False
    if not rising:
        raise invalid(parameter, "in increasing order, at least one", points)
    return found, list(found)


@dataclass(frozen=True, eq=False)
class _Thresholds:
    points: tuple[Any, ...]

    def __call__(self, hypothesis: int) -> str:
        return f"x >= {shorten(self.points[hypothesis])}" if hypothesis < len(self.points) else "never"


@dataclass(frozen=True, eq=False)
class _Boxes:
    sides: tuple[tuple[Any, ...], ...]
    variables: tuple[str, ...]

    def __call__(self, hypothesis: int) -> str:
        parts = []
        for side, variable in zip(reversed(self.sides), reversed(self.variables), strict=True):
            hypothesis, pair = divmod(hypothesis, _pairs(side))
            # Pairs (low, high) in order: how many begin below each low.
            low = 0
            while pair >= len(side) - low:
                pair -= len(side) - low
                low += 1
            parts.append(f"{shorten(side[low])} <= {variable} <= {shorten(side[low + pair])}")
        return "never" if hypothesis else " and ".join(reversed(parts))
