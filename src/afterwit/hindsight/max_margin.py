"""The separator through the origin of largest margin, if there is one.

Problem     maximise gamma subject to y_t (u . x_t) >= gamma for all t, |u| = 1. Equivalently: with z_t = y_t x_t, the
            point nearest to the origin in the convex hull of the z_t; its distance is the margin.
Method      the least hinge loss, if it is proved to be above 0, shows that there is none. Otherwise support vector
            machines with growing C find a separator where one exists. The rows nearest to it are then solved
            exactly (non-negative least squares), adding rows that are still violated until none is. Where no machine
            finds one, linear programs (HiGHS) over ever more rows find one or prove that there is none.
Source      Mohri, Rostamizadeh & Talwalkar 2018, section 5.2 with b = 0.

>>> u = max_margin([[2.0, 0.0], [0.0, -1.0], [1.0, 1.0]], [1, -1, 1])
>>> round(u.margin, 6), u.mistakes, u.gap < 1e-9
(0.894427, 0, True)
>>> max_margin([[1.0], [1.0]], [1, -1]) is None
True
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np

from afterwit.data.labels import Signs
from afterwit.data.rows import read_examples
from afterwit.hindsight._newton import Least, Region, least
from afterwit.hindsight._scaled_rows import ScaledRows
from afterwit.hindsight.comparator import Comparator, judge, normalised, row_norms
from afterwit.hindsight.svm import solve_svm

#: A separator whose margin is below this share of the radius is within rounding of none.
SMALLEST_MARGIN = 1e-9
#: A least hinge loss above this for each row is above 0 beyond all rounding.
PROVED = 1e-6
#: Exact polishing is for this many rows on the margin at most; beyond, the last machine's answer stands.
MOST_ON_MARGIN = 300
#: Linear programs to decide separability hold at most this many rows times columns; beyond, the question stays open.
MOST_IN_PROGRAM = 400_000


def max_margin(X: Any, y: Any, *, labels: Any = (-1, 1)) -> Comparator | None:
    """The unit weight vector of largest margin; None if no hyperplane through the origin separates the data.

    No margin is larger by more than its ``gap``. On large data that is all but separable, None may also mean that none
    was found with reasonable effort.
    """
    rows, signs = read_examples(X, y, labels)
    matrix = rows.matrix()
    vector = solve_max_margin(matrix, signs)
    if vector is None:
        return None
    found = judge("maximum margin", vector, matrix, signs, rows.names)
    return replace(found, gap=max(0.0, _largest_possible(matrix, signs, vector) - found.margin))


def solve_max_margin(matrix: Any, signs: Signs, hinge: Least | None = None) -> Any:
    """The unit vector of largest margin, or None; ``hinge`` is the least hinge loss, if it is known already."""
    if matrix.shape[0] == 0 or matrix.shape[1] == 0:
        return None
    matrix, _ = normalised(matrix)
    norms = row_norms(matrix)
    radius = float(norms.max())
    if norms.min() == 0:
        return None
    if matrix.shape[0] * matrix.shape[1] > MOST_IN_PROGRAM:
        loss = least(ScaledRows(matrix, signs), "hinge", Region()) if hinge is None else hinge
        if loss.lowest > PROVED * matrix.shape[0]:
            return None
    if _contradictory(matrix, signs):
        return None
    smallest = SMALLEST_MARGIN * radius
    nearest = solve_svm(matrix, signs, 1e3 / radius**2)
    if _margin(matrix, signs, nearest) <= smallest:
        nearest = _separator_by_programs(matrix, signs, nearest, smallest)
    if nearest is None:
        return None
    firmer = solve_svm(matrix, signs, 1e8 / radius**2)
    best = max(nearest, firmer, key=lambda vector: _margin(matrix, signs, vector))
    best = polish(matrix, signs, best)
    return best / np.linalg.norm(best)


def _contradictory(matrix: Any, signs: Signs) -> bool:
    """Whether some row occurs with both labels: the most common reason why no separator exists."""
    labels: dict[bytes, int] = {}
    if hasattr(matrix, "indptr"):
        for begin, end, sign in zip(matrix.indptr[:-1], matrix.indptr[1:], signs, strict=True):
            key = _digest(matrix.indices[begin:end].tobytes() + matrix.data[begin:end].tobytes())
            if labels.setdefault(key, sign) != sign:
                return True
        return False
    return any(labels.setdefault(_digest(row.tobytes()), sign) != sign for row, sign in zip(matrix, signs, strict=True))


def _digest(row: bytes) -> bytes:
    """Few bytes that stand for a row, so that not every row is held twice."""
    return row if len(row) <= 16 else hashlib.blake2b(row, digest_size=16).digest()


def _margin(matrix: Any, signs: Signs, vector: Any) -> float:
    length = np.linalg.norm(vector)
    return float((signs * (matrix @ vector)).min() / length) if length > 0 else 0.0


def _largest_possible(matrix: Any, signs: Signs, vector: Any) -> float:
    """No separator's margin is larger than the length of any point in the hull of the signed rows: here a short one."""
    from scipy.optimize import nnls

    margins = signs * (matrix @ vector)
    # As many as may lie on the margin, the nearest of them at least.
    order = np.argsort(margins, kind="stable")[:MOST_ON_MARGIN]
    chosen = order[margins[order] <= (1 + 1e-6) * margins.min()]
    near = _dense(matrix[chosen]) * signs[chosen, np.newaxis]
    size = float(np.abs(near).max()) or 1.0
    target = np.append(np.zeros(near.shape[1]), 1.0)
    try:
        weights, _ = nnls(np.vstack([near.T / size, np.ones(len(chosen))]), target)
    except RuntimeError:
        weights = np.ones(len(chosen))
    return float(np.linalg.norm(near.T @ (weights / weights.sum())))


def polish(matrix: Any, signs: Signs, vector: Any) -> Any:
    """The exact optimum from a near one: solve the rows near the margin, add violated rows, repeat."""
    from scipy.optimize import nnls

    best, best_margin = vector, _margin(matrix, signs, vector)
    margins = signs * (matrix @ vector)
    chosen = np.flatnonzero(margins <= 1.05 * margins.min())
    for _ in range(50):
        if len(chosen) > MOST_ON_MARGIN:
            break
        part = matrix[chosen]
        products = _dense(part @ part.T) * np.outer(signs[chosen], signs[chosen])
        # The point of the hull nearest to 0 minimises |Z^T a|^2 + (1 - sum a)^2 over a >= 0, up to a factor.
        quadratic = products / products.diagonal().max() + 1.0
        quadratic[np.diag_indices(len(chosen))] *= 1 + 1e-14
        try:
            factor = np.linalg.cholesky(quadratic)
            weights, _ = nnls(factor.T, np.linalg.solve(factor, np.ones(len(chosen))))
        except (np.linalg.LinAlgError, RuntimeError):
            break
        point = part.T @ (weights * signs[chosen])
        margin = _margin(matrix, signs, point)
        if margin > best_margin:
            best, best_margin = point, margin
        margins = signs * (matrix @ point)
        violated = np.setdiff1d(np.flatnonzero(margins < margins[chosen].min() * (1 - 1e-12)), chosen)
        if not len(violated):
            break
        worst = violated[np.argsort(margins[violated], kind="stable")[:50]]
        chosen = np.union1d(chosen[weights > 0], worst)
    return best


def _separator_by_programs(matrix: Any, signs: Signs, vector: Any, smallest: float) -> Any:
    """A separator, or None once some of the rows alone are proved inseparable (or there are too many to tell)."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, diags_array, hstack

    chosen = np.empty(0, dtype=np.intp)
    while True:
        margins = signs * (matrix @ vector)
        if margins.min() > smallest * np.linalg.norm(vector):
            return vector
        others = np.setdiff1d(np.arange(matrix.shape[0]), chosen)
        if not len(others):
            return None
        worst = others[np.argsort(margins[others], kind="stable")[: max(100, len(chosen))]]
        chosen = np.union1d(chosen, worst)
        part = csr_array(diags_array(signs[chosen].astype(np.float64)) @ csr_array(matrix[chosen]))
        used = np.unique(part.indices)
        if len(chosen) * len(used) > MOST_IN_PROGRAM:
            return None
        # maximise gamma subject to z_t . u >= gamma for the chosen rows and |u_j| <= 1
        constraints = hstack([-part[:, used], np.ones((len(chosen), 1))], format="csr")
        cost = np.append(np.zeros(len(used)), -1.0)
        bounds = [(-1.0, 1.0)] * len(used) + [(None, None)]
        result = linprog(cost, A_ub=constraints, b_ub=np.zeros(len(chosen)), bounds=bounds, method="highs")
        if result.x is None or result.x[-1] <= smallest:
            return None
        vector = np.zeros(matrix.shape[1])
        vector[used] = result.x[:-1]


def _dense(rows: Any) -> Any:
    return rows.toarray() if hasattr(rows, "toarray") else rows
