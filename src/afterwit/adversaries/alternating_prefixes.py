"""n separable points in n dimensions on which the perceptron needs exponentially many updates, in any order.

Point i has (−1)^i in its first i − 1 components, (−1)^(i+1) in component i and label (−1)^(i+1), so that a separator
must give component i more weight than all earlier ones together: weights that double. An update changes a weight by
1, and only point n changes component n, so that at least about 2^n/6 updates are needed before all points are right.
(If the points are learned in turn, the perceptron takes about 4^n/9.)

Under sgn(0) = +1 the points with label +1 are right at score 0, so that the final integer weights must have w_i >= s (i
odd) or w_i >= s + 1 (i even), with s the sum of the earlier ones.

Source      Mohri, Rostamizadeh & Talwalkar 2018, Exercise 8.1.

>>> from afterwit import Perceptron
>>> stream = alternating_prefixes(8)
>>> stream.least_updates
43
>>> Perceptron().fit(stream.X, stream.y).mistakes >= stream.least_updates
True
"""

from __future__ import annotations

from typing import Any

import numpy as np

from afterwit.data.checks import count
from afterwit.streams.arrays import ArrayStream


class AlternatingPrefixes(ArrayStream):
    """The stream, with the smallest number of updates after which a perceptron can have learned it."""

    def __init__(self, X: Any, y: Any, least_updates: int) -> None:
        super().__init__(X, y)
        self.least_updates = least_updates


def alternating_prefixes(n: int) -> AlternatingPrefixes:
    """The n points of the exercise."""
    n = count("n", n)
    X = np.zeros((n, n))
    y = np.empty(n, dtype=np.int64)
    for i in range(1, n + 1):
        X[i - 1, : i - 1] = (-1) ** i
        X[i - 1, i - 1] = (-1) ** (i + 1)
        y[i - 1] = (-1) ** (i + 1)
    total = weight = 0
    for i in range(1, n + 1):
        weight = total + (i % 2 == 0)
        total += weight
    return AlternatingPrefixes(X, y, weight)
