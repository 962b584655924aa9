"""Bounds of following the perturbed leader, as closed formulas with their exact constants.

Source      Kalai & Vempala 2005.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.bounds._entry import Bound, Input
from afterwit.bounds._inputs import ROUNDS
from afterwit.data.quantities import COUNT_OR_NONE, POSITIVE, plain


def perturbed_leader(rounds: Any, epsilon: Any, diameter: Any, payoff: Any, cost: Any) -> Any:
    """Expected regret: eps R A T + D / eps, D the 1-norm diameter of the decisions, R >= |d . s|, A >= |s|_1."""
    T, e = COUNT_OR_NONE.check("rounds", rounds), POSITIVE.check("epsilon", epsilon)
    D, R, A = POSITIVE.check("diameter", diameter), POSITIVE.check("payoff", payoff), POSITIVE.check("cost", cost)
    return plain(e * R * A * T + D / e)


def perturbed_leader_tuned(rounds: Any, diameter: Any, payoff: Any, cost: Any) -> Any:
    """Expected regret for eps = sqrt(D / (R A T)): 2 sqrt(D R A T)."""
    T = COUNT_OR_NONE.check("rounds", rounds)
    D, R, A = POSITIVE.check("diameter", diameter), POSITIVE.check("payoff", payoff), POSITIVE.check("cost", cost)
    return plain(2 * np.sqrt(D * R * A * T))


_LEADER = (
    Input("diameter", "D", "the diameter of the decisions in the 1-norm", POSITIVE),
    Input("payoff", "R", "no decision costs more than this in a round", POSITIVE),
    Input("cost", "A", "the 1-norm of a round's costs is at most this", POSITIVE),
)

ENTRIES = (
    Bound(
        name="perturbed-leader",
        quantity="regret",
        formula="{epsilon} {payoff} {cost} {rounds} + {diameter} / {epsilon}",
        citation="Kalai & Vempala 2005, Theorem 1.1",
        inputs=(ROUNDS, Input("epsilon", "eps", "the noise is uniform from 0 to 1/eps", POSITIVE), *_LEADER),
        function=perturbed_leader,
        needs="costs are fixed before the noise is drawn",
        chance="on average over the learner's own draws",
    ),
    Bound(
        name="perturbed-leader-tuned",
        quantity="regret",
        formula="2 sqrt({diameter} {payoff} {cost} {rounds})",
        citation="Kalai & Vempala 2005, Theorem 1.1",
        inputs=(ROUNDS, *_LEADER),
        function=perturbed_leader_tuned,
        needs="costs are fixed before the noise is drawn, and eps = sqrt(D / (R A T))",
        chance="on average over the learner's own draws",
    ),
)
