"""The different hypotheses of a class, and its different points: dimensions depend on nothing else."""

from __future__ import annotations

import numpy as np

from afterwit.concepts._bits import Words64, as_integer, pack, unpack
from afterwit.concepts.finite_class import FiniteClass

#: A point's index, and the set of hypotheses that say 1 of it, as the bits of an integer.
Column = tuple[int, int]
#: How many words of hypotheses are turned from columns to rows at once.
BLOCK = 1024


class Distinct:
    """One hypothesis for all equal ones, as the bits of an integer; one point for all that split the class alike.

    Points split it alike if all hypotheses say the same of them, or all the opposite. A point on which all agree is
    left out.
    """

    def __init__(self, made: FiniteClass) -> None:
        self._all = len(made)
        self._first = _first_of_equals(made)
        self.count = len(self._first)
        self.everything = (1 << self.count) - 1
        self.columns: list[Column] = []
        seen = {0}
        for index in range(len(made.points)):
            ones = self.reduced(made.votes(index))
            same = min(ones, self.everything ^ ones)
            if same not in seen:
                seen.add(same)
                self.columns.append((index, ones))

    def reduced(self, words: Words64) -> int:
        """A set of hypotheses of the class, without those that equal an earlier one."""
        return as_integer(pack(unpack(words, self._all)[self._first]))


def _first_of_equals(made: FiniteClass) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """The positions of the different hypotheses, each where it comes first."""
    bits = np.stack([made.votes(index) for index in range(len(made.points))])
    rows = []
    for begin in range(0, bits.shape[1], BLOCK):
        block = np.ascontiguousarray(bits[:, begin : begin + BLOCK])
        count = min(len(made) - 64 * begin, 64 * block.shape[1])
        rows.append(np.packbits(unpack(block, count).T, axis=1))
    keys = np.ascontiguousarray(np.concatenate(rows))
    _, first = np.unique(keys.view(f"V{keys.shape[1]}").ravel(), return_index=True)
    return np.sort(first)
