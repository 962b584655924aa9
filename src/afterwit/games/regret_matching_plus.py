"""Regret matching+: play every choice in proportion to its regret, and never let a regret fall below 0.

Setting     as in exponential weights, but the players take turns: the column player already sees p_{t+1}.
Update      with r_t = (p_t . l_t) - l_t, the regrets of round t under the losses l_t:
            Q_t = max(Q_{t-1} + r_t, 0), p_{t+1} = Q_t / |Q_t|_1 (uniform where Q_t = 0). No rate, nothing to tune, and
            the unit of the payoffs does not matter. Round t counts t^2-fold in the averages.
Guarantee   gap <= w (|Q_T| + |Q'_T|), with |Q_T| <= Delta sqrt((N - 1) T) and w = 6 T / ((T + 1)(2 T + 1)), the part
            of the last round in the averages.
Proof       1. p_t is proportional to Q_{t-1} and p_t . r_t = 0, so |Q_t|^2 <= |Q_{t-1} + r_t|^2 =
            |Q_{t-1}|^2 + |r_t|^2; |r_t|^2 is convex in p_t, thus at most (N - 1) Delta^2, its value at the corners.
            2. Q_t >= Q_{t-1} + r_t: the regret of any choice over the rounds s..T is at most its Q_T. Weights that only
            grow are a sum of such ends: the weighted regret is at most the last weight times Q_T.
            3. Turns do not hurt: where a regret is positive Q grew, where negative it shrank, so Q_t . r_t >=
            Q_{t-1} . r_t = 0, which says that p_{t+1} does no worse than p_t against l_t.
Source      Tammelin, Burch, Johanson & Bowling, Solving Heads-up Limit Texas Hold'em, 2015; Burch, Moravcik & Schmid,
            Revisiting CFR+ and Alternating Updates, 2019 (for step 3).

>>> import afterwit as aw
>>> solution = aw.solve_game([[0, 2], [1, 0]], gap=1e-4, method="regret-matching+")
>>> solution.row_strategy.round(3).tolist(), solution.column_strategy.round(3).tolist(), round(solution.value, 3)
([0.333, 0.667], [0.667, 0.333], 0.667)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from afterwit.core.certificate import Assumption, Basis, Certificate
from afterwit.core.theorem import Theorem
from afterwit.games._payoffs import Floats
from afterwit.games._theorem import GapBound


def last_weight(rounds: int) -> float:
    """The part of the last round in averages where round t counts t^2-fold."""
    return 6 * rounds / ((rounds + 1) * (2 * rounds + 1))


class RegretMatchingPlusBound(GapBound):
    """Regrets grow like sqrt(T), so that the gap of the averages falls like 1 / sqrt(T)."""

    name = "regret bound of regret matching+"
    formula = "w Delta sqrt(T) (sqrt(m - 1) + sqrt(n - 1)), w = 6 T / ((T + 1)(2 T + 1))"
    citation = "Tammelin et al. 2015 and Burch et al. 2019, with weights t^2 as proved in games/regret_matching_plus.py"
    played = "both players play regret matching+ in turns, and round t counts t^2-fold"

    def bound(self, rows: int, columns: int, rounds: int, spread: float) -> float:
        root = math.sqrt(rounds)
        return spread * (last_weight(rounds) * root * (math.sqrt(rows - 1) + math.sqrt(columns - 1)))


class KeptRegretsBound(Theorem):
    """The same with the regrets as they are: what steps 2 and 3 of the proof say, before step 1 bounds |Q_T|."""

    name = "bound by the regrets kept"
    formula = "w (max Q_T + max Q'_T) + what taking turns cost, w = 6 T / ((T + 1)(2 T + 1))"
    citation = "Tammelin et al. 2015, as proved in games/regret_matching_plus.py"
    quantity = "gap"
    foreseeable = False

    @staticmethod
    def bound(rounds: int, regrets: float, cost_of_turns: float) -> float:
        return last_weight(rounds) * regrets + max(0.0, cost_of_turns)

    def certify(self, evidence: Any) -> Certificate | None:
        if not evidence.rounds:
            return None
        kept = Assumption("the players kept their regrets, and round t counts t^2-fold", Basis.ENFORCED, True)
        inputs = {"T": evidence.rounds, "max Q + max Q'": evidence.regrets, "cost": max(0.0, evidence.cost_of_turns)}
        bound = self.bound(evidence.rounds, evidence.regrets, evidence.cost_of_turns)
        certificate: Certificate = evidence.certificate(self, bound, inputs, kept)
        return certificate


class RegretMatchingPlusPlayer:
    """One player: plays each choice in proportion to its regret."""

    alternates = True
    power = 2
    theorems: tuple[Theorem, ...] = (RegretMatchingPlusBound(), KeptRegretsBound())

    def __init__(self, choices: int, spread: float) -> None:
        del spread  # only the proportions of the payoffs matter
        self._regrets = np.zeros(choices)
        self.strategy = np.full(choices, 1 / choices)

    def learn(self, losses: Any) -> None:
        """See the loss of every choice, and choose the next strategy."""
        regrets = float(self.strategy @ losses) - losses
        self._regrets += regrets
        np.maximum(self._regrets, 0.0, out=self._regrets)
        self.strategy = proportional(self.aim(regrets))

    def aim(self, regrets: Floats) -> Floats:
        """What the next strategy is proportional to."""
        del regrets
        return self._regrets

    @property
    def kept(self) -> Floats:
        """The regret of each choice, or 0 where it would be negative."""
        return self._regrets


def proportional(weights: Floats) -> Floats:
    """The distribution in proportion to the weights; uniform where there are none."""
    total = float(weights.sum())
    return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))
