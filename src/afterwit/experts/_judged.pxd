# The C side of _judged.py.

from afterwit.experts._weighed cimport WeighedRound


cdef class JudgedRound(WeighedRound):
    # The loss, and what the algorithm is shown of it.
    cdef object _loss_function
    cdef int _loss_kind
    cdef double _quantile
    cdef readonly bint _linear
    cdef bint _ranged
    # The loss of the forecast, too, has to be in the range.
    cdef bint _own_in_range
    # A sleeper is shown the loss of the forecast in place of the mixture's.
    cdef bint _shows_own
    # Forecasts may be 0 and 1 under the log loss, and losses infinite.
    cdef bint _takes_certainty
    cdef double _low
    cdef double _width

    # A forecast was made in the current round; it is not known by its losses alone.
    cdef bint _has_forecast
    # Somebody's loss in the current round is infinite.
    cdef bint _some_infinite
    cdef double _forecast
    # 1 - the forecast, to its own last digits; only for the log loss of a mean.
    cdef double _complement
    # Each expert's loss, as the algorithm sees it (scaled to [0, 1] if there is a range), and the mixture of these.
    cdef double[::1] _scratch
    cdef double[::1] _losses
    cdef double[::1] _seen_scratch
    cdef double[::1] _seen
    cdef double _mixed
    cdef double _farthest
    cdef double _own
    # By how much, in units of rounding, a forecast that was rounded may have moved the loss.
    cdef double _moved
    # How far a loss, or a slope if it learns from slopes, was outside its range.
    cdef double _beyond

    # What was wrong with the last round.
    cdef Py_ssize_t _bad_expert
    cdef double _bad_value
    cdef object _raised

    cdef double loss_of(self, double forecast, double outcome) noexcept nogil
    cdef double own_loss(self, double outcome) noexcept nogil
    cdef double minus_log(self, double chance, double rest) noexcept nogil
    cdef double own_slope(self, double outcome) noexcept nogil
    cdef double steepest_secant(self) noexcept nogil
    cdef double gain(self, Py_ssize_t i) noexcept nogil
    cdef int judge(self, double outcome) noexcept nogil
    cdef int judge_losses(self) noexcept nogil
    cdef int show_losses(self) noexcept nogil
    cdef int show(self) noexcept nogil
    cdef void show_sleepers(self, double loss) noexcept nogil
    cdef void mix(self, double[::1] seen, double[::1] shares, double middle) noexcept nogil
    cdef void mix_finite(self) noexcept nogil
    cdef int show_tangent(self, double slope, double forecast, bint of_losses) noexcept nogil

    cdef double _called(self, bint slope, double forecast, double outcome) noexcept nogil
    cdef int _find_bad(self, int bad) noexcept nogil
    cdef int _let_go(self) except -1
