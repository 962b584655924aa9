"""What the rows of a run are, in shards that are read where they are learned.

A plan is a list of pairs: a shard, which is plain data and says how its rows are read, and what it reads them from: for
files None, else something that is on the cluster already. Files are cut into as many shards as are wanted; partitions
of Dask's collections are shards; rows in memory are cut into equal parts.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from afterwit.core.protocol import require_groups
from afterwit.data import checks
from afterwit.data.labels import first_certain_pair, labels_of
from afterwit.data.rows import Rows, read_many
from afterwit.errors import InputError, StreamError, Words, counted, invalid
from afterwit.streams.arrays import ArrayStream
from afterwit.streams.model import Model
from afterwit.streams.pieces import Pieces, cut
from afterwit.streams.read import read
from afterwit.streams.stream import Stream

#: How many rows of a DataFrame or a bag are looked at for the schema.
ROWS_TO_LOOK_AT = 1000


@dataclass(frozen=True)
class Memory:
    """Rows X and labels y: numpy's, sparse, or whatever else `learn_many` takes."""

    def stream(self, data: Any) -> Any:
        """They are given with the task."""
        X, y = data
        if isinstance(X, Rows):
            # What came through Dask is read-only, of a type that only looks like a float.
            X = replace(X, values=np.array(X.values, dtype=np.float64))
        elif isinstance(X, np.ndarray):
            X = np.array(X, dtype=np.float64) if X.dtype.kind in "iufb" else X
        return ArrayStream(X, y)


@dataclass(frozen=True)
class Pairs:
    """Pairs (x, y) of a partition of a bag."""

    def stream(self, data: Any) -> Any:
        """The same as two lists; a pair without a label is not learned."""
        known = [pair for pair in data if pair[1] is not None]
        return ArrayStream([x for x, _ in known], [y for _, y in known])


@dataclass
class Plan:
    """The shards of a run, and what they have in common.

    shards  pairs of a shard and what it reads: None, or tasks of Dask
    stream  what was read to decide the schema; None for rows of numbers
    labels  what the learner's labels follow from, if it was made without
    """

    name: str
    shards: list[tuple[Any, Any]]
    stream: Stream | None = None
    labels: tuple[Any, Any] | None = None
    notes: tuple[str, ...] = ()
    #: Sizes of the shards in bytes, where they are known.
    sizes: list[int] = field(default_factory=list)

    @property
    def files(self) -> bool:
        """Whether all shards are read from files, by whoever can reach them."""
        return all(data is None for _, data in self.shards)


def plan(data: Any, y: Any, *, target: str | None, shards: int | None, learner: Any, work: Any, **reading: Any) -> Plan:
    """The shards of what was given; ``work`` says how many tasks can run, and gets rows in memory.

    ``reading`` are further options of `read`.
    """
    count = None if shards is None else checks.count("shards", shards)
    kind = dask_kind(data)
    if kind:
        return _of_dask(kind, data, y, target, count, learner, work, reading)
    if y is not None or is_rows(data):
        if y is None:
            raise invalid("y", "given with X", None)
        if target is not None:
            raise invalid("target", "left out, because y has the labels", target)
        return _of_rows(data, y, count or work.workers, work)
    if not isinstance(data, Stream):
        if target is None and isinstance(learner, Model):
            target = learner.schema.target
        data = read(data, target, **{**known(learner), **reading})
    elif target is not None:
        raise invalid("target", "left out, because what `read` returned knows it", target)
    return _of_stream(data, count, learner, work)


def task_of(learner: Any) -> str:
    """The task that a learner is for."""
    if getattr(learner, "role", "") == "regressor":
        return "regression"
    return "classes" if learner.many_labels else "binary"


def known(learner: Any) -> dict[str, Any]:
    """What a learner or a model says about how data is read."""
    inside = learner.learner if isinstance(learner, Model) else learner
    how: dict[str, Any] = {"task": task_of(inside)}
    if how["task"] != "regression" and not getattr(inside, "_undecided", False) and inside.labels is not None:
        how["labels"] = inside.labels
    return how | ({"schema": learner.schema} if isinstance(learner, Model) else {})


def _of_stream(stream: Stream, count: int | None, learner: Any, work: Any) -> Plan:
    source = stream.source
    inside = learner.learner if isinstance(learner, Model) else learner
    needed = task_of(inside)
    if stream.task is None:
        raise InputError(f"{stream.name}: there is nothing to learn; target names the column to predict (--target)")
    if stream.task != needed:
        raise invalid(
            "learner", f"one for the task of {stream.name}, which is {stream.task}", Words(type(inside).__name__)
        )
    require_groups(inside, stream)
    if isinstance(learner, Model) and learner.schema.as_data() != stream.schema.as_data():
        raise InputError(f"{stream.name}: it was read by another schema than that of the model; give its path instead")
    if source is not None and source.order_by is not None:
        raise invalid(
            "order_by", "left out, because shards are read apart and all rows would have to be sorted", source.order_by
        )
    if source is None or not source.paths or "-" in source.paths or stream.size is None:
        stream.close()
        raise StreamError(
            "shards are read where they are learned, so files, rows in memory or a collection of Dask were expected; "
            "write it to files first, such as Parquet",
            path=stream.name,
        )
    try:
        parts = cut(stream, count or max(work.workers, 1))
    finally:
        stream.close()
    labels = stream.labels if stream.task == "binary" else None
    sizes = [sum(piece.size for piece in part.pieces) for part in parts]
    return Plan(stream.name, [(part, None) for part in parts], stream, labels, stream.notes, sizes)


def _of_rows(X: Any, y: Any, count: int, work: Any) -> Plan:
    stream = ArrayStream(X, y)
    rows, labels = read_many(stream.X), stream.y
    rows.require_finite()
    borders = [rows.count * i // count for i in range(count + 1)]
    shards = []
    for i in range(count):
        begin, end = borders[i], borders[i + 1]
        # Numbered from their own beginning on: a row in a message is one of its shard.
        some = replace(rows.part(begin, end), first=begin)
        shards.append((Memory(), work.submit(f"rows-{i}", held, some, labels[begin:end], part=(i, count))))
    return Plan("the rows", shards, None, _pair(labels.tolist()))


def held(*values: Any) -> tuple[Any, ...]:
    """What it was given: a task, so that the scheduler can make it again."""
    return values


def is_rows(data: Any) -> bool:
    if isinstance(data, (str, os.PathLike, Stream)):
        return False
    return isinstance(data, (np.ndarray, Rows)) or hasattr(data, "tocsr")


# ---------------------------------------------------------------------- collections of Dask


def dask_kind(data: Any) -> str:
    """frame, array, bag, or nothing."""
    module = type(data).__module__.split(".")[0]
    if not hasattr(data, "__dask_graph__") or module not in ("dask", "dask_expr"):
        return ""
    name = type(data).__name__
    return {"DataFrame": "frame", "Array": "array", "Bag": "bag"}.get(name, name)


def _of_dask(
    kind: str,
    data: Any,
    y: Any,
    target: str | None,
    count: int | None,
    learner: Any,
    work: Any,
    reading: dict[str, Any],
) -> Plan:
    if not hasattr(work, "compute"):
        raise invalid("client", "a client of Dask, because the data are a collection of Dask", Words("Here()"))
    parts: list[Any]
    if kind == "array":
        return _of_arrays(data, y, target, count, work)
    if kind not in ("frame", "bag"):
        raise invalid("data", "a dask.dataframe.DataFrame, a dask.array.Array with y, or a dask.bag.Bag", data)
    if y is not None:
        raise invalid("y", "left out: target names the column to predict", Words("labels"))
    if count is not None and count != data.npartitions:
        data = data.repartition(npartitions=count)
        count = data.npartitions
    parts = [work.compute(each) for each in data.to_delayed()]
    first = next((part for part in parts if work.result(work.submit("rows", len, part), "the first rows")), None)
    if first is None:
        raise StreamError("no examples were found", path=f"the {_CALLED[kind]}")
    look = work.result(work.submit("look", _beginning, first), "the first rows")
    if kind == "bag" and target is None and not isinstance(learner, Model) and not isinstance(look[0], dict):
        found = [pair[1] for pair in look if pair[1] is not None]
        return Plan("the bag", [(Pairs(), part) for part in parts], None, _pair(found))
    if target is None and isinstance(learner, Model):
        target = learner.schema.target
    stream = read(look, target, **{**known(learner), **reading})
    if stream.task is None:
        raise InputError(f"the {_CALLED[kind]}: target names the column to predict")
    shared = replace(Pieces.of(stream), name=f"the {_CALLED[kind]}")
    labels = stream.labels if stream.task == "binary" else None
    stream.close()
    return Plan(shared.name, [(shared, part) for part in parts], stream, labels, stream.notes)


_CALLED = {"frame": "DataFrame", "bag": "bag"}


def _beginning(rows: Any) -> Any:
    return rows[:ROWS_TO_LOOK_AT] if isinstance(rows, list) else rows.head(ROWS_TO_LOOK_AT)


def _of_arrays(X: Any, y: Any, target: str | None, count: int | None, work: Any) -> Plan:
    if target is not None:
        raise invalid("target", "left out, because y has the labels", target)
    if y is None:
        raise invalid("y", "given with X: a dask.array of one dimension", None)
    if X.ndim != 2:
        raise invalid("data", "an array with a row for each example", Words(f"{X.ndim} dimensions"))
    if len(X) != len(y):
        raise invalid("y", f"as long as X ({counted(len(X), 'row')})", Words(counted(len(y), "label")))
    rows = X.chunks[0] if count is None else _equal(len(X), count)
    X = X.rechunk({0: rows, 1: -1})
    y = y.rechunk((rows,)) if dask_kind(y) == "array" else _as_dask(y, rows)
    pairs = zip(X.to_delayed()[:, 0], y.to_delayed(), strict=True)
    shards = [
        (Memory(), work.submit(f"rows-{i}", held, work.compute(a), work.compute(b))) for i, (a, b) in enumerate(pairs)
    ]
    first = work.result(work.submit("look", _labels, shards[0][1]), "the first labels")
    return Plan("the array", shards, None, _pair(first))


def _pair(labels: list[Any]) -> tuple[Any, Any] | None:
    """The two labels that these leave no doubt about."""
    if not labels or first_certain_pair(labels) is None or len(set(labels)) > 2:
        return None
    return labels_of(labels).pair


def _equal(total: int, count: int) -> tuple[int, ...]:
    borders = [total * i // count for i in range(count + 1)]
    return tuple(borders[i + 1] - borders[i] for i in range(count))


def _labels(data: Any) -> list[Any]:
    return list(np.asarray(data[1])[:ROWS_TO_LOOK_AT].tolist())


def _as_dask(y: Any, rows: tuple[int, ...]) -> Any:
    import dask.array

    return dask.array.from_array(np.asarray(y), chunks=(rows,))
