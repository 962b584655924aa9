"""The least total hinge loss any weight vector has, by linear programming.

Problem     minimise sum_t xi_t subject to y_t (u . x_t) >= 1 - xi_t, xi_t >= 0.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.5; solved by HiGHS (scipy).

>>> u = min_hinge([[1.0], [2.0], [1.0]], [1, 1, -1])  # the first and the last row contradict each other
>>> round(u.hinge, 6), round(float(u.vector[0]), 6)
(2.0, 0.5)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.data.labels import Signs
from afterwit.data.rows import read_examples
from afterwit.errors import AfterwitError
from afterwit.hindsight.comparator import Comparator, judge, normalised


def min_hinge(X: Any, y: Any, *, labels: Any = (-1, 1)) -> Comparator:
    """A weight vector of least total hinge loss, to HiGHS's tolerance. Slow on many thousands of rows."""
    rows, signs = read_examples(X, y, labels)
    matrix = rows.matrix()
    vector = solve_min_hinge(matrix, signs)
    if vector is None:
        raise AfterwitError("the linear program of min_hinge could not be solved: the numbers differ too much in size")
    return judge("least hinge loss", vector, matrix, signs, rows.names)


def solve_min_hinge(matrix: Any, signs: Signs) -> Any:
    """The weights, or None where HiGHS finds no answer."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, diags_array, hstack

    count, width = matrix.shape
    if count == 0 or width == 0:
        return np.zeros(width)
    matrix, radius = normalised(matrix)
    signed = diags_array(signs.astype(np.float64)) @ csr_array(matrix)
    constraints = hstack([-signed, -diags_array(np.ones(count))], format="csr")
    cost = np.concatenate([np.zeros(width), np.ones(count)])
    bounds = [(None, None)] * width + [(0, None)] * count
    result = linprog(cost, A_ub=constraints, b_ub=-np.ones(count), bounds=bounds, method="highs")
    return None if result.x is None else result.x[:width] / radius
