# The C side of _totals.py.

from afterwit.linear._weights cimport WeightLearner


cdef class TotalsLearner(WeightLearner):
    # The loss by its number, and the quantile or delta that it may have.
    cdef int _loss
    cdef double _parameter
    # Whether y is a real target, not a sign.
    cdef bint _real
    # The sums over all rounds of the losses and of the squared errors.
    cdef double _total_loss
    cdef double _squared_errors

    cdef void count_error(self, double error) noexcept nogil
