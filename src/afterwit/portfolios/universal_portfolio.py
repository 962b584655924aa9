"""Universal portfolio: money is given to many constant rebalanced portfolios, and left there.

Setting     N assets; before round t a portfolio p_t is chosen, shares that sum to 1; then the price relatives x_t are
            known, and the wealth is multiplied by p_t . x_t. A constant rebalanced portfolio b holds the same shares in
            every round; its wealth after t rounds is S_t(b), the product of the b . x_s.
Update      p_{t+1} is the mean of the portfolios b by their wealth, sum_b S_t(b) b / sum_b S_t(b), over the assets
            themselves and M - N portfolios drawn uniformly. This is exponential weights at rate 1. For two assets and
            no number of samples, it is the integral over all portfolios, exactly: with m_k the masses of the products
            in which the first asset was taken k times, p_{t+1,1} = sum_k m_k (k + 1) / ((t + 2) sum_k m_k), and a round
            makes of them m_k <- (x_1 m_{k-1} k + x_2 m_k (t - k + 1)) / (t + 2).
Guarantee   its wealth is the mean of the wealths of these portfolios, exactly. So, before costs, the log wealth of the
            best of them exceeds its own by at most ln M; and for two assets and the exact mean, that of the best
            constant rebalanced portfolio does by at most ln(T + 1).
Costs       with transaction costs, wealth is what is left after them; the theorems are about wealth before costs.
Source      Cover 1991; Cover & Ordentlich 1996.

>>> learner = UniversalPortfolio(2)
>>> learner.learn_many([[1.0, 2.0], [1.0, 0.5], [1.0, 2.0]]).round(3).tolist()
[[0.5, 0.5], [0.444, 0.556], [0.5, 0.5]]
>>> round(learner.wealth, 4)
1.625
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.core.certificate import Hindsight, shown_number
from afterwit.core.declared import Kept, Numbers, Option
from afterwit.core.inputs import ROUNDS
from afterwit.core.theorem import Input
from afterwit.data.checks import count_of, optional, seed
from afterwit.data.draws import SAMPLES, Draws
from afterwit.data.prices import Floats
from afterwit.data.quantities import COUNT
from afterwit.data.room import require_room
from afterwit.errors import invalid
from afterwit.portfolios._portfolio import COST, N_ASSETS, PortfolioLearner
from afterwit.portfolios._regret import PortfolioTheorem

#: How many portfolios are drawn where nothing is said.
USUAL_SAMPLES = 1000


class SampledPortfoliosBound(PortfolioTheorem):
    """The mean of M positive numbers is at least the largest over M."""

    id = "universal-portfolio-sampled"
    name = "bound on the best of the sampled portfolios"
    formula = "ln({portfolios})"
    inputs = (Input("portfolios", "M", "how many portfolios the wealth is given to", COUNT),)
    citation = "Cover 1991; Cesa-Bianchi & Lugosi 2006, Proposition 3.1"
    beforehand = True

    @staticmethod
    def bound(portfolios: Any) -> Any:
        return np.log(portfolios)

    def certify(self, evidence: Any) -> Any:
        logs = evidence.facts["portfolio_logs"]
        if logs is None:
            return None
        best = int(np.argmax(logs))
        shares = evidence.shown(evidence.facts["portfolios"][best])
        words = f"of the best of the {len(logs):,} sampled portfolios ({shares}); {evidence.ours}"
        if evidence.gap is not None:
            words += f"; {evidence.best_is} had {shown_number(evidence.best)}"
        return evidence.certificate(
            self,
            float(self.bound(len(logs))),
            {"M": len(logs)},
            observed=float(logs[best]) - evidence.log_growth,
            hindsight=Hindsight(float(logs[best]), words, "log wealth"),
        )


class UniversalPortfolioBound(PortfolioTheorem):
    """The mean over all portfolios, uniformly.

    Proof. The wealth of b after T rounds is the sum over all sequences j of assets of the product of the x_{t,j_t}
    times that of the b_{j_t}, and so is the learner's, with the mean of the latter over all b in its place. So their
    ratio is at least the least ratio of these: for a sequence in which asset i is n_i times, the mean is (N - 1)! times
    the product of the n_i! over (T + N - 1)!, and the largest product, that of the (n_i / T)^n_i, is at most the
    product of the n_i! over T!, because the multinomial probability of the n_i is at most 1. So the ratio is at least
    1 / C(T + N - 1, N - 1), and C(T + N - 1, N - 1) <= (T + 1)^(N - 1).
    """

    id = "universal-portfolio"
    name = "universal portfolio bound"
    formula = "({assets} - 1) ln({rounds} + 1)"
    inputs = (Input("assets", "N", "how many assets", COUNT), ROUNDS)
    needs = "price relatives are positive; the mean is that over all portfolios, uniformly"
    citation = "Cover & Ordentlich 1996"
    beforehand = True

    @staticmethod
    def bound(assets: Any, rounds: Any) -> Any:
        return (assets - 1) * np.log1p(rounds)

    def certify(self, evidence: Any) -> Any:
        if evidence.facts["portfolio_logs"] is not None:
            return None
        bound = float(self.bound(evidence.n, evidence.rounds))
        return evidence.certificate(self, bound, {"N": evidence.n, "T": evidence.rounds})


def each_sample(learner: Any) -> tuple[int]:
    return (0 if learner._exact else len(learner._portfolios),)


@dataclass(frozen=True)
class Masses(Kept):
    """One number for each number of times that the first asset can have been taken, where the mean is exact."""

    def read(self, learner: Any) -> Any:
        return learner._log_masses.copy()

    def check(self, learner: Any, value: Any) -> None:
        del learner
        if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.ndim != 1:
            raise invalid(self.name, "an array of numbers", value)

    def write(self, learner: Any, value: Any) -> None:
        learner._log_masses = value.copy()


class UniversalPortfolio(PortfolioLearner):
    """Cover's universal portfolio.

    n_assets    how many assets, or their names
    samples     how many portfolios to draw, besides the assets themselves; if nothing is said, 1,000, and for two
                assets the mean over all portfolios is computed exactly, in time T in round T
    seed        what the draws depend on
    cost        transaction costs, as a part of what is bought and sold
    """

    theorems = (UniversalPortfolioBound(), SampledPortfoliosBound())
    options = (
        N_ASSETS,
        Option("samples", None, optional(count_of("portfolios"))),
        Option("seed", 0, seed),
        COST,
    )
    kept: tuple[Any, ...] = (
        *PortfolioLearner.kept,
        Numbers("portfolio_logs", each_sample),
        Masses("log_masses"),
    )

    def _begin(self) -> None:
        super()._begin()
        samples = self._options["samples"]
        self._exact = samples is None and self._n == 2
        self._portfolios = np.zeros((0, self._n))
        if not self._exact:
            drawn = USUAL_SAMPLES if samples is None else samples
            require_room("samples", 4 * 8 * self._n * (drawn + self._n))
            self._portfolios = np.vstack([np.eye(self._n), uniform_portfolios(self._options["seed"], drawn, self._n)])
        self._portfolio_logs = np.zeros(len(self._portfolios))
        self._log_masses = np.zeros(1 if self._exact else 0)

    @property
    def portfolios(self) -> Floats:
        """The portfolios that share the wealth, a row for each; none where the mean is that over all."""
        return np.array(self._portfolios)

    def _target(self) -> Floats:
        if self._exact:
            masses = np.exp(self._log_masses)
            rounds = self._rounds
            first = float((masses * np.arange(1, rounds + 2)).sum() / (masses.sum() * (rounds + 2)))
            return np.array([first, 1 - first])
        powers = np.exp(self._portfolio_logs - self._portfolio_logs.max())
        # Sums over rows in order: they do not depend on how a processor adds up.
        shares = np.add.reduce(powers[:, np.newaxis] * self._portfolios, axis=0)
        return np.asarray(shares / shares.sum())

    def _update(self, relatives: Floats, growth: float) -> None:
        if not self._exact:
            grown = np.add.reduce(self._portfolios.T * relatives[:, np.newaxis], axis=0)
            self._portfolio_logs = self._portfolio_logs + np.log(grown)
            return
        t = self._rounds
        with np.errstate(divide="ignore"):
            taken = np.log(np.arange(t + 2.0)) + np.log(relatives[0])
            left = np.log(np.arange(t + 1.0, -1.0, -1.0)) + np.log(relatives[1])
        longer = np.full((2, t + 2), -np.inf)
        longer[0, 1:] = self._log_masses
        longer[1, :-1] = self._log_masses
        masses = np.logaddexp(longer[0] + taken, longer[1] + left) - math.log(t + 2)
        # They sum to 1: the sum of all masses is the wealth, which is kept elsewhere.
        self._log_masses = masses - math.log(growth)

    def _check_state(self, state: Any) -> None:
        super()._check_state(state)
        wanted = state["rounds"] + 1 if self._exact else 0
        if len(state["log_masses"]) != wanted:
            raise invalid("log_masses", f"an array of {wanted} numbers", state["log_masses"])

    def _facts(self) -> dict[str, Any]:
        if self._exact:
            return {"portfolio_logs": None}
        return {"portfolio_logs": self._portfolio_logs, "portfolios": self._portfolios}


def uniform_portfolios(seed_given: int, samples: int, assets: int) -> Floats:
    """Portfolios that are uniform among all: exponential variables, divided by their sum."""
    uniforms = Draws(seed_given).uniforms(0, samples, assets, SAMPLES)[:, :assets]
    drawn = -np.log1p(-uniforms)
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))
