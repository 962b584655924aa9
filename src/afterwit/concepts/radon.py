"""Radon's theorem: any d + 2 points of R^d fall into two sets whose convex hulls meet.

Statement   a set S in R^d of at least d + 2 points is the union of two disjoint subsets whose convex hulls have a point
            in common. So no hyperplane has one subset on its left and the other on its right: half-spaces of R^d
            shatter no d + 2 points, and their VC dimension is d + 1.
Proof       the points with a 1 put below each are d + 2 columns in R^(d+1): some combination of them, not all of it 0,
            is 0. Its positive coefficients and its negative ones sum to the same; divided by that sum they are two
            convex combinations of two sets of points, and the same point.
Source      Radon 1921; Blum, Hopcroft & Kannan, Foundations of Data Science, Theorem 6.25.

>>> found = radon_partition([[0, 0], [2, 0], [0, 2], [2, 2]])
>>> found.first, found.second, found.point.round(12).tolist()
((0, 3), (1, 2), [1.0, 1.0])
>>> found.first_weights.round(12).tolist(), found.second_weights.round(12).tolist()
([0.5, 0.5], [0.5, 0.5])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import Words, counted, invalid

Floats = npt.NDArray[np.float64]

#: Two combinations are the same point if no coordinate differs by more than this part of its range.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class RadonPartition:
    """Two disjoint sets of points, and a point of both convex hulls.

    first, second    the positions of the points in each set, ascending; every point is in one of them
    first_weights    not negative, summing to 1: the point as a convex combination of the first set
    second_weights   the same for the second set
    point            the common point
    gap              the largest difference of a coordinate between the two combinations: rounding
    """

    first: tuple[int, ...]
    second: tuple[int, ...]
    first_weights: Floats
    second_weights: Floats
    point: Floats
    gap: float


def radon_partition(points: Any) -> RadonPartition:
    """Part at least d + 2 points of R^d into two sets whose convex hulls meet, and say where.

    The common point is made of the first d + 2 points; any others are in the second set with weight 0. Both convex
    combinations are computed from the points and compared before they are returned.
    """
    array = _points(points)
    count, dimension = array.shape
    if count < dimension + 2:
        raise invalid("points", f"at least {dimension + 2} in R^{dimension}", Words(counted(count, "point")))
    used = array[: dimension + 2]
    # Neither a shift nor the unit of a coordinate matters to convex combinations: each coordinate is taken from its
    # own middle, in its own unit, so that none drowns in the rounding of another. First in halves: nothing overflows.
    middle = used.max(axis=0) / 2 + used.min(axis=0) / 2
    unit = used.max(axis=0) / 2 - used.min(axis=0) / 2
    unit[unit == 0] = 1.0
    scaled = (used / 2 - middle / 2) / unit * 2
    coefficients = _dependence(scaled)
    positive = coefficients >= 0
    first = np.flatnonzero(positive)
    second = np.concatenate([np.flatnonzero(~positive), np.arange(dimension + 2, count)])
    first_weights = coefficients[first] / coefficients[first].sum()
    second_weights = np.zeros(len(second))
    second_weights[: int((~positive).sum())] = coefficients[~positive] / coefficients[~positive].sum()
    # The points beyond have weight 0.
    one, two = first_weights @ scaled[first], second_weights[: int((~positive).sum())] @ scaled[~positive]
    gap = np.abs(one - two)
    assert gap.max() <= ROUNDING, f"the two combinations differ by {gap.max()}: a bug in afterwit"
    return RadonPartition(
        first=tuple(first.tolist()),
        second=tuple(second.tolist()),
        first_weights=first_weights,
        second_weights=second_weights,
        point=middle + (one / 2 + two / 2) * unit,
        gap=float((gap * unit).max()),
    )


def _dependence(points: Floats) -> Floats:
    """Coefficients, not all 0, with sum c_i = 0 and sum c_i x_i = 0; the first of them that is not 0 is positive."""
    columns = np.vstack([points.T, np.ones(len(points))])
    coefficients: Floats = np.linalg.svd(columns)[2][-1]
    coefficients = np.where(np.abs(coefficients) > 1e-14 * np.abs(coefficients).max(), coefficients, 0.0)
    # 0.0 - c, for -0.0 is no weight to show.
    return coefficients if coefficients[np.flatnonzero(coefficients)[0]] > 0 else 0.0 - coefficients


def _points(points: Any) -> Floats:
    try:
        array = np.asarray(points)
    except ValueError:
        raise invalid("points", "a 2-D array of numbers, one point a row", points) from None
    if array.ndim != 2 or array.dtype.kind not in "iuf" or array.shape[1] < 1:
        raise invalid("points", "a 2-D array of numbers, one point a row", points)
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0].tolist()
        raise invalid(f"points[{row}, {column}]", "a finite number", array[row, column].item())
    return array
