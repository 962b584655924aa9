# The C side of _engine.py: what compiled algorithm files may use.

cimport cython


cdef class LinearLearner:
    cdef object _labels
    cdef dict _signs
    # Features have names (or, if they have not, positions).
    cdef bint _named
    cdef dict _vocabulary
    cdef list _names
    cdef cython.pymutex _lock

    cdef double[::1] _weights
    cdef Py_ssize_t _features
    cdef long long _rounds
    cdef long long _mistakes
    cdef long long _updates

    # The current row: _length entries, values from _first on, columns (unless _dense) from _offset on.
    cdef const double[::1] _values
    cdef const int[::1] _columns
    cdef bint _dense
    # Every feature of the row has a weight; its values may hold what is not finite.
    cdef bint _known
    cdef bint _on_trust
    cdef Py_ssize_t _first
    cdef Py_ssize_t _offset
    cdef Py_ssize_t _length

    # Where one dict is unpacked.
    cdef double[::1] _scratch_values
    cdef int[::1] _scratch_columns

    cdef bint update(self, int y, double score) noexcept nogil
    cdef double dot(self) noexcept nogil
    cdef void add(self, double scale) noexcept nogil
    cdef int grow(self, Py_ssize_t features) except -1
    cdef int learn_row(self, int y) noexcept nogil

    cdef double _dot_of_known(self) noexcept nogil
    cdef int _unpack(self, dict x) except -1
    cdef int _admit(self, dict x, int unseen) except -1
    cdef int _rest(self) except -1
    cdef double _score(self, object x) except? -1
