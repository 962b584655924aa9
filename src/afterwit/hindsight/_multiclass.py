"""Comparators for many labels: a weight vector U_k for every class, found afterwards and judged on the data itself.

Margin      of a round: U_y . x - max of U_k . x over all other k. Its hinge loss is max(0, 1 - margin).
Problems    least |U|^2/2 + C times the total hinge loss (the machine of Crammer & Singer 2001): LIBLINEAR, through
            scikit-learn. Largest margin for |U| = 1: by Kesler's construction the problem of two labels, on rows that
            have x in the place of y and -x in that of k, one for each round and each other class k. These are many:
            the solver for two labels takes them only where they are few. Otherwise the machine with a large C
            finds a separator, and the rows nearest to it are solved exactly.
Source      Keerthi et al. 2008 (the solver); Duda & Hart 1973, section 5.12 (Kesler's construction).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.hindsight.comparator import Comparator, row_norms
from afterwit.hindsight.max_margin import polish, solve_max_margin

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

#: The solver for two labels is given Kesler's rows if they have at most so many entries.
MOST_ENTRIES = 4_000
#: So many of Kesler's rows, those nearest to a separator, are solved exactly.
MOST_NEAR = 1_000
#: How near LIBLINEAR comes to the optimum, how many entries it looks at, and how often it goes through the rounds.
TOLERANCE, MOST_WORK, PASSES = 1e-3, 2_000_000_000, (20, 300)
#: The C of the machine that finds separators, where the longest example has length 1.
FIRM = 1e6


def judge_classes(source: str, vectors: Any, matrix: Any, codes: Codes) -> Comparator:
    """Multiply the weights of the classes, one row for each, out on the data."""
    vectors = np.asarray(vectors, dtype=np.float64)
    scores = np.asarray(matrix @ vectors.T)
    at = np.arange(len(codes))
    mistakes = int(np.count_nonzero(np.argmax(scores, axis=1) != codes)) if len(codes) else 0
    own = scores[at, codes]
    if vectors.shape[0] < 2:
        # There is no other class; nothing is compared, and nothing is claimed.
        return Comparator(source, vectors.reshape(-1), np.zeros(len(codes)), mistakes)
    scores[at, codes] = -np.inf
    return Comparator(source, vectors.reshape(-1), own - scores.max(axis=1, initial=-np.inf), mistakes)


def solve_multiclass_svm(matrix: Any, codes: Codes, count: int, C: float) -> Floats:
    """The machine's weights for each of so many classes; those of a class that never came are 0."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    vectors = np.zeros((count, matrix.shape[1]))
    came = np.unique(codes)
    if len(came) < 2:
        return vectors
    passes = int(np.clip(MOST_WORK / (_entries(matrix) * len(came) + 1), *PASSES))
    machine = LinearSVC(
        multi_class="crammer_singer", C=C, fit_intercept=False, tol=TOLERANCE, max_iter=passes, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(_with_short_indices(matrix), codes)
    if len(came) == 2:
        # Only the difference is handed over; the two are opposite.
        vectors[came[1]] = machine.coef_[0] / 2
        vectors[came[0]] = -vectors[came[1]]
    else:
        vectors[came] = machine.coef_
    return vectors


def kesler_rows(matrix: Any, codes: Codes, others: Codes, count: int) -> Any:
    """For every row and one other class: x in the place of its own class, and -x in that of the other."""
    from scipy.sparse import csr_array

    rows = csr_array(matrix)
    height, width = rows.shape
    row_of = np.repeat(np.arange(height), np.diff(rows.indptr))
    columns = [codes[row_of] * width + rows.indices, others[row_of] * width + rows.indices]
    values = np.concatenate([rows.data, -rows.data])
    return csr_array((values, (np.tile(row_of, 2), np.concatenate(columns))), shape=(height, count * width))


def solve_multiclass_margin(matrix: Any, codes: Codes, count: int) -> Floats | None:
    """The weights of largest margin, as far as they are found; None if no weights are that separate the classes."""
    if count < 2 or not _entries(matrix):
        return None
    every, others = _pairs(len(codes), codes, count)
    if 2 * _entries(matrix) * (count - 1) <= MOST_ENTRIES:
        rows = kesler_rows(matrix[every], codes[every], others, count)
        vector = solve_max_margin(rows, np.ones(len(every), dtype=np.int8))
        return None if vector is None else vector.reshape(count, -1)
    radius = float(row_norms(matrix).max())
    vectors = solve_multiclass_svm(matrix, codes, count, FIRM / radius**2)
    found = judge_classes("", vectors, matrix, codes)
    if not found.separates:
        return None
    scores = np.asarray(matrix @ vectors.T)
    margins = scores[every, codes[every]] - scores[every, others]
    near = np.argsort(margins, kind="stable")[:MOST_NEAR]
    rows = kesler_rows(matrix[every[near]], codes[every[near]], others[near], count)
    firmer = polish(rows, np.ones(len(near), dtype=np.int8), vectors.reshape(-1)).reshape(count, -1)
    # Rows that were far away may be near now: whichever is better on all of them.
    return firmer if judge_classes("", firmer, matrix, codes).margin > found.margin else vectors


def _pairs(rounds: int, codes: Codes, count: int) -> tuple[Codes, Codes]:
    """Every round with every class that is not its own."""
    others = np.tile(np.arange(count), rounds)
    every = np.repeat(np.arange(rounds), count)
    wrong = others != codes[every]
    return every[wrong], others[wrong]


def _entries(matrix: Any) -> int:
    return int(matrix.nnz if hasattr(matrix, "indptr") else matrix.size)


def _with_short_indices(matrix: Any) -> Any:
    """LIBLINEAR counts entries with 32 bits."""
    if not hasattr(matrix, "indptr"):
        return matrix
    parts = (matrix.data, matrix.indices.astype(np.int32, copy=False), matrix.indptr.astype(np.int32, copy=False))
    return type(matrix)(parts, shape=matrix.shape)
