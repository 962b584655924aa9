"""Colours and lines of all pictures.

The colours differ in lightness as well as in hue, so that they can be told apart in print without colour and by people
who see few colours; lines that mean different things also have different strokes, and are labelled where they end. In
pages each colour is a variable of the style sheet, with one value on white and one on black.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from afterwit.pictures._matplotlib import matplotlib

#: Name -> the colour on a light ground, and on a dark one. No two are the same, or a page could not tell them apart.
COLOURS = {
    "ink": ("#1c2127", "#e9ecef"),
    "muted": ("#5d666f", "#a9b2ba"),
    "grid": ("#dde1e5", "#394048"),
    "happened": ("#0b5394", "#5aa9f0"),
    "bound": ("#c8500a", "#ff9d5c"),
    "hindsight": ("#2a9d74", "#8fe8cb"),
}
#: Between the two, for terminals, which do not say what their ground is.
TERMINAL = {"happened": "#3b8ad9", "bound": "#d4691e", "hindsight": "#2a9d74"}
#: For things without a meaning of their own, such as experts: neighbours differ in lightness.
SERIES = (
    ("#0b5395", "#5aa9f1"),
    ("#e69f00", "#ffd166"),
    ("#7a3e9d", "#b583d9"),
    ("#56b4e9", "#a8dcff"),
    ("#9c2d2d", "#e06c6c"),
    ("#8fbf4d", "#c8ec92"),
    ("#5b4a3f", "#a3897a"),
    ("#d67fb0", "#f2b6d6"),
)
INK, MUTED, GRID = (COLOURS[name][0] for name in ("ink", "muted", "grid"))
HAPPENED, BOUND, HINDSIGHT = (COLOURS[name][0] for name in ("happened", "bound", "hindsight"))
#: How each of the three numbers is drawn as a line.
LINES: dict[str, dict[str, Any]] = {
    "happened": {"color": HAPPENED, "linewidth": 2.0, "linestyle": "-"},
    "bound": {"color": BOUND, "linewidth": 1.8, "linestyle": (0, (5, 2))},
    "hindsight": {"color": HINDSIGHT, "linewidth": 1.8, "linestyle": (0, (1, 1.4))},
}
#: What has a meaning among lines of experts.
BESIDE: dict[str, dict[str, Any]] = {
    "mixture": {"color": HINDSIGHT, "linewidth": 1.2, "linestyle": "-"},
    "uniform": {"color": MUTED, "linewidth": 1.4, "linestyle": (0, (6, 2, 1.5, 2))},
    "lately": {"color": MUTED, "linewidth": 0.8, "linestyle": "-", "alpha": 0.7},
}
STROKES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))

#: The size of letters, in points.
LETTERS = 10

_SETTINGS = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.grid": True,
    "axes.labelcolor": MUTED,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": LETTERS + 2,
    "axes.titleweight": "bold",
    "font.family": ["DejaVu Sans"],
    "font.size": LETTERS,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "lines.solid_capstyle": "round",
    "path.simplify": False,
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    # A page is the same, byte for byte, whenever it is made.
    "svg.fonttype": "none",
    "svg.hashsalt": "afterwit",
}


def series(place: int) -> dict[str, Any]:
    """Colour and stroke of the one at this place among many."""
    colour, _ = SERIES[place % len(SERIES)]
    return {"color": colour, "linestyle": STROKES[place // len(SERIES) % len(STROKES)]}


@contextmanager
def styled() -> Iterator[None]:
    """Draw in this style; what the user has set for other figures stays.

    In a notebook the first figure loads the backend, which then says that figures are shown as they are made. That is
    a setting too, and must outlast the first figure, or no other one would be shown.
    """
    library = matplotlib()
    with library.rc_context(_SETTINGS):
        yield
        interactive = library.is_interactive()
    library.interactive(interactive)


def variables(dark: bool) -> dict[str, str]:
    """The names of all colours in a style sheet, and their values."""
    named = {f"--aw-{name}": values for name, values in COLOURS.items()}
    named |= {f"--aw-series-{place}": values for place, values in enumerate(SERIES, 1)}
    return {name: values[dark] for name, values in named.items()}
