# The C side of _losses.py.

cdef double slope(int loss, int y, double score) noexcept nogil
cdef double invariant_share(int loss, int y, double score, double derivative, double length) noexcept nogil
