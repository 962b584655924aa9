"""The experts' errors, a row for each round, made block by block: as a whole they would be as large as the advice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: How many numbers, rounds times experts, are worked on at once.
BLOCK = 65_536


def blocks(count: int, width: int) -> Iterator[slice]:
    """The rows in blocks; none has fewer than a few times as many rows as columns, but for the last."""
    length = max(BLOCK // width, 4 * width)
    for begin in range(0, count, length):
        yield slice(begin, begin + length)


class Errors:
    """Advice less outcomes and, if there are shares, each round multiplied by its own."""

    def __init__(self, values: Floats, outcomes: Floats, shares: Floats | None = None) -> None:
        self.values, self.outcomes, self.shares = values, outcomes, shares
        self.count, self.width = values.shape

    def at(self, rows: Any) -> Floats:
        """Some of the rows."""
        part = np.asarray(self.values[rows] - self.outcomes[rows, np.newaxis])
        if self.shares is not None:
            part *= self.shares[rows, np.newaxis]
        return part

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        for block in blocks(self.count, self.width):
            yield block, self.at(block)

    def times(self, weights: Floats) -> Floats:
        """The error of a mixture in each round."""
        result = np.empty(self.count)
        for block, part in self.blocks():
            result[block] = part @ weights
        return result

    def pull(self, amounts: Floats) -> Floats:
        """The sum of the rows, each as often as its amount says."""
        result = np.zeros(self.width)
        for block, part in self.blocks():
            result += amounts[block] @ part
        return result

    def products(self, amounts: Floats) -> Floats:
        """The matrix of the sums of products of two columns, each row as often as its amount says."""
        result = np.zeros((self.width, self.width))
        for block, part in self.blocks():
            result += part.T @ (part * amounts[block, np.newaxis])
        return result
