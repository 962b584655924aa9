"""What every picture has: a title, a sentence, the drawing, and the same numbers as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from afterwit.pictures import _svg
from afterwit.pictures._matplotlib import matplotlib, pyplot
from afterwit.pictures._style import styled

#: How wide pictures are on phones, in inches.
NARROW = 4.3


@dataclass(frozen=True)
class Table:
    """The numbers of a picture, for those who do not see it."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Picture:
    """One picture of one thing.

    A subclass says its kind, title and caption, draws itself and makes its table. ``plot`` draws it with matplotlib and
    gives it ``ax_`` and ``figure_``; ``svg`` is the same drawing for a page.
    """

    #: The name by which ``plot(kind=...)`` asks for it.
    kind: str
    #: Width and height in inches.
    size: tuple[float, float] = (7.2, 3.8)
    title: str
    #: One sentence that says what is to be seen.
    caption: str

    ax_: Any
    figure_: Any

    def draw(self, ax: Any) -> None:
        """Draw on matplotlib's axes: everything but the title."""
        raise NotImplementedError

    def table(self) -> Table:
        """The numbers, a few rows of them."""
        raise NotImplementedError

    def plot(self, ax: Any = None) -> Picture:
        """Draw on these axes, or on those of a new figure."""
        with styled():
            if ax is None:
                _, ax = pyplot().subplots(figsize=self.size, layout="constrained")
            self.draw(ax)
            ax.set_title(self.title)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @property
    def narrow(self) -> tuple[float, float]:
        """Its size on a phone."""
        return NARROW, self.size[1]

    def svg(self, key: str = "", size: tuple[float, float] | None = None) -> str:
        """The picture as an element of a page, without its title.

        key   what makes the ids of this picture different from those of others on the page
        size  width and height in inches, if not as usual
        """
        matplotlib()
        from matplotlib.figure import Figure

        with styled():
            figure = Figure(figsize=size or self.size, layout="constrained")
            self.draw(figure.subplots())
            return _svg.element(figure, key or self.kind, self.title, self.caption)

    def __repr__(self) -> str:
        return f"<picture: {self.title}>"
