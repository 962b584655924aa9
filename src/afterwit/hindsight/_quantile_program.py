"""Weights of least absolute or pinball loss, by linear programming.

Problem     minimise sum_t max(low r_t, high r_t), low < 0 < high; r = -A w with the experts' errors A and w in the
            simplex, or r = y - A w for any w.
Method      the dual program: maximise -max_i (A^T z)_i over low <= z_t <= high (for any w: maximise y . z subject to
            A^T z = 0). It has as many rows as there are experts, however many rounds there are, and HiGHS (scipy)
            solves it quickly; w are its multipliers. With very many rounds, the sign of most r_t is plain from an
            approximate answer (in the simplex that of `_interior_point`, else that of a sample): those z_t are fixed
            at their ends, and the program decides about the others. For any w it takes in more of them until the
            answer is that of all. In the simplex its answer is at a corner, which is computed once more from the
            equations that hold there: HiGHS's own tolerance is too wide where the best mixture is all but perfect.
Certificate for w in the simplex, any z within the ends proves that no w does better than -max_i (A^T z)_i.
Source      Koenker & Bassett 1978; Portnoy & Koenker 1997 for the fixing of signs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from afterwit.errors import AfterwitError
from afterwit.hindsight._errors import Errors
from afterwit.hindsight._interior_point import interior_point

Floats = npt.NDArray[np.float64]
Ends = tuple[float, float]

#: Programs start with this many numbers, rows times columns.
FIRST_SIZE = 400_000
#: The same in the simplex: a better guess decides about more rows.
FIRST_SIZE_OF_MIXTURES = 25_000
#: A gap below this share of the loss is HiGHS's own rounding.
TOLERANCE = 1e-9
#: A multiplier within this share of the way between the ends is at the nearer one.
NEAR_END = 1e-2
#: A weight below this is set to 0 if the loss does not grow.
SMALLEST_WEIGHT = 1e-12
#: At a corner, weights above these count; the second time those of a corner found.
CORNER_WEIGHTS = (0.0, 0.0, 1e-9, 1e-6)
#: A gap below this share of the loss is rounding.
ROUNDING = 1e-15


def quantile_mixture(errors: Errors, ends: Ends) -> tuple[Floats, float, float]:
    """The best weights of the simplex, their loss, and what no mixture does better than."""
    found = _Mixtures(errors, ends)
    size = max(FIRST_SIZE_OF_MIXTURES // errors.width, 20 * errors.width)
    undecided, z = np.arange(errors.count), np.zeros(errors.count)
    many = errors.count > 2 * size
    if many:
        found.see(*interior_point(errors, ends))
        # The rows whose multipliers are farthest inside; the others' are at their ends, but for rounding.
        inside = np.minimum(found.z - ends[0], ends[1] - found.z)
        undecided = np.argpartition(-inside, size)[:size]
        z = np.where(inside > NEAR_END * (ends[1] - ends[0]), found.z, np.where(found.z > sum(ends) / 2, *ends[::-1]))
        z[undecided] = 0.0
    rows = errors.at(undecided)
    solved = _solve(rows, np.zeros(len(rows)), ends, errors.pull(z), True)
    if solved is not None:
        z[undecided] = solved[1]
        found.see(solved[0], z)
    found.see_corners()
    if not many and found.gap > TOLERANCE * found.loss:
        found.see(*interior_point(errors, ends))
        found.see_corners()
    return found.weights, found.loss, found.lowest


class _Mixtures:
    """The best weights and the best z of those seen."""

    def __init__(self, errors: Errors, ends: Ends) -> None:
        self.errors, self.ends = errors, ends
        self.weights, self.z = np.full(errors.width, 1.0 / errors.width), np.zeros(errors.count)
        self.loss, self.lowest = np.inf, 0.0
        self.see(self.weights, self.z)

    @property
    def gap(self) -> float:
        return self.loss - self.lowest

    def see(self, weights: Floats, z: Floats) -> None:
        tidied = np.where(weights < SMALLEST_WEIGHT, 0.0, weights)
        for each in (weights, tidied / tidied.sum()):
            rest = -self.errors.times(each)
            loss = float(np.maximum(self.ends[0] * rest, self.ends[1] * rest).sum())
            if loss <= self.loss:
                self.weights, self.loss = each, loss
        lowest = -float(self.errors.pull(z).max())
        if lowest > self.lowest:
            self.z, self.lowest = z, lowest

    def see_corners(self) -> None:
        """The corners that these may be next to: a small weight may be 0 but for rounding."""
        for least in CORNER_WEIGHTS:
            if self.gap > ROUNDING * self.loss:
                self._see_corner(np.flatnonzero(self.weights > least))

    def _see_corner(self, used: npt.NDArray[np.intp]) -> None:
        """The weights and the z of a corner where these experts have weights, from the equations that hold there.

        With k weights above 0, k - 1 rows have the rest 0, whose z_t are inside their ends; the pulls on the k experts
        are equal.
        """
        low, high = self.ends
        inside = np.minimum(self.z - low, high - self.z)
        count = min(len(used) - 1, self.errors.count - 1)
        at = np.argpartition(-inside, count)[:count]
        square = self.errors.at(at)[:, used]
        ones = np.ones(len(used))
        target = np.append(np.zeros(count), 1.0)
        weights = np.zeros(self.errors.width)
        weights[used] = np.maximum(np.linalg.lstsq(np.vstack([square, ones]), target, rcond=None)[0], 0.0)
        if not weights.sum() > 0:
            return
        weights /= weights.sum()
        rest = -self.errors.times(weights)
        z = np.where(rest > 0, high, low)
        z[at] = 0.0
        pulled = self.errors.pull(z)[used]
        # A change of all pulls by one number costs nothing: only their differences have to be made up for.
        system = np.column_stack([square.T, -ones])
        z[at] = np.clip(np.linalg.lstsq(system, -pulled, rcond=None)[0][:-1], low, high)
        self.see(weights, z)


def quantile_program(rows: Floats, targets: Floats, ends: Ends) -> tuple[Floats, Floats]:
    """The best weights of all, and the z that proves them best."""
    # Columns and targets each in their own unit, so that the weights are of moderate size.
    sizes = np.abs(rows).max(axis=0)
    columns = np.where(sizes > 0, sizes, 1.0)
    unit = float(np.abs(targets).max()) or 1.0
    weights, z = _grow(rows / columns, targets / unit, ends)
    return weights * unit / columns, z


def loss_of(rows: Floats, targets: Floats, ends: Ends, weights: Floats) -> float:
    rest = targets - rows @ weights
    return float(np.maximum(ends[0] * rest, ends[1] * rest).sum())


def _grow(rows: Floats, targets: Floats, ends: Ends) -> tuple[Floats, Floats]:
    count, width = rows.shape
    size = max(FIRST_SIZE // width, 20 * width)
    if count <= 2 * size:
        solved = _solve(rows, targets, ends, np.zeros(width), False)
        return _required(solved)
    step = -(-count // size)
    solved = _required(_solve(rows[::step], targets[::step], ends, np.zeros(width), False))
    before = np.inf
    while True:
        rest = targets - rows @ solved[0]
        z = np.where(rest > 0, ends[1], ends[0])
        undecided = np.argpartition(np.abs(rest), size)[:size] if size < count else np.arange(count)
        z[undecided] = 0.0
        found = _solve(rows[undecided], targets[undecided], ends, z @ rows, False)
        if found is None:
            if size >= count:
                return _required(found)
            wrong = np.inf
        else:
            z[undecided] = found[1]
            rest = targets - rows @ found[0]
            # A row's z is right if it is the end that the sign of its rest asks for; this is what is lost otherwise.
            wrong = float((np.maximum(ends[0] * rest, ends[1] * rest) - z * rest).sum())
            if size >= count or wrong <= TOLERANCE * loss_of(rows, targets, ends, found[0]):
                return found[0], z
            solved = found
        if not wrong < 0.1 * before:
            size = min(2 * size, count)
        before = wrong


def _required(solved: tuple[Floats, Floats] | None) -> tuple[Floats, Floats]:
    if solved is None:
        raise AfterwitError("the linear program could not be solved: the numbers differ too much in size")
    return solved


def _solve(rows: Floats, targets: Floats, ends: Ends, fixed: Floats, mixing: bool) -> tuple[Floats, Floats] | None:
    """One program over these rows, where the others add ``fixed`` to A^T z; None if there is no answer."""
    from scipy.optimize import linprog

    count, width = rows.shape
    # HiGHS's tolerances are absolute: work with numbers around 1.
    scale = float(np.abs(rows).mean()) or 1.0
    limits = np.tile(np.array(ends), (count, 1))
    if mixing:
        result = linprog(
            np.append(-targets / scale, 1.0),
            A_ub=np.hstack([rows.T / scale, np.full((width, 1), -1.0)]),
            b_ub=-fixed / scale,
            bounds=np.vstack([limits, [-np.inf, np.inf]]),
            method="highs",
        )
    else:
        result = linprog(-targets / scale, A_eq=rows.T / scale, b_eq=-fixed / scale, bounds=limits, method="highs")
    if result.x is None or result.status != 0:
        return None
    z = np.clip(result.x[:count], *ends)
    if not mixing:
        return -np.asarray(result.eqlin.marginals), z
    weights = np.maximum(-np.asarray(result.ineqlin.marginals), 0.0)
    total = weights.sum()
    return None if not total > 0 else (weights / total, z)
