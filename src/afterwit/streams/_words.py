"""The different words among many pieces of text, without a Python object for each of them.

Text comes as one array of bytes and, for each row, where it starts and how long it is. Eight bytes at a time are mixed
into a key of 64 bits, and rows with the same key are compared byte by byte: two texts are never taken for one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

#: Longer texts are told apart one by one.
LONGEST_TOGETHER = 128
#: An odd number with bits everywhere (2^64 divided by the golden ratio).
MIXER = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)


class Encoded(NamedTuple):
    """Row i is ``words[codes[i]]``, -1 where there is no text; ``rows[k]`` is the first row with word k."""

    codes: npt.NDArray[np.int32]
    words: list[bytes]
    rows: npt.NDArray[np.int64]


def encode(data: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> Encoded:
    """The different words in the order in which they first occur. A length of 0 is no text."""
    codes = np.full(len(starts), -1, dtype=np.int32)
    rows = np.flatnonzero(lengths > 0)
    if not len(rows):
        return Encoded(codes, [], rows)
    starts, lengths = starts[rows], lengths[rows]
    lowest = int(starts.min())
    content = data[lowest : int((starts + lengths).max())]
    starts = starts - lowest
    text = content.tobytes()
    found = _by_key(content, starts, lengths) if int(lengths.max()) <= LONGEST_TOGETHER else None
    inverse, first = _one_by_one(text, starts, lengths) if found is None else found
    codes[rows] = inverse
    ends = (starts + lengths)[first].tolist()
    words = [text[start:end] for start, end in zip(starts[first].tolist(), ends, strict=True)]
    return Encoded(codes, words, rows[first])


def in_order_of_first(
    values: npt.NDArray[np.generic],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """A number for each value, equal for equal ones, counted up where a value is new; and where each is first."""
    _, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank[inverse], first[order]


def _by_key(
    content: npt.NDArray[np.uint8], starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]] | None:
    """As `in_order_of_first`; None if two different texts have the same key."""
    padded = np.concatenate([content, np.zeros(8, dtype=np.uint8)])
    eights = np.ndarray((len(content) + 1,), dtype="<u8", buffer=padded, strides=(1,))
    keys = lengths.astype(np.uint64) * MIXER
    chunks = []
    for at in range(0, int(lengths.max()), 8):
        left = lengths - at
        chunk = eights[starts + np.minimum(at, lengths)]
        # What lies behind the end of a text is not part of it.
        cut = np.uint64(8) * np.clip(left, 1, 8).astype(np.uint64)
        chunk &= ~np.uint64(0) >> (np.uint64(64) - cut)
        chunk[left <= 0] = 0
        keys = (keys ^ chunk) * MIXER
        keys ^= keys >> HALF
        chunks.append(chunk)
    inverse, first = in_order_of_first(keys)
    same = first[inverse]
    chunks.append(lengths.astype(np.uint64))
    return (inverse, first) if all(bool((chunk == chunk[same]).all()) for chunk in chunks) else None


def _one_by_one(
    text: bytes, starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    numbers: dict[bytes, int] = {}
    inverse = np.empty(len(starts), dtype=np.int32)
    first: list[int] = []
    for i, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        number = numbers.setdefault(text[start : start + length], len(first))
        if number == len(first):
            first.append(i)
        inverse[i] = number
    return inverse, np.array(first, dtype=np.int64)
