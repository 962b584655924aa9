"""Features by position in bounded memory: a name's position is a hash of it, the same on every machine for ever.

The hash of a name is the first 8 bytes, the lowest first, of BLAKE2b with a digest of 8 bytes over its UTF-8 text; the
position is that number modulo 2^bits.

>>> hashed = HashedNames(4)
>>> hashed(["price", "colour=red"]).tolist()
[2, 11]
>>> hashed.describe()
'2 of 16 positions are used; none by more than one feature'
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from afterwit.errors import counted

#: A position may have so many bits.
MOST_BITS = 28


def hash_of(name: str) -> int:
    """The hash of a name, a number of 64 bits."""
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")


class HashedNames:
    """The positions of names, and which of these have met: the memory is 5 bytes a position."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.width = 1 << bits
        # Names differ if the other half of their hashes does; 0 stands for no name.
        self._names = np.zeros(self.width, dtype=np.uint32)
        self._shared = np.zeros(self.width, dtype=bool)

    def __call__(self, names: Sequence[str]) -> npt.NDArray[np.int32]:
        """The position of every name."""
        hashes = np.array([hash_of(name) for name in names], dtype=np.uint64)
        positions = (hashes % np.uint64(self.width)).astype(np.int32)
        others = np.maximum(hashes >> np.uint64(32), 1).astype(np.uint32)
        for position, other in zip(positions.tolist(), others.tolist(), strict=True):
            before = int(self._names[position])
            if before == 0:
                self._names[position] = other
            elif before != other:
                self._shared[position] = True
        return positions

    @property
    def shared(self) -> int:
        """How many positions are used by more than one feature that occurred."""
        return int(np.count_nonzero(self._shared))

    @property
    def used(self) -> int:
        """How many positions are used."""
        return int(np.count_nonzero(self._names))

    def describe(self) -> str:
        """The collisions that happened, in one sentence."""
        share = f"{self.shared:,} of them" if self.shared else "none"
        return f"{self.used:,} of {counted(self.width, 'position')} are used; {share} by more than one feature"
