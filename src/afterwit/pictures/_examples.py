"""The first examples of a run, read again, and new ones like them at other places."""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.moments import as_taken
from afterwit.core.record import is_read_once
from afterwit.core.sources import joined
from afterwit.data.rows import Rows, read_many
from afterwit.errors import InputError

#: At most so many examples are read again.
MOST = 100_000
BLOCK = 4096
#: Those by which most streams with more features are recognised.
FIRST = 64

Floats = npt.NDArray[np.float64]


class Examples:
    """Examples with few features, as a table of numbers."""

    def __init__(self, rows: Rows, labels: list[Any]) -> None:
        self.rows = rows
        self.labels = labels
        dense = rows.matrix()
        table = np.asarray(dense.toarray() if hasattr(dense, "toarray") else dense, dtype=np.float64)
        # The ids of libsvm text begin with 1: position 0 is no feature.
        used = np.flatnonzero(table.any(axis=0)) if rows.ids else np.arange(table.shape[1])
        #: Which of the positions of the rows have the features.
        self.columns = used.tolist()
        self.table: Floats = table[:, used]

    @property
    def names(self) -> list[str]:
        """What the features are called."""
        names = self.rows.names
        return [f"feature {j}" if names is None else str(names[j]) for j in self.columns]

    def at(self, table: Floats) -> Rows:
        """Examples of the same kind with these numbers."""
        count, width = table.shape
        made = replace(self.rows, count=count, values=table.reshape(-1), first=0)
        if self.rows.starts is None:
            return made
        columns = np.tile(np.array(self.columns, dtype=np.int32), count)
        return replace(made, columns=columns, starts=np.arange(0, width * count + 1, width, dtype=np.int64))


def read_again(played: Any, width: int) -> Examples | None:
    """The first examples, if they can be read again and have exactly so many features."""
    if played is None or is_read_once(played.as_played) or getattr(played.learner, "takes", "") == "points":
        return None
    stream = played.as_played
    blocks: list[Rows] = []
    labels: list[Any] = []
    if hasattr(stream, "reader"):
        with stream.reader() as reader:
            while len(labels) < MOST and (block := reader.take(BLOCK)) is not None:
                rows, y = block
                if y is None or not len(y):
                    continue
                blocks.append(read_many(rows))
                if blocks[-1].width > width + 1:
                    return None
                labels += np.asarray(y).tolist()
    else:
        if any(isinstance(x, Sized) and len(x) > width + 1 for x, _ in islice(stream, FIRST)):
            return None
        pairs = [pair for pair in islice(stream, MOST) if pair[1] is not None]
        labels = [label for _, label in pairs]
        try:
            found = as_taken(played.learner, [x for x, _ in pairs])
            blocks = [read_many(found)] if pairs else []
        except InputError:
            # Texts and other things that are no numbers.
            return None
    if not blocks or any(block.width > width + 1 for block in blocks):
        return None
    examples = Examples(read_many(joined(blocks)), labels)
    return examples if len(examples.columns) == width else None
