"""The curve of a number over the rounds, in at most so many pieces, of which each keeps its extremes.

>>> curve = Envelope(most=4)
>>> curve.extend([5.0, 1.0, 2.0, 2.0, 9.0, 3.0])
>>> curve.ends.tolist(), curve.low.tolist(), curve.high.tolist(), curve.last.tolist()
([2, 4, 6], [1.0, 2.0, 3.0], [5.0, 2.0, 9.0], [1.0, 2.0, 3.0])

All pieces have the same number of rounds, a power of two; only the last one may have fewer. When there would be too
many, neighbours are joined. So a billion rounds need no more room than a thousand, no extreme is lost, and the curve
does not depend on the blocks in which the numbers came.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data import checks

#: How many pieces a picture has room for.
MOST = 800

Floats = npt.NDArray[np.float64]


class Envelope:
    """The least, the largest and the last number in each piece of a curve.

    most  how many pieces there are at most, an even number
    """

    def __init__(self, most: int = MOST) -> None:
        most = checks.whole_number("most", most, 2)
        self._most = most + most % 2
        #: Least, largest and last number of each whole piece, in rows.
        self._pieces = np.empty((3, self._most))
        self._whole = 0
        self._width = 1
        # The piece that is not whole.
        self._rest = 0
        self._least = np.inf
        self._largest = -np.inf
        self._last = np.nan

    @property
    def rounds(self) -> int:
        """How many numbers the curve has."""
        return self._whole * self._width + self._rest

    @property
    def width(self) -> int:
        """How many rounds a piece has."""
        return self._width

    def __len__(self) -> int:
        """How many pieces there are."""
        return self._whole + (self._rest > 0)

    @property
    def ends(self) -> npt.NDArray[np.int64]:
        """The round, counted from 1, with which each piece ends."""
        ends = np.arange(1, len(self) + 1, dtype=np.int64) * self._width
        return np.minimum(ends, self.rounds)

    @property
    def low(self) -> Floats:
        return self._row(0, self._least)

    @property
    def high(self) -> Floats:
        return self._row(1, self._largest)

    @property
    def last(self) -> Floats:
        """The number after the last round of each piece."""
        return self._row(2, self._last)

    def _row(self, row: int, rest: float) -> Floats:
        whole = self._pieces[row, : self._whole]
        return np.append(whole, rest) if self._rest else whole.copy()

    def append(self, number: float) -> None:
        """The number after one further round."""
        if self._whole == self._most:
            self._join()
        self._rest += 1
        # A comparison with NaN is false: a round without a number is no extreme.
        if number < self._least:
            self._least = number
        if number > self._largest:
            self._largest = number
        self._last = number
        if self._rest == self._width:
            self._close()

    def extend(self, numbers: Any) -> None:
        """The numbers after further rounds."""
        numbers = np.asarray(numbers, dtype=np.float64)
        start = 0
        while start < len(numbers):
            if self._whole == self._most:
                self._join()
            if self._rest or len(numbers) - start < self._width:
                part = numbers[start : start + self._width - self._rest]
                self._rest += len(part)
                self._least = np.fmin(self._least, np.fmin.reduce(part))
                self._largest = np.fmax(self._largest, np.fmax.reduce(part))
                self._last = part[-1]
                if self._rest == self._width:
                    self._close()
            else:
                count = min(self._most - self._whole, (len(numbers) - start) // self._width)
                part = numbers[start : start + count * self._width]
                pieces = part.reshape(count, self._width)
                there = slice(self._whole, self._whole + count)
                self._pieces[0, there] = _or(np.fmin.reduce(pieces, axis=1), np.inf)
                self._pieces[1, there] = _or(np.fmax.reduce(pieces, axis=1), -np.inf)
                self._pieces[2, there] = pieces[:, -1]
                self._whole += count
            start += len(part)

    def _close(self) -> None:
        """The piece is whole."""
        self._pieces[:, self._whole] = self._least, self._largest, self._last
        self._whole += 1
        self._rest, self._least, self._largest, self._last = 0, np.inf, -np.inf, np.nan

    def _join(self) -> None:
        """Make one piece of every two."""
        half = self._most // 2
        pairs = self._pieces.reshape(3, half, 2)
        self._pieces[:, :half] = np.stack(
            [np.fmin(*pairs[0].T), np.fmax(*pairs[1].T), pairs[2, :, 1]],
        )
        self._whole, self._width = half, 2 * self._width

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Envelope):
            return NotImplemented
        mine, yours = (self.ends, self.low, self.high, self.last), (other.ends, other.low, other.high, other.last)
        return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(mine, yours, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<the curve of {self.rounds:,} rounds in {len(self):,} pieces>"


def _or(numbers: Floats, otherwise: float) -> Floats:
    """A piece without any number has no extremes."""
    return np.where(np.isnan(numbers), otherwise, numbers)
