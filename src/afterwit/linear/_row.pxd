# The C side of _row.py.

from afterwit.core.learner cimport BinaryLearner


cdef class RowLearner(BinaryLearner):
    # Features have names (or, if they have not, positions).
    cdef bint _named
    cdef dict _vocabulary
    cdef list _names

    # How many features there are; the first is the intercept's if one is reserved for it.
    cdef Py_ssize_t _features
    cdef int _reserved

    # The current row: _length entries, values from _first on, columns from _offset on.
    cdef const double[::1] _values
    cdef const int[::1] _columns
    cdef bint _dense
    # Every feature of the row has a weight; its values may hold what is not finite, which would show in the score.
    cdef bint _known
    cdef bint _on_trust
    cdef Py_ssize_t _first
    cdef Py_ssize_t _offset
    cdef Py_ssize_t _length

    # The block of rows that is learned or scored, and where one dict, or a row with an intercept, is unpacked.
    cdef const double[::1] _source_values
    cdef const int[::1] _source_columns
    cdef double[::1] _scratch_values
    cdef int[::1] _scratch_columns
    # The columns of a dense row: 0, 1, 2, ...
    cdef int[::1] _positions

    cdef int grow(self, Py_ssize_t features) except -1

    cdef void _take(self, Py_ssize_t first, Py_ssize_t offset, Py_ssize_t length) noexcept nogil
    cdef int _unpack(self, dict x) except -1
    cdef int _admit(self, dict x, int unseen) except -1
    cdef int _name(self, object name) except -1
    cdef int _need_scratch(self, Py_ssize_t entries) except -1
    cdef int _need_positions(self, Py_ssize_t width) except -1
    cdef int _rest(self) except -1
