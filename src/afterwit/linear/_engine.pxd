# The C side of _engine.py: what compiled algorithm files may use.

from afterwit.linear._late cimport LateLearner


cdef class LinearLearner(LateLearner):
    # Whether a value that is not finite would show in the score.
    cdef bint _bad_values_show
    # What a round costs beyond its entries, in entries.
    cdef Py_ssize_t _cost_of_round

    cdef bint update(self, double y, double score) noexcept nogil
    cdef double learn_row(self, double y) noexcept nogil
    cdef void learn_target(self, double y, double score) noexcept nogil

    cdef double _learn_example(self, object x, double sign) except? -1
    cdef double _learn_current(self, double sign, Py_ssize_t features, bint named) except? -1
    cdef double _score(self, object x) except? -1
