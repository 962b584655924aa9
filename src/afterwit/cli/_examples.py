"""The examples of a run: detects the labels, and keeps the rows for the certificate and for further passes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from afterwit.core.protocol import BLOCK
from afterwit.data.rows import Rows, stack
from afterwit.errors import StreamError
from afterwit.streams.arrays import ArrayReader
from afterwit.streams.libsvm import LibsvmReader, LibsvmStream, label_as_written

Block = tuple[Rows, Any]

#: How much is held while the second label is looked for.
MOST_ROWS_TO_HOLD = BLOCK
MOST_VALUES_TO_HOLD = 4_000_000


class Held(NamedTuple):
    """A block that was read ahead, with what the reader knew when it had just read it."""

    block: Block
    features: int
    row_lines: Any


class Examples:
    """A libsvm stream for `play`.

    source      a path, or - for standard input
    labels      the two labels; None detects them. If there are many, those that may come; None for any number
    remember    keep at most this many non-zero values for later passes and the certificate; None keeps all
    on_pass     called at the start of each pass
    first_id    the id of the first column; None if columns are the ids
    many        whether there may be more than two labels, or they are numbers to predict
    """

    def __init__(
        self,
        source: str,
        labels: tuple[Any, ...] | None,
        remember: int | None,
        on_pass: Callable[[], None],
        first_id: int | None = None,
        many: bool = False,
    ) -> None:
        self.stream = LibsvmStream(source, first_id)
        self.on_pass = on_pass
        self.on_bytes: Callable[[int], None] = lambda _: None
        self._remember = remember
        self._blocks: list[Block] = []
        self._stored = 0
        self._complete = False
        self._first: LibsvmReader | None = self.stream.reader()
        self._held: deque[Held] = deque()
        self.features = 0
        self.size = self._first.size
        self.rereadable = self.size is not None
        self._pass = 0
        self.many = many
        self.labels = labels
        try:
            if many:
                self._hold_first(self._first)
            elif labels is None:
                self.labels = self._find_labels(self._first)
        except BaseException:
            self._first.close()
            raise

    def _hold_first(self, reader: LibsvmReader) -> None:
        """Any labels may come; but there must be an example."""
        block = reader.take(1)
        if block is None:
            raise StreamError("no examples were found", path=self.stream.name)
        self._held.append(Held(block, reader.features, reader.row_lines))

    def _find_labels(self, reader: LibsvmReader) -> tuple[Any, Any]:
        """The two labels, found by reading ahead; what was read is held for the first pass.

        A first label of −1 or 0 means −1 and 1, or 0 and 1; after any other label a second one must be found. Not more
        is held than a few rows: a file is then read to the second label, and again from its beginning. What can be
        read only once is not searched any further.
        """
        found: list[float] = []
        rounds, values, next_point = 0, 0, 1
        holding, which = True, "all labels"
        while len(found) < 2:
            if holding and (rounds >= MOST_ROWS_TO_HOLD or values >= MOST_VALUES_TO_HOLD):
                if not self.rereadable:
                    which = f"the first {rounds:,} labels"
                    break
                holding = False
                self._held.clear()
            # Blocks that end at powers of two, as `play` will want them.
            block = reader.take(min(BLOCK, next_point - rounds))
            if block is None:
                break
            if holding:
                self._held.append(Held(block, reader.features, reader.row_lines))
            rounds += len(block[1])
            values += len(block[0].values)
            next_point = 2 * next_point if rounds == next_point else next_point
            found += [label for label in dict.fromkeys(block[1].tolist()) if label not in found]
            if found[0] in (-1.0, 0.0):
                return (label_as_written(found[0]), 1)
        if not holding:
            reader.close()
            self._first = self.stream.reader()
        found = sorted(found[:2])
        if not found:
            raise StreamError("no examples were found", path=self.stream.name)
        if len(found) == 2:
            return (label_as_written(found[0]), label_as_written(found[1]))
        if found[0] == 1.0:
            return (-1, 1)
        only = label_as_written(found[0])
        reason = f"{which} are {only}; give the two labels with --labels, such as --labels 0,{only}"
        raise StreamError(reason, path=self.stream.name)

    @property
    def complete(self) -> bool:
        """Whether all rows and labels were read and kept."""
        return self._complete

    def reader(self) -> Any:
        """One pass; the passes after the first are over the kept rows, if all were kept."""
        self.on_pass()
        self._pass += 1
        if self._first is not None:
            reader, self._first = self._first, None
            return _Reader(self, reader)
        if self._complete:
            if len(self._blocks) > 1:
                self._blocks = [_join(self._blocks)]
            return _Again(self, *self._blocks[0])
        return _Reader(self, self.stream.reader())

    def keep(self, block: Block) -> None:
        if self._complete or self._remember == 0:
            return
        self._stored += len(block[0].values)
        if self._remember is not None and self._stored > self._remember:
            self._blocks, self._remember = [], 0
            return
        self._blocks.append(block)

    def remember_all(self) -> None:
        """Keep everything: what cannot be read twice is needed for the later passes."""
        self._remember = None

    def finish(self) -> None:
        self._complete = self._complete or self._remember != 0

    def progress(self, position: int) -> None:
        """Report progress: the bytes of this pass and of all passes before it."""
        self.on_bytes((self._pass - 1) * (self.size or 0) + position)

    def next_held(self) -> Held | None:
        return self._held.popleft() if self._held else None


class _Reader:
    """One pass over the file."""

    def __init__(self, examples: Examples, reader: LibsvmReader) -> None:
        self._examples = examples
        self._reader = reader
        self.features: int | None = None

    def take(self, count: int) -> Block | None:
        held = self._examples.next_held()
        if held is None:
            taken = self._reader.take(count)
            if taken is None:
                self._examples.finish()
                return None
            held = Held(taken, self._reader.features, self._reader.row_lines)
        self.features = self._examples.features = held.features
        self._check_labels(held)
        self._examples.progress(self._reader.position)
        self._examples.keep(held.block)
        return held.block

    def _check_labels(self, held: Held) -> None:
        """Name the line of a label that may not come."""
        labels, allowed = held.block[1], self._examples.labels
        if allowed is None:
            return
        known = np.isin(labels, allowed)
        if not known.all():
            i = int(np.argmin(known))
            if self._examples.many:
                expected = f"one of {', '.join(map(str, allowed))} was expected (--labels names all that may come)"
            else:
                negative, positive = allowed
                expected = (
                    f"{negative} or {positive} was expected (--labels NEGATIVE,POSITIVE gives the two labels; for more "
                    "than two use --learner multiclass-committee, for numbers --learner regression-committee)"
                )
            reason = f"found the label {label_as_written(labels[i])} where {expected}"
            raise StreamError(reason, path=self._examples.stream.name, line=int(held.row_lines[i]))

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()


class _Again(ArrayReader):
    """A further pass over the remembered rows: all features have been seen."""

    def __init__(self, examples: Examples, rows: Rows, labels: Any) -> None:
        super().__init__(rows, labels)
        self.features = examples.features
        self._examples = examples

    def take(self, count: int) -> Block | None:
        block = super().take(count)
        self._examples.progress(int((self._examples.size or 0) * self.share))
        return block


def _join(blocks: list[Block]) -> Block:
    return stack([block[0] for block in blocks]), np.concatenate([block[1] for block in blocks])
