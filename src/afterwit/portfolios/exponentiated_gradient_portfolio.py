"""Exponentiated gradient portfolio: an asset's share grows with what a little more of it would have earned.

Setting     N assets; before round t a portfolio p_t is chosen, shares that sum to 1; then the price relatives x_t are
            known, and the wealth is multiplied by p_t . x_t.
Update      G_{t,i} = sum over s <= t of x_{s,i} / (p_s . x_s); p_{t+1,i} proportional to exp(eta_{t+1} G_{t,i}).
            The rate is fixed: ``rate``, or sqrt(8 ln N / T) / (1/r - 1) for a horizon of T rounds in which no price
            relative is less than r times the largest of its round (``ratio``). Without any of these, it is that of
            AdaHedge: eta_t = ln N / Delta_{t-1}, where Delta is what the rates before have cost.
Guarantee   on any price relatives, the log wealth of every constant rebalanced portfolio exceeds that of the learner,
            before costs, by at most, where r_t is the least relative of round t over the largest, r the least of these,
            ln N / eta + eta T (1/r - 1)^2 / 8                                    fixed rate
            (1/r - 1) sqrt((T/2) ln N)                                            horizon T, after T rounds
            sqrt(ln N sum s_t^2) + S (4/3 ln N + 2), s_t <= 1/r_t - 1             neither; S the largest s_t
Costs       with transaction costs, wealth is what is left after them; the theorems are about wealth before costs.
Source      Helmbold, Schapire, Singer & Warmuth 1998, Theorem 4.1, with 1/r for 1/r - 1; de Rooij, van Erven, Grünwald
            & Koolen 2014, Corollary 7.

>>> learner = ExponentiatedGradientPortfolio(2, rate=0.5)
>>> learner.learn_many([[1.0, 2.0], [1.0, 0.5], [1.0, 2.0]]).round(3).tolist()
[[0.5, 0.5], [0.417, 0.583], [0.505, 0.495]]
>>> round(learner.wealth, 3), round(learner.regret, 3)
(1.589, 0.23)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.core.declared import REQUIRED, Kept, Numbers, Option, is_not_negative
from afterwit.core.inputs import RATE, ROUNDS
from afterwit.core.theorem import Alternative, Input, Theorem
from afterwit.data.checks import between, count, optional, positive_number
from afterwit.data.prices import Floats
from afterwit.data.quantities import COUNT, NOT_NEGATIVE, Range
from afterwit.errors import Words, invalid
from afterwit.experts.adahedge import AdaHedge, AdaHedgeBound
from afterwit.portfolios._portfolio import COST, N_ASSETS, PortfolioLearner, each_asset
from afterwit.portfolios._regret import PortfolioTheorem

ASSETS = Input(
    "log_assets",
    "ln(N)",
    "the logarithm of the number of assets",
    NOT_NEGATIVE,
    alternative=Alternative("assets", "how many assets", COUNT, math.log, "ln({})"),
)
RATIO = Input(
    "ratio",
    "r",
    "the least price relative of a round over the largest, at least",
    Range("a number above 0, at most 1", lambda x: (x > 0) & (x <= 1)),
)


class FixedRatePortfolioBound(PortfolioTheorem):
    """A fixed rate.

    Proof. ln is concave: the log wealth of a portfolio u exceeds that of p_t in round t by at most the difference of
    u and p_t in the slopes g_{t,i} = x_{t,i} / (p_t . x_t). For these linear gains exponential weights have the regret
    ln N / eta + eta sum s_t^2 / 8, s_t the range of the slopes of round t, which is at most 1/r - 1, as p_t . x_t is
    at least the least relative.
    """

    id = "exponentiated-gradient-portfolio"
    name = "exponentiated gradient bound"
    formula = "{log_assets} / {rate} + {rate} {rounds} (1/{ratio} - 1)^2 / 8"
    inputs = (ASSETS, ROUNDS, RATE, RATIO)
    needs = "every price relative is at least r times the largest of its round"
    citation = "Helmbold, Schapire, Singer & Warmuth 1998, Theorem 4.1"

    @staticmethod
    def bound(log_assets: Any, rounds: Any, rate: Any, ratio: Any) -> Any:
        return log_assets / rate + rate * rounds * (1 / ratio - 1) ** 2 / 8

    def certify(self, evidence: Any) -> Any:
        rate = evidence.facts["rate"]
        if rate is None:
            return None
        declared = evidence.parameters["ratio"]
        ratio = evidence.ratio if declared is None else declared
        bound = self.bound(evidence.log_n, evidence.rounds, rate, ratio)
        inputs = {"N": evidence.n, "T": evidence.rounds, "eta": rate, "r": ratio}
        return evidence.certificate(self.as_known(beforehand=declared is not None), bound, inputs)


class TunedPortfolioBound(Theorem):
    """The same where it is least."""

    id = "exponentiated-gradient-portfolio-tuned"
    name = "exponentiated gradient bound at the best rate"
    quantity = "regret"
    formula = "(1/{ratio} - 1) sqrt(({rounds} / 2) {log_assets})"
    inputs = (ASSETS, ROUNDS, RATIO)
    needs = f"{FixedRatePortfolioBound.needs}; the rate is sqrt(8 ln N / T) / (1/r - 1)"
    citation = FixedRatePortfolioBound.citation

    @staticmethod
    def bound(log_assets: Any, rounds: Any, ratio: Any) -> Any:
        return (1 / ratio - 1) * np.sqrt(rounds / 2 * log_assets)


class AdaptivePortfolioBound(PortfolioTheorem):
    """Rates from the past: the bound of AdaHedge on the slopes, whose ranges the price relatives bound."""

    name = "adaptive portfolio bound"
    formula = "sqrt(ln N sum (1/r_t - 1)^2) + max(1/r_t - 1) (4/3 ln N + 2)"
    citation = "de Rooij, van Erven, Grünwald & Koolen 2014, Corollary 7; Helmbold et al. 1998"

    def certify(self, evidence: Any) -> Any:
        if evidence.facts["rate"] is not None:
            return None
        squares, largest = evidence.squared_spreads, 1 / evidence.ratio - 1
        bound = AdaHedgeBound.bound(evidence.log_n, squares, largest)
        return evidence.certificate(self, bound, {"N": evidence.n, "sum": squares, "largest": largest})


class AdaptiveSlopesBound(PortfolioTheorem):
    """The same with the ranges of the slopes themselves, which depend on what was held."""

    name = "adaptive portfolio bound by slopes"
    formula = "sqrt(ln N sum s_t^2) + S (4/3 ln N + 2), s_t the range of x_t / (p_t . x_t)"
    citation = AdaptivePortfolioBound.citation
    foreseeable = False

    def certify(self, evidence: Any) -> Any:
        if evidence.facts["rate"] is not None:
            return None
        state = evidence.state["hedge"]
        squares, largest = state["squared_ranges"], state["largest_range"]
        bound = AdaHedgeBound.bound(evidence.log_n, squares, largest)
        return evidence.certificate(self, bound, {"N": evidence.n, "sum s_t^2": squares, "S": largest})


def ratio_given(parameter: str, value: Any) -> float:
    return between(parameter, value, 0, 1, "a number between 0 and 1")


@dataclass(frozen=True)
class HedgeState(Kept):
    """The state of the algorithm that sets the rates."""

    def read(self, learner: Any) -> Any:
        return learner._hedge.state() if learner._hedge is not None else {}

    def check(self, learner: Any, value: Any) -> None:
        if learner._hedge is None:
            if not isinstance(value, dict) or value:
                raise invalid(self.name, "empty where the rate is fixed", value)
            return
        learner._hedge._require_state(value)

    def write(self, learner: Any, value: Any) -> None:
        if learner._hedge is not None:
            learner._hedge.restore(value)


class ExponentiatedGradientPortfolio(PortfolioLearner):
    """Exponentiated gradient portfolio.

    n_assets    how many assets, or their names
    rate        a fixed rate
    horizon     the number of rounds for which to choose the rate, together with the ratio
    ratio       a number r: no price relative is less than r times the largest of its round; others are refused
    cost        transaction costs, as a part of what is bought and sold
    """

    theorems = (FixedRatePortfolioBound(), AdaptivePortfolioBound(), AdaptiveSlopesBound())
    options = (
        N_ASSETS,
        Option("rate", None, optional(positive_number)),
        Option("horizon", None, optional(count)),
        Option("ratio", None, optional(ratio_given)),
        COST,
    )
    kept: tuple[Any, ...] = (
        *PortfolioLearner.kept,
        Numbers("slopes", each_asset, is_not_negative, "numbers that are not negative"),
        HedgeState("hedge", before=REQUIRED),
    )

    def _begin(self) -> None:
        super()._begin()
        rate, horizon, ratio = (self._options[name] for name in ("rate", "horizon", "ratio"))
        if horizon is not None and (rate is not None or ratio is None):
            raise invalid("rate, horizon, ratio", "a rate, horizon and ratio, or neither", (rate, horizon, ratio))
        self._rate = rate
        self._hedge = None
        if horizon is not None:
            self._rate = math.sqrt(8 * math.log(max(self._n, 2)) / horizon) / (1 / ratio - 1)
        elif rate is None:
            self._hedge = AdaHedge(self._n, loss="absolute", gradient=False)
        self._slopes = np.zeros(self._n)

    def _check_rounds(self, values: Floats) -> None:
        least = self._options["ratio"]
        if least is None or not len(values):
            return
        ratios = values.min(axis=1) / values.max(axis=1)
        if ratios.min() < least:
            at = int(np.argmin(ratios >= least))
            allowed = f"at least ratio = {least:g} times the largest of the round"
            raise invalid(f"the least of relatives[{at}]", allowed, Words(f"{ratios[at]:.4g} times that"))

    def _target(self) -> Floats:
        if self._hedge is not None:
            return np.asarray(self._hedge.weights)
        powers = np.exp(self._rate * (self._slopes - self._slopes.max()))
        return np.asarray(powers / powers.sum())

    def _update(self, relatives: Floats, growth: float) -> None:
        slopes = relatives / growth
        self._slopes = self._slopes + slopes
        if self._hedge is not None:
            self._hedge.observe(-slopes)

    def _facts(self) -> dict[str, Any]:
        return {"rate": self._rate}
