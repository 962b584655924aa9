"""The rounds of a game: two players learn against each other, and the best strategy of each is kept."""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from afterwit.games._payoffs import Floats, Payoffs
from afterwit.games._support import PLAYED, equalising, in_earnest, most_played
from afterwit.games.linear_program import solve_linear_program

#: The bracket is computed whenever the rounds have grown by this factor.
LOOK_AGAIN = 1.5
#: Linear equations are solved for at most this part of the work that the rounds took.
SHARE_OF_WORK = 0.25


class Moment(NamedTuple):
    """The gap after so many rounds, and what taking turns had cost by then, on average."""

    rounds: int
    gap: float
    cost_of_turns: float


class GameRounds:
    """One game being solved: the best strategy of each player so far, and the rounds that led there."""

    def __init__(self, payoffs: Payoffs, wanted: float, max_rounds: int, deadline: float) -> None:
        rows, columns = payoffs.shape
        self._payoffs = payoffs
        self._wanted = wanted
        self._max_rounds = max_rounds
        self._deadline = deadline
        self.row_strategy, self.column_strategy = np.full(rows, 1 / rows), np.full(columns, 1 / columns)
        self.upper, self.lower = payoffs.upper(self.row_strategy), payoffs.lower(self.column_strategy)
        self.rounds = 0
        self.stopped_by = "gap"
        self.cost_of_turns = 0.0
        self.regrets = 0.0
        #: The moments at which the bracket was computed: ever rarer, at most some 50 of them for each factor e.
        self.trace: list[Moment] = []

    def offer(self, row_strategy: Floats, column_strategy: Floats) -> None:
        """Keep each strategy if the matrix says that it is the best of its player so far."""
        upper, lower = self._payoffs.upper(row_strategy), self._payoffs.lower(column_strategy)
        if upper < self.upper:
            self.row_strategy, self.upper = row_strategy, upper
        if lower > self.lower:
            self.column_strategy, self.lower = column_strategy, lower

    @property
    def done(self) -> bool:
        return self.upper - self.lower <= self._wanted

    def offer_pure(self) -> None:
        """The best single row and the best single column: together a saddle point, if there is one."""
        rows, columns = self._payoffs.shape
        i, j = self._payoffs.pure()
        p, q = np.zeros(rows), np.zeros(columns)
        p[i], q[j] = 1.0, 1.0
        self.offer(p, q)

    def solve(self) -> None:
        """By linear programming."""
        self.offer_pure()
        remaining = self._deadline - time.perf_counter()
        p, q, self.rounds, stopped_by = solve_linear_program(self._payoffs, self._max_rounds, remaining)
        self.offer(self.row_strategy if p is None else p, self.column_strategy if q is None else q)
        self.stopped_by = "gap" if self.done else stopped_by

    def play(self, kind: Any, thorough: bool) -> None:
        """Let two players of a kind learn against each other until the gap is reached or a limit is.

        ``thorough`` looks beyond the averages: at saddle points, at the latest strategies, at linear equations.
        """
        if thorough:
            self.offer_pure()
            if self.done:
                return
        losses_of, gains_of, unit = self._payoffs.products(self._wanted)
        (rows, columns), spread = self._payoffs.shape, self._payoffs.spread / unit
        row, column = kind(rows, spread), kind(columns, spread)
        p_sum, q_sum, loss_sum, gain_sum = np.zeros(rows), np.zeros(columns), np.zeros(rows), np.zeros(columns)
        weight_sum, wanted, work, next_look, next_hope = 0.0, self._wanted / unit, 0.0, 1, 1
        while True:
            self.rounds += 1
            weight = float(self.rounds) ** kind.power
            weight_sum += weight
            p, q = row.strategy, column.strategy
            losses = losses_of(q)
            if not kind.alternates:
                gains = gains_of(p)
            row.learn(losses)
            if kind.alternates:
                gains = gains_of(row.strategy)
                self.cost_of_turns += weight * float((row.strategy - p) @ losses)
                p = row.strategy
            column.learn(-gains)
            p_sum += weight * p
            q_sum += weight * q
            loss_sum += weight * losses
            gain_sum += weight * gains
            late = self.rounds >= self._max_rounds or time.perf_counter() >= self._deadline
            # The players' own sums say when a look at the matrix is worth its time.
            hopeful = self.rounds >= next_hope and float(gain_sum.max() - loss_sum.min()) <= wanted * weight_sum
            if not (late or hopeful or self.rounds >= next_look):
                continue
            next_hope = 1 + self.rounds + self.rounds // 50
            self.offer(p_sum / p_sum.sum(), q_sum / q_sum.sum())
            if self.rounds >= next_look:
                next_look = 1 + int(self.rounds * LOOK_AGAIN)
                if thorough and not self.done:
                    work = self._look_further(row, column, p_sum, q_sum, work)
            cost = float(unit * self.cost_of_turns / weight_sum)
            self.trace.append(Moment(self.rounds, self.upper - self.lower, cost))
            if self._stop(late):
                break
        self.cost_of_turns *= unit / weight_sum
        self.regrets = unit * float(row.kept.max() + column.kept.max())

    def _look_further(self, row: Any, column: Any, p_sum: Floats, q_sum: Floats, work: float) -> float:
        """Offer the latest strategies, and the solutions of the linear equations of those in play."""
        self.offer(row.strategy, column.strategy)
        averages = [(in_earnest(p_sum, share), in_earnest(q_sum, share)) for share in PLAYED]
        for weights in ((row.kept, column.kept), *averages):
            places = most_played(*weights)
            # Two solutions of k^3 multiplications and additions each, against four for each entry in a round.
            cost = 4 / 3 * len(places[0]) ** 3
            if work + cost > SHARE_OF_WORK * 4 * self.rounds * max(self._payoffs.entries, 1_000):
                continue
            work += cost
            found = equalising(self._payoffs.matrix, *places)
            if found is not None:
                self.offer(*found)
        return work

    def _stop(self, late: bool) -> bool:
        if self.done:
            self.stopped_by = "gap"
        elif self.upper - self.lower <= self._payoffs.resolution(self.row_strategy, self.column_strategy):
            self.stopped_by = "rounding"
        elif late:
            self.stopped_by = "max_rounds" if self.rounds >= self._max_rounds else "max_seconds"
        else:
            return False
        return True
