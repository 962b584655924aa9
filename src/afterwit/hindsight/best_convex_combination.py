"""The best fixed mixture of the experts, found afterwards, with a proof of how far it could be from the best.

Problem     minimise sum_t l(w . x_t, y_t) over w >= 0 with sum w = 1, where x_t is the advice of round t.
Method      square        non-negative least squares on the triangle of the experts' errors: exact up to rounding
            absolute, percentage, pinball    an interior-point method, and a linear program about the rounds it leaves
                          open (HiGHS): exact up to rounding
            log           Newton's method, each step of which is a square-loss problem
            function      Newton's method, with second derivatives from how the gradient changes; where that does not
                          end, as with kinks, the level method
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

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.errors import InputError, Words, counted, invalid
from afterwit.hindsight import _level_method
from afterwit.hindsight._errors import Errors, blocks
from afterwit.hindsight._nearest_mixture import corrected_mixture, nearest_mixture, triangle
from afterwit.hindsight._quantile_program import quantile_mixture
from afterwit.hindsight._rounds import Advice, Floats, by_name, frozen, largest_shares, read_advice

#: Newton's method for the log loss ends there, or after so many steps.
NEWTON_TOLERANCE = 1e-12
NEWTON_STEPS = 60
#: A function is minimised more exactly over no more rounds than these.
FEW = 2_000
#: The square loss: how often the mixture found is corrected on the data.
CORRECTIONS = 3
#: Sums that differ by less than this share of them are the same but for rounding.
SAME = 1e-13


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


def best_convex_combination(advice: Any, outcomes: Any, loss: Any = "square") -> Mixture:
    """The mixture of least loss, with a gap that proves how far it could be from the best.

    advice    a 2-D array, a DataFrame or a sequence of dicts, an expert in each column
    outcomes  one number for each round
    loss      "square", "absolute", "percentage", "pinball(q)", "log" or one of `afterwit.losses` with a gradient
    """
    read = read_advice(advice, outcomes, loss, "a fixed mixture needs every expert in every round")
    if not read.loss.convex:
        raise invalid("loss", "convex, for the best mixture to be found", Words(str(read.loss)))
    if not read.loss.has_slope:
        hint = "one with a gradient, afterwit.losses.function(loss, gradient), for the best mixture to be found"
        raise invalid("loss", hint, Words(f"{read.loss}, which has none"))
    if not len(read.values):
        count = read.experts.count
        return Mixture(frozen(np.full(count, 1.0 / count)), 0.0, 0.0, 0, read.loss.name, read.names)
    with np.errstate(over="ignore"):
        first = read.loss.values(read.values[0], read.outcomes[0])
        if (read.loss.kind != "log" and not np.isfinite(first).all()) or not _moderate(read):
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
    return all(float(each.min()) > -1e150 and float(each.max()) < 1e150 for each in (read.values, read.outcomes))


def _square(read: Advice) -> tuple[Floats, float, float]:
    errors = Errors(read.values, read.outcomes)
    vector = nearest_mixture(triangle(part for _, part in errors.blocks()))
    total, gap = _square_loss(errors, vector)
    for _ in range(CORRECTIONS):
        if gap <= SAME * total:
            break
        corrected = corrected_mixture(errors.blocks, vector)
        value, gap_there = _square_loss(errors, corrected)
        # Rounding may leave the loss a little larger: by far less than is gained in what is proved.
        if not value - total <= 1e-3 * (gap - gap_there):
            break
        vector, total, gap = corrected, value, gap_there
    return vector, total, gap


def _square_loss(errors: Errors, vector: Floats) -> tuple[float, float]:
    """The loss of a mixture, and how far it could be above the best."""
    total, products = 0.0, np.zeros(len(vector))
    for _, part in errors.blocks():
        error = part @ vector
        total += float(error @ error)
        products += error @ part
    # Every mixture's error e has e . error >= the least product, so it is at least as long as that over |error|.
    least = float(products.min())
    return total, max(0.0, total - least * least / total if total > 0 and least > 0 else total)


def _quantile(read: Advice) -> tuple[Floats, float, float]:
    shares, ends = slopes_of(read)
    vector, total, lowest = quantile_mixture(Errors(read.values, read.outcomes, shares), ends)
    return vector, total, total - lowest


def slopes_of(read: Advice) -> tuple[Floats | None, tuple[float, float]]:
    """Of a loss made of two straight lines: each round's share, where these differ, and the two slopes."""
    if read.loss.kind == "pinball":
        return None, (read.loss.quantile - 1, read.loss.quantile)
    return 1 / np.abs(read.outcomes) if read.loss.kind == "percentage" else None, (-1.0, 1.0)


def _log(read: Advice) -> tuple[Floats, float, float]:
    """Newton's method. With p_t the probability given to what happened and J = b_t / p_t, the step minimises
    |J w|^2/2 - 2 sum J w: the square loss of the advice J with the outcome 2 in every round.
    """
    chances = _Chances(read.values, read.outcomes == 1)
    vector = np.full(chances.width, 1.0 / chances.width)
    mixed, total, gap = chances.judge(vector)
    if math.isinf(total):
        at = int(np.argmin(mixed > 0))
        raise InputError(f"row {at}: no expert gave any chance to what happened, so every mixture has an infinite loss")
    for _ in range(NEWTON_STEPS):
        if gap <= NEWTON_TOLERANCE * abs(total):
            break
        errors = (part / mixed[block, np.newaxis] - 2.0 for block, part, _ in chances.blocks())
        direction = nearest_mixture(triangle(errors)) - vector
        step = 1.0
        while step > 1e-10:
            following = vector + step * direction
            reached, value, gap_there = chances.judge(following)
            # Near the end rounding hides whether the loss is less: then the gap decides.
            if value < total or (gap_there < gap and value <= total + SAME * abs(total)):
                break
            step /= 2
        else:
            break
        vector, mixed, total, gap = following, reached, value, gap_there
    return vector, total, gap


class _Chances:
    """The probabilities that the experts gave to what happened, made block by block."""

    def __init__(self, values: Floats, happened: npt.NDArray[np.bool_]) -> None:
        self.values, self.happened = values, happened
        self.width = values.shape[1]

    def blocks(self) -> Iterator[tuple[slice, Floats, Floats]]:
        """The rounds, the probabilities of what happened, and of what did not: near 1, that one has the digits."""
        for block in blocks(*self.values.shape):
            values, happened = self.values[block], self.happened[block, np.newaxis]
            rests = 1 - values
            yield block, np.where(happened, values, rests), np.where(happened, rests, values)

    def judge(self, vector: Floats) -> tuple[Floats, float, float]:
        """The mixture's probability of what happened, its loss, and by how much the tangent there lets another be
        better: the largest sum over t of (p_{t,i} - p_t) / p_t. No probability may be 0: the loss is infinite then.
        """
        mixed, total, saved = np.empty(len(self.values)), 0.0, np.zeros(self.width)
        for block, chances, rests in self.blocks():
            chance, rest = chances @ vector, rests @ vector
            mixed[block] = chance
            if not (chance > 0).all():
                return mixed, math.inf, math.inf
            near = chance > 0.5
            total -= float(np.log1p(-rest[near]).sum() + np.log(chance[~near]).sum())
            differences = np.where(near[:, np.newaxis], rest[:, np.newaxis] - rests, chances - chance[:, np.newaxis])
            saved += (1 / chance) @ differences
        return mixed, total, float(saved.max())


def _function(read: Advice) -> tuple[Floats, float, float]:
    loss = _FunctionLoss(read)
    tolerance = _level_method.TOLERANCE * (1.0 if len(read.values) > FEW else 0.01)
    vector, bound = _level_method.minimise_over_simplex(loss.evaluate, read.values.shape[1], loss.bends, tolerance)
    total = loss.evaluate(vector)[0]
    return vector, total, total - bound


class _FunctionLoss:
    """The total of a function of one's own, which is called for every round: each evaluation is dear."""

    def __init__(self, read: Advice) -> None:
        self.values, self.outcomes, self.loss = read.values, read.outcomes, read.loss
        #: Where weights sum to 1 errors change as forecasts do, and nothing large cancels.
        self.errors = Errors(read.values, read.outcomes)
        self.before: tuple[Floats, Floats] | None = None
        self.curved = np.zeros(len(read.values))

    def evaluate(self, weights: Floats) -> tuple[float, Floats]:
        forecasts = self.values @ weights
        total = float(self.loss.values(forecasts, self.outcomes).sum())
        slopes = self.loss.slopes(forecasts, self.outcomes)
        pull = self.errors.pull(slopes)
        if not (np.isfinite(total) and np.isfinite(pull).all()):
            raise InputError(f"the loss {self.loss} and its gradient must be finite for every mixture of the advice")
        if self.before is not None:
            # In every round by itself, the slope changed from the last forecast to this one.
            moved, changed = forecasts - self.before[0], slopes - self.before[1]
            far = np.abs(moved) > 1e-12 * np.abs(forecasts)
            self.curved[far] = np.maximum(changed[far] / moved[far], 0.0)
        self.before = forecasts, slopes
        return total, pull

    def bends(self) -> Floats:
        """Second derivatives by the weights."""
        return self.errors.products(self.curved)
