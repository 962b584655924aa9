"""The linear kernel: the inner product itself.

Kernel      K(x, z) = x . z
Features    those of x.

>>> linear()([1.0, 2.0], [3.0, 4.0])
11.0
>>> linear()({"cheap", "pills"}, {"cheap", "lunch"})  # a set: every member is a feature of value 1
1.0
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from afterwit.kernels._examples import inner_products
from afterwit.kernels._kernel import Floats, Kernel
from afterwit.kernels._steps import Operation, Step


@dataclass(frozen=True, repr=False)
class Linear(Kernel):
    def steps(self) -> list[Step]:
        return [Step(Operation.PRODUCTS)]

    def _matrix(self, matrices: Any, left: Any, right: Any) -> Floats:
        features = matrices.features()
        return inner_products(features[left], features[right])

    def as_data(self) -> list[Any]:
        return ["linear"]

    def __repr__(self) -> str:
        return "linear()"


def linear() -> Kernel:
    """K(x, z) = x . z for vectors, dicts, sparse rows and sets."""
    return Linear()
