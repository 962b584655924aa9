# The C side of _losses.py.

cdef double slope(int loss, int y, double score) noexcept nogil
