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
from numbers import Integral
from typing import Any

from afterwit.errors import invalid
from afterwit.kernels._examples import inner_products
from afterwit.kernels._kernel import Floats, Kernel, Step


@dataclass(frozen=True, repr=False)
class String(Kernel):
    length: int
    takes = "strings"

    def steps(self) -> list[Step]:
        return [("products", self.length)]

    def _matrix(self, table: Any, left: Any, right: Any) -> Floats:
        features = table.features(self.length)
        return inner_products(features[left], features[right])

    def as_data(self) -> list[Any]:
        return ["string", self.length]

    def __repr__(self) -> str:
        return f"string({self.length})"


def string(length: int) -> Kernel:
    """The number of different substrings of that length that two strings have in common."""
    if not isinstance(length, Integral) or isinstance(length, bool) or int(length) < 1:
        raise invalid("length", "a whole number, at least 1", length)
    return String(int(length))
