"""Whole lines of a file, block by block, and threads that work on the blocks ahead of whoever takes the results."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from afterwit.streams._bytes import ByteSource

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: More threads than that do not read faster than one can learn.
MOST_WORKERS = 8


class Block(NamedTuple):
    """Whole lines: those of ``head`` and then those of ``body[begin:end]``; and how far the file had been read.

    Nearly all of a block is where it was read to, so that nothing is copied but a line that ends in the next block.
    """

    head: bytes
    body: bytes
    begin: int
    end: int
    position: int

    def count(self, marks: bytes) -> int:
        """How often one of these characters occurs."""
        body = np.frombuffer(self.body, dtype=np.uint8)[self.begin : self.end]
        return sum(self.head.count(mark) + int(np.count_nonzero(body == mark)) for mark in marks)

    @property
    def length(self) -> int:
        """How many bytes it has."""
        return len(self.head) + self.end - self.begin


class LineTooLong(Exception):  # noqa: N818 - the reader, which knows the line, makes an error of it
    """There are so many bytes without the end of a line."""


class Blocks:
    """Reads a source in blocks of whole lines; what has no end yet is left for the next one.

    size     how many bytes are read at once
    longest  a line of more bytes than that is refused
    """

    def __init__(self, source: ByteSource, size: int, longest: int) -> None:
        self._source = source
        self._size = size
        self._longest = longest
        self._rest: list[bytes] = []
        self._length = 0
        self._beginning = True
        self._exhausted = False
        #: Whether more may be there at once: nothing is live, and the last read was not a short one.
        self.more = not source.is_live

    def next(self) -> Block | None:
        """The next block, None at the end. Of a live source, what has arrived as soon as it has a whole line."""
        while not self._exhausted:
            if self._length > self._longest:
                raise LineTooLong
            content = self._read()
            last = content.rfind(b"\n") + 1
            if not content:
                self._exhausted = True
                if self._length:
                    return Block(b"".join(self._rest), b"", 0, 0, self._source.position)
            elif last:
                first = content.find(b"\n") + 1 if self._length else 0
                block = Block(b"".join([*self._rest, content[:first]]), content, first, last, self._source.position)
                self._rest, self._length = [content[last:]], len(content) - last
                return block
            else:
                self._rest.append(content)
                self._length += len(content)
        return None

    def _read(self) -> bytes:
        content = self._source.read(self._size)
        self.more = not self._source.is_live and len(content) == self._size
        if self._beginning:
            self._beginning = False
            while len(content) < 3 and BYTE_ORDER_MARK.startswith(content) and (more := self._source.read(self._size)):
                content += more
            content = content.removeprefix(BYTE_ORDER_MARK) or self._source.read(self._size)
        return content


def usual_workers() -> int:
    """How many threads work if nobody says it: one for each processor, up to a limit."""
    return min(MOST_WORKERS, os.cpu_count() or 1)


class Ahead:
    """Works on blocks in threads, and hands over the results in the order of the blocks.

    read   gives the next block, None at the end; only one thread at a time calls it
    works  one function for each thread, which makes the result of a block

    At most two blocks for each thread are in memory. ``close`` ends the threads, as does the end of the blocks, and
    an exception, which is raised where its block would have come.
    """

    def __init__(self, read: Callable[[], Any], works: Sequence[Callable[[Any], Any]]) -> None:
        self._read = read
        self._most = 2 * len(works)
        self._reading = threading.Lock()
        self._changed = threading.Condition()
        self._results: dict[int, tuple[Any, BaseException | None]] = {}
        self._begun = 0
        self._taken = 0
        self._closed = False
        self._threads = [
            threading.Thread(target=self._run, args=(work,), daemon=True, name=f"afterwit {k}")
            for k, work in enumerate(works)
        ]
        for thread in self._threads:
            thread.start()

    def take(self) -> Any:
        """The next result, None at the end."""
        with self._changed:
            while self._taken not in self._results and not self._closed:
                self._changed.wait()
            result, error = self._results.pop(self._taken, (None, None))
            self._taken += 1
            self._changed.notify_all()
        if result is None:
            self.close()
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """End the threads, and wait until they have."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _run(self, work: Callable[[Any], Any]) -> None:
        going_on = True
        while going_on:
            result, error = None, None
            with self._reading:
                number = self._turn()
                if number is None:
                    return
                try:
                    block = self._read()
                except BaseException as caught:
                    block, error = None, caught
                if block is None:
                    # For all threads: nothing comes after this.
                    self._most = 0
            if block is not None:
                try:
                    result = work(block)
                except BaseException as caught:
                    error = caught
            going_on = result is not None
            with self._changed:
                self._results[number] = (result, error)
                self._changed.notify_all()

    def _turn(self) -> int | None:
        """The number of the next block, once there is room for it; None if there is nothing more to do."""
        with self._changed:
            while self._begun - self._taken >= self._most and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            self._begun += 1
            return self._begun - 1
