"""The best linear combination of the experts, found afterwards: any weights, also negative ones.

Problem     minimise sum_t l(b + w . x_t, y_t) over all w, and over b if there is an intercept.
Method      square        least squares by singular values (LAPACK): where columns depend on each other, the shortest w
            absolute, percentage, pinball    a linear program (HiGHS)
            Other losses are refused: a linear combination may leave the range in which they are defined.
Certificate ``gap``, computed from the data: no linear combination loses less than loss - gap, among those in which no
            expert's largest forecast counts for more than 10,000 times the largest outcome.
Sleepers    are refused: a fixed combination of forecasts needs them all.
Use         it may lose less than every mixture: that shows that the experts are biased, or all wrong in the same way.

>>> found = best_linear([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0]], [3.0, 1.0, 7.5])
>>> found.weights.round(6).tolist(), round(found.loss, 6), found.gap < 1e-9
([-0.347458, 1.70339], 0.004237, True)
>>> rows = [{"a": 1.0}, {"a": 2.0}, {"a": 3.0}, {"a": 4.0}]
>>> print(best_linear(rows, [3.0, 5.0, 17.0, 9.0], loss="absolute", intercept=True))
best linear combination: absolute loss 10 over 4 rounds
  a 2, intercept 1
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from afterwit.data.checks import flag
from afterwit.errors import Words, counted, invalid
from afterwit.hindsight import _quantile_program
from afterwit.hindsight._errors import blocks
from afterwit.hindsight._nearest_mixture import triangle
from afterwit.hindsight._newton import REACH
from afterwit.hindsight._rounds import Floats, by_name, frozen, largest_shares, read_advice
from afterwit.hindsight.best_convex_combination import slopes_of

SUPPORTED = ("square", "absolute", "percentage", "pinball")


@dataclass(frozen=True, eq=False)
class LinearCombination:
    """A fixed linear combination of the experts, judged on the data itself."""

    #: The weights by position.
    vector: Floats = field(repr=False)
    #: What is added to every forecast; 0 without an intercept.
    intercept: float
    loss: float
    #: No linear combination within reach loses less than loss - gap.
    gap: float
    rounds: int
    loss_name: str
    names: tuple[Any, ...] | None = field(default=None, repr=False)

    @property
    def weights(self) -> Any:
        """The weights by name if the advice has names, otherwise by position."""
        return by_name(self.vector, self.names)

    def __str__(self) -> str:
        head = f"best linear combination: {self.loss_name} loss {self.loss:.6g} over {counted(self.rounds, 'round')}"
        parts = [largest_shares(self.vector, self.names)] if self.vector.any() else []
        parts += [f"intercept {self.intercept:.4g}"] if self.intercept else []
        return f"{head}\n  {', '.join(parts) or 'all weights are 0'}"


def best_linear(advice: Any, outcomes: Any, loss: Any = "square", intercept: bool = False) -> LinearCombination:
    """The linear combination of least loss.

    advice     a 2-D array, a DataFrame or a sequence of dicts, an expert in each column
    outcomes   one number for each round
    loss       "square", "absolute", "percentage" or "pinball(q)"
    intercept  whether a constant may be added to every forecast
    """
    intercept = flag("intercept", intercept)
    read = read_advice(advice, outcomes, loss, "a fixed combination needs every expert in every round")
    if read.loss.kind not in SUPPORTED:
        allowed = "'square', 'absolute', 'percentage' or 'pinball(q)', for the best linear combination to be found"
        raise invalid("loss", allowed, Words(str(read.loss)))
    values, targets = read.values, read.outcomes
    if values.size and max(np.abs(values).max(), np.abs(targets).max()) >= 1e150:
        raise invalid("advice and outcomes", "below 1e150 in size", Words("larger numbers"))
    gap = 0.0
    if not len(values):
        vector = np.zeros(values.shape[1] + 1)
    elif read.loss.kind == "square":
        vector = _least_squares(values, targets, intercept)
        columns = np.column_stack([values, np.ones(len(values))]) if intercept else values
        weights = vector[: columns.shape[1]]
        # (y - A v)^2 >= 2 e (y - A v) - e^2 for every v, with e = y - A w.
        gap = 2 * _beyond(columns, targets, weights, targets - columns @ weights)
    else:
        shares, ends = slopes_of(read)
        rows = np.column_stack([values, np.ones(len(values))]) if intercept else values
        # A percentage divides the rounds by their outcomes, the constant among them.
        rows, scaled = (rows, targets) if shares is None else (rows * shares[:, np.newaxis], targets * shares)
        vector, slopes = _quantile_program.quantile_program(rows, scaled, ends)
        # The loss is at least z (y - A v) for every v, with slopes z between the ends.
        reached = _quantile_program.loss_of(rows, scaled, ends, vector)
        gap = reached - float(slopes @ (scaled - rows @ vector)) + _beyond(rows, scaled, vector, slopes)
        vector = vector if intercept else np.append(vector, 0.0)
    constant = float(vector[-1])
    weights = vector[:-1].copy()
    total = float(read.loss.values(values @ weights + constant, targets).sum())
    return LinearCombination(frozen(weights), constant, total, max(gap, 0.0), len(values), read.loss.name, read.names)


def _beyond(columns: Floats, targets: Floats, weights: Floats, slopes: Floats) -> float:
    """The most that z . A (v - w) is for any v within reach; 0, but for rounding, where w is best."""
    sizes = np.abs(columns).max(axis=0)
    with np.errstate(over="ignore"):
        reach = REACH * float(np.abs(targets).max()) * np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
        pull = slopes @ columns
        return float(reach @ np.abs(pull) - pull @ weights)


def _least_squares(values: Floats, targets: Floats, intercept: bool) -> Floats:
    """The weights and the intercept, from the triangle of the rounds: nothing is squared on the way."""
    # Divided by its largest entry, no column counts for more only because of its unit.
    sizes = np.abs(values).max(axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    size = float(np.abs(targets).max()) or 1.0

    def block(part: slice) -> Floats:
        rows = values[part] / sizes
        constant = np.full((len(rows), 1), float(intercept))
        return np.hstack([rows, constant, targets[part, np.newaxis] / size])

    upper = triangle(block(part) for part in blocks(len(values), values.shape[1]))
    solved = np.linalg.lstsq(upper[:, :-1], upper[:, -1], rcond=None)[0]
    return np.asarray(size * solved / np.append(sizes, 1.0))
