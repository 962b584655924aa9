"""A tree of sums: neighbours two by two, then these, and so on, in the order of the shards.

Its shape depends on how many there are and on nothing else. So the sum is the same to the bit, whoever computes which
part of it, and when; and no machine holds more than two parts and their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

Sum = TypeVar("Sum")


def tree(parts: Sequence[Sum], add: Callable[[Sum, Sum], Sum]) -> Sum:
    """The sum of at least one part.

    >>> tree(["a", "b", "c", "d", "e"], lambda one, other: f"({one}+{other})")
    '(((a+b)+(c+d))+e)'
    """
    level = list(parts)
    while len(level) > 1:
        pairs = [add(one, other) for one, other in zip(level[::2], level[1::2], strict=False)]
        level = pairs + level[2 * len(pairs) :]
    return level[0]
