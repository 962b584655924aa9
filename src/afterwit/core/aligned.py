r"""Tables of plain text.

>>> print("\n".join(aligned([("learner", "error"), ("sgd", "12.50%"), ("perceptron", "9.00%")])))
learner      error
sgd         12.50%
perceptron   9.00%
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

#: The space between two columns.
GAP = "  "


def aligned(rows: Sequence[Sequence[str]], narrowest: int = 0) -> list[str]:
    """Rows of cells as lines: the first column to the left, the others to the right, however wide letters are.

    narrowest  how wide the columns after the first are at least
    """
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    widths = [*widths[:1], *(max(narrowest, width) for width in widths[1:])]
    lines = []
    for first, *others in rows:
        right = [to_the_right(cell, width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append(GAP.join([to_the_left(first, widths[0]), *right]).rstrip())
    return lines


def to_the_left(cell: str, width: int) -> str:
    """A cell with space behind it."""
    return cell + " " * (width - cell_len(cell))


def to_the_right(cell: str, width: int) -> str:
    """A cell with space before it."""
    return " " * (width - cell_len(cell)) + cell


def in_columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Cells to the right of columns of these widths: a row of a table whose other rows come later."""
    return " ".join(to_the_right(cell, width) for cell, width in zip(cells, widths, strict=False))


def cut(text: str, most: int) -> str:
    """A text that is at most so wide, with its end left out if need be.

    >>> cut("a long name", 8), cut("short", 8)
    ('a long…', 'short')
    """
    return text if cell_len(text) <= most else f"{set_cell_size(text, max(0, most - 1)).rstrip(' ')}…"
