# cython: boundscheck=False, wraparound=False, cdivision=True
"""One vector x compared with many rows: squared distances, products of all 1 + x_i z_i, products with sparse rows.

Every sum gives entry k to running sum k mod 4, whatever the row's length: so the additions overlap, and zeros change no
sum. Dense row s begins at (first + s) * stride. Sparse row s has the entries from starts[first + s] to
starts[first + s + 1]. The result for row s goes to out[at + s].
"""

from __future__ import annotations

import cython


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def dense_distances(
    rows: cython.const[cython.double][::1],  # type: ignore[valid-type]
    first: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    stride: cython.Py_ssize_t,
    width: cython.Py_ssize_t,
    x: cython.const[cython.double][::1],  # type: ignore[valid-type]
    begin: cython.Py_ssize_t,
    length: cython.Py_ssize_t,
    out: cython.double[::1],
    at: cython.Py_ssize_t,
) -> cython.void:
    """The squared distances of dense rows of that width from the ``length`` entries of x from ``begin`` on."""
    s: cython.Py_ssize_t
    k: cython.Py_ssize_t
    a: cython.Py_ssize_t
    d0: cython.double
    d1: cython.double
    d2: cython.double
    d3: cython.double
    s0: cython.double
    s1: cython.double
    s2: cython.double
    s3: cython.double
    both: cython.Py_ssize_t = min(width, length)
    longest: cython.Py_ssize_t = max(width, length)
    for s in range(count):
        a = (first + s) * stride
        s0 = s1 = s2 = s3 = 0.0
        k = 0
        while k + 3 < both:
            d0 = rows[a + k] - x[begin + k]
            d1 = rows[a + k + 1] - x[begin + k + 1]
            d2 = rows[a + k + 2] - x[begin + k + 2]
            d3 = rows[a + k + 3] - x[begin + k + 3]
            s0 += d0 * d0
            s1 += d1 * d1
            s2 += d2 * d2
            s3 += d3 * d3
            k += 4
        while k < longest:
            # What one of the two has beyond the other's end is its distance from 0.
            if k < both:
                d0 = rows[a + k] - x[begin + k]
            elif k < width:
                d0 = rows[a + k]
            else:
                d0 = x[begin + k]
            if k & 3 == 0:
                s0 += d0 * d0
            elif k & 3 == 1:
                s1 += d0 * d0
            elif k & 3 == 2:
                s2 += d0 * d0
            else:
                s3 += d0 * d0
            k += 1
        out[at + s] = (s0 + s1) + (s2 + s3)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def dense_all_products(
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
    """The products of 1 + x_i z_i for dense rows and the ``length`` entries of x from ``begin`` on."""
    s: cython.Py_ssize_t
    k: cython.Py_ssize_t
    a: cython.Py_ssize_t
    product: cython.double
    for s in range(count):
        a = (first + s) * stride
        product = 1.0
        for k in range(length):
            product *= 1.0 + rows[a + k] * x[begin + k]
        out[at + s] = product


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sparse_products(
    starts: cython.const[cython.longlong][::1],  # type: ignore[valid-type]
    columns: cython.const[cython.int][::1],  # type: ignore[valid-type]
    values: cython.const[cython.double][::1],  # type: ignore[valid-type]
    first: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    x: cython.const[cython.double][::1],  # type: ignore[valid-type]
    out: cython.double[::1],
    at: cython.Py_ssize_t,
) -> cython.void:
    """The inner products of sparse rows with x, a vector over the columns."""
    s: cython.Py_ssize_t
    k: cython.Py_ssize_t
    a: cython.Py_ssize_t
    length: cython.Py_ssize_t
    s0: cython.double
    s1: cython.double
    s2: cython.double
    s3: cython.double
    for s in range(count):
        a = starts[first + s]
        length = starts[first + s + 1] - a
        s0 = s1 = s2 = s3 = 0.0
        k = 0
        while k + 3 < length:
            s0 += values[a + k] * x[columns[a + k]]
            s1 += values[a + k + 1] * x[columns[a + k + 1]]
            s2 += values[a + k + 2] * x[columns[a + k + 2]]
            s3 += values[a + k + 3] * x[columns[a + k + 3]]
            k += 4
        if k < length:
            s0 += values[a + k] * x[columns[a + k]]
        if k + 1 < length:
            s1 += values[a + k + 1] * x[columns[a + k + 1]]
        if k + 2 < length:
            s2 += values[a + k + 2] * x[columns[a + k + 2]]
        out[at + s] = (s0 + s1) + (s2 + s3)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def sparse_all_products(
    starts: cython.const[cython.longlong][::1],  # type: ignore[valid-type]
    columns: cython.const[cython.int][::1],  # type: ignore[valid-type]
    values: cython.const[cython.double][::1],  # type: ignore[valid-type]
    first: cython.Py_ssize_t,
    count: cython.Py_ssize_t,
    x: cython.const[cython.double][::1],  # type: ignore[valid-type]
    out: cython.double[::1],
    at: cython.Py_ssize_t,
) -> cython.void:
    """The products of 1 + x_i z_i for sparse rows and x, a vector over the columns."""
    s: cython.Py_ssize_t
    k: cython.Py_ssize_t
    product: cython.double
    for s in range(count):
        product = 1.0
        for k in range(starts[first + s], starts[first + s + 1]):
            product *= 1.0 + values[k] * x[columns[k]]
        out[at + s] = product
