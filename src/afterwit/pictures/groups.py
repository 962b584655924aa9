"""The groups of `PerGroup` beside each other: what happened in each, and its bound."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

from afterwit.core.certificate import Certificate, shown_number
from afterwit.errors import counted
from afterwit.pictures._axes import brief, plain
from afterwit.pictures._labels import columns_beside, rows_down, short_name
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import BOUND, HAPPENED, MUTED

#: Of more groups than this, those in which most happened have a bar, and a few in which least did.
MOST = 20
FIRST, LAST = 14, 3
#: A bound this many times as large as all that happened is beyond the picture.
FAR = 4.0


def pictures(certificates: Any) -> list[Picture]:
    """The picture of the certificates of groups."""
    return [Groups(certificates)]


class Groups(Picture):
    """What happened in each group as a bar, its bound as a mark; the group in which most happened first."""

    kind = "groups"

    def __init__(self, certificates: Any) -> None:
        self.total = certificates.total
        parts = sorted(certificates.parts.items(), key=lambda pair: -pair[1].observed)
        self.parts: list[tuple[str, Certificate]] = [(str(group), made) for group, made in parts]
        self.title = f"{self.total.quantity.capitalize()} of each group, {certificates.subject}"

    @property
    def size(self) -> tuple[float, float]:  # type: ignore[override]
        return 7.2, 1.1 + 0.27 * (1 + len(self._rows))

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        total, (worst, made) = self.total, self.parts[0]
        largest, all_groups = shown_number(made.observed), shown_number(total.observed)
        said = (
            f"The {total.quantity} of {counted(len(self.parts), 'group')} as bars, and the bounds as marks. "
            f"It is largest in {worst}, {largest}; in all groups together it is {all_groups}"
        )
        return said + ("." if total.bound is None else f", and at most {shown_number(total.bound)} by the bounds.")

    @cached_property
    def _rows(self) -> list[tuple[str, Certificate | None]]:
        """The groups there is room for, and in place of the others how many these are."""
        if len(self.parts) <= MOST:
            return list(self.parts)
        between = f"… {counted(len(self.parts) - FIRST - LAST, 'group')} between"
        return [*self.parts[:FIRST], (between, None), *self.parts[-LAST:]]

    def draw(self, ax: Any) -> None:
        made = [each for _, each in self._rows if each is not None]
        happened = [each.observed for each in made if math.isfinite(each.observed)]
        bounds = [each.bound for each in made if each.bound is not None and math.isfinite(each.bound)]
        size = max((abs(value) for value in happened), default=0.0)
        near = [bound for bound in bounds if not size or bound <= FAR * size]
        low, high = min(0.0, *happened, *near, 0.0), max(0.0, *happened, *near, 0.0)
        high = high if high > low else low + 1.0
        for row, (_, each) in enumerate(self._rows):
            if each is None:
                continue
            ax.barh(row, each.observed, height=0.6, color=HAPPENED, linewidth=0)
            # A bound that is beyond the picture is in the column alone.
            if each.bound is not None and each.bound <= high:
                left = 0.45 if each.vacuous else 1.0
                ax.plot([each.bound] * 2, [row - 0.38, row + 0.38], color=BOUND, linewidth=2.4, alpha=left)
        ax.axvline(0.0, color=MUTED, linewidth=0.8)
        rows_down(ax, [short_name(name) for name, _ in self._rows], heads=True)
        observed = ["" if each is None else brief(each.observed) for _, each in self._rows]
        promised = [_shown(each, high) for _, each in self._rows]
        columns_beside(ax, ("happened", HAPPENED, 62, observed), ("bound", BOUND, 124, promised))
        room = 0.03 * (high - low)
        ax.set_xlim(low - (room if low < 0 else 0.0), high + room)
        ax.set_xlabel(self.total.quantity)
        ax.xaxis.set_major_formatter(plain)

    def table(self) -> Table:
        rows = []
        for name, made in self._rows:
            if made is None:
                rows.append((name.removeprefix("… "), "", "", "", ""))
                continue
            bound = "" if made.bound is None else shown_number(made.bound) + (" (vacuous)" if made.vacuous else "")
            rows.append((name, f"{made.rounds:,}", shown_number(made.observed), bound, str(made.verdict)))
        return Table(("group", "rounds", self.total.quantity, "bound", "verdict"), tuple(rows))


def _shown(made: Certificate | None, high: float) -> str:
    """The bound beside a row, and whether it is beyond the picture."""
    if made is None or made.bound is None:
        return ""
    return brief(made.bound) + (" →" if made.bound > high else "")
