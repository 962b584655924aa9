"""Examples for the procedures that turn an online learner into a predictor: from memory or from a stream, in blocks.

A block is played at native speed where the learner takes blocks, and round by round where it does not. Besides the
mistakes it knows in which rounds the learner changed: between two changes there is one hypothesis.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.learner import BinaryLearner
from afterwit.core.protocol import BLOCK, Learner, labels_beforehand
from afterwit.data.rows import Rows, read_many, read_one, stack
from afterwit.errors import Words, counted, invalid
from afterwit.streams.arrays import ArrayReader, ArrayStream

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Played:
    """What happened in the rounds of a block: which were mistakes, and after which the learner was another."""

    mistaken: Flags
    changed: Flags
    #: The scores and the signs of the labels, where the learner has two labels and scores.
    scores: npt.NDArray[np.float64] | None = None
    signs: npt.NDArray[np.int8] | None = None


class Block:
    """Some examples in order, as a learner takes them: checked rows, or a list of anything."""

    def __init__(self, X: Any, y: Any) -> None:
        self.X = X
        self.y = y
        self.count = len(y)

    def part(self, begin: int, end: int) -> Block:
        X = self.X.part(begin, end) if isinstance(self.X, Rows) else self.X[begin:end]
        return Block(X, self.y[begin:end])

    def row(self, i: int) -> Any:
        return self.X.row(i) if isinstance(self.X, Rows) else self.X[i]

    def label(self, i: int) -> Any:
        label = self.y[i]
        return label.item() if isinstance(label, np.generic) else label

    def mistakes_of(self, learner: Any) -> Flags:
        """Which of the examples the learner, as it is, gets wrong."""
        if not _takes_blocks(learner):
            wrong = [learner.predict_one(self.row(i)) != self.label(i) for i in range(self.count)]
            return np.array(wrong, dtype=bool)
        return _different(learner.predict_many(self.X), self.y)

    def learn_one(self, learner: Any, i: int) -> None:
        learner.learn_one(self.row(i), self.label(i))

    def learn(self, learner: Any) -> Played:
        """Let the learner play the block."""
        if isinstance(learner, BinaryLearner):
            rows, signs = learner._checked(self.X, self.y)
            updated = np.zeros(self.count, dtype=np.int8)
            scores = learner._learn(rows, signs, updated)
            changed = updated.astype(bool) if rests(learner) else np.ones(self.count, dtype=bool)
            return Played((scores >= 0) != (signs > 0), changed, scores, signs)
        mistaken, changed = np.zeros(self.count, dtype=bool), np.ones(self.count, dtype=bool)
        for i in range(self.count):
            x, before = self.row(i), getattr(learner, "updates", None)
            mistaken[i] = learner.predict_one(x) != self.label(i)
            self.learn_one(learner, i)
            changed[i] = before is None or not rests(learner) or learner.updates != before
        return Played(mistaken, changed)


class Source:
    """Hands over examples in blocks: X and y in memory, or a stream."""

    def __init__(self, learner: Any, X: Any, y: Any) -> None:
        if y is None and not (hasattr(X, "reader") or (isinstance(X, Iterable) and not isinstance(X, (str, bytes)))):
            raise invalid("X", "a stream, or examples with their labels y", X)
        self._singly = y is None and not hasattr(X, "reader")
        self._rest: Iterator[Any] = iter(X) if self._singly else iter(())
        self._reader: Any = None
        if self._singly:
            return
        if y is not None and _takes_objects(learner, X):
            self._reader = _ListReader(X, y)
        else:
            self._reader = (X if y is None else ArrayStream(X, y)).reader()

    def take(self, count: int) -> Block | None:
        """The next examples, at least one and at most ``count``; None at the end."""
        if not self._singly:
            block = self._reader.take(count)
            return None if block is None else Block(*block)
        pairs = list(islice(self._rest, count))
        return _pairs(pairs) if pairs else None

    def blocks(self) -> Iterator[Block]:
        while (block := self.take(BLOCK)) is not None:
            yield block

    def everything(self) -> Block:
        """All that is left, as one block in memory."""
        if isinstance(self._reader, (ArrayReader, _ListReader)):
            return self.take(sys.maxsize) or Block([], [])
        blocks = list(self.blocks())
        if len(blocks) == 1:
            return blocks[0]
        labels = [block.label(i) for block in blocks for i in range(block.count)]
        if blocks and all(isinstance(block.X, Rows) and block.X.ragged for block in blocks):
            return Block(stack([block.X for block in blocks]), labels)
        return Block([block.row(i) for block in blocks for i in range(block.count)], labels)

    def __enter__(self) -> Source:
        if self._reader is not None:
            self._reader.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        if self._reader is not None:
            self._reader.__exit__(*problem)


class _ListReader:
    """Examples that are no vectors: strings, sets, anything a kernel takes."""

    def __init__(self, X: Any, y: Any) -> None:
        self._X, self._y, self._at = list(X), list(y), 0
        if len(self._X) != len(self._y):
            raise invalid(
                "y", f"as long as X ({counted(len(self._X), 'example')})", Words(counted(len(self._y), "label"))
            )

    def take(self, count: int) -> tuple[list[Any], list[Any]] | None:
        begin, self._at = self._at, min(self._at + count, len(self._X))
        return (self._X[begin : self._at], self._y[begin : self._at]) if begin < self._at else None

    def __enter__(self) -> _ListReader:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def _pairs(pairs: list[Any]) -> Block:
    try:
        examples = [(x, y) for x, y in pairs]
    except (TypeError, ValueError):
        raise invalid("X", "a stream of pairs (x, y), or examples with their labels y", pairs[0]) from None
    return Block([_one(x) for x, _ in examples], [y for _, y in examples])


def _one(x: Any) -> Any:
    """A sparse row in the form of which there can be a list."""
    return read_one(x).row(0) if hasattr(x, "tocsr") else x


def fresh_copy(learner: Any, X: Any = None, y: Any = None) -> Any:
    """An independent learner in the same state; the caller's own is never changed.

    One that was made without labels takes them from y, or from a stream X whose labels are in memory or in a file, and
    else -1 and 1: what is chosen in the end may be the hypothesis before the first round.
    """
    if not isinstance(learner, Learner) or isinstance(learner, type):
        raise invalid("learner", "an object with predict_one and learn_one", learner)
    copied = independent_copy(learner)
    if isinstance(copied, BinaryLearner) and copied._undecided:
        labels = labels_beforehand(X, y)
        copied._decide(() if labels is None else labels)
    return copied


def independent_copy(learner: Any) -> Any:
    """A copy by the learner's own means, or, where it has none, of everything in it."""
    return learner.copy() if hasattr(learner, "copy") else copy.deepcopy(learner)


def rows_of(X: Any) -> Iterator[Any]:
    """The examples one by one, as a learner that takes no blocks was given them."""
    if isinstance(X, (list, tuple)) and not all(isinstance(x, (dict, list, tuple, np.ndarray)) for x in X):
        return map(_one, X)
    rows = read_many(X)
    return (rows.row(i) for i in range(rows.count))


def rests(learner: Any) -> bool:
    """Whether a round without an update leaves every prediction of the learner as it was; unknown of others."""
    base = getattr(learner, "_base", learner)  # one against the rest: as its binary learners do
    return isinstance(base, BinaryLearner) and bool(getattr(base, "_rests", True))


def _takes_blocks(learner: Any) -> bool:
    return bool(getattr(learner, "learns_blocks", False)) and hasattr(learner, "predict_many")


def _takes_objects(learner: Any, X: Any) -> bool:
    """Whether the examples may be something else than vectors: a kernel takes strings, sets or anything."""
    kernel = getattr(getattr(learner, "_base", learner), "kernel", None)
    return kernel is not None and (kernel.takes != "vectors" or isinstance(X, (list, tuple)))


def _different(predicted: Any, labels: Any) -> Flags:
    if not isinstance(labels, np.ndarray):
        array = np.empty(len(labels), dtype=object)
        array[:] = labels
        labels = array
    return np.asarray(predicted != labels, dtype=bool)
