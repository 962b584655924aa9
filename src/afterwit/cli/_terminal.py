"""What a terminal shows: text that fits its width, with few colours. In pipes and files text stays as it is.

Colours are those of the pictures. There are none if NO_COLOR is set or the terminal is a dumb one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from afterwit.core.aligned import GAP, cut, to_the_left, to_the_right
from afterwit.core.turns import Rounds
from afterwit.core.wording import WIDTH
from afterwit.pictures._style import TERMINAL

#: How the word before each number of a certificate is shown.
HEADS = {"promised": "bound", "bound": "bound", "happened": "happened", "hindsight": "hindsight", "verdict": "bold"}
#: Other words with which lines begin, and which are less important than what follows.
QUIET = (
    *("because", "delays", "theorem", "assumes", "also", "worst", "value", "gap", "rounds", "row", "column"),
    *("target", "number", "category", "text", "time", "weight", "boolean", "not used", "missing", "hashed", "product"),
)
VERDICTS = {"holds": "green", "not applicable": "yellow", "violated": "bold red"}
STYLES = {**TERMINAL, "bold": "bold", "dim": "dim"}

_BEGINNING = re.compile(r"( *)((?:[a-z]+(?: [a-z]+)?) {2,}(?=\S))?")
#: A line of a certificate that goes on with the one before: texts begin further to the left.
_CONTINUED = " " * 14
_UNIT = re.compile(r"(?<=\d)( ?(?:%|µs))$")
#: Names are not cut to less than this; columns from the right are left out first.
SHORTEST = 12
#: The console of the progress bar that is shown: text goes above it.
above_the_bar: list[Console] = []


def is_terminal(stream: object) -> bool:
    """Whether someone sees what is written to it at once."""
    return bool(stream is not None and getattr(stream, "isatty", bool)())


def terminal(err: bool) -> Terminal | None:
    """The terminal to which standard output or standard error goes; None for a pipe or a file."""
    return Terminal(err) if is_terminal(sys.stderr if err else sys.stdout) else None


class Terminal:
    """Prints text so that it fits."""

    def __init__(self, err: bool = False) -> None:
        self._console = Console(stderr=err, highlight=False, markup=False, emoji=False)

    @property
    def width(self) -> int:
        return max(20, self._console.width)

    @property
    def draws(self) -> bool:
        """Whether it can show characters that are no letters."""
        return self._console.encoding.startswith("utf")

    def print(self, line: Text) -> None:
        if not above_the_bar:
            self._console.print(line, soft_wrap=True)
            return
        # Ctrl-C waits until the bar is below the text again.
        with Rounds():
            above_the_bar[-1].print(line, soft_wrap=True)

    def text(self, text: str, style: str = "") -> None:
        """Lines of text; those that are too long go on below, never within a word."""
        for line in text.split("\n"):
            for i, part in enumerate(wrapped(line, self.width)):
                self.print(Text(part, STYLES[style]) if style else _coloured(part, begins=not i))

    def section(self, text: str) -> None:
        """A headline and what belongs to it; certificates were broken into lines for another width."""
        title, _, rest = (_rejoined(text) if self.width < WIDTH else text).partition("\n")
        self.text(title, "bold")
        self.text(rest)

    def error(self, text: str, mark: str, style: str) -> None:
        """A message that begins with a word in a colour."""
        parts = [part for line in text.split("\n") for part in wrapped(line, self.width)]
        for i, part in enumerate(parts):
            line = Text(part)
            if not i:
                line.stylize(style, 0, len(mark))
            self.print(line)

    def table(self, rows: Sequence[Sequence[str]], narrowest: int, styles: Sequence[str] = ()) -> None:
        """Rows of cells below their heads: the first column to the left, the others to the right.

        styles  of the rows below the heads
        """
        widths = _widths(rows, self.width, narrowest)
        for i, row in enumerate(rows):
            line = Text()
            for j, (cell, width) in enumerate(zip(row, widths, strict=False)):
                line.append(_cell(cell, width, first=not j) + (GAP if j + 1 < len(widths) else ""))
            line.rstrip()
            style = "bold" if not i else styles[i - 1] if i <= len(styles) else ""
            if style:
                line.stylize(STYLES[style])
            self.print(line)
        if len(widths) < len(rows[0]):
            self.text(f"(in a wider terminal: {', '.join(rows[0][len(widths) :])})", "dim")


def wrapped(line: str, width: int) -> list[str]:
    """A line in parts of that width, however wide letters are; a word is only cut if it has no room by itself."""
    if cell_len(line) <= width:
        return [line]
    start = _BEGINNING.match(line)
    assert start is not None
    indent = len(start[0]) + 2 if len(start[0]) + 2 <= width // 2 else min(len(start[1]) + 2, width // 2)
    parts, part = [], start[0]
    for word in line[len(part) :].split(" "):
        joined = part + word if not part.strip() or part == start[0] else f"{part} {word}"
        if cell_len(joined) <= width:
            part = joined
        elif cell_len(word) <= width - indent:
            parts.append(part)
            part = " " * indent + word
        else:
            # It has no room anywhere: it begins here and goes on below.
            (first, *pieces) = chop_cells(joined, width)
            whole = chop_cells("".join(pieces), width - indent)
            parts += [first, *(" " * indent + piece for piece in whole[:-1])]
            part = " " * indent + whole[-1]
    return [*parts, part]


def _rejoined(text: str) -> str:
    """A certificate with each of its texts on one line."""
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and line.startswith(_CONTINUED):
            # Where a word with a hyphen was broken, there was no space.
            glue = "" if re.search(r"\S-$", lines[-1]) else " "
            lines[-1] += glue + line.lstrip()
        else:
            lines.append(line)
    return "\n".join(lines)


def _coloured(line: str, begins: bool) -> Text:
    """A line with its first word in the colour that it has in pictures."""
    text = Text(line)
    found = _BEGINNING.match(line)
    if not begins or found is None or found[2] is None:
        return text
    head = found[2].rstrip()
    start = len(found[1])
    if head in HEADS:
        text.stylize(STYLES[HEADS[head]], start, start + len(head))
    elif head in QUIET:
        text.stylize("dim", start, start + len(head))
    if head == "verdict":
        said = line[found.end() :]
        verdict = next((name for name in VERDICTS if said.startswith(name)), "")
        if verdict:
            # A bound that says nothing is no good news.
            style = "yellow" if "says nothing" in said else VERDICTS[verdict]
            text.stylize(style, found.end(), found.end() + len(verdict))
    return text


def _cell(cell: str, width: int, first: bool) -> Text:
    if first:
        return Text(to_the_left(cut(cell, width), width))
    text = Text(to_the_right(cell, width))
    unit = _UNIT.search(cell)
    if unit is not None:
        text.stylize("dim", len(text) - len(unit[0]), len(text))
    return text


def _widths(rows: Sequence[Sequence[str]], width: int, narrowest: int) -> list[int]:
    """How wide each column is; those on the right for which there is no room are left out."""
    natural = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    others = [max(narrowest, each) for each in natural[1:]]
    if natural[0] + sum(others) + len(GAP) * len(others) > width:
        others = natural[1:]
    first = min(natural[0], SHORTEST)
    while len(others) > 1 and first + sum(others) + len(GAP) * len(others) > width:
        others.pop()
    return [min(natural[0], max(first, width - sum(others) - len(GAP) * len(others))), *others]
