"""The regret so far, against its bound at every moment."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from afterwit.core.certificate import shown_number
from afterwit.core.envelope import Floats
from afterwit.errors import counted
from afterwit.pictures._axes import brief, marked, nothing_yet, plain, rounds_along, shown
from afterwit.pictures._expert_run import Promise, Run
from afterwit.pictures._labels import label_ends
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._pieces import curve, powers
from afterwit.pictures._style import BESIDE, BOUND, HAPPENED, HINDSIGHT, LINES

#: A bound this many times as large as all that happened is above the picture, which has a little room for it.
FAR = 4.0
ROOM = 0.25


class Regret(Picture):
    """The learner's loss so far less that of the best expert so far, and the bound on it.

    Hindsight is the best expert, whose line is zero, and below it the best fixed mixture, where it is known.
    """

    kind = "regret"

    def __init__(self, run: Run) -> None:
        self.run = run
        self.title = f"Regret over time, {run.learner}"

    @cached_property
    def caption(self) -> str:  # type: ignore[override]
        run = self.run
        if not run.rounds:
            return "No round has been played."
        said = (
            f"The loss so far less that of the best expert so far, over {counted(run.rounds, 'round')} with "
            f"{counted(run.count, 'expert')}; at the end it is {shown_number(run.record.regret)}."
        )
        last = self._last
        if last is None:
            said += f" {run.why_no_promise}"
        else:
            vacuous = ", which no run could break" if last.vacuous else ""
            chance = f" {last.chance}" if last.chance else ""
            said += f" The bound on that is {shown_number(last.bound)}{chance}{vacuous}."
        if self._mixture is not None:
            said += f" The best fixed mixture is at {shown_number(float(self._mixture[-1]))}."
        return said + run.said_of_experts()

    @property
    def _last(self) -> Promise | None:
        """The bound at the end."""
        promises = self.run.promises
        return promises[-1] if promises and promises[-1].rounds == self.run.rounds else None

    @cached_property
    def _mixture(self) -> Floats | None:
        """What the best mixture has lost so far, less what the best expert so far has."""
        record = self.run.record
        if record.mixture_losses is None or not self.run.rounds:
            return None
        return np.asarray(self.run.regret_curve - np.cumsum(record.losses - record.mixture_losses))

    def draw(self, ax: Any) -> None:
        run = self.run
        if not run.rounds:
            nothing_yet(ax, self.caption)
            return
        so_far = curve(run.regret_curve)
        ends = [(float(run.regret_curve[-1]), f"regret {brief(run.record.regret)}", HAPPENED)]
        rounds, last = np.append(0, so_far.ends), np.append(0.0, so_far.last)
        if so_far.width > 1:
            ax.fill_between(so_far.ends, so_far.low, so_far.high, color=HAPPENED, alpha=0.18, linewidth=0)
        drawn = [so_far.low.min(), so_far.high.max(), 0.0]
        if self._mixture is not None:
            mixed = curve(self._mixture)
            ax.plot(np.append(0, mixed.ends), np.append(0.0, mixed.last), **BESIDE["mixture"])
            ends.append((float(mixed.last[-1]), "best mixture", HINDSIGHT))
            drawn.append(mixed.last.min())
        ax.plot([0, run.rounds], [0, 0], **LINES["hindsight"])
        ends.append((0.0, "best expert", HINDSIGHT))
        ax.plot(rounds, last, **marked(LINES["happened"], len(rounds)))
        highest = self._draw_bound(ax)
        if highest is not None:
            size = max(abs(min(drawn)), abs(max(drawn)))
            drawn.append(max(drawn) + ROOM * size if size and highest > FAR * size else highest)
        rounds_along(ax, run.rounds)
        low, high = min(drawn), max(drawn)
        room = 0.06 * (high - low or 1.0)
        ax.set_ylim(low - room, high + room)
        ax.set_ylabel("regret")
        ax.yaxis.set_major_formatter(plain)
        if self._last is not None:
            above = " ↑" if self._last.bound > high + room else ""
            vacuous = " (vacuous)" if self._last.vacuous else ""
            ends.append((self._last.bound, f"bound {brief(self._last.bound)}{vacuous}{above}", BOUND))
        label_ends(ax, ends)

    def _draw_bound(self, ax: Any) -> float | None:
        """Draw it, faintly where it is vacuous; its largest value."""
        promises = self.run.promises
        if not promises:
            return None
        rounds = np.array([each.rounds for each in promises])
        bounds = np.array([each.bound for each in promises])
        vacuous = np.array([each.vacuous for each in promises])
        style = marked(LINES["bound"], len(rounds))
        # A piece between two moments is faint if the bound is vacuous at either.
        faint, firm = vacuous.copy(), ~vacuous
        faint[1:] |= vacuous[:-1]
        faint[:-1] |= vacuous[1:]
        if vacuous.any():
            ax.plot(rounds, np.where(faint, bounds, np.nan), **{**style, "alpha": 0.4})
        if firm.any():
            ax.plot(rounds, np.where(firm, bounds, np.nan), **style)
        return float(bounds.max())

    def table(self) -> Table:
        run = self.run
        promised = {each.rounds: each for each in run.promises}
        heads = ["rounds", "regret", "bound", "best expert so far"]
        if self._mixture is not None:
            heads.append("best mixture")
        rows = []
        for t in powers(run.rounds).tolist():
            made = promised.get(t)
            bound = "" if made is None else shown_number(made.bound) + (" (vacuous)" if made.vacuous else "")
            row = [f"{t:,}", shown(run.regret_curve[t - 1]), bound, run.names[run.best_so_far[t - 1]]]
            if self._mixture is not None:
                row.append(shown(self._mixture[t - 1]))
            rows.append(tuple(row))
        return Table(tuple(heads), tuple(rows))
