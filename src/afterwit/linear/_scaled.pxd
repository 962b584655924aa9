# The C side of _scaled.py.

from afterwit.linear._engine cimport LinearLearner


cdef class ScaledLearner(LinearLearner):
    cdef public double _scale

    cdef void shrink(self, double factor) noexcept nogil
    cdef void step(self, double amount) noexcept nogil
