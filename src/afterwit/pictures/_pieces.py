"""Long runs in few pieces: means, leaders and rounds to look at."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.envelope import Envelope, Floats

Ints = npt.NDArray[np.int64]

#: How many pieces there are at most of one line among several, and of one area among several.
LINE = 200
AREA = 128
#: On a logarithmic axis.
LOG = 100
#: "Lately" begins after so many rounds: an eighth of fewer says little.
ENOUGH = 256


def curve(numbers: Floats, most: int = LINE) -> Envelope:
    """The curve of a number after each round, with the extremes of every piece."""
    made = Envelope(most)
    made.extend(numbers)
    return made


def starts(rounds: int, most: int = AREA) -> Ints:
    """Where pieces of equal length begin, as few rounds in each as there may be; that is a power of two.

    >>> starts(5, most=3).tolist()
    [0, 2, 4]
    """
    width = 1
    while -(-rounds // width) > most:
        width *= 2
    return np.arange(0, rounds, width, dtype=np.int64)


def means(rows: Floats, first: Ints) -> Floats:
    """The mean of the rows of each piece; what is not a number counts as 0."""
    if not len(rows):
        return np.empty((0, *rows.shape[1:]))
    counts = np.diff(first, append=len(rows))
    sums = np.add.reduceat(np.nan_to_num(rows, nan=0.0), first, axis=0)
    return np.asarray(sums / counts.reshape(-1, *(1,) * (rows.ndim - 1)))


def most_frequent(places: Ints, first: Ints, count: int) -> Ints:
    """Of numbers from 0 to count - 1, the one that is most frequent in each piece; of equals, the least."""
    piece = np.repeat(np.arange(len(first)), np.diff(first, append=len(places)))
    votes = np.bincount(piece * count + places, minlength=len(first) * count).reshape(len(first), count)
    return np.asarray(votes.argmax(axis=1), dtype=np.int64)


def powers(rounds: int) -> Ints:
    """1, 2, 4, 8, ... and the number of rounds: the rows of tables.

    >>> powers(11).tolist(), powers(0).tolist()
    ([1, 2, 4, 8, 11], [])
    """
    found = [1 << k for k in range(rounds.bit_length())]
    return np.array([*found, *([rounds] if found and found[-1] < rounds else [])], dtype=np.int64)


def spread(rounds: int, most: int = LOG) -> Ints:
    """Rounds at equal distances on a logarithmic axis, up to the last."""
    if not rounds:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.rint(np.geomspace(1, rounds, most)).astype(np.int64))


def sparse(rounds: Ints, most: int = LOG) -> Ints:
    """The places of those that can be told apart on a logarithmic axis with room for so many, and of the last.

    >>> sparse(np.array([1, 2, 4, 8, 9, 10]), most=4).tolist()
    [0, 2, 3, 5]
    """
    if len(rounds) <= most:
        return np.arange(len(rounds))
    apart = np.diff(np.log(rounds) * (most - 1) // np.log(rounds[-1]), prepend=-1) > 0
    apart[-1] = True
    return np.flatnonzero(apart)


def lately(losses: Floats, at: Ints, part: int = 8) -> Floats:
    """The mean of the numbers in the last eighth of the rounds until each moment."""
    totals = np.append(0.0, np.cumsum(losses))
    before = at - np.maximum(1, at // part)
    return np.asarray((totals[at] - totals[before]) / (at - before))


def area(ax: Any, x: Floats, top: Floats, colour: str, **how: Any) -> None:
    """The area between 0 and a line."""
    ax.fill([*x, x[-1], x[0]], [*top, 0.0, 0.0], color=colour, linewidth=0, **how)
