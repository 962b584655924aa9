# The C side of _engine.py: what compiled algorithm files may use.

from afterwit.linear._weights cimport WeightLearner


cdef class LinearLearner(WeightLearner):
    # Whether a value that is not finite would show in the score.
    cdef bint _bad_values_show
    # What a round costs beyond its entries, in entries.
    cdef Py_ssize_t _cost_of_round

    cdef bint update(self, int y, double score) noexcept nogil
    cdef double learn_row(self, int y) noexcept nogil

    cdef double _learn_example(self, object x, int sign) except? -1
    cdef double _learn_current(self, int sign, Py_ssize_t features, bint named) except? -1
    cdef double _score(self, object x) except? -1
