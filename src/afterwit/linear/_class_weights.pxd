# The C side of _class_weights.py: what compiled algorithm files may use.

from afterwit.linear._engine cimport LinearLearner


cdef class ClassWeights(LinearLearner):
    # How many classes are known, and for how many there is room.
    cdef int _n_classes
    cdef int _class_room
    # The scores of the row, one for each class; where they begin, and how far apart those of two rows are.
    cdef double[::1] _totals
    cdef Py_ssize_t _at
    cdef Py_ssize_t _step
    # The size of the largest score of the row.
    cdef double _largest
    # The class that an update takes the row from, unless it is the right one; -1 if none is known.
    cdef int _leader

    cdef void score_classes(self, Py_ssize_t at) noexcept nogil
    cdef void products(self, int place, double[::1] into, Py_ssize_t at) noexcept nogil
    cdef int leader(self, double[::1] totals, Py_ssize_t at) noexcept nogil
    cdef void add_to(self, int place, double code, double scale) noexcept nogil
