"""A solved game: two strategies, and what the matrix says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from afterwit.core import html
from afterwit.core.certificate import Certificate, certify
from afterwit.core.pictured import Pictured
from afterwit.core.theorem import Theorem
from afterwit.data.checks import count
from afterwit.errors import InputError, Words, counted, invalid
from afterwit.games._payoffs import Floats

#: Why a solver stopped.
STOPS = {
    "gap": "reached",
    "max_rounds": "not reached, the rounds ran out",
    "max_seconds": "not reached, the time ran out",
    "rounding": "not reached, float64 cannot certify a smaller one",
    "solver": "not reached, the solver found nothing better",
}


@dataclass(frozen=True, eq=False)
class GameSolution(Pictured):
    """What `solve_game` found. Immutable.

    ``lower`` and ``upper`` bracket the value of the game: with ``column_strategy`` the payoff is at least ``lower``
    whatever the row player does, with ``row_strategy`` at most ``upper`` whatever the column player does (the other way
    round if ``maximize``). ``gap`` is their difference, in the unit of the payoffs.
    """

    row_strategy: Floats = field(repr=False)
    column_strategy: Floats = field(repr=False)
    lower: float
    upper: float
    wanted: float
    rounds: int
    seconds: float
    method: str
    stopped_by: str
    maximize: bool = False
    theorems: tuple[Theorem, ...] = field(default=(), repr=False)
    no_theorem_because: str = field(default="", repr=False)
    cost_of_turns: float = field(default=0.0, repr=False)
    regrets: float = field(default=0.0, repr=False)
    #: The largest payoff less the smallest.
    spread: float = field(default=0.0, repr=False)
    #: The gap at the moments at which it was computed, with ``rounds``, ``gap`` and ``cost_of_turns``.
    trace: tuple[Any, ...] = field(default=(), repr=False)
    #: The payoffs as they were given, if there are few of them.
    payoffs: Floats | None = field(default=None, repr=False)
    #: What the rows and columns are called.
    row_names: tuple[str, ...] | None = field(default=None, repr=False)
    column_names: tuple[str, ...] | None = field(default=None, repr=False)

    #: The module of `afterwit.certify` that computes the gap anew.
    checker: ClassVar[str] = "games"

    def __post_init__(self) -> None:
        for strategy in (self.row_strategy, self.column_strategy):
            strategy.flags.writeable = False

    @property
    def gap(self) -> float:
        """``upper`` less ``lower``: by changing their strategies both players together can gain no more."""
        return self.upper - self.lower

    @property
    def value(self) -> float:
        """The middle of the bracket: off by at most half the gap."""
        return self.lower + self.gap / 2

    @property
    def reached(self) -> bool:
        """Whether the gap is as small as was wanted."""
        return self.gap <= self.wanted

    def certificate(self, M: Any) -> Certificate:
        """The method's bound on the gap beside the gap itself, which is computed again from the matrix."""
        if not self.theorems:
            raise InputError(f"{self.method} has no certificate: {self.no_theorem_because}")
        return certify(self, M)

    def describe(self, rows: Sequence[Any] | None = None, columns: Sequence[Any] | None = None, top: int = 10) -> str:
        """The solution in a few lines, with the names of the rows and columns, most played first."""
        top, named = count("top", top), self.named(rows, columns)
        return "\n".join([self._title(), *(f"  {head:<8}  {text}" for head, text in named._sections(top))])

    def named(self, rows: Sequence[Any] | None = None, columns: Sequence[Any] | None = None) -> GameSolution:
        """The same with names of the rows and columns, for what is printed and drawn; None leaves those it has."""
        for parameter, names, strategy in (
            ("rows", rows, self.row_strategy),
            ("columns", columns, self.column_strategy),
        ):
            if names is not None and len(names) != len(strategy):
                raise invalid(
                    parameter, f"{counted(len(strategy), 'name')}, or None", Words(counted(len(names), "name"))
                )
        return replace(
            self,
            row_names=self.row_names if rows is None else tuple(map(str, rows)),
            column_names=self.column_names if columns is None else tuple(map(str, columns)),
        )

    def _title(self) -> str:
        return f"zero-sum game of {len(self.row_strategy):,} x {len(self.column_strategy):,}, {self.method}"

    def _sections(self, top: int = 10) -> list[tuple[str, str]]:
        doing, against = ("maximizes", "minimizes") if self.maximize else ("minimizes", "maximizes")
        return [
            ("value", f"between {self.lower:.9g} and {self.upper:.9g}"),
            ("gap", f"{self.gap:.3g}, from the matrix; wanted {self.wanted:g}: {STOPS[self.stopped_by]}"),
            ("rounds", f"{self.rounds:,} in {self.seconds:.3g} s"),
            ("row", f"{doing} with {_played(self.row_strategy, self.row_names, top)}"),
            ("column", f"{against} with {_played(self.column_strategy, self.column_names, top)}"),
        ]

    def __str__(self) -> str:
        return self.describe()

    def _repr_html_(self) -> str:
        return html.block(self._title(), [(head, [text]) for head, text in self._sections()])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists: ready for JSON."""
        return {
            "method": self.method,
            "maximize": self.maximize,
            "value": self.value,
            "lower": self.lower,
            "upper": self.upper,
            "gap": self.gap,
            "wanted": self.wanted,
            "reached": self.reached,
            "stopped_by": self.stopped_by,
            "rounds": self.rounds,
            "seconds": self.seconds,
            "row_strategy": self.row_strategy.tolist(),
            "column_strategy": self.column_strategy.tolist(),
        }


def _played(strategy: Floats, names: Sequence[Any] | None, top: int) -> str:
    """The choices of a strategy, most played first."""
    support = int(np.count_nonzero(strategy))
    order = np.argsort(-strategy, kind="stable")[: min(top, support)].tolist()
    shown = ", ".join(f"{i if names is None else names[i]}: {strategy[i]:.4g}" for i in order)
    more = f", ... ({support:,} of {len(strategy):,} are played)" if support > len(order) else ""
    return f"{shown}{more}"
