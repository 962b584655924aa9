"""Solving a zero-sum game: two players learn against each other, and the matrix says how good their strategies are.

Setting     M has a row for each choice of the row player and a column for each choice of the column player. The row
            player pays p^T M q and minimises; the column player receives it and maximises (with ``maximize=True`` the
            other way round). NaN and infinities are refused; any scale, any shape, dense or sparse.
Guarantee   ``lower <= value <= upper``, whatever the method: with the column strategy q the payoff is at least
            min_i (M q)_i, with the row strategy p it is at most max_j (p^T M)_j. Both are computed from the matrix, in
            float64, and moved outwards by what rounding can do. ``gap`` is absolute, in the unit of the payoffs; for
            a relative one pass ``gap=1e-6 * numpy.ptp(M)``.
Source      Mohri, Rostamizadeh & Talwalkar, Foundations of Machine Learning, 2nd ed. 2018, section 8.5. The methods
            are each in their own file.

>>> import afterwit as aw
>>> print(aw.solve_game([[5, 3, 4], [2, 1, 6]], gap=1e-6).describe(["stay", "go"], ["a", "b", "c"]))
... # doctest: +ELLIPSIS
zero-sum game of 2 x 3, predictive-regret-matching+
  value     between 4.4 and 4.4
  gap       ..., from the matrix; wanted 1e-06: reached
  rounds    ...
  row       minimizes with stay: 0.8, go: 0.2
  column    maximizes with c: 0.6, a: 0.4
"""

from __future__ import annotations

import math
import sys
import time
from contextlib import nullcontext
from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np

from afterwit.errors import invalid
from afterwit.games._payoffs import Floats, Payoffs, read_payoffs
from afterwit.games._support import PLAYED, equalising, in_earnest, most_played
from afterwit.games.exponential_weights import ExponentialWeightsPlayer
from afterwit.games.linear_program import NO_THEOREM, solve_linear_program
from afterwit.games.predictive_regret_matching_plus import PredictiveRegretMatchingPlusPlayer
from afterwit.games.regret_matching_plus import RegretMatchingPlusPlayer
from afterwit.games.solution import GameSolution

DEFAULT = "predictive-regret-matching+"
PLAYERS: dict[str, Any] = {
    DEFAULT: PredictiveRegretMatchingPlusPlayer,
    "regret-matching+": RegretMatchingPlusPlayer,
    "exponential-weights": ExponentialWeightsPlayer,
}
METHODS = (*PLAYERS, "lp")
#: The bracket is computed whenever the rounds have grown by this factor.
LOOK_AGAIN = 1.5
#: Linear equations are solved for at most this part of the work that the rounds took.
SHARE_OF_WORK = 0.25
#: Products with fewer entries are not threaded by BLAS anyway.
THREADED = 2**13


def solve_game(
    M: Any,
    gap: float = 1e-3,
    method: str = DEFAULT,
    max_rounds: int = 1_000_000,
    max_seconds: float = 60.0,
    maximize: bool = False,
) -> GameSolution:
    """Strategies for both players of a zero-sum game, and a bracket of its value at most ``gap`` wide.

    M            payoffs: what the row player pays the column player; a 2-D array, a scipy sparse matrix, a DataFrame
    gap          how wide the bracket may be, in the unit of the payoffs
    method       "predictive-regret-matching+", "regret-matching+", "exponential-weights" or "lp"
    max_rounds   stop after this many rounds (pivots for "lp") with the best so far
    max_seconds  stop after this time with the best so far; a round in progress is finished
    maximize     M is what the row player receives: he maximises, the column player minimises
    """
    started = time.perf_counter()
    wanted = _number("gap", gap, "a finite number, at least 0", least=0.0)
    if not isinstance(method, str) or method not in METHODS:
        raise invalid("method", f"one of {', '.join(METHODS)}", method)
    if not isinstance(max_rounds, Integral) or isinstance(max_rounds, bool) or int(max_rounds) < 1:
        raise invalid("max_rounds", "a whole number, at least 1", max_rounds)
    limit = _number("max_seconds", max_seconds, "a positive number", least=sys.float_info.min, most=math.inf)
    if not isinstance(maximize, (bool, np.bool_)):
        raise invalid("maximize", "True or False", maximize)
    payoffs = read_payoffs(M)
    if maximize:
        payoffs = payoffs.negated()
    run = Run(payoffs, wanted, int(max_rounds), started + limit)
    theorems: tuple[Any, ...] = ()
    if method == "lp":
        run.solve()
    else:
        theorems = PLAYERS[method].theorems
        with one_thread() if payoffs.entries >= THREADED else nullcontext():
            run.play(PLAYERS[method], thorough=method == DEFAULT)
    return GameSolution(
        row_strategy=run.row_strategy,
        column_strategy=run.column_strategy,
        lower=-run.upper if maximize else run.lower,
        upper=-run.lower if maximize else run.upper,
        wanted=wanted,
        rounds=run.rounds,
        seconds=time.perf_counter() - started,
        method=method,
        stopped_by=run.stopped_by,
        maximize=bool(maximize),
        theorems=theorems,
        no_theorem_because="" if theorems else NO_THEOREM,
        cost_of_turns=run.cost_of_turns,
        regrets=run.regrets,
    )


def one_thread() -> Any:
    """Products with one thread of BLAS: at best half as fast on an idle machine, but ten times as fast on a busy one.

    Threads that wait for each other in every product, thousands of times a second, cost more than they gain as soon as
    another process wants a core.
    """
    return _thread_pools().limit(limits=1, user_api="blas")


@cache
def _thread_pools() -> Any:
    from threadpoolctl import ThreadpoolController  # comes with scikit-learn

    return ThreadpoolController()


def _number(parameter: str, value: Any, allowed: str, least: float, most: float = sys.float_info.max) -> float:
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not least <= number <= most:
        raise invalid(parameter, allowed, value)
    return number


class Run:
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
