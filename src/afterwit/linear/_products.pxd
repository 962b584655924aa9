# The C side of _products.py.

cdef double dot(const double[::1] a, Py_ssize_t i, const double[::1] b, Py_ssize_t j, Py_ssize_t length) noexcept nogil

cdef void dense_products(
    const double[::1] rows, Py_ssize_t first, Py_ssize_t count, Py_ssize_t stride,
    const double[::1] x, Py_ssize_t begin, Py_ssize_t length,
    double[::1] out, Py_ssize_t at,
) noexcept nogil

cdef double product(
    const double[::1] left, const double[::1] right, Py_ssize_t first, Py_ssize_t length
) noexcept nogil
