# The C side of _products.py.

cdef double product(
    const double[::1] left, const double[::1] right, Py_ssize_t first, Py_ssize_t length
) noexcept nogil
