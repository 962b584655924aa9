"""Labels at the ends of lines, in place of a legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from afterwit.pictures._style import LETTERS

#: How far below the axes legends begin, in points: below ticks and a label.
BELOW = 38.0


def label_ends(ax: Any, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write each text in its colour at the right edge, at the height where its line ends; none covers another.

    ends  the last value of each line, what to write and the colour. The limits of the axes must be final
    """
    low, high = sorted(ax.get_ylim())
    ends = [end for end in ends if np.isfinite(end[0])]
    if not ends:
        return
    heights = _fractions(ax, [min(max(value, low), high) for value, _, _ in ends])
    least = 1.25 * LETTERS / (72 * ax.figure.get_size_inches()[1] * ax.get_position().height)
    for (_, text, colour), height in zip(ends, apart(heights, least), strict=True):
        ax.text(1.01, height, text, color=colour, transform=ax.transAxes, va="center", ha="left", fontsize=LETTERS)


def legend_below(ax: Any, columns: int, **what: Any) -> None:
    """A legend below the label of the horizontal axis, where labels at the ends have no place."""
    from matplotlib.transforms import ScaledTranslation

    below = ax.transAxes + ScaledTranslation(0, -BELOW / 72, ax.figure.dpi_scale_trans)
    place = {"loc": "upper right", "bbox_to_anchor": (1, 0), "bbox_transform": below, "borderaxespad": 0.0}
    ax.legend(ncols=columns, fontsize=LETTERS, handletextpad=0.5, **place, **what)


def _fractions(ax: Any, values: list[float]) -> list[float]:
    """Heights in data as parts of the height of the axes."""
    points = (ax.transScale + ax.transLimits).transform([(ax.get_xlim()[1], value) for value in values])
    return [float(height) for _, height in points]


def apart(heights: Sequence[float], least: float) -> list[float]:
    """The heights, moved as little as needed to be at least so far from each other, between 0 and 1 if there is room.

    Each label that is too near to the one below moves up; a group that would leave at the top is pushed down again.

    >>> apart([0.5, 0.5, 0.9], 0.1)
    [0.5, 0.6, 0.9]
    >>> [round(height, 2) for height in apart([0.95, 1.0, 0.97], 0.1)]
    [0.8, 1.0, 0.9]
    """
    order = sorted(range(len(heights)), key=lambda i: (heights[i], i))
    placed = [0.0] * len(heights)
    floor = -np.inf
    for i in order:
        placed[i] = max(heights[i], floor)
        floor = placed[i] + least
    ceiling = 1.0
    for i in reversed(order):
        placed[i] = min(placed[i], ceiling)
        ceiling = placed[i] - least
    return placed
