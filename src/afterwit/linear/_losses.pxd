# The C side of _losses.py.

cdef double slope(int loss, double parameter, double y, double score) noexcept nogil
cdef double loss_of_error(int loss, double parameter, double error) noexcept nogil
cdef double invariant_share(int loss, double y, double score, double derivative, double length) noexcept nogil
