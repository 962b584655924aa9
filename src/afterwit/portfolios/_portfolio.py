"""What portfolio algorithms share: reading price relatives, wealth, the costs of trading, state.

An algorithm says which portfolio it holds next (``_target``), and learns the relatives of a round (``_update``).

Wealth is 1 before the first round. Before a round the holdings are traded until their shares are those of the
portfolio; then every holding is multiplied by its price relative. With transaction costs c, whoever has the wealth W in
holdings W h_i and wants the shares p_i keeps a W of it, where

    a + c sum_i |a p_i - h_i| = 1:

what is bought and sold is paid for with c of its value. The left side grows with a, in straight lines between the
points h_i / p_i, so that a is found exactly. Before the first round nothing is held, and all is bought: a = 1/(1 + c).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.core.certificate import Certificate, certify
from afterwit.core.declared import Count, Kept, Number, Numbers, Option, is_not_negative
from afterwit.core.learner import Storable
from afterwit.core.turns import Lock, Rounds, breathe
from afterwit.data.advice import Experts, read_experts, read_round, read_rounds
from afterwit.data.checks import is_number
from afterwit.data.prices import Floats, check_relatives, wealth_of
from afterwit.data.values import are_different
from afterwit.errors import counted, invalid, shorten

#: How many rounds are learned between two looks at signals.
ROUNDS_BETWEEN_LOOKS = 256


def assets_given(parameter: str, value: Any) -> Any:
    """How many assets, or a tuple of their names."""
    assets = read_experts(value, parameter, "asset")
    return assets.names or assets.count


def cost_given(parameter: str, value: Any) -> float:
    if not is_number(value) or not 0 <= value < 1:
        raise invalid(parameter, "a number, at least 0 and below 1", value)
    return float(value)


N_ASSETS = Option("n_assets", check=assets_given)
COST = Option("cost", 0.0, cost_given)


def kept_after_trading(held: Floats | None, target: Floats, cost: float) -> float:
    """Which part of the wealth is left after trading; see above."""
    if cost == 0:
        return 1.0
    if held is None:
        return 1 / (1 + cost)
    wanted = target > 0
    order = np.argsort(held[wanted] / target[wanted], kind="stable")
    p, h = target[wanted][order], held[wanted][order]
    sold = float(held[~wanted].sum())
    # The first k of these are bought, the others sold; the right k is the first whose line crosses 1 before its end.
    bought_p, bought_h = np.append(0.0, np.cumsum(p)), np.append(0.0, np.cumsum(h))
    line_p = bought_p - (bought_p[-1] - bought_p)
    line_h = bought_h - (bought_h[-1] - bought_h)
    parts = (1 - cost * (sold - line_h)) / (1 + cost * line_p)
    ends = np.append(h / p, np.inf)
    return min(float(parts[np.argmax(parts <= ends)]), 1.0)


@dataclass(frozen=True)
class AssetNames(Kept):
    """The names of the assets, as far as they are known."""

    @property
    def attribute(self) -> str:
        return "_assets"

    def read(self, learner: Any) -> list[Any]:
        return list(learner._assets.names)

    def check(self, learner: Any, value: Any) -> None:
        if not are_different(value) or len(value) > learner._n:
            raise invalid(self.name, f"at most {learner._n} different names", value)
        given = read_experts(learner.parameters["n_assets"]).names
        if given and value != list(given):
            raise invalid(self.name, "those it was made with", value)

    def write(self, learner: Any, value: Any) -> None:
        learner._assets = Experts(learner._n, value, "asset")


def each_asset(learner: Any) -> tuple[int]:
    return (learner._n,)


def are_parts(held: Any) -> bool:
    return bool((held >= 0).all() and abs(held.sum() - 1) < 1e-6)


class PortfolioLearner(Storable):
    """Chooses a portfolio before every round, and learns the price relatives of the round."""

    role = "portfolios"
    checker = "portfolios"
    kept: tuple[Any, ...] = (
        Count("rounds"),
        AssetNames("names"),
        Number("log_growth"),
        Number("log_kept"),
        Number("size", is_not_negative, "a finite number, at least 0"),
        Number("least_ratio", lambda ratio: 0 < ratio <= 1, "a number above 0, at most 1"),
        Number("squared_spreads", is_not_negative, "a finite number, at least 0"),
        Number("log_spreads", is_not_negative, "a finite number, at least 0"),
        Numbers("asset_logs", each_asset),
        Numbers("held", each_asset, are_parts, "shares that sum to 1"),
    )

    def _begin(self) -> None:
        self._assets = read_experts(self._options["n_assets"], kind="asset")
        self._n = self._assets.count
        self._cost = self._options["cost"]
        self._lock = Lock(reentrant=True)
        self._rounds = 0
        #: The logarithm of the wealth before costs, and of the part of it that costs have left.
        self._log_growth, self._log_kept = 0.0, 0.0
        #: The sizes of all logarithms that were added up.
        self._size = 0.0
        #: Of the least relative of a round over the largest, r: the least, the sums of (1/r - 1)^2 and of ln(1/r).
        self._least_ratio, self._squared_spreads, self._log_spreads = 1.0, 0.0, 0.0
        self._asset_logs = np.zeros(self._n)
        self._held = np.full(self._n, 1.0 / self._n)

    def _view(self, array: Any) -> Any:
        return array

    # ------------------------------------------------------------------ what an algorithm defines

    def _target(self) -> Floats:
        """The portfolio of the next round: shares that sum to 1."""
        raise NotImplementedError

    def _update(self, relatives: Floats, growth: float) -> None:
        """Learn the relatives of a round in which the wealth grew by a factor. The round is not yet counted."""

    # ------------------------------------------------------------------ rounds

    def predict_one(self) -> Floats:
        """The portfolio for the next round: the share of each asset. Nothing changes."""
        with self._lock:
            return self._target()

    def learn_one(self, relatives: Any) -> Floats:
        """Hold the portfolio for a round with these price relatives, count, learn. Returns the portfolio."""
        values, assets = read_round(relatives, self._assets, self._rounds == 0, "relatives")
        return np.asarray(self._learn(values, assets)[0])

    def learn_many(self, relatives: Any) -> Floats:
        """``learn_one`` for every row in order. Returns the portfolios, a row for each round."""
        values, assets = read_rounds(relatives, self._assets, self._rounds == 0, "relatives")
        return self._learn(values, assets)

    def _learn(self, values: Floats, assets: Experts) -> Floats:
        check_relatives(values, assets)
        self._check_rounds(values)
        portfolios = np.empty(values.shape)
        with self._lock, Rounds():
            if len(values):
                self._assets = assets
            for t, row in enumerate(values):
                if t and t % ROUNDS_BETWEEN_LOOKS == 0:
                    breathe()
                portfolios[t] = self._play(row)
        return portfolios

    def _check_rounds(self, values: Floats) -> None:
        """Refuse rounds that this algorithm was not made for."""

    def _play(self, relatives: Floats) -> Floats:
        target = self._target()
        kept = kept_after_trading(self._held if self._rounds else None, target, self._cost)
        grown = target * relatives
        growth = float(grown.sum())
        self._update(relatives, growth)
        logs = np.log(relatives)
        least, most = float(relatives.min()), float(relatives.max())
        self._log_growth += math.log(growth)
        self._log_kept += math.log(kept)
        self._size += float(np.abs(logs).max())
        self._least_ratio = min(self._least_ratio, least / most)
        self._squared_spreads += (most / least - 1) ** 2
        self._log_spreads += math.log(most / least)
        self._asset_logs += logs
        self._held = grown / growth
        self._rounds += 1
        return target

    # ------------------------------------------------------------------ what it knows

    @property
    def rounds(self) -> int:
        return self._rounds

    @property
    def assets(self) -> tuple[Any, ...]:
        """The assets' names, or their positions."""
        return tuple(self._assets.name(i) for i in range(self._n))

    @property
    def weights(self) -> Floats:
        """The portfolio for the next round."""
        return self.predict_one()

    @property
    def held(self) -> Floats:
        """The shares in which the wealth is now, after the relatives of the last round moved them."""
        with self._lock:
            return self._held.copy()

    @property
    def log_wealth(self) -> float:
        """The logarithm of what 1 has become, after costs."""
        return self._log_growth + self._log_kept

    @property
    def wealth(self) -> float:
        """What 1 has become, after costs."""
        return wealth_of(self.log_wealth)

    @property
    def log_wealth_before_costs(self) -> float:
        """The logarithm of what 1 would have become if trading were free: what the theorems are about."""
        return self._log_growth

    @property
    def wealth_before_costs(self) -> float:
        return wealth_of(self._log_growth)

    @property
    def asset_log_wealths(self) -> Floats:
        """What 1 in each single asset would have become, by logarithms."""
        with self._lock:
            return self._asset_logs.copy()

    @property
    def best_asset(self) -> Any:
        """The asset that has grown most."""
        return self._assets.name(int(np.argmax(self._asset_logs)))

    @property
    def regret(self) -> float:
        """The log wealth of the best single asset less the learner's before costs."""
        with self._lock:
            return float(self._asset_logs.max()) - self._log_growth

    def certificate(self, relatives: Any = None) -> Certificate:
        """What theory promised, what happened and what hindsight would have given, in log wealth.

        relatives    the price relatives of all rounds it learned from

        Without them the figures are those in the learner's state, and hindsight is the best single asset. With them
        every round is computed a second time, and hindsight is the best constant rebalanced portfolio.
        """
        return certify(self, relatives)

    def _snapshot(self) -> tuple[dict[str, Any], dict[str, Any]]:
        with self._lock:
            return self._state(), self._facts()

    def _facts(self) -> dict[str, Any]:
        """What the theorems need to know and neither the options nor the state say."""
        return {}

    def state(self) -> dict[str, Any]:
        with self._lock:
            return self._state()

    def restore(self, state: Any) -> None:
        self._require_state(state)
        with self._lock:
            self._become(state)

    def __repr__(self) -> str:
        shown = {name: value for name, value in self.parameters.items() if value is not None and value != 0.0}
        given = ", ".join(f"{name}={shorten(value, 40)}" for name, value in shown.items())
        return f"{type(self).__name__}({given}): {counted(self._rounds, 'round')}, wealth {self.wealth:.6g}"
