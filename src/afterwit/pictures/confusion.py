"""Which labels were taken for which, where the predictions of a run were kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from afterwit.core.record import is_read_once
from afterwit.pictures._cells import MOST_WRITTEN, name_sides, shade, write
from afterwit.pictures._picture import Picture, Table
from afterwit.pictures._style import HAPPENED

#: How many classes a picture has room for.
MOST_CLASSES = 20
#: Labels are read again of at most so many rounds.
MOST_ROUNDS = 1_000_000
BLOCK = 65536


def pictures(record: Any) -> list[Picture]:
    """The picture of a record that kept its predictions and whose labels can be read again."""
    kept, played = record.predictions, record._played
    if not hasattr(record, "mistakes") or kept is None or not 0 < len(kept) <= MOST_ROUNDS or played is None:
        return []
    if is_read_once(played.as_played):
        return []
    truths = _labels(played.as_played)
    pairs = [(truth, said) for truth, said in zip(truths, kept.tolist(), strict=False) if truth is not None]
    classes = sorted({str(label) for pair in pairs for label in pair})
    fits = len(truths) == len(kept) and 0 < len(classes) <= MOST_CLASSES
    return [Confusion(record.learner, classes, pairs)] if fits else []


class Confusion(Picture):
    """A row for each label, a column for each prediction: how often they came together."""

    kind = "confusion"

    def __init__(self, learner: str, classes: list[str], pairs: list[tuple[Any, Any]]) -> None:
        self.classes = classes
        at = {label: place for place, label in enumerate(classes)}
        self.counts: npt.NDArray[np.int64] = np.zeros((len(classes), len(classes)), dtype=np.int64)
        rows, columns = ([at[str(pair[side])] for pair in pairs] for side in (0, 1))
        np.add.at(self.counts, (rows, columns), 1)
        wrong = int(self.counts.sum() - np.trace(self.counts))
        self.title = f"Labels and predictions, {learner}"
        self.caption = (
            f"How often each label (row) was predicted as each (column), shaded by its share of the row: {wrong:,} of "
            f"{len(pairs):,} predictions are off the diagonal."
        )
        self.size = (7.2, 1.4 + 0.3 * max(2, len(classes)))

    def draw(self, ax: Any) -> None:
        shade(ax, self.counts / np.maximum(1, self.counts.sum(axis=1, keepdims=True)), HAPPENED)
        if self.counts.size <= MOST_WRITTEN:
            write(ax, self.counts.shape, [f"{count:,}" for count in self.counts.flat])
        name_sides(ax, self.classes, self.classes)
        ax.set_xlabel("predicted")
        ax.set_ylabel("label")

    def table(self) -> Table:
        rows = zip(self.classes, self.counts.tolist(), strict=True)
        return Table(("label", *self.classes), tuple((label, *(f"{n:,}" for n in counts)) for label, counts in rows))


def _labels(stream: Any) -> list[Any]:
    """The labels of the examples in order, None where there is none; not many more than are of use."""
    found: list[Any] = []
    if not hasattr(stream, "reader"):
        return [pair[1] for pair in stream]
    with stream.reader() as reader:
        while len(found) <= MOST_ROUNDS and (block := reader.take(BLOCK)) is not None:
            rows, labels = block
            found += [None] * rows.count if labels is None else np.asarray(labels).tolist()
    return found
