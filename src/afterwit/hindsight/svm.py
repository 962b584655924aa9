"""The support vector machine without offset: the best trade of length against hinge loss.

Problem     minimise |u|^2 / 2 + C sum_t max(0, 1 - y_t (u . x_t)).
Use         with C = 1/R^2 it minimises the perceptron's bound R^2 |u|^2 + 2L exactly.
Source      Mohri, Rostamizadeh & Talwalkar 2018, problem (5.24) with b = 0; solved by LIBLINEAR (scikit-learn).

>>> u = svm([[2.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [1, -1, 1], C=10.0)
>>> u.mistakes, round(u.norm, 3), round(u.hinge, 3)
(0, 1.118, 0.0)
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from afterwit.data.checks import positive_number
from afterwit.data.labels import Signs
from afterwit.data.rows import read_examples
from afterwit.hindsight.comparator import Comparator, judge, normalised


def svm(X: Any, y: Any, C: float = 1.0, *, labels: Any = (-1, 1)) -> Comparator:
    """The weight vector that minimises |u|^2/2 + C times the total hinge loss.

    Warns (scikit-learn's ConvergenceWarning) where LIBLINEAR stops before it has converged: with a large C on data that
    no hyperplane separates. What it returns is then still a comparator, but not the best one.
    """
    C = positive_number("C", C)
    rows, signs = read_examples(X, y, labels)
    matrix = rows.matrix()
    # Small problems may take as long as they need; the limit is on the work, some 10^9 steps.
    iterations = int(min(1e6, max(1000, 1e9 / max(1, matrix.size))))
    vector = solve_svm(matrix, signs, C, tolerance=1e-6, max_iterations=iterations, quiet=False)
    return judge(f"svm (C = {C:.3g})", vector, matrix, signs, rows.names)


def solve_svm(
    matrix: Any, signs: Signs, C: float, tolerance: float = 1e-4, max_iterations: int = 1000, quiet: bool = True
) -> Any:
    """The SVM's weights; close to the optimum, and exactly judged afterwards, so that closeness is enough."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    if matrix.shape[0] == 0 or matrix.shape[1] == 0:
        return np.zeros(matrix.shape[1])
    matrix, signs, C, radius = for_liblinear(matrix, signs, C)
    machine = LinearSVC(
        C=C,
        loss="hinge",
        dual=True,
        fit_intercept=False,
        tol=tolerance,
        max_iter=max_iterations,
        random_state=0,
    )
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(matrix, signs)
    return machine.coef_[0] / radius


def for_liblinear(matrix: Any, signs: Signs, C: float) -> tuple[Any, Signs, float, float]:
    """The same problem as LIBLINEAR wants it: of moderate size, with two classes; its answer is to be divided."""
    matrix, radius = normalised(matrix)
    if (signs == signs[0]).all():
        # LIBLINEAR wants two classes; (x, y) and (-x, -y) are the same example to a separator through 0.
        matrix, signs, C = _stacked(matrix, -matrix), np.concatenate([signs, -signs]), C / 2
    if hasattr(matrix, "indptr") and matrix.indices.dtype != np.int32:
        matrix = matrix.copy()
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix, signs, float(np.clip(C * radius * radius, 1e-300, 1e300)), radius


def _stacked(upper: Any, lower: Any) -> Any:
    if hasattr(upper, "indptr"):
        from scipy.sparse import vstack

        return vstack([upper, lower], format="csr")
    return np.vstack([upper, lower])
