"""A matrix as cells of one colour: the larger a number, the stronger. That can be seen in print, and on any ground."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import shown_number
from afterwit.pictures._bars import short
from afterwit.pictures._style import INK, LETTERS

#: The strongest colour, on which text can still be read, and how many steps lead to it.
STRONGEST = 0.55
STEPS = 8
#: Up to so many cells have their numbers in them.
MOST_WRITTEN = 100
#: How wide names of rows are, in inches; how wide a digit is, for its height; how small it may be, in points.
NAMES_BESIDE, WIDTH_OF_A_DIGIT, SMALLEST_LETTERS = 1.9, 0.64, 5.5
#: How many characters of a name stand beside a row or below a column, and how many rows have names at most.
ROW_NAME, COLUMN_NAME, MOST_NAMES = 20, 12, 32


def shade(ax: Any, shares: npt.NDArray[np.float64], colour: str, strongest: float = STRONGEST) -> None:
    """Fill the cells, each in proportion to its share of the strongest colour, from 0 to 1."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    steps = np.rint(np.nan_to_num(shares) * STEPS).astype(int)
    for step in range(1, STEPS + 1):
        # One path for all cells of a shade, and one piece for neighbours in a row: short in a page.
        corners = [
            corner
            for i, row in enumerate(steps == step)
            for begin, end in _runs(row)
            for corner in ((begin, i), (end, i), (end, i + 1), (begin, i + 1), (begin, i))
        ]
        if corners:
            moves = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
            path = Path(corners, moves * (len(corners) // 5))
            ax.add_patch(PathPatch(path, facecolor=colour, alpha=strongest * step / STEPS, linewidth=0))
    rows, columns = shares.shape
    ax.set_xlim(0, columns)
    ax.set_ylim(rows, 0)
    ax.grid(visible=False)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _runs(row: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where the cells that are set begin and end."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def write_numbers(ax: Any, numbers: npt.NDArray[Any]) -> None:
    """The number of each cell in it, if there are few cells and they are wide enough."""
    if numbers.size > MOST_WRITTEN:
        return
    rounded = [float(f"{value:.3g}") for value in numbers.flat]
    # Payoffs that differ by little must not look the same, as far as there is room.
    exact = numbers.shape[1] <= 4 and len(set(rounded)) < len(np.unique(numbers))
    texts = [f"{value:.15g}" for value in numbers.flat] if exact else [shown_number(value) for value in rounded]
    write(ax, numbers.shape, texts)


def write(ax: Any, shape: tuple[int, ...], texts: Sequence[str]) -> None:
    """A text in each cell, row by row, if the cells are wide enough."""
    room = _room(ax) / shape[1]
    size = min(LETTERS - 1, room / (WIDTH_OF_A_DIGIT * (1 + max(map(len, texts)))))
    if size >= SMALLEST_LETTERS:
        for (i, j), text in zip(np.ndindex(*shape), texts, strict=True):
            ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", fontsize=round(size), color=INK)


def _room(ax: Any) -> float:
    """How wide all cells are together, in points, beside names of the usual length."""
    width = float(ax.figure.get_size_inches()[0])
    return 72 * (width - NAMES_BESIDE)


def frame(ax: Any, chosen: npt.NDArray[np.bool_]) -> None:
    """A line around each of the chosen cells."""
    down, across = (np.argwhere(chosen) + 0.06).T
    gap = np.full(len(down), np.nan)
    right, below = across + 0.88, down + 0.88
    x = np.stack([across, right, right, across, across, gap], axis=1)
    y = np.stack([down, down, below, below, down, gap], axis=1)
    ax.plot(x.ravel(), y.ravel(), color=INK, linewidth=1.0)


def name_sides(ax: Any, rows: Sequence[str], columns: Sequence[str], notes: tuple[Any, Any] = ((), ())) -> None:
    """The names of the rows on the left, and those of the columns below; of very many, every second, third, ...

    notes  what is written after the names of the rows, and of the columns
    """
    step = 1 + (len(rows) - 1) // MOST_NAMES
    names = [short(name, ROW_NAME) + note for name, note in zip(rows, notes[0] or [""] * len(rows), strict=True)]
    ax.set_yticks(np.arange(len(rows))[::step] + 0.5, names[::step], color=INK)
    room = _room(ax)
    step = math.ceil(1.3 * LETTERS * len(columns) / room)
    names = [short(name, COLUMN_NAME) for name in columns]
    after = notes[1] or [""] * len(names)
    longest = max(len(text) for text in (*names, *after))
    upright = WIDTH_OF_A_DIGIT * LETTERS * (longest + 1) * len(names[::step]) > room
    names = [
        f"{name}{note}" if upright or not note else f"{name}\n{note.removeprefix(': ')}"
        for name, note in zip(names, after, strict=True)
    ]
    rotation = 90 if upright else 0
    ax.set_xticks(np.arange(len(columns))[::step] + 0.5, names[::step], color=INK, rotation=rotation)
