# The C side of _paired.py.

from afterwit.linear._engine cimport LinearLearner


cdef class PairedLearner(LinearLearner):
    cdef double _second

    cdef double dots(self) noexcept nogil
