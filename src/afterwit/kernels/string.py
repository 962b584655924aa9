"""The string kernel: how many different substrings of one length two strings have in common.

Kernel      K(x, z) = the number of different strings of length p that are substrings of both x and z
Features    one for every string of length p: 1 if it is a substring of x, 0 if not.
Source      Blum, Hopcroft & Kannan, Foundations of Data Science, section 6.6.

>>> string(2)("banana", "bandana")  # ba, an, na
3.0
>>> string(2)("aaaa", "aaa")
1.0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from afterwit.data.checks import count
from afterwit.kernels._examples import inner_products
from afterwit.kernels._kernel import Floats, Kernel
from afterwit.kernels._steps import Operation, Step


@dataclass(frozen=True, repr=False)
class String(Kernel):
    length: int
    takes = "strings"

    def steps(self) -> list[Step]:
        return [Step(Operation.PRODUCTS, self.length)]

    def _matrix(self, matrices: Any, left: Any, right: Any) -> Floats:
        features = matrices.features(self.length)
        return inner_products(features[left], features[right])

    def as_data(self) -> list[Any]:
        return ["string", self.length]

    def __repr__(self) -> str:
        return f"string({self.length})"


def string(length: int) -> Kernel:
    """The number of different substrings of that length that two strings have in common."""
    return String(count("length", length))
