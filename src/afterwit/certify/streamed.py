"""Examples that are read again and again in bounded memory: what every streamed checker starts with.

A first pass counts the rows, finds out which features there are and keeps a sample: evenly spaced rows, the same each
time, as many as solvers are given in memory. Every further pass hands over block after block, over the columns that the
first pass found. What is kept besides a block and the sample is a few numbers for each feature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.certify.replay import MOST_ROWS_TO_FIT, play_again
from afterwit.core.certificate import Assumption
from afterwit.core.sources import labelled
from afterwit.data.labels import Labels, labels_of
from afterwit.data.rows import Rows, stack, wrong_space
from afterwit.data.targets import read_targets
from afterwit.errors import InputError, Words, counted, invalid
from afterwit.hindsight._scaled_rows import SMALLEST_SIZE
from afterwit.hindsight.comparator import largest_entry

Floats = npt.NDArray[np.float64]

#: The sample has at most so many values, or one row.
MOST_VALUES_TO_FIT = 4_000_000


@dataclass(frozen=True)
class Block:
    """Neighbouring examples, as the stream gave them and over the columns of all of them."""

    rows: Rows
    #: Signs, or real targets.
    y: Any
    #: As the learner sees them: after the constant feature, if it has an intercept; in the unit of the checker.
    matrix: Any
    #: The number of the first row.
    first: int


@dataclass(frozen=True)
class PlayedBlock(Block):
    """A block that a fresh learner has played."""

    #: How often it played the stream before.
    passes_before: int
    #: The scores that it gave, and where it updated.
    scores: Floats
    updated: npt.NDArray[np.bool_]


class Sums:
    """Sums over the rounds, with what rounding lost added back (Neumaier)."""

    def __init__(self, shape: Any = ()) -> None:
        self._total, self._lost = np.zeros(shape), np.zeros(shape)

    def add(self, part: Any) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            total = self._total + part
            larger = np.abs(self._total) >= np.abs(part)
            self._lost += np.where(larger, (self._total - total) + part, (part - total) + self._total)
        self._total = total

    @property
    def value(self) -> Any:
        # Of an infinite sum nothing can be said to be lost.
        return np.where(np.isfinite(self._lost), self._total + self._lost, self._total)


class ColumnNorms:
    """The Euclidean length of every column, without overflow or underflow on the way."""

    def __init__(self, width: int) -> None:
        self._largest, self._squares = np.zeros(width), Sums(width)

    def add(self, matrix: Any) -> None:
        if not matrix.shape[0]:
            return
        if hasattr(matrix, "indptr"):
            found = np.zeros(len(self._largest))
            np.maximum.at(found, matrix.indices, np.abs(matrix.data))
        else:
            found = np.maximum(matrix.max(axis=0), -matrix.min(axis=0))
        larger = found > self._largest
        if larger.any():
            shares = np.divide(self._largest, found, out=np.ones_like(found), where=larger)
            squares, self._squares = self._squares.value * shares**2, Sums(len(found))
            self._squares.add(squares)
            self._largest = np.maximum(self._largest, found)
        shares = np.divide(1.0, self._largest, out=np.zeros_like(found), where=self._largest > SMALLEST_SIZE)
        if hasattr(matrix, "indptr"):
            parts = np.bincount(matrix.indices, (matrix.data * shares[matrix.indices]) ** 2, minlength=len(found))
        else:
            parts = ((matrix * shares) ** 2).sum(axis=0)
        self._squares.add(parts)

    @property
    def value(self) -> Floats:
        with np.errstate(over="ignore"):
            return np.asarray(self._largest * np.sqrt(self._squares.value))


class Columns:
    """The features of all rows: names in the order in which they come, or the positions that occur, ascending."""

    def __init__(self) -> None:
        self.names: dict[Any, int] | None = None
        #: Whether all blocks are arrays over the same columns.
        self.dense = True
        self.width = 0
        self._begun = False
        self._used = np.zeros(0, dtype=bool)
        self._place: npt.NDArray[np.intp] | None = None

    def note(self, rows: Rows) -> None:
        """Learn of the features of further rows."""
        if self._begun and (self.names is None) != (rows.names is None):
            raise wrong_space("positions" if self.names is None else "names", "rows of the other kind")
        if rows.names is not None:
            self.names = {} if self.names is None else self.names
            same = len(self.names) == len(rows.names) or not self._begun
            for name in rows.names:
                self.names.setdefault(name, len(self.names))
            self.dense = self.dense and rows.starts is None and same and list(self.names) == list(rows.names)
            self.width = len(self.names)
        elif rows.starts is None:
            self.dense = self.dense and (rows.width == self.width or not self._begun)
            self._use(slice(0, rows.width), rows.width)
        else:
            self.dense = False
            assert rows.columns is not None
            self._use(rows.columns, rows.width)
        self._begun = True

    def _use(self, columns: Any, width: int) -> None:
        if width > len(self._used):
            used = np.zeros(max(width, 2 * len(self._used)), dtype=bool)
            used[: len(self._used)] = self._used
            self._used = used
        self._used[columns] = True
        self.width = max(self.width, width)

    def numbered(self, rows: Rows) -> Rows:
        """Sparse rows by name with the names' numbers for positions; all others as they are."""
        if rows.names is None or rows.starts is None:
            return rows
        return replace(rows, columns=self.places(rows)[rows.columns].astype(np.int32), names=None, width=self.width)

    def close(self) -> None:
        """All features are known."""
        if self.names is None:
            used = np.ones(self.width, dtype=bool) if self.dense else self._used[: self.width]
            self._place = np.where(used, np.cumsum(used) - 1, -1)

    @property
    def used(self) -> npt.NDArray[np.intp]:
        """Which positions, or names, have a column."""
        return np.arange(self.width) if self._place is None else np.flatnonzero(self._place >= 0)

    @property
    def header(self) -> Rows:
        """No rows, over all these features."""
        return Rows(0, self.width, np.zeros(0), names=None if self.names is None else list(self.names))

    def places(self, rows: Rows) -> npt.NDArray[np.intp]:
        """The column of every feature of these rows, as they number them."""
        if rows.names is not None:
            names = self.names or {}
            return np.array([names.get(name, -1) for name in rows.names], dtype=np.intp)
        found = np.arange(self.width) if self._place is None else self._place[: rows.width]
        return np.concatenate([found, np.full(max(0, rows.width - len(found)), -1)])

    def matrix(self, rows: Rows, intercept: bool, unit: float) -> Any:
        """The rows over these columns, in a unit, after a column of 1 if there is an intercept."""
        matrix = rows.matrix()
        if self.dense and not hasattr(matrix, "indptr"):
            if matrix.shape[1] != self.width:
                raise changed()
            matrix = matrix if unit == 1 else matrix / unit
            return np.hstack([np.full((rows.count, 1), 1 / unit), matrix]) if intercept else matrix
        from scipy.sparse import csr_array

        local = csr_array(matrix)
        columns = self.places(rows)[local.indices]
        if (columns < 0).any():
            raise changed()
        values, starts = local.data if unit == 1 else local.data / unit, local.indptr
        if intercept:
            values = np.insert(values, starts[:-1], 1 / unit)
            columns = np.insert(columns + 1, starts[:-1], 0)
            starts = starts + np.arange(len(starts))
        return csr_array((values, columns, starts), shape=(rows.count, len(self.used) + intercept))


def changed() -> InputError:
    """What to raise for a stream that is not the same each time."""
    return InputError(
        "the stream gives other rows each time it is read; a certificate needs one that begins anew with the same rows"
    )


class Passes:
    """The labelled examples of a stream, as often as they are asked for; the first pass is made at once."""

    def __init__(self, learner: Any, stream: Any) -> None:
        self.stream = stream
        self._read_labels = _reads_labels(learner)
        self.intercept = bool(learner.parameters.get("intercept"))
        self.columns = Columns()
        self.count = 0
        #: The largest sizes of a value, with that of the constant feature, and of a label or target.
        self.largest = 1.0 if self.intercept else 0.0
        self.largest_label = 0.0
        #: Every so many rows are in the sample.
        self.step = 1
        #: Values are divided by this.
        self.unit = 1.0
        self._begin()

    def _begin(self) -> None:
        """The first pass."""
        kept: list[tuple[Rows, Any]] = []
        stored = 0
        for rows, y in self._blocks():
            rows.require_finite()
            self.columns.note(rows)
            self.largest = max(self.largest, largest_entry(rows.values))
            self.largest_label = max(self.largest_label, float(np.abs(y).max(initial=0)))
            if chosen := range(-self.count % self.step, rows.count, self.step):
                kept.append(_chosen(self.columns.numbered(rows), y, chosen))
                stored += len(kept[-1][0].values)
            self.count += rows.count
            while self.count > self.step * MOST_ROWS_TO_FIT or (stored > MOST_VALUES_TO_FIT and self.count > self.step):
                self.step *= 2
                kept = _thinned(kept)
                stored = sum(len(part.values) for part, _ in kept)
        self.columns.close()
        self._kept = kept

    def sample(self) -> tuple[Any, Any]:
        """Evenly spaced rows as a matrix, and their labels or targets."""
        y = np.concatenate([part for _, part in self._kept])
        parts = [rows for rows, _ in self._kept]
        if all(rows.starts is not None for rows in parts):
            parts = [stack(parts)]
        matrices = [self.columns.matrix(rows, self.intercept, self.unit) for rows in parts]
        if hasattr(matrices[0], "indptr"):
            from scipy.sparse import csr_array, vstack

            matrix = csr_array(vstack(matrices, format="csr"))
            matrix.sort_indices()
            return matrix, y
        return np.concatenate(matrices), y

    @property
    def width(self) -> int:
        """How many columns the matrices have."""
        return len(self.columns.used) + self.intercept

    def narrowed(self, vector: Floats) -> Floats:
        """A vector over all features, after the constant one, as one over the columns."""
        used = self.columns.used + self.intercept
        return np.asarray(vector[np.concatenate([[0], used]) if self.intercept else used])

    def __iter__(self) -> Iterator[Block]:
        """One more pass."""
        first = 0
        for rows, y in self._blocks():
            yield Block(rows, y, self.columns.matrix(rows, self.intercept, self.unit), first)
            first += rows.count
        if first != self.count:
            raise changed()

    def _blocks(self) -> Iterator[tuple[Rows, Any]]:
        for rows, labels in labelled(self.stream):
            y = self._read_labels(labels, rows.first)
            if len(y) != rows.count:
                found = Words(counted(len(y), "label"))
                raise invalid("y", f"as long as X ({counted(rows.count, 'row')})", found)
            yield rows, y


def _reads_labels(learner: Any) -> Callable[[Any, int], Any]:
    """How the labels of a block become signs, or targets if the learner predicts numbers."""
    if getattr(learner, "role", "") == "regressor":
        return read_targets
    undecided, labels = getattr(learner, "_undecided", False), Labels(learner.labels)
    return lambda y, first: (labels_of(y) if undecided else labels).signs(y, first)


def _chosen(rows: Rows, y: Any, chosen: range) -> tuple[Rows, Any]:
    """Some of the rows, in arrays of their own."""
    at = np.asarray(chosen, dtype=np.intp)
    if rows.starts is None:
        values = rows.values.reshape(rows.count, rows.width)[at].reshape(-1)
        return replace(rows, count=len(at), values=values), y[at]
    assert rows.columns is not None
    begins, ends = rows.starts[at], rows.starts[at + 1]
    lengths = ends - begins
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    entries = np.arange(starts[-1]) + np.repeat(begins - starts[:-1], lengths)
    part = replace(rows, count=len(at), values=rows.values[entries], columns=rows.columns[entries], starts=starts)
    return part, y[at]


def _thinned(kept: list[tuple[Rows, Any]]) -> list[tuple[Rows, Any]]:
    """Every second row of them, as one after the other."""
    begin, thinned = 0, []
    for rows, y in kept:
        if part := range(begin % 2, rows.count, 2):
            thinned.append(_chosen(rows, y, part))
        begin += rows.count
    return thinned


def replayed(learner: Any, passes: Passes, visit: Callable[[PlayedBlock], None]) -> tuple[Assumption, int, bool]:
    """Play the stream again with a fresh learner, as often as it was learned.

    ``visit`` gets each block. Whether these were the rounds of the learner, in how many passes; and whether the last
    had no update.
    """
    done, at_rest = 0, False

    def play(fresh: Any) -> bool:
        nonlocal done, at_rest
        updates = 0
        for block in passes:
            updated = np.empty(block.rows.count, dtype=np.int8)
            scores = fresh._learn(block.rows, block.y, updated)
            visit(PlayedBlock(**vars(block), passes_before=done, scores=scores, updated=updated != 0))
            updates += int(np.count_nonzero(updated))
        done, at_rest = done + 1, not updates
        return bool(updates)

    same, times = play_again(learner, passes.count, play)
    return same, times, at_rest
