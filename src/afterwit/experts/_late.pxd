# The C side of _late.py.

from afterwit.experts._vectors cimport VectorRound


cdef class LateRound(VectorRound):
    # Whether the rounds that are learned were served before, and then: the forecasts, the means of 1 - advice beside them,
    # and after how many rounds that was.
    cdef bint _recalling
    cdef const double[::1] _told_forecasts
    cdef const double[::1] _told_complements
    cdef const long long[::1] _told_rounds
    # Which of them is the current round, and what would have been forecast now.
    cdef Py_ssize_t _told_at
    cdef double _forecast_now
    # What is kept of late outcomes.
    cdef long long _late
    cdef long long _late_total
    cdef long long _late_largest
    cdef double _late_drift
    cdef double _late_excess

    cdef void recall(self, Py_ssize_t t) noexcept nogil
    cdef void count_delay(self, double outcome) noexcept nogil
    cdef double loss_now(self, double outcome) noexcept nogil
