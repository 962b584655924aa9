"""A solved game: the gap over the rounds beside its bound, both strategies, and the payoffs."""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.core.certificate import shown_number
from afterwit.games._theorem import GapBound
from afterwit.pictures._axes import rounds_along
from afterwit.pictures._bars import LARGEST, named_bars
from afterwit.pictures._cells import MOST_WRITTEN, frame, name_sides, shade, write_numbers
from afterwit.pictures._labels import label_ends
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import HAPPENED, INK, LINES, MUTED, SERIES

#: How many choices of each player have a bar of their own.
MOST_CHOICES = 12
#: A gap this much smaller than the largest is drawn no lower.
LOWEST_PART = 1e-18


def pictures(solution: Any) -> list[Picture]:
    """The pictures of what `solve_game` found."""
    made: list[Picture] = []
    if len(solution.trace) > 1 and any(moment.gap > 0 for moment in solution.trace):
        made.append(GapOverRounds(solution))
    made.append(Strategies(solution))
    if solution.payoffs is not None:
        made.append(PayoffMatrix(solution))
    return made


class GapOverRounds(Picture):
    """The gap at the moments at which the matrix was looked at, and the bound on it where there is one."""

    kind = "gap"

    def __init__(self, solution: Any) -> None:
        self.solution = solution
        self.bounds = [_bound(solution, moment) for moment in solution.trace]
        rows, columns = len(solution.row_strategy), len(solution.column_strategy)
        self.title = f"Gap over the rounds, {rows:,} x {columns:,}, {solution.method}"
        last, bound = solution.trace[-1], self.bounds[-1]
        promised = "" if bound is None else f" The bound at the end is {shown_number(bound)}."
        self.caption = (
            f"The certified gap after each of {solution.rounds:,} rounds at which it was computed; at the end it is "
            f"{shown_number(last.gap)}, and {shown_number(solution.wanted)} was wanted.{promised}"
        )

    def draw(self, ax: Any) -> None:
        moments = self.solution.trace
        rounds = [moment.rounds for moment in moments]
        least = LOWEST_PART * max(moment.gap for moment in moments)
        gaps = [min(max(moment.gap, least), LARGEST) for moment in moments]
        marker = {"marker": "o", "markersize": 3} if len(gaps) <= 50 else {}
        ax.set_yscale("log")
        ax.plot(rounds, gaps, **marker, **LINES["happened"])
        ends = [(gaps[-1], "gap", HAPPENED)]
        bounded = [(at, min(bound, LARGEST)) for at, bound in zip(rounds, self.bounds, strict=True) if bound]
        if bounded:
            ax.plot(*zip(*bounded, strict=True), **marker, **LINES["bound"])
            ends.append((bounded[-1][1], "bound", LINES["bound"]["color"]))
        if self.solution.wanted > 0:
            ax.axhline(self.solution.wanted, color=MUTED, linewidth=1.0, linestyle=(0, (1, 2)))
            ends.append((self.solution.wanted, "wanted", MUTED))
        rounds_along(ax, rounds[-1], log=True)
        ax.set_ylabel("gap, in the unit of the payoffs")
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.yaxis.minorticks_off()
        label_ends(ax, ends)

    def table(self) -> Table:
        rows = [
            (f"{moment.rounds:,}", shown_number(moment.gap), "" if bound is None else shown_number(bound))
            for moment, bound in zip(self.solution.trace, self.bounds, strict=True)
        ]
        # Every few moments, and always the last.
        step = 1 + len(rows) // 24
        return Table(("rounds", "gap", "bound"), tuple(rows[::-1][::step][::-1]))


class Strategies(Picture):
    """What both players play, the most likely first."""

    kind = "strategies"

    def __init__(self, solution: Any) -> None:
        self.solution = solution
        doing, against = ("maximizes", "minimizes") if solution.maximize else ("minimizes", "maximizes")
        self.players = {
            f"row {doing}": most_likely(solution.row_strategy, solution.row_names),
            f"column {against}": most_likely(solution.column_strategy, solution.column_names),
        }
        played = [int(np.count_nonzero(each)) for each in (solution.row_strategy, solution.column_strategy)]
        self.title = "What both players play"
        self.caption = (
            f"The probabilities of both strategies, the largest first: {played[0]:,} of "
            f"{len(solution.row_strategy):,} rows and {played[1]:,} of {len(solution.column_strategy):,} columns are "
            f"played. The value of the game is between {solution.lower:.6g} and {solution.upper:.6g}."
        )
        self.size = (7.2, 0.9 + 0.25 * sum(1 + len(shown) for shown in self.players.values()))

    def draw(self, ax: Any) -> None:
        bars: list[tuple[str, float | None, str]] = []
        for (player, shown), (colour, _) in zip(self.players.items(), (SERIES[0], SERIES[1]), strict=True):
            bars += [(player, None, INK), *((name, share, colour) for name, share in shown[:MOST_CHOICES])]
            # The sum of the others has no bar: it may be larger than all that are shown.
            bars += [(name, share, "") for name, share in shown[MOST_CHOICES:]]
        named_bars(ax, bars)
        ax.set_xlabel("probability")

    def table(self) -> Table:
        rows = [(player, name, f"{share:.6g}") for player, shown in self.players.items() for name, share in shown]
        return Table(("player", "choice", "probability"), tuple(rows))


class PayoffMatrix(Picture):
    """The payoffs: the larger, the stronger; the choices that are played have frames."""

    kind = "matrix"

    def __init__(self, solution: Any) -> None:
        self.solution = solution
        self.payoffs = solution.payoffs
        rows, columns = self.payoffs.shape
        receives = "row" if solution.maximize else "column"
        self.title = f"The payoffs to the {receives} player"
        self.framed = self.payoffs.size <= MOST_WRITTEN
        frames = " framed are those of choices that both players play, and" if self.framed else ""
        self.caption = (
            f"{rows} x {columns} payoffs, the larger the stronger;{frames} beside the names of the choices are their "
            "probabilities."
        )
        self.size = (7.2, 1.5 + 0.32 * max(rows, 2))

    def draw(self, ax: Any) -> None:
        low, high = float(self.payoffs.min()), float(self.payoffs.max())
        shade(ax, (self.payoffs / 2 - low / 2) / ((high / 2 - low / 2) or 1.0), HAPPENED)
        write_numbers(ax, self.payoffs)
        solution = self.solution
        if self.framed:
            frame(ax, np.outer(solution.row_strategy > 0, solution.column_strategy > 0))
        rows, columns = self.payoffs.shape
        names = (
            [_name(solution.row_names, i) for i in range(rows)],
            [_name(solution.column_names, j) for j in range(columns)],
        )
        name_sides(ax, *names, (_shares(solution.row_strategy), _shares(solution.column_strategy)))
        ax.set_xlabel("column player")
        ax.set_ylabel("row player")

    def table(self) -> Table:
        rows, columns = self.payoffs.shape
        heads = ("", *(_name(self.solution.column_names, j) for j in range(columns)))
        numbers = [
            (_name(self.solution.row_names, i), *map(shown_number, self.payoffs[i].tolist())) for i in range(rows)
        ]
        return Table(heads, tuple(numbers))


def most_likely(strategy: Any, names: Any) -> list[tuple[str, float]]:
    """The choices that are played, the most likely first; of very many, the sum of the others."""
    support = int(np.count_nonzero(strategy))
    order = np.argsort(-strategy, kind="stable")[:support]
    found = [(_name(names, i), float(strategy[i])) for i in order[:MOST_CHOICES].tolist()]
    if support > MOST_CHOICES:
        found.append((f"{support - MOST_CHOICES:,} more, in all", float(strategy[order[MOST_CHOICES:]].sum())))
    return found


def _name(names: Any, i: int) -> str:
    return str(i) if names is None else names[i]


def _shares(strategy: Any) -> list[str]:
    """How likely each choice is, behind its name."""
    return [f": {share:.3g}" if share else "" for share in strategy.tolist()]


def _bound(solution: Any, moment: Any) -> float | None:
    """What the theorem of the method says about the gap after so many rounds, if it applies then."""
    theorem = next((each for each in solution.theorems if isinstance(each, GapBound)), None)
    if theorem is None or (theorem.turns_are_observed and moment.cost_of_turns > 0):
        return None
    rows, columns = len(solution.row_strategy), len(solution.column_strategy)
    return float(theorem.bound(rows, columns, moment.rounds, solution.spread))
