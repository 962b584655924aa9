"""The best constant rebalanced portfolio, found afterwards, with a proof of how far it could be from the best.

Problem     maximise sum_t ln(b . x_t) over b >= 0 with sum b = 1, where x_t are the price relatives of round t.
Method      that of the best mixture for the log loss: Newton's method, each step of which is a square-loss problem.
            Relatives are divided by the largest of their round, which changes no portfolio.
Certificate ``gap``, computed from the data: no constant rebalanced portfolio has a log wealth above log_wealth + gap.
Use         the comparator of portfolio algorithms. Beside it stand the uniform portfolio, rebalanced in every round or
            bought once and held, and the best single asset.

>>> found = best_constant_rebalancing([[1.0, 2.0], [1.0, 0.5]] * 10)
>>> found.weights.round(6).tolist(), round(found.log_wealth, 6), found.gap < 1e-9
([0.5, 0.5], 1.17783, True)
>>> print(best_constant_rebalancing([{"cash": 1.0, "coin": 2.0}, {"cash": 1.0, "coin": 0.5}]))
best constant rebalanced portfolio: wealth 1.125 (log wealth 0.117783) over 2 rounds, at most 0 above it in log wealth
  cash 0.5, coin 0.5
  uniform, rebalanced: wealth 1.125
  uniform, bought and held: wealth 1
  best asset 'cash': wealth 1
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from afterwit.data.prices import check_relatives, wealth_of
from afterwit.errors import counted
from afterwit.hindsight._rounds import Floats, by_name, frozen, largest_shares, read_matrix
from afterwit.hindsight.best_convex_combination import least_log_loss


@dataclass(frozen=True, eq=False)
class ConstantRebalancing:
    """A portfolio whose shares are the same before every round, and what is beside it; all by logarithms."""

    #: The shares by position; they are not negative and sum to 1.
    vector: Floats = field(repr=False)
    log_wealth: float
    #: No constant rebalanced portfolio has a log wealth above log_wealth + gap.
    gap: float
    #: The log wealth of equal shares, rebalanced in every round, and bought once and held.
    uniform_rebalanced: float
    uniform_held: float
    asset_log_wealths: Floats = field(repr=False)
    rounds: int
    names: tuple[Any, ...] | None = field(default=None, repr=False)

    @property
    def weights(self) -> Any:
        """The shares by name if the assets have names, otherwise by position."""
        return by_name(self.vector, self.names)

    @property
    def wealth(self) -> float:
        return wealth_of(self.log_wealth)

    @property
    def best_asset(self) -> Any:
        """The name of the asset that has grown most, or its position."""
        place = int(np.argmax(self.asset_log_wealths))
        return self.names[place] if self.names else place

    def __str__(self) -> str:
        above = f"at most {self.gap:.2g} above it in log wealth"
        wealth = f"wealth {self.wealth:.6g} (log wealth {self.log_wealth:.6g})"
        lines = [f"best constant rebalanced portfolio: {wealth} over {counted(self.rounds, 'round')}, {above}"]
        lines.append(f"  {largest_shares(self.vector, self.names)}")
        lines.append(f"  uniform, rebalanced: wealth {wealth_of(self.uniform_rebalanced):.6g}")
        lines.append(f"  uniform, bought and held: wealth {wealth_of(self.uniform_held):.6g}")
        best = float(self.asset_log_wealths.max())
        lines.append(f"  best asset {self.best_asset!r}: wealth {wealth_of(best):.6g}")
        return "\n".join(lines)


def best_constant_rebalancing(relatives: Any) -> ConstantRebalancing:
    """The constant rebalanced portfolio with the largest wealth, with a gap that proves how far it could be from it.

    relatives    a 2-D array, a DataFrame or a sequence of dicts, a row for each round and an asset in each column: the
                 price after the round over the price before it
    """
    values, assets_read = read_matrix(relatives, "relatives", "asset")
    check_relatives(values, assets_read)
    names = assets_read.names or None
    count = values.shape[1]
    logs = np.log(values)
    assets = logs.sum(axis=0)
    mean = float(np.log(values.mean(axis=1)).sum())
    held = float(assets.max() + math.log(np.exp(assets - assets.max()).mean()))
    vector, total, gap = np.full(count, 1.0 / count), mean, 0.0
    if len(values):
        largest = values.max(axis=1)
        chances = values / largest[:, np.newaxis]
        rests = (largest[:, np.newaxis] - values) / largest[:, np.newaxis]
        vector, loss, gap = least_log_loss(len(values), count, lambda block: (chances[block], rests[block]))
        total = float(np.log(largest).sum()) - loss
    return ConstantRebalancing(frozen(vector), total, max(gap, 0.0), mean, held, frozen(assets), len(values), names)
