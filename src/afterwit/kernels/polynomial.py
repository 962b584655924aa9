"""The polynomial kernel: all products of up to k features.

Kernel      K(x, z) = (1 + x . z)^k, k >= 1 whole
Features    every monomial of degree at most k, with a weight; the constant one makes an intercept unnecessary.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.6.

>>> polynomial(2)([1.0, 1.0], [1.0, -3.0])
1.0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from afterwit.data.checks import whole_number
from afterwit.kernels._examples import inner_products
from afterwit.kernels._kernel import Floats, Kernel
from afterwit.kernels._steps import Operation, Step


@dataclass(frozen=True, repr=False)
class Polynomial(Kernel):
    degree: int

    def steps(self) -> list[Step]:
        return [Step(Operation.PRODUCTS), Step(Operation.POWER, self.degree)]

    def _matrix(self, matrices: Any, left: Any, right: Any) -> Floats:
        features = matrices.features()
        matrix: Floats = (1.0 + inner_products(features[left], features[right])) ** self.degree
        return matrix

    def as_data(self) -> list[Any]:
        return ["polynomial", self.degree]

    def __repr__(self) -> str:
        return f"polynomial({self.degree})"


def polynomial(degree: int) -> Kernel:
    """K(x, z) = (1 + x . z)^degree for vectors, dicts, sparse rows and sets."""
    return Polynomial(whole_number("degree", degree, 1, 1000, "a whole number from 1 to 1000"))
