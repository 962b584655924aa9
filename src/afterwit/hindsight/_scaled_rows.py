"""Examples in columns of one size, in whatever units they came: what the solver of least loss works on.

Column j is divided by its root mean square s_j, so that weights v there are u_j = v_j / s_j on the columns as they are.
Where a column is constant and the columns may be centred, each other column is measured from its mean first; the weight
of the constant column takes up the difference, so that the scores are the same.

Nothing is copied but a block of rows at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.hindsight.comparator import blocks

Floats = npt.NDArray[np.float64]

#: A matrix with this share of entries is multiplied faster as an array.
DENSE_SHARE = 0.25
#: Second derivatives are held for so many columns at most; beyond, they are only multiplied with.
MOST_COLUMNS = 1_200
#: Columns that differ from a constant by less than this share of it are constant.
CONSTANT = 1e-12
#: Columns of smaller numbers than this, or than this share of the largest, are columns of zeros: nothing divides them.
SMALLEST_SIZE, SMALLEST_SHARE = 1e-290, 1e-100


class ScaledRows:
    """The signed examples z_t = y_t x_t in columns of one size."""

    def __init__(
        self,
        matrix: Any,
        signs: Any,
        centred: bool = False,
        like: ScaledRows | None = None,
        targets: Floats | None = None,
    ) -> None:
        self.sparse = hasattr(matrix, "indptr")
        if self.sparse and matrix.nnz >= DENSE_SHARE * matrix.shape[0] * matrix.shape[1]:
            matrix, self.sparse = matrix.toarray(), False
        self.matrix = matrix
        self.signs = signs
        #: What the scores are to be, where that is a number: then all signs are 1.
        self.targets = targets
        self.count, self.width = matrix.shape
        self.centre: Floats = np.zeros(self.width) if like is None else like.centre
        self.sizes: Floats = np.ones(self.width) if like is None else like.sizes
        #: The column that is constant, where the others are measured from their means.
        self.constant: int | None = None if like is None else like.constant
        if like is None:
            self._measure(centred)
        # A column of nothing but zeros has no size, and its weight stays at 0.
        smallest = max(SMALLEST_SIZE, SMALLEST_SHARE * float(self.sizes.max(initial=0.0)))
        self.shares = np.divide(1.0, self.sizes, out=np.zeros(self.width), where=self.sizes > smallest)
        self.squared: Any = None

    def part(self, step: int) -> ScaledRows:
        """Every so many rows, in the same columns."""
        targets = None if self.targets is None else self.targets[::step]
        return ScaledRows(self.matrix[::step], self.signs[::step], like=self, targets=targets)

    @classmethod
    def with_targets(cls, matrix: Any, targets: Floats, centred: bool = False) -> ScaledRows:
        """Examples whose scores are to be real targets."""
        return cls(matrix, np.ones(len(targets)), centred, targets=targets)

    @property
    def direct(self) -> bool:
        return bool(self.width <= MOST_COLUMNS)

    def _measure(self, centred: bool) -> None:
        if self.sparse:
            self.sizes = column_norms(self.matrix) / np.sqrt(max(1, self.count))
            return
        if not self.matrix.size:
            return
        self.centre = np.zeros(self.width)
        if centred:
            low, high = self.matrix.min(axis=0), self.matrix.max(axis=0)
            constant = np.flatnonzero((low == high) & (low != 0))
            if len(constant):
                self.constant = int(constant[0])
                with np.errstate(over="ignore"):
                    means = self.matrix.mean(axis=0)
                self.centre = np.where(np.isfinite(means), np.clip(means, low, high), 0.0)
                self.centre[self.constant] = 0.0
        self.sizes = column_norms(self.matrix, self.centre) / np.sqrt(self.count)
        if self.constant is not None and self.sizes[self.constant] <= SMALLEST_SHARE * self.sizes.max():
            # Next to the others it is nothing, and can take up no difference.
            self.constant = None
            self._measure(centred=False)
        self.sizes[self.sizes <= CONSTANT * np.abs(self.centre)] = 0.0

    # ------------------------------------------------------------------ between the two kinds of weights

    def outside(self, weights: Floats) -> Floats:
        """The weights on the columns as they are."""
        vector = np.asarray(weights * self.shares)
        if self.constant is not None:
            value = float(self.matrix[0, self.constant])
            vector[self.constant] -= float(self.centre @ vector) / value
        return vector

    def inside(self, vector: Floats) -> Floats:
        """The weights on the scaled columns."""
        weights = np.where(self.shares > 0, vector * self.sizes, 0.0)
        if self.constant is not None:
            sign = np.sign(self.matrix[0, self.constant])
            weights[self.constant] += sign * float(self.centre @ vector)
        return np.asarray(weights)

    # ------------------------------------------------------------------ products

    def margins(self, weights: Floats) -> Floats:
        """y_t (u . x_t) for every row."""
        return np.asarray(self.signs * (self.matrix @ self.outside(weights)))

    def pull(self, amounts: Floats) -> Floats:
        """The sum of amounts times signed examples."""
        signed = self.signs * amounts
        total = np.asarray(self.matrix.T @ signed) - self.centre * float(signed.sum())
        return np.asarray(total * self.shares)

    def curvature(self, amounts: Floats) -> Floats:
        """The sum of amounts times z_t z_t^T. Rows whose amount is next to nothing are passed over."""
        chosen = np.flatnonzero(amounts > 1e-14 * amounts.max(initial=0.0))
        if self.sparse:
            rows = self.matrix[chosen]
            weighted = rows.copy()
            weighted.data = weighted.data * np.repeat(amounts[chosen], np.diff(rows.indptr))
            return np.asarray((rows.T @ weighted).toarray() * np.outer(self.shares, self.shares))
        total = np.zeros((self.width, self.width))
        roots = np.sqrt(amounts)
        centre = self.centre * self.shares
        for at in blocks(self.count, self.width, chosen):
            block = self.matrix[at] * self.shares
            if self.constant is not None:
                block -= centre
            block *= roots[at, np.newaxis]
            total += block.T @ block
        return total

    def diagonal(self, amounts: Floats) -> Floats:
        """The diagonal of the same sum."""
        if self.sparse:
            if self.squared is None:
                self.squared = self.matrix.copy()
                self.squared.data = self.squared.data**2
            return np.asarray((self.squared.T @ amounts) * self.shares**2)
        total = np.zeros(self.width)
        for at in blocks(self.count, self.width):
            total += amounts[at] @ ((self.matrix[at] - self.centre) * self.shares) ** 2
        return total


def column_norms(matrix: Any, centre: Any = 0.0) -> Floats:
    """The Euclidean length of every column, measured from its centre, without overflow or underflow on the way."""
    count, width = matrix.shape
    if not count or not width:
        return np.zeros(width)
    if hasattr(matrix, "indptr"):
        largest = np.zeros(width)
        np.maximum.at(largest, matrix.indices, np.abs(matrix.data))
        shares = np.divide(1.0, largest, out=np.zeros(width), where=largest > SMALLEST_SIZE)
        squares = np.bincount(matrix.indices, (matrix.data * shares[matrix.indices]) ** 2, minlength=width)
        return _product(largest, np.sqrt(squares))
    largest = np.maximum(np.abs(matrix.max(axis=0) - centre), np.abs(matrix.min(axis=0) - centre))
    shares = np.divide(1.0, largest, out=np.zeros(width), where=largest > SMALLEST_SIZE)
    squares = np.zeros(width)
    for at in blocks(count, width):
        squares += (((matrix[at] - centre) * shares) ** 2).sum(axis=0)
    return _product(largest, np.sqrt(squares))


def _product(largest: Floats, others: Floats) -> Floats:
    """Infinite where it is beyond all numbers."""
    with np.errstate(over="ignore"):
        return np.asarray(largest * others)
