"""Sets of hypotheses as bits, 64 to a word: hypothesis i is bit i % 64 of word i // 64."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

#: Words of 64 bits, the same bytes on every machine.
WORD = np.dtype("<u8")
Words64 = npt.NDArray[np.uint64]

# How many bits are set in every number of 16 bits: for a numpy that cannot count them.
_COUNTS = np.array([bin(number).count("1") for number in range(1 << 8)], dtype=np.uint8)
_COUNTS = (_COUNTS[:, None] + _COUNTS[None, :]).ravel()


def words_for(count: int) -> int:
    """How many words hold ``count`` bits."""
    return -(-count // 64)


def pack(rows: Any) -> Words64:
    """The rows of a boolean matrix (or one row), each as words."""
    packed = np.packbits(rows, axis=-1, bitorder="little")
    short = -packed.shape[-1] % 8
    if short:
        packed = np.concatenate([packed, np.zeros((*packed.shape[:-1], short), dtype=np.uint8)], axis=-1)
    return np.ascontiguousarray(packed).view(WORD)


def unpack(words: Words64, count: int) -> npt.NDArray[np.bool_]:
    """The first ``count`` bits of each row of words, as booleans."""
    return np.unpackbits(words.view(np.uint8), axis=-1, count=count, bitorder="little").view(np.bool_)


def full(count: int) -> Words64:
    """A set of all ``count`` bits."""
    return pack(np.ones(count, dtype=np.bool_))


def count_by_table(words: Words64) -> int:
    """How many bits are set, without numpy's own counting."""
    return int(_COUNTS[words.view(np.uint16)].sum(dtype=np.int64))


def _count(words: Words64) -> int:
    return int(np.bitwise_count(words).sum(dtype=np.int64))


#: How many bits are set.
count_bits = _count if hasattr(np, "bitwise_count") else count_by_table


def as_integer(words: Words64) -> int:
    """The same bits as one Python integer."""
    return int.from_bytes(words.tobytes(), "little")
