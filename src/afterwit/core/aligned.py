r"""Tables of plain text.

>>> print("\n".join(aligned([("learner", "error"), ("sgd", "12.50%"), ("perceptron", "9.00%")])))
learner      error
sgd         12.50%
perceptron   9.00%
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

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
        right = [" " * (width - cell_len(cell)) + cell for cell, width in zip(others, widths[1:], strict=True)]
        lines.append(GAP.join([first + " " * (widths[0] - cell_len(first)), *right]).rstrip())
    return lines
