r"""Streams from libsvm text: ``label id:value id:value ...``, one example a line, plain or gzip.

>>> import io
>>> stream = LibsvmStream(io.BytesIO(b"+1 1:0.5 7:2\n-1 2:1  # a comment\n"))
>>> for x, y in stream:
...     print(y, x.columns.tolist(), x.values.tolist())
1 [1, 7] [0.5, 2.0]
-1 [2] [1.0]

A feature's position is its id as it stands in the file, so that weight 7 is the weight of feature 7.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data.checks import whole_number
from afterwit.data.rows import IdRow, Rows, SparseRow
from afterwit.errors import StreamError, shorten
from afterwit.streams import _libsvm
from afterwit.streams._bytes import LONGEST_LINE, ByteSource, source_name

#: How much of the file is read at once.
BUFFER = 1 << 20

EXPECTATIONS = {
    _libsvm.EXPECTED_LABEL: "a label (a number) was expected, as in libsvm text: LABEL ID:VALUE ID:VALUE ...",
    _libsvm.EXPECTED_ID: "a feature as id:value (ids are whole numbers from 0 on) was expected",
    _libsvm.EXPECTED_COLON: "a feature as id:value was expected",
    _libsvm.EXPECTED_VALUE: "a feature as id:value with a number for the value was expected",
    _libsvm.EXPECTED_SMALLER_ID: f"an id of at most {_libsvm.LARGEST_ID:,} was expected",
    _libsvm.EXPECTED_FINITE: "a finite number was expected",
    _libsvm.EXPECTED_NEW_ID: "every id at most once in a line was expected",
}


class LibsvmStream:
    """The examples of a libsvm file, in order: (`SparseRow`, label). Can be iterated again, unless it is a pipe.

    source    a path (plain or gzip), "-" for standard input, or a binary file object
    first_id  the id of the first column, 0 or 1: columns are then counted from 0, as in an array. If not given, a
              feature's column is its id. Learners do not mix the two.
    """

    def __init__(self, source: Any, first_id: Any = None) -> None:
        self.source = source
        self.first_id = None if first_id is None else checked_first_id("first_id", first_id)
        self.name = source_name(source)
        self._is_file = hasattr(source, "read")
        self._beginning: int | None = source.tell() if self._is_file and source.seekable() else None
        self._begun = False

    def reader(self, kept: bool = False) -> LibsvmReader:
        """A fresh reader at the beginning; ``kept`` says that all of it will be held in memory."""
        if self._beginning is not None:
            self.source.seek(self._beginning)
        elif self._begun and (self._is_file or self.source == "-"):
            raise StreamError("it can be read only once", path=self.name)
        self._begun = True
        return LibsvmReader(self.source, self.first_id, kept)

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

    def __repr__(self) -> str:
        return f"LibsvmStream({self.name!r})"


class LibsvmReader:
    """Hands over the file's rows in blocks of a chosen size; knows the line it is at, and the features so far."""

    def __init__(self, source: Any, first_id: int | None = None, kept: bool = False) -> None:
        self._source = ByteSource(source, kept)
        self._first_id = first_id
        self._parser = _libsvm.LibsvmParser()
        self._data = bytearray()
        self._at = 0
        self._whole_lines = 0
        self._exhausted = False
        self._line = 0
        self._line_before = 0

    @property
    def features(self) -> int:
        """How many different ids have been read."""
        return int(self._parser.features)

    @property
    def row_lines(self) -> npt.NDArray[np.int64]:
        """The line number of every row of the block taken last."""
        lines: npt.NDArray[np.int64] = self._parser.row_lines + self._line_before + 1
        return lines

    @property
    def position(self) -> int:
        """How many bytes of the file have been taken."""
        return self._source.position

    @property
    def size(self) -> int | None:
        """How many bytes the file has, if that can be known."""
        return self._source.size

    def take(self, count: int) -> tuple[Rows, npt.NDArray[Any]] | None:
        """The next rows, at least one and at most ``count``, and their labels; None at the end."""
        while True:
            if self._at < self._whole_lines:
                labels, starts, columns, values = self._parser.parse(self._data, self._at, self._whole_lines, count)
                self._line_before = self._line
                self._line += self._parser.lines
                self._at = self._parser.at
                if len(labels):
                    if self._first_id and len(columns):
                        columns = self._counted_from_0(columns, starts)
                    width = int(columns.max()) + 1 if len(columns) else 0
                    ids = self._first_id is None
                    rows = Rows(len(labels), width, values, columns, starts, ragged=True, ids=ids)
                    return rows, labels_as_written(labels)
                if self._parser.problem:
                    raise self._refusal()
                continue
            if self._exhausted:
                return None
            self._refill()

    def _counted_from_0(self, ids: npt.NDArray[np.int32], starts: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """The columns of ids that begin with the first one."""
        assert self._first_id is not None
        if ids.min() < self._first_id:
            row = int(np.searchsorted(starts, int(np.argmin(ids)), side="right")) - 1
            reason = f"found the id {ids.min()} where ids from {self._first_id} on were expected (first_id)"
            raise StreamError(reason, path=self._source.name, line=int(self.row_lines[row]))
        return ids - np.int32(self._first_id)

    def _refill(self) -> None:
        """Drop what has been parsed and read on; only the new bytes are searched for the end of a line."""
        chunk = self._source.read(BUFFER)
        if self._line == 0 and not self._data:
            chunk = chunk.removeprefix(b"\xef\xbb\xbf")
        del self._data[: self._at]
        self._at = 0
        self._data += chunk
        if chunk:
            newline = chunk.rfind(b"\n")
            self._whole_lines = len(self._data) - len(chunk) + newline + 1 if newline >= 0 else 0
        else:
            self._exhausted = True
            self._whole_lines = len(self._data)
        if len(self._data) - self._whole_lines > LONGEST_LINE:
            reason = f"found a line longer than {LONGEST_LINE:,} bytes where a line of features was expected"
            line = self._line + self._data.count(b"\n") + 1
            raise StreamError(reason, path=self._source.name, line=line)

    def _refusal(self) -> StreamError:
        rest = self._data[self._at : self._at + 200]
        token = rest.split(None, 1)[0] if rest.split() else rest
        found = shorten(bytes(token).decode("utf-8", "replace"), 60)
        if self._parser.problem == _libsvm.EXPECTED_NEW_ID:
            found = f"the id {self._parser.repeated} twice"
        expected = EXPECTATIONS[self._parser.problem]
        return StreamError(f"found {found} where {expected}", path=self._source.name, line=self._line + 1)

    def close(self) -> None:
        self._source.close()

    def __enter__(self) -> LibsvmReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


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
