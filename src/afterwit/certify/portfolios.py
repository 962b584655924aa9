"""Gathering the evidence for the theorems of portfolio algorithms.

Without the rounds, evidence is what the learner's state says, and the comparator is the best single asset. Given the
price relatives, a fresh learner holds its portfolios again; wealth, costs and the assets are then computed from these
portfolios with numpy, apart from the learner, and everything the learner claims has to agree. The comparator is then
the best constant rebalanced portfolio.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from afterwit.certify._expert_replay import _alike
from afterwit.core.certificate import EPSILON, Assumption, Basis, Ceiling, Evidence, Hindsight, shown_number
from afterwit.core.theorem import Theorem
from afterwit.data.advice import Experts, read_rounds
from afterwit.data.prices import Floats, check_relatives, wealth_of
from afterwit.errors import InputError, counted

#: Bisection ends when the part of the wealth that costs leave is known to the last digits.
HALVINGS = 60


@dataclass(frozen=True, kw_only=True)
class PortfolioEvidence(Evidence):
    """A run of a portfolio algorithm."""

    names: tuple[Any, ...]
    parameters: Mapping[str, Any] = field(repr=False)
    state: Mapping[str, Any] = field(repr=False)
    #: What the theorems need to know and neither the options nor the state say.
    facts: Mapping[str, Any] = field(repr=False)
    #: The log wealth of the comparator, and what it is.
    best: float
    best_is: str
    gap: float | None = None

    @property
    def n(self) -> int:
        return len(self.names)

    @property
    def log_n(self) -> float:
        return math.log(self.n)

    @property
    def log_growth(self) -> float:
        """The learner's log wealth before costs."""
        return float(self.state["log_growth"])

    @property
    def ratio(self) -> float:
        """The least price relative of a round over the largest of it, in the worst round."""
        return float(self.state["least_ratio"])

    @property
    def squared_spreads(self) -> float:
        """The sum over the rounds of the squares of the largest relative over the least, less 1."""
        return float(self.state["squared_spreads"])

    @property
    def ours(self) -> str:
        """What the learner's wealth is, in words."""
        logs = self.log_growth
        words = f"ours was {shown_number(logs)}, wealth {shown_number(wealth_of(logs))}"
        if self.parameters["cost"]:
            after = logs + float(self.state["log_kept"])
            words += f", before costs, and {shown_number(after)}, wealth {shown_number(wealth_of(after))}, after them"
        return words

    def shown(self, portfolio: Floats) -> str:
        """The largest shares of a portfolio in words."""
        order = np.argsort(-portfolio, kind="stable")[:3]
        words = ", ".join(f"{self.names[i]} {portfolio[i]:.2f}" for i in order.tolist() if portfolio[i] > 0)
        return words if np.count_nonzero(portfolio) <= len(order) else f"{words}, ..."

    def observed(self, theorem: Theorem) -> float:
        return self.best - self.log_growth

    def hindsight(self, theorem: Theorem) -> Hindsight | None:
        if not self.rounds:
            return None
        words = f"of {self.best_is}, wealth {shown_number(wealth_of(self.best))}; {self.ours}"
        return Hindsight(self.best, words, "log wealth", self.gap)

    def ceiling(self, theorem: Theorem) -> Ceiling | None:
        spread = float(self.state["log_spreads"])
        return Ceiling(spread, "in every round the best asset, and not the worst, would have added no more")

    def rounding(self, theorem: Theorem, bound: float) -> float:
        # Every logarithm is that of a sum over the assets, whose rounding is relative.
        own = 4 * EPSILON * (self.rounds + self.n + 64) * (float(self.state["size"]) + self.rounds)
        return super().rounding(theorem, bound) + own


def gather(learner: Any, relatives: Any = None) -> PortfolioEvidence:
    """What is known of the rounds of a portfolio algorithm."""
    state, facts = learner._snapshot()
    logs = state["asset_logs"]
    best = int(np.argmax(logs))
    evidence = PortfolioEvidence(
        subject=type(learner).__name__,
        rounds=state["rounds"],
        names=learner.assets,
        parameters=learner.parameters,
        state=state,
        facts=facts,
        best=float(logs[best]),
        best_is=f"the best single asset, {learner.assets[best]}",
        assumptions=tuple(_assumptions(learner.parameters)),
    )
    if relatives is None:
        return evidence
    values = read_rounds(relatives, Experts(evidence.n, state["names"], "asset"), False, "relatives")[0]
    check_relatives(values, Experts(evidence.n, state["names"], "asset"))
    _check(learner, evidence, values)
    if not len(values):
        return evidence
    from afterwit.hindsight import best_constant_rebalancing

    found = best_constant_rebalancing(values)
    words = f"the best constant rebalanced portfolio ({evidence.shown(found.vector)})"
    return replace(evidence, best=found.log_wealth, best_is=words, gap=found.gap)


def _assumptions(parameters: Mapping[str, Any]) -> list[Assumption]:
    made = [Assumption("every price relative is positive", Basis.ENFORCED, True)]
    if parameters.get("ratio") is not None:
        words = f"every price relative is at least {parameters['ratio']:g} times the largest of its round"
        made.append(Assumption(words, Basis.ENFORCED, True))
    if parameters["cost"]:
        made.append(Assumption("the theorem is about wealth before costs", Basis.ENFORCED, True))
    return made


def _check(learner: Any, evidence: PortfolioEvidence, values: Floats) -> None:
    """Refuse rounds that are not those the learner learned from, and a state that these rounds do not give."""
    claimed, rounds = evidence.state, evidence.rounds
    if len(values) != rounds:
        raise _not_these(f"the learner counts {counted(rounds, 'round')}, these are {len(values):,}")
    fresh = type(learner)(**learner.parameters)
    try:
        held = fresh._learn(values, Experts(evidence.n, claimed["names"], "asset"))
    except InputError as error:
        raise _not_these(f"played again they fail: {error}") from None
    growth = (held * values).sum(axis=1)
    logs = np.log(values)
    size = float(np.abs(logs).max(axis=1).sum()) + rounds
    tolerance = 8 * EPSILON * (rounds + evidence.n + 64) * (size + abs(claimed["log_kept"]))
    spreads = values.max(axis=1) / values.min(axis=1) - 1
    sums = {
        "asset_logs": logs.sum(axis=0),
        "log_growth": np.log(growth).sum(),
        "log_spreads": np.log1p(spreads).sum(),
        "log_kept": _log_kept(held, values, growth, evidence.parameters["cost"]),
    }
    differing = [name for name, found in sums.items() if not np.all(np.abs(found - claimed[name]) <= tolerance)]
    spread = float((spreads**2).sum())
    if not abs(spread - claimed["squared_spreads"]) <= 1e-9 * spread + tolerance:
        differing.append("squared_spreads")
    state = fresh.state()
    differing += [name for name in claimed if name not in (*sums, "names") and not _alike(state[name], claimed[name])]
    if differing:
        named = ", ".join(f"its {name.replace('_', ' ')}" for name in dict.fromkeys(differing))
        raise _not_these(f"computed from them, {named} would be different")


def _log_kept(held: Floats, values: Floats, growth: Floats, cost: float) -> float:
    """The logarithm of what costs have left, by bisection for all rounds at once."""
    if not cost or not len(held):
        return 0.0
    before = (held[:-1] * values[:-1]) / growth[:-1, np.newaxis]
    low, high = np.zeros(len(before)), np.ones(len(before))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        needed = middle + cost * np.abs(middle[:, np.newaxis] * held[1:] - before).sum(axis=1)
        low, high = np.where(needed <= 1, middle, low), np.where(needed <= 1, high, middle)
    return float(np.log(low).sum()) - math.log1p(cost)


def _not_these(why: str) -> InputError:
    return InputError(f"the rounds given must be the rounds the learner learned from; {why}")
