# The C side of _multiplicative.py.

from afterwit.linear._paired cimport PairedLearner


cdef class MultiplicativeLearner(PairedLearner):
    cdef double _rate
    cdef bint _two_sided
    cdef public double _shift
    # exp(-shift): a factor 1 as it is stored.
    cdef double _unit
    # The sum Z as it is stored, over the features whose exponent is not 0; what its additions lost; the largest it was
    # since it was last taken anew; how many features those are; and how many additions there were since then.
    cdef public double _total
    cdef public double _lost
    cdef public double _peak
    cdef public Py_ssize_t _moved
    cdef public long long _changes

    cdef double faint_score(self) noexcept nogil
    cdef double highest(self) noexcept nogil
    cdef double exponent(self, Py_ssize_t k) noexcept nogil
    cdef void multiply(self, double amount) noexcept nogil
    cdef double sum_of_all(self) noexcept nogil
    cdef void renew(self, double shift) noexcept nogil
    cdef void sum_up(self) noexcept nogil
