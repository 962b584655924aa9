"""Regrets from plain arrays: the learner's losses, the experts' losses, the shares.

regret_curve       after each round, the learner's loss less that of the best expert so far
internal_regret    what playing j wherever one played i would have saved, at most: with r_{i,j} the sum over t of
                   p_{t,i} (l_{t,i} - l_{t,j}), the largest r_{i,j}
swap_regret        what the best way of replacing every expert would have saved: the sum over i of the largest r_{i,j}

An expert that sleeps has the loss NaN. The regret to it counts the rounds in which it was awake, so the best expert is
the one to whom the regret is largest: with nobody asleep, the one with the least loss. One that has never been awake is
not compared with.

>>> regret_curve([0.5, 0.5, 0.5], [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]).tolist()
[0.5, 0.0, 0.5]
>>> shares, losses = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [0.5, 0.0], [0.5, 1.0]]
>>> internal_regret(shares, losses), swap_regret(shares, losses)
(0.5, 0.5)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import Words, invalid

Floats = npt.NDArray[np.float64]


def regret_curve(learner_losses: Any, expert_losses: Any) -> Floats:
    """After each round, the largest regret to any expert that has been awake so far.

    learner_losses  one loss for each round
    expert_losses   a 2-D array, a row for each round and a column for each expert; NaN where one sleeps, infinity where
                    a log loss is infinite
    """
    experts = _matrix("expert_losses", expert_losses, infinite=True)
    regrets = to_the_awake(regrets_by_expert(learner_losses, experts), experts)
    curve: Floats = regrets.max(axis=1)
    return curve


def regrets_by_expert(learner_losses: Any, expert_losses: Any) -> Floats:
    """After each round and to each expert, the regret so far; a row for each round."""
    experts = _matrix("expert_losses", expert_losses, infinite=True)
    own = _numbers("learner_losses", learner_losses)
    if own.shape != (len(experts),):
        allowed = f"one number for each of the {len(experts):,} rounds of expert_losses"
        raise invalid("learner_losses", allowed, Words(f"an array of shape {own.shape}"))
    if not np.isfinite(own).all():
        raise invalid("learner_losses", "finite numbers", Words("others among them"))
    saved = own[:, np.newaxis] - experts
    saved[np.isnan(saved)] = 0.0
    return np.cumsum(saved, axis=0, out=saved)


def to_the_awake(regrets: Floats, expert_losses: Floats) -> Floats:
    """The regrets so far, and minus infinity for experts that have not been awake yet, once any has been."""
    asleep = np.isnan(expert_losses)
    if not asleep.any():
        return regrets
    never = np.logical_and.accumulate(asleep, axis=0)
    return np.where(never & ~never.all(axis=1, keepdims=True), -np.inf, regrets)


def internal_regret(shares: Any, losses: Any) -> float:
    """The regret to the best way of replacing one expert by another.

    shares  a row for each round, each expert's share in it; 0 for those asleep
    losses  a row for each round, each expert's loss; NaN where one sleeps
    """
    return float(saved_by_swapping(shares, losses).max())


def swap_regret(shares: Any, losses: Any) -> float:
    """The regret to the best way of replacing every expert by another, or by itself.

    shares  a row for each round, each expert's share in it; 0 for those asleep
    losses  a row for each round, each expert's loss; NaN where one sleeps
    """
    return float(saved_by_swapping(shares, losses).max(axis=1).sum())


def saved_by_swapping(shares: Any, losses: Any) -> Floats:
    """In row i and column j, what playing j wherever i was played would have saved, while j was awake."""
    lost = _matrix("losses", losses)
    played = _numbers("shares", shares)
    if played.shape != lost.shape:
        raise invalid("shares", f"of the shape of losses, {lost.shape}", Words(f"an array of shape {played.shape}"))
    if not (played >= 0).all() or not np.isfinite(played).all():
        raise invalid("shares", "numbers that are not negative", Words("others among them"))
    asleep = np.isnan(lost)
    if asleep.any():
        if played[asleep].any():
            raise invalid("shares", "0 for experts that sleep", Words("more"))
        lost = np.where(asleep, 0.0, lost)
        saved = (played * lost).T @ (~asleep).astype(np.float64) - played.T @ lost
    else:
        products = played.T @ lost
        saved = np.diag(products)[:, np.newaxis] - products
    np.fill_diagonal(saved, 0.0)
    return saved


def _matrix(parameter: str, values: Any, infinite: bool = False) -> Floats:
    matrix = _numbers(parameter, values)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        allowed = "two-dimensional, a row for each round and a column for each expert"
        raise invalid(parameter, allowed, Words(f"an array of shape {matrix.shape}"))
    if np.isneginf(matrix).any() if infinite else np.isinf(matrix).any():
        raise invalid(parameter, "finite numbers, or NaN where an expert sleeps", Words("infinities among them"))
    return matrix


def _numbers(parameter: str, values: Any) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise invalid(parameter, "an array of numbers", values) from None
