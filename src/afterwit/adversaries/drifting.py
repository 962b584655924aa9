"""A drifting target: the separator turns by the same small angle in every round.

Each example is a random point on the unit sphere, labelled by the target of its own round and at least ``margin``
away from that target's hyperplane. No fixed separator is good for long: after a quarter turn the first one does no
better than chance.

>>> stream = drifting(1000, 10, turns=0.5, margin=0.05, seed=0)
>>> float(round(stream.targets[0] @ stream.targets[-1], 6))  # half a turn on, the opposite
-1.0
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data import checks
from afterwit.streams.arrays import ArrayStream


class DriftingStream(ArrayStream):
    """A stream with the unit target of every round in ``targets``."""

    def __init__(self, X: Any, y: Any, targets: npt.NDArray[np.float64], margin: float) -> None:
        super().__init__(X, y)
        self.targets = targets
        self.margin = margin


def drifting(rounds: int, dimension: int, *, turns: float, margin: float = 0.0, seed: int) -> DriftingStream:
    """Draw the stream; over its whole length the target makes ``turns`` full turns in a random plane."""
    rounds = checks.whole_number("rounds", rounds, 2)
    dimension = checks.whole_number("dimension", dimension, 2)
    turns = checks.not_negative("turns", turns, "a number of turns, at least 0")
    margin = checks.not_negative("margin", margin, "a number from 0 to 1", 1)
    random = np.random.default_rng(checks.seed("seed", seed))
    plane, _ = np.linalg.qr(random.standard_normal((dimension, 2)))
    angles = np.linspace(0, 2 * math.pi * turns, rounds)
    targets = np.outer(np.cos(angles), plane[:, 0]) + np.outer(np.sin(angles), plane[:, 1])
    y = random.choice(np.array([-1, 1]), size=rounds)
    along = random.uniform(margin, 1, size=rounds)
    across = random.standard_normal((rounds, dimension))
    across -= (across * targets).sum(axis=1, keepdims=True) * targets
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    X = (y * along)[:, None] * targets + across * np.sqrt(1 - along**2)[:, None]
    return DriftingStream(X, y, targets, margin)
