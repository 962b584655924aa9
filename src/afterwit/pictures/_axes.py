"""Axes of rounds, and numbers along axes."""

from __future__ import annotations

from typing import Any

from afterwit.core.certificate import shown_number

#: A line of fewer points has them marked.
FEW = 12


def rounds_along(ax: Any, rounds: int, log: bool = False, first: int = 0) -> None:
    """The horizontal axis counts rounds."""
    from matplotlib.ticker import MaxNLocator, NullFormatter

    if log:
        ax.set_xscale("log")
        ax.set_xlim(1, max(2, rounds))
        # Of a few rounds each has its number; matplotlib would write it as a formula.
        few = (lambda value, _: whole(value) if value >= 1 else "") if rounds < 10 else NullFormatter()
        ax.xaxis.set_minor_formatter(few)
    else:
        ax.set_xlim(first, max(first + 1, rounds))
        ax.xaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10], min_n_ticks=1))
    ax.xaxis.set_major_formatter(whole)
    ax.set_xlabel("rounds")


def marked(style: dict[str, Any], points: int) -> dict[str, Any]:
    """The style of a line of so many points: a line of few has its points marked, of one it would not be seen."""
    return {**style, "marker": "o", "markersize": 4} if points < FEW else style


def whole(value: float, place: Any = None) -> str:
    """A tick of an axis that counts."""
    del place
    return f"{value:,.0f}"


def plain(value: float, place: Any = None) -> str:
    """A tick of an axis of any numbers: millions as such, and powers of ten where there would be many zeros."""
    del place
    if 1e6 <= abs(value) < 1e12:
        return f"{value / 1e6:,.10g} M"
    if value and not 1e-4 <= abs(value) < 1e12:
        return f"{value:.4g}"
    return f"{value:,.10g}"


def brief(value: float) -> str:
    """A number beside a line: as certificates have it, and millions as such.

    >>> brief(1846234200.0), brief(-14992.4), brief(float("inf"))
    ('1,846 M', '-14,992', 'infinity')
    """
    if not 1e6 <= abs(value) < 1e12:
        return shown_number(value)
    millions = value / 1e6
    return f"{millions:,.0f} M" if abs(millions) >= 1000 else f"{millions:.4g} M"


def nothing_yet(ax: Any, why: str) -> None:
    """A picture of nothing says so."""
    ax.set_axis_off()
    ax.text(0.5, 0.5, why, transform=ax.transAxes, ha="center", va="center")


def shown(value: float) -> str:
    """A number in a table."""
    return "" if value != value else shown_number(float(value))
