# The C side of _weighed.py.

from afterwit.core.learner cimport Storable


cdef class WeighedRound(Storable):
    cdef readonly Py_ssize_t _n
    # So many that numpy's loops are worth the calls.
    cdef bint _many
    # One expert is followed by chance; the draw depends on the seed and the number of the round.
    cdef bint _drawing
    cdef unsigned long long _seed
    cdef public long long _rounds

    # The current round: advice (or losses) from _first on, who is awake, unnormalised shares and their sum.
    cdef double[::1] _values
    cdef Py_ssize_t _first
    cdef bint _look_for_sleepers
    cdef bint _some_sleep
    cdef signed char[::1] _awake
    cdef double[::1] _shares
    cdef double _total
    # The size of what was added up for the mean of the advice: rounding moves the mean by a part of it.
    cdef double _reach

    cdef double weigh(self) noexcept nogil
    cdef double predict(self) noexcept nogil
    cdef double exponentiate(self, double[::1] scores, double factor) noexcept nogil
    cdef double fill(self, double[::1] scores, double factor, double[::1] shares, signed char[::1] awake) noexcept nogil
    cdef double largest(self, double[::1] scores, double factor) noexcept nogil
    cdef double exponentials(self) noexcept with gil
    cdef double mean(self) noexcept nogil
    cdef double mean_complement(self) noexcept nogil
    cdef double uniform(self, long long number) noexcept nogil
    cdef Py_ssize_t drawn(self) noexcept nogil
    cdef void wake(self, Py_ssize_t first) noexcept nogil
    cdef void wake_all(self) noexcept nogil
    cdef void everyone(self) noexcept nogil
