# The C side of _engine.py: what compiled algorithm files may use.

from afterwit.linear._row cimport RowLearner


cdef class LinearLearner(RowLearner):
    # The weights; weight 0 is the intercept's if there is one.
    cdef double[::1] _weights
    # How many numbers a feature has there: its weight, and what else an algorithm keeps beside it.
    cdef int _stride
    # The weight of a feature never seen.
    cdef double _fresh
    # Whether a value that is not finite would show in the score.
    cdef bint _bad_values_show

    cdef bint update(self, int y, double score) noexcept nogil
    cdef double score(self) noexcept nogil
    cdef double dot(self) noexcept nogil
    cdef void add(self, double scale) noexcept nogil
    cdef double learn_row(self, int y) noexcept nogil

    cdef double _dot_of_known(self) noexcept nogil
    cdef double _score(self, object x) except? -1
