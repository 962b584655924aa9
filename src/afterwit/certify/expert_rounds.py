"""The learner's losses and slopes in rounds of expert advice, computed from everyone's share with numpy.

Nothing of the engine is used but the shares. Forecasts that do not follow from these are refused.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from afterwit.core.certificate import EPSILON
from afterwit.errors import InputError
from afterwit.experts._regret import Setting, Way

Floats = npt.NDArray[np.float64]

#: The least number above 0.
LEAST_NUMBER = 5e-324


def not_these(why: str) -> InputError:
    return InputError(f"the rounds given must be the rounds the learner learned from; {why}")


@dataclass(frozen=True)
class Rounds:
    """Rounds in a row, played a second time."""

    setting: Setting
    #: Advice, or the losses where they are all that is known.
    values: Floats
    outcomes: Floats | None
    forecasts: Floats
    shares: Floats
    #: Everyone's loss, 0 for those asleep.
    lost: Floats
    awake: npt.NDArray[np.bool_]
    #: How many rounds were before.
    before: int

    def chances(self) -> tuple[Floats, Floats]:
        """The probability each expert gave to what happened, and to what did not; 0 for those asleep."""
        assert self.outcomes is not None
        happened = self.outcomes[:, np.newaxis] == 1
        values, rests = np.where(self.awake, self.values, 0.0), np.where(self.awake, 1 - self.values, 0.0)
        return np.where(happened, values, rests), np.where(happened, rests, values)


def own_losses(rounds: Rounds) -> tuple[Floats, Floats]:
    """The learner's loss in each round from everyone's share, and the size of what was added up for it."""
    setting, values, outcomes = rounds.setting, rounds.values, rounds.outcomes
    shares, forecasts = rounds.shares, rounds.forecasts
    seen = in_range(setting, rounds.lost)
    if setting.way in (Way.EXPECTED, Way.DRAWN):
        drawn = _drawn(setting.seed, shares, rounds.before)
        if outcomes is not None and not np.array_equal(forecasts, np.take_along_axis(values, drawn, axis=1)[:, 0]):
            raise not_these("the forecasts are not those of the experts drawn")
        if setting.way is Way.DRAWN:
            own = np.take_along_axis(seen, drawn, axis=1)[:, 0]
            return own, np.abs(own)
    if outcomes is None or setting.way is Way.EXPECTED:
        # The learner's own is the low end of the range and a part of its width, and rounded as the low end is.
        low = abs(setting.low) if setting.ranged else 0.0
        return (shares * seen).sum(axis=1), (shares * np.abs(seen)).sum(axis=1) + low
    if setting.way is Way.VOTE:
        _check_votes(values, shares, forecasts)
    else:
        _check_means(np.where(rounds.awake, values, 0.0), shares, forecasts)
    if setting.loss.kind == "log":
        chance, rest = ((shares * each).sum(axis=1) for each in rounds.chances())
        own = np.where(chance <= 0.5, -np.log(chance), -np.log1p(-np.minimum(rest, 0.5)))
        return own, np.abs(own)
    # Where the loss has a kink, rounding decides on which side of it the forecast is: the learner's own is judged.
    own = setting.loss.values(forecasts, outcomes)
    return own, np.abs(own)


def in_range(setting: Setting, losses: Floats) -> Floats:
    """The losses as the algorithm sees them: what is outside the range by rounding is at its end."""
    return np.clip(losses, setting.low, setting.low + setting.width) if setting.bounded else losses


def _check_means(values: Floats, shares: Floats, forecasts: Floats) -> None:
    terms = shares * values
    # Products below the least normal number have lost digits: each is off by the least number there is.
    tolerance = (values.shape[1] + 16) * (4 * EPSILON * np.abs(terms).sum(axis=1) + LEAST_NUMBER)
    if not (np.abs(terms.sum(axis=1) - forecasts) <= tolerance).all():
        raise not_these("the forecasts are not the means of the advice by the shares")


def _check_votes(values: Floats, shares: Floats, forecasts: Floats) -> None:
    """Whether each forecast is a label with the largest share behind it; of equals, but for rounding, any."""
    if not len(values):
        return
    order = np.argsort(values, axis=1, kind="stable")
    labels, behind = np.take_along_axis(values, order, axis=1), np.take_along_axis(shares, order, axis=1)
    new = np.ones(labels.shape, dtype=bool)
    new[:, 1:] = labels[:, 1:] != labels[:, :-1]
    starts = np.flatnonzero(new)
    votes = np.add.reduceat(behind.reshape(-1), starts)
    row = starts // labels.shape[1]
    largest = np.maximum.reduceat(votes, np.flatnonzero(np.diff(row, prepend=-1)))
    received = (shares * (values == forecasts[:, np.newaxis])).sum(axis=1)
    if not (received >= largest - 4 * EPSILON * (values.shape[1] + 16)).all():
        raise not_these("the forecasts are not the labels with the largest shares behind them")


def _drawn(seed: int, shares: Floats, before: int = 0) -> npt.NDArray[np.intp]:
    """The expert drawn in each round, as a column: by splitmix64 of the seed and the round, and by the shares."""
    rounds = np.arange(before + 1, before + len(shares) + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        z = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + rounds * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    uniform = (z >> np.uint64(11)).astype(np.float64) * 2.0**-53
    below = np.cumsum(shares, axis=1) <= uniform[:, np.newaxis]
    # Rounding may leave the sum of all shares below 1: then the last expert that has one is drawn.
    last = shares.shape[1] - 1 - np.argmax(shares[:, ::-1] > 0, axis=1)
    drawn: npt.NDArray[np.intp] = np.minimum(below.sum(axis=1), last)[:, np.newaxis]
    return drawn


def slope_gains(rounds: Rounds, own: Floats) -> tuple[Floats, Floats]:
    """What following each expert would have saved by the tangent at the forecast, and the sizes behind it."""
    setting, awake = rounds.setting, rounds.awake
    if rounds.outcomes is None:
        slopes, here, there = np.ones(len(own)), own, rounds.lost
    elif setting.loss.kind == "log":
        # The tangent of -ln p, where p is the probability of what happened: of p and 1 - p the smaller has more digits.
        chances, rests = rounds.chances()
        chance, rest = (rounds.shares * chances).sum(axis=1), (rounds.shares * rests).sum(axis=1)
        slopes, here = -1 / chance, np.where(chance <= 0.5, chance, -rest)
        there = np.where(chance[:, np.newaxis] <= 0.5, chances, -rests)
    else:
        slopes, here, there = setting.loss.slopes(rounds.forecasts, rounds.outcomes), rounds.forecasts, rounds.values
    slope, base = slopes[:, np.newaxis], here[:, np.newaxis]
    sizes = np.abs(slope) * (np.abs(base) + np.abs(there)) + abs(setting.low) + setting.width * setting.ranged
    return np.where(awake, slope * (base - there), 0.0), np.where(awake, sizes, 0.0)
