"""The separator of largest margin when its weights add up to 1, if there is one.

Problem     maximise rho subject to y_t (u . x_t) >= rho for all t and |u|_1 = 1; also with u >= 0.
Use         the comparator of Winnow's bound, whose lengths are largest entries and whose comparators have 1-norm 1.
Method      linear programs (HiGHS, scipy) over ever more rows, until no other row is nearer.
Source      Mohri, Rostamizadeh & Talwalkar 2018, Theorem 8.13.

>>> u = max_margin_one_norm([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]], [1, 1, -1])
>>> u.weights.round(6).tolist(), round(float(u.margins.min()), 6)
([1.0, 0.0], 1.0)
>>> max_margin_one_norm([[1.0, 0.0]], [-1], nonnegative=True) is None
True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.data.checks import flag
from afterwit.data.labels import Signs
from afterwit.data.rows import read_examples
from afterwit.hindsight.comparator import Comparator, judge, normalised

#: A separator whose margin is below this share of the largest entry is within rounding of none.
SMALLEST_MARGIN = 1e-9
#: Linear programs hold at most this many rows times columns; beyond, the question stays open.
MOST_IN_PROGRAM = 400_000


def max_margin_one_norm(X: Any, y: Any, nonnegative: bool = False, *, labels: Any = (-1, 1)) -> Comparator | None:
    """The weight vector of 1-norm 1 and largest margin; None if no hyperplane through the origin separates the data.

    On large data None may also mean that none was found with reasonable effort.
    """
    rows, signs = read_examples(X, y, labels)
    matrix = rows.matrix()
    vector = solve_max_margin_one_norm(matrix, signs, flag("nonnegative", nonnegative))
    return None if vector is None else judge("maximum margin by the 1-norm", vector, matrix, signs, rows.names)


def solve_max_margin_one_norm(matrix: Any, signs: Signs, nonnegative: bool) -> Any:
    """The weights, or None."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, diags_array, hstack

    if matrix.shape[0] == 0 or matrix.shape[1] == 0:
        return None
    matrix, _ = normalised(matrix)
    signed = csr_array(diags_array(signs.astype(np.float64)) @ csr_array(matrix))
    smallest = SMALLEST_MARGIN * float(abs(signed).max())
    chosen = np.arange(0, signed.shape[0], -(-signed.shape[0] // 100))
    best: Any = None
    best_margin = smallest
    while True:
        part = signed[chosen]
        used = np.unique(part.indices)
        if not len(used) or len(chosen) * len(used) > MOST_IN_PROGRAM:
            return best
        columns = part[:, used] if nonnegative else hstack([part[:, used], -part[:, used]], format="csr")
        size = columns.shape[1]
        constraints = hstack([-columns, np.ones((len(chosen), 1))], format="csr")
        result = linprog(
            np.append(np.zeros(size), -1.0),
            A_ub=constraints,
            b_ub=np.zeros(len(chosen)),
            A_eq=np.append(np.ones(size), 0.0).reshape(1, -1),
            b_eq=[1.0],
            bounds=[(0, None)] * size + [(None, None)],
            method="highs",
        )
        if result.x is None or result.x[-1] <= smallest:
            return best
        weights = np.maximum(result.x[:size], 0.0)
        vector = np.zeros(signed.shape[1])
        vector[used] = weights if nonnegative else weights[: len(used)] - weights[len(used) :]
        total = np.abs(vector).sum()
        if total == 0:
            return best
        vector /= total
        margins = signed @ vector
        if margins.min() > best_margin:
            best, best_margin = vector, float(margins.min())
        nearer = np.setdiff1d(np.flatnonzero(margins < result.x[-1] - SMALLEST_MARGIN), chosen)
        if not len(nearer):
            return best
        worst = nearer[np.argsort(margins[nearer], kind="stable")[: max(100, len(chosen))]]
        chosen = np.union1d(chosen, worst)
