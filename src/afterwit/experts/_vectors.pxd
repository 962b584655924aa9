# The C side of _vectors.py.

from afterwit.experts._judged cimport JudgedRound


cdef class VectorRound(JudgedRound):
    # How many kinds of outcomes there are and what they are called; 0 and None where forecasts are numbers.
    cdef readonly Py_ssize_t _kinds
    cdef readonly object _kinds_known
    # The forecast: a probability for each kind.
    cdef double[::1] _vector
    cdef double[::1] _least
    cdef double[::1] _most
    cdef double[::1] _tangents

    cdef void forecast_vector(self) noexcept nogil
    cdef int judge_vector(self, Py_ssize_t outcome) noexcept nogil
    cdef double loss_of_vector(self, double[::1] values, Py_ssize_t first, Py_ssize_t outcome) noexcept nogil
    cdef double own_loss_of_vector(self, Py_ssize_t outcome) noexcept nogil
    cdef double complement_of(self, Py_ssize_t kind) noexcept nogil
    cdef int show_tangents(self, Py_ssize_t outcome) noexcept nogil
