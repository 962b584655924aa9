# The C side of _numbers.py.

cdef class NumberReader:
    # The bytes that numbers are read from, and the number that was read last.
    cdef const unsigned char[::1] data
    cdef double number

    cdef const double[::1] _tens
    cdef const unsigned long long[::1] _high
    cdef const unsigned long long[::1] _low
    cdef const int[::1] _shift

    cdef Py_ssize_t read_number(self, Py_ssize_t at, Py_ssize_t end) noexcept nogil
    cdef int ask_python(self, Py_ssize_t begin, Py_ssize_t end) except -1
    cdef double _rounded(self, unsigned long long digits, Py_ssize_t scale) noexcept nogil
