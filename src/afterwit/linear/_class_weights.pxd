# The C side of _class_weights.py: what compiled algorithm files may use.

from afterwit.linear._class_scores cimport ClassScores


cdef class ClassWeights(ClassScores):
    cdef void products(self, int place, double[::1] into, Py_ssize_t at) noexcept nogil
    cdef void add_to(self, int place, double code, double scale) noexcept nogil
