"""Raw blocks of a source: features, what there is to predict and weights, file after file, whatever the format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from afterwit.data.rows import Rows
from afterwit.errors import StreamError, Words, counted, shorten
from afterwit.streams._groups import groups_in
from afterwit.streams._parts import joined
from afterwit.streams.batch import (
    ROWS_TO_LOOK_AT,
    Batch,
    Form,
    JoinedBatch,
    Numbers,
    Other,
    Skipped,
    TableReader,
    Texts,
)
from afterwit.streams.columns import numbers_in
from afterwit.streams.schema import Schema
from afterwit.streams.target import Target


@dataclass(frozen=True)
class Raw:
    """A block of rows as they were read.

    values    what there is to predict; None if the source does not say
    known     the rows that say it
    weights   how often each row is learned; None for once
    place     where row i is, as `StreamError` takes it
    features  how many different features the reader has met, where it knows
    """

    rows: Rows
    values: Any
    known: npt.NDArray[np.bool_]
    weights: npt.NDArray[np.int64] | None
    place: Callable[[int], dict[str, Any]]
    features: int | None = None


class RawReader(Protocol):
    """One pass over a source."""

    @property
    def skipped(self) -> Skipped: ...

    @property
    def position(self) -> int: ...

    def take(self, count: int) -> Raw | None: ...

    def close(self) -> None: ...


def whole_weights(values: npt.NDArray[np.float64], place: Callable[[int], dict[str, Any]], what: str) -> Any:
    """Weights as whole numbers; None if all of them are 1."""
    good = (values >= 0) & (values == np.floor(values)) & (values < 2**31)
    if not good.all():
        row = int(np.argmin(good))
        found = "nothing" if np.isnan(values[row]) else f"{values[row]:g}"
        reason = f"{what}: a whole number, how often the example is learned, was expected; found {found}"
        raise StreamError(reason, **place(row))
    return None if (values == 1).all() else values.astype(np.int64)


class FilesOfLines:
    """Files of libsvm or Vowpal Wabbit text, one after the other."""

    def __init__(self, open_one: Callable[[str], Any], paths: Sequence[str], schema: Schema) -> None:
        self._open = open_one
        self._paths = list(paths)
        self._schema = schema
        self._before = 0
        self._past = Skipped()
        self._reader = open_one(self._paths.pop(0))

    @property
    def skipped(self) -> Skipped:
        return self._past.and_then(self._reader.skipped)

    @property
    def position(self) -> int:
        return self._before + int(self._reader.position)

    @property
    def features(self) -> int | None:
        return getattr(self._reader, "features", None) if not self._before else None

    def take(self, count: int) -> Raw | None:
        while (block := self._reader.take(count)) is None:
            if not self._paths:
                return None
            self._past = self.skipped
            self._before += self._reader.size or 0
            self._reader.close()
            self._reader = self._open(self._paths.pop(0))
        rows, labels = block
        path, lines = self._reader.name, self._reader.row_lines
        weights = getattr(self._reader, "weights", None)

        def place(i: int) -> dict[str, Any]:
            return {"path": path, "line": int(lines[i])}

        if weights is not None:
            weights = whole_weights(weights, place, "the importance")
        if self._schema.hash is not None:
            rows = _hashed(rows, self._schema)
        known = labels == labels
        return Raw(rows, labels, known, weights, place, self.features)

    def close(self) -> None:
        self._reader.close()


def _hashed(rows: Rows, schema: Schema) -> Rows:
    """Rows by name as rows by hashed position."""
    from afterwit.data.rows import ascending

    assert schema.hash is not None
    assert rows.starts is not None
    assert rows.columns is not None
    positions = schema.hash(rows.names or [])
    columns, values, starts = ascending(positions[rows.columns], rows.values, rows.starts)
    return Rows(rows.count, schema.hash.width, values, columns, starts, first=rows.first)


class RecordReader:
    """A table, or several with the same columns, through a schema."""

    def __init__(self, reader: TableReader, schema: Schema, target: Target | None) -> None:
        self._reader = reader
        self._schema = schema
        self._target = target
        forms = dict(schema.forms())
        if target is not None:
            forms[target.column] = target.form
        if schema.weight is not None:
            forms[schema.weight] = "number"
        if schema.group is not None:
            forms[schema.group] = "text"
        reader.read_as(forms)

    @property
    def skipped(self) -> Skipped:
        return self._reader.skipped

    @property
    def position(self) -> int:
        return self._reader.position

    def take(self, count: int) -> Raw | None:
        batch = self._reader.take(count)
        if batch is None:
            return None
        known = np.zeros(batch.count, dtype=bool)
        values = None
        if self._target is not None:
            values, known = self._target.of(batch)
        rows = self._schema.rows(batch)
        if self._schema.group is not None:
            rows = replace(rows, groups=groups_in(batch, self._schema.group))
        return Raw(rows, values, known, self._weights(batch), batch.place)

    def _weights(self, batch: Batch) -> Any:
        name = self._schema.weight
        if name is None:
            return None
        column = batch.columns[name]
        if isinstance(column, Texts):
            column = Numbers(numbers_in(column, name, batch))
        if not isinstance(column, Numbers):
            raise batch.refusal(0, name, "a whole number", "something else")
        return whole_weights(column.values, batch.place, f"column {name}")

    def close(self) -> None:
        self._reader.close()


def _kinds_of(batch: Batch) -> dict[str, Any]:
    return {name: column if isinstance(column, Other) else type(column) for name, column in batch.columns.items()}


class ChainedReader:
    """Tables with the same columns, one after the other, as one."""

    def __init__(
        self,
        open_one: Callable[[str], TableReader],
        paths: Sequence[str],
        size: int | None,
        ignore: Sequence[str] = (),
    ) -> None:
        self._open = open_one
        self._paths = list(paths)
        self._ignore = frozenset(ignore)
        self._reader = open_one(self._paths.pop(0))
        self.name = self._first = self._reader.name
        self.names: list[str] = []
        self.typed = self._reader.typed
        self.size = size
        self._past = Skipped()
        self._forms: dict[str, Form] = {}
        self._before = 0

    @property
    def skipped(self) -> Skipped:
        return self._past.and_then(self._reader.skipped)

    @property
    def position(self) -> int:
        return self._before + self._reader.position

    def look(self, rows: int) -> Batch:
        found = self._reader.look(rows)
        # A first file may be a header and nothing else.
        while not found.count and self._paths:
            self._next_file()
            found = self._reader.look(rows)
        self.name = self._first = self._reader.name
        self.names = self._reader.names
        return self._with_further_files(found, rows)

    def _with_further_files(self, found: Batch, rows: int) -> Batch:
        """The first rows of a short file and those of the next ones, as long as these have the same columns."""
        parts = [found]
        # What is not a regular file could not be read again.
        for path in self._paths if self.size is not None else ():
            room = rows - sum(part.count for part in parts)
            if room <= 0:
                break
            try:
                with closing(self._open(path)) as reader:
                    part = reader.look(room)
            except StreamError:
                break  # it is said when its turn comes
            if _kinds_of(part) != _kinds_of(found):
                break
            parts.append(part)
        if len(parts) == 1:
            return found
        columns = {name: joined([part.columns[name] for part in parts]) for name in found.columns}
        wrong = frozenset().union(*(part.wrong for part in parts))
        return JoinedBatch(found.path, sum(part.count for part in parts), columns, wrong=wrong, parts=parts)

    def read_as(self, forms: dict[str, Form]) -> None:
        self._forms = forms
        self._reader.read_as(forms)

    def take(self, count: int) -> Batch | None:
        while (batch := self._reader.take(count)) is None:
            if not self._paths:
                return None
            self._next_file()
            self._require_the_same()
            self._reader.read_as(self._forms)
        return batch

    def _next_file(self) -> None:
        self._past = self.skipped
        self._before += self._reader.size or 0
        self._reader.close()
        self._reader = self._open(self._paths.pop(0))

    def _require_the_same(self) -> None:
        """Refuse a further file with a column that the first one does not have: it would be left out in silence."""
        self._reader.look(ROWS_TO_LOOK_AT)
        extra = [name for name in self._reader.names if name not in self.names and name not in self._ignore]
        if extra and not set(self._reader.names) & set(self.names):
            reason = f"no column of {self._first} is in it. A pattern in quotes, such as 'FOLDER/*.csv', leaves it out"
            raise StreamError(reason, path=self._reader.name)
        if extra:
            these = shorten(Words(", ".join(extra)), 200)
            reason = f"{counted(len(extra), 'column')} not in {self._first}: {these}; leave out with --ignore"
            raise StreamError(reason, path=self._reader.name)

    def close(self) -> None:
        self._reader.close()
