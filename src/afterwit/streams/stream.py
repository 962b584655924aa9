"""A source with a schema and a task: examples in order, for `play`, from anything that `read` takes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from afterwit.data.rows import Rows
from afterwit.errors import InputError, StreamError, Words, counted, shorten
from afterwit.streams._raw import Raw, RawReader
from afterwit.streams.batch import Skipped
from afterwit.streams.schema import Schema
from afterwit.streams.sources import Source
from afterwit.streams.target import Target, labels_in

#: How many rows a stream hands over at once if nothing asks for less.
BLOCK = 65_536


@dataclass(eq=False)
class Stream:
    """Examples in order, as learners take them; made by `read`.

    name      what it is called in messages
    schema    how columns become features
    task      "binary", "classes" or "regression"; None if nothing is to be predicted
    labels    the two labels, the negative one first; of many classes those that may come, None for any
    notes     what should be known about the schema
    format    what text it is, "" for a table that is none
    size      how many bytes there are to read, None if that is not known
    """

    name: str
    schema: Schema
    task: str | None
    labels: tuple[Any, ...] | None
    #: Makes a fresh raw reader at the beginning.
    open: Callable[[], RawReader] = field(repr=False)
    format: str = ""
    size: int | None = None
    rereadable: bool = True
    notes: tuple[str, ...] = ()
    #: Whether the labels are all that may come, or were found at the beginning.
    given: bool = False
    #: Whether a row is handed over as often as its weight says: only what is learned has a weight.
    weighted: bool = True
    #: What was read and what of it is predicted, so that others can read parts of it in the same way.
    source: Source | None = field(default=None, repr=False)
    target: Target | None = field(default=None, repr=False)
    #: The first reader, if it is open already, and what was read ahead from it.
    _first: RawReader | None = field(default=None, repr=False)
    _ahead: deque[Raw] = field(default_factory=deque, repr=False)
    _begun: bool = field(default=False, repr=False)

    @property
    def kind(self) -> str:
        """What it is, in messages."""
        return f"{self.format} text" if self.schema.columns is None else "a table"

    def reader(self) -> StreamReader:
        """One pass from the beginning."""
        if self._begun and not self.rereadable:
            raise StreamError("it can be read only once", path=self.name)
        self._begun = True
        first, self._first = self._first, None
        ahead, self._ahead = self._ahead, deque()
        return StreamReader(self, first or self.open(), ahead)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Every example with its label: None where it has none."""
        if self.schema.group is not None:
            raise InputError(f"{self.name}: rows of groups are read in blocks, by reader(), which say whose they are")
        with self.reader() as reader:
            while (block := reader.take(4096)) is not None:
                rows, labels = block
                known = [None] * rows.count if labels is None else labels.tolist()
                for i, label in enumerate(known):
                    yield rows.row(i), label

    def close(self) -> None:
        """Let go of what was opened to look at the beginning."""
        if self._first is not None:
            self._first.close()
            self._first = None

    def __del__(self) -> None:
        self.close()

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class StreamReader:
    """One pass: blocks of rows with their labels, or rows without labels, which are predicted and not learned."""

    def __init__(self, stream: Stream, raw: RawReader, ahead: deque[Raw]) -> None:
        self._stream = stream
        self._raw = raw
        self._ahead = ahead
        self._pieces: Iterator[tuple[Raw, Any, bool]] = iter(())
        self._piece: tuple[Raw, Any, bool] | None = None
        self._taken: tuple[Raw, Any] | None = None
        self._rows = 0
        #: How many different features there have been, where the source knows.
        self.features: int | None = None

    @property
    def position(self) -> int:
        """How many bytes have been read."""
        return self._raw.position

    @property
    def size(self) -> int | None:
        return self._stream.size

    @property
    def skipped(self) -> Skipped:
        """What was left out because it could not be read."""
        return self._raw.skipped

    def take(self, count: int) -> tuple[Rows, Any] | None:
        """The next rows, at least one and at most ``count``, with their labels; None at the end.

        The labels of a block are None if its rows have none.
        """
        while self._piece is None:
            self._piece = next(self._pieces, None)
            if self._piece is None:
                found = self._ahead.popleft() if self._ahead else self._raw.take(count)
                if found is None:
                    return None
                self._pieces = _pieces(found if self._stream.weighted else replace(found, weights=None))
        raw, index, known = self._piece
        self._piece = (raw, index[count:], known) if len(index) > count else None
        index = index[:count]
        self.features = raw.features
        self._taken = raw, index
        whole = len(index) == raw.rows.count and raw.weights is None
        # Messages count the rows of the whole stream.
        rows = replace(raw.rows if whole else _picked(raw.rows, index), first=self._rows)
        self._rows += rows.count
        if not known:
            return rows, None
        labels = labels_in(raw.values if whole else raw.values[index])
        self._check(labels)
        return rows, labels

    def place(self, i: int) -> dict[str, Any]:
        """Where row i of the block that was taken last is, as `StreamError` takes it."""
        assert self._taken is not None
        raw, index = self._taken
        return raw.place(int(index[i]))

    def _check(self, labels: Any) -> None:
        """Name the place of a label that may not come."""
        allowed = self._stream.labels
        if allowed is None or self._stream.task == "regression":
            return
        known = np.isin(labels, allowed) if labels.dtype != object else np.array([each in allowed for each in labels])
        if known.all():
            return
        i = int(np.argmin(known))
        if self._stream.task == "classes":
            expected = f"one of {', '.join(map(str, allowed))} was expected (--labels names all that may come)"
        else:
            negative, positive = allowed
            expected = (
                f"{negative} or {positive} was expected (--labels NEGATIVE,POSITIVE gives the two labels; for more "
                "than two use --task classes, for numbers --task regression)"
            )
        raise StreamError(f"found the label {shorten(Words(labels[i]))} where {expected}", **self.place(i))

    def close(self) -> None:
        self._raw.close()

    def __enter__(self) -> StreamReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _pieces(raw: Raw) -> Iterator[tuple[Raw, Any, bool]]:
    """A raw block in parts: neighbouring rows that all have a label, or none; each row as often as its weight says."""
    if raw.weights is None and raw.known.all():
        yield raw, np.arange(raw.rows.count), True
        return
    # A row of weight 0 is predicted, and not learned.
    learned = raw.known if raw.weights is None else raw.known & (raw.weights > 0)
    borders = [0, *(np.flatnonzero(np.diff(learned)) + 1).tolist(), raw.rows.count]
    for begin, end in pairwise(borders):
        if raw.weights is None or not learned[begin]:
            yield raw, np.arange(begin, end), bool(learned[begin])
            continue
        # However large a weight is, not all of its rounds are in memory.
        ends = np.cumsum(raw.weights[begin:end])
        for done in range(0, int(ends[-1]), BLOCK):
            rounds = np.arange(done, min(done + BLOCK, int(ends[-1])))
            yield raw, begin + np.searchsorted(ends, rounds, side="right"), True


def _picked(rows: Rows, index: Any) -> Rows:
    """Some of the rows; neighbours without a copy of their values."""
    begin, end = int(index[0]), int(index[-1]) + 1
    return rows.part(begin, end) if len(index) == end - begin and (np.diff(index) == 1).all() else rows.at(index)


def nothing_found(name: str) -> StreamError:
    """What to raise for a source without examples."""
    return StreamError("no examples were found", path=name)


def first_labels(count: int) -> str:
    """Which labels are meant, where only the first were looked at."""
    return f"the first {counted(count, 'label')}"
