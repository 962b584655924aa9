"""The separator of largest margin when its weights add up to 1, if there is one.

Problem     maximise rho subject to y_t (u . x_t) >= rho for all t and |u|_1 = 1; also with u >= 0.
Use         the comparator of Winnow's bound, whose lengths are largest entries and whose comparators have 1-norm 1.
Method      linear programs (HiGHS, scipy) over ever more rows, until no other row is nearer.
Source      Mohri, Rostamizadeh & Talwalkar 2018, Theorem 8.13.

>>> u = max_margin_one_norm([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]], [1, 1, -1])
>>> u.weights.round(6).tolist(), round(float(u.margins.min()), 6), u.gap < 1e-9
([1.0, 0.0], 1.0, True)
>>> max_margin_one_norm([[1.0, 0.0]], [-1], nonnegative=True) is None
True
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from afterwit.data.checks import flag
from afterwit.data.labels import Signs
from afterwit.data.rows import read_examples
from afterwit.hindsight.comparator import Comparator, judge, largest_entry, normalised

#: A separator whose margin is below this share of the largest entry is within rounding of none.
SMALLEST_MARGIN = 1e-9
#: Linear programs hold at most this many rows times columns; beyond, the question stays open.
MOST_IN_PROGRAM = 400_000


def max_margin_one_norm(X: Any, y: Any, nonnegative: bool = False, *, labels: Any = (-1, 1)) -> Comparator | None:
    """The weight vector of 1-norm 1 and largest margin; None if no hyperplane through the origin separates the data.

    No smallest y_t (u . x_t) is larger by more than its ``gap``. On large data None may also mean that none was found
    with reasonable effort.
    """
    rows, signs = read_examples(X, y, labels)
    matrix = rows.matrix()
    found = solve_max_margin_one_norm(matrix, signs, flag("nonnegative", nonnegative))
    if found is None:
        return None
    vector, largest = found
    judged = judge("maximum margin by the 1-norm", vector, matrix, signs, rows.names)
    return replace(judged, gap=max(0.0, largest - float(judged.margins.min())))


def solve_max_margin_one_norm(matrix: Any, signs: Signs, nonnegative: bool) -> tuple[Any, float] | None:
    """The weights, and what no weights' margin is above; or None."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, diags_array, hstack

    if matrix.shape[0] == 0 or matrix.shape[1] == 0:
        return None
    matrix, unit = normalised(matrix)
    smallest = SMALLEST_MARGIN * largest_entry(matrix)
    chosen = np.arange(0, matrix.shape[0], -(-matrix.shape[0] // 100))
    best: Any = None
    best_margin, largest = smallest, np.inf

    def answer() -> tuple[Any, float] | None:
        return None if best is None else (best, unit * largest)

    while True:
        part = csr_array(diags_array(signs[chosen].astype(np.float64)) @ csr_array(matrix[chosen]))
        used = np.unique(part.indices)
        if not len(used) or len(chosen) * len(used) > MOST_IN_PROGRAM:
            return answer()
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
            return answer()
        # Shares of the rows make one row of them, on which no weights do better than its largest entry.
        shares = np.maximum(-np.asarray(result.ineqlin.marginals), 0.0)
        if shares.sum() > 0:
            largest = min(largest, float((columns.T @ (shares / shares.sum())).max()))
        weights = np.maximum(result.x[:size], 0.0)
        vector = np.zeros(matrix.shape[1])
        vector[used] = weights if nonnegative else weights[: len(used)] - weights[len(used) :]
        total = np.abs(vector).sum()
        if total == 0:
            return answer()
        vector /= total
        margins = signs * (matrix @ vector)
        if margins.min() > best_margin:
            best, best_margin = vector, float(margins.min())
        nearer = np.setdiff1d(np.flatnonzero(margins < result.x[-1] - SMALLEST_MARGIN), chosen)
        if not len(nearer):
            return answer()
        worst = nearer[np.argsort(margins[nearer], kind="stable")[: max(100, len(chosen))]]
        chosen = np.union1d(chosen, worst)
