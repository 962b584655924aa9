"""Kernels: inner products in another space, computed without going there.

Each is an object K with ``K(x, z)``, the value for two examples, and ``K.gram(X)``, the matrix of all values for many.
Kernels are immutable, compare by value, and compose: ``K + K'``, ``K * K'`` and ``2.0 * K`` are kernels again. Any
function of two examples may take the place of one; that it is an inner product is then the caller's promise.

Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.6 and Theorem 6.17; Mohri, Rostamizadeh &
            Talwalkar, Foundations of Machine Learning, 2nd ed. 2018, chapter 6.

>>> K = gaussian(width=0.5) + 2.0 * linear()
>>> K
gaussian(width=0.5) + 2.0 * linear()
>>> K([1.0, 0.0], [1.0, 0.0])
3.0
>>> (linear() * linear())({"a": 3}, {"a": 1, "b": 5})
9.0
"""

from afterwit.kernels._kernel import Kernel
from afterwit.kernels.all_products import all_products
from afterwit.kernels.function import function
from afterwit.kernels.gaussian import gaussian
from afterwit.kernels.linear import linear
from afterwit.kernels.polynomial import polynomial
from afterwit.kernels.string import string

__all__ = ["Kernel", "all_products", "function", "gaussian", "linear", "polynomial", "string"]
