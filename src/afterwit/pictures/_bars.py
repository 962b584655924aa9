"""Horizontal bars on one scale: with a sentence above each, or with a name to the left of it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from afterwit.core.certificate import shown_number
from afterwit.pictures._style import HAPPENED, INK, LETTERS, MUTED

#: Values further apart than this are drawn on a logarithmic scale.
FAR = 50.0
#: matplotlib's limits must be numbers too, and some larger than the values.
LARGEST = 1e300
#: Logarithmic scales begin at most so far below their largest value.
SMALLEST_PART = 1e-60

#: Heights in points: of a line of text, of a bar, of what is between two bars, and of the ticks and their label.
LINE, BAR, GAP, BELOW = 13.0, 11.0, 10.0, 62.0
#: How many characters fit above a bar in a picture so wide, in inches.
WIDEST_TEXT, WIDTH = 92, 7.2
#: How many characters of a name are shown.
WIDEST_NAME = 28
#: Numbers on scales and beside bars have at most so many characters.
LONGEST_NUMBER = 9


@dataclass(frozen=True)
class Bar:
    """A bar, and what is written above it. Without a value there is only the text."""

    text: str
    value: float | None
    colour: str
    muted: bool = False

    def lines(self, width: float = WIDTH) -> list[str]:
        """The text in a picture so wide: in a narrow one it has more lines."""
        part = width / WIDTH
        most = 2 if part >= 1 else 4
        return textwrap.wrap(self.text, int(WIDEST_TEXT * part), max_lines=most, placeholder=" ...") or [""]

    @property
    def drawn(self) -> float | None:
        """The length of the bar; None if there is none."""
        return None if self.value is None or math.isnan(self.value) else min(max(self.value, -LARGEST), LARGEST)

    def height(self, width: float = WIDTH) -> float:
        return LINE * len(self.lines(width)) + (GAP if self.drawn is None else BAR + GAP)


def size_of(bars: Sequence[Bar], width: float = WIDTH) -> tuple[float, float]:
    """The size of a picture of these bars, in inches."""
    return width, (sum(bar.height(width) for bar in bars) + BELOW) / 72


def draw_bars(ax: Any, bars: Sequence[Bar], label: str, reference: float, ceiling: float | None = None) -> None:
    """The bars from top to bottom, each below its text; what they measure is written below the scale.

    reference  what the others are compared with: a line goes through all bars where it ends
    ceiling    where another line goes through them
    """
    scale_for(ax, [bar.value for bar in bars if bar.value is not None], reference)
    top, right, width = 0.0, ax.get_xlim()[1], ax.figure.get_size_inches()[0]
    across = ax.get_yaxis_transform()
    for bar in bars:
        for i, line in enumerate(bar.lines(width)):
            place = (0.0, -top - LINE * (i + 0.85))
            colour = MUTED if bar.muted else INK
            ax.text(*place, line, color=colour, fontsize=LETTERS - 1, transform=across, clip_on=False)
        if bar.drawn is not None:
            middle = -top - LINE * len(bar.lines(width)) - BAR / 2 - 1
            ax.barh(middle, right if bar.value == math.inf else bar.drawn, height=BAR, color=bar.colour, linewidth=0)
            ends = [middle - 0.7 * BAR, middle + 0.7 * BAR]
            ax.plot([reference, reference], ends, color=HAPPENED, linewidth=1.2, linestyle=(0, (2, 1)))
            if ceiling is not None:
                ax.plot([ceiling, ceiling], ends, color=INK, linewidth=1.2, linestyle=(0, (1, 1)))
        top += bar.height(width)
    ax.set_ylim(-top, GAP / 2)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_xlabel(label)


def scale_for(ax: Any, values: Sequence[float], reference: float) -> None:
    """Limits of the horizontal axis from 0 to the values; logarithmic where one is far beyond the reference."""
    finite = [min(max(value, -LARGEST), LARGEST) for value in values if math.isfinite(value)]
    sizes = [abs(value) for value in finite if value]
    largest = max(sizes, default=1.0)
    small = abs(reference) if reference and math.isfinite(reference) else min(sizes, default=1.0)
    low, high = min([0.0, *finite]), max([0.0, *finite])
    # Where nothing is above 0, infinity needs some room all the same.
    high = largest if high == 0.0 and math.inf in values else high
    ticks = ticks_for(ax)
    if largest > FAR * small:
        threshold = 10.0 ** math.floor(math.log10(max(small, SMALLEST_PART * largest)) - 1)
        ax.set_xscale("symlog", linthresh=threshold, linscale=0.3)
        ax.set_xlim(3 * low, 3 * high)
        ax.set_xticks([-tick for tick in _decades(threshold, -low, ticks)] + [0.0] + _decades(threshold, high, ticks))
        ax.minorticks_off()
    else:
        beyond = 0.04 * (high - low) or largest
        ax.set_xlim(low - (beyond if low else 0), high + (beyond if high or not low else 0))
        ax.locator_params(axis="x", nbins=ticks_for(ax))
    ax.axvline(0, color=MUTED, linewidth=0.8)
    ax.xaxis.set_major_formatter(lambda value, _: brief(value))
    ax.grid(visible=False, axis="y")


def ticks_for(ax: Any) -> int:
    """How many numbers fit below the horizontal axis."""
    return max(2, int(0.84 * ax.figure.get_size_inches()[0]))


def _decades(threshold: float, high: float, most: int) -> list[float]:
    """So many powers of ten at most between the threshold and the end, not too near to 0."""
    if high <= 10 * threshold:
        return []
    first, last = round(math.log10(threshold)) + 1, math.floor(math.log10(high))
    step = max(1, math.ceil((last - first + 1) / most))
    return [10.0**power for power in range(last, first - 1, -step)]


def named_bars(ax: Any, bars: Sequence[tuple[str, float | None, str]]) -> None:
    """A bar for each name, value and colour, from top to bottom, with its value at its end.

    Without a value it is a heading; without a colour there is no bar, only the value.
    """
    finite = [min(max(value or 0.0, -LARGEST), LARGEST) if colour else 0.0 for _, value, colour in bars]
    low, high = min([0.0, *finite]), max([0.0, *finite])
    # Room for the values, of which the longest have about eight letters, beside the names.
    width = ax.figure.get_size_inches()[0]
    most = WIDEST_NAME if width >= WIDTH else WIDEST_NAME * 2 // 3
    names = [short(name, most) for name, _, _ in bars]
    between = max(90.0, 72 * width - 30 - 0.6 * LETTERS * max(map(len, names), default=0))
    part = min(0.35, 48 / between)
    room = part / (1 - part * ((low < 0) + (high > 0 or low == 0))) * (high - low) or 1.0
    ax.barh(range(len(bars)), finite, height=0.7, color=[colour or INK for _, _, colour in bars], linewidth=0)
    for place, (end, (_, value, _)) in enumerate(zip(finite, bars, strict=True)):
        if value is not None:
            towards, side = (-4, "right") if end < 0 else (4, "left")
            here = {"xytext": (towards, 0), "textcoords": "offset points", "ha": side, "va": "center"}
            ax.annotate(brief(value), (end, place), fontsize=LETTERS - 1, color=MUTED, **here)
    ax.set_yticks(range(len(bars)), names)
    for label, (_, value, _) in zip(ax.get_yticklabels(), bars, strict=True):
        label.set(color=INK, fontweight="bold" if value is None else "normal")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(bars) - 0.4, -0.6)
    ax.set_xlim(low - (room if low else 0), high + (room if high or not low else 0))
    ax.locator_params(axis="x", nbins=ticks_for(ax))
    ax.xaxis.set_major_formatter(lambda value, _: brief(value))
    ax.axvline(0, color=MUTED, linewidth=0.8)
    ax.spines["left"].set_visible(False)
    ax.grid(visible=False, axis="y")


def brief(value: float) -> str:
    """A number where there is little room."""
    text = shown_number(value)
    return text if len(text) <= LONGEST_NUMBER else f"{value:.3g}"


def short(name: str, most: int = WIDEST_NAME) -> str:
    """A name on one line, cut in its middle where it is too long."""
    name = " ".join(name.split())
    if len(name) <= most:
        return name
    end = most // 3
    return f"{name[: most - end - 3]}...{name[-end:]}"
