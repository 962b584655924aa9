"""Weights of least absolute or pinball loss over the simplex, by an interior-point method: near the best in few steps.

Problem     minimise sum_t max(low r_t, high r_t) over w >= 0 with sum w = 1, where r = -A w, the rows of A are the
            experts' errors and low < 0 < high. Its dual: maximise -s over low <= z_t <= high with (A^T z)_i <= s.
Method      r = u - v with u, v >= 0. At the optimum (high - z_t) u_t = (z_t - low) v_t = w_i (s - (A^T z)_i) = 0; these
            products are brought down together by Newton's method, with Mehrotra's predictor and corrector. Each step
            needs a matrix with a row for each expert, however many rounds there are, and some 20 steps are enough,
            whatever the sizes of the errors.
Source      Mehrotra 1992; Portnoy & Koenker 1997 for quantile regression.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from afterwit.hindsight._errors import Errors

Floats = npt.NDArray[np.float64]

#: No step goes farther than this share of the way to where a variable would be 0.
SHARE_OF_THE_WAY = 0.9995
#: It ends where the gap is below this share of the loss, steps are shorter than that, or after so many.
TOLERANCE, SHORTEST, MOST_STEPS = 1e-12, 1e-9, 60
#: What is left between the ceiling and the largest pull, as a share of that.
LEAST_SLACK = 1e-15


class _Step(NamedTuple):
    weights: Floats
    above: Floats
    below: Floats
    z: Floats
    slack: Floats
    ceiling: float


def interior_point(errors: Errors, ends: tuple[float, float]) -> tuple[Floats, Floats]:
    """The best weights found, and the z that proves most."""
    inside = _Inside(errors, *ends)
    for _ in range(MOST_STEPS):
        if inside.gap <= TOLERANCE * inside.loss or not inside.move():
            break
    return inside.best, inside.best_z


class _Inside:
    """A point inside: u and v are ``above`` and ``below``, z - low and high - z ``from_low`` and ``to_high``."""

    def __init__(self, errors: Errors, low: float, high: float) -> None:
        self.errors, self.low, self.high = errors, low, high
        self.weights = np.full(errors.width, 1.0 / errors.width)
        self.best, self.loss, self.lowest = self.weights, np.inf, -np.inf
        rest = -errors.times(self.weights)
        size = float(np.abs(rest).mean()) or 1.0
        self.above, self.below = np.maximum(rest, 0.0) + size, np.maximum(-rest, 0.0) + size
        half = (high - low) / 2
        self.from_low, self.to_high = np.full(errors.count, half), np.full(errors.count, half)
        self.z = self.best_z = np.full(errors.count, (low + high) / 2)
        product = float((self.above + self.below).mean()) * half / 2
        self.ceiling = float(errors.pull(self.z).max()) + errors.width * product
        self._look()

    @property
    def gap(self) -> float:
        return self.loss - self.lowest

    def _look(self) -> None:
        """Judge the point by the errors themselves, and note the best weights and the best z."""
        self.rest = -self.errors.times(self.weights)
        pulled = self.errors.pull(self.z)
        # Rounding may leave the ceiling below what it is above.
        self.ceiling = max(self.ceiling, float(pulled.max() + LEAST_SLACK * np.abs(pulled).max()))
        self.slack = self.ceiling - pulled
        loss = float(np.maximum(self.low * self.rest, self.high * self.rest).sum())
        if loss < self.loss:
            self.best, self.loss = self.weights, loss
        if -float(pulled.max()) > self.lowest:
            self.best_z, self.lowest = self.z, -float(pulled.max())

    def move(self) -> bool:
        """One step; whether it led anywhere."""
        from scipy.linalg import cho_factor

        self.missing = self.rest - (self.above - self.below)
        self.bends = 1.0 / (self.above / self.to_high + self.below / self.from_low)
        matrix = self.errors.products(self.bends)
        matrix[np.diag_indices(len(matrix))] += self.slack / self.weights + 1e-15 * matrix.diagonal().max()
        try:
            self.factor = cho_factor(matrix, lower=True)
        except (np.linalg.LinAlgError, ValueError):
            return False
        self.of_ones = self._solve(np.ones(len(matrix)))
        products = self.above * self.to_high, self.below * self.from_low, self.weights * self.slack
        count = 2 * len(self.above) + len(self.weights)
        mean = sum(float(each.sum()) for each in products) / count
        ahead = self._step(*(-each for each in products))
        primal, dual = self._lengths(ahead)
        reached = float((self.above + primal * ahead.above) @ (self.to_high - dual * ahead.z))
        reached += float((self.below + primal * ahead.below) @ (self.from_low + dual * ahead.z))
        reached += float((self.weights + primal * ahead.weights) @ (self.slack + dual * ahead.slack))
        wanted = mean * (reached / count / mean) ** 3
        # What the predictor's two steps would add to each product is taken off beforehand.
        step = self._step(
            wanted - products[0] + ahead.above * ahead.z,
            wanted - products[1] - ahead.below * ahead.z,
            wanted - products[2] - ahead.weights * ahead.slack,
        )
        primal, dual = (min(1.0, SHARE_OF_THE_WAY * each) for each in self._lengths(step))
        if not max(primal, dual) > SHORTEST:
            return False
        self.above, self.below = self.above + primal * step.above, self.below + primal * step.below
        self.weights = self.weights + primal * step.weights
        self.weights = self.weights / self.weights.sum()
        self.from_low, self.to_high = self.from_low + dual * step.z, self.to_high - dual * step.z
        self.z = np.clip(self.z + dual * step.z, self.low, self.high)
        self.ceiling += dual * step.ceiling
        self._look()
        return True

    def _solve(self, target: Floats) -> Floats:
        from scipy.linalg import cho_solve

        return np.asarray(cho_solve(self.factor, target))

    def _step(self, above: Floats, below: Floats, mixed: Floats) -> _Step:
        """The step that changes the three kinds of products by these amounts, to first order."""
        bent = self.bends * (self.missing - above / self.to_high + below / self.from_low)
        solved = self._solve(mixed / self.weights + self.errors.pull(bent))
        ceiling = float(solved.sum() / self.of_ones.sum())
        weights = solved - ceiling * self.of_ones
        z = bent - self.bends * self.errors.times(weights)
        return _Step(
            weights,
            (above + self.above * z) / self.to_high,
            (below - self.below * z) / self.from_low,
            z,
            (mixed - self.slack * weights) / self.weights,
            ceiling,
        )

    def _lengths(self, step: _Step) -> tuple[float, float]:
        """How far u, v and w, and how far z and s, could go this way."""
        primal = (self.above, step.above), (self.below, step.below), (self.weights, step.weights)
        dual = (self.from_low, step.z), (self.to_high, -step.z), (self.slack, step.slack)
        return min(_until_zero(*each) for each in primal), min(_until_zero(*each) for each in dual)


def _until_zero(values: Floats, change: Floats) -> float:
    """The part of the change, at most 1, at which the first of the values would be 0."""
    falling = change < 0
    return min(1.0, float((values[falling] / -change[falling]).min(initial=np.inf)))
