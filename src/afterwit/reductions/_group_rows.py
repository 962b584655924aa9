"""Many rounds of several groups: whose round each is, and the rounds of one group in the form in which they came.

Every learner reads its own rounds, so what a group is handed is of the same kind as what the caller has: an array stays
an array, a DataFrame a DataFrame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.sources import MOST_IN_MEMORY, joined, labelled
from afterwit.data.labels import listed
from afterwit.data.rows import FRAME_LIBRARIES, MANY, Rows, open_frame, plain_name, read_many
from afterwit.errors import InputError, Words, counted, invalid

Index = npt.NDArray[np.intp]

NAME = "a name that equals itself and can be a key, such as a string, a number or a tuple of these"


def group_name(parameter: str, group: Any) -> Any:
    """The name of a group, as a Python object. What is missing is no name."""
    name = plain_name(group)
    try:
        hash(name)
        # A missing value (NaN, NaT, NA) does not equal itself, or does not know.
        if name is not None and bool(name == name):
            return name
    except (TypeError, ValueError):
        pass
    raise invalid(parameter, NAME, group)


def places_of(groups: Any) -> tuple[int, dict[Any, Index]]:
    """How many rounds there are, and the rows of each group, in order; groups in the order of first appearance."""
    allowed = "a sequence or a 1-D array with the group of each row"
    if hasattr(groups, "to_pylist"):
        groups = groups.to_pylist()
    elif not isinstance(groups, Sequence) and hasattr(groups, "__array__"):
        groups = np.asarray(groups)
        if groups.ndim != 1:
            raise invalid("groups", allowed, Words(f"an array of shape {groups.shape}"))
    if isinstance(groups, (str, bytes)) or not isinstance(groups, (Sequence, np.ndarray)):
        raise invalid("groups", allowed, groups)
    rows: dict[Any, list[int]] = {}
    for i, group in enumerate(groups):
        name = group if type(group) is str else group_name(f"groups[{i}]", group)
        rows.setdefault(name, []).append(i)
    return len(groups), {name: np.array(index, dtype=np.intp) for name, index in rows.items()}


@dataclass(frozen=True)
class Part:
    """Many of something: how many, some of them in the same form, and one of them."""

    count: int
    take: Callable[[Index], Any]
    one: Callable[[int], Any]
    #: Sorts them, and what takes neighbours of what is sorted: where that is faster than to take them one by one.
    sort: tuple[Callable[[Index], Any], Callable[[Any, int, int], Any]] | None = None

    def each(self, index: Iterable[Index]) -> Iterator[Any]:
        """Those of each group, which together are all."""
        groups = list(index)
        if self.sort is None or not groups:
            yield from map(self.take, groups)
            return
        arrange, part = self.sort
        arranged, at = arrange(np.concatenate(groups)), 0
        for each in groups:
            yield part(arranged, at, at + len(each))
            at += len(each)


def examples(X: Any) -> Part:
    """Examples or advice, as learners take many of them."""
    if isinstance(X, Rows):
        return Part(X.count, X.at, X.row, (X.at, Rows.part))
    if type(X).__module__.partition(".")[0] in FRAME_LIBRARIES:
        frame = open_frame(X)
        names = list(frame.columns)
        return Part(
            len(frame),
            lambda index: frame[index.tolist()].to_native(),
            lambda i: dict(zip(names, frame.row(i), strict=True)),
        )
    if hasattr(X, "tocsr"):
        # A sparse matrix that is not well formed could crash scipy.
        read_many(X)
        matrix = X.tocsr()
        return Part(matrix.shape[0], lambda index: matrix[index], lambda i: matrix[[i]])
    if isinstance(X, np.ndarray) or (hasattr(X, "__array__") and not isinstance(X, Sequence)):
        array = X if isinstance(X, np.ndarray) else np.asarray(X)
        if array.ndim == 0:
            raise invalid("X", MANY, X)
        return _of_array(array)
    if isinstance(X, (str, bytes)) or not isinstance(X, Sequence):
        raise invalid("X", MANY, X)
    return Part(len(X), lambda index: [X[i] for i in index.tolist()], lambda i: X[i])


def _of_array(array: npt.NDArray[Any]) -> Part:
    sort = (lambda index: array[index], lambda sorted_, begin, end: sorted_[begin:end])
    return Part(len(array), lambda index: array[index], lambda i: array[i], sort)


def outcomes(y: Any) -> Part:
    """Labels, targets or outcomes."""
    found = listed(y, "outcomes")
    if isinstance(found, np.ndarray):
        return _of_array(found)
    return Part(len(found), lambda index: [found[i] for i in index.tolist()], lambda i: found[i])


def rounds_of(stream: Any) -> tuple[Any, Any, Any]:
    """The groups, the rows and the outcomes of a stream, all in memory."""
    groups, blocks, labels = [], [], []
    stored = 0
    for rows, y in labelled(stream):
        if rows.groups is None:
            raise invalid("stream", "one whose rows say whose they are: read(..., group=COLUMN)", stream)
        stored += max(rows.count, len(rows.values))
        if stored > MOST_IN_MEMORY:
            raise InputError(
                f"the certificates of groups need all examples in memory, and these are more than {MOST_IN_MEMORY:,} "
                "values or rows; afterwit.cluster.groups makes them part by part"
            )
        groups.append(rows.groups)
        blocks.append(rows)
        labels.append(y)
    if not blocks:
        return [], [], []
    return np.concatenate(groups), joined(blocks), np.concatenate(labels)


def require_as_many(name: str, count: int, rows: int) -> None:
    """Refuse groups, or outcomes, that are not as many as there are rows."""
    if count != rows:
        raise invalid(name, f"as long as X ({counted(rows, 'row')})", Words(f"{count:,}"))


def in_order(parts: Sequence[Any], index: Sequence[Index]) -> npt.NDArray[Any]:
    """What the groups' learners returned, in the order of the rows."""
    arrays = [np.asarray(part) for part in parts]
    if not arrays:
        return np.empty(0)
    # Strings of different lengths have different types, but numbers and strings are not made equal.
    if len({array.dtype.kind for array in arrays}) > 1:
        arrays = [array.astype(object) for array in arrays]
    together = np.concatenate(arrays)
    found = np.empty_like(together)
    found[np.concatenate(index)] = together
    return found
