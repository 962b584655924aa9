# cython: boundscheck=False, wraparound=False
"""Arrays looked at by a loop: for the few numbers of one row numpy's functions cost more than a round."""

from __future__ import annotations

from typing import Any

import cython
import numpy as np

ARRAY = np.ndarray
FLOAT64 = np.dtype(np.float64)
FLOAT_MAX = float(np.finfo(np.float64).max)

#: What `first_wrong_vector` says if none is wrong.
ALL_THERE, SOME_MISSING = -1, -2
ALL_THERE_FOUND = cython.declare(cython.Py_ssize_t, ALL_THERE)
SOME_MISSING_FOUND = cython.declare(cython.Py_ssize_t, SOME_MISSING)
#: How far the sum of a vector of probabilities may be from 1: as far as single precision is.
SUM_SLACK = cython.declare(cython.double, 1e-6)


def float_row(x: Any) -> Any:
    """A 1-D array of numbers as one of float64; None for anything else."""
    if type(x) is not ARRAY or x.ndim != 1:
        return None
    if x.dtype is FLOAT64:
        return x
    return x.astype(FLOAT64) if x.dtype.kind in "biuf" else None


def finite_row(x: Any, most: float = FLOAT_MAX) -> Any:
    """The same if every number is finite and at most so large; None if not."""
    row = float_row(x)
    return row if row is not None and _are_within(row if cython.compiled else row.tolist(), most) else None


@cython.cfunc
@cython.exceptval(-1, check=False)
def _are_within(
    row: cython.const[cython.double][:],  # type: ignore[valid-type]
    most: cython.double,
) -> cython.int:
    k: cython.Py_ssize_t
    wrong: cython.Py_ssize_t = 0
    for k in range(len(row)):
        wrong += not -most <= row[k] <= most
    return wrong == 0


def are_ascending(columns: Any, starts: Any) -> bool:
    """Whether in every row each column is larger than the one before; row i is columns[starts[i]:starts[i+1]]."""
    if cython.compiled:
        ascending = bool(_are_ascending(columns, starts))
    else:
        larger = columns[1:] > columns[:-1]
        begins = starts[1:-1]
        larger[begins[(begins > 0) & (begins < len(columns))] - 1] = True
        ascending = bool(larger.all())
    return ascending


@cython.cfunc
@cython.exceptval(-1, check=False)
def _are_ascending(
    columns: cython.const[cython.int][::1],  # type: ignore[valid-type]
    starts: cython.const[cython.longlong][::1],  # type: ignore[valid-type]
) -> cython.int:
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    wrong: cython.Py_ssize_t
    for i in range(len(starts) - 1):
        wrong = 0
        for k in range(starts[i] + 1, starts[i + 1]):
            wrong += columns[k] <= columns[k - 1]
        if wrong:
            return False
    return True


def first_wrong_vector(values: Any, kinds: int) -> int:
    """Of vectors laid end to end the first that is no probabilities; else `ALL_THERE` or `SOME_MISSING`.

    A vector has a number from 0 to 1 for each kind, and their sum is 1, as far as single precision tells; or it is
    missing, all NaN.
    """
    return int(_first_wrong_vector(values if cython.compiled else values.tolist(), kinds))


@cython.cfunc
@cython.exceptval(-3, check=False)
def _first_wrong_vector(
    values: cython.const[cython.double][::1],  # type: ignore[valid-type]
    kinds: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    missing: cython.Py_ssize_t
    outside: cython.Py_ssize_t
    total: cython.double
    found: cython.Py_ssize_t = ALL_THERE_FOUND
    for j in range(len(values) // kinds):
        missing = 0
        outside = 0
        total = 0.0
        for k in range(j * kinds, j * kinds + kinds):
            missing += values[k] != values[k]
            outside += not 0 <= values[k] <= 1
            total += values[k]
        if missing == kinds:
            found = SOME_MISSING_FOUND
        elif outside or not -SUM_SLACK <= total - 1 <= SUM_SLACK:
            return j
    return found
