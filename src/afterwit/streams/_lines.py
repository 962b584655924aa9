"""What readers of text with one example a line share: blocks, threads, line numbers, and what is left out."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.data import checks
from afterwit.data.rows import Rows
from afterwit.errors import StreamError, shorten
from afterwit.streams._ahead import Ahead, Block, Blocks, LineTooLong, usual_workers
from afterwit.streams._bytes import LONGEST_LINE, ByteSource, source_name
from afterwit.streams.batch import SKIPPED_TO_SHOW, Skipped

#: How much of the file is read at once.
BLOCK_SIZE = 1 << 21

checked_on_error = checks.one_of(("stop", "skip"))


@dataclass
class Parsed:
    """What a block of lines holds.

    lines      how many lines it has, up to the one that is a mistake if there is one
    row_lines  how many of them come before each row
    problem    what is wrong with the line at which parsing stopped
    skipped    of each line that was left out, how many come before it, and what is wrong with the first of them
    rest       what else the parser has found, as the reader of the format knows
    """

    rows: Rows
    labels: npt.NDArray[np.float64]
    row_lines: npt.NDArray[np.int64]
    lines: int
    position: int
    problem: str | None = None
    skipped: list[tuple[int, str]] = field(default_factory=list)
    rest: Any = None


def parse_lines(
    parser: Any, block: Block, explain: Callable[[Any, bytes], str], skip: bool
) -> tuple[str | None, list[tuple[int, str]]]:
    """Let a parser scan the lines of a block: what is wrong with the line it stopped at, and with those left out.

    explain  says what is wrong where the parser has stopped
    """
    skipped: list[tuple[int, str]] = []
    for data, at, end in ((block.head, 0, len(block.head)), (block.body, block.begin, block.end)):
        while (at := parser.scan(data, at, end)) < end:
            if not skip:
                return explain(parser, data), skipped
            skipped.append((parser.lines, explain(parser, data) if len(skipped) < SKIPPED_TO_SHOW else ""))
            parser.lines += 1
            at = data.find(b"\n", at, end) + 1 or end
    return None, skipped


def found_at(parser: Any, data: bytes) -> str:
    """What is where a parser has stopped, for a message."""
    rest = data[parser.token : parser.token + 200]
    token = rest.split(None, 1)[0] if rest.split() else rest
    return shorten(token.decode("utf-8", "replace"), 60)


class LineStream:
    """What streams of lines share: the source, and whether it can be read again."""

    def __init__(self, source: Any, on_error: str) -> None:
        self.source = source
        self.on_error = checked_on_error("on_error", on_error)
        self.name = source_name(source)
        self._is_file = hasattr(source, "read")
        self._beginning: int | None = source.tell() if self._is_file and source.seekable() else None
        self._begun = False

    def _rewind(self) -> None:
        """Go to the beginning, or say that it can be read only once."""
        if self._beginning is not None:
            self.source.seek(self._beginning)
        elif self._begun and (self._is_file or self.source == "-"):
            raise StreamError("it can be read only once", path=self.name)
        self._begun = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class LineReader:
    """Hands over the rows of a file in blocks of a chosen size, and knows the line it is at.

    Lines are parsed in threads ahead of whoever takes the rows, as many as there are processors, once there is more
    than one block. What comes from a pipe is parsed as it arrives.

    source      a path, "-" for standard input, or a binary file object
    kept        whether all of it will be held in memory
    on_error    "stop" at a line that cannot be read, or "skip" it; those are counted in ``skipped``
    block_size  how many bytes are read at once
    workers     how many threads parse; 0 is for none. If not given, as many as there are processors
    """

    def __init__(
        self,
        source: Any,
        kept: bool = False,
        on_error: str = "stop",
        block_size: int = BLOCK_SIZE,
        workers: int | None = None,
    ) -> None:
        self._skip = checked_on_error("on_error", on_error) == "skip"
        self._workers = usual_workers() if workers is None else workers
        self._source = ByteSource(source, kept)
        self.name = self._source.name
        self._blocks = Blocks(self._source, block_size, LONGEST_LINE)
        self._work: Callable[[Block], Parsed] | None = None
        self._ahead: Ahead | None = None
        self._end_threads: Callable[[], Any] = _nothing
        self._parsed: Parsed | None = None
        self._at = 0
        self._lines_before = 0
        self._row_lines = np.empty(0, dtype=np.int64)
        self._position = 0
        self._error: BaseException | None = None
        #: The lines that were left out.
        self.skipped = Skipped()

    def _new_work(self) -> Callable[[Block], Parsed]:
        """A function that parses blocks, for one thread. It must not know this reader."""
        raise NotImplementedError

    def _hand_over(self, parsed: Parsed, begin: int, end: int) -> tuple[Rows, npt.NDArray[Any]]:
        """Rows begin to end of what was parsed, and their labels."""
        raise NotImplementedError

    @property
    def row_lines(self) -> npt.NDArray[np.int64]:
        """The line number of every row of the block taken last."""
        return self._row_lines

    @property
    def position(self) -> int:
        """How many bytes of the file have been taken."""
        return self._position

    @property
    def size(self) -> int | None:
        """How many bytes the file has, if that can be known."""
        return self._source.size

    def take(self, count: int) -> tuple[Rows, npt.NDArray[Any]] | None:
        """The next rows, at least one and at most ``count``, and their labels; None at the end."""
        if self._error is not None:
            raise self._error
        try:
            while True:
                parsed = self._parsed
                if parsed is None:
                    parsed = self._parsed = self._next()
                    self._at = 0
                    if parsed is None:
                        return None
                    self._position = parsed.position
                begin, rows = self._at, parsed.rows.count
                if begin < rows:
                    end = self._at = min(begin + count, rows)
                    self._row_lines = parsed.row_lines[begin:end] + (self._lines_before + 1)
                    self._leave_out(parsed, parsed.row_lines[end] if end < rows else parsed.lines)
                    return self._hand_over(parsed, begin, end)
                self._leave_out(parsed, parsed.lines)
                self._lines_before += parsed.lines
                if parsed.problem is not None:
                    raise StreamError(parsed.problem, path=self._source.name, line=self._lines_before + 1)
                self._parsed = None
        except LineTooLong:
            reason = f"found a line longer than {LONGEST_LINE:,} bytes where a line of features was expected"
            self._error = StreamError(reason, path=self._source.name, line=self._lines_before + 1)
        except StreamError as error:
            self._error = error
        self._end_threads()
        raise self._error

    def _next(self) -> Parsed | None:
        """The next block; the first one is parsed here, so that a small file needs no threads."""
        if self._ahead is None and self._work is not None and self._workers and self._blocks.more:
            self._ahead = Ahead(self._blocks.next, [self._new_work() for _ in range(self._workers)])
            # Also if nobody closes this reader.
            self._end_threads = weakref.finalize(self, self._ahead.close)
        if self._ahead is not None:
            result: Parsed | None = self._ahead.take()
            return result
        block = self._blocks.next()
        if block is None:
            return None
        if self._work is None:
            self._work = self._new_work()
        return self._work(block)

    def _leave_out(self, parsed: Parsed, line: int) -> None:
        """Count the lines before that one which were left out."""
        while parsed.skipped and parsed.skipped[0][0] < line:
            before, reason = parsed.skipped.pop(0)
            error = StreamError(reason, path=self._source.name, line=self._lines_before + before + 1)
            self.skipped.add(str(error))

    def close(self) -> None:
        self._end_threads()
        self._source.close()

    def __enter__(self) -> LineReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def part_of(rows: Rows, begin: int, end: int) -> Rows:
    """Rows begin to end as rows of their own."""
    if begin == 0 and end == rows.count:
        return rows
    return replace(rows.part(begin, end), first=0)


def _nothing() -> None:
    """No thread has begun."""
