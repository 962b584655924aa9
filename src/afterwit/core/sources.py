"""Certificates of rounds that are read again: from a stream or a file, in memory where they are few enough.

A source is what has a ``reader()``, each of which starts at the beginning, or the path of a libsvm file. What is small
is read whole, and is certified like X and y. What is larger is read several times, block by block: the module
``_streamed_...`` of `afterwit.certify` that belongs to the learner's checker says how, where there is one. Where there
is none, all examples are needed in memory, and more of them are read whole.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from afterwit.core.certificate import Certificate, apply, require_theorems
from afterwit.data.rows import Rows, SparseRow, read_many, stack
from afterwit.errors import InputError, Words, invalid

#: Up to so many stored values, and rows, a certificate has all examples in memory, if it could do without.
FEW_ENOUGH = 4_000_000
#: Up to so many of them, if it could not. They may take more than a gigabyte.
MOST_IN_MEMORY = 20_000_000
#: How many rows a stream hands over at once where nothing asks for a smaller block.
BLOCK = 65_536
#: About so many values are read at a time where rows may be long.
VALUES_AT_ONCE = 400_000
#: How many rows are read first, before it is known how long they are.
ROWS_TO_BEGIN_WITH = 256

READ_ONCE = (
    "there is no certificate for a stream that can be read only once; play a list or a stream of afterwit.streams"
)


def certify_source(learner: Any, source: Any, comparator: Any = None) -> Certificate:
    """The certificate of the rounds in a source: in memory where they are few enough, in passes over it beyond."""
    require_theorems(learner)
    stream = as_stream(source)
    if getattr(learner, "by_group", False):
        # Its rows say whose they are.
        found: Certificate = learner.certificate(stream)
        return found
    given = {} if comparator is None else {"comparator": comparator}
    most = min(FEW_ENOUGH, MOST_IN_MEMORY) if _can_be_streamed(learner) else MOST_IN_MEMORY
    examples = read_whole(stream, most)
    if examples is not None:
        certificate: Certificate = learner.certificate(*examples, **given)
        return certificate
    checker = streamed_checker(learner, type(learner).__name__)
    return apply(learner.theorems, checker.gather(learner, stream, **given))


def _can_be_streamed(learner: Any) -> bool:
    """Whether there is a module for its certificate, and for that of a learner inside which it standardizes for."""
    inside = getattr(learner, "standardized", learner)
    return all(importlib.util.find_spec(_streamed_module(each)) is not None for each in (learner, inside))


def _streamed_module(learner: Any) -> str:
    return f"afterwit.certify._streamed_{learner.checker}"


def streamed_checker(learner: Any, called: str) -> Any:
    """The module that recomputes the rounds of a learner block by block; ``called`` is what messages call it."""
    module = _streamed_module(learner)
    if importlib.util.find_spec(module) is None:
        raise InputError(
            f"the certificate of {called} needs all examples in memory, and these are more than {MOST_IN_MEMORY:,} "
            "values or rows; call certificate(X, y) with all of them if there is room"
        )
    return importlib.import_module(module)


def as_stream(source: Any) -> Any:
    """A source as an object with a reader."""
    if isinstance(source, (str, os.PathLike)):
        return importlib.import_module("afterwit.streams").LibsvmStream(source)
    if hasattr(source, "reader"):
        return source
    if isinstance(source, Iterator):
        raise InputError(READ_ONCE)
    allowed = "given with X, unless X is the path of a libsvm file or a stream of afterwit.streams"
    raise invalid("y", allowed, Words("nothing"))


def read_whole(stream: Any, most: float) -> tuple[Any, list[Any]] | None:
    """All examples and their labels, as a learner's certificate takes them; None if there are more than so many."""
    blocks: list[Any] = []
    labels: list[Any] = []
    stored = 0
    if _stored_at_least(stream) > most:
        return None
    for rows, y in labelled(stream):
        stored += max(rows.count, len(rows.values))
        if stored > most:
            return None
        blocks.append(rows)
        labels += np.asarray(y).tolist()
    return joined(blocks), labels


def labelled(stream: Any) -> Iterator[tuple[Rows, Any]]:
    """One pass over the examples that have labels: blocks of rows, numbered from 0 on, and their labels."""
    first, values = 0, 0
    wanted = ROWS_TO_BEGIN_WITH
    with stream.reader() as reader:
        while (block := reader.take(wanted)) is not None:
            # Examples without labels were not learned.
            if block[1] is None or not len(block[1]):
                continue
            rows = replace(read_many(block[0]), first=first)
            yield rows, block[1]
            first += rows.count
            values += len(rows.values)
            wanted = min(BLOCK, max(1, VALUES_AT_ONCE * first // max(values, first)))


def _stored_at_least(stream: Any) -> int:
    """How many values are known to be there before anything is read."""
    X = getattr(stream, "X", None)
    return int(X.size) if isinstance(X, np.ndarray) else int(getattr(X, "nnz", 0) or 0)


def joined(blocks: Iterable[Any]) -> Any:
    """Blocks of rows as one: an array or sparse rows where all are alike, otherwise a list of rows of one kind."""
    blocks = list(blocks)
    if not blocks:
        return np.empty((0, 0))
    if all(block.names is None for block in blocks):
        if all(block.starts is not None for block in blocks):
            return stack(blocks)
        if all(block.starts is None and block.width == blocks[0].width for block in blocks):
            return np.concatenate([block.values.reshape(block.count, block.width) for block in blocks])
    elif all(block.names is not None for block in blocks):
        return stack_named(blocks)
    rows = (block.row(i) for block in blocks for i in range(block.count))
    return [SparseRow(np.arange(len(row)), row) if isinstance(row, np.ndarray) else row for row in rows]


def stack_named(parts: list[Rows]) -> Rows:
    """Blocks of rows by name as one block; its names are in the order in which they occur in the blocks."""
    names: dict[Any, int] = {}
    places = [
        np.array([names.setdefault(name, len(names)) for name in part.names or ()], dtype=np.int32) for part in parts
    ]
    count, values = sum(part.count for part in parts), np.concatenate([part.values for part in parts])
    if all(part.starts is None and part.width == len(names) for part in parts) and all(
        np.array_equal(place[part.columns], np.arange(len(names))) for part, place in zip(parts, places, strict=True)
    ):
        return Rows(count, len(names), values, np.arange(len(names), dtype=np.int32), names=list(names))
    columns, lengths = [], []
    for part, place in zip(parts, places, strict=True):
        assert part.columns is not None
        dense = part.starts is None
        columns.append(np.tile(place[part.columns], part.count) if dense else place[part.columns])
        lengths.append(np.full(part.count, part.width) if part.starts is None else np.diff(part.starts))
    starts = np.append(0, np.cumsum(np.concatenate(lengths))).astype(np.int64)
    return Rows(count, len(names), values, np.concatenate(columns), starts, names=list(names))
