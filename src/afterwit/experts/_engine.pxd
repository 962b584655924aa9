# The C side of _engine.py: what compiled expert algorithms may use.

cimport cython

from afterwit.core.learner cimport Storable


cdef class ExpertLearner(Storable):
    cdef cython.pymutex _lock
    cdef object _given_experts
    cdef object _experts
    cdef Py_ssize_t _n
    # So many that numpy's loops are worth the calls.
    cdef bint _many

    # The loss, and what the algorithm is shown of it.
    cdef object _loss
    cdef int _loss_kind
    cdef double _quantile
    cdef bint _linear
    cdef bint _drawing
    cdef bint _ranged
    # The loss of the forecast, too, has to be in the range.
    cdef bint _own_in_range
    cdef double _low
    cdef double _width
    cdef unsigned long long _seed

    # The current round: advice (or losses) from _first on, who is awake, unnormalised shares and their sum.
    cdef double[::1] _values
    cdef Py_ssize_t _first
    cdef bint _look_for_sleepers
    cdef bint _some_sleep
    cdef signed char[::1] _awake
    cdef double[::1] _shares
    cdef double _total
    cdef double _forecast
    # Each expert's loss, as the algorithm sees it (scaled to [0, 1] if there is a range), and the mixture of these.
    cdef double[::1] _scratch
    cdef double[::1] _losses
    cdef double[::1] _seen_scratch
    cdef double[::1] _seen
    cdef double _mixed
    cdef double _farthest
    cdef double _own

    # What has happened.
    cdef long long _rounds
    # Rounds of which only the losses were known.
    cdef long long _unforecast
    cdef double _total_loss
    cdef double[::1] _expert_losses
    cdef double[::1] _regrets
    cdef double[::1] _slope_regrets
    cdef long long[::1] _asleep_rounds

    # What was wrong with the last round.
    cdef Py_ssize_t _bad_expert
    cdef double _bad_value
    cdef object _raised

    cdef double weigh(self) noexcept nogil
    cdef void update(self) noexcept nogil
    cdef double predict(self) noexcept nogil

    cdef double exponentiate(self, double[::1] scores, double factor) noexcept nogil
    cdef double gain(self, Py_ssize_t i) noexcept nogil
    cdef double regret_to(self, Py_ssize_t i) noexcept nogil
    cdef double uniform(self, long long round) noexcept nogil
    cdef Py_ssize_t drawn(self) noexcept nogil
    cdef double mean(self) noexcept nogil
    cdef void wake(self, Py_ssize_t first) noexcept nogil
    cdef double loss_of(self, double forecast, double outcome) noexcept nogil
    cdef double slope_of(self, double forecast, double outcome) noexcept nogil
    cdef double _called(self, bint slope, double forecast, double outcome) noexcept nogil
    cdef int judge(self, double outcome) noexcept nogil
    cdef int judge_losses(self) noexcept nogil
    cdef int show(self) noexcept nogil
    cdef int show_losses(self) noexcept nogil
    cdef int show_tangent(self, double slope, double forecast, bint of_losses) noexcept nogil
    cdef void commit(self) noexcept nogil
    cdef void everyone(self) noexcept nogil
    cdef void wake_all(self) noexcept nogil
    cdef int _find_bad(self, int bad) noexcept nogil
    cdef double largest(self, double[::1] scores, double factor) noexcept nogil
    cdef double exponentiate_many(self, double[::1] scores, double factor, double best) noexcept nogil
    cdef double exponentials(self) noexcept with gil
    cdef void mix(self, double middle) noexcept nogil
    cdef int _let_go(self) except -1
