"""The least total hinge loss any weight vector has, by linear programming.

Problem     minimise sum_t xi_t subject to y_t (u . x_t) >= 1 - xi_t, xi_t >= 0.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.5; solved by HiGHS (scipy).
            The columns are brought to one size first; `gap` comes from the program's multipliers.

>>> u = min_hinge([[1.0], [2.0], [1.0]], [1, 1, -1])  # the first and the last row contradict each other
>>> round(u.hinge, 6), round(float(u.vector[0]), 6)
(2.0, 0.5)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from afterwit.data.labels import Signs
from afterwit.data.rows import read_examples
from afterwit.errors import AfterwitError
from afterwit.hindsight._newton import Least, Region, lower_bound
from afterwit.hindsight._scaled_rows import ScaledRows
from afterwit.hindsight.comparator import Comparator, judge, normalised


def min_hinge(X: Any, y: Any, *, labels: Any = (-1, 1)) -> Comparator:
    """A weight vector of least total hinge loss, to HiGHS's tolerance. Slow on many thousands of rows.

    No weights lose less by more than its ``gap``; meant are those that change no score by more than 10,000 for a
    typical value of one column.
    """
    rows, signs = read_examples(X, y, labels)
    matrix = rows.matrix()
    found = solve_min_hinge(matrix, signs)
    if found is None:
        raise AfterwitError("the linear program of min_hinge could not be solved: the numbers differ too much in size")
    judged = judge("least hinge loss", found.vector, matrix, signs, rows.names)
    return replace(judged, gap=max(0.0, judged.hinge - found.lowest))


def solve_min_hinge(matrix: Any, signs: Signs) -> Least | None:
    """The weights, or None where HiGHS finds no answer."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, diags_array, hstack

    count, width = matrix.shape
    matrix, unit = normalised(matrix)
    rows = ScaledRows(matrix, signs)
    if not rows.shares.any():
        return Least(np.zeros(width), count, count)
    signed = diags_array(signs.astype(np.float64)) @ csr_array(rows.matrix) @ diags_array(rows.shares)
    constraints = hstack([-signed, -diags_array(np.ones(count))], format="csr")
    cost = np.concatenate([np.zeros(width), np.ones(count)])
    bounds = [(None, None)] * width + [(0, None)] * count
    result = linprog(cost, A_ub=constraints, b_ub=-np.ones(count), bounds=bounds, method="highs")
    if result.x is None:
        return None
    lowest = lower_bound(rows, "hinge", Region(), -np.asarray(result.ineqlin.marginals))
    return Least(rows.outside(result.x[:width]) / unit, float(result.fun), max(0.0, lowest))
