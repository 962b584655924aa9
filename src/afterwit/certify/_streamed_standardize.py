"""A learner behind running means and deviations, on a stream that is read again.

The rows are standardized anew in every reading, and handed to the streamed checker of the learner inside, for which
k passes of learning are one long one: each reading that it makes is k readings of the stream. Three more are to know
the features, and k to standardize every row a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify.standardize import Sums, about, close
from afterwit.certify.streamed import Block, Passes
from afterwit.core.sources import streamed_checker
from afterwit.data.labels import Labels
from afterwit.data.rows import Rows
from afterwit.reductions._moments import Moments

Floats = npt.NDArray[np.float64]


def gather(learner: Any, stream: Any, comparator: Any = None) -> Any:
    """The evidence of the learner inside, on the rows that it was given; in each pass these are others."""
    inside = learner.standardized
    checker = streamed_checker(inside, type(learner).__name__)
    passes = Passes(learner, stream)
    times = max(1, learner.rounds // passes.count)
    standardized = StandardizedStream(passes, times if learner.rounds == times * passes.count else 1, inside.labels)
    return about(learner, checker.gather(inside, standardized, comparator), _differs(passes, standardized))


class StandardizedStream:
    """All passes over a stream, one after the other, with each row standardized by those before it."""

    def __init__(self, passes: Passes, times: int, labels: Any) -> None:
        self.passes, self.times, self.labels = passes, times, Labels(labels)

    def blocks(self) -> Iterator[tuple[Block, Rows]]:
        """The rows as they came, and as they are standardized."""
        moments = Moments()
        for _ in range(self.times):
            for block in self.passes:
                yield block, replace(block.rows, values=moments.learn_and_standardize(block.rows))

    def reader(self) -> StandardizedReader:
        return StandardizedReader(self)


class StandardizedReader:
    """One reading of the standardized rows."""

    def __init__(self, stream: StandardizedStream) -> None:
        self._blocks = stream.blocks()
        self._labels = stream.labels
        self._left: tuple[Rows, Any] | None = None

    def take(self, count: int) -> tuple[Rows, Any] | None:
        if self._left is None:
            found = next(self._blocks, None)
            if found is None:
                return None
            self._left = (found[1], self._labels.decode(found[0].y))
        rows, labels = self._left
        self._left = (rows.part(count, rows.count), labels[count:]) if rows.count > count else None
        return (rows.part(0, count), labels[:count]) if rows.count > count else (rows, labels)

    def __enter__(self) -> StandardizedReader:
        return self

    def __exit__(self, *_: object) -> None:
        # A generator, which may still have the stream open.
        self._blocks.close()  # type: ignore[attr-defined]


def _differs(passes: Passes, standardized: StandardizedStream) -> int | None:
    """The first round whose row is not what the definition gives: sums over all rounds so far, column by column."""
    largest, total, count, seen, first, second = (np.zeros(passes.width) for _ in range(6))
    for block in passes:
        for at, pick, _ in _by_column(passes, block.rows):
            largest[at] = np.maximum(largest[at], np.abs(pick(block.rows.values)).max(axis=0))
    units = np.where(largest > 0, largest, 1.0)
    for block in passes:
        for at, pick, _ in _by_column(passes, block.rows):
            values = pick(block.rows.values)
            total[at] += (values / units[at]).sum(axis=0)
            count[at] += len(values)
    centres = total / np.maximum(count, 1)
    rounds = 0
    for block, rows in standardized.blocks():
        wrong = []
        for at, pick, row in _by_column(passes, block.rows):
            sums = Sums(units[at], centres[at], standardized.times * count[at], seen[at], first[at], second[at])
            expected = sums.standardize(pick(block.rows.values), rounds + row + 1)
            far = ~close(pick(rows.values), *expected)
            wrong += np.broadcast_to(row, far.shape)[far].tolist()
            seen[at], first[at], second[at] = sums.seen, sums.first, sums.second
        if wrong:
            return int(rounds + min(wrong))
        rounds += block.rows.count
    return None


def _by_column(passes: Passes, rows: Rows) -> Iterator[tuple[Any, Callable[[Floats], Floats], Any]]:
    """Which columns, how to pick their values from all of the rows, and the numbers of the rows that have these."""
    if passes.columns.dense:
        yield slice(None), lambda values: values.reshape(rows.count, rows.width), np.arange(rows.count)[:, np.newaxis]
        return
    places = passes.columns.places(rows)
    if rows.starts is None:
        columns, row = np.tile(places, rows.count), np.repeat(np.arange(rows.count), rows.width)
    else:
        columns, row = places[rows.columns], np.repeat(np.arange(rows.count), np.diff(rows.starts))
    order = np.argsort(columns, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(columns[order])) + 1) if len(order) else ():
        yield int(columns[at[0]]), lambda values, at=at: values[at], row[at]  # type: ignore[misc]
