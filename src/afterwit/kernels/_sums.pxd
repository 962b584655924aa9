# The C side of _sums.py: what the support set may use.

cdef void dense_distances(
    const double[::1] rows, Py_ssize_t first, Py_ssize_t count, Py_ssize_t stride, Py_ssize_t width,
    const double[::1] x, Py_ssize_t begin, Py_ssize_t length,
    double[::1] out, Py_ssize_t at,
) noexcept nogil

cdef void dense_all_products(
    const double[::1] rows, Py_ssize_t first, Py_ssize_t count, Py_ssize_t stride,
    const double[::1] x, Py_ssize_t begin, Py_ssize_t length,
    double[::1] out, Py_ssize_t at,
) noexcept nogil

cdef void sparse_products(
    const long long[::1] starts, const int[::1] columns, const double[::1] values, Py_ssize_t first, Py_ssize_t count,
    const double[::1] x, double[::1] out, Py_ssize_t at,
) noexcept nogil

cdef void sparse_all_products(
    const long long[::1] starts, const int[::1] columns, const double[::1] values, Py_ssize_t first, Py_ssize_t count,
    const double[::1] x, double[::1] out, Py_ssize_t at,
) noexcept nogil
