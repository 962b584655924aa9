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
import time
from contextlib import nullcontext
from functools import cache
from typing import Any

from afterwit.data.checks import count, flag, is_number, real_number
from afterwit.errors import invalid
from afterwit.games._payoffs import read_payoffs
from afterwit.games._rounds import GameRounds
from afterwit.games.exponential_weights import ExponentialWeightsPlayer
from afterwit.games.linear_program import NO_THEOREM
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
    maximize     M is what the row player receives: the row player maximises, the column player minimises
    """
    started = time.perf_counter()
    wanted = 0.0 if is_number(gap) and gap == 0 else real_number("gap", gap, "a finite number, at least 0", 0.0)
    if not isinstance(method, str) or method not in METHODS:
        raise invalid("method", f"one of {', '.join(METHODS)}", method)
    most = count("max_rounds", max_rounds)
    endless = is_number(max_seconds) and max_seconds == math.inf
    limit = math.inf if endless else real_number("max_seconds", max_seconds, "a positive number", 0.0)
    maximize = flag("maximize", maximize)
    payoffs = read_payoffs(M)
    if maximize:
        payoffs = payoffs.negated()
    run = GameRounds(payoffs, wanted, most, started + limit)
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
        maximize=maximize,
        theorems=theorems,
        no_theorem_because="" if theorems else NO_THEOREM,
        cost_of_turns=run.cost_of_turns,
        regrets=run.regrets,
        spread=payoffs.spread,
        trace=tuple(run.trace),
        payoffs=payoffs.shown(-1.0 if maximize else 1.0),
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
