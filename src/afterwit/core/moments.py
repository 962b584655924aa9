"""The certificates of a run after 1, 2, 4, 8, ... rounds, as they would have been had it ended there.

The rounds are played again by a copy of the learner as it was before them, and certified at each moment.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping, Sized
from typing import Any

import numpy as np

from afterwit.core.certificate import Certificate
from afterwit.core.sources import joined
from afterwit.data.rows import Rows, read_many, read_one

#: Moments are looked at as long as the rounds before them have so many stored values.
MOST_VALUES = 1_000_000
#: To learn and certify a round again takes at least as long as this many values would.
ROUND = 6


def needs_rounds(learner: Any) -> bool:
    """Whether a certificate needs the examples: those of committees can be had without."""
    if getattr(learner, "by_group", False):
        learner = learner.parameters["learner"]
    first = next(iter(inspect.signature(learner.certificate).parameters.values()))
    return first.default is inspect.Parameter.empty


def moments(
    learner: Any, stream: Any, most_values: int = MOST_VALUES, end: Certificate | None = None
) -> list[Certificate]:
    """The certificates after 1, 2, 4, 8, ... rounds of a stream that can be read again, and at its end.

    learner      the learner as it was before the first round; it stays so
    most_values  where the rounds have more stored values than this in all, the moments beyond are left out; a round
                 counts as six of them at least
    end          the certificate at the end, if it is known: it is not made again, and never left out
    """
    return certified(_past_of(learner, stream), stream, most_values, end)


def certified(past: Past, stream: Any, most_values: int, end: Certificate | None = None) -> list[Certificate]:
    """The certificates at the moments of a run, while its rounds are learned again."""
    found = []
    for reached in _steps(past, stream, most_values, past.next_moment):
        if end is not None and reached.rounds >= end.rounds:
            break
        found.append(reached.certificate())
    return found if end is None else [*found, end]


def replayed(learner: Any, stream: Any, after: Callable[[int], int], most_values: int = MOST_VALUES) -> Iterator[Past]:
    """The rounds played again: after the first one, at the moment that ``after`` says next, and so on to the end."""
    past = _past_of(learner, stream)
    return _steps(past, stream, most_values, lambda: after(past.rounds))


def _past_of(learner: Any, stream: Any) -> Past:
    learner = copy.deepcopy(learner)
    in_blocks = hasattr(stream, "reader") and getattr(learner, "learns_blocks", False)
    return _Blocks(learner) if in_blocks else _Pairs(learner)


def _steps(past: Past, stream: Any, most_values: int, next_moment: Callable[[], int]) -> Iterator[Past]:
    """The past at each moment, and at the end."""
    seen = 0
    for part in past.parts(stream):
        past.learn(*part)
        if past.values > most_values:
            return
        if past.rounds == past.wanted:
            past.wanted = next_moment()
            seen = past.rounds
            yield past
    if seen < past.rounds:
        yield past


class Past:
    """The rounds that a learner has learned again."""

    def __init__(self, learner: Any) -> None:
        self.learner = learner
        self.rounds = 0
        #: The next moment.
        self.wanted = 1
        #: How many values are stored in their examples; a round of few counts as if it had more.
        self.values = 0
        self.labels: list[Any] = []

    def next_moment(self) -> int:
        """The one after the moment that has been reached."""
        return 2 * self.wanted

    def parts(self, stream: Any) -> Iterator[tuple[Any, Any]]:
        """The examples that have labels, never beyond the next moment."""
        raise NotImplementedError

    def learn(self, X: Any, y: Any) -> None:
        raise NotImplementedError

    def examples(self) -> Any:
        """All examples so far, as the learner's certificate takes them."""
        raise NotImplementedError

    def certificate(self) -> Certificate:
        by_rounds = needs_rounds(self.learner)
        made: Certificate = self.learner.certificate(*(self.examples(), self.labels) if by_rounds else ())
        return made


class _Blocks(Past):
    """Rows in blocks, from a stream that hands them over so."""

    def __init__(self, learner: Any) -> None:
        super().__init__(learner)
        self.blocks: list[Rows] = []

    def parts(self, stream: Any) -> Iterator[tuple[Any, Any]]:
        with stream.reader() as reader:
            while (block := reader.take(self.wanted - self.rounds)) is not None:
                if block[1] is not None and len(block[1]):
                    yield block

    def learn(self, X: Any, y: Any) -> None:
        rows = read_many(X)
        self.learner.learn_many(X, y)
        self.blocks.append(rows)
        self.labels += np.asarray(y).tolist()
        self.rounds += rows.count
        self.values += max(ROUND * rows.count, len(rows.values))

    def examples(self) -> Any:
        return joined(self.blocks)


class _Pairs(Past):
    """Examples one by one, of any kind."""

    def __init__(self, learner: Any) -> None:
        super().__init__(learner)
        self.seen: list[Any] = []

    def parts(self, stream: Any) -> Iterator[tuple[Any, Any]]:
        return ((x, y) for x, y in stream if y is not None)

    def learn(self, X: Any, y: Any) -> None:
        self.learner.learn_one(X, y)
        self.seen.append(X)
        self.labels.append(y)
        self.rounds += 1
        self.values += max(ROUND, len(X) if isinstance(X, Sized) else 1)

    def examples(self) -> Any:
        return as_taken(self.learner, self.seen)


def as_taken(learner: Any, examples: list[Any]) -> Any:
    """Examples that came one by one, in the form that the learner's certificate takes."""
    if getattr(learner, "takes", "") != "numbers" or any(isinstance(x, Mapping) for x in examples):
        return examples
    return joined([read_one(x) for x in examples])
