# The C side of _kept_rows.py.

cdef class KeptRows:
    # The kept rows are _count, from row _first on; before it are those that were dropped.
    cdef bint _dense
    cdef Py_ssize_t _first
    cdef Py_ssize_t _count
    # Dense rows: row s begins at s * _stride; the first _reach columns are used.
    cdef double[::1] _matrix
    cdef Py_ssize_t _stride
    # Sparse rows: row s has the entries from _starts[s] to _starts[s + 1]; _reach columns are in use.
    cdef long long[::1] _starts
    cdef int[::1] _columns
    cdef double[::1] _values
    cdef Py_ssize_t _reach
    # The squared length of every row.
    cdef double[::1] _squares
    # Features have names (or, if they have not, positions).
    cdef bint _named
    cdef dict _vocabulary
    cdef list _names

    # The block, and the columns of its names.
    cdef bint _block_dense
    cdef Py_ssize_t _block_width
    cdef const double[::1] _block_values
    cdef const int[::1] _block_columns
    cdef const long long[::1] _block_starts
    cdef list _block_names
    cdef int[::1] _places

    # The query: _length entries of the block from _begin on; unless it is read in place, spread out over the columns.
    cdef Py_ssize_t _begin
    cdef Py_ssize_t _length
    cdef double _square
    cdef double[::1] _query
    cdef bint _direct

    cdef Py_ssize_t column(self, Py_ssize_t k) noexcept nogil
    cdef void take(self, Py_ssize_t i) noexcept nogil
    cdef void release(self) noexcept nogil
    cdef void products(self, double[::1] out, Py_ssize_t at) noexcept nogil
    cdef void distances(self, double[::1] out, Py_ssize_t at) noexcept nogil
    cdef void all_products(self, double[::1] out, Py_ssize_t at) noexcept nogil
