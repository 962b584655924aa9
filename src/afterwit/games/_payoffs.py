"""A payoff matrix: read and checked, bracketed in float64, and a scaled copy for the players to run on.

The bracket of a pair of strategies allows for the rounding of its own computation. With k entries of p that are not 0,
payoffs of at most S and u = 2^-53, a computed (p^T M)_j is off by at most (k + 1) u S, and dividing p by its sum, which
is 1 only up to rounding, by (k + 1) u S more. The bracket is moved outwards by 2 (k + 2) u S, and is exact where p is a
single row. Payoffs far from 0 and close together (1e12 and 1e12 + 1) are taken relative to their middle, which is an
exact subtraction there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.rows import _as_array, _is_scipy_sparse, _read_dense, _read_scipy
from afterwit.data.values import is_masked_array
from afterwit.errors import Words, invalid

Floats = npt.NDArray[np.float64]
Product = Callable[[Floats], npt.NDArray[Any]]

#: The unit roundoff of float64, and that of float32.
UNIT = 2.0**-53
SINGLE_UNIT = 2.0**-24
#: Its smallest number above 0: products that underflow are off by as much.
SMALLEST = 2.0**-1074
#: Wanted gaps of at least this part of the payoffs' size are reached on a float32 copy; the bracket stays float64.
SINGLE_PRECISION_GAP = 2e-5
#: Below this many entries both copies fit in the cache, and the smaller one is no faster.
SINGLE_PRECISION_SIZE = 2**14
BLOCK = 256
#: Of games with at most so many rows and columns the payoffs are kept, so that they can be drawn.
MOST_SHOWN = 20


@dataclass(frozen=True)
class Payoffs:
    """A checked payoff matrix, a 2-D float64 array or a sparse one, less its middle where that is large."""

    matrix: Any
    transposed: Any
    middle: float
    smallest: float
    largest: float

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    @property
    def entries(self) -> int:
        """How many numbers a product with the matrix takes."""
        return int(getattr(self.matrix, "nnz", 0) or self.matrix.shape[0] * self.matrix.shape[1])

    @property
    def spread(self) -> float:
        """The largest payoff less the smallest."""
        return self.largest - self.smallest

    @property
    def size(self) -> float:
        """The largest absolute value in ``matrix``."""
        return max(abs(self.largest - self.middle), abs(self.smallest - self.middle))

    @property
    def exponent(self) -> int:
        """The power of two by which to divide for entries of at most 1 (2, at the very end of float64)."""
        return min(math.frexp(self.size)[1], 1023)

    def upper(self, row_strategy: Floats) -> float:
        """The most that the column player can get against p, max_j (p^T M)_j, rounded up."""
        return self._outwards(float((self.transposed @ row_strategy).max()), row_strategy, +1)

    def lower(self, column_strategy: Floats) -> float:
        """The least that the row player can pay against q, min_i (M q)_i, rounded down."""
        return self._outwards(float((self.matrix @ column_strategy).min()), column_strategy, -1)

    def allowance(self, strategy: Floats) -> float:
        """How far rounding may have moved a payoff computed with this strategy."""
        played = int(np.count_nonzero(strategy))
        return 0.0 if played == 1 or self.size == 0.0 else self._rounding(played)

    def resolution(self, row_strategy: Floats, column_strategy: Floats) -> float:
        """Below what gap other mixed strategies like these could not be told from them."""
        played = (int(np.count_nonzero(strategy)) for strategy in (row_strategy, column_strategy))
        return 2 * sum((self._rounding(max(2, count)) for count in played), 0.0)

    def _rounding(self, played: int) -> float:
        return 2 * (played + 2) * (UNIT * self.size + SMALLEST)

    def _outwards(self, payoff: float, strategy: Floats, direction: int) -> float:
        allowance = self.allowance(strategy)
        moved = self.middle + (payoff + direction * allowance)
        exact = self.middle == 0.0 or allowance == 0.0
        return moved if exact else math.nextafter(moved, direction * math.inf)

    def _single(self, gap: float) -> bool:
        """Whether the wanted gap is reached on a float32 copy."""
        rows, columns = self.shape
        many = not hasattr(self.matrix, "tocsr") and rows * columns >= SINGLE_PRECISION_SIZE
        return many and gap >= SINGLE_PRECISION_GAP * self.size

    def rounding(self, gap: float) -> float:
        """By how much rounding may move the regrets of both players in a round, and so the gap they lead to.

        The best strategies so far are those with the best bracket, which is rounded as numbers of its own size are.
        """
        of_regrets = 4 * (sum(self.shape) + 4) * ((SINGLE_UNIT if self._single(gap) else UNIT) * self.size + SMALLEST)
        return of_regrets + 8 * UNIT * abs(self.middle)

    def shown(self, sign: float) -> Floats | None:
        """A copy of the payoffs times the sign, if they are few enough to be looked at."""
        if self.shape[0] > MOST_SHOWN or self.shape[1] > MOST_SHOWN:
            return None
        dense = self.matrix.toarray() if hasattr(self.matrix, "tocsr") else self.matrix
        payoffs: Floats = sign * (self.middle + dense) + 0.0  # no negative zeros
        payoffs.flags.writeable = False
        return payoffs

    def negated(self) -> Payoffs:
        """The game in which every payoff has the other sign."""
        return Payoffs(-self.matrix, -self.transposed, -self.middle, -self.largest, -self.smallest)

    def pure(self) -> tuple[int, int]:
        """The row with the least largest payoff, and the column with the largest least payoff."""
        most, least = self.matrix.max(axis=1), self.matrix.min(axis=0)
        if hasattr(most, "toarray"):
            most, least = most.toarray().ravel(), least.toarray().ravel()
        return int(np.argmin(most)), int(np.argmax(least))

    def products(self, gap: float) -> tuple[Product, Product, float]:
        """M q and p^T M on a copy scaled by a power of two to entries of at most 1, and that power.

        In float32 where the wanted gap allows it: two passes over the matrix are most of what a round costs.
        """
        exponent = self.exponent
        unit = math.ldexp(1.0, exponent)
        if hasattr(self.matrix, "tocsr"):
            scaled, across = self.matrix.copy(), self.transposed.copy()
            scaled.data, across.data = np.ldexp(scaled.data, -exponent), np.ldexp(across.data, -exponent)
            return lambda q: scaled @ q, lambda p: across @ p, unit
        rows, columns = self.shape
        single = self._single(gap)
        if not single and exponent == 0:
            return lambda q: self.matrix @ q, lambda p: p @ self.matrix, unit
        kind = np.float32 if single else np.float64
        copy = np.empty((rows, columns), dtype=kind)
        for begin in range(0, rows, BLOCK):
            copy[begin : begin + BLOCK] = np.ldexp(self.matrix[begin : begin + BLOCK], -exponent)
        return lambda q: copy @ q.astype(kind, copy=False), lambda p: p.astype(kind, copy=False) @ copy, unit


def read_payoffs(M: Any) -> Payoffs:
    """Check a payoff matrix: a 2-D array, a scipy sparse matrix, a DataFrame or a list of lists."""
    matrix = _read(M)
    if 0 in matrix.shape:
        raise invalid("M", "a matrix with at least one row and one column", Words(f"an array of shape {matrix.shape}"))
    _require_finite(matrix)
    sparse = hasattr(matrix, "tocsr")
    if sparse and matrix.nnz == matrix.shape[0] * matrix.shape[1]:
        matrix, sparse = matrix.toarray(), False
    smallest, largest = float(matrix.min()), float(matrix.max())
    spread = largest - smallest
    if not math.isfinite(spread):
        raise invalid("M", "a matrix whose payoffs differ by less than 1.8e308", Words(f"{smallest:g} and {largest:g}"))
    middle = smallest + spread / 2
    # Where entries that are not stored are 0, the middle is never further from 0 than the spread.
    middle = middle if abs(middle) > spread else 0.0
    if middle:
        matrix = matrix - middle
    return Payoffs(matrix, matrix.T.tocsr() if sparse else matrix.T, middle, smallest, largest)


def _read(M: Any) -> Any:
    allowed = "a 2-D array of numbers, a scipy sparse matrix, a DataFrame or a list of lists"
    if _is_scipy_sparse(M):
        return _read_scipy(M, "M", ids=False).matrix()
    if isinstance(M, (str, bytes, dict, set)):
        raise invalid("M", allowed, M)
    array = _as_array(M, "M", allowed)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise invalid("M", allowed, Words(f"an array of shape {array.shape} and dtype {array.dtype}"))
    if is_masked_array(M) or not array.flags.c_contiguous or array.dtype != np.float64:
        rows = _read_dense(M if is_masked_array(M) else array, "M")
        return rows.values.reshape(rows.count, rows.width)
    return array


def _require_finite(matrix: Any) -> None:
    values = matrix.data if hasattr(matrix, "tocsr") else matrix
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
    if hasattr(matrix, "tocsr"):
        entries = matrix.tocoo()
        at = int(np.argmin(np.isfinite(entries.data)))
        i, j, value = int(entries.row[at]), int(entries.col[at]), entries.data[at]
    else:
        i, j = (int(k) for k in np.unravel_index(np.argmin(np.isfinite(matrix)), matrix.shape))
        value = matrix[i, j]
    raise invalid(f"M[{i}, {j}]", "a finite number", float(value))
