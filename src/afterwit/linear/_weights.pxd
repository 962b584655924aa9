# The C side of _weights.py.

from afterwit.linear._row cimport RowLearner


cdef class WeightLearner(RowLearner):
    # The weights; weight 0 is the intercept's if there is one.
    cdef double[::1] _weights
    # How many numbers a feature has there: its weight, and what else an algorithm keeps beside it.
    cdef int _stride
    # The weight of a feature never seen.
    cdef double _fresh

    cdef double score(self) noexcept nogil
    cdef double dot(self) noexcept nogil
    cdef void add(self, double scale) noexcept nogil
    cdef bint is_sound(self) noexcept nogil

    cdef double _dot_of_known(self) noexcept nogil
