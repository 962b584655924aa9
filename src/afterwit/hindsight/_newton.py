"""Weights of least total loss, with a proof of how far they could be from it.

Problem     minimise F(u) = sum_t l(y_t u . x_t) + ridge |u|^2 / 2 + price |u|_1 over all u, over the ball |u| <= b, the
            box |u_i| <= b or all u >= 0; l is the hinge, the logistic or the squared loss, or one of real targets.
Method      Newton's, in columns of one size (`ScaledRows`): each step minimises the quadratic model exactly, in the
            ball or box if there is one, and goes as far that way as is best. Kinks are rounded off, such as that of the
            hinge, mu ln(1 + exp((1 - m) / mu)), with mu brought down. Second derivatives are a matrix for up to some
            thousand columns; beyond, conjugate gradients multiply with them. Many rows are begun with a part of them.
Certificate for any a, l(m) >= h(a) - a m, where h(a) = -l*(-a) (`_kinds_of_loss` has it for every loss). So with
            r = sum_t a_t y_t x_t, F(u) >= sum_t h(a_t) - r . u + ridge |u|^2 / 2 for every u, whose least value is
            known: no u that is allowed goes below it. Where every u is, those are meant whose v has no entry above
            REACH in the scaled columns: scores of 10,000 for a typical value of one column.
Source      Boyd & Vandenberghe 2004, sections 5.1 and 9.5; for the rounded hinge, Chen & Mangasarian 1995.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.hindsight._kinds_of_loss import kind_of_loss
from afterwit.hindsight._scaled_rows import ScaledRows

Floats = npt.NDArray[np.float64]

#: Weights in scaled columns are compared with others up to this size.
REACH = 1e4
#: A gap below this share of the value is small enough, for as many entries; on small data for less.
TOLERANCE, SMALL_TOLERANCE, SMALL = 1e-4, 1e-7, 100_000
#: Conjugate gradients go through about so many entries.
MOST_WORK = 500_000_000
#: Work on larger data begins with a part of so many rows.
ROWS_TO_BEGIN_WITH = 8_000
#: A loss below this share of that of weights at 0 is as good as none.
NOTHING = 1e-7
#: Where the least loss is at infinity, weights in scaled columns go no farther than this.
FARTHEST = 1e12
#: The least that is added to second derivatives, as a share of the largest.
FIRM = 1e-12
#: How the hinge is rounded off: at first, how it goes down, and at last.
ROUNDED, SHARPER, SHARPEST = 0.5, 0.25, 1e-7


@dataclass(frozen=True)
class Region:
    """Where the weights may be, and what their length costs."""

    ridge: float = 0.0
    ball: float | None = None
    box: float | None = None
    nonnegative: bool = False
    #: On the 1-norm, for the hinge and the logistic loss; without ridge, ball and box.
    price: float = 0.0

    def in_unit(self, unit: float) -> Region:
        """The same for examples divided by the unit, with weights multiplied by it."""
        ball, box = (None if each is None else each * unit for each in (self.ball, self.box))
        return Region(self.ridge / unit / unit, ball, box, self.nonnegative, self.price / unit)

    def shrunk(self, step: int) -> Region:
        """The same for one of so many examples."""
        return replace(self, ridge=self.ridge / step, price=self.price / step)


@dataclass(frozen=True)
class Least:
    """Weights, what F is there, and what it is nowhere below."""

    vector: Floats
    value: float
    lowest: float

    @property
    def gap(self) -> float:
        return max(0.0, self.value - self.lowest)


def least(
    rows: ScaledRows, loss: str, region: Region, start: Floats | None = None, tolerance: float | None = None
) -> Least:
    """The weights of least loss in the region; ``start`` are weights to begin with."""
    if loss == "perceptron" or not rows.count or not rows.width or not rows.shares.any():
        vector = np.zeros(rows.width)
        value = 0.0 if loss == "perceptron" else kind_of_loss(loss, rows).total(np.zeros(rows.count))
        return Least(vector, value, value)
    entries = rows.count * rows.width
    tolerance = tolerance or (SMALL_TOLERANCE if entries <= SMALL else TOLERANCE)
    begin = None if start is None else rows.inside(start)
    step = rows.count // ROWS_TO_BEGIN_WITH
    rounded = ROUNDED
    if step > 1:
        few = _Descent(rows.part(step), loss, region.shrunk(step), begin, rounded)
        # In a part, columns may separate the few rows that have them: their weights must not run away.
        few.ridge = few.ridge + 1e-3 * few.rows.count
        few.run(max(tolerance, 1e-3), 40)
        # A part's answer is off by as much as a part tells of the whole: from there on, not too sharp at first.
        begin, rounded = few.best, max(few.rounded, SHARPER * ROUNDED)
    descent = _Descent(rows, loss, region, begin, rounded)
    descent.run(tolerance, int(np.clip(1e10 / (entries * min(rows.width, 500)), 25, 150)))
    return Least(rows.outside(descent.best), descent.best_value, max(0.0, descent.lowest))


def lower_bound(rows: ScaledRows, loss: str, region: Region, amounts: Floats, pull: Floats | None = None) -> float:
    """A value that no weights of the region go below, from any multipliers; ``pull`` if their sum is known."""
    kind = kind_of_loss(loss, rows)
    low, high = kind.ends
    if amounts.min(initial=0.0) < low or amounts.max(initial=0.0) > high:
        amounts, pull = np.clip(amounts, low, high), None
    if region.price > 0:
        # The price covers what pulls at the weights if that is nowhere larger; so it is made smaller if need be.
        pull = rows.pull(amounts) if pull is None else pull
        outside = pull * rows.sizes
        strongest = float((outside if region.nonnegative else np.abs(outside)).max(initial=0.0))
        amounts, pull = amounts * min(1.0, region.price / max(strongest, 1e-300)), np.zeros(rows.width)
    return kind.proved(amounts) - _most(rows, region, rows.pull(amounts) if pull is None else pull)


def _most(rows: ScaledRows, region: Region, pull: Floats) -> float:
    """The largest r . u - ridge |u|^2 / 2 of the weights that are allowed."""
    pull = np.maximum(pull, 0.0) if region.nonnegative else pull
    outside = pull * rows.sizes
    length = float(np.linalg.norm(outside))
    found = []
    if region.ridge > 0:
        found.append(length**2 / (2 * region.ridge))
    if region.ball is not None:
        found.append(region.ball * length)
    if region.box is not None:
        found.append(region.box * float(np.abs(outside).sum()))
    return min(found) if found else REACH * float(np.abs(pull).sum())


class _Descent:
    """Newton's method from one point on, with the best point and the highest bound seen on the way."""

    def __init__(self, rows: ScaledRows, loss: str, region: Region, begin: Floats | None, rounded: float) -> None:
        self.rows, self.loss, self.region = rows, loss, region
        self.kind = kind_of_loss(loss, rows)
        self.rounded = rounded
        self.ridge = region.ridge * rows.shares**2
        self.price = region.price * rows.shares
        self.signs = np.zeros(rows.width)
        self.limits = self._limits()
        self.weights = np.zeros(rows.width) if begin is None else self._allowed(begin)
        self.margins = rows.margins(self.weights)
        self.best, self.best_value, self.lowest = self.weights, math.inf, -math.inf
        #: What is added to the second derivatives, as a share of the largest, so that no step is too long.
        self.firm = FIRM
        #: For conjugate gradients: how exact they need to be by now, and how often they multiplied and may do so.
        self.closeness, self.spent = 0.03, 0
        entries = rows.matrix.nnz if rows.sparse else rows.matrix.size
        self.budget = max(200, MOST_WORK // max(1, entries))

    def _limits(self) -> tuple[Floats, Floats] | None:
        """The least and the largest weight of every scaled column, where there are such."""
        box, sizes = self.region.box, self.rows.sizes
        if box is None and not self.region.nonnegative:
            return None
        high = np.full(self.rows.width, np.inf) if box is None else box * sizes
        return (np.zeros(self.rows.width) if self.region.nonnegative else -high), high

    def _allowed(self, weights: Floats) -> Floats:
        if self.limits is not None:
            weights = np.clip(weights, *self.limits)
        if self.region.ball is not None:
            weights = weights * min(1.0, self.region.ball / max(self._length(weights), 1e-300))
        return weights

    def _length(self, weights: Floats) -> float:
        return float(np.linalg.norm(weights * self.rows.shares))

    # ------------------------------------------------------------------ the loop

    def run(self, tolerance: float, most: int) -> None:
        at_zero = self.kind.total(np.zeros(self.rows.count))
        enough = 0.0 if self.region.ridge > 0 else NOTHING * at_zero
        for _ in range(most):
            amounts, bends = self._slopes(self.margins)
            pull = self.rows.pull(amounts)
            if self.region.price > 0:
                self._choose_signs(pull)
            downhill = pull - self.ridge * self.weights - self.price * self.signs
            error = self._see(self.weights, self.margins)
            step = self._step(downhill, bends)
            ahead = self.rows.margins(step)
            # Where the quadratic model has its least value the slopes would be others: often a better proof.
            predicted = amounts - bends * ahead
            for multipliers, known in ((amounts, pull), (predicted, None)):
                self.lowest = max(self.lowest, lower_bound(self.rows, self.loss, self.region, multipliers, known))
            if self.best_value - self.lowest <= max(tolerance * self.best_value, enough):
                return
            decrease = float(downhill @ step)
            if error > 0.1 * tolerance * self.best_value and decrease <= 0.1 * error and self.rounded > SHARPEST:
                # The rounded problem is solved as well as it stands for the other: take a sharper one.
                self.rounded *= SHARPER
                continue
            length = self._how_far(step, ahead) if decrease > 1e-14 * self.best_value else 0.0
            if length == 0:
                return
            # Where the model is no guide that far, shorter steps are asked for; where it is, longer ones.
            self.firm = min(max(FIRM, self.firm * (0.01 if length > 0.5 else 1.0 if length > 0.1 else 1e3)), 1.0)
            self.closeness = min(self.closeness, max(1e-8, decrease / max(self.best_value, 1e-300)))
            following = self.weights + length * step
            if np.abs(following).max() > FARTHEST:
                return
            self.weights, self.margins = following, self.rows.margins(following)
            if self.spent > self.budget:
                break
        self._see(self.weights, self.margins)

    def _choose_signs(self, pull: Floats) -> None:
        """The sign that every weight has or, at 0, is pulled to against the price; in this step it keeps it."""
        there = np.where(np.abs(pull) > self.price, np.sign(pull), 0.0)
        self.signs = np.where(self.weights != 0, np.sign(self.weights), there)
        if self.region.nonnegative:
            self.signs = np.maximum(self.signs, 0.0)
        self.limits = np.where(self.signs < 0, -np.inf, 0.0), np.where(self.signs > 0, np.inf, 0.0)

    def _see(self, weights: Floats, margins: Floats) -> float:
        """Note the point if it is the best so far; how much rounding off adds to the losses there."""
        total = self.kind.total(margins)
        value = total + float(self.ridge @ weights**2) / 2 + float(self.price @ np.abs(weights))
        if value < self.best_value:
            self.best, self.best_value = weights, value
        return self.kind.rounding_off(margins, self.rounded)

    # ------------------------------------------------------------------ the rounded loss

    def _slopes(self, margins: Floats) -> tuple[Floats, Floats]:
        """The slopes of the losses, downwards, and how these change."""
        return self.kind.slopes(margins, self.rounded)

    def _how_far(self, step: Floats, ahead: Floats) -> float:
        """The length along the step at which F is least, near enough; within the region, never above 1."""
        inside = self.limits is not None or self.region.ball is not None

        def slope(length: float) -> float:
            amounts, _ = self._slopes(self.margins + length * ahead)
            cost = self.ridge * (self.weights + length * step) + self.price * self.signs
            return float(cost @ step) - float(amounts @ ahead)

        first = slope(0.0)
        if not first < 0:
            return 0.0
        low, high, at_low, at_high = 0.0, 1.0, first, slope(1.0)
        while at_high < 0.1 * first:
            if inside or high >= 1024:
                return high
            low, high, at_low = high, 2 * high, at_high
            at_high = slope(high)
        for _ in range(12):
            if abs(at_high) <= 0.1 * abs(first):
                return high
            # Between the ends, where a line through the slopes is 0, but not too close to either.
            share = np.clip(at_low / (at_low - at_high), 0.1, 0.9)
            middle = low + float(share) * (high - low)
            at_middle = slope(middle)
            if abs(at_middle) <= 0.1 * abs(first):
                return middle
            if at_middle < 0:
                low, at_low = middle, at_middle
            else:
                high, at_high = middle, at_middle
        return low if low > 0 else high

    # ------------------------------------------------------------------ the step

    def _step(self, downhill: Floats, bends: Floats) -> Floats:
        """To the least value of the quadratic model, in the region."""
        if self.rows.direct:
            matrix = self.rows.curvature(bends)
            size = float(matrix.diagonal().max(initial=0.0)) or 1.0
            unused = np.where(self.rows.shares == 0, size, 0.0)
            held = self._held(downhill, matrix.diagonal())
            matrix[np.diag_indices(self.rows.width)] += self.ridge + unused + held + self.firm * size
            model: Any = _Direct(matrix, size)
        else:
            model = _Products(self.rows, bends, self.ridge, self.closeness, self.firm)
        if self.region.ball is not None:
            step: Floats = self._step_in_ball(model, downhill)
        elif self.limits is not None:
            step = self._step_in_box(model, downhill)
        else:
            step = model.solve(downhill)
        self.spent += model.products
        return step

    def _held(self, downhill: Floats, diagonal: Floats) -> Floats:
        """What is added to second derivatives so that no weight moves farther than the hinge is wide, about.

        Where all the few rows of a column are on one side of it the loss has a slope and no second derivative: without
        this the column would have the longest step of all, and the others hardly any.
        """
        if self.loss != "hinge":
            return np.zeros(len(diagonal))
        return np.maximum(0.0, np.abs(downhill) - diagonal)

    def _step_in_ball(self, model: Any, downhill: Floats) -> Floats:
        """The price on the length is found by Newton's method for 1/|u| (Moré & Sorensen 1983)."""
        ball = self.region.ball
        assert ball is not None
        # Measured from 0, the least value of the model is where (H + price S^-2) v = H v_now + downhill.
        target = model.times(self.weights) + downhill
        squares = self.rows.shares**2
        # At the answer it is |r| / |u|, a good guess elsewhere.
        price = float(np.linalg.norm((downhill + self.ridge * self.weights) * self.rows.sizes)) / ball
        low, high = -1.0, math.inf
        for _ in range(60):
            weights: Floats = model.solve(target, price * squares)
            length = self._length(weights)
            if abs(length / ball - 1) <= min(0.1, 100 * model.closeness) or (price == 0 and length <= ball):
                break
            if length > ball:
                low = price
            else:
                high = price
            bend = float((squares * weights) @ model.solve(squares * weights, price * squares))
            price += (length / ball - 1) * length**2 / bend if bend > 0 else max(price, 1.0)
            if not low < price < high:
                # From above, 0 may be the answer; otherwise between the two ends.
                price = 0.0 if low < 0 else math.sqrt(max(low, 1e-8 * high) * high)
        return self._allowed(weights) - self.weights

    def _step_in_box(self, model: Any, downhill: Floats) -> Floats:
        """Weights at an end that are pulled outwards stay there; the others solve the model."""
        assert self.limits is not None
        low, high = self.limits
        fixed = ((self.weights <= low) & (downhill <= 0)) | ((self.weights >= high) & (downhill >= 0))
        step = np.zeros(self.rows.width)
        for _ in range(model.patience):
            free = ~fixed
            rest = downhill - model.times(np.where(fixed, step, 0.0))
            step = np.where(free, model.solve_on(free, rest), step)
            beyond = free & ((self.weights + step < low) | (self.weights + step > high))
            step = np.clip(self.weights + step, low, high) - self.weights
            if not beyond.any():
                break
            fixed |= beyond
        if float(downhill @ step) > 0:
            return step
        return np.asarray(np.clip(self.weights + downhill / model.diagonal.sum(), low, high) - self.weights)


class _Direct:
    """Second derivatives as a matrix."""

    def __init__(self, matrix: Floats, size: float) -> None:
        self.matrix, self.size = matrix, size
        self.closeness, self.products, self.patience = 1e-12, 0, 10
        self.diagonal = matrix.diagonal()

    def times(self, vector: Floats) -> Floats:
        return np.asarray(self.matrix @ vector)

    def solve(self, target: Floats, further: Any = None) -> Floats:
        """The solution, with ``further`` added to the diagonal; where columns depend on each other, a short one."""
        matrix = self.matrix if further is None else self.matrix + np.diag(further)
        for firm in (0.0, 1e-10, 1e-7, 1e-4, 1.0):
            try:
                factor = np.linalg.cholesky(matrix + firm * self.size * np.eye(len(matrix)) if firm else matrix)
            except np.linalg.LinAlgError:
                continue
            return np.asarray(np.linalg.solve(factor.T, np.linalg.solve(factor, target)))
        return np.asarray(target / self.size)

    def solve_on(self, free: Any, target: Floats) -> Floats:
        """The same for some of the weights only."""
        solved = np.zeros(len(target))
        at = np.flatnonzero(free)
        if len(at):
            solved[at] = _Direct(self.matrix[np.ix_(at, at)], self.size).solve(target[at])
        return solved


class _Products:
    """Second derivatives known by their products: systems are solved by conjugate gradients."""

    def __init__(self, rows: ScaledRows, bends: Floats, ridge: Floats, closeness: float, firm: float) -> None:
        self.rows, self.bends = rows, bends
        self.closeness, self.products, self.patience = closeness, 0, 2
        diagonal = rows.diagonal(bends)
        self.ridge = ridge + max(1e-9, firm) * (float(diagonal.max(initial=0.0)) or 1.0)
        self.diagonal = diagonal + self.ridge

    def times(self, vector: Floats) -> Floats:
        self.products += 1
        return self.rows.pull(self.bends * self.rows.margins(vector)) + self.ridge * vector

    def solve(self, target: Floats, further: Any = 0.0) -> Floats:
        def product(vector: Floats) -> Floats:
            return np.asarray(self.times(vector) + further * vector)

        return _conjugate_gradients(product, target, self.diagonal + further, self.closeness)

    def solve_on(self, free: Any, target: Floats) -> Floats:
        def product(vector: Floats) -> Floats:
            return np.where(free, self.times(vector), vector)

        return _conjugate_gradients(
            product, np.where(free, target, 0.0), np.where(free, self.diagonal, 1.0), self.closeness
        )


def _conjugate_gradients(
    product: Callable[[Floats], Floats], target: Floats, diagonal: Floats, tolerance: float, most: int = 100
) -> Floats:
    """A solution of product(x) = target, preconditioned by the diagonal; better from step to step."""
    solved = np.zeros(len(target))
    rest = target.copy()
    direction = rest / diagonal
    size = float(rest @ direction)
    enough = tolerance**2 * size
    for _ in range(most):
        if not size > enough:
            break
        image = product(direction)
        length = size / float(direction @ image)
        solved += length * direction
        rest -= length * image
        fresh = rest / diagonal
        size, before = float(rest @ fresh), size
        direction = fresh + size / before * direction
    return solved
