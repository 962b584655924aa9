"""Comparators for many labels: a weight vector U_k for every class, found afterwards and judged on the data itself.

Margin      of a round: U_y . x - max of U_k . x over all other k. Its hinge loss is max(0, 1 - margin).
Problems    least |U|^2/2 + C times the total hinge loss (the machine of Crammer & Singer 2001): LIBLINEAR, through
            scikit-learn. Largest margin for |U| = 1: by Kesler's construction the problem of two labels, on rows that
            have x in the place of y and -x in that of k, one for each round and each other class k. These are many:
            the solver for two labels takes them only where they are few. Otherwise machines with a growing C
            find a separator, as long as they make fewer mistakes each time, and the rows nearest to it are solved
            exactly. Machines are slow where no weights separate the classes: many rounds are left to a moderate C.
Source      Keerthi et al. 2008 (the solver); Duda & Hart 1973, section 5.12 (Kesler's construction).
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.hindsight.comparator import Comparator, row_norms
from afterwit.hindsight.max_margin import polish, solve_max_margin
from afterwit.hindsight.svm import solve_svm

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]

#: The solver for two labels is given Kesler's rows if they are at most so many times their columns.
MOST_ENTRIES = 5_000
#: So many of Kesler's rows, those nearest to a separator, are solved exactly.
MOST_NEAR = 1_000
#: How near LIBLINEAR comes to the optimum, how many entries it looks at, and how often it goes through the rounds.
TOLERANCE, MOST_WORK, PASSES = 1e-3, 2_000_000_000, (20, 300)
#: Separators are sought by machines whose C grows, where the longest example has length 1; by the last if any is found.
GROWING, FIRM = (1.0, 10.0, 100.0, 1e3), 1e5
#: As long as each makes at most this part of the mistakes of the one before, and there are at most so many rounds.
FEWER, MOST_ROUNDS = 0.7, 5_000


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
    """The machine's weights for each of so many classes; 0 for those that never came, where several others did."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    vectors = np.zeros((count, matrix.shape[1]))
    came = np.unique(codes)
    if len(came) < 2:
        if len(came) and count > 1:
            # All others are alike: the one weighs v (K - 1)/K, each of them -v/K, where v is a machine of two labels.
            only = solve_svm(matrix, np.ones(len(codes), dtype=np.int8), C * count / (count - 1))
            vectors[:] = -only / count
            vectors[came[0]] += only
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
    if len(every) * count * matrix.shape[1] <= MOST_ENTRIES:
        rows = kesler_rows(matrix[every], codes[every], others, count)
        vector = solve_max_margin(rows, np.ones(len(every), dtype=np.int8))
        return None if vector is None else vector.reshape(count, -1)
    vectors = _separator(matrix, codes, count)
    if vectors is None:
        return None
    found = judge_classes("", vectors, matrix, codes)
    scores = np.asarray(matrix @ vectors.T)
    margins = scores[every, codes[every]] - scores[every, others]
    near = np.argsort(margins, kind="stable")[:MOST_NEAR]
    rows = kesler_rows(matrix[every[near]], codes[every[near]], others[near], count)
    firmer = polish(rows, np.ones(len(near), dtype=np.int8), vectors.reshape(-1)).reshape(count, -1)
    # Rows that were far away may be near now: whichever is better on all of them.
    return firmer if judge_classes("", firmer, matrix, codes).margin > found.margin else vectors


def _separator(matrix: Any, codes: Codes, count: int) -> Floats | None:
    """Weights that separate the classes, as widely as the machine finds them; None if it does not."""
    if matrix.shape[0] > MOST_ROUNDS:
        return None
    square = float(row_norms(matrix).max()) ** 2
    mistakes = math.inf
    for C in GROWING:
        vectors = solve_multiclass_svm(matrix, codes, count, C / square)
        found = judge_classes("", vectors, matrix, codes)
        if found.separates:
            firm = solve_multiclass_svm(matrix, codes, count, FIRM / square)
            return firm if judge_classes("", firm, matrix, codes).margin > found.margin else vectors
        if found.mistakes > FEWER * mistakes:
            return None
        mistakes = found.mistakes
    return None


def _pairs(rounds: int, codes: Codes, count: int) -> tuple[Codes, Codes]:
    """Every round with every class that is not its own."""
    others = np.tile(np.arange(count), rounds)
    every = np.repeat(np.arange(rounds), count)
    wrong = others != codes[every]
    return every[wrong], others[wrong]


def _entries(matrix: Any) -> int:
    return int(matrix.nnz if hasattr(matrix, "indptr") else np.count_nonzero(matrix))


def _with_short_indices(matrix: Any) -> Any:
    """LIBLINEAR counts entries with 32 bits."""
    if not hasattr(matrix, "indptr"):
        return matrix
    parts = (matrix.data, matrix.indices.astype(np.int32, copy=False), matrix.indptr.astype(np.int32, copy=False))
    return type(matrix)(parts, shape=matrix.shape)
