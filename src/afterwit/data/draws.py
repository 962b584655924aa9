"""Random numbers that are a function of a seed and a round: drawing changes nothing, and rounds may come in any order.

Philox is a generator by counter (Salmon, Moraes, Dror & Shaw 2011): the number at a position needs none before it. The
seed is its key. A round has a block of positions of its own, so that many rounds at once are one stretch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

#: What the numbers are for: no two purposes share a stretch.
ROUNDS, SAMPLES = 0, 1

#: Philox makes this many numbers at each count.
AT_ONCE = 4


class Draws:
    """The random numbers of one seed. Not for several threads at once."""

    def __init__(self, seed: int) -> None:
        self._philox = np.random.Philox(key=seed)
        self._generator = np.random.Generator(self._philox)
        self._state: Any = self._philox.state

    def uniforms(self, begin: int, rounds: int, width: int, purpose: int = ROUNDS) -> npt.NDArray[np.float64]:
        """Numbers from [0, 1): a row of at least ``width`` for each of the rounds from ``begin`` on."""
        counts = -(-width // AT_ONCE)
        high, low = divmod(begin * counts, 2**64)
        self._state["state"]["counter"][:] = (low, high, 0, purpose)
        self._philox.state = self._state
        return self._generator.random((rounds, counts * AT_ONCE))
