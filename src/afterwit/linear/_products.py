# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Inner products of numbers that lie side by side: one, and one for each of many rows.

Entry k goes to running sum k mod 4, whatever the length: so the additions overlap, and zeros at the end change no sum.
"""

from __future__ import annotations

import cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def dot(
    a: cython.const[cython.double][::1],  # type: ignore[valid-type]
    i: cython.Py_ssize_t,
    b: cython.const[cython.double][::1],  # type: ignore[valid-type]
    j: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
) -> cython.double:
    """The inner product of a from i on with b from j on."""
    k: cython.Py_ssize_t = 0
    s0: cython.double = 0.0
    s1: cython.double = 0.0
    s2: cython.double = 0.0
    s3: cython.double = 0.0
    while k + 3 < length:
        s0 += a[i + k] * b[j + k]
        s1 += a[i + k + 1] * b[j + k + 1]
        s2 += a[i + k + 2] * b[j + k + 2]
        s3 += a[i + k + 3] * b[j + k + 3]
        k += 4
    if k < length:
        s0 += a[i + k] * b[j + k]
    if k + 1 < length:
        s1 += a[i + k + 1] * b[j + k + 1]
    if k + 2 < length:
        s2 += a[i + k + 2] * b[j + k + 2]
    return (s0 + s1) + (s2 + s3)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def dense_products(
    rows: cython.const[cython.double][::1],  # type: ignore[valid-type]
    first: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    stride: cython.Py_ssize_t,
    x: cython.const[cython.double][::1],  # type: ignore[valid-type]
    begin: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
    out: cython.double[::1],
    at: cython.Py_ssize_t,
) -> cython.void:
    """The inner products of dense rows, of which row s begins at (first + s) * stride, with x from ``begin`` on.

    That of row s goes to out[at + s].
    """
    s: cython.Py_ssize_t
    for s in range(count):
        out[at + s] = dot(rows, (first + s) * stride, x, begin, length)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def product(
    left: cython.const[cython.double][::1],  # type: ignore[valid-type]
    right: cython.const[cython.double][::1],  # type: ignore[valid-type]
    first: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
) -> cython.double:
    """What an algorithm has laid out for the current row, entry after entry, times numbers of the row."""
    return dot(left, 0, right, first, length)
