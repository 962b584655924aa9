"""The best fixed mixture of the experts, found afterwards, with a proof of how far it could be from the best.

Problem     minimise sum_t l(w . x_t, y_t) over w >= 0 with sum w = 1, where x_t is the advice of round t.
Method      square        non-negative least squares on the triangle of the experts' errors: exact up to rounding
            absolute, percentage, pinball    a linear program (HiGHS): exact up to rounding
            log           Newton's method, each step of which is a square-loss problem
            function      the level method, from the function's gradient
            brier         of probability vectors: the square loss of all their probabilities
            A loss that is not convex, or has no gradient, is refused.
Certificate ``gap``, computed from the data: no mixture loses less than loss - gap. For a function of one's own that
            assumes that it is convex and that the gradient is its derivative.
Sleepers    are refused: a fixed mixture of forecasts needs them all.
Use         the comparator of algorithms with the gradient trick. Their theorems hold against every mixture; a mixture
            that is not quite the best gives a smaller regret, which the bound covers all the same, and the regret to
            the best is larger by at most the gap.

>>> found = best_convex_combination([[1.0, 3.0], [2.0, 6.0], [0.0, 4.0]], [2.0, 3.0, 1.0])
>>> found.weights.round(6).tolist(), round(found.loss, 6), found.gap < 1e-9
([0.722222, 0.277778], 0.222222, True)
>>> print(best_convex_combination([{"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 6.0}], [1.5, 3.0], loss="absolute"))
best mixture: absolute loss 0 over 2 rounds, at most 0 above the best
  a 0.75, b 0.25
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from afterwit.errors import InputError, Words, counted, invalid
from afterwit.hindsight import _level_method, _nearest_mixture, _quantile_program
from afterwit.hindsight._rounds import Advice, Floats, by_name, frozen, largest_shares, read_advice

#: Newton's method for the log loss ends there, or after so many steps.
NEWTON_TOLERANCE = 1e-12
NEWTON_STEPS = 60
#: A weight below this is set to 0 if the loss does not grow.
SMALLEST_WEIGHT = 1e-12


@dataclass(frozen=True, eq=False)
class Mixture:
    """A fixed mixture of the experts, judged on the data itself."""

    #: The weights by position; they are not negative and sum to 1.
    vector: Floats = field(repr=False)
    loss: float
    #: No mixture loses less than loss - gap.
    gap: float
    rounds: int
    loss_name: str
    names: tuple[Any, ...] | None = field(default=None, repr=False)

    @property
    def weights(self) -> Any:
        """The weights by name if the advice has names, otherwise by position."""
        return by_name(self.vector, self.names)

    def __str__(self) -> str:
        above = f"at most {self.gap:.2g} above the best"
        head = f"best mixture: {self.loss_name} loss {self.loss:.6g} over {counted(self.rounds, 'round')}, {above}"
        return f"{head}\n  {largest_shares(self.vector, self.names)}"


def best_convex_combination(advice: Any, outcomes: Any, loss: Any = "square", *, kinds: Any = None) -> Mixture:
    """The mixture of least loss, with a gap that proves how far it could be from the best.

    advice    a 2-D array, a DataFrame or a sequence of dicts, an expert in each column
    outcomes  one number for each round
    loss      "square", "absolute", "percentage", "pinball(q)", "log" or one of `afterwit.losses` with a gradient;
              "brier" or "log" for probability vectors: advice is then an array (rounds, experts, kinds), or has vectors
    kinds     of probability vectors, the names of the kinds of outcomes, where they are not 0, 1, 2, ...
    """
    read = read_advice(advice, outcomes, loss, "a fixed mixture needs every expert in every round", kinds)
    if not read.loss.convex:
        raise invalid("loss", "convex, for the best mixture to be found", Words(str(read.loss)))
    if not read.loss.has_slope:
        hint = "one with a gradient, afterwit.losses.function(loss, gradient), for the best mixture to be found"
        raise invalid("loss", hint, Words(f"{read.loss}, which has none"))
    if not len(read.values):
        count = read.experts.count
        return Mixture(frozen(np.full(count, 1.0 / count)), 0.0, 0.0, 0, read.loss.name, read.names)
    if read.loss.kinds:
        vector, total, gap = _of_vectors(read)
        return Mixture(frozen(vector), total, max(gap, 0.0), len(read.values), read.loss.name, read.names)
    with np.errstate(over="ignore"):
        if not np.isfinite(read.loss.values(read.values[0], read.outcomes[0])).all() or not _moderate(read):
            raise invalid("advice and outcomes", "below 1e150 in size", Words("larger numbers"))
    if read.loss.kind == "square":
        vector, total, gap = _square(read)
    elif read.loss.kind == "log":
        vector, total, gap = _log(read)
    elif read.loss.kind == "function":
        vector, total, gap = _function(read)
    else:
        vector, total, gap = _quantile(read)
    return Mixture(frozen(vector), total, max(gap, 0.0), len(read.values), read.loss.name, read.names)


def _moderate(read: Advice) -> bool:
    return max(float(np.abs(read.values).max()), float(np.abs(read.outcomes).max())) < 1e150


def _blocks(values: Floats) -> Iterator[slice]:
    for begin in range(0, len(values), _nearest_mixture.BLOCK):
        yield slice(begin, begin + _nearest_mixture.BLOCK)


def _square(read: Advice) -> tuple[Floats, float, float]:
    values, outcomes = read.values, read.outcomes
    errors = (values[block] - outcomes[block, np.newaxis] for block in _blocks(values))
    vector = _nearest_mixture.nearest_mixture(_nearest_mixture.triangle(errors))
    total, products = 0.0, np.zeros(len(vector))
    for block in _blocks(values):
        part = values[block] - outcomes[block, np.newaxis]
        error = part @ vector
        total += float(error @ error)
        products += error @ part
    # Every mixture's error e has e . error >= the least product, so it is at least as long as that over |error|.
    least = float(products.min())
    return vector, total, total - least * least / total if total > 0 and least > 0 else total


def _quantile(read: Advice) -> tuple[Floats, float, float]:
    rows, targets, ends = quantile_problem(read, centred=True)
    vector, z = _quantile_program.quantile_program(rows, targets, ends, mixing=True)
    tidied = np.where(vector < SMALLEST_WEIGHT, 0.0, vector)
    tidied /= tidied.sum()
    total = _quantile_program.loss_of(rows, targets, ends, vector)
    tidy_total = _quantile_program.loss_of(rows, targets, ends, tidied)
    if tidy_total <= total:
        vector, total = tidied, tidy_total
    return vector, total, total - max(_quantile_program.proved(rows, targets, z), 0.0)


def quantile_problem(read: Advice, centred: bool) -> tuple[Floats, Floats, tuple[float, float]]:
    """Rows, targets and the two slopes of a loss made of two straight lines."""
    values, outcomes = read.values, read.outcomes
    rows, targets = (values - outcomes[:, np.newaxis], np.zeros(len(outcomes))) if centred else (values, outcomes)
    if read.loss.kind == "pinball":
        return rows, targets, (read.loss.quantile - 1, read.loss.quantile)
    if read.loss.kind == "percentage":
        shares = 1 / np.abs(outcomes)
        return rows * shares[:, np.newaxis], targets * shares, (-1.0, 1.0)
    return rows, targets, (-1.0, 1.0)


def _of_vectors(read: Advice) -> tuple[Floats, float, float]:
    """Of vectors the Brier loss is the square loss of each probability, and the log loss that of what happened."""
    places = read.outcomes.astype(np.intp)
    if read.loss.kind == "brier":
        happened = np.eye(read.loss.kinds)[places]
        each = np.ascontiguousarray(read.values.transpose(0, 2, 1)).reshape(-1, read.values.shape[1])
        return _square(replace(read, values=each, outcomes=happened.reshape(-1)))
    chances = np.take_along_axis(read.values, places[:, np.newaxis, np.newaxis], axis=2)[:, :, 0]
    if not chances.any(axis=1).all():
        t = int(np.argmin(chances.any(axis=1)))
        allowed = f"positive for what happened in row {t}, for one expert at least"
        raise invalid("advice", allowed, Words("probability 0 from all, whose log loss is infinite"))
    return _log(replace(read, values=chances, outcomes=np.ones(len(chances))))


def _log(read: Advice) -> tuple[Floats, float, float]:
    """Newton's method. With p_t the probability given to what happened and J = b_t / p_t, the step minimises
    |J w|^2/2 - 2 sum J w: the square loss of the advice J with the outcome 2 in every round.
    """
    happened = read.outcomes[:, np.newaxis] == 1
    chances = np.where(happened, read.values, 1 - read.values)
    rests = np.where(happened, 1 - read.values, read.values)
    vector = np.full(chances.shape[1], 1.0 / chances.shape[1])
    mixed = chances @ vector
    total = _log_loss(mixed, rests @ vector)
    for _ in range(NEWTON_STEPS):
        ratios = chances / mixed[:, np.newaxis]
        gap = _log_gap(chances, rests, vector)
        if gap <= NEWTON_TOLERANCE * abs(total):
            break
        errors = (ratios[block] - 2.0 for block in _blocks(ratios))
        direction = _nearest_mixture.nearest_mixture(_nearest_mixture.triangle(errors)) - vector
        step = 1.0
        while step > 1e-10:
            following = vector + step * direction
            reached = chances @ following
            value = _log_loss(reached, rests @ following) if (reached > 0).all() else np.inf
            if value < total:
                break
            step /= 2
        else:
            break
        vector, mixed, total = following, reached, value
    return vector, total, _log_gap(chances, rests, vector)


def _log_loss(chances: Floats, rests: Floats) -> float:
    """The sum of -ln of these probabilities. Near 1 the rest to 1 has the digits that count."""
    near = chances > 0.5
    return float(-np.log1p(-rests[near]).sum() - np.log(chances[~near]).sum())


def _log_gap(chances: Floats, rests: Floats, vector: Floats) -> float:
    """By how much the tangent at a mixture lets another be better: the largest sum over t of (p_{t,i} - p_t) / p_t."""
    mixed = chances @ vector
    near = mixed > 0.5
    saved = (chances[~near] / mixed[~near, np.newaxis] - 1).sum(axis=0)
    saved += (((rests[near] @ vector)[:, np.newaxis] - rests[near]) / mixed[near, np.newaxis]).sum(axis=0)
    return float(saved.max())


def _function(read: Advice) -> tuple[Floats, float, float]:
    values, outcomes, loss = read.values, read.outcomes, read.loss

    def evaluate(weights: Floats) -> tuple[float, Floats]:
        forecasts = values @ weights
        total = float(loss.values(forecasts, outcomes).sum())
        slope = loss.slopes(forecasts, outcomes) @ values
        if not (np.isfinite(total) and np.isfinite(slope).all()):
            raise InputError(f"the loss {loss} and its gradient must be finite for every mixture of the advice")
        return total, slope

    vector, bound = _level_method.minimise_over_simplex(evaluate, values.shape[1])
    total = evaluate(vector)[0]
    return vector, total, total - bound
