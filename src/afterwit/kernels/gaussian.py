"""The Gaussian kernel: similar is what is near.

Kernel      K(x, z) = exp(-|x - z|^2 / (2 w^2)), w the width
Features    infinitely many; every x has length 1 there, and no finite set of different x is too much for it: any
            labels of them are separable, by a margin that shrinks as points of different labels come close.
Choice      w is a length in the units of the data: of the order of the distance between examples of the same label.
            Far smaller, only the nearest examples count and margins vanish; far larger, the kernel is nearly linear.
Source      Mohri, Rostamizadeh & Talwalkar 2018, Definition 6.6 ff. (equation 6.5).

>>> gaussian()([0.0], [0.0]), round(gaussian(width=2.0)([0.0], [2.0]), 4)
(1.0, 0.6065)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from afterwit.data.checks import positive_number
from afterwit.errors import invalid
from afterwit.kernels._examples import squared_distances
from afterwit.kernels._kernel import Floats, Kernel
from afterwit.kernels._steps import Operation, Step


@dataclass(frozen=True, repr=False)
class Gaussian(Kernel):
    width: float

    def steps(self) -> list[Step]:
        return [Step(Operation.DISTANCES), Step(Operation.GAUSSIAN, 2.0 * self.width * self.width)]

    def _matrix(self, matrices: Any, left: Any, right: Any) -> Floats:
        features = matrices.features()
        matrix: Floats = np.exp(-squared_distances(features[left], features[right]) / (2.0 * self.width * self.width))
        return matrix

    def as_data(self) -> list[Any]:
        return ["gaussian", self.width]

    def __repr__(self) -> str:
        return f"gaussian(width={self.width!r})"


def gaussian(width: float = 1.0) -> Kernel:
    """K(x, z) = exp(-|x - z|^2 / (2 width^2)) for vectors, dicts, sparse rows and sets."""
    number = positive_number("width", width)
    if not 0 < 2.0 * number * number < math.inf:
        raise invalid("width", "a positive number whose square is a positive finite number", width)
    return Gaussian(number)
