"""A block of rows of a table, column by column: what every reader of tables hands over and the schema takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from afterwit.errors import StreamError

#: How many rows at the beginning of a table are looked at to decide its schema.
ROWS_TO_LOOK_AT = 1000
#: How many of the rows that were skipped are shown.
SKIPPED_TO_SHOW = 10


UNNAMED = re.compile(r"column \d+ without a name")


def unnamed(place: int) -> str:
    """What a column is called whose name is empty; it is left out unless it is asked for."""
    return f"column {place} without a name"


class Numbers(NamedTuple):
    """A column of numbers; NaN is missing. ``whole`` if the source says that they are whole numbers."""

    values: npt.NDArray[np.float64]
    whole: bool = False


class Booleans(NamedTuple):
    """A column of truth values: 1, 0, and NaN for missing."""

    values: npt.NDArray[np.float64]


class Texts(NamedTuple):
    """A column of text: row i is ``words[codes[i]]``, and missing if its code is -1. Words differ from each other."""

    codes: npt.NDArray[np.int32]
    words: list[str]


class Times(NamedTuple):
    """A column of dates or moments: datetime64 in microseconds; NaT is missing."""

    values: npt.NDArray[np.datetime64]


class Other(NamedTuple):
    """A column of something that is no feature as it is, such as a list or a struct."""

    kind: str


Column = Numbers | Booleans | Texts | Times | Other
#: What a reader may be asked to read a column as: nothing is read of a column that is not asked for.
Form = Literal["number", "boolean", "text", "time"]


@dataclass(frozen=True)
class Batch:
    """Rows of one file, by columns, in the order of the file.

    path   the file, for messages
    first  the number of the first row in its file, from 1 (a header is no row)
    lines  the line at which each row begins, if the file has lines
    wrong  where rows are only looked at: the columns with a cell that is missing because `take` will refuse it
    """

    path: str
    count: int
    columns: dict[str, Column]
    first: int = 1
    lines: npt.NDArray[np.int64] | None = None
    wrong: frozenset[str] = frozenset()

    def place(self, i: int) -> dict[str, Any]:
        """Where row i of the batch is, as `StreamError` takes it."""
        if self.lines is not None:
            return {"path": self.path, "line": int(self.lines[i])}
        return {"path": f"{self.path}, row {self.first + i:,}"}

    def refusal(self, i: int, column: str, expected: str, found: str) -> StreamError:
        """What to raise for the cell of that column in row i."""
        return StreamError(f"column {column}: {expected} was expected; found {found}", **self.place(i))


@dataclass(frozen=True)
class JoinedBatch(Batch):
    """The rows of several files, one below the other."""

    parts: Sequence[Batch] = ()

    def place(self, i: int) -> dict[str, Any]:
        part = 0
        while i >= self.parts[part].count:
            i -= self.parts[part].count
            part += 1
        return self.parts[part].place(i)


@dataclass
class Skipped:
    """The rows that could not be read and were left out: how many, and what was wrong with the first of them."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, message: str) -> None:
        self.count += 1
        if len(self.first) < SKIPPED_TO_SHOW:
            self.first.append(message)

    def and_then(self, later: Skipped | None) -> Skipped:
        """Those of both: of files that were read one after the other."""
        if later is None:
            return self
        return Skipped(self.count + later.count, [*self.first, *later.first][:SKIPPED_TO_SHOW])


class TableReader(Protocol):
    """One pass over a table. First ``look``, then ``read_as``, then ``take`` until it gives None.

    name      for messages
    names     the columns, in the order of the source
    typed     whether the source says what its columns are; otherwise ``look`` hands over every cell as it is written
    size      bytes in all, None if that is not known; ``position`` how many of them have been read
    skipped   what was left out, if the reader was made with ``on_error="skip"``
    """

    name: str
    names: list[str]
    typed: bool
    size: int | None

    @property
    def skipped(self) -> Skipped: ...

    @property
    def position(self) -> int: ...

    def look(self, rows: int) -> Batch:
        """The first rows, at most so many; ``take`` hands them over again."""

    def read_as(self, forms: dict[str, Form]) -> None:
        """Which columns ``take`` hands over, and as what. A cell that cannot be read so is an error with its place.

        A source with types may hand over a column in its own form: the schema converts it.
        """

    def take(self, count: int) -> Batch | None:
        """The next rows, at least one and at most ``count``; None at the end. A batch never spans two files."""

    def close(self) -> None: ...
