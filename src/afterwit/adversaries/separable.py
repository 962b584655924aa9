"""A random stream that a hyperplane through the origin separates by a chosen margin.

Every x_t has length ``radius``; a random unit target v has y_t (v . x_t) >= margin in every round, with equality in
the first. So the margin bound for this stream is (radius / margin)^2 whatever its length and dimension.

>>> stream = separable(1000, 50, margin=0.2, seed=0)
>>> float(round(min(y * (stream.target @ x) for x, y in stream), 12))
0.2
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data import checks
from afterwit.errors import invalid
from afterwit.streams.arrays import ArrayStream


class SeparableStream(ArrayStream):
    """A stream with its separator: ``target`` (unit vector), ``margin`` and ``radius``."""

    def __init__(self, X: Any, y: Any, target: npt.NDArray[np.float64], margin: float, radius: float) -> None:
        super().__init__(X, y)
        self.target = target
        self.margin = margin
        self.radius = radius


def separable(rounds: int, dimension: int, margin: float, *, seed: int, radius: float = 1.0) -> SeparableStream:
    """Draw the stream; both labels are equally likely, margins are uniform between ``margin`` and ``radius``."""
    rounds = checks.count("rounds", rounds)
    dimension = checks.count("dimension", dimension)
    radius = checks.real_number("radius", radius, "a positive number between 1e-100 and 1e100", 1e-100, 1e100)
    margin = checks.real_number("margin", margin, f"a positive number, at most the radius {radius}", 0, radius)
    if dimension == 1 and margin != radius:
        raise invalid(
            "margin", f"the radius {radius} in dimension 1, where every example has that distance from 0", margin
        )
    random = np.random.default_rng(checks.seed("seed", seed))
    target = random.standard_normal(dimension)
    target /= np.linalg.norm(target)
    y = random.choice(np.array([-1, 1]), size=rounds)
    along = random.uniform(margin, radius, size=rounds)
    along[0] = margin
    across = random.standard_normal((rounds, dimension))
    across -= np.outer(across @ target, target)
    if dimension > 1:
        across /= np.linalg.norm(across, axis=1, keepdims=True)
    X = np.outer(y * along, target) + across * np.sqrt(radius**2 - along**2)[:, None]
    return SeparableStream(X, y, target, margin, radius)
