# cython: boundscheck=False, wraparound=False
"""The bare lower limit: loops that only gather weights and sum. Compiled by bench/run.py, for comparison only."""

import cython


def bare_sparse(starts: cython.int[::1], columns: cython.int[::1], values: cython.double[::1], w: cython.double[::1]):
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    total: cython.double = 0.0
    s0: cython.double
    s1: cython.double
    s2: cython.double
    s3: cython.double
    for i in range(starts.shape[0] - 1):
        s0 = s1 = s2 = s3 = 0.0
        k = starts[i]
        while k + 3 < starts[i + 1]:
            s0 += w[columns[k]] * values[k]
            s1 += w[columns[k + 1]] * values[k + 1]
            s2 += w[columns[k + 2]] * values[k + 2]
            s3 += w[columns[k + 3]] * values[k + 3]
            k += 4
        while k < starts[i + 1]:
            s0 += w[columns[k]] * values[k]
            k += 1
        total += s0 + s1 + s2 + s3
    return total


def bare_dense(X: cython.double[:, ::1], w: cython.double[::1]):
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    width: cython.Py_ssize_t = X.shape[1]
    total: cython.double = 0.0
    s0: cython.double
    s1: cython.double
    s2: cython.double
    s3: cython.double
    for i in range(X.shape[0]):
        s0 = s1 = s2 = s3 = 0.0
        j = 0
        while j + 3 < width:
            s0 += w[j] * X[i, j]
            s1 += w[j + 1] * X[i, j + 1]
            s2 += w[j + 2] * X[i, j + 2]
            s3 += w[j + 3] * X[i, j + 3]
            j += 4
        while j < width:
            s0 += w[j] * X[i, j]
            j += 1
        total += s0 + s1 + s2 + s3
    return total


def bare_dict(x: dict, weights: dict):
    total: cython.double = 0.0
    value: cython.double
    weight: cython.double
    for name, entry in x.items():
        value = entry
        weight = weights[name]
        total += weight * value
    return total
