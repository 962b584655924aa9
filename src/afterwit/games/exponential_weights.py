"""Exponential weights against exponential weights: the proof of von Neumann's minimax theorem, run.

Setting     in round t the row player chooses p_t, the column player q_t; the row player loses p_t^T M q_t, the column
            player gains it. Each sees the loss of every possible choice: M q_t, and -p_t^T M.
Update      p_{t,i} proportional to exp(-eta_t L_{t-1,i}) with L the losses so far, eta_t = sqrt(8 ln N / t) / Delta,
            N the number of choices and Delta the largest payoff less the smallest. Both move at once; the strategies
            returned are the plain averages.
Guarantee   gap <= (R_row + R_column) / T, and each regret R <= Delta (2 sqrt((T/2) ln N) + sqrt(ln N / 8)).
Source      Mohri, Rostamizadeh & Talwalkar, Foundations of Machine Learning, 2nd ed. 2018, Theorem 8.16; the rate that
            decreases: Cesa-Bianchi & Lugosi, Prediction, Learning, and Games, 2006, Theorem 2.3.

>>> import afterwit as aw
>>> M = [[0, 1, -1], [-1, 0, 1], [1, -1, 1]]  # rock, paper, scissors; who shows scissors against scissors loses
>>> solution = aw.solve_game(M, gap=0.01, method="exponential-weights")
>>> solution.reached, solution.gap < solution.certificate(M).bound
(True, True)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from afterwit.core.inputs import ROUNDS
from afterwit.core.theorem import Input, Theorem
from afterwit.data.quantities import COUNT
from afterwit.games._payoffs import Floats
from afterwit.games._theorem import GapBound


class ExponentialWeightsBound(GapBound):
    """The average regret of both players bounds the gap of their average strategies."""

    name = "regret bound of exponential weights"
    formula = "(R_row + R_column) / T, R <= Delta (2 sqrt((T/2) ln N) + sqrt(ln N / 8))"
    citation = "Mohri et al. 2018, Theorem 8.16; Cesa-Bianchi & Lugosi 2006, Theorem 2.3"
    played = "both players play exponential weights with the rate sqrt(8 ln N / t) / Delta"

    @staticmethod
    def regret(choices: int, rounds: int) -> float:
        """The bound on one player's regret, for payoffs in [0, 1]."""
        return 2 * math.sqrt(rounds / 2 * math.log(choices)) + math.sqrt(math.log(choices) / 8)

    def bound(self, rows: int, columns: int, rounds: int, spread: float) -> float:
        return spread * ((self.regret(rows, rounds) + self.regret(columns, rounds)) / rounds)


class SelfPlayBound(Theorem):
    """The gap where both players use exponential weights at the rate tuned to T, on payoffs from 0 to 1."""

    id = "self-play"
    name = "regret bound of exponential weights, tuned"
    quantity = "duality gap"
    formula = "sqrt(ln({row_actions}) / (2 {rounds})) + sqrt(ln({column_actions}) / (2 {rounds}))"
    inputs = (
        ROUNDS,
        Input("row_actions", "N", "how many actions the first player has", COUNT),
        Input("column_actions", "K", "how many actions the second player has", COUNT),
    )
    needs = "payoffs are between 0 and 1 and both players use exponential weights tuned to T"
    citation = "Mohri et al. 2018, Theorem 8.16, by Theorem 8.6 for both players"

    @staticmethod
    def bound(rounds: Any, row_actions: Any, column_actions: Any) -> Any:
        return np.sqrt(np.log(row_actions) / (2 * rounds)) + np.sqrt(np.log(column_actions) / (2 * rounds))


class ExponentialWeightsPlayer:
    """One player: chooses by the losses so far, at a rate that decreases."""

    alternates = False
    power = 0
    theorems = (ExponentialWeightsBound(),)

    def __init__(self, choices: int, spread: float) -> None:
        self._losses = np.zeros(choices)
        self._rate = math.sqrt(8 * math.log(choices)) / spread if spread > 0 else 0.0
        self._round = 1
        self.strategy = np.full(choices, 1 / choices)

    def learn(self, losses: Any) -> None:
        """See the loss of every choice, and choose the next strategy."""
        self._losses += losses
        self._round += 1
        weights = self._losses - self._losses.min()
        weights *= -self._rate / math.sqrt(self._round)
        np.exp(weights, out=weights)
        weights /= weights.sum()
        self.strategy = weights

    @property
    def kept(self) -> Floats:
        """The regret of each choice, which this player does not keep."""
        return np.zeros_like(self._losses)
