r"""Streams from Vowpal Wabbit text: ``label importance 'tag|namespace:scale feature:value ...``, one example a line.

>>> import io
>>> stream = VwStream(io.BytesIO(b"1 |sky clouds:0.5 blue |sea calm\n-1 2 'b |sky:2 clouds |sea\n"))
>>> for x, y in stream:
...     print(y, x)
1 {'sky^clouds': 0.5, 'sky^blue': 1.0, 'sea^calm': 1.0}
-1 {'sky^clouds': 2.0}

Label, importance (else 1), tag, namespaces and values (else 1) may all be missing. A token before the first bar that
touches it, or the last one if it begins with ', is the tag. A feature that is in a line twice has the sum of its
values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.rows import Rows
from afterwit.streams._ahead import Block
from afterwit.streams._lines import BLOCK_SIZE, LineReader, LineStream, Parsed, found_at, parse_lines
from afterwit.streams._vw import LONGEST_NAMESPACE, Expected, VwParser
from afterwit.streams.libsvm import label_as_written

EXPECTATIONS = {
    Expected.BAR: "a bar before the features was expected, as in Vowpal Wabbit text: LABEL |NAMESPACE NAME:VALUE ...",
    Expected.LABEL: "one number as the label was expected (several labels, costs, shared lines and words are not read)",
    Expected.IMPORTANCE: "an importance, a number that is at least 0, was expected",
    Expected.NO_BASE: "the bar or a tag was expected (an initial prediction is not read; remove it)",
    Expected.NAMESPACE: "a namespace as |name or |name:scale was expected",
    Expected.SHORT_NAMESPACE: f"a namespace of at most {LONGEST_NAMESPACE} bytes was expected",
    Expected.SCALE: "a namespace as |name:scale with a number for the scale was expected",
    Expected.NAME: "a feature as name or name:value was expected",
    Expected.VALUE: "a feature as name:value with a number for the value was expected",
    Expected.FINITE: "a finite number was expected",
    Expected.NO_TAB: "spaces instead of tabs were expected before the bar (other readers drop what is before a tab)",
    Expected.TEXT: "UTF-8 text was expected",
}


class VwStream(LineStream):
    """The examples of Vowpal Wabbit text, in order: (dict of features, label). Can be iterated again, unless a pipe.

    The label of an example without one is NaN. `reader` gives its importance and tag too.

    source    a path (plain, gzip or zstd), "-" for standard input, or a binary file object
    on_error  "stop" at a line that cannot be read, or "skip" it
    """

    def __init__(self, source: Any, on_error: str = "stop") -> None:
        super().__init__(source, on_error)

    def reader(self, kept: bool = False) -> VwReader:
        """A fresh reader at the beginning; ``kept`` says that all of it will be held in memory."""
        self._rewind()
        return VwReader(self.source, kept, self.on_error)

    def __iter__(self) -> Iterator[tuple[dict[str, float], int | float]]:
        with self.reader() as reader:
            while (block := reader.take(4096)) is not None:
                rows, labels = block
                assert rows.starts is not None
                assert rows.columns is not None
                assert rows.names is not None
                starts, values = rows.starts.tolist(), rows.values.tolist()
                names = [rows.names[column] for column in rows.columns.tolist()]
                for i, label in enumerate(labels.tolist()):
                    span = slice(starts[i], starts[i + 1])
                    x = dict(zip(names[span], values[span], strict=True))
                    yield x, label if math.isnan(label) else label_as_written(label)


class VwReader(LineReader):
    """Hands over rows with names in blocks of a chosen size, and labels, NaN where there is none.

    The arguments are those of `LineReader`.
    """

    def __init__(
        self,
        source: Any,
        kept: bool = False,
        on_error: str = "stop",
        block_size: int = BLOCK_SIZE,
        workers: int | None = None,
    ) -> None:
        super().__init__(source, kept, on_error, block_size, workers)
        self._met: set[str] = set()
        #: Whether different names are counted: it takes memory for each of them.
        self.counts = True
        #: The importance of every row of the block taken last.
        self.weights = np.empty(0)
        #: The tag of every row of the block taken last, "" where there is none.
        self.tags: list[str] = []

    @property
    def features(self) -> int | None:
        """How many different names have been read, if they are counted."""
        return len(self._met) if self.counts else None

    def _new_work(self) -> Callable[[Block], Parsed]:
        parser, skip = VwParser(), self._skip
        return lambda block: _parsed(parser, block, skip)

    def _hand_over(self, parsed: Parsed, begin: int, end: int) -> tuple[Rows, npt.NDArray[Any]]:
        weights, tags = parsed.rest
        self.weights, self.tags = weights[begin:end], tags[begin:end]
        whole = begin == 0 and end == parsed.rows.count
        rows = parsed.rows if whole else replace(parsed.rows.part(begin, end), first=0)
        if self.counts:
            self._met.update(rows.names or ())
        return rows, parsed.labels[begin:end]


def _parsed(parser: Any, block: Block, skip: bool) -> Parsed:
    """The rows of a block."""
    # A feature comes after a space.
    parser.begin_block(block.count(b"\n") + 1, block.count(b" \t"), block.length)
    problem, skipped = parse_lines(parser, block, _refusal, skip)
    labels, starts, row_lines, columns, values, weights, tags, names = parser.arrays()
    rows = Rows(len(labels), len(names), values, columns, starts, names=names)
    return Parsed(rows, labels, row_lines, parser.lines, block.position, problem, skipped, (weights, tags))


def _refusal(parser: Any, data: bytes) -> str:
    return f"found {found_at(parser, data)} where {EXPECTATIONS[parser.problem]}"
