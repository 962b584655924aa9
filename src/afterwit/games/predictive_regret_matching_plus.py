"""Predictive regret matching+: regret matching+ that expects the next regrets to be the last ones. The default.

Setting     as in regret matching+; the players take turns.
Update      Q_t = max(Q_{t-1} + r_t, 0), and then z_t = max(Q_t + r_t, 0): the regrets as they would be if r_t came
            again. p_{t+1} = z_t / |z_t|_1 (uniform where z_t = 0). Round t counts t^2-fold in the averages.
Guarantee   gap <= w (|Q_T| + |Q'_T|) if taking turns did not hurt, which is observed, with
            |Q_T|^2 <= sum_t |r_t - r_{t-1}|^2 <= 4 Delta^2 (N - 1) T and w = 6 T / ((T + 1)(2 T + 1)).
            When play settles down the differences vanish, and the gap falls far faster than this worst case.
Proof       Let z be the aim before round t, m = r_{t-1}, Q = Q_{t-1}, r = r_t. Q_t is the projection of Q + r onto the
            orthant, so |Q_t|^2 = 2 Q_t . (Q + r) - |Q_t|^2; and z . r = 0. Hence |Q_t|^2 = |Q|^2 - |Q_t - Q|^2 +
            2 (Q_t - z) . (r - m) + 2 (Q_t - z) . m. As z is the projection of Q + m, (Q_t - z) . m <= (Q_t - z) .
            (z - Q) = (|Q_t - Q|^2 - |z - Q|^2 - |Q_t - z|^2) / 2. Together: |Q_t|^2 <= |Q|^2 + 2 (Q_t - z) . (r - m) -
            |Q_t - z|^2 <= |Q|^2 + |r - m|^2. From there as for regret matching+, but for its last step: that the
            turns do not hurt, sum_t w_t (p_{t+1} - p_t) . (M q_t) <= 0, is added up during the run.
Beyond it   a saddle point is looked for first. From time to time the linear equations of the choices in play are
            solved: where these are the right ones, the strategies are exact up to rounding. The bracket is computed
            from the matrix in any case.
Source      Farina, Kroer & Sandholm, Faster Game Solving via Predictive Blackwell Approachability, 2021.

>>> import afterwit as aw
>>> solution = aw.solve_game([[3, -1], [-2, 1]], gap=1e-9)
>>> solution.row_strategy.round(9).tolist(), solution.column_strategy.round(9).tolist()
([0.428571429, 0.571428571], [0.285714286, 0.714285714])
>>> solution.lower <= 1 / 7 <= solution.upper, solution.reached
(True, True)
"""

from __future__ import annotations

import math

import numpy as np

from afterwit.games._payoffs import Floats
from afterwit.games._theorem import GapBound
from afterwit.games.regret_matching_plus import KeptRegretsBound, RegretMatchingPlusPlayer, last_weight


class PredictiveRegretMatchingPlusBound(GapBound):
    """The worst case: every prediction of the regrets is as wrong as can be."""

    name = "regret bound of predictive regret matching+"
    formula = "2 w Delta sqrt(T) (sqrt(m - 1) + sqrt(n - 1)), w = 6 T / ((T + 1)(2 T + 1))"
    citation = "Farina et al. 2021, with weights t^2 as proved in games/predictive_regret_matching_plus.py"
    played = "both players play predictive regret matching+ in turns, and round t counts t^2-fold"
    turns_are_observed = True

    def bound(self, rows: int, columns: int, rounds: int, spread: float) -> float:
        root = math.sqrt(rounds)
        return spread * (2 * last_weight(rounds) * root * (math.sqrt(rows - 1) + math.sqrt(columns - 1)))


class PredictiveRegretMatchingPlusPlayer(RegretMatchingPlusPlayer):
    """One player: plays each choice in proportion to the regret it expects to have after the next round."""

    theorems = (PredictiveRegretMatchingPlusBound(), KeptRegretsBound())

    def aim(self, regrets: Floats) -> Floats:
        expected = self._regrets + regrets
        return np.maximum(expected, 0.0, out=expected)
