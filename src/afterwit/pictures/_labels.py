"""Labels at the ends of lines, in place of a legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from afterwit.pictures._style import INK, LETTERS

#: How far below the axes legends begin, in points: below ticks and a label.
BELOW = 38.0


def label_ends(ax: Any, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write each text in its colour at the right edge, at the height where its line ends; none covers another.

    ends  the last value of each line, what to write and the colour. The limits of the axes must be final
    """
    ends = [end for end in ends if np.isfinite(end[0])]
    # Each has the room of the one with the most lines.
    lines = max((text.count("\n") + 1 for _, text, _ in ends), default=1)
    for (_, text, colour), height in zip(ends, _heights(ax, [value for value, _, _ in ends], lines), strict=True):
        beside(ax, height, text, colour)


def label_areas(ax: Any, ends: Sequence[tuple[float, str, str, float]]) -> None:
    """The same for areas: a square has the colour, so that the text can be read whatever that is.

    ends  the middle of the right edge of each area, what to write, the colour and how much of it is left
    """
    for (_, text, colour, left), height in zip(ends, _heights(ax, [end[0] for end in ends]), strict=True):
        beside(ax, height, "■", colour, alpha=left)
        beside(ax, height, text, INK, 5 + 1.3 * LETTERS)


def beside(ax: Any, height: float, text: str, colour: str, points: float = 5.0, **how: Any) -> None:
    """Write a text at the right of the axes, so many points away, at this part of their height."""
    _beside(ax, ax.transAxes, height, text, colour, points, **how)


def columns_beside(ax: Any, *columns: tuple[str, str, float, Sequence[str]]) -> None:
    """Columns of numbers at the right of axes whose rows are at 0, 1, 2, ...; their heads are in row -1.

    columns  the head of each, its colour, how far its right edge is away in points, and the cells
    """
    for head, colour, points, cells in columns:
        for row, cell in enumerate([head, *cells], start=-1):
            _beside(ax, ax.get_yaxis_transform(), row, cell, colour, points, ha="right")


def _beside(ax: Any, place: Any, height: float, text: str, colour: str, points: float, **how: Any) -> None:
    from matplotlib.transforms import ScaledTranslation

    place = place + ScaledTranslation(points / 72, 0, ax.figure.dpi_scale_trans)
    ax.text(1, height, text, color=colour, transform=place, fontsize=LETTERS, **{"va": "center", "ha": "left", **how})


def rows_down(ax: Any, names: Sequence[str], heads: bool = False) -> None:
    """Rows with these names, the first one on top; above it there may be room for the heads of columns."""
    ax.set_ylim(len(names) - 0.4, -1.4 if heads else -0.6)
    ax.set_yticks(range(len(names)), names)
    ax.tick_params(axis="y", length=0, labelcolor=INK)
    ax.grid(visible=False, axis="y")


def _heights(ax: Any, values: Sequence[float], lines: int = 1) -> list[float]:
    """Where labels of so many lines stand for what ends at these values, as parts of the height of the axes."""
    if not values:
        return []
    low, high = sorted(ax.get_ylim())
    least = 1.25 * lines * LETTERS / (72 * ax.figure.get_size_inches()[1] * ax.get_position().height)
    return apart(_fractions(ax, [min(max(value, low), high) for value in values]), least)


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
