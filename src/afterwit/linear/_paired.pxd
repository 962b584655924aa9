# The C side of _paired.py.

from afterwit.linear._engine cimport LinearLearner


cdef class PairedLearner(LinearLearner):
    cdef double _second
    # A part of the current row, entry after entry.
    cdef double[::1] _amounts
    cdef double[::1] _totals

    cdef double dots(self) noexcept nogil
    cdef Py_ssize_t add_squares(self, double scale, Py_ssize_t begin) noexcept nogil
    cdef void subtract_amounts(self, Py_ssize_t begin, Py_ssize_t count, double box) noexcept nogil
