# The C side of _csv_cells.py.

from afterwit.streams._numbers cimport NumberReader


cdef class CellReader(NumberReader):
    # The text ends at `end`; reading is at `at`, behind so many ends of lines.
    cdef Py_ssize_t end
    cdef readonly Py_ssize_t at
    cdef readonly long long line
    cdef int delimiter
    cdef bint quotes

    # The cell that was read last: where it is, whether it has doubled quotes, what is wrong with it, and where.
    cdef Py_ssize_t cell_begin
    cdef Py_ssize_t cell_end
    cdef bint doubled
    cdef int broken
    cdef long long broken_line

    cdef void pass_blank_lines(self) noexcept nogil
    cdef void pass_line_end(self) noexcept nogil
    cdef Py_ssize_t read_cell(self, Py_ssize_t begin) noexcept nogil
    cdef bint read_rare(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef Py_ssize_t invalid_byte(self, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef long long line_of(self, long long line, Py_ssize_t begin, Py_ssize_t place) noexcept nogil
