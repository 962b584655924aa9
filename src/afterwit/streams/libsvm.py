r"""Streams from libsvm text: ``label id:value id:value ...``, one example a line, plain, gzip or zstd.

>>> import io
>>> stream = LibsvmStream(io.BytesIO(b"+1 1:0.5 7:2\n-1 2:1  # a comment\n"))
>>> for x, y in stream:
...     print(y, x.columns.tolist(), x.values.tolist())
1 [1, 7] [0.5, 2.0]
-1 [2] [1.0]

A feature's position is its id as it stands in the file, so that weight 7 is the weight of feature 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.checks import whole_number
from afterwit.data.rows import IdRow, Rows, SparseRow
from afterwit.streams._ahead import Block
from afterwit.streams._libsvm import LARGEST_ID, Expected, LibsvmParser
from afterwit.streams._lines import BLOCK_SIZE, LineReader, LineStream, Parsed, found_at, parse_lines, part_of

EXPECTATIONS = {
    Expected.LABEL: "a label (a number) was expected, as in libsvm text: LABEL ID:VALUE ID:VALUE ...",
    Expected.ID: "a feature as id:value (ids are whole numbers from 0 on) was expected",
    Expected.COLON: "a feature as id:value was expected",
    Expected.VALUE: "a feature as id:value with a number for the value was expected",
    Expected.SMALLER_ID: f"an id of at most {LARGEST_ID:,} was expected",
    Expected.FINITE: "a finite number was expected",
    Expected.NEW_ID: "every id at most once in a line was expected",
    Expected.LARGER_ID: "ids from 1 on were expected (first_id)",
}


class LibsvmStream(LineStream):
    """The examples of a libsvm file, in order: (`SparseRow`, label). Can be iterated again, unless it is a pipe.

    source    a path (plain, gzip or zstd), "-" for standard input, or a binary file object
    first_id  the id of the first column, 0 or 1: columns are then counted from 0, as in an array. If not given, a
              feature's column is its id. Learners do not mix the two.
    on_error  "stop" at a line that cannot be read, or "skip" it
    """

    def __init__(self, source: Any, first_id: Any = None, on_error: str = "stop") -> None:
        super().__init__(source, on_error)
        self.first_id = None if first_id is None else checked_first_id("first_id", first_id)

    def reader(self, kept: bool = False) -> LibsvmReader:
        """A fresh reader at the beginning; ``kept`` says that all of it will be held in memory."""
        self._rewind()
        return LibsvmReader(self.source, self.first_id, kept, self.on_error)

    def __iter__(self) -> Iterator[tuple[SparseRow, int | float]]:
        with self.reader() as reader:
            while (block := reader.take(4096)) is not None:
                rows, labels = block
                assert rows.starts is not None
                assert rows.columns is not None
                kind = IdRow if rows.ids else SparseRow
                for i, label in enumerate(labels.tolist()):
                    span = slice(rows.starts[i], rows.starts[i + 1])
                    yield kind(rows.columns[span], rows.values[span]), label_as_written(label)


class LibsvmReader(LineReader):
    """Hands over the file's rows in blocks of a chosen size; knows the line it is at, and the features so far.

    first_id  as in `LibsvmStream`; everything else as in `LineReader`
    """

    def __init__(
        self,
        source: Any,
        first_id: int | None = None,
        kept: bool = False,
        on_error: str = "stop",
        block_size: int = BLOCK_SIZE,
        workers: int | None = None,
    ) -> None:
        super().__init__(source, kept, on_error, block_size, workers)
        self._first_id = first_id
        self._met = np.zeros(1024, dtype=np.uint8)
        #: How many different ids have been read.
        self.features = 0

    def _new_work(self) -> Callable[[Block], Parsed]:
        parser, ids, skip = LibsvmParser(self._first_id or 0), self._first_id is None, self._skip
        return lambda block: _parsed(parser, block, ids, skip)

    def _hand_over(self, parsed: Parsed, begin: int, end: int) -> tuple[Rows, npt.NDArray[Any]]:
        rows = part_of(parsed.rows, begin, end)
        fresh = parsed.rest
        if len(fresh):
            assert parsed.rows.starts is not None
            assert parsed.rows.columns is not None
            passed = int(np.searchsorted(fresh, parsed.rows.starts[end]))
            self._meet(np.unique(parsed.rows.columns[fresh[:passed]]))
            parsed.rest = fresh[passed:]
        return rows, labels_as_written(parsed.labels[begin:end])

    def _meet(self, columns: npt.NDArray[np.int32]) -> None:
        """Count those that are new."""
        if len(columns) and columns[-1] >= len(self._met):
            larger = np.zeros(max(int(columns[-1]) + 1, 2 * len(self._met)), dtype=np.uint8)
            larger[: len(self._met)] = self._met
            self._met = larger
        self.features += int(np.count_nonzero(self._met[columns] == 0))
        self._met[columns] = 1


def _parsed(parser: Any, block: Block, ids: bool, skip: bool) -> Parsed:
    """The rows of a block."""
    # Counted, not estimated: the rows may be kept, and with them all of these arrays.
    parser.begin_block(block.count(b"\n") + 1, block.count(b":"))
    problem, skipped = parse_lines(parser, block, _refusal, skip)
    labels, starts, row_lines, columns, values, fresh = parser.arrays()
    width = int(columns.max()) + 1 if len(columns) else 0
    rows = Rows(len(labels), width, values, columns, starts, ragged=True, ids=ids)
    return Parsed(rows, labels, row_lines, parser.lines, block.position, problem, skipped, fresh)


def _refusal(parser: Any, data: bytes) -> str:
    found = found_at(parser, data)
    if parser.problem == Expected.NEW_ID:
        found = f"the id {parser.identifier} twice"
    elif parser.problem == Expected.LARGER_ID:
        found = f"the id {parser.identifier}"
    return f"found {found} where {EXPECTATIONS[parser.problem]}"


def checked_first_id(parameter: str, value: Any) -> int:
    """The id of the first column."""
    return whole_number(parameter, value, 0, 1, "0 or 1")


def labels_as_written(labels: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Many labels as they were written: whole numbers if all are, objects if some are."""
    are_whole = (labels == np.floor(labels)) & (np.abs(labels) < 2**53)
    if are_whole.all():
        return labels.astype(np.int64)
    if not are_whole.any():
        return labels
    mixed = np.empty(len(labels), dtype=object)
    mixed[:] = [int(label) if is_whole else label for label, is_whole in zip(labels.tolist(), are_whole, strict=True)]
    return mixed


def label_as_written(label: float) -> int | float:
    """A label as it was written: 1, not 1.0."""
    return int(label) if float(label).is_integer() and abs(label) < 2**53 else label
