"""How large the share of each expert was over the run: its quartiles, as boxes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from afterwit.core.envelope import Floats
from afterwit.errors import counted
from afterwit.pictures._expert_run import Run
from afterwit.pictures._labels import rows_down
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import HAPPENED, INK, MUTED

#: Of more experts than this, those with the largest mean share are shown.
MOST = 16
#: What a line from end to end, a box and a mark are drawn at.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


class Shares(Picture):
    """The quartiles of each expert's share; the line goes from the 5% to the 95% quantile."""

    kind = "shares"

    def __init__(self, run: Run) -> None:
        self.run = run
        self.title = f"How the shares are spread, {run.learner}"

    @property
    def size(self) -> tuple[float, float]:  # type: ignore[override]
        return 7.2, 1.1 + 0.27 * len(self._names)

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        first = self._order[0]
        return (
            f"The share of each expert in {counted(self.run.rounds, 'round')}: a box from the lower to the upper "
            "quartile with a mark at the median, and a line from the 5% to the 95% quantile. "
            f"{self.run.names[first]} has the largest mean, {self._means[first]:.1%}."
        )

    @cached_property
    def _means(self) -> Floats:
        return np.asarray(self.run.record.shares.mean(axis=0))

    @cached_property
    def _order(self) -> list[int]:
        """The experts that are shown, the largest mean share first."""
        return [int(i) for i in np.argsort(-self._means, kind="stable")[:MOST]]

    @cached_property
    def _quantiles(self) -> Floats:
        """A row for each quantile, a column for each expert that is shown."""
        return np.asarray(np.quantile(self.run.record.shares[:, self._order], QUANTILES, axis=0))

    @property
    def _left_out(self) -> str:
        """What stands for the experts that are not shown."""
        rest = self.run.count - len(self._order)
        return f"… {counted(rest, 'expert')} with less" if rest else ""

    @property
    def _names(self) -> list[str]:
        return [*(self.run.short[i] for i in self._order), *([self._left_out] if self._left_out else [])]

    def draw(self, ax: Any) -> None:
        for row, (least, lower, median, upper, most) in enumerate(self._quantiles.T):
            ax.plot([least, most], [row, row], color=MUTED, linewidth=1.2)
            ax.barh(row, upper - lower, left=lower, height=0.6, color=HAPPENED, linewidth=0, alpha=0.55)
            ax.plot([median, median], [row - 0.3, row + 0.3], color=INK, linewidth=2.0)
        rows_down(ax, self._names)
        if self._left_out:
            ax.get_yticklabels()[-1].set_color(MUTED)
        ax.set_xlim(0, min(1.02, 1.05 * float(self._quantiles.max()) or 1.0))
        ax.set_xlabel("share")
        ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%")

    def table(self) -> Table:
        rows = [
            (self.run.names[i], *(f"{value:.1%}" for value in (self._means[i], *quantiles)))
            for i, quantiles in zip(self._order, self._quantiles.T, strict=True)
        ]
        if self._left_out:
            rows.append((self._left_out.removeprefix("… "), *[""] * (1 + len(QUANTILES))))
        return Table(("expert", "mean share", *(f"{level:.0%} quantile" for level in QUANTILES)), tuple(rows))
