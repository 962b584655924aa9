"""The all-products kernel: the products of any of the features.

Kernel      K(x, z) = (1 + x_1 z_1) (1 + x_2 z_2) ... (1 + x_n z_n)
Features    one for every set A of positions: the product of the x_i with i in A. For sets: every conjunction.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.6.

>>> all_products()([1.0, 2.0, 0.0], [1.0, 3.0, 5.0])
14.0
>>> all_products()({"a", "b", "c"}, {"b", "c", "d"})  # the conjunctions of b and c that hold in both: 2^2
4.0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.kernels._kernel import Floats, Kernel
from afterwit.kernels._steps import Operation, Step


@dataclass(frozen=True, repr=False)
class AllProducts(Kernel):
    def steps(self) -> list[Step]:
        return [Step(Operation.ALL_PRODUCTS)]

    def _matrix(self, matrices: Any, left: Any, right: Any) -> Floats:
        features = matrices.features()
        a, b = features[left], features[right]
        matrix = np.ones((a.shape[0], b.shape[0]))
        if not hasattr(a, "indptr"):
            for j in range(a.shape[1]):
                matrix *= 1.0 + np.outer(a[:, j], b[:, j])
            return matrix
        a, b = a.tocsc(), b.tocsc()
        for j in np.flatnonzero(np.diff(a.indptr) * np.diff(b.indptr)).tolist():
            # Where either is 0 the factor is 1.
            p, q = slice(*a.indptr[j : j + 2]), slice(*b.indptr[j : j + 2])
            matrix[np.ix_(a.indices[p], b.indices[q])] *= 1.0 + np.outer(a.data[p], b.data[q])
        return matrix

    def as_data(self) -> list[Any]:
        return ["all_products"]

    def __repr__(self) -> str:
        return "all_products()"


def all_products() -> Kernel:
    """K(x, z) = prod_i (1 + x_i z_i) for vectors, dicts, sparse rows and sets."""
    return AllProducts()
