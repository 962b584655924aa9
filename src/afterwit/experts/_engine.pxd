# The C side of _engine.py: what compiled expert algorithms may use.

cimport cython

from afterwit.experts._judged cimport JudgedRound


cdef class ExpertLearner(JudgedRound):
    cdef cython.pymutex _lock
    cdef public object _experts

    # What has happened. Rounds of which only the losses were known are counted apart.
    cdef public long long _unforecast
    cdef public double _loss
    cdef public double[::1] _expert_losses
    cdef public double[::1] _regrets
    cdef public double[::1] _slope_regrets
    cdef public long long[::1] _asleep_rounds

    cdef void update(self) noexcept nogil
    cdef double regret_to(self, Py_ssize_t i) noexcept nogil
    cdef void commit(self) noexcept nogil
