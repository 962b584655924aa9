"""The examples of a run: keeps the rows for the certificate and for further passes, and stops where it was asked to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from afterwit.data.rows import Rows, stack
from afterwit.errors import InputError, counted
from afterwit.streams.arrays import ArrayReader
from afterwit.streams.batch import Skipped
from afterwit.streams.stream import Stream, StreamReader

Block = tuple[Rows, Any]
#: How many rows are read at once where they are left out.
ROWS_AT_ONCE = 1 << 16


class Examples:
    """A stream for `play`.

    stream      what `read` returned
    remember    keep at most this many non-zero values for later passes and the certificate; None keeps all
    on_pass     called at the start of each pass
    limit       how many rows a pass has at most, after those that are left out
    learned     how many examples with a label were learned before: they are left out at the beginning
    every       after so many rows ``on_rows`` is called, when all of them have been learned
    """

    def __init__(
        self,
        stream: Stream,
        remember: int | None,
        on_pass: Callable[[], None],
        limit: int | None = None,
        every: int | None = None,
        on_rows: Callable[[], None] | None = None,
        learned: int = 0,
    ) -> None:
        self.stream = stream
        self.learned = learned
        #: How many rows were left out, with those between them that have no label.
        self.left_out = 0
        self.on_pass = on_pass
        self.on_bytes: Callable[[int], None] = lambda _: None
        self.limit = limit
        self.every = every
        self.on_rows = on_rows
        self.task = stream.task
        self.labels = stream.labels
        self.size = stream.size
        self.rereadable = stream.rereadable
        self.skipped = Skipped()
        #: How many rows have been handed over, in all passes.
        self.rows = 0
        self.features: int | None = None
        # What is kept is all of the source, or nothing.
        self._remember = 0 if learned else remember
        self._blocks: list[Block] = []
        self._stored = 0
        self._complete = False
        self._pass = 0

    @property
    def complete(self) -> bool:
        """Whether all rows and labels were read and kept."""
        return self._complete

    def reader(self) -> Any:
        """One pass; the passes after the first are over the kept rows, if all were kept."""
        self.on_pass()
        self._pass += 1
        if self._complete:
            if len(self._blocks) > 1:
                self._blocks = _join(self._blocks)
            return _Again(self, self._blocks)
        return _Reader(self, self._after_the_learned(self.stream.reader()))

    def _after_the_learned(self, reader: StreamReader) -> StreamReader:
        """The reader, once it has passed by the examples that were learned before."""
        missing, self.left_out = self.learned, 0
        while missing:
            block = reader.take(min(missing, ROWS_AT_ONCE))
            if block is None:
                reader.close()
                raise InputError(
                    f"{self.stream.name}: it has {counted(self.learned - missing, 'row')} with a label, and the model "
                    f"has learned {self.learned:,}; leave out --skip-learned if these rows come after those"
                )
            self.left_out += block[0].count
            missing -= 0 if block[1] is None else block[0].count
        return reader

    def from_the_beginning(self) -> None:
        """Hand over all that the learner has learned from now on, with what was left out, and tell nobody."""
        self.on_pass, self.on_bytes = _nothing, _nothing
        # Without it a pass would end where the model was saved for the first time.
        self.every = self.on_rows = None
        if self.limit is not None:
            self.limit += self.left_out
        self.learned = 0

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


class _Counted:
    """The rows of a pass: how many there may still be, and when the next moment to save has come."""

    def __init__(self, examples: Examples) -> None:
        self._examples = examples
        self._rows = 0
        self._saved = 0

    def room(self, count: int) -> int:
        """How many rows may be taken now; all that were taken before have been learned."""
        examples = self._examples
        if examples.every is not None and examples.on_rows is not None and self._rows - self._saved >= examples.every:
            self._saved = self._rows
            examples.on_rows()
        if examples.every is not None:
            count = min(count, examples.every - (self._rows - self._saved))
        return count if examples.limit is None else min(count, examples.limit - self._rows)

    def count(self, block: Block) -> None:
        self._rows += block[0].count
        self._examples.rows += block[0].count


class _Reader:
    """One pass over the source."""

    def __init__(self, examples: Examples, reader: StreamReader) -> None:
        self._examples = examples
        self._reader = reader
        self._counted = _Counted(examples)
        self.features: int | None = None

    def take(self, count: int) -> Block | None:
        room = self._counted.room(count)
        block = self._reader.take(room) if room > 0 else None
        self._examples.skipped = self._reader.skipped
        if block is None:
            self._examples.finish()
            return None
        self.features = self._examples.features = self._reader.features
        self._examples.progress(self._reader.position)
        self._examples.keep(block)
        self._counted.count(block)
        return block

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()


class _Again:
    """A further pass over the remembered rows: all features have been seen."""

    def __init__(self, examples: Examples, blocks: list[Block]) -> None:
        self.features = examples.features
        self._examples = examples
        self._counted = _Counted(examples)
        self._blocks = list(blocks)
        self._done = 0
        self._all = sum(block[0].count for block in blocks)
        self._reader: ArrayReader | None = None

    def take(self, count: int) -> Block | None:
        room = self._counted.room(count)
        while room > 0:
            if self._reader is None:
                if not self._blocks:
                    return None
                rows, labels = self._blocks.pop(0)
                if labels is None:
                    self._counted.count((rows, None))
                    return rows, None
                self._reader = ArrayReader(rows, labels)
            block = self._reader.take(room)
            if block is not None:
                self._counted.count(block)
                self._done += block[0].count
                self._examples.progress(int((self._examples.size or 0) * self._done / max(1, self._all)))
                return block
            self._reader = None
        return None

    def __enter__(self) -> _Again:
        return self

    def __exit__(self, *_: object) -> None:
        return None


def _join(blocks: list[Block]) -> list[Block]:
    """Neighbouring blocks of rows by position as one; others as they are."""
    alike = all(
        rows.names is None and rows.starts is not None and rows.groups is None and labels is not None
        for rows, labels in blocks
    )
    if not alike:
        return blocks
    return [(stack([rows for rows, _ in blocks]), np.concatenate([labels for _, labels in blocks]))]


def _nothing(*_: int) -> None:
    """For a pass that nobody watches."""
