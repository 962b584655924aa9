# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The product of what an algorithm has laid out for the current row, entry after entry, with numbers of the row."""

from __future__ import annotations

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def product(
    left: cython.const[cython.double][::1],  # type: ignore[valid-type]
    right: cython.const[cython.double][::1],  # type: ignore[valid-type]
    first: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
) -> cython.double:
    """The sum of left[k] right[first + k]. Entry k goes to running sum k mod 4, so that the additions overlap."""
    k: cython.Py_ssize_t = 0
    s0: cython.double = 0.0
    s1: cython.double = 0.0
    s2: cython.double = 0.0
    s3: cython.double = 0.0
    while k + 3 < length:
        s0 += left[k] * right[first + k]
        s1 += left[k + 1] * right[first + k + 1]
        s2 += left[k + 2] * right[first + k + 2]
        s3 += left[k + 3] * right[first + k + 3]
        k += 4
    if k < length:
        s0 += left[k] * right[first + k]
    if k + 1 < length:
        s1 += left[k + 1] * right[first + k + 1]
    if k + 2 < length:
        s2 += left[k + 2] * right[first + k + 2]
    return (s0 + s1) + (s2 + s3)
