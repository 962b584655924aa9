"""Gathering the evidence for the bounds on a game's gap: the gap is computed anew from the matrix."""

from __future__ import annotations

from typing import Any

from afterwit.errors import Words, invalid
from afterwit.games._payoffs import read_payoffs
from afterwit.games._theorem import GameEvidence


def gather(solution: Any, M: Any) -> GameEvidence:
    """What the matrix says about the strategies of a solution."""
    payoffs = read_payoffs(M)
    rows, columns = len(solution.row_strategy), len(solution.column_strategy)
    if payoffs.shape != (rows, columns):
        shape = Words("one of {} x {}".format(*payoffs.shape))
        raise invalid("M", f"the matrix of the game, {rows} x {columns}", shape)
    losses, gains = payoffs.matrix @ solution.column_strategy, payoffs.transposed @ solution.row_strategy
    gap = float(losses.max() - gains.min()) if solution.maximize else float(gains.max() - losses.min())
    return GameEvidence(
        subject=f"{solution.method} on a game of {rows} x {columns}",
        rounds=solution.rounds,
        rows=rows,
        columns=columns,
        spread=payoffs.spread,
        gap=max(0.0, gap),
        value=solution.value,
        payoff_rounding=payoffs.rounding(solution.wanted),
        cost_of_turns=solution.cost_of_turns,
        regrets=solution.regrets,
    )
