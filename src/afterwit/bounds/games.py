"""Bounds of boosting and of players that minimise regret, as closed formulas.

Source      Freund & Schapire 1996, 1997; Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.7; Mohri,
            Rostamizadeh & Talwalkar 2018, section 8.5.

Numbers or arrays, which broadcast.

>>> round(boosting(samples=1000, gamma=0.1, rounds=201), 3)
17.953
>>> boosting_rounds(samples=1000, gamma=0.1)
346
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.bounds._entry import Bound, Input
from afterwit.bounds._inputs import ROUNDS, SAMPLES
from afterwit.data.quantities import BELOW_HALF, COUNT, COUNT_OR_NONE, plain, whole

GAMMA = Input("gamma", "gamma", "the weak learner is right on a share 1/2 + gamma of the weight", BELOW_HALF)


def boosting(samples: Any, gamma: Any, rounds: Any) -> Any:
    """Mistakes on the sample after T rounds: n exp(-2 T gamma^2)."""
    n, g, T = COUNT.check("samples", samples), BELOW_HALF.check("gamma", gamma), COUNT_OR_NONE.check("rounds", rounds)
    return plain(n * np.exp(-2 * T * g * g))


def boosting_rounds(samples: Any, gamma: Any) -> Any:
    """The smallest T for which `boosting` is below 1, so that no mistake is left: T > ln n / (2 gamma^2)."""
    n, g = COUNT.check("samples", samples), BELOW_HALF.check("gamma", gamma)
    return whole(np.floor(np.log(n) / (2 * g * g)) + 1)


def self_play(rounds: Any, row_actions: Any, column_actions: Any) -> Any:
    """The duality gap of average strategies when both players use tuned exponential weights on payoffs from 0 to 1."""
    T = COUNT.check("rounds", rounds)
    N, M = COUNT.check("row_actions", row_actions), COUNT.check("column_actions", column_actions)
    return plain(np.sqrt(np.log(N) / (2 * T)) + np.sqrt(np.log(M) / (2 * T)))


_WEAK = "in every round the weak learner is right on that share of the weight"
_SECTION = "Blum et al., Foundations of Data Science, section 6.7"

ENTRIES = (
    Bound(
        name="boosting",
        quantity="mistakes",
        formula="{samples} exp(-2 {rounds} {gamma}^2)",
        citation=_SECTION,
        inputs=(SAMPLES, GAMMA, ROUNDS),
        function=boosting,
        needs=f"{_WEAK}; T is odd",
    ),
    Bound(
        name="boosting-rounds",
        quantity="rounds",
        formula="ln({samples}) / (2 {gamma}^2)",
        citation=_SECTION,
        inputs=(SAMPLES, GAMMA),
        function=boosting_rounds,
        needs=f"{_WEAK}; the vote is then right on the whole sample",
        sense=">",
        rounding="the smallest whole number",
    ),
    Bound(
        name="self-play",
        quantity="duality gap",
        formula="sqrt(ln({row_actions}) / (2 {rounds})) + sqrt(ln({column_actions}) / (2 {rounds}))",
        citation="Mohri et al. 2018, Theorem 8.16, by Theorem 8.6 for both players",
        inputs=(
            ROUNDS,
            Input("row_actions", "N", "how many actions the first player has", COUNT),
            Input("column_actions", "K", "how many actions the second player has", COUNT),
        ),
        function=self_play,
        needs="payoffs are between 0 and 1 and both players use exponential weights tuned to T",
    ),
)
