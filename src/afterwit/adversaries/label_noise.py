"""Label noise: every label of a stream flipped with a chosen probability.

>>> from afterwit.adversaries import separable
>>> stream = label_noise(separable(1000, 5, margin=0.1, seed=0), rate=0.2, seed=1)
>>> int(stream.flipped.sum())
188
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data import checks
from afterwit.errors import Words, invalid
from afterwit.streams.arrays import ArrayStream


class NoisyStream(ArrayStream):
    """A stream that knows which of its labels were ``flipped``."""

    def __init__(self, X: Any, y: Any, flipped: npt.NDArray[np.bool_]) -> None:
        super().__init__(X, y)
        self.flipped = flipped


def label_noise(stream: ArrayStream, rate: float, *, seed: int) -> NoisyStream:
    """Flip each of the stream's two labels with probability ``rate``, independently."""
    if not isinstance(stream, ArrayStream):
        raise invalid("stream", "an ArrayStream", stream)
    rate = checks.not_negative("rate", rate, "a probability from 0 to 1", 1)
    random = np.random.default_rng(checks.seed("seed", seed))
    y = stream.y.tolist()
    labels = list(dict.fromkeys(y))
    if len(labels) == 1 and labels[0] in (-1, 1):
        labels.append(-labels[0])
    if len(labels) != 2:
        raise invalid("stream", "a stream of two labels", Words(f"labels {', '.join(map(repr, labels[:5]))}"))
    flipped = random.random(len(stream)) < rate
    other = {labels[0]: labels[1], labels[1]: labels[0]}
    noisy = [other[label] if flip else label for label, flip in zip(y, flipped.tolist(), strict=True)]
    return NoisyStream(stream.X, noisy, flipped)
