# The C side of _late.py.

from afterwit.linear._totals cimport TotalsLearner


cdef class LateLearner(TotalsLearner):
    # Whether the rows that are learned were served before, and then: the scores they were served with, and the moments,
    # as numbers of rounds and of updates.
    cdef bint _recalling
    cdef const double[::1] _served_scores
    cdef const long long[::1] _served_rounds
    cdef const long long[::1] _served_updates
    # The score of the current row when it was served, and how much was learned since.
    cdef double _served
    cdef long long _since
    cdef long long _updates_since
    # What is kept of late labels, see `afterwit.core.delays.COUNTS`.
    cdef long long _late
    cdef long long _late_total
    cdef long long _late_largest
    cdef long long _between_updates
    cdef long long _most_between_updates

    cdef int _rest(self) except -1
    cdef void recall(self, Py_ssize_t i) noexcept nogil
    cdef void count_delay(self, bint updated) noexcept nogil
