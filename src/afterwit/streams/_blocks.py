"""Blocks of parsed rows: how the readers of text hand them over in batches, count lines, and leave out bad rows.

A reader parses a block at a time, in its own thread or in others, ahead of whoever takes the rows. What is wrong with
a row is reported when its turn comes, so that the rows before it are never lost and the order never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from afterwit.data.checks import count as count_of_rows
from afterwit.errors import InputError, StreamError, invalid
from afterwit.streams._ahead import BYTE_ORDER_MARK, Ahead, usual_workers
from afterwit.streams._bytes import LONGEST_LINE, ByteSource, source_name
from afterwit.streams.batch import Batch, Column, Other, Skipped, Texts

#: How much of a file is read and parsed at once.
BLOCK = 1 << 22


class Problem(NamedTuple):
    """A row that cannot be read.

    row    how many good rows of its block are before it
    line   its line, counted from 0 at the beginning of the block; None if no line is to blame
    fatal  nothing behind it can be read
    """

    row: int
    line: int | None
    message: str
    fatal: bool = False


class RawBlock(NamedTuple):
    """Bytes that end with the end of a row, and how far the file has been read; or why there are none."""

    data: bytes
    position: int
    problem: Problem | None = None


@dataclass
class Block:
    """Parsed rows: lines are counted from 0 at its beginning, and ``ends`` is how many of them end in it."""

    columns: dict[str, Column]
    lines: npt.NDArray[np.int64]
    ends: int
    problems: list[Problem] = field(default_factory=list)
    position: int = 0

    def keep(self, rows: npt.NDArray[np.bool_]) -> None:
        """Leave out all other rows."""
        before = np.concatenate([[0], np.cumsum(rows)])
        self.problems = [problem._replace(row=int(before[problem.row])) for problem in self.problems]
        self.columns = {name: part(column, rows) for name, column in self.columns.items()}
        self.lines = self.lines[rows]


def part(column: Column, rows: Any) -> Column:
    """Some rows of a column; text keeps only the words that occur, if there are more words than rows."""
    if isinstance(column, Other):
        return column
    if isinstance(column, Texts):
        codes = column.codes[rows]
        if len(column.words) <= len(codes) and isinstance(rows, slice):
            return Texts(codes, column.words)
        used, again = np.unique(codes, return_inverse=True)
        missing = int(len(used) > 0 and used[0] < 0)
        return Texts((again - missing).astype(np.int32), [column.words[i] for i in used[missing:].tolist()])
    return column._replace(values=column.values[rows])


class BlockReader:
    """What the readers of text share: batches, lines and bad rows. A reader says how it gets its blocks, in `_blocks`.

    on_error  "stop" at the first row that cannot be read, or "skip" such rows and count them
    on_block  is told the position whenever a block begins
    block     how many bytes are read and parsed at once
    workers   how many threads parse ahead; as many as there are processors if it is not given
    """

    def __init__(
        self,
        source: Any,
        on_error: str,
        on_block: Callable[[int], None] | None = None,
        block: int = BLOCK,
        workers: int | None = None,
        kept: bool = False,
    ) -> None:
        if on_error not in ("stop", "skip"):
            raise invalid("on_error", '"stop" or "skip"', on_error)
        self.name = source_name(source)
        self.names: list[str] = []
        self.skipped = Skipped()
        self._skip = on_error == "skip"
        self._on_block = on_block
        self._block = block
        self._most_workers = usual_workers() if workers is None else workers
        self._current: Block | None = None
        self._at = 0
        self._row = 1
        #: The line at which the current block begins.
        self._line = 1
        self._position = 0
        self._supply: Iterator[Block] | None = None
        self._ahead: Ahead | None = None
        self._failure: StreamError | None = None
        self._closed = False
        #: Blocks that have been read but not handed over: the first rows.
        self._held: list[RawBlock] = []
        self._raws: Iterator[RawBlock] = iter(())
        self._source = ByteSource(source, kept)
        self.size = self._source.size

    def _blocks(self) -> Iterator[Block]:
        """The blocks in order."""
        raise NotImplementedError

    @property
    def position(self) -> int:
        """How many bytes of the file had been read when the current block began."""
        return self._position

    def take(self, count: int) -> Batch | None:
        """The next rows, at least one and at most ``count``; None at the end."""
        count = count_of_rows("count", count)
        if self._closed:
            raise StreamError("the reader is closed", path=self.name)
        if self._failure is not None:
            raise self._failure
        try:
            return self._take(count)
        except StreamError as error:
            self._failure = error
            self._stop()
            raise
        except BaseException:
            # A block may be lost: nothing that comes later would be right.
            self.close()
            raise

    def _take(self, count: int) -> Batch | None:
        if self._supply is None:
            self._supply = self._blocks()
        while self._current is None or self._at == len(self._current.lines):
            if self._current is not None:
                self._pass_problems(self._at + 1)
                self._line += self._current.ends
            self._current = next(self._supply, None)
            self._at = 0
            if self._current is None:
                return None
            self._position = self._current.position
            if self._on_block is not None:
                self._on_block(self._position)
        self._pass_problems(self._at + 1)
        begin, end = self._at, min(self._at + count, len(self._current.lines))
        first = self._row
        self._row += end - begin
        self._at = end
        self._pass_problems(end)
        rows = slice(begin, end)
        columns = {name: part(column, rows) for name, column in self._current.columns.items()}
        return Batch(self.name, end - begin, columns, first, self._current.lines[rows] + self._line)

    def _pass_problems(self, end: int) -> None:
        """Count the rows that are left out before the good row with that number, or stop at the first of them."""
        assert self._current is not None
        problems = self._current.problems
        passed = 0
        while passed < len(problems) and problems[passed].row < end:
            problem = problems[passed]
            passed += 1
            error = self._error(problem, self._line)
            if problem.fatal or not self._skip:
                raise error
            self.skipped.add(str(error))
            self._row += 1
        del problems[:passed]

    def _error(self, problem: Problem, line: int) -> StreamError:
        """What a problem is for the user, if its block begins at that line."""
        return StreamError(problem.message, path=self.name, line=None if problem.line is None else line + problem.line)

    def _cut(self, piece: bytes, last: Callable[[bytes], int], too_long: Callable[[], str]) -> Iterator[RawBlock]:
        """All of the file, in blocks of whole rows.

        piece     the first bytes, which have been read
        last      gives the last place in the next piece at which a row ends, 0 if one ends before it, or -1
        too_long  says what to do about a row that does not end
        """
        begun: list[bytes] = []
        size = 0
        while piece:
            end = last(piece)
            if end > 0 or (end == 0 and size):
                yield RawBlock(b"".join([*begun, memoryview(piece)[:end]]), self._source.position)
                begun, size = [], 0
                piece = piece[end:]
            begun.append(piece)
            size += len(piece)
            if size > LONGEST_LINE:
                reason = f"found a row longer than {LONGEST_LINE:,} bytes{too_long()}"
                yield RawBlock(b"", self._source.position, Problem(0, 0, reason, fatal=True))
                return
            try:
                piece = self._source.read(self._block)
            except StreamError as error:
                yield RawBlock(b"", self._source.position, Problem(0, None, error.message, fatal=True))
                return
        if size:
            yield RawBlock(b"".join(begun), self._source.position)

    def _beginning(self, enough: Callable[[bytes], object]) -> bytes:
        """The first bytes without a byte order mark, as many as are enough or all that there are."""
        pieces: list[bytes] = []
        while True:
            piece = self._source.read(self._block)
            pieces.append(piece)
            beginning = b"".join(pieces)
            found = beginning.removeprefix(BYTE_ORDER_MARK)
            if not piece or (len(beginning) >= len(BYTE_ORDER_MARK) and enough(found)):
                return found
            if len(beginning) > LONGEST_LINE:
                raise StreamError(f"found {LONGEST_LINE:,} bytes without a row", path=self.name, line=1)

    def _leave_out(
        self, block: Block, wrong: dict[str, npt.NDArray[np.bool_]], message: Callable[[str, int], str]
    ) -> None:
        """Make problems of the rows that cannot be read in those columns."""
        bad = np.logical_or.reduce(list(wrong.values()))
        rows = np.flatnonzero(bad).tolist()
        if not self._skip:
            # Nothing behind the first of them is handed over.
            del rows[1:]
            bad[rows[0] :] = True
        for row in rows:
            name = next(name for name, each in wrong.items() if each[row])
            block.problems.append(Problem(row, int(block.lines[row]), message(name, row)))
        block.problems.sort(key=lambda problem: problem.line or 0)
        block.keep(~bad)

    def _all_raws(self) -> Iterator[RawBlock]:
        """What is held, then the rest."""
        while self._held:
            yield self._held.pop(0)
        yield from self._raws

    def _parsed(self, parse: Callable[[RawBlock], Block]) -> Iterator[Block]:
        """Parse block after block; in other threads if it is a file of several blocks.

        What comes from a pipe is parsed when it arrives: a thread that waits for more could not be stopped.
        """
        workers = 0 if self.size is None or self.size <= self._block else self._most_workers
        if workers < 2:
            yield from map(parse, self._all_raws())
            return
        raws = self._all_raws()
        self._ahead = Ahead(lambda: next(raws, None), [parse] * workers)
        while (block := self._ahead.take()) is not None:
            yield block

    def _stop(self) -> None:
        if self._ahead is not None:
            self._ahead.close()

    def close(self) -> None:
        """Stop all threads and close the file."""
        self._closed = True
        self._stop()
        self._source.close()

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_not_begun(self) -> None:
        if self._supply is not None:
            raise InputError("look and read_as must be called before take")
