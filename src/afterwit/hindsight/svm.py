"""The support vector machine without offset: the best trade of length against hinge loss.

Problem     minimise |u|^2 / 2 + C sum_t max(0, 1 - y_t (u . x_t)).
Use         with C = 1/R^2 it minimises the perceptron's bound R^2 |u|^2 + 2L exactly.
Method      Newton's, in columns of one size, on a hinge that is rounded off less and less. `gap` says how far the
            result can be from the least possible.
Source      Mohri, Rostamizadeh & Talwalkar 2018, problem (5.24) with b = 0.

>>> u = svm([[2.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [1, -1, 1], C=10.0)
>>> u.mistakes, round(u.norm, 3), round(u.hinge, 3), u.gap < 1e-3
(0, 1.118, 0.0, True)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from afterwit.data.checks import positive_number
from afterwit.data.labels import Signs
from afterwit.data.rows import read_examples
from afterwit.hindsight._newton import Least, Region, least
from afterwit.hindsight._scaled_rows import ScaledRows
from afterwit.hindsight.comparator import Comparator, judge, normalised


def svm(X: Any, y: Any, C: float = 1.0, *, labels: Any = (-1, 1)) -> Comparator:
    """The weight vector that minimises |u|^2/2 + C times the total hinge loss.

    Its ``gap`` is in the unit of what is minimised: no weights come below by more.
    """
    C = positive_number("C", C)
    rows, signs = read_examples(X, y, labels)
    matrix = rows.matrix()
    found = _solved(matrix, signs, C)
    return judge(f"svm (C = {C:.3g})", found.vector, matrix, signs, rows.names, C * found.gap)


def solve_svm(matrix: Any, signs: Signs, C: float) -> Any:
    """The SVM's weights; close to the optimum, and exactly judged afterwards, so that closeness is enough."""
    return _solved(matrix, signs, C).vector


def _solved(matrix: Any, signs: Signs, C: float) -> Least:
    matrix, unit = normalised(matrix)
    found = least(ScaledRows(matrix, signs), "hinge", Region(ridge=1 / C).in_unit(unit))
    return replace(found, vector=found.vector / unit)
