# The C side of _names.py.

from afterwit.streams._numbers cimport NumberReader


cdef class NameReader(NumberReader):
    # For each name: where its bytes end, its hash, where in the table it is, and the line and entry it was last in.
    cdef long long[::1] _name_ends
    cdef unsigned long long[::1] _hashes
    cdef long long[::1] _places
    cdef long long[::1] _last_lines
    cdef long long[::1] _last_entries
    cdef Py_ssize_t _names
    # The table: 1 + the number of a name, or 0. Its length is a power of two.
    cdef int[::1] _table
    # The bytes of all names.
    cdef unsigned char[::1] _letters
    # The number of the current line, and where in the data the current namespace is.
    cdef long long _stamp
    cdef Py_ssize_t _space_begin
    cdef Py_ssize_t _space_end

    cdef Py_ssize_t _find(self, unsigned long long hashed, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef bint _is_same(self, Py_ssize_t name, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef Py_ssize_t _add(self, unsigned long long hashed, Py_ssize_t begin, Py_ssize_t end) except -2 nogil
    cdef int _enter(self, Py_ssize_t name) noexcept nogil
    cdef int _forget(self, Py_ssize_t names) noexcept nogil
    cdef int _grow(self, Py_ssize_t letters) except -1
    cdef bint _is_text(self, Py_ssize_t at, Py_ssize_t end) noexcept nogil
