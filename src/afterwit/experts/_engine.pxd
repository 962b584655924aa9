# The C side of _engine.py: what compiled expert algorithms may use.

from afterwit.core.turns cimport Lock
from afterwit.experts._vectors cimport VectorRound


cdef class ExpertLearner(VectorRound):
    cdef Lock _lock
    cdef public object _experts
    # What a round costs, in experts.
    cdef long long _cost_of_round

    # What has happened. Rounds of which only the losses were known are counted apart.
    cdef public long long _unforecast
    cdef public double _loss
    cdef public double[::1] _expert_losses
    cdef public double[::1] _regrets
    cdef public double[::1] _slope_regrets
    cdef public long long[::1] _asleep_rounds
    # The sum over the rounds of the sizes of the learner's loss and the largest loss.
    cdef public double _size
    # The sum over the rounds of what rounded forecasts may have moved, in units of rounding.
    cdef public double _blur
    # The sum over the rounds of how far losses were outside their range.
    cdef public double _outside

    cdef void update(self) noexcept nogil
    cdef double regret_to(self, Py_ssize_t i) noexcept nogil
    cdef void commit(self) noexcept nogil
