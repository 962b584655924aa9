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
    # Every feature of the row has a weight.
    cdef bint _known
    cdef Py_ssize_t _first
    cdef Py_ssize_t _offset
    cdef Py_ssize_t _length

    # Why the loop stopped before the current row, which has then changed nothing; 0 if it did not. A score beyond the
    # limit stops it, and so every score does if the limit is negative.
    cdef int _stopped
    cdef double _limit
    # The limit within which no round of values that are not larger makes anything infinite.
    cdef double _proven
    # Names of the unpacked dict that are new.
    cdef list _unseen

    # The block of rows that is learned or scored, and where one dict, or a row with an intercept, is unpacked.
    cdef const double[::1] _source_values
    cdef const int[::1] _source_columns
    cdef double[::1] _scratch_values
    cdef int[::1] _scratch_columns
    # The columns of a dense row: 0, 1, 2, ...
    cdef int[::1] _positions
    # What an update has overwritten, for the case that it has to be undone.
    cdef double[::1] _overwritten

    cdef int grow(self, Py_ssize_t features) except -1
    cdef int reserve(self, Py_ssize_t features) except -1
    cdef int _begin_turn(self) except -1

    cdef void _take(self, Py_ssize_t first, Py_ssize_t offset, Py_ssize_t length) noexcept nogil
    cdef int _unpack(self, dict x) except -1
    cdef int _admit(self) except -1
    cdef int _admit_names(self, list names) except -1
    cdef object _by_name(self, object x)
    cdef object _by_position(self, object x)
    cdef Py_ssize_t _lay_out(self, object row) except -1
    cdef Py_ssize_t _copy_list(self, list row) except -1
    cdef Py_ssize_t _copy_sparse(self, object columns, object values, object width) except -1
    cdef int _begin_row(self, Py_ssize_t entries) except -1
    cdef int _need_scratch(self, Py_ssize_t entries) except -1
    cdef int _need_positions(self, Py_ssize_t width) except -1
    cdef int _rest(self) except -1
